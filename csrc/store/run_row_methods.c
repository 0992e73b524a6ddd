/*
** run_row_methods.c - the userdata of rows of ClickHouse: those of runs that
** are to be inserted, and sums that are read. Called by
** lua/profio/internal/store/clickhouse. One userdata owns the rows, another one
** the sums, which pins the profile to which they are added.
*/

#include "bytes/cursor.h"
#include "lua/arguments.h"
#include "store/connection.h"
#include "store/run_rows.h"

#define L_RUN_ROWS "profio.run_rows"
#define L_RUN_SUMS "profio.run_sums"


/* User value 1 of rows: the dictionary of the profile that came last. */

/* store.run_rows(shards): rows for so many shards. */
static int store_run_rows (lua_State *L) {
  const lua_Integer shards = luaL_checkinteger(L, 1);
  luaL_argcheck(L, shards >= 1 && shards <= 65536, 1, "1 to 65536 shards");
  pf_run_rows *const rows = l_new(L, L_RUN_ROWS, sizeof *rows, 1);
  if (!pf_run_rows_open(rows, (size_t)shards))
    l_no_memory(L);
  return 1;
}


static int rows_gc (lua_State *L) {
  pf_run_rows_close(luaL_checkudata(L, 1, L_RUN_ROWS));
  return 0;
}


/* Returns the index of the shard at `arg`, counted from 1 there. */
static size_t shard_check (lua_State *L, int arg, const pf_run_rows *rows) {
  const lua_Integer shard = luaL_checkinteger(L, arg);
  luaL_argcheck(L, shard >= 1 && (size_t)shard <= rows->nshards, arg,
                "no such shard");
  return (size_t)shard - 1;
}


/*
** run_rows:put(shard, run, attempt, month, contexts): collects the cells of a
** run (a hash of 16 bytes) for a shard (from 1), and the frames and stacks
** that are new for the shards of their hashes; returns how many rows of cells
** it has.
*/
static int rows_put (lua_State *L) {
  pf_run_rows *const rows = luaL_checkudata(L, 1, L_RUN_ROWS);
  const size_t shard = shard_check(L, 2, rows);
  const pf_bytes run = l_text_check(L, 3);
  const lua_Integer attempt = luaL_checkinteger(L, 4);
  const lua_Integer month = luaL_checkinteger(L, 5);
  const pf_contexts *const contexts = l_open_contexts(L, 6);
  pf_hash hash;
  size_t count;
  pf_error error;
  luaL_argcheck(L, run.size == PF_HASH_SIZE, 3, "a hash has 16 bytes");
  memcpy(hash.bytes, run.at, PF_HASH_SIZE);
  lua_getiuservalue(L, 6, 1);
  l_pin(L, 1, 1, -1);
  if (pf_run_rows_put(rows, shard, &hash, attempt, month, contexts, &count,
                      &error) != PF_OK) {
    pf_run_rows_forget(rows);
    return l_failure(L, &error, NULL);
  }
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}


/* run_rows:take(shard, table): the rows that were collected for a table
   ("cells", "frames" or "stacks"), in RowBinary; removes them. */
static int rows_take (lua_State *L) {
  static const char *const tables[] = {[PF_CELL_ROWS] = "cells",
                                       [PF_FRAME_ROWS] = "frames",
                                       [PF_STACK_ROWS] = "stacks",
                                       NULL};
  pf_run_rows *const rows = luaL_checkudata(L, 1, L_RUN_ROWS);
  const size_t shard = shard_check(L, 2, rows);
  const size_t table = (size_t)luaL_checkoption(L, 3, NULL, tables);
  pf_row_bytes *const bytes = &rows->tables[shard * PF_ROW_TABLES + table];
  l_push_bytes(L, (pf_bytes){bytes->at, bytes->size});
  bytes->size = 0;
  return 1;
}


/* run_rows:forget(): removes all rows; frames and stacks are collected again.
   */
