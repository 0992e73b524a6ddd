/*
** symbols.c - from the symbols found to the sorted array: one per address,
** each with an end, and the look-up.
*/

#include <stdlib.h>
#include <string.h>

#include "model/names.h"
#include "model/symbols_build.h"

#define PADDING  32u   /* a gap up to this belongs to the function before */
#define ONE_PAGE 4096u /* the guessed size when nothing tells an end */


pf_symbols *pf_symbols_new (pf_dictionary *dictionary) {
  pf_symbols *symbols = calloc(1, sizeof *symbols);
  if (symbols != NULL)
    symbols->dictionary = dictionary;
  return symbols;
}


void pf_symbols_free (pf_symbols *symbols) {
  if (symbols == NULL)
    return;
  pf_ranges_close(&symbols->ranges);
  pf_ranges_close(&symbols->line_ranges);
  free(symbols->all);
  free(symbols->lines);
  free(symbols);
}


void pf_symbols_watch (pf_symbols *symbols, const bool *executable_open,
                       const bool *debug_open) {
  symbols->open[0] = executable_open;
  symbols->open[1] = debug_open;
}


pf_dictionary *pf_symbols_dictionary (const pf_symbols *symbols) {
  return symbols->dictionary;
}


const pf_executable *pf_symbols_facts (const pf_symbols *symbols) {
  return &symbols->facts;
}


const pf_symbol *pf_symbols_all (const pf_symbols *symbols, size_t *count) {
  *count = symbols->count;
  return symbols->all;
}


size_t pf_symbols_find (const pf_symbols *symbols, uint64_t address) {
  return pf_ranges_find(&symbols->ranges, address);
}


pf_status pf_found_add (pf_found_list *list, const pf_found *found) {
  if (list->count == list->room) {
    const size_t room = list->room == 0 ? 1024 : 2 * list->room;
    if (room >= UINT32_MAX)
      return PF_ELIMIT;
    pf_found *grown = realloc(list->at, room * sizeof *grown);
    if (grown == NULL)
      return PF_ENOMEM;
    list->at = grown;
    list->room = room;
  }
  list->at[list->count++] = *found;
  return PF_OK;
}


/* At one address functions come first, and of those the global ones. */
static unsigned rank_of (const pf_found *found) {
  return (found->is_function ? 0u : 2u) + (found->is_global ? 0u : 1u);
}


/* The keys of all symbols in the order of gprof: by address, then rank, then
   as the table has them. */
static pf_status sort_found (const pf_found_list *found, pf_address_key *keys) {
  size_t n = 0;
  for (unsigned rank = 0; rank < 4; rank++)
    for (size_t i = 0; i < found->count; i++)
      if (rank_of(&found->at[i]) == rank)
        keys[n++] = (pf_address_key){found->at[i].address, (uint32_t)i};
  return pf_sort_addresses(keys, n);
}


/* How many underscores a name begins with, at most two. */
static unsigned underscores (const pf_found *found) {
  const pf_bytes name = found->name;
  unsigned n = 0;
  while (!found->is_dotted && n < 2 && n < name.size && name.at[n] == '_')
    n++;
  return n;
}


/* Whether the name of `later` is the one people know, as gprof sees it:
   global before local, a function before what is none, then the one with
   fewer underscores. */
static bool is_better (const pf_found *later, const pf_found *earlier) {
  if (later->is_global != earlier->is_global)
    return later->is_global;
  if (later->is_function != earlier->is_function)
    return later->is_function;
  return underscores(later) < underscores(earlier);
}


/* Keep the best symbol of each address; answers how many are left. */
static size_t drop_aliases (const pf_found_list *found, pf_address_key *keys) {
  size_t kept = 0;
  for (size_t i = 0; i < found->count; i++)
    if (kept == 0 || keys[i].address != keys[kept - 1].address)
      keys[kept++] = keys[i];
    else if (is_better(&found->at[keys[i].number],
                       &found->at[keys[kept - 1].number]))
      keys[kept - 1] = keys[i];
  return kept;
}


/* Where a symbol ends by its own size: there, but the padding before the next
   one, or before the end of its section, is its own. */
static uint64_t exact_end (const pf_found *found, uint64_t next) {
  const uint64_t start = found->address;
  const bool has_limit = found->limit > start && found->limit < next;
  const uint64_t limit = has_limit ? found->limit : next;
  uint64_t size = found->size;
  if (size == 0 && limit == UINT64_MAX)
    size = ONE_PAGE;
  const uint64_t most = limit - start;
  const bool is_short = size != 0 && size < most && most - size > PADDING;
  return is_short ? start + size : limit;
}


/* Where the last symbol ends for gprof: at the end of .text; what lies behind
   that is empty. Without an executable nothing tells. */
static uint64_t last_gprof_end (const pf_symbols *symbols,
                                const pf_found *found) {
  if (symbols->facts.text_end == 0)
    return exact_end(found, UINT64_MAX);
  return found->address > symbols->facts.text_end ? found->address
                                                  : symbols->facts.text_end;
}


static uint64_t end_of (const pf_symbols *symbols, const pf_found *found,
                        const pf_address_key *next, pf_symbol_rule rule) {
  if (rule == PF_SYMBOLS_EXACT)
    return exact_end(found, next != NULL ? next->address : UINT64_MAX);
  return next != NULL ? next->address : last_gprof_end(symbols, found);
}


static uint32_t intern_dotted (pf_dictionary *dictionary, pf_bytes name) {
  uint8_t *dotted = malloc(name.size + 1);
  if (dotted == NULL)
    return PF_NO_NAME;
  dotted[0] = '.';
  memcpy(dotted + 1, name.at, name.size);
  const uint32_t number =
      pf_intern(dictionary, (pf_bytes){dotted, name.size + 1});
  free(dotted);
  return number;
}


/* Make the array from the `count` keys that are left. */
static pf_status fill (pf_symbols *symbols, const pf_found_list *found,
                       const pf_address_key *keys, size_t count,
                       pf_symbol_rule rule) {
  symbols->all = malloc(count * sizeof *symbols->all);
  if (symbols->all == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++) {
    const pf_found *f = &found->at[keys[i].number];
    const uint32_t name = f->is_dotted
                              ? intern_dotted(symbols->dictionary, f->name)
                              : pf_intern(symbols->dictionary, f->name);
    if (name == PF_NO_NAME)
      return PF_ENOMEM;
    const uint64_t end =
        end_of(symbols, f, i + 1 < count ? &keys[i + 1] : NULL, rule);
    symbols->all[i] =
        (pf_symbol){f->address, end, name, f->is_function, f->is_global};
  }
  symbols->count = count;
  return pf_ranges_open(&symbols->ranges, symbols->all, sizeof *symbols->all,
                        count);
}


pf_status pf_symbols_build (pf_symbols *symbols, const pf_found_list *found,
                            pf_symbol_rule rule) {
  symbols->facts.has_symbols = found->count > 0;
  if (found->count == 0)
    return PF_OK;
  pf_address_key *keys = malloc(found->count * sizeof *keys);
  if (keys == NULL)
    return PF_ENOMEM;
  pf_status status = sort_found(found, keys);
  if (status == PF_OK)
    status = fill(symbols, found, keys, drop_aliases(found, keys), rule);
  free(keys);
  return status;
}
