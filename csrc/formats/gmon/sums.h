/*
** sums.h - the sums of the encoder: encode_gmon.c adds rows up, write_gmon.c
** writes the sums as a file. The gmon_writer owns their memory until its close.
*/

#ifndef sums_h
#define sums_h

#include "formats/gmon/gmon.h"
#include "model/base/pair_counts.h"
#include "model/writer/encoder.h"

/* A histogram: the sum of all records with the same header. */
typedef struct gmon_set {
  uint64_t low, high, bins;
  uint32_t rate;
  uint32_t dimension, abbreviation; /* names in the encoder's dictionary */
  uint64_t read; /* bins with counts, from 0 on; at most `bins` */
  gmon_scale scale;
  uint64_t *counts; /* by bin, `read` of them */
} gmon_set;

/* Histograms by header, in the order of their first occurrence. */
typedef struct gmon_sets {
  gmon_set *list;
  size_t capacity;
  pf_intern_table known; /* index of `list` by header; has its count */
} gmon_sets;

typedef struct gmon_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  pf_sink *sink;        /* set by `finish`, borrowed during that call */
  gmon_dialect dialect; /* GMON_GNU or GMON_BSD44 */
  bool big;
  unsigned width; /* bytes of an address */
  bool is_wide;   /* GNU: counts of bins and arcs have 8 bytes */
  bool extended;  /* option extended_precision, see gmon_scale_of */
  bool is_sorted; /* several inputs: sort, so that their order does not
                     matter */
  gmon_sets sets;
  pf_pair_counts
      set_ids;       /* (id of a set in the input, 0) -> index in sets.list,
                        + 1; 0: no set, only a refused row has that id */
  uint64_t nset_ids; /* ids that have a set; id of a set that states none */
  /* The pair of an arc is (from, to), that of a block (address, 0). */
  pf_pair_counts arcs, blocks;
} gmon_writer;

/* Write the file. Returns PF_EUNSUPPORTED, before any byte is written, if the
   dialect cannot hold the contents. */
pf_status gmon_write (const gmon_writer *self, pf_error *error);

#endif