static int rows_forget (lua_State *L) {
  pf_run_rows_forget(luaL_checkudata(L, 1, L_RUN_ROWS));
  return 0;
}

/* store.run_sums(contexts): sums for an open profile without nodes, which the
   userdata pins. */
static int store_run_sums (lua_State *L) {
  pf_contexts *const contexts = l_open_contexts(L, 1);
  luaL_argcheck(L, contexts->count == 1, 1, "the profile is not empty");
  pf_run_sums *const sums = l_new(L, L_RUN_SUMS, sizeof *sums, 1);
  l_pin(L, -1, 1, 1);
  pf_run_sums_open(sums, contexts);
  return 1;
}


static int sums_gc (lua_State *L) {
  pf_run_sums_close(luaL_checkudata(L, 1, L_RUN_SUMS));
  return 0;
}


static pf_run_sums *sums_check (lua_State *L) {
  pf_run_sums *const sums = luaL_checkudata(L, 1, L_RUN_SUMS);
  lua_getiuservalue(L, 1, 1);
  (void)l_open_contexts(L, -1);
  lua_pop(L, 1);
  return sums;
}


static size_t metric_check (lua_State *L, const pf_run_sums *sums) {
  const lua_Integer metric = luaL_checkinteger(L, 2);
  luaL_argcheck(L, metric >= 1 && (size_t)metric <= sums->contexts->nmetrics, 2,
                "no such metric");
  return (size_t)metric - 1;
}


/* run_sums:metric(index): the number that cells have for a metric. */
static int sums_metric (lua_State *L) {
  const pf_run_sums *const sums = sums_check(L);
  const size_t metric = metric_check(L, sums);
  const pf_context_metric *const m = &sums->contexts->metrics[metric];
  lua_pushinteger(L, (lua_Integer)pf_hash_metric(m->name, m->unit));
  return 1;
}


/* Returns true after PF_OK, else nil, message, code. */
static int done (lua_State *L, pf_status status, const pf_error *error) {
  if (status != PF_OK)
    return l_failure(L, error, NULL);
  lua_pushboolean(L, 1);
  return 1;
}


/*
** run_sums:add(metric, rows), run_sums:take_stacks(rows, has_callers),
** run_sums:take_frames(rows): take the rows of a query (of add: hi and lo of a
** stack, and the sums of the low and of the high halves of its weights; of the
** others those of tables stacks and frames), and return true; or nil, message,
** code. metric is its index, has_callers: the callers of these stacks are
** needed, too.
*/
static int sums_add (lua_State *L) {
  pf_run_sums *const sums = sums_check(L);
  const size_t metric = metric_check(L, sums);
  pf_error error;
  const pf_status status =
      pf_run_sums_add(sums, metric, l_text_check(L, 3), &error);
  return done(L, status, &error);
}


/* run_sums:are_clear(rows): whether the rows of a query that groups by lo name
   each stack: none has hi 0. */
static int sums_are_clear (lua_State *L) {
  (void)sums_check(L);
  lua_pushboolean(L, pf_run_sums_are_clear(l_text_check(L, 2)));
  return 1;
}


static int sums_take_stacks (lua_State *L) {
  pf_error error;
  const bool callers = lua_toboolean(L, 3);
  const pf_status status = pf_run_sums_take_stacks(
      sums_check(L), l_text_check(L, 2), callers, &error);
  return done(L, status, &error);
}


static int sums_take_frames (lua_State *L) {
  pf_error error;
  const pf_status status =
      pf_run_sums_take_frames(sums_check(L), l_text_check(L, 2), &error);
  return done(L, status, &error);
}


/* run_sums:ask(): the stacks whose rows are needed next, as rows of lo; "" if
   there are no more. */
