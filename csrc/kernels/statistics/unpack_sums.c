/*
** unpack_sums.c - reads packed sums into the groups of a scan. Lengths,
** indexes, counts and ranges are checked before they are used, because the
** bytes come from outside; what is allocated grows with the size of the bytes.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/statistics/packed_sums.h"
#include "model/base/memory.h"
#include "model/base/unpack.h"
#include "model/dictionary/areas.h"

#define WHAT     "packed sums"
#define MAX_CODE (pf_quantile_code(INT64_MAX))

/* After a failure `in.status` is set, and all numbers that are taken are 0. */
typedef struct unpacking {
  pf_sums *sums;
  pf_unpack in;
  uint32_t *names, *areas, *lanes; /* ids by index */
  size_t nnames, nareas, nlanes;
  uint32_t no_lane; /* the id of "no value" */
  int64_t time;     /* the last one that was read of a group */
} unpacking;


static bool is_fine (const unpacking *u) {
  return u->in.status == PF_OK;
}


/* Take the length of a list, and allocate its ids. */
static size_t take_list (unpacking *u, uint32_t **ids) {
  const size_t length = pf_unpack_length(&u->in, 1);
  *ids = pf_array(length + 1, sizeof **ids);
  if (*ids == NULL)
    pf_unpack_fail(&u->in, PF_ENOMEM, NULL);
  return is_fine(u) ? length : 0;
}


/* Take the index of an element + 1, or 0 for none. */
static uint32_t take_index (unpacking *u, const uint32_t *ids, size_t count) {
  const uint64_t index = pf_unpack_number(&u->in, count);
  return index == 0 ? UINT32_MAX : ids[index - 1];
}


static void take_names (unpacking *u, pf_dictionary *dictionary) {
  u->nnames = take_list(u, &u->names);
  for (size_t i = 0; i < u->nnames && is_fine(u); i++) {
    u->names[i] = pf_intern(dictionary, pf_unpack_text(&u->in, UINT64_MAX));
    pf_unpack_need(&u->in, u->names[i] != PF_NO_NAME);
  }
}


/* Take what an area has in addition to its name. */
static void take_area (unpacking *u, size_t known, pf_area *area) {
  area->class = take_index(u, u->names, u->nnames);
  area->file = take_index(u, u->names, u->nnames);
  area->parent = take_index(u, u->areas, known);
  area->line = pf_unpack_signed(&u->in);
  const uint64_t has = pf_unpack_number(&u->in, 3);
  area->has_handle = (has & 1) != 0;
  area->has_value = (has & 2) != 0;
  if (area->has_handle)
    area->handle = pf_unpack_number(&u->in, UINT64_MAX);
  if (area->has_value)
    area->value = pf_unpack_signed(&u->in);
}


static void take_areas (unpacking *u, pf_dictionary *dictionary) {
  const bool has_areas = u->sums->form.has_areas;
  u->nareas = take_list(u, &u->areas);
  for (size_t i = 0; i < u->nareas && is_fine(u); i++) {
    pf_area area = PF_AREA_NONE;
    area.name = take_index(u, u->names, u->nnames);
    if (has_areas)
      take_area(u, i, &area);
    else if (area.name == PF_NO_NAME)
      pf_unpack_fail(&u->in, PF_EFORMAT, "an area has no name");
    if (!is_fine(u))
      return;
    u->areas[i] = has_areas ? pf_area_add(dictionary, &area) : area.name;
    pf_unpack_need(&u->in, u->areas[i] != PF_NO_AREA);
  }
}


