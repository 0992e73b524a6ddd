/*
** symbols.c - builds the sorted array of symbols, one per address.
**
** Symbols are appended directly to the final array, and names are interned in
** groups. If the symbols are added in order of address, as usual, the array is
** not sorted.
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"
#include "model/symbols/other_files.h"

#define PADDING  32u   /* a gap up to this belongs to the function before */
#define ONE_PAGE 4096u /* size of a symbol without a known end */


void pf_symbols_free (pf_symbols *symbols) {
  if (symbols == NULL)
    return;
  pf_ranges_close(&symbols->ranges);
  pf_ranges_close(&symbols->line_ranges);
  free(symbols->all);
  free(symbols->lines);
  free(symbols->functions);
  free(symbols);
}


void pf_symbols_size_hint (pf_symbols *symbols, size_t count) {
  if (count < UINT32_MAX / 2 &&
      pf_grow(&symbols->all, &symbols->capacity, count))
    (void)pf_names_reserve(symbols->dictionary, count);
}


/* Interns the names of the symbols that were added last. */
static pf_status name_symbols (pf_symbols *symbols) {
  uint32_t numbers[PF_NAMES_AT_ONCE];
  const size_t n = symbols->nunnamed;
  if (!pf_intern_all(symbols->dictionary, symbols->unnamed, n, numbers))
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    symbols->all[symbols->count - n + i].name = numbers[i];
  symbols->nunnamed = 0;
  return PF_OK;
}


static void append (pf_symbols *symbols, const pf_symbol *symbol) {
  symbols->unsorted |= symbol->start < symbols->last_start;
  symbols->last_start = symbol->start;
  symbols->all[symbols->count++] = *symbol;
}


/* Appends a symbol with a dot before its name or a suffix after it. The name is
   interned at once, after the names that wait. */
static pf_status add_changed (pf_symbols *symbols, pf_symbol *symbol,
                              const pf_found *found) {
  const pf_bytes name = found->name;
  const size_t after = found->suffix != NULL ? strlen(found->suffix) : 0;
  uint8_t *const text = malloc(name.size + after + 1);
  if (text == NULL || name_symbols(symbols) != PF_OK) {
    free(text);
    return PF_ENOMEM;
  }
  size_t size = 0;
  if (found->is_dotted)
    text[size++] = '.';
  memcpy(text + size, name.at, name.size);
  size += name.size;
  memcpy(text + size, after > 0 ? found->suffix : "", after);
  symbol->name = pf_intern(symbols->dictionary, (pf_bytes){text, size + after});
  free(text);
  if (symbol->name == PF_NO_NAME)
    return PF_ENOMEM;
  append(symbols, symbol);
  return PF_OK;
}


pf_bytes pf_without_version (pf_bytes name) {
  const uint8_t *const at =
      name.size > 0 ? memchr(name.at, '@', name.size) : NULL;
  const size_t size = at == NULL ? name.size : (size_t)(at - name.at);
  const bool has_version = name.size - size > 2 && size > 0 &&
                           name.at[0] != '?' && at[1] == '@' &&
                           (at[2] < '0' || at[2] > '9');
  return (pf_bytes){name.at, has_version ? size : name.size};
}


pf_status pf_symbols_add (pf_symbols *symbols, const pf_found *found) {
  const pf_bytes name = found->name;
  unsigned underscores = 0; /* of two at most */
  while (!found->is_dotted && underscores < 2 && underscores < name.size &&
         name.at[underscores] == '_')
    underscores++;
  if (symbols->count >= UINT32_MAX - 1)
    return PF_ELIMIT;
  if (!pf_grow(&symbols->all, &symbols->capacity, symbols->count + 1))
    return PF_ENOMEM;
  /* The rank is the order in which gprof chooses among symbols at one
     address: global before local, functions before others, then fewer
     underscores. */
  pf_symbol symbol = {.start = found->address,
                      .is_function = found->is_function,
                      .is_global = found->is_global,
                      .rank = (uint8_t)((found->is_global ? 6u : 0u) +
                                        (found->is_function ? 3u : 0u) + 2u -
                                        underscores)};
  /* The end is that of the size, or else the limit. A size that leaves at most
     padding before the limit is ignored. */
  const bool has_limit = found->limit > found->address;
  const uint64_t limit = has_limit ? found->limit : UINT64_MAX;
  const uint64_t most = limit - found->address, size = found->size;
  const bool is_short = size != 0 && size < most && most - size > PADDING;
  symbol.is_sized = is_short || (size != 0 && limit == UINT64_MAX);
  symbol.end = is_short ? found->address + size : limit;
  if (found->is_dotted || found->suffix != NULL)
    return add_changed(symbols, &symbol, found);
  append(symbols, &symbol);
  symbols->unnamed[symbols->nunnamed++] = name;
  return symbols->nunnamed < PF_NAMES_AT_ONCE ? PF_OK : name_symbols(symbols);
}


