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

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/names.h"
#include "model/symbols/dwarf_functions.h"

#define DEEPEST 256 /* nesting of entries of the debug information */

/* An address range of a function. */
typedef struct interval {
  uint64_t start, end;
  uint64_t low; /* where the function begins */
  uint32_t name;
  bool has_own_name; /* as of pf_function_range */
} interval;

typedef struct reading {
  pf_dictionary *dictionary;
  uint64_t code_start, code_end;
  interval *list;
  size_t count, capacity;
  uint64_t
      budget; /* entries that the unit may still have: damage makes loops */
  bool is_mangled; /* the language of the unit has names of the linker */
} reading;


/* Returns the name of a function, and whether it is the linker's; NULL: it has
   none. */
static const char *name_of (Dwarf_Die *die, bool *is_linkage) {
  static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
  Dwarf_Attribute attribute;
  *is_linkage = true;
  for (size_t i = 0; i < 2; i++)
    if (dwarf_attr_integrate(die, names[i], &attribute) != NULL) {
      const char *const name = dwarf_formstring(&attribute);
      if (name != NULL)
        return name;
    }
  *is_linkage = false;
  return dwarf_diename(die);
}


static pf_status add_function (reading *r, Dwarf_Die *die) {
  bool is_linkage = false;
  Dwarf_Addr base, start, end;
  uint64_t low = 0;
  uint32_t id = PF_NO_NAME;
  const size_t before = r->count;
  bool is_first = true; /* no part of the function precedes its begin */
  for (ptrdiff_t at = 0;
       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
    if (end <= start || start < r->code_start || start >= r->code_end)
      continue;
    if (r->count == before) {
      const char *const name = name_of(die, &is_linkage);
      if (name == NULL)
        return PF_OK;
      low = start;
      id = pf_intern_text(r->dictionary, name);
    }
    if (r->count >= UINT32_MAX / 2)
      return PF_ELIMIT;
    if (id == PF_NO_NAME || !pf_grow(&r->list, &r->capacity, r->count + 1))
      return PF_ENOMEM;
    r->list[r->count++] = (interval){start, end, low, id, false};
    is_first &= start >= low;
  }
  for (size_t i = before; i < r->count; i++)
    r->list[i].has_own_name = is_linkage || !r->is_mangled || !is_first;
  return PF_OK;
}


/* Whether names of a language differ from those of the linker. */
static bool has_linker_names (int language) {
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


/* Adds the functions below an entry, outer ones first. */
static pf_status add_below (reading *r, Dwarf_Die *parent, int depth) {
  Dwarf_Die die;
  pf_status status = PF_OK;
  if (depth > DEEPEST || dwarf_child(parent, &die) != 0)
    return PF_OK;
  do {
    if (r->budget == 0)
      return PF_OK;
    r->budget--;
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
      status = add_function(r, &die);
    if (status == PF_OK)
      status = add_below(r, &die, depth + 1);
  } while (status == PF_OK && r->budget > 0 &&
           dwarf_siblingof(&die, &die) == 0);
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


pf_status pf_read_functions (Dwarf *dwarf, pf_dictionary *dictionary,
                             const pf_executable *facts,
                             pf_function_range **ranges, size_t *count) {
  reading r = {.dictionary = dictionary,
               .code_start = facts->code_start,
               .code_end = facts->code_end};
  flat f = {.list = NULL};
  Dwarf_Off at = 0, next;
  size_t header;
  pf_status status = PF_OK;
  for (; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0 &&
         next > at && status == PF_OK;
       at = next) {
    Dwarf_Die unit;
    r.budget = next - at; /* an entry has a byte at least */
    if (dwarf_offdie(dwarf, at + header, &unit) == NULL)
      continue;
    r.is_mangled = has_linker_names(dwarf_srclang(&unit));
    status = add_below(&r, &unit, 0);
  }
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
