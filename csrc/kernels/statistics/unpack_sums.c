/*
** unpack_sums.c - reads packed sums into the groups of a scan. Every number is checked before it is used, because the bytes
** come from outside; what is allocated grows with the size of the bytes.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/statistics/packed_sums.h"
#include "kernels/statistics/sums_bytes.h"
#include "model/base/memory.h"
#include "model/dictionary/areas.h"

#define MAX_CODE (pf_quantile_code(INT64_MAX))

typedef struct unpacking {
  pf_sums *sums;
  pf_cursor in;
  pf_error *error;
  uint32_t *names, *areas, *lanes; /* ids by index */
  size_t nnames, nareas, nlanes;
  uint32_t no_lane; /* the id of "no value" */
  int64_t time;     /* the last one that was read of a group */
} unpacking;


static pf_status damaged (const unpacking *u, const char *what) {
  return pf_sums_damaged(&u->in, what, u->error);
}


static pf_status take (unpacking *u, uint64_t limit, uint64_t *value) {
  return pf_sums_take(&u->in, limit, value, u->error);
}


static pf_status take_signed (unpacking *u, int64_t *value) {
  return pf_sums_take_signed(&u->in, value, u->error);
}


/* Take the length of a list, whose elements have at least one byte each, and
   allocate its ids. */
static pf_status take_list (unpacking *u, uint32_t **ids, size_t *count) {
  uint64_t length;
  const pf_status status = take(u, UINT32_MAX - 1, &length);
  if (status != PF_OK)
    return status;
  if (length > pf_left(&u->in))
    return damaged(u, "a list is longer than the bytes");
  *ids = pf_array((size_t)length + 1, sizeof **ids);
  *count = (size_t)length;
  return *ids == NULL ? pf_no_memory(u->error) : PF_OK;
}


/* Take the index of an element + 1, or 0 for none. */
static pf_status take_index (unpacking *u, const uint32_t *ids, size_t count,
                             uint32_t *id) {
  uint64_t index;
  const pf_status status = take(u, count, &index);
  if (status == PF_OK)
    *id = index == 0 ? UINT32_MAX : ids[index - 1];
  return status;
}


static pf_status take_names (unpacking *u, pf_dictionary *dictionary) {
  pf_status status = take_list(u, &u->names, &u->nnames);
  for (size_t i = 0; i < u->nnames && status == PF_OK; i++) {
    uint64_t size;
    pf_bytes name = {NULL, 0};
    status = take(u, UINT64_MAX, &size);
    if (status == PF_OK && !pf_take(&u->in, size, &name))
      status = damaged(u, "a name is longer than the bytes");
    if (status == PF_OK)
      u->names[i] = pf_intern(dictionary, name);
    if (status == PF_OK && u->names[i] == PF_NO_NAME)
      status = pf_no_memory(u->error);
  }
  return status;
}


/* Take what an area has in addition to its name. */
static pf_status take_area (unpacking *u, size_t known, pf_area *area) {
  uint64_t has;
  pf_status status = take_index(u, u->names, u->nnames, &area->class);
  if (status == PF_OK)
    status = take_index(u, u->names, u->nnames, &area->file);
  if (status == PF_OK)
    status = take_index(u, u->areas, known, &area->parent);
  if (status == PF_OK)
    status = take_signed(u, &area->line);
  if (status == PF_OK)
    status = take(u, 3, &has);
  if (status != PF_OK)
    return status;
  area->has_handle = (has & 1) != 0;
  area->has_value = (has & 2) != 0;
  if (area->has_handle)
    status = take(u, UINT64_MAX, &area->handle);
  if (status == PF_OK && area->has_value)
    status = take_signed(u, &area->value);
  return status;
}


