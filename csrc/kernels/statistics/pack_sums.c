/*
** pack_sums.c - writes packed sums: gives the names, areas and lanes that the
** groups use indexes in the order of their contents, sorts the groups by these,
** and writes lists and groups.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/statistics/packed_sums.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/base/unpack.h"
#include "model/dictionary/areas.h"

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
  pf_dictionary *dictionary;
  pf_packed *to;
  size_t names_end, areas_end, lanes_end; /* ids are below these */
  uint32_t *name_at; /* by name: index + 1 in the pack, or 0: unused */
  uint32_t *area_at; /* the same by area */
  uint32_t *lane_at; /* the same by lane */
  uint32_t *depths;  /* by area: number of its parents + 1, or 0: unused */
  uint32_t *list;    /* names or areas in the order of the pack, and space */
  pf_pair *pairs;    /* lanes, areas or groups in that order, and space */
  packed_group *groups;
  size_t ngroups;
  int64_t time; /* the last one that was written of a group */
} packing;


/* Reserves space; NULL, with to->is_out_of_memory, if memory runs out. */
static uint8_t *reserve (pf_packed *to, size_t size) {
  if (!to->is_out_of_memory &&
      !pf_grow(&to->at, &to->capacity, to->used + size))
    to->is_out_of_memory = true;
  return to->is_out_of_memory ? NULL : to->at + to->used;
}


static void put_bytes (pf_packed *to, const void *bytes, size_t size) {
  uint8_t *const at = reserve(to, size);
  if (at == NULL || size == 0)
    return;
  memcpy(at, bytes, size);
  to->used += size;
}


static void put_number (pf_packed *to, uint64_t value) {
  uint8_t *const at = reserve(to, PF_VARINT_SIZE);
  if (at != NULL)
    to->used = (size_t)(pf_save_varint(at, value) - to->at);
}


static void put_signed (pf_packed *to, int64_t value) {
  put_number(to, pf_zigzag(value));
}


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
  put_bytes(to, PF_SUMS_MAGIC, sizeof PF_SUMS_MAGIC - 1);
  put_bytes(to, kinds, sizeof kinds);
  if (o->has_from)
    put_signed(to, o->from);
  if (o->has_to)
    put_signed(to, o->to);
  if (o->has_last)
    put_signed(to, o->last);
  put_number(to, o->max_depth);
}


