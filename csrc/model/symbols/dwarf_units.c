/*
** dwarf_units.c - the units of DWARF, their entries and values (dwarf.h).
*/

#include <stdlib.h>

#include "model/base/memory.h"
#include "model/symbols/dwarf.h"

enum { /* kinds of units */
  DW_UT_type = 2,
  DW_UT_skeleton = 4,
  DW_UT_split_compile = 5,
  DW_UT_split_type = 6
};

/* Returns where the value of an attribute belongs; NULL: it is not needed. */
static dwarf_value *place_of (dwarf_entry *entry, uint64_t attribute) {
  switch (attribute) {
    case DW_AT_name: return &entry->name;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name: return &entry->linkage_name;
    case DW_AT_low_pc: return &entry->low;
    case DW_AT_high_pc: return &entry->high;
    case DW_AT_ranges: return &entry->ranges;
    case DW_AT_abstract_origin: return &entry->origin;
    case DW_AT_specification: return &entry->specification;
    case DW_AT_stmt_list: return &entry->lines;
    case DW_AT_comp_dir: return &entry->folder;
    case DW_AT_language: return &entry->language;
    case DW_AT_str_offsets_base: return &entry->str_offsets;
    case DW_AT_addr_base: return &entry->addresses;
    case DW_AT_rnglists_base: return &entry->rnglists;
    default: return NULL;
  }
}


/* Takes an attribute of an abbreviation, and its value if that is stored there.
   */
static bool take_attribute (pf_cursor *at, uint64_t *attribute, uint64_t *form,
                            int64_t *constant) {
  return pf_take_varint(at, attribute) && pf_take_varint(at, form) &&
         (*form != DW_FORM_implicit_const || dwarf_take_signed(at, constant));
}


static int compare_codes (const void *a, const void *b) {
  const uint64_t x = ((const dwarf_kind *)a)->code,
                 y = ((const dwarf_kind *)b)->code;
  return (x > y) - (x < y);
}


static const dwarf_kind *kind_of (const dwarf *d, const dwarf_unit *unit,
                                  uint64_t code) {
  if (unit->nkinds == 0)
    return NULL;
  const dwarf_kind *const kinds = d->kinds + unit->kinds;
  const dwarf_kind key = {.code = code};
  return code <= unit->nkinds && kinds[code - 1].code == code
             ? &kinds[code - 1]
             : bsearch(&key, kinds, unit->nkinds, sizeof *kinds, compare_codes);
}


bool dwarf_take_entry (dwarf *d, const dwarf_unit *unit, pf_cursor *at,
                       dwarf_entry *entry) {
  uint64_t code, attribute, form;
  int64_t constant;
  *entry = (dwarf_entry){.tag = 0};
  if (!pf_take_varint(at, &code))
    return false;
  if (code == 0)
    return true;
  const dwarf_kind *const kind = kind_of(d, unit, code);
  if (kind == NULL)
    return false;
  entry->tag = kind->tag;
  pf_cursor list = pf_cursor_over(d->sections[DWARF_ABBREV], d->is_big);
  list.at = kind->at;
  while (take_attribute(&list, &attribute, &form, &constant) && form != 0) {
    dwarf_value other, *value = place_of(entry, attribute);
    if (value == NULL || value->form != 0)
      value = &other;
    if (form == DW_FORM_implicit_const)
      *value = (dwarf_value){.form = form, .number = (uint64_t)constant};
    else if (!dwarf_take(at, unit->widths, form, value))
      return false;
  }
  return dwarf_spend(d, list.at - kind->at);
}


pf_cursor dwarf_cursor (const dwarf *d, const dwarf_unit *unit, uint64_t at) {
  pf_bytes bytes = d->sections[DWARF_INFO];
  bytes.size = (size_t)unit->end;
  pf_cursor cursor = pf_cursor_over(bytes, d->is_big);
  cursor.at = (size_t)at;
  return cursor;
}


bool dwarf_follow (dwarf *d, const dwarf_unit *unit, const dwarf_value *value,
                   const dwarf_unit **target, dwarf_entry *entry) {
  uint64_t at = value->number;
  size_t low = 0, high = d->nunits;
  switch (value->form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
      at = at > UINT64_MAX - unit->start ? UINT64_MAX : unit->start + at;
      break;
    case DW_FORM_ref_addr: break;
    default: return false;
  }
  while (low + 1 < high) {
    const size_t middle = low + (high - low) / 2;
    if (d->units[middle].start <= at)
      low = middle;
    else
      high = middle;
  }
  *target = &d->units[low];
  if (low >= d->nunits || at < (*target)->first || at >= (*target)->end)
    return false;
  pf_cursor cursor = dwarf_cursor(d, *target, at);
  return dwarf_take_entry(d, *target, &cursor, entry) &&
         dwarf_spend(d, cursor.at - at);
}


