/*
** packed_symbols.c - symbols and source lines as bytes, and from them.
*/

#include "model/symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "model/base/pack.h"
#include "model/base/unpack.h"
#include "model/dictionary/names.h"

#define MAGIC      "pfsyms1\n"
#define NADDRESSES 7

/* Bits of the facts and of a symbol. */
enum {
  BIG_ENDIAN_ORDER = 1,
  IS_PIE = 2,
  HAS_SYMBOLS = 4,
  HAS_LINES = 8,
  ONLY_DYNAMIC = 16,
  LONG_SEGMENT = 32, /* the end of the executable segment is packed */
  ALL_FACTS = 63,
  IS_FUNCTION = 1,
  IS_GLOBAL = 2,
  IS_SIZED = 4,
  RANK = 8,
  ALL_RANKS = 12 * RANK - 1 /* ranks are 0 to 11 */
};


static void list_addresses (pf_executable *facts,
                            uint64_t *addresses[NADDRESSES]) {
  uint64_t *const all[NADDRESSES] = {&facts->entry,    &facts->text_start,
                                     &facts->text_end, &facts->code_start,
                                     &facts->code_end, &facts->image_start,
                                     &facts->image_end};
  memcpy(addresses, all, sizeof all);
}


static void put_facts (pf_packed *to, pf_executable *facts) {
  uint64_t *addresses[NADDRESSES];
  const bool is_long = facts->segment_end > facts->code_end;
  list_addresses(facts, addresses);
  pf_pack_number(to, (facts->big_endian ? BIG_ENDIAN_ORDER : 0u) |
                         (facts->is_pie ? IS_PIE : 0u) |
                         (facts->has_symbols ? HAS_SYMBOLS : 0u) |
                         (facts->has_lines ? HAS_LINES : 0u) |
                         (facts->only_dynamic ? ONLY_DYNAMIC : 0u) |
                         (is_long ? LONG_SEGMENT : 0u));
  pf_pack_number(to, facts->address_size);
  pf_pack_number(to, facts->machine);
  for (size_t i = 0; i < NADDRESSES; i++)
    pf_pack_number(to, *addresses[i]);
  pf_pack_text(to, (pf_bytes){facts->build_id, facts->build_id_size});
  pf_pack_text(to, pf_bytes_of(facts->debug_link));
  pf_pack_number(to, facts->debug_crc);
  if (is_long)
    pf_pack_number(to, facts->segment_end);
}


/* Encode the names of symbols and lines as indices, and write the names. */
static pf_status put_names (const pf_symbols *symbols, pf_id_table *names,
                            pf_packed *to) {
  const size_t count = symbols->count;
  for (size_t i = 0; i < count + symbols->nlines; i++) {
    const uint64_t name =
        i < count ? symbols->all[i].name : symbols->lines[i - count].file;
    uint32_t ignored;
    if (pf_id_table_words(names, &name, 1, &ignored) != PF_OK)
      return PF_ENOMEM;
  }
  pf_pack_number(to, names->count);
  for (uint32_t i = 0; i < names->count; i++) {
    pf_pack_text(to, pf_name(symbols->dictionary, (uint32_t)names->words[i]));
  }
  return PF_OK;
}


static void put_range (pf_packed *to, uint64_t *end, uint64_t start,
                       uint64_t stop) {
  pf_pack_number(to, start - *end);
  pf_pack_number(to, stop - start);
  *end = stop;
}


pf_status pf_symbols_pack (pf_symbols *symbols, pf_packed *to,
                           pf_error *error) {
  pf_id_table names;
  uint64_t end = 0;
  if (pf_symbols_read_lines(symbols) != PF_OK)
    return pf_no_memory(error);
  pf_pack_bytes(to, MAGIC, sizeof MAGIC - 1);
  put_facts(to, &symbols->facts);
  pf_id_table_init(&names);
  pf_status status = put_names(symbols, &names, to);
  pf_pack_number(to, symbols->count);
  for (size_t i = 0; i < symbols->count && status == PF_OK; i++) {
    const pf_symbol *const symbol = &symbols->all[i];
    put_range(to, &end, symbol->start, symbol->end);
    pf_pack_number(to, pf_id_table_find(&names, symbol->name));
    pf_pack_number(to, (symbol->is_function ? IS_FUNCTION : 0u) |
                           (symbol->is_global ? IS_GLOBAL : 0u) |
                           (symbol->is_sized ? IS_SIZED : 0u) |
                           (unsigned)symbol->rank * RANK);
  }
  end = 0;
  pf_pack_number(to, symbols->nlines);
  for (size_t i = 0; i < symbols->nlines && status == PF_OK; i++) {
    const pf_line_row *const row = &symbols->lines[i];
    put_range(to, &end, row->start, row->end);
    pf_pack_number(to, pf_id_table_find(&names, row->file));
    pf_pack_number(to, row->line);
  }
  pf_id_table_free(&names);
  return status == PF_OK && !to->is_out_of_memory ? PF_OK : pf_no_memory(error);
}


typedef struct unpacking {
  pf_unpack in;
  pf_symbols *symbols;
  uint32_t *names; /* owned: ids in the dictionary, by index */
  size_t nnames;
} unpacking;


static uint64_t take (unpacking *u, uint64_t limit) {
  return pf_unpack_number(&u->in, limit);
}


static bool is_fine (const unpacking *u) {
  return u->in.status == PF_OK;
}


