/*
** content_order.c - sorts names by their bytes, then areas by the indexes of
** names and parents, and lanes by their values or names (see content_order.h).
*/

#include "kernels/statistics/content_order.h"

#include <stdlib.h>

#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/areas.h"


static pf_dictionary *dictionary_of (const pf_content_order *o) {
  return o->scan->machine.lanes.dictionary;
}


static bool open_ids (pf_ordered *ordered, size_t end) {
  ordered->end = end;
  ordered->at = pf_array_of_zeros(end + 1, sizeof *ordered->at);
  return ordered->at != NULL;
}


pf_status pf_content_order_open (pf_content_order *o, const pf_scan *scan) {
  const pf_lanes *const lanes = &scan->machine.lanes;
  const bool has_lanes = pf_events_have_lanes(&scan->events);
  const size_t names = pf_names_count(lanes->dictionary);
  *o = (pf_content_order){.scan = scan};
  o->has_lane_names =
      has_lanes && pf_events_lane_type(&scan->events) == PF_NAME;
  return open_ids(&o->names, names) &&
                 open_ids(&o->areas, lanes->has_areas
                                         ? pf_areas_count(lanes->dictionary)
                                         : names) &&
                 open_ids(&o->lanes, has_lanes ? scan->events.lanes.count : 0)
             ? PF_OK
             : PF_ENOMEM;
}


void pf_content_order_free (pf_content_order *o) {
  pf_ordered *const all[] = {&o->names, &o->areas, &o->lanes};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    free(all[i]->at);
    free(all[i]->list);
  }
  *o = (pf_content_order){.scan = NULL};
}


static pf_area area_of (const pf_content_order *o, uint32_t number) {
  pf_area area = PF_AREA_NONE;
  if (o->scan->machine.lanes.has_areas)
    area = *pf_area_at(dictionary_of(o), number);
  else
    area.name = number;
  if (area.parent >= number) /* parents are added first */
    area.parent = PF_NO_AREA;
  return area;
}


/* Mark areas and their parents with the number of the parents + 1, and the
   names of areas and lanes. */
static void mark_all (pf_content_order *o) {
  for (size_t i = o->areas.end; i-- > 0;)
    if (o->areas.at[i] > 0)
      pf_content_order_mark(&o->areas, area_of(o, (uint32_t)i).parent);
  for (uint32_t i = 0; i < o->areas.end; i++)
    if (o->areas.at[i] > 0) {
      const pf_area area = area_of(o, i);
      o->areas.at[i] = pf_content_order_at(&o->areas, area.parent) + 1;
      pf_content_order_mark(&o->names, area.name);
      pf_content_order_mark(&o->names, area.class);
      pf_content_order_mark(&o->names, area.file);
    }
  for (size_t i = 0; o->has_lane_names && i < o->lanes.end; i++)
    if (o->lanes.at[i] > 0)
      pf_content_order_mark(&o->names,
                            (uint32_t)o->scan->events.lanes.words[i]);
}


/* Make the list of the marked ids, in ascending order, with as much space after
   it. PF_ENOMEM. */
static pf_status list_ids (pf_ordered *ordered) {
  for (size_t i = 0; i < ordered->end; i++)
    ordered->count += ordered->at[i] > 0;
  ordered->list = pf_array(2 * ordered->count + 1, sizeof *ordered->list);
  for (size_t i = 0, n = 0; ordered->list != NULL && i < ordered->end; i++)
    if (ordered->at[i] > 0)
      ordered->list[n++] = (uint32_t)i;
  return ordered->list != NULL ? PF_OK : PF_ENOMEM;
}


/* Sort a part of the list and set the indexes of its ids. */
static void sort_list (pf_ordered *ordered, size_t from, size_t to,
                       pf_compare *compare, const pf_content_order *context) {
  pf_sort(ordered->list + from, ordered->list + ordered->count, to - from,
          sizeof *ordered->list, compare, context);
  for (size_t i = from; i < to; i++)
    ordered->at[ordered->list[i]] = (uint32_t)i + 1;
}


static int compare_names (const void *context, const void *left,
                          const void *right) {
  return pf_name_compare(dictionary_of(context), *(const uint32_t *)left,
                         *(const uint32_t *)right);
}


void pf_content_order_keys (const pf_content_order *o, uint32_t number,
                            uint64_t *keys) {
  const pf_area area = area_of(o, number);
  keys[PF_KEY_NAME] = pf_content_order_at(&o->names, area.name);
  keys[PF_KEY_CLASS] = pf_content_order_at(&o->names, area.class);
  keys[PF_KEY_FILE] = pf_content_order_at(&o->names, area.file);
  keys[PF_KEY_LINE] = pf_order_int(area.line);
  keys[PF_KEY_HAS] = (uint64_t)area.has_handle | (uint64_t)area.has_value << 1;
  keys[PF_KEY_HANDLE] = area.has_handle ? area.handle : 0;
  keys[PF_KEY_VALUE] = pf_order_int(area.has_value ? area.value : 0);
  keys[PF_KEY_PARENT] = pf_content_order_at(&o->areas, area.parent);
}


static int compare_areas (const void *context, const void *left,
                          const void *right) {
  uint64_t one[PF_AREA_KEYS], other[PF_AREA_KEYS];
  pf_content_order_keys(context, *(const uint32_t *)left, one);
  pf_content_order_keys(context, *(const uint32_t *)right, other);
  size_t i = 0;
  while (i + 1 < PF_AREA_KEYS && one[i] == other[i])
    i++;
  return (one[i] > other[i]) - (one[i] < other[i]);
}


/* Sort the list of areas by the number of their parents, then those with as
   many of them: all parents have their index when areas are compared. */
static pf_status sort_areas (pf_content_order *o) {
  pf_ordered *const areas = &o->areas;
  const size_t count = areas->count;
  pf_pair *const pairs = pf_array(2 * count + 1, sizeof *pairs);
  if (pairs == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++)
    pairs[i] = (pf_pair){areas->at[areas->list[i]], areas->list[i]};
  pf_sort_pairs(pairs, pairs + count, count);
  for (size_t from = 0, to = 0; from < count; from = to) {
    for (; to < count && pairs[to].word == pairs[from].word; to++)
      areas->list[to] = (uint32_t)pairs[to].row;
    sort_list(areas, from, to, compare_areas, o);
  }
  free(pairs);
  return PF_OK;
}


static int compare_lanes (const void *context, const void *left,
                          const void *right) {
  const pf_content_order *const o = context;
  const uint64_t *const words = o->scan->events.lanes.words;
  const uint64_t one = words[*(const uint32_t *)left];
  const uint64_t other = words[*(const uint32_t *)right];
  return o->has_lane_names
             ? pf_name_compare(dictionary_of(o), (uint32_t)one, (uint32_t)other)
             : (one > other) - (one < other);
}


pf_status pf_content_order_sort (pf_content_order *o) {
  mark_all(o);
  if (list_ids(&o->names) != PF_OK || list_ids(&o->areas) != PF_OK ||
      list_ids(&o->lanes) != PF_OK)
    return PF_ENOMEM;
  sort_list(&o->names, 0, o->names.count, compare_names, o);
  sort_list(&o->lanes, 0, o->lanes.count, compare_lanes, o);
  return sort_areas(o);
}
