/*
** sums_form.c - the header of packed sums, and their numbers.
*/

#include <string.h>

#include "kernels/statistics/sums_bytes.h"
#include "model/base/memory.h"

#define MAGIC "pfsums1\n"

/* Bits of the options. */
enum {
  OUTERMOST = 1,
  WHOLE_ONLY = 2,
  EDGES = 4,
  FROM = 8,
  TO = 16,
  LAST = 32,
  WITHOUT_END = 64,
  ALL_BITS = 127
};


static uint8_t *reserve (pf_packed *to, size_t size) {
  if (!to->is_out_of_memory &&
      !pf_grow(&to->at, &to->capacity, to->used + size))
    to->is_out_of_memory = true;
  return to->is_out_of_memory ? NULL : to->at + to->used;
}


void pf_put_bytes (pf_packed *to, const void *bytes, size_t size) {
  uint8_t *const at = reserve(to, size);
  if (at == NULL || size == 0)
    return;
  memcpy(at, bytes, size);
  to->used += size;
}


void pf_put_number (pf_packed *to, uint64_t value) {
  uint8_t *const at = reserve(to, PF_VARINT_SIZE);
  if (at != NULL)
    to->used = (size_t)(pf_save_varint(at, value) - to->at);
}


void pf_put_signed (pf_packed *to, int64_t value) {
  pf_put_number(to, pf_zigzag(value));
}


pf_status pf_sums_damaged (const pf_cursor *in, const char *what,
                           pf_error *error) {
  return pf_fail(error, PF_EFORMAT, in->at, "packed sums: %s", what);
}


pf_status pf_sums_take (pf_cursor *in, uint64_t limit, uint64_t *value,
                        pf_error *error) {
  if (!pf_take_varint(in, value))
    return pf_fail(error, PF_ETRUNCATED, in->at,
                   "packed sums: a number is expected");
  return *value <= limit ? PF_OK
                         : pf_sums_damaged(in, "a number is too large", error);
}


pf_status pf_sums_take_signed (pf_cursor *in, int64_t *value, pf_error *error) {
  uint64_t word = 0;
  const pf_status status = pf_sums_take(in, UINT64_MAX, &word, error);
  if (status == PF_OK)
    *value = pf_unzigzag(word);
  return status;
}


static unsigned bits_of (const pf_sums_form *form) {
  const pf_call_options *const o = &form->calls;
  return (o->outermost ? OUTERMOST : 0u) | (o->whole_only ? WHOLE_ONLY : 0u) |
         (o->edges ? EDGES : 0u) | (o->has_from ? FROM : 0u) |
         (o->has_to ? TO : 0u) | (o->has_last ? LAST : 0u) |
         (form->without_end ? WITHOUT_END : 0u);
}


void pf_sums_put_form (pf_packed *to, const pf_sums_form *form) {
  const pf_call_options *const o = &form->calls;
  const uint8_t kinds[] = {form->by == PF_BY_CALLER, form->has_areas,
                           (uint8_t)(form->has_lanes << form->has_lane_names),
                           (uint8_t)bits_of(form)};
  pf_put_bytes(to, MAGIC, sizeof MAGIC - 1);
  pf_put_bytes(to, kinds, sizeof kinds);
  if (o->has_from)
    pf_put_signed(to, o->from);
  if (o->has_to)
    pf_put_signed(to, o->to);
  if (o->has_last)
    pf_put_signed(to, o->last);
  pf_put_number(to, o->max_depth);
}


static pf_call_options options_of (unsigned bits) {
  return (pf_call_options){.outermost = (bits & OUTERMOST) != 0,
                           .whole_only = (bits & WHOLE_ONLY) != 0,
                           .edges = (bits & EDGES) != 0,
                           .has_from = (bits & FROM) != 0,
                           .has_to = (bits & TO) != 0,
                           .has_last = (bits & LAST) != 0};
}


pf_status pf_sums_take_form (pf_cursor *in, pf_sums_form *form,
                             pf_error *error) {
  pf_bytes magic, kinds;
  uint64_t depth = 0;
  if (!pf_take(in, sizeof MAGIC - 1, &magic) ||
      memcmp(magic.at, MAGIC, magic.size) != 0)
    return pf_sums_damaged(in, "they do not begin with \"pfsums1\"", error);
  if (!pf_take(in, 4, &kinds))
    return pf_fail(error, PF_ETRUNCATED, in->at,
                   "packed sums: they end in their header");
  const uint8_t *const k = kinds.at;
  if (k[0] > 1 || k[1] > 1 || k[2] > 2 || k[3] > ALL_BITS)
    return pf_sums_damaged(in, "unknown kinds or options", error);
  *form = (pf_sums_form){.by = k[0] == 1 ? PF_BY_CALLER : PF_BY_LANE,
                         .has_areas = k[1] == 1,
                         .has_lanes = k[2] > 0,
                         .has_lane_names = k[2] == 2,
                         .without_end = (k[3] & WITHOUT_END) != 0,
                         .calls = options_of(k[3])};
  pf_call_options *const o = &form->calls;
  pf_status status =
      o->has_from ? pf_sums_take_signed(in, &o->from, error) : PF_OK;
  if (status == PF_OK && o->has_to)
    status = pf_sums_take_signed(in, &o->to, error);
  if (status == PF_OK && o->has_last)
    status = pf_sums_take_signed(in, &o->last, error);
  if (status == PF_OK)
    status = pf_sums_take(in, UINT32_MAX, &depth, error);
  o->max_depth = (uint32_t)depth;
  return status;
}


pf_status pf_sums_form_of (pf_bytes packed, pf_sums_form *form,
                           pf_error *error) {
  pf_cursor in = pf_cursor_over(packed, false);
  return pf_sums_take_form(&in, form, error);
}


pf_status pf_sums_compare (const pf_sums_form *one, const pf_sums_form *other,
                           pf_error *error) {
  const pf_call_options *const a = &one->calls, *const b = &other->calls;
  const struct {
    bool is_same;
    const char *name;
  } checks[] = {
      {one->by == other->by, "grouping (option 'by')"},
      {one->has_areas == other->has_areas, "kind of areas"},
      {one->has_lanes == other->has_lanes &&
           one->has_lane_names == other->has_lane_names,
       "kind of lanes"},
      {one->without_end == other->without_end, "option 'recording'"},
      {a->outermost == b->outermost, "option 'recursion'"},
      {a->whole_only == b->whole_only, "option 'partial'"},
      {a->edges == b->edges, "option 'edges'"},
      {a->has_from == b->has_from && a->from == b->from, "option 'from'"},
      {a->has_to == b->has_to && a->to == b->to, "option 'to'"},
      {a->has_last == b->has_last && a->last == b->last, "option 'last'"},
      {a->max_depth == b->max_depth, "option 'max_depth'"}};
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
    if (!checks[i].is_same)
      return pf_refuse(error,
                       "the packed sums have another %s: compute them from the "
                       "events with the one that is needed",
                       checks[i].name);
  return PF_OK;
}
