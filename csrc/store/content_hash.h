/*
** content_hash.h - hashes by which contents are identified in all stores: XXH3
** with 128 bits, in its canonical form (big-endian). Implemented in hasher.c;
** used by the files of csrc/store that write or read profiles. Nothing is
** allocated.
*/

#ifndef content_hash_h
#define content_hash_h

#include "model/dictionary/areas.h"

#define PF_HASH_SIZE 16

typedef struct pf_hash {
  uint8_t bytes[PF_HASH_SIZE];
} pf_hash;

/*
** The hash of a frame: of the size of its name (8 bytes, little-endian), the
** name, a byte 1 if it has a file, then its size and the file, else a byte 0;
** and the line (8 bytes; 0: none).
*/
pf_hash pf_hash_frame (const pf_dictionary *dictionary, const pf_area *frame);

/* The hash of a stack: of the hash of its parent (zeros: none), followed by
   that of its frame. */
pf_hash pf_hash_stack (const pf_hash *parent, const pf_hash *frame);

/* A number that identifies a metric: the last 8 bytes, as a big-endian number,
   of the hash of its name and unit, each after its size (8 bytes,
   little-endian). */
uint64_t pf_hash_metric (const char *name, const char *unit);

#define PF_CHECKSUM_SIZE 8

/* Write the checksum of the cells of a run and metric to `checksum`: the first
   8 bytes of the hash of the cells, followed by the ids of run and metric (8
   bytes each, little-endian). */
void pf_checksum_cells (pf_bytes cells, int64_t run, int64_t metric,
                        uint8_t *checksum);

#endif
