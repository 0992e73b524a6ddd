/*
** conditions.c - core.where: compiles conditions, given as Lua tables, to the
** tests of kernels/stages/where.h.
*/

#include <string.h>

#include "kernels/base/order.h"
#include "kernels/stages/where.h"
#include "lua/arguments.h"
#include "lua/callback.h"

/* Context of a pattern test. */
typedef struct l_matcher {
  l_callback *callback;
  lua_Integer number; /* of the pattern in the table of strings */
} l_matcher;

/* The tests of one reader and the memory they use; pinned by the reader. */
typedef struct l_tests {
  l_callback callback; /* values: 1 string.find, 2 the table of strings */
  size_t ntests, nvalues;
  pf_test *tests;
  l_matcher *matchers; /* one for each test */
  pf_value *values;
} l_tests;

/* Stack indices of core.where. */
enum {
  READER = 1,
  TESTS,
  BLOCK,
  STRINGS,
  TEST,
  VALUE
};


typedef struct match_call {
  const l_callback *callback;
  pf_bytes text;
  lua_Integer pattern;
  bool matches;
} match_call;


/* (call, string.find, strings) */
static int match_body (lua_State *L) {
  match_call *const call = lua_touserdata(L, 1);
  lua_settop(L, 3);
  lua_pushvalue(L, 2);
  l_push_bytes(L, call->text);
  lua_rawgeti(L, 3, call->pattern);
  l_callback_call(L, call->callback, 2);
  call->matches = lua_toboolean(L, -1) != 0;
  return 0;
}


static pf_status match (void *context, pf_bytes text, bool *matches,
                        pf_error *error) {
  const l_matcher *const m = context;
  match_call call = {m->callback, text, m->number, false};
  const pf_status status =
      l_callback_run(m->callback, match_body, &call, 2, error);
  *matches = call.matches;
  return status;
}


/* {====== Values ====== */

static int wrong_value (lua_State *L, const pf_field *field) {
  return luaL_error(L, "where: column '%s' is of type %s, got %s", field->name,
                    pf_type_name(field->type), luaL_tolstring(L, VALUE, NULL));
}


/* Whether the string at VALUE is an address as profio prints it: 0x and hex
   digits. */
static bool is_hex (lua_State *L) {
  size_t size;
  const char *const text = lua_tolstring(L, VALUE, &size);
  return size > 2 && size <= 18 && text[0] == '0' && text[1] == 'x' &&
         strspn(text + 2, "0123456789abcdefABCDEF") == size - 2;
}


/* Returns the handle that the string at VALUE denotes in hex digits, as profio
   prints it. */
static uint64_t handle_word (lua_State *L, const pf_field *field) {
  size_t size;
  const char *const text = lua_tolstring(L, VALUE, &size);
  uint64_t word = 0;
  if (size == 0 || size > 16 || strspn(text, "0123456789abcdefABCDEF") != size)
    wrong_value(L, field);
  for (size_t i = 0; i < size; i++) {
    const unsigned c = (unsigned char)text[i];
    word = word << 4 | (c > '9' ? (c & 15) + 9 : c & 15);
  }
  return word;
}


static uint64_t integer_word (lua_State *L, const pf_field *field) {
  int is_integer;
  const lua_Integer value = lua_tointegerx(L, VALUE, &is_integer);
  const bool is_text = lua_type(L, VALUE) == LUA_TSTRING;
  const bool is_id = pf_type_is_id(field->type);
  if (is_text && field->type == PF_HANDLE)
    return handle_word(L, field);
  if (!is_integer || (is_text && (field->type != PF_ADDR || !is_hex(L))) ||
      (is_id && (value < 0 || value > UINT32_MAX)))
    wrong_value(L, field);
  return field->type == PF_INT ? pf_order_int(value) : (uint64_t)value;
}


/* Converts the value at VALUE to the representation that the column is compared
   with. */
static pf_value to_value (lua_State *L, const pf_field *field) {
  pf_value value = {0, {NULL, 0}};
  const int type = lua_type(L, VALUE);
  switch (field->type) {
    case PF_NAME:
    case PF_AREA:
    case PF_BYTES:
      if (type != LUA_TSTRING)
        wrong_value(L, field);
      value.text = l_text_check(L, VALUE);
      lua_pushvalue(L, VALUE);
      l_append(L, STRINGS);
      break;
    case PF_NUM:
      if (type != LUA_TNUMBER)
        wrong_value(L, field);
      value.word = pf_order_num(lua_tonumber(L, VALUE));
      break;
    case PF_BOOL:
      if (type != LUA_TBOOLEAN)
        wrong_value(L, field);
      value.word = (uint64_t)lua_toboolean(L, VALUE);
      break;
    default: value.word = integer_word(L, field);
  }
  return value;
}

/* }====== */


/* {====== One test (its table is at TEST) ====== */

static void set_in (lua_State *L, l_tests *block, pf_test *test,
                    const pf_field *field) {
  test->kind = PF_IS_IN;
  test->values = block->values + block->nvalues;
  if (lua_getfield(L, TEST, "values") != LUA_TTABLE)
    luaL_error(L, "where: no list of values for column '%s'", field->name);
  test->nvalues = lua_rawlen(L, VALUE);
  for (size_t i = 0; i < test->nvalues; i++) {
    lua_rawgeti(L, VALUE, (lua_Integer)i + 1);
    lua_insert(L, VALUE);
    block->values[block->nvalues++] = to_value(L, field);
    lua_remove(L, VALUE);
  }
}