/* Sorts by address; the sort is stable. */
static pf_status sort_symbols (pf_symbols *symbols) {
  if (!symbols->unsorted)
    return PF_OK;
  uint32_t *const order = pf_array(symbols->count, sizeof *order);
  pf_symbol *const sorted = pf_array(symbols->count, sizeof *sorted);
  pf_status status = PF_ENOMEM;
  if (order != NULL && sorted != NULL)
    status =
        pf_sort_rows(symbols->all, sizeof *symbols->all, symbols->count, order);
  if (status != PF_OK) {
    free(order);
    free(sorted);
    return status;
  }
  for (size_t i = 0; i < symbols->count; i++)
    sorted[i] = symbols->all[order[i]];
  free(order);
  free(symbols->all);
  symbols->all = sorted;
  symbols->capacity = symbols->count;
  return PF_OK;
}


/* Returns the end by the exact rule: as the symbol table states it, but at most
   `next`, the start of the next symbol, and including padding before that. */
static uint64_t exact_end (const pf_symbol *symbol, uint64_t next) {
  const uint64_t size = symbol->end - symbol->start;
  const uint64_t most = next - symbol->start;
  if (symbol->is_sized)
    return size < most && most - size > PADDING ? symbol->end : next;
  if (symbol->end < next)
    return symbol->end;
  return next == UINT64_MAX && most > ONE_PAGE + PADDING
             ? symbol->start + ONE_PAGE
             : next;
}


/* Keeps one symbol per address, the first of those with the highest rank, and
   sets their ends. */
static void settle (pf_symbols *symbols, pf_symbol_rule rule) {
  pf_symbol *const all = symbols->all;
  size_t kept = 0;
  for (size_t i = 1; i < symbols->count; i++) {
    if (all[i].start != all[kept].start) {
      const uint64_t next = all[i].start;
      all[kept].end =
          rule == PF_SYMBOLS_EXACT ? exact_end(&all[kept], next) : next;
      all[++kept] = all[i];
    }
    else if (all[i].rank > all[kept].rank) {
      all[kept] = all[i];
    }
  }
  /* gprof ends the last symbol with .text; one after .text is empty. */
  pf_symbol *const last = &all[kept];
  const uint64_t text_end = symbols->facts.text_end;
  if (rule == PF_SYMBOLS_EXACT || text_end == 0)
    last->end = exact_end(last, UINT64_MAX);
  else
    last->end = last->start > text_end ? last->start : text_end;
  symbols->count = kept + 1;
}


pf_status pf_symbols_build (pf_symbols *symbols, pf_symbol_rule rule) {
  symbols->facts.has_symbols = symbols->count > 0;
  if (symbols->count == 0)
    return PF_OK;
  pf_status status = name_symbols(symbols);
  if (status == PF_OK)
    status = sort_symbols(symbols);
  if (status != PF_OK)
    return status;
  settle(symbols, rule);
  return pf_ranges_open(&symbols->ranges, symbols->all, sizeof *symbols->all,
                        symbols->count);
}


pf_status pf_symbols_open (const pf_symbol_files *files, const pf_bytes *nm,
                           pf_symbol_rule rule, pf_dictionary *dictionary,
                           pf_symbols **out, pf_error *error) {
  elf_pair pair = {.main = {.sections = NULL}};
  other_file other;
  pf_symbols *const symbols = calloc(1, sizeof *symbols);
  if (symbols == NULL)
    return pf_no_memory(error);
  symbols->dictionary = dictionary;
  symbols->files = *files;
  symbols->rule = rule;
  const bool has_program = nm == NULL || files->executable.size > 0;
  pf_status status =
      has_program ? other_file_open(&other, files->executable, error) : PF_OK;
  const bool is_other = has_program && status == PF_OK;
  if (is_other) {
    other_file_join(&other, files->debug);
    symbols->facts = other.facts;
  }
  else if (status == PF_EUNSUPPORTED)
    status = elf_pair_open(&pair, files->executable, files->debug, error);
  if (status == PF_OK && pair.main.bytes.size > 0)
    elf_pair_facts(&pair, &symbols->facts);
  if (status == PF_OK && nm != NULL)
    status = pf_symbols_read_nm(symbols, *nm, rule, error);
  else if (status == PF_OK)
    status = is_other ? other_file_symbols(&other, symbols, rule, error)
                      : pf_symbols_read_elf(symbols, &pair, rule, error);
  elf_pair_close(&pair);
  if (status == PF_OK)
    *out = symbols;
  else
    pf_symbols_free(symbols);
  return status;
}
