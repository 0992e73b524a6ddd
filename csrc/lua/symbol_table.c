/*
** symbol_table.c - symbols of executables, and core.symbolize, which adds
** functions and lines to a reader.
**
** A symbols userdata pins the sources it reads and the dictionary of its names.
** Close only forbids further use: the collector frees the memory after the last
** reader that uses it.
**
** Called by lua/profio/internal and formats/gmon.
*/

#include "kernels/base/pull.h"
#include "kernels/stages/stages.h"
#include "lua/arguments.h"
#include "lua/source.h"
#include "lua/trace_part.h"
#include "model/base/id_table.h"
#include "model/symbols/symbols.h"

#define MAX_DERIVED  16
#define MAX_PROLOGUE 64 /* bytes from a function to the call that counts it */

/* User value 1: an array of the sources and the dictionary. */
typedef struct l_symbols {
  pf_symbols *symbols;
  bool closed;
} l_symbols;


pf_symbols *l_symbols_check (lua_State *L, int arg) {
  const l_symbols *const s = luaL_checkudata(L, arg, L_SYMBOLS);
  luaL_argcheck(L, s->symbols != NULL && !s->closed, arg, "symbols are closed");
  return s->symbols;
}


static int symbols_gc (lua_State *L) {
  l_symbols *const s = luaL_checkudata(L, 1, L_SYMBOLS);
  pf_symbols_free(s->symbols);
  s->symbols = NULL;
  return 0;
}


static int symbols_close (lua_State *L) {
  l_symbols *const s = luaL_checkudata(L, 1, L_SYMBOLS);
  s->closed = true;
  return 0;
}


/* symbols:by_line(): splits symbols where the source line changes, as gprof's
   -l does. Only before a reader uses them. */
static int symbols_by_line (lua_State *L) {
  if (pf_symbols_by_line(l_symbols_check(L, 1)) != PF_OK)
    l_no_memory(L);
  return 0;
}


/* Pushes empty symbols that pin all values on the stack. */
static l_symbols *new_symbols (lua_State *L) {
  const int count = lua_gettop(L);
  l_symbols *const s = l_new(L, L_SYMBOLS, sizeof *s, 1);
  lua_createtable(L, count, 0);
  for (int i = 1; i <= count; i++) {
    lua_pushvalue(L, i);
    lua_rawseti(L, -2, i);
  }
  lua_setiuservalue(L, -2, 1);
  return s;
}


/* Returns the bytes of a source, which may be nil, and its flag. */
static pf_bytes optional_bytes (lua_State *L, int arg, const bool **open) {
  *open = NULL;
  if (lua_isnoneornil(L, arg))
    return (pf_bytes){NULL, 0};
  const l_source *const source = l_source_check(L, arg);
  *open = &source->open;
  return source->bytes;
}


/* Opens symbols for the arguments of core.symbols_nm; the text may be nil. */
static int open_symbols (lua_State *L) {
  static const char *const rules[] = {"exact", "gprof", NULL};
  const bool *text_open;
  pf_symbol_files files;
  lua_settop(L, 5);
  const pf_bytes text = optional_bytes(L, 1, &text_open);
  files.executable = optional_bytes(L, 2, &files.executable_open);
  files.debug = optional_bytes(L, 3, &files.debug_open);
  const pf_symbol_rule rule =
      (pf_symbol_rule)luaL_checkoption(L, 4, "exact", rules);
  pf_dictionary *const dictionary = l_dictionary_check(L, 5);
  l_symbols *const s = new_symbols(L);
  pf_error error;
  if (pf_symbols_open(&files, text_open != NULL ? &text : NULL, rule,
                      dictionary, &s->symbols, &error) != PF_OK)
    return l_failure_of(L, &error, text_open != NULL ? 1 : 2);
  return 1;
}


/*
** core.symbols_nm(text, executable, debug, rule, dictionary): the symbols that
** nm printed, or nil, message, code. `text` is a source, and so are
** `executable` and `debug` (its separate debug file) or nil; rule: "exact" or
** "gprof", which symbols count.
*/
static int core_symbols_nm (lua_State *L) {
  luaL_checkudata(L, 1, L_SOURCE);
  return open_symbols(L);
}


