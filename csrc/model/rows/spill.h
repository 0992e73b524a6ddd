/*
** spill.h - an array of byte buffers that grow independently. Each buffer is
** read from its beginning when all have been written. The last chunk of a
** buffer is in memory; full chunks are written to one unlinked temporary file.
** Used by kernels/spans/track_store.c.
**
** Order of calls: zero a pf_spill; pf_spill_reserve and a write, any number of
** times; then pf_spill_next with any number of readers; pf_spill_close.
**
** The caller owns the structs. pf_spill_close frees the buffers and closes the
** file.
*/

#ifndef spill_h
#define spill_h

#include "profio.h"

#define PF_SPILL_STEP  32u    /* bytes that may be written per reservation */
#define PF_SPILL_CHUNK 65536u /* largest chunk, in bytes */

/* A chunk in the file. It contains the bytes of a reservation completely or not
   at all. */
typedef struct pf_spill_chunk {
  uint64_t at; /* offset in the file */
  uint32_t size;
} pf_spill_chunk;

typedef struct pf_spill_buffer {
  uint8_t *last; /* the chunk that grows, in memory */
  uint32_t used;
  size_t capacity;
  pf_spill_chunk *chunks; /* those before it, in the file */
  size_t nchunks, chunk_capacity;
} pf_spill_buffer;

typedef struct pf_spill {
  pf_spill_buffer *buffers;
  size_t count, capacity;
  bool has_file;
  int fd;
  uint64_t end; /* size of the file */
} pf_spill;

/* Free all buffers and the file. */
void pf_spill_close (pf_spill *spill);

/* Make PF_SPILL_STEP bytes available in buffer `number`; missing buffers up to
   it are added. The caller writes at last + used, then adds to `used`. PF_EIO
   (temporary file), PF_ENOMEM. */
pf_status pf_spill_reserve (pf_spill *spill, size_t number, pf_error *error);

/* Reads one buffer. Zero it and set `spill` and `number`. Nothing may be
   written while it is used. */
typedef struct pf_spill_reader {
  const pf_spill *spill;
  size_t number;           /* of the buffer */
  size_t next;             /* chunk */
  const uint8_t *at, *end; /* unread bytes of the current chunk */
  uint8_t bytes[PF_SPILL_CHUNK];
} pf_spill_reader;

/* Load the next chunk and set `at` and `end`; the last chunk stays where it is.
   PF_MORE, PF_END, PF_EIO. */
pf_status pf_spill_next (pf_spill_reader *reader, pf_error *error);

#endif