static pf_status take_areas (unpacking *u, pf_dictionary *dictionary) {
  const bool has_areas = u->sums->form.has_areas;
  pf_status status = take_list(u, &u->areas, &u->nareas);
  for (size_t i = 0; i < u->nareas && status == PF_OK; i++) {
    pf_area area = PF_AREA_NONE;
    status = take_index(u, u->names, u->nnames, &area.name);
    if (status == PF_OK && has_areas)
      status = take_area(u, i, &area);
    else if (status == PF_OK && area.name == PF_NO_NAME)
      status = damaged(u, "an area has no name");
    if (status != PF_OK)
      return status;
    u->areas[i] = has_areas ? pf_area_add(dictionary, &area) : area.name;
    if (u->areas[i] == PF_NO_AREA)
      return pf_no_memory(u->error);
  }
  return status;
}


/* Lanes get their ids in the order of the list. */
static pf_status take_lanes (unpacking *u) {
  const pf_sums_form *const form = &u->sums->form;
  pf_events *const events = &u->sums->scan->events;
  pf_status status = take_list(u, &u->lanes, &u->nlanes);
  if (status == PF_OK && u->nlanes > 0 && !form->has_lanes)
    return damaged(u, "there are lanes, against the header");
  for (size_t i = 0; i < u->nlanes && status == PF_OK; i++) {
    int64_t value = 0;
    uint64_t index = 0;
    status = form->has_lane_names ? take(u, UINT64_MAX, &index)
                                  : take_signed(u, &value);
    if (status == PF_OK && form->has_lane_names && index >= u->nnames)
      status = damaged(u, "a lane has no name");
    if (status != PF_OK)
      return status;
    const uint64_t word =
        form->has_lane_names ? u->names[index] : pf_order_int(value);
    if (pf_events_lane_id(events, word, false, &u->lanes[i]) != PF_OK)
      return pf_no_memory(u->error);
  }
  if (status == PF_OK && form->has_lanes &&
      pf_events_lane_id(events, 0, true, &u->no_lane) != PF_OK)
    return pf_no_memory(u->error);
  return status;
}


static pf_status take_time (unpacking *u, int64_t *time) {
  int64_t more;
  const pf_status status = take_signed(u, &more);
  if (status == PF_OK)
    u->time = *time = (int64_t)((uint64_t)u->time + (uint64_t)more);
  return status;
}


/* Take the values of a duration into its quantile, and add them up. */
static pf_status take_values (unpacking *u, pf_quantile *quantile,
                              uint64_t count, pf_duration_sums *of) {
  pf_quantile_pool *const pool = &u->sums->scan->groups.sums.pool;
  uint64_t value = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t more;
    const pf_status status = take(u, INT64_MAX - value, &more);
    if (status != PF_OK)
      return status;
    value += more;
    if (i == 0)
      of->min = (int64_t)value;
    of->max = (int64_t)value;
    of->sum += (pf_wide)value;
    pf_squares_add(&of->squares, value);
    if (pf_quantile_add(quantile, pool, PF_INT, pf_order_int((int64_t)value)) !=
        PF_OK)
      return pf_no_memory(u->error);
  }
  return PF_OK;
}


/* Take the sums of a duration that is in counters. */
static pf_status take_sums (unpacking *u, uint64_t count,
                            pf_duration_sums *of) {
  uint64_t min, range = 0, low = 0, high = 0;
  pf_status status = take(u, INT64_MAX, &min);
  if (status == PF_OK)
    status = take(u, INT64_MAX - min, &range);
  if (status == PF_OK)
    status = take(u, UINT64_MAX, &low);
  if (status == PF_OK)
    status = take(u, PF_SUMS_MAX_CALLS / 2, &high);
  for (size_t i = 0; i < 3 && status == PF_OK; i++)
    status = take(u, UINT64_MAX, &of->squares.limbs[i]);
  if (status != PF_OK)
    return status;
  of->min = (int64_t)min;
  of->max = (int64_t)(min + range);
  of->sum = (pf_wide)high << 64 | (pf_wide)low;
  if (of->sum < (pf_wide)count * of->min || of->sum > (pf_wide)count * of->max)
    return damaged(u, "a sum that its minimum and maximum exclude");
  return PF_OK;
}