/* core.symbols_elf(executable, debug, rule, dictionary): the same from the
   symbol tables of an executable. */
static int core_symbols_elf (lua_State *L) {
  luaL_checkudata(L, 1, L_SOURCE);
  lua_pushnil(L);
  lua_insert(L, 1);
  return open_symbols(L);
}


/* symbols:pack(): symbols and lines as bytes, which core.symbols_packed
   reads. */
static int symbols_pack (lua_State *L) {
  pf_symbols *const symbols = l_symbols_check(L, 1);
  pf_packed *const packed = l_packed_new(L);
  pf_error error;
  if (pf_symbols_pack(symbols, packed, &error) != PF_OK)
    l_no_memory(L);
  return l_push_packed(L, packed);
}


/* core.symbols_packed(bytes, dictionary): the symbols that symbols:pack has
   written, or nil, message, code. */
static int core_symbols_packed (lua_State *L) {
  const pf_bytes packed = l_text_check(L, 1);
  lua_settop(L, 2);
  pf_dictionary *const dictionary = l_dictionary_check(L, 2);
  l_symbols *const s = new_symbols(L);
  pf_error error;
  if (pf_symbols_unpack(packed, dictionary, &s->symbols, &error) != PF_OK)
    return l_failure(L, &error, NULL);
  return 1;
}


static void push_build_id (lua_State *L, const pf_executable *facts) {
  static const char DIGITS[] = "0123456789abcdef";
  luaL_Buffer buffer;
  char *const hex = luaL_buffinitsize(L, &buffer, 2 * facts->build_id_size);
  for (size_t i = 0; i < facts->build_id_size; i++) {
    hex[2 * i] = DIGITS[facts->build_id[i] >> 4];
    hex[2 * i + 1] = DIGITS[facts->build_id[i] & 15];
  }
  luaL_pushresultsize(&buffer, 2 * facts->build_id_size);
}


static void push_facts (lua_State *L, const pf_executable *facts) {
  lua_createtable(L, 0, 20);
  l_set_bool(L, "is_pie", facts->is_pie);
  l_set_bool(L, "has_symbols", facts->has_symbols);
  l_set_bool(L, "only_dynamic", facts->only_dynamic);
  l_set_bool(L, "has_lines", facts->has_lines);
  l_set_int(L, "machine", (int64_t)facts->machine);
  l_set_int(L, "entry", (int64_t)facts->entry);
  l_set_int(L, "text_start", (int64_t)facts->text_start);
  l_set_int(L, "text_end", (int64_t)facts->text_end);
  l_set_int(L, "code_start", (int64_t)facts->code_start);
  l_set_int(L, "code_end", (int64_t)facts->code_end);
  l_set_int(L, "segment_end", (int64_t)facts->segment_end);
  l_set_int(L, "image_start", (int64_t)facts->image_start);
  l_set_int(L, "image_end", (int64_t)facts->image_end);
  /* Some executables lack the following. */
  if (facts->address_size != 0) {
    l_set_int(L, "address_size", (int64_t)facts->address_size);
    l_set_text(L, "byte_order", facts->big_endian ? "big" : "little");
  }
  if (facts->build_id_size > 0) {
    push_build_id(L, facts);
    lua_setfield(L, -2, "build_id");
  }
  if (facts->debug_link[0] != 0) {
    l_set_text(L, "debug_link", facts->debug_link);
    l_set_int(L, "debug_crc", (int64_t)facts->debug_crc);
  }
}


/* core.executable(source): properties of an executable, or nil, message,
   code. */
static int core_executable (lua_State *L) {
  pf_executable facts;
  pf_error error;
  if (pf_executable_read(l_source_check(L, 1)->bytes, &facts, &error) != PF_OK)
    return l_failure_of(L, &error, 1);
  push_facts(L, &facts);
  return 1;
}


