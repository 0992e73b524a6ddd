/*
** gmon_encode.h - what encode.c (rows in) and write.c (bytes out) share.
*/

#ifndef gmon_encode_h
#define gmon_encode_h

#include "formats/gmon/gmon_sums.h"

typedef struct gmon_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  gmon_dialect dialect; /* GMON_GNU or GMON_BSD44 */
  bool big;
  unsigned width; /* bytes of an address */
  bool extended;  /* bins are placed as in extended precision */
  bool is_sorted; /* of several files, whose order must not show */
  gmon_sets sets;
  gmon_sums set_ids; /* (number of a set, 0) -> its place in sets.list */
  gmon_sums arcs, blocks;
} gmon_writer;

/* Write what has been put. PF_EUNSUPPORTED, before a byte is written, when
   the dialect cannot hold it. */
pf_status gmon_write (const gmon_writer *writer, pf_sink *sink,
                      pf_error *error);

#endif