static void collect_groups (packing *p) {
  const pf_groups *const g = &p->scan->groups;
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


static pf_area area_of (const packing *p, uint32_t number) {
  pf_area area = PF_AREA_NONE;
  if (p->form->has_areas)
    area = *pf_area_at(p->dictionary, number);
  else
    area.name = number;
  if (area.parent >= number) /* parents are added first */
    area.parent = PF_NO_AREA;
  return area;
}


static void mark (uint32_t *at, size_t end, uint32_t number) {
  if (number < end)
    at[number] = 1;
}


/* The index of a number in the pack + 1, or 0. */
static uint32_t index_of (const uint32_t *at, size_t end, uint32_t number) {
  return number < end ? at[number] : 0;
}


/* Mark areas and their parents with the number of the parents + 1, and the
   names and lanes. */
static void mark_all (packing *p) {
  for (size_t i = 0; i < p->ngroups; i++) {
    const bool by_lane = p->form->by == PF_BY_LANE;
    mark(p->depths, p->areas_end, p->groups[i].area);
    mark(by_lane ? p->lane_at : p->depths,
         by_lane ? p->lanes_end : p->areas_end, p->groups[i].other);
  }
  for (size_t i = p->areas_end; i-- > 0;)
    if (p->depths[i] > 0)
      mark(p->depths, p->areas_end, area_of(p, (uint32_t)i).parent);
  for (uint32_t i = 0; i < p->areas_end; i++)
    if (p->depths[i] > 0) {
      const pf_area area = area_of(p, i);
      p->depths[i] = index_of(p->depths, p->areas_end, area.parent) + 1;
      mark(p->name_at, p->names_end, area.name);
      mark(p->name_at, p->names_end, area.class);
      mark(p->name_at, p->names_end, area.file);
    }
  for (size_t i = 0; p->form->has_lane_names && i < p->lanes_end; i++)
    if (p->lane_at[i] > 0)
      mark(p->name_at, p->names_end, (uint32_t)p->scan->events.lanes.words[i]);
}


static int compare_names (const void *context, const void *left,
                          const void *right) {
  return pf_name_compare(context, *(const uint32_t *)left,
                         *(const uint32_t *)right);
}


/* The fields by which areas of one depth are compared, and which are written.
   */
enum {
  KEY_NAME,
  KEY_CLASS,
  KEY_FILE,
  KEY_LINE, /* an order word, as the value */
  KEY_HAS,
  KEY_HANDLE,
  KEY_VALUE,
  KEY_PARENT,
  KEYS
};

static void area_keys (const packing *p, uint32_t number, uint64_t *keys) {
  const pf_area area = area_of(p, number);
  keys[KEY_NAME] = index_of(p->name_at, p->names_end, area.name);
  keys[KEY_CLASS] = index_of(p->name_at, p->names_end, area.class);
  keys[KEY_FILE] = index_of(p->name_at, p->names_end, area.file);
  keys[KEY_LINE] = pf_order_int(area.line);
  keys[KEY_HAS] = (uint64_t)area.has_handle | (uint64_t)area.has_value << 1;
  keys[KEY_HANDLE] = area.has_handle ? area.handle : 0;
  keys[KEY_VALUE] = pf_order_int(area.has_value ? area.value : 0);
  keys[KEY_PARENT] = index_of(p->area_at, p->areas_end, area.parent);
}


static int compare_areas (const void *context, const void *left,
                          const void *right) {
  uint64_t one[KEYS], other[KEYS];
  area_keys(context, *(const uint32_t *)left, one);
  area_keys(context, *(const uint32_t *)right, other);
  size_t i = 0;
  while (i + 1 < KEYS && one[i] == other[i])
    i++;
  return (one[i] > other[i]) - (one[i] < other[i]);
}


/* The areas that are used, in p->list. Those with fewer parents come first, so
   all parents have their index when areas are compared. */
static size_t order_areas (packing *p) {
  size_t count = 0;
  for (uint32_t i = 0; i < p->areas_end; i++)
    if (p->depths[i] > 0)
      p->pairs[count++] = (pf_pair){p->depths[i], i};
  pf_sort_pairs(p->pairs, p->pairs + count, count);
  for (size_t from = 0, to = 0; from < count; from = to) {
    for (; to < count && p->pairs[to].word == p->pairs[from].word; to++)
      p->list[to] = (uint32_t)p->pairs[to].row;
    pf_sort(p->list + from, p->list + count, to - from, sizeof *p->list,
            compare_areas, p);
    for (size_t i = from; i < to; i++)
      p->area_at[p->list[i]] = (uint32_t)i + 1;
  }
  return count;
}


/* The index of the lane or caller of a group + 1, or 0. */
static uint32_t other_of (const packing *p, const packed_group *group) {
  return p->form->by == PF_BY_LANE
             ? index_of(p->lane_at, p->lanes_end, group->other)
             : index_of(p->area_at, p->areas_end, group->other);
}


static void write_names (packing *p) {
  size_t count = 0;
  for (uint32_t i = 0; i < p->names_end; i++)
    if (p->name_at[i] > 0)
      p->list[count++] = i;
  pf_sort(p->list, p->list + count, count, sizeof *p->list, compare_names,
          p->dictionary);
  for (size_t i = 0; i < count; i++)
    p->name_at[p->list[i]] = (uint32_t)i + 1;
  put_number(p->to, count);
  for (size_t i = 0; i < count; i++) {
    const pf_bytes name = pf_name(p->dictionary, p->list[i]);
    put_number(p->to, name.size);
    put_bytes(p->to, name.at, name.size);
  }
}


static void write_areas (packing *p) {
  const size_t count = order_areas(p);
  put_number(p->to, count);
  for (size_t i = 0; i < count; i++) {
    uint64_t keys[KEYS];
    area_keys(p, p->list[i], keys);
    put_number(p->to, keys[KEY_NAME]);
    if (!p->form->has_areas)
      continue;
    put_number(p->to, keys[KEY_CLASS]);
    put_number(p->to, keys[KEY_FILE]);
    put_number(p->to, keys[KEY_PARENT]);
    put_signed(p->to, pf_unorder_int(keys[KEY_LINE]));
    put_number(p->to, keys[KEY_HAS]);
    if ((keys[KEY_HAS] & 1) != 0)
      put_number(p->to, keys[KEY_HANDLE]);
    if ((keys[KEY_HAS] & 2) != 0)
      put_signed(p->to, pf_unorder_int(keys[KEY_VALUE]));
  }
}


static void write_lanes (packing *p) {
  const uint64_t *const words = p->scan->events.lanes.words;
  size_t count = 0;
  for (size_t i = 0; i < p->lanes_end; i++)
    if (p->lane_at[i] > 0)
      p->pairs[count++] = (pf_pair){
          p->form->has_lane_names ? p->name_at[(uint32_t)words[i]] : words[i],
          i};
  pf_sort_pairs(p->pairs, p->pairs + count, count);
  for (size_t i = 0; i < count; i++)
    p->lane_at[p->pairs[i].row] = (uint32_t)i + 1;
  put_number(p->to, count);
  for (size_t i = 0; i < count; i++)
    if (p->form->has_lane_names)
      put_number(p->to, p->pairs[i].word - 1);
    else
      put_signed(p->to, pf_unorder_int(p->pairs[i].word));
}


static void write_counters (pf_packed *to, const pf_duration_sums *of,
                            const pf_quantile *quantile) {
  uint64_t values, count = 0;
  uint16_t code = 0, last = 0;
  put_number(to, (uint64_t)of->min);
  put_number(to, (uint64_t)of->max - (uint64_t)of->min);
  put_number(to, (uint64_t)of->sum);
  put_number(to, (uint64_t)(of->sum >> 64));
  for (size_t i = 0; i < 3; i++)
    put_number(to, of->squares.limbs[i]);
  while (pf_quantile_next_count(quantile, &code, &values))
    count++;
  put_number(to, count);
  for (code = 0; pf_quantile_next_count(quantile, &code, &values);
       last = code) {
    put_number(to, (uint64_t)code - last);
    put_number(to, values);
  }
}


static void write_duration (packing *p, size_t group, size_t which) {
  const pf_call_sums *const sums = &p->scan->groups.sums;
  pf_quantile *const quantile = &sums->quantiles[group * PF_DURATIONS + which];
  const pf_duration_sums of = pf_call_sums_duration(sums, group, which);
  const uint64_t known = sums->hot[group].rows - of.missing;
  put_number(p->to, of.missing);
  if (known == 0)
    return;
  const uint64_t *const words = pf_quantile_words(quantile);
  uint64_t last = pf_order_int(0);
  for (uint64_t i = 0; words != NULL && i < known; i++) {
    put_number(p->to, words[i] - last);
    last = words[i];
  }
  if (words == NULL)
    write_counters(p->to, &of, quantile);
  if (which < PF_MAX_STARTS) {
    put_signed(p->to, (int64_t)((uint64_t)of.max_at - (uint64_t)p->time));
    p->time = of.max_at;
  }
}


static void write_group (packing *p, const packed_group *group) {
  const pf_call_sums *const sums = &p->scan->groups.sums;
  put_number(p->to, p->area_at[group->area] - 1);
  put_number(p->to, other_of(p, group));
  p->time = 0;
  if (p->form->by == PF_BY_LANE)
    put_signed(p->to, group->stop);
  if (group->stop != INT64_MIN)
    p->time = group->stop;
  put_number(p->to,
             group->group == PF_NO_ID ? 0 : sums->hot[group->group].rows);
  if (group->group == PF_NO_ID)
    return;
  put_number(p->to, sums->rest[group->group].uncounted);
  for (size_t i = 0; i < PF_DURATIONS; i++)
    write_duration(p, group->group, i);
}


static void write_groups (packing *p) {
  const size_t count = p->ngroups;
  for (size_t i = 0; i < count; i++)
    p->pairs[i] = (pf_pair){(uint64_t)p->area_at[p->groups[i].area] << 32 |
                                other_of(p, &p->groups[i]),
                            i};
  pf_sort_pairs(p->pairs, p->pairs + count, count);
  put_number(p->to, count);
  for (size_t i = 0; i < count; i++)
    write_group(p, &p->groups[p->pairs[i].row]);
}


/* The sizes of all arrays. False when out of memory. */
static bool allocate (packing *p) {
  const pf_scan *const scan = p->scan;
  const size_t groups =
      (size_t)scan->machine.lanes.nslots + scan->groups.keys.count;
  p->names_end = pf_names_count(p->dictionary);
  p->areas_end =
      p->form->has_areas ? pf_areas_count(p->dictionary) : p->names_end;
  p->lanes_end = p->form->has_lanes ? scan->events.lanes.count : 0;
  size_t most = p->names_end > p->areas_end ? p->names_end : p->areas_end;
  p->list = pf_array(2 * most + 1, sizeof *p->list);
  most = groups > p->areas_end ? groups : p->areas_end;
  most = most > p->lanes_end ? most : p->lanes_end;
  p->pairs = pf_array(2 * most + 1, sizeof *p->pairs);
  p->groups = pf_array(groups + 1, sizeof *p->groups);
  p->name_at = pf_array_of_zeros(p->names_end + 1, sizeof *p->name_at);
  p->area_at = pf_array_of_zeros(p->areas_end + 1, sizeof *p->area_at);
  p->depths = pf_array_of_zeros(p->areas_end + 1, sizeof *p->depths);
  p->lane_at = pf_array_of_zeros(p->lanes_end + 1, sizeof *p->lane_at);
  return p->list != NULL && p->pairs != NULL && p->groups != NULL &&
         p->name_at != NULL && p->area_at != NULL && p->depths != NULL &&
         p->lane_at != NULL;
}


pf_status pf_sums_pack (pf_scan *scan, const pf_sums_form *form,
                        pf_packed *packed) {
  packing p = {.form = form,
               .scan = scan,
               .dictionary = scan->machine.lanes.dictionary,
               .to = packed};
  packed->is_out_of_memory |= !allocate(&p);
  if (!packed->is_out_of_memory) {
    collect_groups(&p);
    mark_all(&p);
    put_form(packed, form);
    write_names(&p);
    write_areas(&p);
    write_lanes(&p);
    write_groups(&p);
  }
  free(p.name_at);
  free(p.area_at);
  free(p.lane_at);
  free(p.depths);
  free(p.list);
  free(p.pairs);
  free(p.groups);
  return packed->is_out_of_memory ? PF_ENOMEM : PF_OK;
}
