/*
** trace_part.h - the userdata of a part, shared by trace_part.c, which opens it,
** and checked_reader.c, which reads its tables.
*/

#ifndef trace_part_h
#define trace_part_h

#include "lua/binding.h"
#include "lua/source.h"
#include "model/rows/trace.h"

typedef struct l_part {
  pf_trace trace;
  bool open;
  pf_source *sources; /* trace.sources, pinned */
  l_source **owners;  /* their userdata, pinned like the array */
  const char *label;  /* user value 2 */
} l_part;

/* Returns the part at `arg`, which is borrowed: pin it. Raises if it is
   closed. */
l_part *l_part_check (lua_State *L, int arg);

/* part:reader(table, from, count): a reader of a table, or of `count` rows from
   number `from` (from 0) on; or nil, message, code. */
int l_part_reader (lua_State *L);

/* part:reader_like(table, other): a reader of a table that is opened at its
   first batch. `other` reads this table of another part of the format: both
   can do the same. */
int l_part_reader_like (lua_State *L);

#endif
