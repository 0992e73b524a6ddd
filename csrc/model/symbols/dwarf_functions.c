/*
** dwarf_functions.c - the function of each address by the debug information, as
** gprof -l names it: the innermost one, which may have been inlined.
**
** A function has the linker's name that the debug information states, or else,
** in a language with such names, that of the symbol that begins where it does,
** or else its plain name. The binutils find the symbol when they first meet the
** function: not if a part that the compiler has split off comes before its
** begin. Used by
** line_table.c, which owns the result.
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/names.h"
#include "model/symbols/dwarf.h"

#define MOST_STEPS 16 /* from a function to the entry with its name */

enum { /* languages with names of the linker */
  DW_LANG_Ada83 = 0x03,
  DW_LANG_C_plus_plus = 0x04,
  DW_LANG_Java = 0x0b,
  DW_LANG_Ada95 = 0x0d,
  DW_LANG_D = 0x13,
  DW_LANG_C_plus_plus_03 = 0x19,
  DW_LANG_C_plus_plus_11 = 0x1a,
  DW_LANG_Rust = 0x1c,
  DW_LANG_C_plus_plus_14 = 0x21
};

/* An address range of a function. */
typedef struct interval {
  uint64_t start, end;
  uint64_t low; /* where the function begins */
  uint32_t name;
  bool has_own_name; /* as of pf_function_range */
} interval;

typedef struct reading {
  dwarf *debug;
  pf_dictionary *dictionary;
  uint64_t code_start, code_end;
  interval *list;
  size_t count, capacity;
  bool is_mangled; /* the language of the unit has names of the linker */

  /* The function that is read: */
  const dwarf_unit *unit;
  const dwarf_entry *entry;
  size_t first; /* its first interval */
  uint64_t low;
  uint32_t name;
  bool has_linkage;
  bool is_split; /* a part of it precedes its begin */
} reading;


/* Returns the name of a function, and whether it is the linker's; NULL: it has
   none. An entry of code that was inlined refers to that of its function. */
static const char *name_of (dwarf *d, const dwarf_unit *unit,
                            const dwarf_entry *entry, bool *is_linkage) {
  const char *linkage = NULL, *plain = NULL;
  dwarf_entry other = *entry;
  for (int i = 0; i < MOST_STEPS && linkage == NULL; i++) {
    linkage = dwarf_text(d, unit, &other.linkage_name);
    if (plain == NULL)
      plain = dwarf_text(d, unit, &other.name);
    const dwarf_value next =
        other.origin.form != 0 ? other.origin : other.specification;
    if (next.form == 0 || !dwarf_follow(d, unit, &next, &unit, &other))
      break;
  }
  *is_linkage = linkage != NULL;
  return linkage != NULL ? linkage : plain;
}


static pf_status add_range (void *to, uint64_t start, uint64_t end) {
  reading *const r = to;
  if (end <= start || start < r->code_start || start >= r->code_end)
    return PF_OK;
  if (r->count == r->first) {
    const char *const name =
        name_of(r->debug, r->unit, r->entry, &r->has_linkage);
    if (name == NULL || !dwarf_spend(r->debug, strlen(name)))
      return PF_OK;
    r->low = start;
    r->name = pf_intern_text(r->dictionary, name);
  }
  if (r->count >= UINT32_MAX / 2)
    return PF_ELIMIT;
  if (r->name == PF_NO_NAME || !pf_grow(&r->list, &r->capacity, r->count + 1))
    return PF_ENOMEM;
  r->list[r->count++] = (interval){start, end, r->low, r->name, false};
  r->is_split |= start < r->low;
  return PF_OK;
}


static pf_status add_function (reading *r, const dwarf_unit *unit,
                               const dwarf_entry *entry) {
  r->unit = unit;
  r->entry = entry;
  r->first = r->count;
  r->is_split = false;
  const pf_status status = dwarf_ranges(r->debug, unit, entry, add_range, r);
  for (size_t i = r->first; i < r->count; i++)
    r->list[i].has_own_name = r->has_linkage || !r->is_mangled || r->is_split;
  return status;
}


