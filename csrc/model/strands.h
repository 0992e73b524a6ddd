/*
** strands.h - bytes that grow side by side in many strands, each of which is
** read again from its beginning: in memory as long as they are few, behind
** that in a file without a name.
*/

#ifndef strands_h
#define strands_h

#include "profio.h"

#define PF_STRAND_ROOM  32u    /* bytes that can be added at a time */
#define PF_STRAND_PIECE 65536u /* goes into the file at a time, at most */

/* A piece in the file: at most PF_STRAND_PIECE bytes, added in one or more
   steps whole. */
typedef struct pf_strand_piece {
  uint64_t at;
  uint32_t size;
} pf_strand_piece;

typedef struct pf_strand {
  uint8_t *last; /* the piece that grows, in memory */
  uint32_t used, room;
  pf_strand_piece *pieces; /* those before it, in the file */
  size_t npieces, pieces_room;
} pf_strand;

typedef struct pf_strands {
  pf_strand *strands;
  size_t count, room;
  bool has_file;
  int fd;
  uint64_t end; /* of the file */
} pf_strands;

/* Begin with zeros. */
void pf_strands_close (pf_strands *strands);

/* Have room for PF_STRAND_ROOM bytes in a strand, which is made when it is not
   there: write them at last + used, and add to `used`. */
pf_status pf_strands_reserve (pf_strands *strands, size_t number,
                              pf_error *error);

/* Where a strand is being read. Begin with zeros but `strands` and `number`;
   nothing may be added meanwhile. */
typedef struct pf_strand_reader {
  const pf_strands *strands;
  size_t number;
  size_t next;             /* piece */
  const uint8_t *at, *end; /* of the piece at hand */
  uint8_t bytes[PF_STRAND_PIECE];
} pf_strand_reader;

/* Have the next piece at hand, from `at` to `end`. PF_MORE, PF_END, or a
   failure. */
pf_status pf_strand_next (pf_strand_reader *reader, pf_error *error);

#endif
