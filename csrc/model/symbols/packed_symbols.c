/*
** packed_symbols.c - symbols and source lines as bytes, and from them.
*/

#include "model/symbols/packed_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define MAGIC      "pfsyms1\n"
#define MAX_NUMBER UINT64_MAX
#define NADDRESSES 7

/* Bits of the facts and of a symbol. */
enum {
  BIG_ENDIAN_ORDER = 1,
  IS_PIE = 2,
  HAS_SYMBOLS = 4,
  HAS_LINES = 8,
  ONLY_DYNAMIC = 16,
  ALL_FACTS = 31,
  IS_FUNCTION = 1,
  IS_GLOBAL = 2,
  IS_SIZED = 4,
  RANK = 8,
  ALL_RANKS = 12 * RANK - 1 /* ranks are 0 to 11 */
};


static void put (pf_sink *sink, uint64_t number) {
  uint8_t bytes[PF_VARINT_SIZE];
  (void)pf_sink_put(sink, bytes,
                    (size_t)(pf_save_varint(bytes, number) - bytes));
}


static void put_text (pf_sink *sink, const void *bytes, size_t size) {
  put(sink, size);
  (void)pf_sink_put(sink, bytes, size);
}


static void list_addresses (pf_executable *facts,
                            uint64_t *addresses[NADDRESSES]) {
  uint64_t *const all[NADDRESSES] = {&facts->entry,    &facts->text_start,
                                     &facts->text_end, &facts->code_start,
                                     &facts->code_end, &facts->image_start,
                                     &facts->image_end};
  memcpy(addresses, all, sizeof all);
}


static void put_facts (pf_sink *sink, pf_executable *facts) {
  uint64_t *addresses[NADDRESSES];
  list_addresses(facts, addresses);
  put(sink, (facts->big_endian ? BIG_ENDIAN_ORDER : 0u) |
                (facts->is_pie ? IS_PIE : 0u) |
                (facts->has_symbols ? HAS_SYMBOLS : 0u) |
                (facts->has_lines ? HAS_LINES : 0u) |
                (facts->only_dynamic ? ONLY_DYNAMIC : 0u));
  put(sink, facts->address_size);
  put(sink, facts->machine);
  for (size_t i = 0; i < NADDRESSES; i++)
    put(sink, *addresses[i]);
  put_text(sink, facts->build_id, facts->build_id_size);
  put_text(sink, facts->debug_link, strlen(facts->debug_link));
  put(sink, facts->debug_crc);
}


/* Encode the names of symbols and lines as indices, and write the names. */
static pf_status put_names (const pf_symbols *symbols, pf_id_table *names,
                            pf_sink *sink) {
  pf_status status = PF_OK;
  uint32_t ignored;
  for (size_t i = 0; i < symbols->count && status == PF_OK; i++) {
    const uint64_t name = symbols->all[i].name;
    status = pf_id_table_words(names, &name, 1, &ignored);
  }
  for (size_t i = 0; i < symbols->nlines && status == PF_OK; i++) {
    const uint64_t file = symbols->lines[i].file;
    status = pf_id_table_words(names, &file, 1, &ignored);
  }
  if (status != PF_OK)
    return status;
  put(sink, names->count);
  for (uint32_t i = 0; i < names->count; i++) {
    const pf_bytes name =
        pf_name(symbols->dictionary, (uint32_t)names->words[i]);
    put_text(sink, name.at, name.size);
  }
  return PF_OK;
}


static void put_range (pf_sink *sink, uint64_t *end, uint64_t start,
                       uint64_t stop) {
  put(sink, start - *end);
  put(sink, stop - start);
  *end = stop;
}


pf_status pf_symbols_pack (pf_symbols *symbols, pf_sink *sink,
                           pf_error *error) {
  pf_id_table names;
  uint64_t end = 0;
  if (pf_symbols_read_lines(symbols) != PF_OK)
    return pf_no_memory(error);
  (void)pf_sink_put(sink, MAGIC, sizeof MAGIC - 1);
  put_facts(sink, &symbols->facts);
  pf_id_table_init(&names);
  pf_status status = put_names(symbols, &names, sink);
  put(sink, symbols->count);
  for (size_t i = 0; i < symbols->count && status == PF_OK; i++) {
    const pf_symbol *const symbol = &symbols->all[i];
    put_range(sink, &end, symbol->start, symbol->end);
    put(sink, pf_id_table_find(&names, symbol->name));
    put(sink, (symbol->is_function ? IS_FUNCTION : 0u) |
                  (symbol->is_global ? IS_GLOBAL : 0u) |
                  (symbol->is_sized ? IS_SIZED : 0u) |
                  (unsigned)symbol->rank * RANK);
  }
  end = 0;
  put(sink, symbols->nlines);
  for (size_t i = 0; i < symbols->nlines && status == PF_OK; i++) {
    const pf_line_row *const row = &symbols->lines[i];
    put_range(sink, &end, row->start, row->end);
    put(sink, pf_id_table_find(&names, row->file));
    put(sink, row->line);
  }
  pf_id_table_free(&names);
  return status == PF_OK && sink->failed == PF_OK ? PF_OK : pf_no_memory(error);
}


