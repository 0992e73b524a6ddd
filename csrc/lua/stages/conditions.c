/*
** conditions.c - core.where: compiles conditions, given as Lua tables, to the
** tests of kernels/stages/stages.h.
**
** Called by view_methods.lua, internal/calls and exports. The
** reader userdata owns the stage; it pins the input, and the table with the
** strings, patterns and memory that the tests borrow.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/stages/stages.h"
#include "lua/arguments.h"

/* Stack indices of core.where; TEST is the table of one test. The table PINS
   has what the tests borrow; the reader pins it. */
enum {
  READER = 1,
  TESTS,
  PINS,
  TEST
};


static int wrong_value (lua_State *L, const pf_field *field) {
  return luaL_error(L, "where: column '%s' is of type %s, got %s", field->name,
                    pf_type_name(field->type), luaL_tolstring(L, -1, NULL));
}


/* Reads the string on top of the stack, which is `prefix` and 1 to 16 hex
   digits, as profio prints addresses (0x) and handles. False for others. */
static bool hex_word (lua_State *L, const char *prefix, uint64_t *word) {
  size_t size;
  const char *const text = lua_tolstring(L, -1, &size);
  const size_t skip = strlen(prefix);
  if (size <= skip || size > skip + 16 || strncmp(text, prefix, skip) != 0 ||
      strspn(text + skip, "0123456789abcdefABCDEF") != size - skip)
    return false;
  *word = strtoull(text + skip, NULL, 16);
  return true;
}


static uint64_t integer_word (lua_State *L, const pf_field *field) {
  int is_integer;
  uint64_t word = 0;
  const lua_Integer value = lua_tointegerx(L, -1, &is_integer);
  if (lua_type(L, -1) == LUA_TSTRING) {
    if ((field->type != PF_ADDR || !hex_word(L, "0x", &word)) &&
        (field->type != PF_HANDLE || !hex_word(L, "", &word)))
      wrong_value(L, field);
    return word;
  }
  if (!is_integer ||
      (pf_type_is_id(field->type) && (value < 0 || value > UINT32_MAX)))
    wrong_value(L, field);
  return field->type == PF_INT ? pf_order_int(value) : (uint64_t)value;
}


/* Converts the value on top of the stack, which it pops, to the representation
   that the column is compared with. */
static pf_value to_value (lua_State *L, const pf_field *field) {
  pf_value value = {0, {NULL, 0}};
  const int type = lua_type(L, -1);
  switch (field->type) {
    case PF_NAME:
    case PF_AREA:
    case PF_BYTES:
      if (type != LUA_TSTRING)
        wrong_value(L, field);
      value.text = l_text_check(L, -1);
      break;
    case PF_NUM:
      if (type != LUA_TNUMBER)
        wrong_value(L, field);
      value.word = pf_order_num(lua_tonumber(L, -1));
      break;
    case PF_BOOL:
      if (type != LUA_TBOOLEAN)
        wrong_value(L, field);
      value.word = (uint64_t)lua_toboolean(L, -1);
      break;
    default: value.word = integer_word(L, field);
  }
  l_append(L, PINS);
  return value;
}


static pf_value *new_values (lua_State *L, pf_test *test, size_t count) {
  pf_value *const values = l_scratch(L, count, sizeof *values);
  l_append(L, PINS);
  test->values = values;
  test->nvalues = count;
  return values;
}


static void set_in (lua_State *L, pf_test *test, const pf_field *field) {
  if (lua_getfield(L, TEST, "values") != LUA_TTABLE)
    luaL_error(L, "where: no list of values for column '%s'", field->name);
  pf_value *const values = new_values(L, test, l_length(L, -1));
  for (size_t i = 0; i < test->nvalues; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    values[i] = to_value(L, field);
  }
}


static void set_between (lua_State *L, pf_test *test, const pf_field *field) {
  if (field->type == PF_BOOL)
    luaL_error(L, "where: no range of column '%s', which is of type bool",
               field->name);
  test->kind = PF_IS_BETWEEN;
  pf_value *const values = new_values(L, test, 2);
  test->open_low = lua_getfield(L, TEST, "low") == LUA_TNIL;
  if (!test->open_low)
    values[0] = to_value(L, field);
  test->open_high = lua_getfield(L, TEST, "high") == LUA_TNIL;
  if (!test->open_high)
    values[1] = to_value(L, field);
}


static void set_match (lua_State *L, pf_test *test, const pf_field *field) {
  if (!pf_test_is_text(field->type))
    luaL_error(L, "where: match expects a text, column '%s' is of type %s",
               field->name, pf_type_name(field->type));
  lua_getfield(L, TEST, "pattern");
  test->kind = PF_IS_MATCH;
  test->pattern = l_pattern_check(L, -1);
  l_append(L, PINS);
}


static void set_test (lua_State *L, pf_test *test, const pf_reader *reader) {
  test->negate = l_option_flag(L, TEST, "negate");
  test->column = l_option_field(L, TEST, "column", reader);
  lua_getfield(L, TEST, "op");
  const char *const op = luaL_checkstring(L, -1);
  const pf_field *const field = &reader->fields[test->column];
  test->kind = PF_IS_IN;
  if (pf_has_any_type(field) && strcmp(op, "missing") != 0)
    return; /* the column has no values: never true */
  if (strcmp(op, "eq") == 0) {
    pf_value *const value = new_values(L, test, 1);
    lua_getfield(L, TEST, "value");
    *value = to_value(L, field);
  }
  else if (strcmp(op, "in") == 0)
    set_in(L, test, field);
  else if (strcmp(op, "between") == 0)
    set_between(L, test, field);
  else if (strcmp(op, "match") == 0)
    set_match(L, test, field);
  else if (strcmp(op, "missing") == 0)
    test->kind = PF_IS_MISSING;
  else
    luaL_error(L, "where: no operation '%s'", op);
}


/*
** core.where(reader, tests): the rows for which all tests hold. A test is {
** column=, op=, negate= } with, for op "eq" value=, "in" values=, "between"
** low= and high= (nil: open end), "match" pattern= (core.pattern). "missing"
** has none.
*/
static int core_where (lua_State *L) {
  pf_reader *const input = l_reader_check(L, READER)->reader;
  luaL_checktype(L, TESTS, LUA_TTABLE);
  lua_settop(L, TESTS);
  const size_t count = l_length(L, TESTS);
  lua_newtable(L); /* PINS */
  pf_test *const tests = l_scratch(L, count, sizeof *tests);
  l_append(L, PINS);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, TESTS, (lua_Integer)i + 1);
    luaL_checktype(L, TEST, LUA_TTABLE);
    set_test(L, &tests[i], input);
    lua_settop(L, PINS);
  }
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_where_open(input, tests, count, &r->reader, &r->error));
}


void l_open_conditions (lua_State *L) {
  L_ADD(L, {"where", core_where});
}
