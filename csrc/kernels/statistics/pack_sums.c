/*
** pack_sums.c - writes packed sums: sorts the names, areas and lanes that the
** groups use by their contents, the groups by the indexes of these, and writes
** lists and groups.
*/

#include <stdlib.h>

#include "kernels/base/order.h"
#include "kernels/statistics/content_order.h"
#include "kernels/statistics/packed_sums.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/base/pack.h"

#define ALL_OF(which)                                                     \
  {.function = PF_SUM, .column = (which), .to = PF_NO_COLUMN},            \
      {.function = PF_MIN, .column = (which), .to = PF_NO_COLUMN},        \
      {.function = PF_MAX, .column = (which), .to = PF_NO_COLUMN},        \
      {.function = PF_STDDEV, .column = (which), .to = PF_NO_COLUMN},     \
      {.function = PF_QUANTILE, .column = (which), .to = PF_NO_COLUMN}, { \
    .function = PF_AT_MAX, .column = (which), .by = PF_CALL_START,        \
    .to = PF_NO_COLUMN                                                    \
  }

static const pf_aggregate packed_list[PF_SUMS_AGGREGATES] = {
    {.function = PF_SUM, .column = PF_CALL_COUNT, .to = PF_NO_COLUMN},
    ALL_OF(PF_NET),
    ALL_OF(PF_GROSS),
    ALL_OF(PF_CALL),
    ALL_OF(PF_PERIOD),
    ALL_OF(PF_OUTSIDE)};

const pf_call_aggregates pf_sums_aggregates = {
    .list = packed_list, .count = PF_SUMS_AGGREGATES, .each = true};

/* A group of the pack. */
typedef struct packed_group {
  uint32_t group; /* of the scan; PF_NO_ID: it has no calls */
  uint32_t area;
  uint32_t other; /* lane or caller; PF_NO_ID: none */
  int64_t stop;   /* the last one; INT64_MIN: none */
} packed_group;

typedef struct packing {
  const pf_sums_form *form;
  pf_scan *scan;
  pf_packed *to;
  pf_content_order order; /* of the names, areas and lanes of the pack */
  pf_pair *pairs;         /* groups in the order of the pack, and space */
  packed_group *groups;
  size_t ngroups;
  int64_t time; /* the last one that was written of a group */
} packing;


static void put_form (pf_packed *to, const pf_sums_form *form) {
  const pf_call_options *const o = &form->calls;
  const uint8_t kinds[] = {
      form->by == PF_BY_CALLER, form->has_areas,
      (uint8_t)(form->has_lanes << form->has_lane_names),
      (uint8_t)((o->outermost ? PF_SUMS_OUTERMOST : 0) |
                (o->whole_only ? PF_SUMS_WHOLE_ONLY : 0) |
                (o->edges ? PF_SUMS_EDGES : 0) |
                (o->has_from ? PF_SUMS_FROM : 0) |
                (o->has_to ? PF_SUMS_TO : 0) |
                (o->has_last ? PF_SUMS_LAST : 0) |
                (form->without_end ? PF_SUMS_WITHOUT_END : 0))};
  pf_pack_bytes(to, PF_SUMS_MAGIC, sizeof PF_SUMS_MAGIC - 1);
  pf_pack_bytes(to, kinds, sizeof kinds);
  if (o->has_from)
    pf_pack_signed(to, o->from);
  if (o->has_to)
    pf_pack_signed(to, o->to);
  if (o->has_last)
    pf_pack_signed(to, o->last);
  pf_pack_number(to, o->max_depth);
}