typedef struct unpacking {
  pf_cursor in;
  pf_error *error;
  pf_symbols *symbols;
  uint32_t *names; /* owned: ids in the dictionary, by index */
  size_t nnames;
} unpacking;


static pf_status damaged (const unpacking *u, const char *what) {
  return pf_fail(u->error, PF_EFORMAT, u->in.at, "packed symbols: %s", what);
}


/* Take a number of at most `limit`. */
static pf_status take (unpacking *u, uint64_t limit, uint64_t *number) {
  if (!pf_take_varint(&u->in, number))
    return pf_fail(u->error, PF_ETRUNCATED, u->in.at,
                   "packed symbols: a number expected");
  return *number <= limit ? PF_OK : damaged(u, "a number is too large");
}


/* Take the number of elements that take at least `size` bytes each. */
static pf_status take_count (unpacking *u, size_t size, size_t *count) {
  uint64_t number = 0;
  const size_t left = pf_left(&u->in) / size;
  const pf_status status =
      take(u, left < UINT32_MAX / 2 ? left : UINT32_MAX / 2, &number);
  *count = (size_t)number;
  return status;
}


static pf_status take_text (unpacking *u, size_t limit, pf_bytes *text) {
  uint64_t size = 0;
  const pf_status status = take(u, limit, &size);
  if (status != PF_OK || pf_take(&u->in, size, text))
    return status;
  return pf_fail(u->error, PF_ETRUNCATED, u->in.at,
                 "packed symbols: a text of %llu bytes expected",
                 (unsigned long long)size);
}


static pf_status take_texts (unpacking *u, pf_executable *facts) {
  pf_bytes text = {NULL, 0};
  pf_status status = take_text(u, sizeof facts->build_id, &text);
  if (status != PF_OK)
    return status;
  if (text.size > 0)
    memcpy(facts->build_id, text.at, text.size);
  facts->build_id_size = text.size;
  status = take_text(u, sizeof facts->debug_link - 1, &text);
  if (status == PF_OK && text.size > 0)
    memcpy(facts->debug_link, text.at, text.size);
  return status;
}


static pf_status take_facts (unpacking *u) {
  pf_executable *const facts = &u->symbols->facts;
  uint64_t *addresses[NADDRESSES], flags = 0, size = 0, number = 0;
  list_addresses(facts, addresses);
  pf_status status = take(u, ALL_FACTS, &flags);
  if (status == PF_OK)
    status = take(u, 8, &size);
  if (status == PF_OK && size != 0 && size != 4 && size != 8)
    status = damaged(u, "addresses of 4 or 8 bytes expected");
  if (status == PF_OK)
    status = take(u, UINT16_MAX, &number);
  for (size_t i = 0; i < NADDRESSES && status == PF_OK; i++)
    status = take(u, MAX_NUMBER, addresses[i]);
  facts->machine = (uint16_t)number;
  facts->address_size = (unsigned)size;
  facts->big_endian = (flags & BIG_ENDIAN_ORDER) != 0;
  facts->is_pie = (flags & IS_PIE) != 0;
  facts->has_symbols = (flags & HAS_SYMBOLS) != 0;
  facts->has_lines = (flags & HAS_LINES) != 0;
  facts->only_dynamic = (flags & ONLY_DYNAMIC) != 0;
  if (status == PF_OK)
    status = take_texts(u, facts);
  if (status == PF_OK)
    status = take(u, UINT32_MAX, &number);
  facts->debug_crc = (uint32_t)number;
  return status;
}


static pf_status take_names (unpacking *u) {
  pf_status status = take_count(u, 1, &u->nnames);
  if (status != PF_OK)
    return status;
  u->names = pf_array(u->nnames + 1, sizeof *u->names);
  if (u->names == NULL)
    return pf_no_memory(u->error);
  for (size_t i = 0; i < u->nnames; i++) {
    pf_bytes name = {NULL, 0};
    status = take_text(u, UINT32_MAX, &name);
    if (status != PF_OK)
      return status;
    u->names[i] = pf_intern(u->symbols->dictionary, name);
    if (u->names[i] == PF_NO_NAME)
      return pf_no_memory(u->error);
  }
  return PF_OK;
}