/* core.debug_crc(source): the CRC-32 of a debug file, as debug links have
   it. */
static int core_debug_crc (lua_State *L) {
  lua_pushinteger(L, pf_debug_crc(l_source_check(L, 1)->bytes));
  return 1;
}


/* symbols:facts(): the properties of the executable. */
static int symbols_facts (lua_State *L) {
  push_facts(L, &l_symbols_check(L, 1)->facts);
  return 1;
}


static void push_symbol (lua_State *L, pf_dictionary *dictionary,
                         const pf_symbol *symbol) {
  lua_createtable(L, 0, 6);
  l_set_bytes(L, "name", pf_name(dictionary, symbol->name));
  l_set_bytes(L, "demangled",
              pf_name(dictionary, pf_demangle(dictionary, symbol->name)));
  if (dictionary->lacks_memory)
    l_no_memory(L);
  l_set_int(L, "start", (int64_t)symbol->start);
  l_set_int(L, "stop", (int64_t)symbol->end);
  l_set_bool(L, "is_function", symbol->is_function);
  l_set_bool(L, "is_global", symbol->is_global);
}


/* symbols:count(): the number of symbols. */
static int symbols_count (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)l_symbols_check(L, 1)->count);
  return 1;
}


/* symbols:find(address): the symbol that contains a link-time address, or
   nil. */
static int symbols_find (lua_State *L) {
  const pf_symbols *const symbols = l_symbols_check(L, 1);
  const size_t i =
      pf_ranges_find(&symbols->ranges, (uint64_t)luaL_checkinteger(L, 2));
  if (i == SIZE_MAX)
    lua_pushnil(L);
  else
    push_symbol(L, symbols->dictionary, &symbols->all[i]);
  return 1;
}


/* Whether a call counter cannot be at a link-time address: the address is
   outside of the code, or far from the start of its function, or another
   address in this function was checked before. Adds the start of the function
   to `starts`. PF_ENOMEM in *status. */
static bool is_misplaced (const pf_symbols *symbols, uint64_t address,
                          pf_id_table *starts, pf_status *status) {
  const pf_executable *const facts = &symbols->facts;
  const size_t i = pf_ranges_find(&symbols->ranges, address);
  if (i == SIZE_MAX)
    return facts->address_size != 0 && facts->code_end > 0 &&
           address - facts->code_start >= facts->code_end - facts->code_start;
  const uint32_t known = starts->count;
  uint32_t id = 0;
  *status = pf_id_table_words(starts, &symbols->all[i].start, 1, &id);
  return address - symbols->all[i].start > MAX_PROLOGUE || id < known;
}


/* Counts the different addresses that are called in the first batch of table
   arcs, and those of them that are misplaced. */
static pf_status check_arcs (pf_reader *arcs, const pf_symbols *symbols,
                             uint64_t bias, pf_id_table *called,
                             lua_Integer *misplaced, pf_error *error) {
  static const pf_want to = {"to", PF_ADDR, true};
  pf_pull pull;
  pf_id_table starts;
  pf_id_table_init(&starts);
  pf_status status = pf_pull_open(&pull, arcs, &to, 1, error);
  if (status == PF_OK)
    status = pf_pull_next(&pull, error);
  for (size_t row = 0; status == PF_MORE && row < pull.batch.rows; row++) {
    const uint32_t known = called->count;
    const uint64_t address = pull.columns[0]->addrs[row];
    uint32_t id = 0;
    status = pf_id_table_words(called, &address, 1, &id);
    if (status == PF_OK && id == known)
      *misplaced += is_misplaced(symbols, address - bias, &starts, &status);
  }
  pf_pull_close(&pull);
  pf_id_table_free(&starts);
  return status == PF_ENOMEM ? pf_no_memory(error) : status;
}