/* Reads one end of a range; false if it is open. */
static bool set_end (lua_State *L, l_tests *block, const char *end,
                     const pf_field *field) {
  pf_value *const value = &block->values[block->nvalues++];
  lua_settop(L, TEST);
  if (lua_getfield(L, TEST, end) == LUA_TNIL)
    return false;
  *value = to_value(L, field);
  return true;
}


static void set_between (lua_State *L, l_tests *block, pf_test *test,
                         const pf_field *field) {
  if (field->type == PF_BOOL)
    luaL_error(L, "where: no range of column '%s', which is of type bool",
               field->name);
  test->kind = PF_IS_BETWEEN;
  test->values = block->values + block->nvalues;
  test->nvalues = 2;
  test->open_low = !set_end(L, block, "low", field);
  test->open_high = !set_end(L, block, "high", field);
}


static void set_match (lua_State *L, l_tests *block, pf_test *test,
                       const pf_field *field) {
  if (!pf_test_is_text(field->type))
    luaL_error(L, "where: match expects a text, column '%s' is of type %s",
               field->name, pf_type_name(field->type));
  if (lua_getfield(L, TEST, "pattern") != LUA_TSTRING)
    luaL_error(L, "where: no pattern for column '%s'", field->name);
  l_matcher *const matcher = &block->matchers[test - block->tests];
  lua_pushvalue(L, VALUE);
  l_append(L, STRINGS);
  *matcher = (l_matcher){&block->callback, (lua_Integer)lua_rawlen(L, STRINGS)};
  test->kind = PF_IS_MATCH;
  test->match = match;
  test->context = matcher;
}


static void set_test (lua_State *L, l_tests *block, pf_test *test,
                      const pf_reader *reader) {
  test->negate = l_option_flag(L, TEST, "negate");
  test->column = l_option_field(L, TEST, "column", reader);
  lua_getfield(L, TEST, "op");
  const char *const op = luaL_checkstring(L, -1);
  lua_settop(L, TEST);
  const pf_field *const field = &reader->fields[test->column];
  if (pf_has_any_type(field) && strcmp(op, "missing") != 0)
    test->kind = PF_IS_IN; /* the column has no values: never true */
  else if (strcmp(op, "eq") == 0) {
    test->kind = PF_IS_IN;
    test->values = block->values + block->nvalues;
    test->nvalues = 1;
    lua_getfield(L, TEST, "value");
    block->values[block->nvalues++] = to_value(L, field);
  }
  else if (strcmp(op, "in") == 0)
    set_in(L, block, test, field);
  else if (strcmp(op, "between") == 0)
    set_between(L, block, test, field);
  else if (strcmp(op, "match") == 0)
    set_match(L, block, test, field);
  else if (strcmp(op, "missing") == 0)
    test->kind = PF_IS_MISSING;
  else
    luaL_error(L, "where: no operation '%s'", op);
}

/* }====== */


/* Pushes an empty block for the tests at TESTS. */
static l_tests *new_block (lua_State *L) {
  const size_t ntests = lua_rawlen(L, TESTS);
  size_t nvalues = 2 * ntests; /* an upper bound */
  for (size_t i = 0; i < ntests; i++) {
    lua_rawgeti(L, TESTS, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    if (lua_getfield(L, -1, "values") == LUA_TTABLE)
      nvalues += lua_rawlen(L, -1);
    lua_pop(L, 2);
  }
  const size_t size = sizeof(l_tests) + nvalues * sizeof(pf_value) +
                      ntests * (sizeof(pf_test) + sizeof(l_matcher));
  l_tests *const block = l_scratch(L, size, 1);
  block->ntests = ntests;
  block->tests = (pf_test *)(block + 1);
  block->matchers = (l_matcher *)(block->tests + ntests);
  block->values = (pf_value *)(block->matchers + ntests);
  return block;
}


/*
** core.where(reader, tests): the rows for which all tests hold. A test is {
** column=, op=, negate= } with, for op "eq" value=, "in" values=, "between"
** low= and high= (nil: open end), "match" pattern=. Op "missing" has no
** operand.
*/
static int core_where (lua_State *L) {
  pf_reader *const input = l_reader_check(L, READER)->reader;
  luaL_checktype(L, TESTS, LUA_TTABLE);
  lua_settop(L, TESTS);
  l_tests *const block = new_block(L);
  lua_newtable(L); /* STRINGS */
  for (size_t i = 0; i < block->ntests; i++) {
    lua_rawgeti(L, TESTS, (lua_Integer)i + 1);
    set_test(L, block, &block->tests[i], input);
    lua_settop(L, STRINGS);
  }
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "string") != LUA_TTABLE)
    luaL_error(L, "where: the library 'string' is not loaded");
  lua_getfield(L, -1, "find");
  lua_pushvalue(L, STRINGS);
  l_callback_open(L, &block->callback, 2, l_reader_check(L, READER)->open);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_where_open(input, block->tests, block->ntests,
                                          &r->reader, &r->error));
}


void l_open_conditions (lua_State *L) {
  lua_pushcfunction(L, core_where);
  lua_setfield(L, -2, "where");
}