static int sums_ask (lua_State *L) {
  pf_run_sums *const sums = sums_check(L);
  const uint64_t *words;
  const size_t count = pf_run_sums_ask(sums, &words);
  luaL_Buffer buffer;
  char *const p = luaL_buffinitsize(L, &buffer, 8 * count + 1);
  for (size_t i = 0; i < count; i++)
    pf_save64le((uint8_t *)p + 8 * i, words[i]);
  luaL_pushresultsize(&buffer, 8 * count);
  return 1;
}


/* run_sums:frames(): the hashes of the frames of all stacks, as rows of hi and
   lo. */
static int sums_frames (lua_State *L) {
  const pf_run_sums *const sums = sums_check(L);
  const size_t count = sums->frame_table.count;
  luaL_Buffer buffer;
  uint8_t *p =
      (uint8_t *)luaL_buffinitsize(L, &buffer, count * PF_HASH_SIZE + 1);
  for (size_t i = 0; i < count; i++, p += PF_HASH_SIZE) {
    pf_save64le(p, pf_load64be(sums->frames[i].hash.bytes));
    pf_save64le(p + 8, pf_load64be(sums->frames[i].hash.bytes + 8));
  }
  luaL_pushresultsize(&buffer, count * PF_HASH_SIZE);
  return 1;
}


/* run_sums:finish(): adds all to the profile, and returns it; or nil, message,
   code: then the profile can only be closed. */
static int sums_finish (lua_State *L) {
  pf_run_sums *const sums = sums_check(L);
  pf_error error;
  if (pf_run_sums_finish(sums, &error) != PF_OK)
    return l_failure(L, &error, NULL);
  lua_getiuservalue(L, 1, 1);
  return 1;
}

/* run_sums:names(): the names of the functions that frames were taken of, whose
   indices are their numbers; or nil, message, code. */