/*
** symbols:check_calls(part, bias): the number of different run-time addresses
** that are called in the first batch of the arcs of a part (of format gmon),
** and how many of them are misplaced, because the profile is of another
** program: no function counts its calls there. bias: run-time address minus
** link-time address. A failure ends the count; readers of the table report it.
*/
static int symbols_check_calls (lua_State *L) {
  const pf_symbols *const symbols = l_symbols_check(L, 1);
  l_part *const part = l_part_check(L, 2);
  const uint64_t bias = (uint64_t)luaL_checkinteger(L, 3);
  lua_settop(L, 3);
  pf_reader *arcs;
  pf_error error;
  pf_id_table called;
  pf_id_table_init(&called);
  lua_Integer misplaced = 0;
  pf_status status = l_part_open_table(part, "arcs", &arcs, &error);
  if (status == PF_OK) {
    status = check_arcs(arcs, symbols, bias, &called, &misplaced, &error);
    arcs->close(arcs);
  }
  const lua_Integer count = called.count;
  pf_id_table_free(&called);
  if (status == PF_ENOMEM)
    l_no_memory(L);
  lua_pushinteger(L, count);
  lua_pushinteger(L, misplaced);
  return 2;
}


/* symbols:all(): an array of all symbols ordered by address. */
static int symbols_all (lua_State *L) {
  const pf_symbols *const symbols = l_symbols_check(L, 1);
  lua_newtable(L);
  for (size_t i = 0; i < symbols->count; i++) {
    push_symbol(L, symbols->dictionary, &symbols->all[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* symbols:line(address): file and line (nil: unknown), or nil. */
static int symbols_line (lua_State *L) {
  pf_symbols *const symbols = l_symbols_check(L, 1);
  pf_line_row row;
  if (pf_symbols_read_lines(symbols) != PF_OK)
    return luaL_error(L, "not enough memory");
  if (!pf_symbols_line(symbols, (uint64_t)luaL_checkinteger(L, 2), &row)) {
    lua_pushnil(L);
    return 1;
  }
  l_push_bytes(L, pf_name(symbols->dictionary, row.file));
  if (row.line == 0)
    return 1;
  lua_pushinteger(L, row.line);
  return 2;
}


/*
** core.symbolize(reader, symbols, bias, { { column =, prefix = }, ... }, raw):
** the rows with function, file and line of the addresses in these columns,
** whose names begin with the prefix. bias: run-time address minus link-time
** address; raw: names as the symbol table has them.
*/
static int core_symbolize (lua_State *L) {
  pf_address_column derived[MAX_DERIVED];
  lua_settop(L, 5);
  const l_reader *const input = l_reader_check(L, 1);
  pf_symbols *const symbols = l_symbols_check(L, 2);
  const uint64_t bias = (uint64_t)luaL_optinteger(L, 3, 0);
  const bool raw = lua_toboolean(L, 5);
  luaL_checktype(L, 4, LUA_TTABLE);
  const size_t count = l_length(L, 4);
  luaL_argcheck(L, count <= MAX_DERIVED, 4, "too many columns");
  /* The stack keeps the strings. */
  luaL_checkstack(L, 2 * MAX_DERIVED + LUA_MINSTACK, NULL);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 4, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    derived[i].column = l_option_field(L, -1, "column", input->reader);
    lua_getfield(L, -1, "prefix");
    derived[i].prefix = luaL_optstring(L, -1, "");
  }
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_symbolize_open(input->reader, symbols, bias, raw,
                                              derived, count, &r->reader,
                                              &r->error));
}


void l_open_symbol_table (lua_State *L) {
  l_class(L, L_SYMBOLS,
          L_METHODS({"all", symbols_all}, {"by_line", symbols_by_line},
                    {"close", symbols_close},
                    {"check_calls", symbols_check_calls},
                    {"count", symbols_count}, {"facts", symbols_facts},
                    {"find", symbols_find}, {"line", symbols_line},
                    {"pack", symbols_pack}),
          symbols_gc, symbols_close);
  L_ADD(L, {"debug_crc", core_debug_crc}, {"executable", core_executable},
        {"symbolize", core_symbolize}, {"symbols_elf", core_symbols_elf},
        {"symbols_nm", core_symbols_nm},
        {"symbols_packed", core_symbols_packed});
}
