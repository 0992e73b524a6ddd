/*
** arena.h - an arena allocator for the converted text of one batch: memory
** is allocated in pieces and freed all at once (Hanson, C Interfaces and
** Implementations, chapter 6). Used by the decoder and the encoder of tables.
**
** A zeroed dbf_arena is empty. Call dbf_arena_reset before each batch and
** dbf_arena_close at the end.
*/

#ifndef arena_h
#define arena_h

#include "model/base/charset.h"

typedef struct dbf_chunk dbf_chunk;

typedef struct dbf_arena {
  dbf_chunk *first, *current;
  size_t used;      /* bytes of the current chunk */
  size_t allocated; /* bytes since the last reset */
} dbf_arena;

/* Returns `size` bytes that are valid until the next dbf_arena_reset; NULL if
   out of memory. */
uint8_t *dbf_arena_alloc (dbf_arena *arena, size_t size);

/* Convert a text to UTF-8. If its bytes are not the same there, *text becomes
   the result, which is in the arena. Returns false if out of memory. */
bool dbf_arena_convert (dbf_arena *arena, pf_converter *converter,
                        pf_bytes *text);

/* Free all allocations. Chunks of the usual size are kept for reuse. */
void dbf_arena_reset (dbf_arena *arena);

void dbf_arena_close (dbf_arena *arena);

#endif
