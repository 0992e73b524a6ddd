/*
** cell_methods.c - the methods of a database that write and read profiles.
** Called by lua/profio/internal/store/sqlite.lua. The userdata of connection.c
** owns the database, that of a profile the contexts, and one of this file the
** sums of functions.
*/

#include "lua/arguments.h"
#include "store/connection.h"
#include "store/cells.h"
#include "store/profile_cells.h"

#define L_FUNCTION_SUMS "profio.function_sums"


/*
** database:put_cells(run, contexts): writes a profile as the cells of a run (an
** integer), within a transaction. Returns the number of cells; or nil, message,
** code: then the transaction is to be rolled back.
*/
static int database_put_cells (lua_State *L) {
  l_database *const d = l_database_check(L, 1);
  const lua_Integer run = luaL_checkinteger(L, 2);
  const pf_contexts *const contexts = l_open_contexts(L, 3);
  uint64_t count;
  pf_error error;
  if (sqlite3_get_autocommit(d->database.handle) != 0)
    return luaL_error(L, "put_cells needs a transaction");
  lua_getiuservalue(L, 3, 1);
  l_pin(L, 1, 2, -1);
  if (pf_cells_store(&d->ids, &d->database, run, contexts, &count, &error) !=
      PF_OK)
    return l_database_failed(L, 1, &error);
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}


/* Take the statement of the SQL at `arg`, with the values after it up to
   `last`; it is to be ended also after a failure. */
static pf_status take_query (lua_State *L, l_database *d, int arg, int last,
                             pf_statement **rows, pf_error *error) {
  *rows = NULL;
  const pf_status status =
      pf_statement_take(&d->database, l_text_check(L, arg), rows, NULL, error);
  return status == PF_OK ? l_bind(L, d, *rows, arg + 1, last, error) : status;
}


/*
** database:sum_cells(contexts, sql, ...): adds up the cells of all rows of a
** query (run, metric, data) with these values for its parameters, into a
** profile of core.empty_contexts. Returns the profile; or nil, message, code:
** then it can only be closed.
*/
static int database_sum_cells (lua_State *L) {
  l_database *const d = l_database_check(L, 1);
  pf_contexts *const contexts = l_open_contexts(L, 2);
  pf_statement *rows;
  pf_error error;
  luaL_checkstring(L, 3);
  l_bindable_check(L, 4);
  luaL_argcheck(L, contexts->count == 1, 2, "the profile is not empty");
  pf_status status = take_query(L, d, 3, lua_gettop(L), &rows, &error);
  if (status == PF_OK)
    status = pf_cells_sum(&d->database, &d->read, rows, contexts, &error);
  pf_statement_end(rows);
  if (status != PF_OK)
    return l_database_failed(L, 1, &error);
  lua_settop(L, 2);
  return 1;
}


/* Set *nframes above the ids of frames. They are 1, 2, 3, ..., because no frame
   is ever removed. PF_EFORMAT if they have a gap: the function of a missing
   frame is not known, and a huge id would need as much memory. */
static pf_status count_frames (pf_database *d, uint32_t *nframes,
                               pf_error *error) {
  uint32_t dense = 0;
  pf_status status =
      pf_id_limit(d, "SELECT max(id) FROM frames", nframes, error);
  if (status == PF_OK)
    status = pf_id_limit(d, "SELECT count(*) FROM frames WHERE id > 0", &dense,
                         error);
  if (status == PF_OK && *nframes != dense)
    status = pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                     "the table frames has the id %lu, which is out of order: "
                     "the store is damaged",
                     (unsigned long)*nframes - 1);
  return status;
}


/* Pushes memory with the function of each frame id below nframes, from the
   table at `arg`, and returns it; sets *count to the highest function. */
static uint32_t *functions_check (lua_State *L, int arg, uint32_t nframes,
                                  uint32_t *count) {
  uint32_t *const functions = l_scratch(L, nframes, sizeof *functions);
  *count = 0;
  lua_pushnil(L);
  while (lua_next(L, arg) != 0) {
    const lua_Integer frame = lua_tointeger(L, -2);
    const lua_Integer number = lua_tointeger(L, -1);
    luaL_argcheck(L, lua_isinteger(L, -2) && frame >= 1 && frame < nframes, arg,
                  "no such frame");
    luaL_argcheck(L, number >= 1 && number < PF_STACK_LIMIT, arg,
                  "functions have numbers from 1");
    functions[frame] = (uint32_t)number;
    *count = (uint32_t)number > *count ? (uint32_t)number : *count;
    lua_pop(L, 1);
  }
  return functions;
}


/*
** database:function_sums(functions): an object that adds up the weights of
** functions; functions[frame id] is the number of a function, from 1. Or nil,
** message, code.
*/
static int database_function_sums (lua_State *L) {
  l_database *const d = l_database_check(L, 1);
  uint32_t nframes, count;
  pf_error error;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  if (count_frames(&d->database, &nframes, &error) != PF_OK)
    return l_database_failed(L, 1, &error);
  const uint32_t *const functions = functions_check(L, 2, nframes, &count);
  pf_function_sums *const sums = l_new(L, L_FUNCTION_SUMS, sizeof *sums, 1);
  l_pin(L, -1, 1, 1);
  if (pf_function_sums_open(sums, &d->database, functions, nframes, count,
                            &error) != PF_OK)
    return l_database_failed(L, 1, &error);
  return 1;
}


static int sums_gc (lua_State *L) {
  pf_function_sums_close(luaL_checkudata(L, 1, L_FUNCTION_SUMS));
  return 0;
}


/*
** function_sums:read(sql, ...): the sums of all cells of a query, as that of
** sum_cells: the weight of all stacks; of those that have any of the
** functions; a table with the weight of the stacks that end in each function,
** by its number, without zeros; and whether one of them was limited to 64
** bits. Or nil, message, code.
*/
static int sums_read (lua_State *L) {
  pf_function_sums *const sums = luaL_checkudata(L, 1, L_FUNCTION_SUMS);
  const int last = lua_gettop(L);
  bool is_limited = false;
  pf_function_totals totals;
  pf_statement *rows;
  pf_error error;
  luaL_checkstring(L, 2);
  l_bindable_check(L, 3);
  lua_getiuservalue(L, 1, 1);
  l_database *const d = l_database_check(L, last + 1);
  pf_status status = take_query(L, d, 2, last, &rows, &error);
  if (status == PF_OK)
    status = pf_function_sums_read(sums, &d->database, rows, &totals, &error);
  pf_statement_end(rows);
  if (status != PF_OK)
    return l_database_failed(L, last + 1, &error);
  l_push_sum(L, totals.all, &is_limited);
  l_push_sum(L, totals.in_functions, &is_limited);
  lua_newtable(L);
  for (uint32_t i = 1; i <= sums->count; i++)
    if (sums->self[i] != 0) {
      l_push_sum(L, sums->self[i], &is_limited);
      lua_rawseti(L, -2, i);
    }
  lua_pushboolean(L, is_limited);
  return 4;
}


void l_open_cell_methods (lua_State *L) {
  luaL_getmetatable(L, L_DATABASE);
  lua_getfield(L, -1, "__index");
  L_ADD(L, {"put_cells", database_put_cells}, {"sum_cells", database_sum_cells},
        {"function_sums", database_function_sums});
  lua_pop(L, 2);
  l_class(L, L_FUNCTION_SUMS, L_METHODS({"read", sums_read}), sums_gc, NULL);
}