static void collect_groups (packing *p) {
  const pf_call_groups *const g = &p->scan->groups;
  const pf_lanes *const lanes = &p->scan->machine.lanes;
  const pf_events *const events = &p->scan->events;
  for (uint32_t i = 0; p->form->by != PF_BY_LANE && i < g->keys.count; i++)
    p->groups[p->ngroups++] =
        (packed_group){i, (uint32_t)(g->keys.words[i] >> 32),
                       (uint32_t)g->keys.words[i], INT64_MIN};
  for (uint32_t i = 0; p->form->by == PF_BY_LANE && i < lanes->nslots; i++) {
    const pf_slot *const slot = &lanes->slots[i];
    /* The lane if it has a value; variables are in no lane. */
    const uint32_t lane = slot->lane->number;
    const bool has_lane = pf_events_have_lanes(events) && lane != PF_NO_SLOT &&
                          lane != events->lanes.missing;
    const packed_group group = {slot->group, slot->area,
                                has_lane ? lane : PF_NO_ID, pf_slot_last(slot)};
    if (group.group != PF_NO_ID || group.stop != INT64_MIN)
      p->groups[p->ngroups++] = group;
  }
}


static void mark_groups (packing *p) {
  pf_content_order *const o = &p->order;
  for (size_t i = 0; i < p->ngroups; i++) {
    pf_content_order_mark(&o->areas, p->groups[i].area);
    pf_content_order_mark(p->form->by == PF_BY_LANE ? &o->lanes : &o->areas,
                          p->groups[i].other);
  }
}


/* The index of the lane or caller of a group + 1, or 0. */
static uint32_t other_of (const packing *p, const packed_group *group) {
  return pf_content_order_at(p->form->by == PF_BY_LANE ? &p->order.lanes
                                                       : &p->order.areas,
                             group->other);
}


static void write_names (packing *p) {
  const pf_ordered *const names = &p->order.names;
  pf_pack_number(p->to, names->count);
  for (size_t i = 0; i < names->count; i++) {
    const pf_bytes name =
        pf_name(p->scan->machine.lanes.dictionary, names->list[i]);
    pf_pack_text(p->to, name);
  }
}


static void write_areas (packing *p) {
  const pf_ordered *const areas = &p->order.areas;
  pf_pack_number(p->to, areas->count);
  for (size_t i = 0; i < areas->count; i++) {
    uint64_t keys[PF_AREA_KEYS];
    pf_content_order_keys(&p->order, areas->list[i], keys);
    pf_pack_number(p->to, keys[PF_KEY_NAME]);
    if (!p->form->has_areas)
      continue;
    pf_pack_number(p->to, keys[PF_KEY_CLASS]);
    pf_pack_number(p->to, keys[PF_KEY_FILE]);
    pf_pack_number(p->to, keys[PF_KEY_PARENT]);
    pf_pack_signed(p->to, pf_unorder_int(keys[PF_KEY_LINE]));
    pf_pack_number(p->to, keys[PF_KEY_HAS]);
    if ((keys[PF_KEY_HAS] & 1) != 0)
      pf_pack_number(p->to, keys[PF_KEY_HANDLE]);
    if ((keys[PF_KEY_HAS] & 2) != 0)
      pf_pack_signed(p->to, pf_unorder_int(keys[PF_KEY_VALUE]));
  }
}


static void write_lanes (packing *p) {
  const pf_content_order *const o = &p->order;
  const uint64_t *const words = p->scan->events.lanes.words;
  pf_pack_number(p->to, o->lanes.count);
  for (size_t i = 0; i < o->lanes.count; i++) {
    const uint64_t word = words[o->lanes.list[i]];
    if (o->has_lane_names)
      pf_pack_number(p->to, pf_content_order_at(&o->names, (uint32_t)word) - 1);
    else
      pf_pack_signed(p->to, pf_unorder_int(word));
  }
}


static void write_counters (pf_packed *to, const pf_summary *of,
                            const pf_quantile *quantile) {
  uint64_t values, count = 0;
  uint16_t code = 0, last = 0;
  pf_pack_number(to, (uint64_t)of->min);
  pf_pack_number(to, (uint64_t)of->max - (uint64_t)of->min);
  pf_pack_number(to, (uint64_t)of->sum);
  pf_pack_number(to, (uint64_t)(of->sum >> 64));
  for (size_t i = 0; i < 3; i++)
    pf_pack_number(to, of->squares.limbs[i]);
  while (pf_quantile_next_count(quantile, &code, &values))
    count++;
  pf_pack_number(to, count);
  for (code = 0; pf_quantile_next_count(quantile, &code, &values);
       last = code) {
    pf_pack_number(to, (uint64_t)code - last);
    pf_pack_number(to, values);
  }
}


