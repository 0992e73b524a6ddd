/*
** joins.c - core.lag, core.merge and core.join_asof: stages over rows in an
** order, of one table or two.
**
** Called by internal/views. A reader userdata owns each stage and pins its
** inputs and the counter.
*/

#include "kernels/stages/stages.h"
#include "lua/arguments.h"
#include "lua/stages/counter.h"


/* core.lag(reader, lag): the rows with an additional column, { name =,
   column =, next =, by = }: the value in the row before (next: after) among
   those with equal values in the columns of the list `by`. */
static int core_lag (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  size_t by[PF_MAX_KEYS];
  pf_key keys[PF_MAX_KEYS];
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lua_getfield(L, 2, "column");
  lua_getfield(L, 2, "by");
  const size_t column = l_field_check(L, 3, input);
  const size_t nkeys = (size_t)l_columns_check(L, 4, input, by, PF_MAX_KEYS);
  for (size_t i = 0; i < nkeys; i++)
    keys[i] = (pf_key){.column = by[i]};
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_lag_open(input, l_option_text(L, 2, "name", ""),
                                        column, l_option_flag(L, 2, "next"),
                                        keys, nkeys, &r->reader, &r->error));
}


/* Returns the reader at `arg`, whose dictionary is that of `left`. */
static pf_reader *right_check (lua_State *L, int arg, const pf_reader *left) {
  pf_reader *const right = l_reader_check(L, arg)->reader;
  if (right->dictionary != left->dictionary)
    luaL_error(L, "the views are of two traces, whose names differ; open the "
                  "files together: profio.open { \"a\", \"b\" }");
  return right;
}


/* Returns the int column named by the value at `arg`. */
static size_t time_check (lua_State *L, int arg, const pf_reader *reader) {
  const size_t column = l_field_check(L, arg, reader);
  if (reader->fields[column].type != PF_INT)
    luaL_error(L, "column '%s' is of type %s, not int",
               reader->fields[column].name,
               pf_type_name(reader->fields[column].type));
  return column;
}


/* core.merge(left, right, column, counter): the rows of both in the order of a
   column; the counter (or nil) counts rows that are not in order. */
static int core_merge (lua_State *L) {
  pf_reader *const left = l_reader_check(L, 1)->reader;
  pf_reader *const right = right_check(L, 2, left);
  const size_t left_time = time_check(L, 3, left);
  const size_t right_time = time_check(L, 3, right);
  uint64_t *const disorder =
      lua_isnoneornil(L, 4) ? NULL : l_counter_check(L, 4);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_merge_open(left, right, left_time, right_time,
                                          disorder, &r->reader, &r->error));
}


/* core.join_asof(left, right, options, counter). Options: on, a column; by and
   columns, lists of columns; within, ns. */
static int core_join_asof (lua_State *L) {
  pf_reader *const left = l_reader_check(L, 1)->reader;
  pf_asof asof = {.right = right_check(L, 2, left), .within = INT64_MAX};
  size_t left_keys[PF_MAX_KEYS], right_keys[PF_MAX_KEYS];
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 4);
  if (!lua_isnil(L, 4))
    asof.disorder = l_counter_check(L, 4);
  l_option_int(L, 3, "within", &asof.within);
  lua_getfield(L, 3, "on");
  asof.left_time = time_check(L, 5, left);
  asof.right_time = time_check(L, 5, asof.right);
  lua_getfield(L, 3, "by");
  asof.nkeys = (size_t)l_columns_check(L, 6, left, left_keys, PF_MAX_KEYS);
  (void)l_columns_check(L, 6, asof.right, right_keys, PF_MAX_KEYS);
  asof.left_keys = left_keys;
  asof.right_keys = right_keys;
  lua_getfield(L, 3, "columns");
  int count = 0;
  asof.columns = l_columns_at(L, 7, asof.right, &count);
  asof.count = (size_t)count;
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_asof_open(left, &asof, &r->reader, &r->error));
}


void l_open_joins (lua_State *L) {
  L_ADD(L, {"lag", core_lag}, {"merge", core_merge},
        {"join_asof", core_join_asof});
}
