/*
** other_files.c - symbols of executables that are no ELF files (other_files.h).
*/

#include "model/symbols/other_files.h"

#include <string.h>

typedef pf_status (*open_function)(other_file *file, pf_error *error);

#define LONGEST_NAMES ((uint64_t)64 << 20) /* bytes of all names together */


pf_bytes other_text (const other_file *file, uint64_t at, uint64_t size) {
  if (!other_has(file, at, 0))
    return (pf_bytes){NULL, 0};
  const uint64_t left = file->bytes.size - at;
  const size_t most = (size_t)(size < left ? size : left);
  const uint8_t *const start = file->bytes.at + at;
  const uint8_t *const end = most == 0 ? NULL : memchr(start, 0, most);
  return (pf_bytes){start, end == NULL ? most : (size_t)(end - start)};
}


static void widen (uint64_t *start, uint64_t *end, uint64_t from, uint64_t to) {
  if (*end == 0 || from < *start)
    *start = from;
  if (to > *end)
    *end = to;
}


void other_add_section (other_file *file, uint64_t start, uint64_t end,
                        bool is_code, bool is_text) {
  pf_executable *const facts = &file->facts;
  if (end <= start)
    return;
  widen(&facts->image_start, &facts->image_end, start, end);
  if (is_code)
    widen(&facts->code_start, &facts->code_end, start, end);
  if (is_text && facts->text_end == 0) {
    facts->text_start = start;
    facts->text_end = end;
  }
}


void other_add_debug (other_file *file, pf_bytes name, uint64_t at,
                      uint64_t size) {
  const size_t prefix = file->kind == OTHER_MACH ? 2 : 1;
  for (int i = 0; i < DWARF_SECTIONS && name.size > prefix; i++) {
    const size_t length = strlen(DWARF_NAMES[i]);
    const size_t most = file->kind == OTHER_MACH ? 14 : length;
    const size_t compared = length < most ? length : most;
    if (name.size - prefix == compared &&
        memcmp(name.at + prefix, DWARF_NAMES[i], compared) == 0 &&
        other_has(file, at, size))
      file->debug[i] = (pf_bytes){file->bytes.at + at, (size_t)size};
  }
}


pf_status other_file_open (other_file *file, pf_bytes bytes, pf_error *error) {
  static const open_function formats[] = {pe_file_open, mach_file_open,
                                          ecoff_file_open};
  pf_status status = PF_EUNSUPPORTED;
  for (size_t i = 0; i < 3 && status == PF_EUNSUPPORTED; i++) {
    *file = (other_file){.bytes = bytes};
    status = formats[i](file, error);
  }
  if (status != PF_OK)
    return status;
  pf_executable *const facts = &file->facts;
  facts->address_size = file->is_64 ? 8 : 4;
  facts->big_endian = file->is_big;
  facts->has_symbols = file->nsymbols > 0;
  facts->has_lines = file->debug[DWARF_LINE].size > 0;
  if (facts->text_end == 0) {
    facts->text_start = facts->code_start;
    facts->text_end = facts->code_end;
  }
  facts->segment_end = facts->code_end;
  return PF_OK;
}


void other_file_join (other_file *file, pf_bytes debug) {
  other_file other;
  pf_error ignored;
  if (other_file_open(&other, debug, &ignored) != PF_OK)
    return;
  const pf_executable facts = file->facts;
  if (file->nsymbols == 0)
    *file = other;
  file->facts = facts;
  file->facts.has_symbols |= other.facts.has_symbols;
  file->facts.has_lines |= other.facts.has_lines;
}


/* Whether gprof takes a local symbol for a function, by its name: those with a
   `$`, and those with a `.` that begin with one or are object files, are
   none. */
static bool is_plain (pf_bytes name) {
  return name.size > 0 && memchr(name.at, '$', name.size) == NULL &&
         memchr(name.at, '.', name.size) == NULL;
}


static bool is_wanted (const other_symbol *s, pf_symbol_rule rule) {
  if (!s->is_code || s->name.size == 0)
    return false;
  if (rule == PF_SYMBOLS_GPROF)
    return s->is_global || is_plain(s->name);
  return s->is_function || s->is_global;
}


pf_status other_file_symbols (const other_file *file, pf_symbols *symbols,
                              pf_symbol_rule rule, pf_error *error) {
  uint64_t budget = LONGEST_NAMES + 16 * (uint64_t)file->strings_size;
  pf_status status = PF_OK;
  pf_symbols_size_hint(symbols, file->nsymbols);
  for (size_t i = 0; i < file->nsymbols && status == PF_OK;) {
    other_symbol s = {.limit = UINT64_MAX};
    const size_t entries = file->read(file, i, &s);
    i += entries == 0 ? 1 : entries;
    if (s.name.size >= budget) {
      status = PF_ELIMIT;
      break;
    }
    budget -= s.name.size;
    if (file->has_underscore && s.name.size > 1 && s.name.at[0] == '_')
      s.name = (pf_bytes){s.name.at + 1, s.name.size - 1};
    if (!is_wanted(&s, rule))
      continue;
    /* The binutils, and so gprof, know only global functions of COFF. */
    const bool is_unknown =
        rule == PF_SYMBOLS_GPROF && file->kind == OTHER_PE && !s.is_global;
    const pf_found found = {.address = s.address,
                            .limit = s.limit,
                            .name = s.name,
                            .is_function = s.is_function && !is_unknown,
                            .is_global = s.is_global};
    status = pf_symbols_add(symbols, &found);
  }
  if (status == PF_OK)
    status = pf_symbols_build(symbols, rule);
  symbols->facts.has_symbols = symbols->count > 0;
  if (status == PF_ELIMIT)
    return pf_fail(error, status, PF_NO_OFFSET,
                   "too many symbols, or names that overlap too often");
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}