/* Whether names of a language differ from those of the linker. */
static bool has_linker_names (uint64_t language) {
  switch (language) {
    case DW_LANG_Ada83:
    case DW_LANG_Ada95:
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_Java:
    case DW_LANG_D:
    case DW_LANG_Rust: return true;
    default: return false;
  }
}


/* Adds the functions of a unit, outer ones first. */
static pf_status add_unit (reading *r, const dwarf_unit *unit) {
  pf_cursor at = dwarf_cursor(r->debug, unit, unit->first);
  pf_status status = PF_OK;
  dwarf_entry entry;
  r->is_mangled = has_linker_names(unit->entry.language.number);
  while (status == PF_OK && pf_left(&at) > 0 &&
         dwarf_take_entry(r->debug, unit, &at, &entry))
    if (entry.tag == DW_TAG_subprogram ||
        entry.tag == DW_TAG_inlined_subroutine)
      status = add_function(r, unit, &entry);
  return status;
}


/* Sorts intervals by start; of one start longer ones come first, and equal ones
   stay in their order. NULL: out of memory. */
static interval *sorted (const reading *r) {
  pf_pair *const pairs = pf_array(r->count + 1, sizeof *pairs);
  pf_pair *const spare = pf_array(r->count + 1, sizeof *spare);
  interval *const list = pf_array(r->count + 1, sizeof *list);
  const bool ok = pairs != NULL && spare != NULL && list != NULL;
  for (size_t i = 0; ok && i < r->count; i++)
    pairs[i] = (pf_pair){~r->list[i].end, i};
  if (ok)
    pf_sort_pairs(pairs, spare, r->count);
  for (size_t i = 0; ok && i < r->count; i++)
    pairs[i].word = r->list[pairs[i].row].start;
  if (ok)
    pf_sort_pairs(pairs, spare, r->count);
  for (size_t i = 0; ok && i < r->count; i++)
    list[i] = r->list[pairs[i].row];
  free(pairs);
  free(spare);
  if (ok)
    return list;
  free(list);
  return NULL;
}


/* The flat ranges. */
typedef struct flat {
  pf_function_range *list;
  size_t count, capacity;
} flat;


static bool put (flat *f, const interval *i, uint64_t start, uint64_t end) {
  if (start >= end)
    return true;
  if (!pf_grow(&f->list, &f->capacity, f->count + 1))
    return false;
  f->list[f->count++] =
      (pf_function_range){start, end, i->low, i->name, i->has_own_name};
  return true;
}


/* Divides the code among the innermost intervals. `open` has the intervals that
   contain `at`, the innermost one last. */
static bool flatten (const interval *list, size_t count, flat *f) {
  const interval **const open = pf_array(count + 1, sizeof *open);
  size_t depth = 0;
  uint64_t at = 0;
  bool ok = open != NULL;
  for (size_t i = 0; ok && i <= count; i++) {
    const uint64_t next = i < count ? list[i].start : UINT64_MAX;
    while (ok && depth > 0 && at < next) {
      const interval *const top = open[depth - 1];
      const uint64_t end = top->end < next ? top->end : next;
      ok = put(f, top, at, end);
      at = end > at ? end : at;
      if (top->end <= next)
        depth--;
    }
    at = next;
    if (i < count)
      open[depth++] = &list[i];
  }
  free(open);
  return ok;
}


pf_status dwarf_functions (dwarf *d, pf_dictionary *dictionary,
                           const pf_executable *facts,
                           pf_function_range **ranges, size_t *count) {
  reading r = {.debug = d,
               .dictionary = dictionary,
               .code_start = facts->code_start,
               .code_end = facts->code_end};
  flat f = {.list = NULL};
  pf_status status = PF_OK;
  for (size_t i = 0; i < d->nunits && status == PF_OK; i++)
    status = add_unit(&r, &d->units[i]);
  interval *const list = status == PF_OK ? sorted(&r) : NULL;
  if (status == PF_OK && (list == NULL || !flatten(list, r.count, &f)))
    status = PF_ENOMEM;
  free(r.list);
  free(list);
  if (status != PF_OK) {
    free(f.list);
    return status;
  }
  *ranges = f.list;
  *count = f.count;
  return PF_OK;
}
