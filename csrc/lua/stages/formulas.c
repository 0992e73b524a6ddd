/*
** formulas.c - core.derive and core.pivot: stages that add columns of numbers.
**
** Called by view_methods.lua, formats/dcpi.lua and internal. The reader
** userdata owns the stage and pins its input and the counters.
*/

#include "kernels/stages/stages.h"
#include "lua/arguments.h"
#include "lua/stages/counter.h"

#define L_COUNTER    "profio.counter"
#define MAX_FORMULAS 1000
#define MAX_STEPS    100000


/* Names of the operations, in the order of pf_operation. */
static const char *const operations[] = {
    "column", "total",   "number", "+",   "-",      "*", "/",  "//",
    "%",      "min",     "max",    "<",   "<=",     ">", ">=", "==",
    "~=",     "running", "sqrt",   "abs", "negate", NULL};


uint64_t *l_counter_check (lua_State *L, int arg) {
  return luaL_checkudata(L, arg, L_COUNTER);
}


/* Returns the length of the array on top; raises if it is above `max`. */
static size_t count_check (lua_State *L, int arg, lua_Unsigned max) {
  const lua_Unsigned n = l_length(L, -1);
  luaL_argcheck(L, n <= max, arg, "too many formulas or steps");
  return (size_t)n;
}


/* Reads the step on top of the stack: { operation, column }, { "number",
   number, "addr" or nil } or { operation }. A number that is a Lua integer is
   of type int, or addr if the step says so; others are of type num. */
static void step_check (lua_State *L, const pf_reader *input, pf_step *step) {
  const int table = lua_gettop(L);
  luaL_checktype(L, table, LUA_TTABLE);
  lua_rawgeti(L, table, 1);
  step->operation =
      (pf_operation)luaL_checkoption(L, table + 1, NULL, operations);
  lua_rawgeti(L, table, 2);
  lua_rawgeti(L, table, 3);
  if (step->operation <= PF_PUSH_TOTAL)
    step->column = l_field_check(L, table + 2, input);
  else if (step->operation == PF_PUSH_NUMBER) {
    step->number = luaL_checknumber(L, table + 2);
    step->type = lua_isnil(L, table + 3) ? PF_INT : PF_ADDR;
    if (lua_isinteger(L, table + 2))
      step->integer = lua_tointeger(L, table + 2);
    else
      step->type = PF_NUM;
  }
  lua_settop(L, table - 1);
}


/* Reads the formula on top of the stack; replaces it by the memory of its
   steps. */
static void formula_check (lua_State *L, const pf_reader *input,
                           pf_formula *formula) {
  const int table = lua_gettop(L);
  luaL_checktype(L, table, LUA_TTABLE);
  lua_getfield(L, table, "name");
  formula->name =
      l_string_check(L, -1, "name");   /* the table keeps the string */
  lua_getfield(L, table, "overflows"); /* borrowed: the caller pins the table */
  formula->overflows = lua_isnil(L, -1) ? NULL : l_counter_check(L, -1);
  lua_getfield(L, table, "steps");
  luaL_checktype(L, -1, LUA_TTABLE);
  formula->nsteps = count_check(L, 2, MAX_STEPS);
  pf_step *const steps = l_scratch(L, formula->nsteps, sizeof *steps);
  for (size_t i = 0; i < formula->nsteps; i++) {
    lua_rawgeti(L, table + 3, (lua_Integer)i + 1);
    step_check(L, input, &steps[i]);
  }
  formula->steps = steps;
  lua_replace(L, table);
  lua_settop(L, table);
}


/* core.derive(reader, formulas): the rows with an additional column for each
   formula { name=, steps = { { operation, operand }, ... }, overflows = counter
   or nil }. */
static int core_derive (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  const size_t count = count_check(L, 2, MAX_FORMULAS);
  pf_formula *const formulas = l_scratch(L, count, sizeof *formulas);
  luaL_checkstack(L, (int)count + 16, "too many formulas");
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    formula_check(L, input, &formulas[i]);
  }
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_derive_open(input, formulas, count, &r->reader, &r->error));
}

/* core.counter(): a counter of rows, such as those that a formula left empty
   because of an overflow. counter:value() is the largest number that one
   reading has found. */
static int core_counter (lua_State *L) {
  (void)l_new(L, L_COUNTER, sizeof(uint64_t), 0);
  return 1;
}


static int counter_value (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)*l_counter_check(L, 1));
  return 1;
}


/* core.pivot(reader, key, value, columns): the rows with an additional column
   for each { name=, column= }: the value if the key has that name, else 0. */
static int core_pivot (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  const size_t key = l_field_check(L, 2, input);
  const size_t value = l_field_check(L, 3, input);
  luaL_checktype(L, 4, LUA_TTABLE);
  lua_settop(L, 4);
  const size_t count = count_check(L, 4, MAX_FORMULAS);
  pf_pivot_column *const columns = l_scratch(L, count, sizeof *columns);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 4, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_getfield(L, -1, "name");
    columns[i].name = l_name_check(L, -1, input->dictionary);
    lua_getfield(L, -2, "column");
    columns[i].column =
        l_string_check(L, -1, "column"); /* the table keeps it */
    lua_pop(L, 3);
  }
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_pivot_open(input, key, value, columns, count,
                                          &r->reader, &r->error));
}


void l_open_formulas (lua_State *L) {
  l_class(L, L_COUNTER, L_METHODS({"value", counter_value}), NULL, NULL);
  L_ADD(L, {"counter", core_counter}, {"derive", core_derive},
        {"pivot", core_pivot});
}