static int sums_names (lua_State *L) {
  pf_run_sums *const sums = sums_check(L);
  pf_error error;
  if (pf_run_sums_name(sums, &error) != PF_OK)
    return l_failure(L, &error, NULL);
  lua_createtable(L, (int)sums->names.count, 0);
  for (uint32_t i = 0; i < sums->names.count; i++) {
    l_push_bytes(
        L, pf_name(sums->contexts->dictionary, (uint32_t)sums->names.words[i]));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* run_sums:keys(wanted, has_callers): the stacks with sums whose innermost
   frame is in a function with wanted[number], or any of their frames, as rows
   of hi (16 bits) and lo; or nil, message, code. */
static int sums_keys (lua_State *L) {
  const pf_run_sums *const sums = sums_check(L);
  const bool callers = lua_toboolean(L, 3);
  pf_error error;
  luaL_Buffer buffer;
  luaL_checktype(L, 2, LUA_TTABLE);
  bool *const wanted = l_scratch(L, sums->names.count + 1, sizeof *wanted);
  bool *const has = l_scratch(L, (size_t)sums->nsums + 1, sizeof *has);
  for (uint32_t i = 0; i < sums->names.count; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    wanted[i] = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  wanted[sums->names.count] = false;
  if (pf_run_sums_having(sums, wanted, callers, has, &error) != PF_OK)
    return l_failure(L, &error, NULL);
  uint8_t *p =
      (uint8_t *)luaL_buffinitsize(L, &buffer, (size_t)10 * sums->nsums + 1);
  const uint8_t *const start = p;
  for (uint32_t i = 0; i < sums->nsums; i++)
    if (has[i]) {
      const uint8_t *const key = sums->stacks[i].key.bytes;
      pf_save(p, 2, false, pf_load64be(key));
      pf_save64le(p + 2, pf_load64be(key + 8));
      p += 10;
    }
  luaL_pushresultsize(&buffer, (size_t)(p - start));
  return 1;
}


/* run_sums:begin(count): begins with 1 to 2^20 groups without weight; true, or
   nil, message, code. */
static int sums_begin (lua_State *L) {
  pf_run_sums *const sums = sums_check(L);
  const lua_Integer count = luaL_checkinteger(L, 2);
  pf_error error;
  luaL_argcheck(L, count >= 1 && count <= 1 << 20, 2, "1 to 2^20 groups");
  luaL_argcheck(L, sums->functions != NULL, 1, "functions have no names");
  return done(L, pf_run_sums_begin(sums, (size_t)count, &error), &error);
}


/* Returns the index of the group at `arg`, counted from 1 there. */
static size_t group_check (lua_State *L, int arg, const pf_run_sums *sums) {
  const lua_Integer group = luaL_checkinteger(L, arg);
  luaL_argcheck(L, group >= 1 && (size_t)group <= sums->ngroups, arg,
                "no such group");
  return (size_t)group - 1;
}


/* run_sums:add_group(group, rows): adds rows as of run_sums:add to a group;
   returns true, or nil, message, code. */
static int sums_add_group (lua_State *L) {
  pf_run_sums *const sums = sums_check(L);
  const size_t group = group_check(L, 2, sums);
  pf_error error;
  const pf_status status =
      pf_run_sums_add_group(sums, group, l_text_check(L, 3), &error);
  return done(L, status, &error);
}


/* run_sums:add_cells(groups, rows): adds rows of hash, hi, lo, high and low of
   table cells to the groups of their runs, by hash; returns true, or nil,
   message, code. */
static int sums_add_cells (lua_State *L) {
  pf_run_sums *const sums = sums_check(L);
  pf_cursor cursor = pf_cursor_over(l_text_check(L, 3), false);
  pf_status status = PF_OK;
  pf_error error;
  luaL_checktype(L, 2, LUA_TTABLE);
  while (pf_left(&cursor) > 0 && status == PF_OK) {
    pf_bytes hash;
    if (!pf_take(&cursor, PF_HASH_SIZE, &hash)) {
      status = pf_run_sums_damaged(&error, "cells are incomplete");
      break;
    }
    l_push_bytes(L, hash);
    if (lua_rawget(L, 2) == LUA_TNIL)
      status = pf_run_sums_damaged(&error, "cells of another run");
    else
      status = pf_run_sums_add_cells(sums, group_check(L, -1, sums), &cursor,
                                     &error);
    lua_pop(L, 1);
  }
  return done(L, status, &error);
}


/* run_sums:group(group): the weight of a group; a table with the weight of each
   function, by its number, without zeros; and whether one of them was limited
   to 64 bits. */
static int sums_group (lua_State *L) {
  const pf_run_sums *const sums = sums_check(L);
  const size_t count = sums->names.count;
  const pf_wide *const self =
      sums->self + group_check(L, 2, sums) * (count + 1);
  bool is_limited = false;
  pf_wide whole = 0;
  for (size_t i = 0; i <= count; i++)
    whole += self[i];
  l_push_sum(L, whole, &is_limited);
  lua_newtable(L);
  for (size_t i = 0; i < count; i++)
    if (self[i] != 0) {
      l_push_sum(L, self[i], &is_limited);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  lua_pushboolean(L, is_limited);
  return 3;
}

void l_open_run_row_methods (lua_State *L) {
  l_class(L, L_RUN_ROWS,
          L_METHODS({"put", rows_put}, {"take", rows_take},
                    {"forget", rows_forget}),
          rows_gc, NULL);
  l_class(L, L_RUN_SUMS,
          L_METHODS({"metric", sums_metric}, {"add", sums_add},
                    {"are_clear", sums_are_clear}, {"ask", sums_ask},
                    {"take_stacks", sums_take_stacks}, {"frames", sums_frames},
                    {"take_frames", sums_take_frames}, {"finish", sums_finish},
                    {"names", sums_names}, {"keys", sums_keys},
                    {"begin", sums_begin}, {"add_group", sums_add_group},
                    {"add_cells", sums_add_cells}, {"group", sums_group}),
          sums_gc, NULL);
  L_ADD(L, {"run_rows", store_run_rows}, {"run_sums", store_run_sums});
}