/* Lanes get their ids in the order of the list. */
static void take_lanes (unpacking *u) {
  const pf_sums_form *const form = &u->sums->form;
  pf_events *const events = &u->sums->scan->events;
  u->nlanes = take_list(u, &u->lanes);
  if (u->nlanes > 0 && !form->has_lanes)
    pf_unpack_fail(&u->in, PF_EFORMAT, "there are lanes, against the header");
  for (size_t i = 0; i < u->nlanes && is_fine(u); i++) {
    uint64_t word;
    if (form->has_lane_names) {
      const uint64_t index = pf_unpack_number(&u->in, UINT64_MAX);
      if (index >= u->nnames)
        pf_unpack_fail(&u->in, PF_EFORMAT, "a lane has no name");
      word = is_fine(u) ? u->names[index] : 0;
    }
    else
      word = pf_order_int(pf_unpack_signed(&u->in));
    pf_unpack_need(
        &u->in, pf_events_lane_id(events, word, false, &u->lanes[i]) == PF_OK);
  }
  if (form->has_lanes)
    pf_unpack_need(&u->in,
                   pf_events_lane_id(events, 0, true, &u->no_lane) == PF_OK);
}


/* A quantile that is read, of the pool of its aggregate. */
typedef struct filling {
  pf_quantile *quantile;
  pf_quantile_pool *pool;
} filling;


/* Take the values of a duration into its quantile, and add them up. */
static void take_values (unpacking *u, filling to, pf_summary *of) {
  uint64_t value = 0;
  for (uint64_t i = 0; i < of->count && is_fine(u); i++) {
    value += pf_unpack_number(&u->in, INT64_MAX - value);
    if (i == 0)
      of->min = (int64_t)value;
    of->max = (int64_t)value;
    of->sum += (pf_wide)value;
    pf_squares_add(&of->squares, value);
    pf_unpack_need(&u->in,
                   pf_quantile_add(to.quantile, to.pool, PF_INT,
                                   pf_order_int((int64_t)value)) == PF_OK);
  }
}


/* Take the sums of a duration that is in counters. */
static void take_sums (unpacking *u, pf_summary *of) {
  of->min = (int64_t)pf_unpack_number(&u->in, INT64_MAX);
  of->max = of->min +
            (int64_t)pf_unpack_number(&u->in, (uint64_t)(INT64_MAX - of->min));
  of->sum = (pf_wide)pf_unpack_number(&u->in, UINT64_MAX);
  of->sum |= (pf_wide)pf_unpack_number(&u->in, PF_SUMS_MAX_CALLS / 2) << 64;
  for (size_t i = 0; i < 3; i++)
    of->squares.limbs[i] = pf_unpack_number(&u->in, UINT64_MAX);
  if (of->sum < (pf_wide)of->count * of->min ||
      of->sum > (pf_wide)of->count * of->max)
    pf_unpack_fail(&u->in, PF_EFORMAT,
                   "a sum that its minimum and maximum exclude");
}


/* Take the counters of a duration into its quantile. */
static void take_counters (unpacking *u, filling to, const pf_summary *of) {
  const uint64_t counters = pf_unpack_number(&u->in, MAX_CODE);
  uint64_t code = 0, left = of->count;
  for (uint64_t i = 0; i < counters && is_fine(u); i++) {
    const uint64_t more = pf_unpack_number(&u->in, MAX_CODE - code),
                   values = pf_unpack_number(&u->in, left);
    code += more;
    left -= values;
    if (more == 0 || values == 0 ||
        (i == 0 && code != pf_quantile_code(of->min)) ||
        code > pf_quantile_code(of->max))
      pf_unpack_fail(&u->in, PF_EFORMAT,
                     "counters that the minimum and maximum exclude");
    else
      pf_unpack_need(&u->in,
                     pf_quantile_add_count(to.quantile, to.pool, (uint16_t)code,
                                           values) == PF_OK);
  }
  if (left > 0 || code != pf_quantile_code(of->max))
    pf_unpack_fail(&u->in, PF_EFORMAT, "counters that are incomplete");
  if (is_fine(u))
    pf_quantile_extend(to.quantile, pf_order_int(of->min),
                       pf_order_int(of->max));
}