/* Take a range after *end, and the index of a name. */
static pf_status take_range (unpacking *u, uint64_t *end, uint64_t *start,
                             uint32_t *name) {
  uint64_t gap = 0, size = 0, index = 0;
  pf_status status = take(u, MAX_NUMBER - *end, &gap);
  *start = *end + gap;
  if (status == PF_OK)
    status = take(u, MAX_NUMBER - *start, &size);
  *end = *start + size;
  if (status == PF_OK)
    status = take(u, UINT32_MAX, &index);
  if (status == PF_OK && index >= u->nnames)
    status = damaged(u, "an index of a name is too large");
  if (status == PF_OK)
    *name = u->names[index];
  return status;
}


static pf_status take_symbols (unpacking *u) {
  pf_symbols *const s = u->symbols;
  size_t count = 0;
  uint64_t end = 0;
  pf_status status = take_count(u, 4, &count);
  if (status != PF_OK || count == 0)
    return status;
  if (!pf_grow(&s->all, &s->capacity, count))
    return pf_no_memory(u->error);
  while (s->count < count) {
    uint64_t bits = 0;
    pf_symbol symbol = {.start = 0};
    status = take_range(u, &end, &symbol.start, &symbol.name);
    if (status == PF_OK)
      status = take(u, ALL_RANKS, &bits);
    if (status == PF_OK && s->count > 0 &&
        symbol.start == s->all[s->count - 1].start)
      status = damaged(u, "two symbols begin at one address");
    if (status != PF_OK)
      return status;
    symbol.end = end;
    symbol.is_function = (bits & IS_FUNCTION) != 0;
    symbol.is_global = (bits & IS_GLOBAL) != 0;
    symbol.is_sized = (bits & IS_SIZED) != 0;
    symbol.rank = (uint8_t)(bits / RANK);
    s->all[s->count++] = symbol;
  }
  status = pf_ranges_open(&s->ranges, s->all, sizeof *s->all, s->count);
  return status == PF_ENOMEM ? pf_no_memory(u->error) : status;
}


static pf_status take_lines (unpacking *u) {
  pf_symbols *const s = u->symbols;
  size_t count = 0;
  uint64_t end = 0;
  pf_status status = take_count(u, 4, &count);
  s->lines_read = true;
  if (status != PF_OK || count == 0)
    return status;
  s->lines = pf_array(count, sizeof *s->lines);
  if (s->lines == NULL)
    return pf_no_memory(u->error);
  while (s->nlines < count) {
    uint64_t line = 0;
    pf_line_row row = {.start = 0};
    status = take_range(u, &end, &row.start, &row.file);
    if (status == PF_OK)
      status = take(u, UINT32_MAX, &line);
    if (status == PF_OK && end == row.start)
      status = damaged(u, "a line without addresses");
    if (status != PF_OK)
      return status;
    row.end = end;
    row.line = (uint32_t)line;
    s->lines[s->nlines++] = row;
  }
  status = pf_ranges_open(&s->line_ranges, s->lines, sizeof *s->lines, count);
  return status == PF_ENOMEM ? pf_no_memory(u->error) : status;
}


static pf_status unpack (unpacking *u) {
  pf_bytes magic = {NULL, 0};
  if (!pf_take(&u->in, sizeof MAGIC - 1, &magic) ||
      memcmp(magic.at, MAGIC, magic.size) != 0)
    return damaged(u, "they do not begin with \"pfsyms1\"");
  pf_status status = take_facts(u);
  if (status == PF_OK)
    status = take_names(u);
  if (status == PF_OK)
    status = take_symbols(u);
  if (status == PF_OK)
    status = take_lines(u);
  if (status == PF_OK && pf_left(&u->in) > 0)
    status = damaged(u, "bytes after the last line");
  return status;
}


pf_status pf_symbols_unpack (pf_bytes packed, pf_dictionary *dictionary,
                             pf_symbols **symbols, pf_error *error) {
  unpacking u = {.in = pf_cursor_over(packed, false), .error = error};
  u.symbols = calloc(1, sizeof *u.symbols);
  if (u.symbols == NULL)
    return pf_no_memory(error);
  u.symbols->dictionary = dictionary;
  const pf_status status = unpack(&u);
  free(u.names);
  if (status == PF_OK)
    *symbols = u.symbols;
  else
    pf_symbols_free(u.symbols);
  return status;
}