static void write_duration (packing *p, size_t group, size_t which,
                            uint64_t calls) {
  const pf_aggregates *const sums = p->scan->groups.sums;
  const pf_summary of = pf_aggregates_summary(sums, which, group);
  pf_quantile_pool *pool;
  pf_quantile *const quantile =
      pf_aggregates_quantile(sums, which, group, &pool);
  pf_pack_number(p->to, calls - of.count);
  if (of.count == 0)
    return;
  const uint64_t *const words = pf_quantile_words(quantile);
  uint64_t last = pf_order_int(0);
  pf_pack_number(p->to, words == NULL);
  for (uint64_t i = 0; words != NULL && i < of.count; i++) {
    pf_pack_number(p->to, words[i] - last);
    last = words[i];
  }
  if (words == NULL)
    write_counters(p->to, &of, quantile);
  if (which < PF_MAX_STARTS) {
    pf_pack_signed(p->to, (int64_t)((uint64_t)of.at - (uint64_t)p->time));
    p->time = of.at;
  }
}


static void write_group (packing *p, const packed_group *group) {
  pf_pack_number(p->to, pf_content_order_at(&p->order.areas, group->area) - 1);
  pf_pack_number(p->to, other_of(p, group));
  p->time = 0;
  if (p->form->by == PF_BY_LANE)
    pf_pack_signed(p->to, group->stop);
  if (group->stop != INT64_MIN)
    p->time = group->stop;
  if (group->group == PF_NO_ID) {
    pf_pack_number(p->to, 0);
    return;
  }
  const pf_summary counted =
      pf_aggregates_summary(p->scan->groups.sums, PF_CALL_COUNT, group->group);
  pf_pack_number(p->to, counted.count);
  pf_pack_number(p->to, counted.count - (uint64_t)counted.sum);
  for (size_t i = 0; i < PF_DURATIONS; i++)
    write_duration(p, group->group, i, counted.count);
}


static void write_groups (packing *p) {
  const size_t count = p->ngroups;
  for (size_t i = 0; i < count; i++)
    p->pairs[i] = (pf_pair){
        (uint64_t)pf_content_order_at(&p->order.areas, p->groups[i].area)
                << 32 |
            other_of(p, &p->groups[i]),
        i};
  pf_sort_pairs(p->pairs, p->pairs + count, count);
  pf_pack_number(p->to, count);
  for (size_t i = 0; i < count; i++)
    write_group(p, &p->groups[p->pairs[i].row]);
}


/* False when out of memory. */
static bool allocate (packing *p) {
  const size_t groups =
      (size_t)p->scan->machine.lanes.nslots + p->scan->groups.keys.count;
  p->pairs = pf_array(2 * groups + 1, sizeof *p->pairs);
  p->groups = pf_array(groups + 1, sizeof *p->groups);
  return pf_content_order_open(&p->order, p->scan) == PF_OK &&
         p->pairs != NULL && p->groups != NULL;
}


pf_status pf_sums_pack (pf_scan *scan, const pf_sums_form *form,
                        pf_packed *packed) {
  packing p = {.form = form, .scan = scan, .to = packed};
  pf_aggregates *const sums = scan->groups.sums;
  const size_t count = scan->groups.keys.count;
  if (allocate(&p) && pf_aggregates_reserve(sums, count) == PF_OK &&
      pf_aggregates_settle(sums, count) == PF_OK) {
    collect_groups(&p);
    mark_groups(&p);
    packed->is_out_of_memory |= pf_content_order_sort(&p.order) != PF_OK;
  }
  else
    packed->is_out_of_memory = true;
  if (!packed->is_out_of_memory) {
    put_form(packed, form);
    write_names(&p);
    write_areas(&p);
    write_lanes(&p);
    write_groups(&p);
  }
  pf_content_order_free(&p.order);
  free(p.pairs);
  free(p.groups);
  return packed->is_out_of_memory ? PF_ENOMEM : PF_OK;
}
