/*
** dwarf_values.c - the values of DWARF, as their forms state them, and the
** lists of ranges (dwarf.h).
*/

#include <string.h>

#include "model/symbols/dwarf.h"

#define MOST_FORM 0x2cu

/* How a form is stored: as a number of 1 to 8 bytes, or as one of these. */
enum {
  IN_16_BYTES = 16,
  AS_ADDRESS,
  AS_OFFSET,
  AS_REFERENCE, /* in version 2 as wide as an address */
  AS_VARINT,
  AS_SIGNED,
  AS_NOTHING, /* it is true */
  AS_TEXT,
  AS_BLOCK, /* after its size as a varint; AS_BLOCK + n: as n bytes */
  AS_INDIRECT = AS_BLOCK + 5
};

static const uint8_t STORED[MOST_FORM + 1] = {
    [DW_FORM_addr] = AS_ADDRESS,
    [DW_FORM_block2] = AS_BLOCK + 2,
    [DW_FORM_block4] = AS_BLOCK + 4,
    [DW_FORM_data2] = 2,
    [DW_FORM_data4] = 4,
    [DW_FORM_data8] = 8,
    [DW_FORM_string] = AS_TEXT,
    [DW_FORM_block] = AS_BLOCK,
    [DW_FORM_block1] = AS_BLOCK + 1,
    [DW_FORM_data1] = 1,
    [DW_FORM_flag] = 1,
    [DW_FORM_sdata] = AS_SIGNED,
    [DW_FORM_strp] = AS_OFFSET,
    [DW_FORM_udata] = AS_VARINT,
    [DW_FORM_ref_addr] = AS_REFERENCE,
    [DW_FORM_ref1] = 1,
    [DW_FORM_ref2] = 2,
    [DW_FORM_ref4] = 4,
    [DW_FORM_ref8] = 8,
    [DW_FORM_ref_udata] = AS_VARINT,
    [DW_FORM_indirect] = AS_INDIRECT,
    [DW_FORM_sec_offset] = AS_OFFSET,
    [DW_FORM_exprloc] = AS_BLOCK,
    [DW_FORM_flag_present] = AS_NOTHING,
    [DW_FORM_strx] = AS_VARINT,
    [DW_FORM_addrx] = AS_VARINT,
    [DW_FORM_ref_sup4] = 4,
    [DW_FORM_strp_sup] = AS_OFFSET,
    [DW_FORM_data16] = IN_16_BYTES,
    [DW_FORM_line_strp] = AS_OFFSET,
    [DW_FORM_ref_sig8] = 8,
    [DW_FORM_loclistx] = AS_VARINT,
    [DW_FORM_rnglistx] = AS_VARINT,
    [DW_FORM_ref_sup8] = 8,
    [DW_FORM_strx1] = 1,
    [DW_FORM_strx2] = 2,
    [DW_FORM_strx3] = 3,
    [DW_FORM_strx4] = 4,
    [DW_FORM_addrx1] = 1,
    [DW_FORM_addrx2] = 2,
    [DW_FORM_addrx3] = 3,
    [DW_FORM_addrx4] = 4,
};


bool dwarf_spend (dwarf *d, uint64_t size) {
  if (size > d->budget) {
    d->budget = 0;
    return false;
  }
  d->budget -= size;
  return true;
}


bool dwarf_take_size (pf_cursor *at, unsigned *offset, uint64_t *size) {
  *offset = 4;
  if (!pf_take_uint(at, 4, size))
    return false;
  if (*size == UINT32_MAX) {
    *offset = 8;
    if (!pf_take_uint(at, 8, size))
      return false;
  }
  return *size <= pf_left(at);
}


bool dwarf_take_signed (pf_cursor *at, int64_t *value) {
  uint64_t sum = 0;
  unsigned shift = 0;
  while (at->at < at->bytes.size) {
    const uint8_t byte = at->bytes.at[at->at++];
    if (shift < 64)
      sum |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (byte >= 0x80)
      continue;
    if (shift < 64 && (byte & 0x40) != 0)
      sum |= UINT64_MAX << shift;
    *value = (int64_t)sum;
    return true;
  }
  return false;
}


