/*
** fuzz_symbols.c - read random bytes as an executable (also as its own debug
** file), as the text of nm and as packed symbols: the symbols must be in order,
** all look-ups consistent, and packing them must lose nothing.
*/

#include "fuzz.h"

#include "model/symbols/symbols.h"


/* Symbols must be in order, not overlap, and be found by their addresses. */
static void check_symbols (const pf_symbols *symbols,
                           pf_dictionary *dictionary) {
  const pf_symbol *const all = symbols->all;
  for (size_t i = 0; i < symbols->count; i++) {
    MUST(all[i].end >= all[i].start);
    MUST(i == 0 || all[i - 1].end <= all[i].start);
    MUST(all[i].name < pf_names_count(dictionary));
    MUST(all[i].end == all[i].start ||
         pf_ranges_find(&symbols->ranges, all[i].start) == i);
    MUST(pf_demangle(dictionary, all[i].name) < pf_names_count(dictionary));
  }
  MUST(pf_ranges_find(&symbols->ranges, UINT64_MAX) == SIZE_MAX);
}


static void check_lines (pf_symbols *symbols, const pf_dictionary *dictionary) {
  const pf_status status = pf_symbols_read_lines(symbols);
  const pf_line_row *const rows = symbols->lines;
  pf_line_row found;
  for (size_t i = 0; status == PF_OK && i < symbols->nlines; i++) {
    MUST(rows[i].end > rows[i].start);
    MUST(i == 0 || rows[i - 1].end <= rows[i].start);
    MUST(rows[i].file < pf_names_count(dictionary));
    MUST(pf_symbols_line(symbols, rows[i].start, &found));
    MUST(found.line == rows[i].line);
  }
}


/* Packed symbols must be the same symbols when they are read, and pack to the
   same bytes. */
static void check_packing (pf_symbols *symbols, pf_dictionary *dictionary) {
  pf_error error;
  pf_symbols *again = NULL;
  pf_packed first = {.at = NULL}, second = {.at = NULL};
  MUST(pf_symbols_pack(symbols, &first, &error) == PF_OK);
  const pf_bytes packed = {first.at, first.used};
  MUST(pf_symbols_unpack(packed, dictionary, &again, &error) == PF_OK);
  MUST(again->count == symbols->count && again->nlines == symbols->nlines);
  for (size_t i = 0; i < again->count; i++)
    MUST(again->all[i].start == symbols->all[i].start &&
         again->all[i].end == symbols->all[i].end &&
         again->all[i].name == symbols->all[i].name);
  check_symbols(again, dictionary);
  check_lines(again, dictionary);
  MUST(pf_symbols_pack(again, &second, &error) == PF_OK);
  MUST(second.used == packed.size);
  MUST(memcmp(second.at, packed.at, packed.size) == 0);
  pf_symbols_free(again);
  free(first.at);
  free(second.at);
}


static void read_packed (pf_bytes packed) {
  pf_error error = {.status = PF_OK};
  pf_symbols *symbols = NULL;
  pf_dictionary *const dictionary = pf_dictionary_new();
  MUST(dictionary != NULL);
  const pf_status status =
      pf_symbols_unpack(packed, dictionary, &symbols, &error);
  MUST(status == PF_OK ||
       (status < 0 && error.status == status && error.what[0] != '\0'));
  if (status == PF_OK) {
    check_symbols(symbols, dictionary);
    check_lines(symbols, dictionary);
    check_packing(symbols, dictionary);
  }
  pf_symbols_free(symbols);
  pf_dictionary_free(dictionary);
}


static void read_symbols (pf_bytes text, pf_bytes executable, pf_bytes debug,
                          pf_symbol_rule rule) {
  pf_error error = {.status = PF_OK};
  pf_symbols *symbols = NULL;
  pf_dictionary *const dictionary = pf_dictionary_new();
  MUST(dictionary != NULL);
  const pf_symbol_files files = {.executable = executable, .debug = debug};
  const pf_status status = pf_symbols_open(&files, text.size > 0 ? &text : NULL,
                                           rule, dictionary, &symbols, &error);
  MUST(status == PF_OK ||
       (status < 0 && error.status == status && error.what[0] != '\0'));
  if (status == PF_OK) {
    check_symbols(symbols, dictionary);
    check_lines(symbols, dictionary);
    check_packing(symbols, dictionary);
    if (pf_symbols_by_line(symbols) == PF_OK)
      check_symbols(symbols, dictionary);
  }
  pf_symbols_free(symbols);
  pf_dictionary_free(dictionary);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const pf_bytes bytes = {data, size}, none = {NULL, 0};
  read_packed(bytes);
  read_symbols(none, bytes, none, PF_SYMBOLS_EXACT);
  read_symbols(none, bytes, none, PF_SYMBOLS_GPROF);
  read_symbols(none, bytes, bytes, PF_SYMBOLS_EXACT);
  read_symbols(bytes, none, none, PF_SYMBOLS_EXACT);
  read_symbols(bytes, none, none, PF_SYMBOLS_GPROF);
  return 0;
}
