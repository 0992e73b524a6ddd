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


void pf_sums_put_form (pf_packed *to, const pf_sums_form *form) {
  const pf_call_options *const o = &form->calls;
  const uint8_t kinds[] = {
      form->by == PF_BY_CALLER, form->has_areas,
      (uint8_t)(form->has_lanes << form->has_lane_names),
      (uint8_t)((o->outermost ? OUTERMOST : 0) |
                (o->whole_only ? WHOLE_ONLY : 0) | (o->edges ? EDGES : 0) |
                (o->has_from ? FROM : 0) | (o->has_to ? TO : 0) |
                (o->has_last ? LAST : 0) |
                (form->without_end ? WITHOUT_END : 0))};
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


void pf_sums_take_form (pf_unpack *from, pf_sums_form *form) {
  static const uint8_t none[4];
  pf_bytes kinds = {none, sizeof none};
  pf_unpack_magic(from, MAGIC);
  if (!pf_take(&from->cursor, sizeof none, &kinds))
    pf_unpack_fail(from, PF_ETRUNCATED, "they end in their header");
  const uint8_t *const k = kinds.at;
  pf_unpack_check(from, k[0] <= 1 && k[1] <= 1 && k[2] <= 2 && k[3] <= ALL_BITS,
                  "unknown kinds or options");
  *form = (pf_sums_form){.by = k[0] == 1 ? PF_BY_CALLER : PF_BY_LANE,
                         .has_areas = k[1] == 1,
                         .has_lanes = k[2] > 0,
                         .has_lane_names = k[2] == 2,
                         .without_end = (k[3] & WITHOUT_END) != 0,
                         .calls = {.outermost = (k[3] & OUTERMOST) != 0,
                                   .whole_only = (k[3] & WHOLE_ONLY) != 0,
                                   .edges = (k[3] & EDGES) != 0,
                                   .has_from = (k[3] & FROM) != 0,
                                   .has_to = (k[3] & TO) != 0,
                                   .has_last = (k[3] & LAST) != 0}};
  pf_call_options *const o = &form->calls;
  o->from = o->has_from ? pf_unpack_signed(from) : 0;
  o->to = o->has_to ? pf_unpack_signed(from) : 0;
  o->last = o->has_last ? pf_unpack_signed(from) : 0;
  o->max_depth = (uint32_t)pf_unpack_number(from, UINT32_MAX);
}


pf_status pf_sums_form_of (pf_bytes packed, pf_sums_form *form,
                           pf_error *error) {
  pf_unpack from = pf_sums_input(packed, error);
  pf_sums_take_form(&from, form);
  return from.status;
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
