/*
** encode_gmon.h - the state of the encoder: encode_gmon.c fills it with sums,
** write_gmon.c writes these as a file.
*/

#ifndef encode_gmon_h
#define encode_gmon_h

#include "formats/gmon/sums.h"
#include "model/writer/encoder.h"

typedef struct gmon_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  gmon_dialect dialect; /* GMON_GNU or GMON_BSD44 */
  bool big;
  unsigned width; /* bytes of an address */
  bool extended;  /* option extended_precision, see gmon_scale_of */
  bool is_sorted; /* several inputs: sort, so that their order does not
                     matter */
  gmon_sets sets;
  gmon_sums set_ids; /* (id of a set in the input, 0) -> index in sets.list */
  gmon_sums arcs, blocks;
} gmon_writer;

/* Write the file. Returns PF_EUNSUPPORTED, before any byte is written, if the
   dialect cannot hold the contents. */
pf_status gmon_write (const gmon_writer *writer, pf_sink *sink,
                      pf_error *error);

#endif