const char *dwarf_take_text (pf_cursor *at) {
  const size_t left = pf_left(at);
  if (left == 0)
    return NULL;
  const uint8_t *const start = at->bytes.at + at->at;
  const uint8_t *const end = memchr(start, 0, left);
  if (end == NULL)
    return NULL;
  at->at += (size_t)(end - start) + 1;
  return (const char *)start;
}


/* Returns how a form is stored; 0: it is unknown. */
static unsigned stored (uint64_t form) {
  switch (form) {
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index: return AS_VARINT;
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: return AS_OFFSET;
    default: return form <= MOST_FORM ? STORED[form] : 0;
  }
}


static bool take_3_bytes (pf_cursor *at, uint64_t *value) {
  uint64_t part[2];
  if (!pf_take_uint(at, 2, &part[0]) || !pf_take_uint(at, 1, &part[1]))
    return false;
  *value = at->big ? part[0] << 8 | part[1] : part[1] << 16 | part[0];
  return true;
}


bool dwarf_take (pf_cursor *at, dwarf_widths widths, uint64_t form,
                 dwarf_value *value) {
  uint64_t *const number = &value->number;
  unsigned how = stored(form);
  int64_t signed_number = 0;
  bool ok;
  *value = (dwarf_value){.form = form};
  if (how == AS_REFERENCE)
    how = widths.version == 2 ? AS_ADDRESS : AS_OFFSET;
  switch (how) {
    case 0: return false;
    case 3: return take_3_bytes(at, number);
    case IN_16_BYTES: return pf_skip(at, 16);
    case AS_ADDRESS: return pf_take_uint(at, widths.address, number);
    case AS_OFFSET: return pf_take_uint(at, widths.offset, number);
    case AS_VARINT: return pf_take_varint(at, number);
    case AS_SIGNED:
      ok = dwarf_take_signed(at, &signed_number);
      *number = (uint64_t)signed_number;
      return ok;
    case AS_NOTHING: *number = 1; return true;
    case AS_TEXT: value->text = dwarf_take_text(at); return value->text != NULL;
    case AS_BLOCK: return pf_take_varint(at, number) && pf_skip(at, *number);
    case AS_BLOCK + 1:
    case AS_BLOCK + 2:
    case AS_BLOCK + 4:
      return pf_take_uint(at, how - AS_BLOCK, number) && pf_skip(at, *number);
    case AS_INDIRECT:
      return pf_take_varint(at, &form) && form != DW_FORM_indirect &&
             dwarf_take(at, widths, form, value);
    default: return pf_take_uint(at, how, number);
  }
}


/* Returns the offset of the number `index` of a table of numbers, which has no
   end of its own. */
static uint64_t element (uint64_t base, uint64_t index, unsigned width) {
  return index > UINT64_MAX / 16 ? UINT64_MAX : base + index * width;
}


static bool number_at (const dwarf *d, dwarf_section section, uint64_t at,
                       unsigned width, uint64_t *number) {
  pf_cursor cursor = pf_cursor_over(d->sections[section], d->is_big);
  return pf_skip(&cursor, at) && pf_take_uint(&cursor, width, number);
}


static const char *text_at (const dwarf *d, dwarf_section section,
                            uint64_t at) {
  pf_cursor cursor = pf_cursor_over(d->sections[section], d->is_big);
  return pf_skip(&cursor, at) ? dwarf_take_text(&cursor) : NULL;
}


const char *dwarf_text (const dwarf *d, const dwarf_unit *unit,
                        const dwarf_value *value) {
  uint64_t at;
  switch (value->form) {
    case DW_FORM_string: return value->text;
    case DW_FORM_strp: return text_at(d, DWARF_STR, value->number);
    case DW_FORM_line_strp: return text_at(d, DWARF_LINE_STR, value->number);
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
      if (unit == NULL)
        return NULL;
      at = element(unit->str_offsets, value->number, unit->widths.offset);
      return number_at(d, DWARF_STR_OFFSETS, at, unit->widths.offset, &at)
                 ? text_at(d, DWARF_STR, at)
                 : NULL;
    default: return NULL;
  }
}


static bool address_at (const dwarf *d, const dwarf_unit *unit, uint64_t index,
                        uint64_t *address) {
  const unsigned width = unit->widths.address;
  return number_at(d, DWARF_ADDR, element(unit->addresses, index, width), width,
                   address);
}


