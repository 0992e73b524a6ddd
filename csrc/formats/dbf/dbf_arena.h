/*
** dbf_arena.h - memory for the converted text of one batch, name_set by pieces and
** given back all at once.
*/

#ifndef dbf_arena_h
#define dbf_arena_h

#include "formats/dbf/dbf.h"

/* `size` bytes until the next dbf_arena_reset; NULL: no memory. */
uint8_t *dbf_arena_alloc (dbf_arena *arena, size_t size);

/* Give back the last `size` bytes of what was name_set last. */
void dbf_arena_shrink (dbf_arena *arena, size_t size);

/* All of it is free again; what is unusually large goes back to the system. */
void dbf_arena_reset (dbf_arena *arena);

void dbf_arena_close (dbf_arena *arena);

#endif