static void take_facts (unpacking *u) {
  pf_executable *const facts = &u->symbols->facts;
  uint64_t *addresses[NADDRESSES];
  list_addresses(facts, addresses);
  const uint64_t flags = take(u, ALL_FACTS);
  facts->big_endian = (flags & BIG_ENDIAN_ORDER) != 0;
  facts->is_pie = (flags & IS_PIE) != 0;
  facts->has_symbols = (flags & HAS_SYMBOLS) != 0;
  facts->has_lines = (flags & HAS_LINES) != 0;
  facts->only_dynamic = (flags & ONLY_DYNAMIC) != 0;
  const unsigned size = facts->address_size = (unsigned)take(u, 8);
  pf_unpack_check(&u->in, size == 0 || size == 4 || size == 8,
                  "addresses of 4 or 8 bytes expected");
  facts->machine = (uint16_t)take(u, UINT16_MAX);
  for (size_t i = 0; i < NADDRESSES; i++)
    *addresses[i] = take(u, UINT64_MAX);
  const pf_bytes id = pf_unpack_text(&u->in, sizeof facts->build_id);
  memcpy(facts->build_id, id.at, id.size);
  facts->build_id_size = id.size;
  const pf_bytes link = pf_unpack_text(&u->in, sizeof facts->debug_link - 1);
  memcpy(facts->debug_link, link.at, link.size);
  facts->debug_crc = (uint32_t)take(u, UINT32_MAX);
  facts->segment_end =
      (flags & LONG_SEGMENT) != 0 ? take(u, UINT64_MAX) : facts->code_end;
}


static void take_names (unpacking *u) {
  u->nnames = pf_unpack_length(&u->in, 1);
  u->names = pf_array(u->nnames + 1, sizeof *u->names);
  pf_unpack_need(&u->in, u->names != NULL);
  for (size_t i = 0; i < u->nnames && is_fine(u); i++) {
    u->names[i] =
        pf_intern(u->symbols->dictionary, pf_unpack_text(&u->in, UINT32_MAX));
    pf_unpack_need(&u->in, u->names[i] != PF_NO_NAME);
  }
}


/* Take a range after *end, and the index of a name. */
static void take_range (unpacking *u, uint64_t *end, uint64_t *start,
                        uint32_t *name) {
  *start = *end + take(u, UINT64_MAX - *end);
  *end = *start + take(u, UINT64_MAX - *start);
  const uint64_t index = take(u, UINT32_MAX);
  pf_unpack_check(&u->in, index < u->nnames, "an index of a name is too large");
  *name = is_fine(u) ? u->names[index] : PF_NO_NAME;
}


static void take_symbols (unpacking *u) {
  pf_symbols *const s = u->symbols;
  const size_t count = pf_unpack_length(&u->in, 4);
  uint64_t end = 0;
  pf_unpack_need(&u->in, pf_grow(&s->all, &s->capacity, count));
  while (s->count < count && is_fine(u)) {
    pf_symbol symbol = {.start = 0};
    take_range(u, &end, &symbol.start, &symbol.name);
    const uint64_t bits = take(u, ALL_RANKS);
    pf_unpack_check(&u->in,
                    s->count == 0 || symbol.start != s->all[s->count - 1].start,
                    "two symbols begin at one address");
    symbol.end = end;
    symbol.is_function = (bits & IS_FUNCTION) != 0;
    symbol.is_global = (bits & IS_GLOBAL) != 0;
    symbol.is_sized = (bits & IS_SIZED) != 0;
    symbol.rank = (uint8_t)(bits / RANK);
    s->all[s->count++] = symbol;
  }
  if (is_fine(u) && count > 0)
    pf_unpack_need(&u->in, pf_ranges_open(&s->ranges, s->all, sizeof *s->all,
                                          s->count) == PF_OK);
}


static void take_lines (unpacking *u) {
  pf_symbols *const s = u->symbols;
  const size_t count = pf_unpack_length(&u->in, 4);
  uint64_t end = 0;
  s->lines_read = true;
  s->lines = pf_array(count, sizeof *s->lines);
  pf_unpack_need(&u->in, s->lines != NULL);
  while (s->lines != NULL && s->nlines < count && is_fine(u)) {
    pf_line_row row = {.start = 0};
    take_range(u, &end, &row.start, &row.file);
    pf_unpack_check(&u->in, end != row.start, "a line without addresses");
    row.end = end;
    row.line = (uint32_t)take(u, UINT32_MAX);
    s->lines[s->nlines++] = row;
  }
  if (is_fine(u) && count > 0)
    pf_unpack_need(&u->in, pf_ranges_open(&s->line_ranges, s->lines,
                                          sizeof *s->lines, count) == PF_OK);
}


pf_status pf_symbols_unpack (pf_bytes packed, pf_dictionary *dictionary,
                             pf_symbols **symbols, pf_error *error) {
  unpacking u = {.in = pf_unpack_over(packed, "packed symbols", error),
                 .symbols = calloc(1, sizeof *u.symbols)};
  if (u.symbols == NULL)
    return pf_no_memory(error);
  u.symbols->dictionary = dictionary;
  pf_unpack_magic(&u.in, MAGIC);
  take_facts(&u);
  take_names(&u);
  take_symbols(&u);
  take_lines(&u);
  pf_unpack_check(&u.in, pf_left(&u.in.cursor) == 0,
                  "bytes after the last line");
  free(u.names);
  if (is_fine(&u))
    *symbols = u.symbols;
  else
    pf_symbols_free(u.symbols);
  return u.in.status;
}