static void take_duration (unpacking *u, uint64_t calls, size_t group,
                           size_t which) {
  pf_aggregates *const sums = u->sums->scan->groups.sums;
  filling to;
  to.quantile = pf_aggregates_quantile(sums, which, group, &to.pool);
  const uint64_t missing = pf_unpack_number(&u->in, calls);
  pf_summary of = {.count = is_fine(u) ? calls - missing : 0};
  if (of.count == 0)
    return;
  if (pf_unpack_number(&u->in, 1) == 0)
    take_values(u, to, &of);
  else {
    take_sums(u, &of);
    take_counters(u, to, &of);
  }
  if (which < PF_MAX_STARTS)
    of.at = u->time =
        (int64_t)((uint64_t)u->time + (uint64_t)pf_unpack_signed(&u->in));
  if (is_fine(u))
    pf_aggregates_add_summary(sums, which, group, &of, true);
}


static void take_calls (unpacking *u, uint64_t calls, size_t group) {
  pf_call_groups *const groups = &u->sums->scan->groups;
  if (calls > PF_SUMS_MAX_CALLS - u->sums->calls)
    pf_unpack_fail(&u->in, PF_ELIMIT, "more than 2^62 calls");
  u->sums->calls += calls;
  const uint64_t uncounted = pf_unpack_number(&u->in, calls);
  pf_unpack_need(
      &u->in, pf_aggregates_reserve(groups->sums, groups->keys.count) == PF_OK);
  for (size_t i = 0; i < PF_DURATIONS && is_fine(u); i++)
    take_duration(u, calls, group, i);
  const pf_summary counted = {.count = calls,
                              .sum = (pf_wide)(calls - uncounted)};
  if (is_fine(u))
    pf_aggregates_add_summary(groups->sums, PF_CALL_COUNT, group, &counted,
                              true);
}


static void take_group (unpacking *u) {
  pf_lanes *const lanes = &u->sums->scan->machine.lanes;
  const bool by_lane = u->sums->form.by == PF_BY_LANE;
  const uint64_t index = pf_unpack_number(&u->in, UINT32_MAX);
  if (index >= u->nareas)
    pf_unpack_fail(&u->in, PF_EFORMAT, "a group has no area");
  const uint32_t other = by_lane ? take_index(u, u->lanes, u->nlanes)
                                 : take_index(u, u->areas, u->nareas);
  const int64_t stop = by_lane ? pf_unpack_signed(&u->in) : INT64_MIN;
  const uint64_t rows = pf_unpack_number(&u->in, PF_SUMS_MAX_CALLS);
  if (!is_fine(u))
    return;
  const uint32_t area = u->areas[index];
  const bool has_lane = by_lane && other != UINT32_MAX;
  uint32_t slot, group;
  pf_unpack_need(&u->in, pf_lanes_slot(lanes, has_lane ? other : u->no_lane,
                                       area, 0, &slot) == PF_OK);
  if (is_fine(u) && stop > lanes->slots[slot].last_leave)
    lanes->slots[slot].last_leave = stop;
  if (!is_fine(u) || rows == 0)
    return;
  u->time = stop == INT64_MIN ? 0 : stop;
  pf_call_groups *const groups = &u->sums->scan->groups;
  const uint64_t key = (uint64_t)area << 32 | other;
  pf_unpack_need(
      &u->in, (by_lane ? pf_call_groups_of_slot(groups, lanes, slot, &group)
                       : pf_call_groups_of_key(groups, key, &group)) == PF_OK);
  if (is_fine(u))
    take_calls(u, rows, group);
}


static void take_groups (unpacking *u) {
  pf_lanes *const lanes = &u->sums->scan->machine.lanes;
  const bool by_caller = u->sums->form.by == PF_BY_CALLER;
  uint32_t slot;
  /* By caller, rows are in the order in which areas get slots, so they get them
     in the order of the list. */
  for (size_t i = 0; by_caller && i < u->nareas && is_fine(u); i++)
    pf_unpack_need(&u->in, pf_lanes_slot(lanes, u->no_lane, u->areas[i], 0,
                                         &slot) == PF_OK);
  const size_t count = pf_unpack_length(&u->in, 1);
  for (size_t i = 0; i < count && is_fine(u); i++)
    take_group(u);
  if (pf_left(&u->in.cursor) > 0)
    pf_unpack_fail(&u->in, PF_EFORMAT, "there are bytes after the last group");
}