/* Reads the abbreviations of a unit. PF_ENOMEM. */
static pf_status read_kinds (dwarf *d, dwarf_unit *unit) {
  pf_cursor c = pf_cursor_over(d->sections[DWARF_ABBREV], d->is_big);
  uint64_t last = 0;
  bool is_sorted = true;
  unit->kinds = d->nkinds;
  if (!pf_skip(&c, unit->table))
    return PF_OK;
  for (;;) {
    dwarf_kind kind;
    uint64_t attribute = 0, form = 0, children;
    int64_t constant;
    if (!pf_take_varint(&c, &kind.code) || kind.code == 0 ||
        !pf_take_varint(&c, &kind.tag) || !pf_take_uint(&c, 1, &children))
      break;
    kind.at = c.at;
    do
      if (!take_attribute(&c, &attribute, &form, &constant))
        break;
    while (form != 0);
    if (!dwarf_spend(d, c.at - kind.at))
      break;
    is_sorted &= kind.code > last;
    last = kind.code;
    if (!pf_grow(&d->kinds, &d->kinds_capacity, d->nkinds + 1))
      return PF_ENOMEM;
    d->kinds[d->nkinds++] = kind;
  }
  unit->nkinds = d->nkinds - unit->kinds;
  if (unit->nkinds > 0 && !is_sorted)
    qsort(d->kinds + unit->kinds, unit->nkinds, sizeof *d->kinds,
          compare_codes);
  return PF_OK;
}


/* Takes the size of a unit. */
static bool take_size (pf_cursor *c, dwarf_unit *unit) {
  uint64_t size;
  unit->start = c->at;
  if (!dwarf_take_size(c, &unit->widths.offset, &size))
    return false;
  unit->end = c->at + size;
  return true;
}


/* Takes the rest of the header of a unit. False: it is damaged, or of another
   version. */
static bool take_header (pf_cursor *c, dwarf_unit *unit) {
  uint64_t version, kind = 0, address;
  if (!pf_take_uint(c, 2, &version) || version < 2 || version > 5)
    return false;
  if (version >= 5
          ? !pf_take_uint(c, 1, &kind) || !pf_take_uint(c, 1, &address) ||
                !pf_take_uint(c, unit->widths.offset, &unit->table)
          : !pf_take_uint(c, unit->widths.offset, &unit->table) ||
                !pf_take_uint(c, 1, &address))
    return false;
  unit->widths.version = (unsigned)version;
  unit->widths.address = (unsigned)address;
  const bool is_type = kind == DW_UT_type || kind == DW_UT_split_type;
  if (is_type || kind == DW_UT_skeleton || kind == DW_UT_split_compile)
    if (!pf_skip(c, is_type ? 8 + unit->widths.offset : 8))
      return false;
  unit->first = c->at;
  return (address == 4 || address == 8 || address == 2) &&
         unit->first <= unit->end;
}


/* Reads the first entry of a unit, and what other entries need of it. */
static void read_first (dwarf *d, dwarf_unit *unit) {
  const uint64_t header = unit->widths.offset == 8 ? 16 : 8;
  dwarf_entry *const entry = &unit->entry;
  pf_cursor at = dwarf_cursor(d, unit, unit->first);
  if (!dwarf_take_entry(d, unit, &at, entry))
    *entry = (dwarf_entry){.tag = 0};
  unit->str_offsets =
      entry->str_offsets.form != 0 ? entry->str_offsets.number : header;
  unit->addresses =
      entry->addresses.form != 0 ? entry->addresses.number : header;
  unit->rnglists =
      entry->rnglists.form != 0 ? entry->rnglists.number : header + 4;
  if (!dwarf_address(d, unit, &entry->low, &unit->low))
    unit->low = 0;
}


/* Appends a unit. PF_ENOMEM. */
static pf_status add_unit (dwarf *d, dwarf_unit *unit) {
  const size_t n = d->nunits;
  if (n > 0 && d->units[n - 1].table == unit->table) {
    unit->kinds = d->units[n - 1].kinds;
    unit->nkinds = d->units[n - 1].nkinds;
  }
  else if (read_kinds(d, unit) != PF_OK)
    return PF_ENOMEM;
  read_first(d, unit);
  if (!pf_grow(&d->units, &d->units_capacity, d->nunits + 1))
    return PF_ENOMEM;
  d->units[d->nunits++] = *unit;
  return PF_OK;
}


pf_status dwarf_read_units (dwarf *d) {
  pf_cursor c = pf_cursor_over(d->sections[DWARF_INFO], d->is_big);
  pf_status status = PF_OK;
  dwarf_unit unit = {.start = 0};
  while (status == PF_OK && d->budget > 0 && take_size(&c, &unit)) {
    if (take_header(&c, &unit))
      status = add_unit(d, &unit);
    c.at = (size_t)unit.end;
    unit = (dwarf_unit){.start = 0};
  }
  return status;
}
