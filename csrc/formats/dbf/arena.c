/*
** arena.c - an arena allocator: chunks that are reused for each batch. Used by
** fill.c, encode_dbf.c, encode_value.c and xpp/parser/fill_rows.c. The
** dbf_decoder or dbf_writer owns the arena; dbf_arena_close frees its chunks.
*/

#include <stdlib.h>

#include "formats/dbf/dbf.h"

#define CHUNK 65536u

struct dbf_chunk {
  dbf_chunk *next;
  size_t size;
  uint8_t bytes[];
};


uint8_t *dbf_arena_alloc (dbf_arena *arena, size_t size) {
  if (arena->current == NULL || size > arena->current->size - arena->used) {
    dbf_chunk **const place =
        arena->current == NULL ? &arena->first : &arena->current->next;
    if (*place == NULL || (*place)->size < size) {
      const size_t capacity = size < CHUNK ? CHUNK : size;
      dbf_chunk *const chunk = malloc(sizeof *chunk + capacity);
      if (chunk == NULL)
        return NULL;
      *chunk = (dbf_chunk){.next = *place, .size = capacity};
      *place = chunk;
    }
    arena->current = *place;
    arena->used = 0;
  }
  uint8_t *const at = arena->current->bytes + arena->used;
  arena->used += size;
  arena->allocated += size;
  return at;
}


bool dbf_arena_convert (dbf_arena *arena, pf_converter *converter,
                        pf_bytes *text) {
  if (pf_is_same_in_utf8(converter->charset, *text))
    return true;
  if (text->size > (SIZE_MAX - 16) / 5)
    return false;
  const size_t capacity = pf_converted_max(converter->charset, text->size);
  uint8_t *const out = dbf_arena_alloc(arena, capacity);
  if (out == NULL)
    return false;
  const size_t size = pf_convert(converter, *text, out);
  arena->used -= capacity - size; /* the rest is free again */
  arena->allocated -= capacity - size;
  *text = (pf_bytes){out, size};
  return true;
}


void dbf_arena_reset (dbf_arena *arena) {
  dbf_chunk **place = &arena->first;
  while (*place != NULL) {
    dbf_chunk *const chunk = *place;
    if (chunk->size == CHUNK) {
      place = &chunk->next;
      continue;
    }
    *place = chunk->next;
    free(chunk);
  }
  arena->current = NULL;
  arena->used = arena->allocated = 0;
}


void dbf_arena_close (dbf_arena *arena) {
  while (arena->first != NULL) {
    dbf_chunk *const chunk = arena->first;
    arena->first = chunk->next;
    free(chunk);
  }
  arena->current = NULL;
}