/* Take the counters of a duration into its quantile. */
static pf_status take_counters (unpacking *u, pf_quantile *quantile,
                                uint64_t count, const pf_duration_sums *of) {
  pf_quantile_pool *const pool = &u->sums->scan->groups.sums.pool;
  uint64_t counters, code = 0, left = count;
  pf_status status = take(u, MAX_CODE, &counters);
  for (uint64_t i = 0; i < counters && status == PF_OK; i++) {
    uint64_t more = 0, values = 0;
    status = take(u, MAX_CODE - code, &more);
    if (status == PF_OK)
      status = take(u, left, &values);
    if (status != PF_OK)
      return status;
    code += more;
    left -= values;
    if (more == 0 || values == 0 ||
        (i == 0 && code != pf_quantile_code(of->min)) ||
        code > pf_quantile_code(of->max))
      return damaged(u, "counters that the minimum and maximum exclude");
    if (pf_quantile_add_count(quantile, pool, (uint16_t)code, values) != PF_OK)
      return pf_no_memory(u->error);
  }
  if (status == PF_OK && (left > 0 || code != pf_quantile_code(of->max)))
    return damaged(u, "counters that are incomplete");
  return status;
}


static pf_status take_duration (unpacking *u, uint64_t rows, size_t group,
                                size_t which) {
  pf_call_sums *const sums = &u->sums->scan->groups.sums;
  pf_quantile *const quantile = &sums->quantiles[group * PF_DURATIONS + which];
  pf_duration_sums of = {.min = INT64_MAX, .max = -1};
  pf_status status = take(u, rows, &of.missing);
  const uint64_t known = status == PF_OK ? rows - of.missing : 0;
  if (known > 0 && known <= PF_EXACT_CALLS)
    status = take_values(u, quantile, known, &of);
  else if (known > 0) {
    status = take_sums(u, known, &of);
    if (status == PF_OK)
      status = take_counters(u, quantile, known, &of);
  }
  if (status == PF_OK && known > 0 && which < PF_MAX_STARTS)
    status = take_time(u, &of.max_at);
  if (status == PF_OK)
    pf_call_sums_add_duration(sums, group, which, &of);
  return status;
}


static pf_status take_calls (unpacking *u, uint64_t rows, size_t group) {
  pf_call_sums *const sums = &u->sums->scan->groups.sums;
  uint64_t uncounted = 0;
  if (rows > PF_SUMS_MAX_CALLS - u->sums->calls)
    return pf_fail(u->error, PF_ELIMIT, u->in.at,
                   "packed sums: more than 2^62 calls");
  u->sums->calls += rows;
  pf_status status = take(u, rows, &uncounted);
  for (size_t i = 0; i < PF_DURATIONS && status == PF_OK; i++)
    status = take_duration(u, rows, group, i);
  sums->hot[group].rows += rows;
  sums->rest[group].uncounted += uncounted;
  return status;
}


/* Find or create the group of a slot or of an area and its caller. */
static pf_status find_group (const unpacking *u, uint32_t slot, uint32_t area,
                             uint32_t caller, uint32_t *group) {
  pf_scan *const scan = u->sums->scan;
  const pf_status status =
      u->sums->form.by == PF_BY_CALLER
          ? pf_groups_of_key(&scan->groups, (uint64_t)area << 32 | caller,
                             group)
          : pf_groups_of_slot(&scan->groups, &scan->machine.lanes, slot, group);
  return status == PF_OK ? PF_OK : pf_no_memory(u->error);
}


