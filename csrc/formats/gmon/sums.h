/*
** sums.h - accumulators of the encoder: histograms by header, in the order of
** their first occurrence; arcs and blocks are pf_pair_counts.
**
** A gmon_sets with only the seed set is empty. It owns its memory until
** ..._close. Call ..._get while rows are added, ..._sort at most once at the end:
** then the table cannot be searched any more.
**
** Used by encode_gmon.c and write_gmon.c.
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

typedef struct gmon_sets {
  gmon_set *list;
  size_t capacity;
  pf_intern_table known; /* index of `list` by header; has its count */
} gmon_sets;

/* Returns the index of the set with this header, added if it is new, with
   counts for at least header->read bins; SIZE_MAX if out of memory. Members
   from `read` on are not compared. */
size_t gmon_sets_get (gmon_sets *sets, const gmon_set *header, bool extended);

/* Whether a set has this header, as gmon_sets_get compares it. */
bool gmon_has_header (const gmon_set *set, const gmon_set *header);

/*
** Complete a set before it is written: missing bins get the count 0. If a
** header claims far more bins than were read, the set is shortened instead.
** Returns PF_ENOMEM, or PF_ELIMIT if no shorter set keeps the addresses of its
** bins.
*/
pf_status gmon_set_finish (gmon_set *set, bool extended, pf_error *error);

/* Sort the sets by header. Returns false if out of memory. */
bool gmon_sets_sort (gmon_sets *sets, const pf_dictionary *dictionary);

void gmon_sets_close (gmon_sets *sets);


/* The encoder: encode_gmon.c fills it with sums, write_gmon.c writes these as a
   file. */
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