static void take_form (pf_unpack *from, pf_sums_form *form) {
  static const uint8_t none[4];
  pf_bytes kinds = {none, sizeof none};
  pf_unpack_magic(from, PF_SUMS_MAGIC);
  if (!pf_take(&from->cursor, sizeof none, &kinds))
    pf_unpack_fail(from, PF_ETRUNCATED, "they end in their header");
  const uint8_t *const k = kinds.at;
  pf_unpack_check(
      from, k[0] <= 1 && k[1] <= 1 && k[2] <= 2 && k[3] <= PF_SUMS_ALL_BITS,
      "unknown kinds or options");
  *form =
      (pf_sums_form){.by = k[0] == 1 ? PF_BY_CALLER : PF_BY_LANE,
                     .has_areas = k[1] == 1,
                     .has_lanes = k[2] > 0,
                     .has_lane_names = k[2] == 2,
                     .without_end = (k[3] & PF_SUMS_WITHOUT_END) != 0,
                     .calls = {.outermost = (k[3] & PF_SUMS_OUTERMOST) != 0,
                               .whole_only = (k[3] & PF_SUMS_WHOLE_ONLY) != 0,
                               .edges = (k[3] & PF_SUMS_EDGES) != 0,
                               .has_from = (k[3] & PF_SUMS_FROM) != 0,
                               .has_to = (k[3] & PF_SUMS_TO) != 0,
                               .has_last = (k[3] & PF_SUMS_LAST) != 0}};
  pf_call_options *const o = &form->calls;
  o->from = o->has_from ? pf_unpack_signed(from) : 0;
  o->to = o->has_to ? pf_unpack_signed(from) : 0;
  o->last = o->has_last ? pf_unpack_signed(from) : 0;
  o->max_depth = (uint32_t)pf_unpack_number(from, UINT32_MAX);
}


pf_status pf_sums_form_of (pf_bytes packed, pf_sums_form *form,
                           pf_error *error) {
  pf_unpack from = pf_unpack_over(packed, WHAT, error);
  take_form(&from, form);
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


pf_status pf_sums_open (pf_sums *sums, pf_scan *scan, const pf_sums_form *form,
                        const pf_scan_options *options,
                        pf_dictionary *dictionary, pf_error *error) {
  static const pf_field lanes[] = {{"lane", PF_INT, NULL},
                                   {"lane", PF_NAME, NULL}};
  memset(scan, 0, sizeof *scan);
  *sums = (pf_sums){.form = *form, .scan = scan};
  sums->events = (pf_reader){.fields = &lanes[form->has_lane_names],
                             .nfields = form->has_lanes,
                             .dictionary = dictionary};
  scan->events.reader = &sums->events;
  pf_id_table_init(&scan->events.lanes);
  pf_machine_init(&scan->machine, &options->calls, dictionary, form->has_areas);
  scan->is_open = true;
  return pf_call_groups_open(&scan->groups, options->by, &options->aggregates,
                             dictionary) == PF_OK
             ? PF_OK
             : pf_no_memory(error);
}


pf_status pf_sums_add (pf_sums *sums, pf_bytes packed, pf_error *error) {
  unpacking u = {.sums = sums, .in = pf_unpack_over(packed, WHAT, error)};
  pf_dictionary *const dictionary = sums->events.dictionary;
  pf_sums_form form;
  take_form(&u.in, &form);
  if (is_fine(&u))
    u.in.status = pf_sums_compare(&sums->form, &form, error);
  take_names(&u, dictionary);
  take_areas(&u, dictionary);
  take_lanes(&u);
  take_groups(&u);
  free(u.names);
  free(u.areas);
  free(u.lanes);
  return u.in.status;
}