static pf_status take_group (unpacking *u) {
  pf_lanes *const lanes = &u->sums->scan->machine.lanes;
  const bool by_lane = u->sums->form.by == PF_BY_LANE;
  uint64_t index = 0, rows = 0;
  uint32_t other = UINT32_MAX, slot, group;
  int64_t stop = INT64_MIN;
  pf_status status = take(u, UINT32_MAX, &index);
  if (status == PF_OK && index >= u->nareas)
    return damaged(u, "a group has no area");
  if (status == PF_OK)
    status = by_lane ? take_index(u, u->lanes, u->nlanes, &other)
                     : take_index(u, u->areas, u->nareas, &other);
  if (status == PF_OK && by_lane)
    status = take_signed(u, &stop);
  if (status == PF_OK)
    status = take(u, PF_SUMS_MAX_CALLS, &rows);
  if (status != PF_OK)
    return status;
  const uint32_t area = u->areas[index];
  const bool has_lane = by_lane && other != UINT32_MAX;
  if (pf_lanes_slot(lanes, has_lane ? other : u->no_lane, area, 0, &slot) !=
      PF_OK)
    return pf_no_memory(u->error);
  if (stop > lanes->slots[slot].last_leave)
    lanes->slots[slot].last_leave = stop;
  if (rows == 0)
    return PF_OK;
  u->time = stop == INT64_MIN ? 0 : stop;
  status = find_group(u, slot, area, other, &group);
  return status == PF_OK ? take_calls(u, rows, group) : status;
}


/* By caller, rows are in the order in which areas get slots, so they get them
   in the order of the list. */
static pf_status add_slots (const unpacking *u) {
  uint32_t slot;
  for (size_t i = 0; u->sums->form.by == PF_BY_CALLER && i < u->nareas; i++)
    if (pf_lanes_slot(&u->sums->scan->machine.lanes, u->no_lane, u->areas[i], 0,
                      &slot) != PF_OK)
      return pf_no_memory(u->error);
  return PF_OK;
}


static pf_status take_groups (unpacking *u) {
  uint64_t count = 0;
  pf_status status = take(u, UINT64_MAX, &count);
  if (status == PF_OK && count > pf_left(&u->in))
    return damaged(u, "a list is longer than the bytes");
  for (uint64_t i = 0; i < count && status == PF_OK; i++)
    status = take_group(u);
  if (status == PF_OK && pf_left(&u->in) > 0)
    return damaged(u, "there are bytes after the last group");
  return status;
}


void pf_sums_open (pf_sums *sums, pf_scan *scan, const pf_sums_form *form,
                   pf_group_by by, pf_dictionary *dictionary) {
  static const pf_field lanes[] = {{"lane", PF_INT, NULL},
                                   {"lane", PF_NAME, NULL}};
  memset(scan, 0, sizeof *scan);
  *sums = (pf_sums){.form = *form, .scan = scan};
  sums->events = (pf_reader){.fields = &lanes[form->has_lane_names],
                             .nfields = form->has_lanes,
                             .dictionary = dictionary};
  scan->events.reader = &sums->events;
  pf_id_table_init(&scan->events.lanes);
  pf_machine_init(&scan->machine, &form->calls, dictionary, form->has_areas);
  pf_groups_init(&scan->groups, by, true, true);
  scan->is_open = true;
}


pf_status pf_sums_add (pf_sums *sums, pf_bytes packed, pf_error *error) {
  unpacking u = {
      .sums = sums, .in = pf_cursor_over(packed, false), .error = error};
  pf_dictionary *const dictionary = sums->events.dictionary;
  pf_sums_form form;
  pf_status status = pf_sums_take_form(&u.in, &form, error);
  if (status == PF_OK)
    status = pf_sums_compare(&sums->form, &form, error);
  if (status == PF_OK)
    status = take_names(&u, dictionary);
  if (status == PF_OK)
    status = take_areas(&u, dictionary);
  if (status == PF_OK)
    status = take_lanes(&u);
  if (status == PF_OK)
    status = add_slots(&u);
  if (status == PF_OK)
    status = take_groups(&u);
  free(u.names);
  free(u.areas);
  free(u.lanes);
  return status;
}