bool dwarf_address (const dwarf *d, const dwarf_unit *unit,
                    const dwarf_value *value, uint64_t *address) {
  switch (value->form) {
    case DW_FORM_addr: *address = value->number; return true;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4: return address_at(d, unit, value->number, address);
    default: return false;
  }
}


/* An operand of a list of ranges. */
typedef enum operand {
  NONE,
  INDEX,
  ADDRESS,
  NUMBER
} operand;

static bool take_operand (const dwarf *d, const dwarf_unit *unit, pf_cursor *c,
                          operand kind, uint64_t *value) {
  *value = 0;
  switch (kind) {
    case INDEX:
      return pf_take_varint(c, value) && address_at(d, unit, *value, value);
    case ADDRESS: return pf_take_uint(c, unit->widths.address, value);
    case NUMBER: return pf_take_varint(c, value);
    default: return true;
  }
}


/* The operands of the entries of a list of version 5, by their numbers: a base;
   a start and an end; a start and a length; or two numbers from the base on. */
static const operand LISTED[][2] = {
    {NONE, NONE},     {INDEX, NONE},   {INDEX, INDEX},     {INDEX, NUMBER},
    {NUMBER, NUMBER}, {ADDRESS, NONE}, {ADDRESS, ADDRESS}, {ADDRESS, NUMBER},
};


static pf_status new_ranges (dwarf *d, const dwarf_unit *unit,
                             const dwarf_value *where, dwarf_range_function use,
                             void *to) {
  uint64_t at = where->number, base = unit->low, kind, a, b;
  pf_status status = PF_OK;
  if (where->form == DW_FORM_rnglistx) {
    at = element(unit->rnglists, where->number, unit->widths.offset);
    if (!number_at(d, DWARF_RNGLISTS, at, unit->widths.offset, &at))
      return PF_OK;
    at += unit->rnglists;
  }
  pf_cursor c = pf_cursor_over(d->sections[DWARF_RNGLISTS], d->is_big);
  if (!pf_skip(&c, at))
    return PF_OK;
  while (status == PF_OK && pf_take_uint(&c, 1, &kind) && kind > 0 &&
         kind < 8 && dwarf_spend(d, 3)) {
    const operand *const kinds = LISTED[kind];
    if (!take_operand(d, unit, &c, kinds[0], &a) ||
        !take_operand(d, unit, &c, kinds[1], &b))
      break;
    if (kinds[1] == NONE) {
      base = a;
      continue;
    }
    if (kinds[1] == NUMBER)
      b += kinds[0] == NUMBER ? base : a;
    status = use(to, kinds[0] == NUMBER ? base + a : a, b);
  }
  return status;
}


/* The versions before 5. */
static pf_status old_ranges (dwarf *d, const dwarf_unit *unit, uint64_t at,
                             dwarf_range_function use, void *to) {
  const unsigned width = unit->widths.address;
  const uint64_t none = width == 8 ? UINT64_MAX : UINT32_MAX;
  uint64_t base = unit->low, a, b;
  pf_status status = PF_OK;
  pf_cursor c = pf_cursor_over(d->sections[DWARF_RANGES], d->is_big);
  if (!pf_skip(&c, at))
    return PF_OK;
  while (status == PF_OK && pf_take_uint(&c, width, &a) &&
         pf_take_uint(&c, width, &b) && (a != 0 || b != 0) &&
         dwarf_spend(d, 2 * width)) {
    if (a == none)
      base = b;
    else
      status = use(to, base + a, base + b);
  }
  return status;
}


pf_status dwarf_ranges (dwarf *d, const dwarf_unit *unit,
                        const dwarf_entry *entry, dwarf_range_function use,
                        void *to) {
  uint64_t start, end;
  if (entry->high.form != 0 && dwarf_address(d, unit, &entry->low, &start)) {
    if (!dwarf_address(d, unit, &entry->high, &end))
      end = start + entry->high.number;
    return use(to, start, end);
  }
  if (entry->ranges.form == 0)
    return PF_OK;
  return unit->widths.version >= 5
             ? new_ranges(d, unit, &entry->ranges, use, to)
             : old_ranges(d, unit, entry->ranges.number, use, to);
}
