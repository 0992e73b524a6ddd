/*
** lanes.c - finds and creates lanes and slots.
*/

#include "kernels/calls/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define FIRST_FRAMES 4
#define DIRECT_TOTAL \
  ((size_t)4 << 20) /* limit for the entries of all
                                          pf_lane.direct, 4 bytes each */


void pf_lanes_init (pf_lanes *p, pf_dictionary *dictionary, bool has_areas) {
  memset(p, 0, sizeof *p);
  p->dictionary = dictionary;
  p->has_areas = has_areas;
  pf_id_table_init(&p->group_ids);
  pf_id_table_init(&p->sparse);
}


void pf_lanes_free (pf_lanes *p) {
  for (size_t i = 0; i < p->nlanes + p->ngroups; i++) {
    pf_lane *const lane =
        i < p->nlanes ? p->lanes[i] : p->groups[i - p->nlanes];
    if (lane == NULL)
      continue;
    free(lane->frames);
    free(lane->direct);
    free(lane);
  }
  free(p->lanes);
  free(p->groups);
  free(p->slot_memory);
  free(p->sparse_slots);
  pf_id_table_free(&p->group_ids);
  pf_id_table_free(&p->sparse);
}


void pf_lane_begin (pf_lane *lane, int64_t time, uint32_t epoch) {
  lane->frames[0] = (pf_frame){.start = time,
                               .since = time,
                               .slot = PF_NO_SLOT,
                               .word = UINT64_MAX,
                               .stack = PF_NO_STACK,
                               .state = PF_FRAME_RUNNING,
                               .flags = PF_CALL_ORPHAN,
                               .period = PF_NO_TIME,
                               .outside = PF_NO_TIME};
  lane->count = 1;
  lane->resumed = 0;
  lane->epoch = epoch;
}


bool pf_lane_grow (pf_lane *lane) {
  if (lane->capacity > UINT32_MAX / 2)
    return false;
  size_t capacity = lane->capacity;
  if (!pf_grow(&lane->frames, &capacity, capacity * 2))
    return false;
  lane->capacity = (uint32_t)capacity;
  return true;
}


static pf_lane *new_lane (uint32_t number, uint32_t key, int64_t time,
                          uint32_t epoch) {
  pf_lane *const lane = calloc(1, sizeof *lane);
  if (lane == NULL)
    return NULL;
  lane->frames = malloc(FIRST_FRAMES * sizeof *lane->frames);
  if (lane->frames == NULL) {
    free(lane);
    return NULL;
  }
  lane->capacity = FIRST_FRAMES;
  lane->number = number;
  lane->key = key;
  lane->last = time;
  pf_lane_begin(lane, time, epoch);
  return lane;
}


/* Find or create the lane at index `number` of a list; NULL when out of
   memory. */
static pf_lane *lane_at (pf_lane ***list, size_t *count, size_t *capacity,
                         uint32_t number, bool is_group, int64_t first) {
  if (!pf_grow_filled(list, capacity, (size_t)number + 1, 0))
    return NULL;
  if ((*list)[number] == NULL)
    (*list)[number] = is_group
                          ? new_lane(PF_NO_SLOT, ~number - 1, first, 0)
                          : new_lane(number, number, INT64_MIN, PF_NO_EPOCH);
  if ((*list)[number] != NULL && number >= *count)
    *count = (size_t)number + 1;
  return (*list)[number];
}


/* The class is recognised by its last word: "aux state" is a state. */
pf_area_kind pf_area_kind_of (const pf_dictionary *dictionary, bool has_areas,
                              uint32_t area) {
  static const struct {
    const char *word;
    pf_area_kind kind;
  } classes[] = {{"line", PF_KIND_LINE},
                 {"state", PF_KIND_STATE},
                 {"variable", PF_KIND_VALUE},
                 {"aux", PF_KIND_VALUE},
                 {"inspector", PF_KIND_VALUE}};
  if (!has_areas)
    return PF_KIND_FUNCTION;
  const pf_bytes class =
      pf_name(dictionary, pf_area_at(dictionary, area)->class);
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    const size_t size = strlen(classes[i].word);
    if (class.size >= size &&
        memcmp(class.at + class.size - size, classes[i].word, size) == 0)
      return classes[i].kind;
  }
  return PF_KIND_FUNCTION;
}


/* The lane that holds the calls of an area when an event of it occurs in
   `lane`: variables and states have lanes of their own, which all states of one
   variable share. NULL when out of memory. */
static pf_lane *home_of (pf_lanes *p, pf_area_kind kind, uint32_t number,
                         pf_lane *lane, int64_t first) {
  if (kind == PF_KIND_FUNCTION || kind == PF_KIND_LINE)
    return lane;
  const pf_area *const area = pf_area_at(p->dictionary, number);
  uint64_t variable = ~((uint64_t)1 << 32 | number);
  if (kind == PF_KIND_STATE && area->parent != PF_NO_AREA)
    variable = ~(uint64_t)area->parent;
  else if (kind == PF_KIND_STATE && area->has_handle)
    variable = area->handle;
  uint32_t group;
  if (pf_id_table_words(&p->group_ids, &variable, 1, &group) != PF_OK)
    return NULL;
  return lane_at(&p->groups, &p->ngroups, &p->groups_capacity, group, true,
                 first);
}


/* A pointer to the entry for the slot of an area in a lane; NULL when out of
   memory. Use a direct array while all arrays together are small. With many
   areas in many lanes they would grow with the product of both numbers. An
   array that has once not grown for an area does not grow later either, so that
   each area is found where it was put. */
static uint32_t *place_of (pf_lanes *p, pf_lane *lane, uint32_t area) {
  const size_t more = area < lane->ndirect ? 0 : (size_t)area * 2 + 64;
  if (more > 0 && p->direct_total + more > DIRECT_TOTAL)
    lane->is_sparse = true;
  if (lane->number != PF_NO_SLOT && (more == 0 || !lane->is_sparse)) {
    size_t capacity = lane->ndirect;
    if (!pf_grow_filled(&lane->direct, &capacity, (size_t)area + 1, 0xff))
      return NULL;
    p->direct_total += capacity - lane->ndirect;
    lane->ndirect = (uint32_t)capacity;
    return &lane->direct[area];
  }
  const uint64_t word = (uint64_t)lane->key << 32 | area;
  uint32_t number;
  if (pf_id_table_words(&p->sparse, &word, 1, &number) != PF_OK ||
      !pf_grow_filled(&p->sparse_slots, &p->sparse_capacity, (size_t)number + 1,
                      0xff))
    return NULL;
  return &p->sparse_slots[number];
}


static bool grow_slots (pf_lanes *p) {
  const uint32_t capacity = p->slots_capacity == 0 ? 64 : p->slots_capacity * 2;
  uint8_t *const memory = malloc(capacity * sizeof *p->slots + PF_CACHE_LINE);
  if (memory == NULL)
    return false;
  pf_slot *const slots =
      (pf_slot *)(void *)(memory +
                          (PF_CACHE_LINE - (uintptr_t)memory % PF_CACHE_LINE));
  if (p->nslots > 0)
    memcpy(slots, p->slots, p->nslots * sizeof *slots);
  free(p->slot_memory);
  p->slot_memory = memory;
  p->slots = slots;
  p->slots_capacity = capacity;
  return true;
}


static pf_status add_slot (pf_lanes *p, pf_lane *home, uint32_t area,
                           pf_area_kind kind, uint32_t *slot) {
  if (p->nslots == p->slots_capacity && !grow_slots(p))
    return PF_ENOMEM;
  *slot = p->nslots++;
  p->slots[*slot] = (pf_slot){.lane = home,
                              .area = area,
                              .kind = (uint8_t)kind,
                              .plain_epoch = PF_NO_EPOCH,
                              .group = PF_NO_ID,
                              .last_enter = INT64_MIN,
                              .last_leave = INT64_MIN};
  return PF_OK;
}


/* Find or create the slot of an area and remember it for `lane`. Events of one
   state may occur in several lanes, while its slot is in the lane of the
   variable. */
static pf_status link_slot (pf_lanes *p, pf_lane *lane, uint32_t area,
                            int64_t first, uint32_t *slot) {
  const pf_area_kind kind = pf_area_kind_of(p->dictionary, p->has_areas, area);
  pf_lane *const home = home_of(p, kind, area, lane, first);
  uint32_t *place = home == NULL ? NULL : place_of(p, home, area);
  if (place == NULL ||
      (*place == PF_NO_SLOT && add_slot(p, home, area, kind, place) != PF_OK))
    return PF_ENOMEM;
  *slot = *place;
  place = place_of(p, lane, area);
  if (place == NULL)
    return PF_ENOMEM;
  *place = *slot;
  return PF_OK;
}


pf_status pf_lanes_slot (pf_lanes *p, uint32_t number, uint32_t area,
                         int64_t first, uint32_t *slot) {
  pf_lane *const lane =
      lane_at(&p->lanes, &p->nlanes, &p->lanes_capacity, number, false, first);
  const uint32_t *const place = lane == NULL ? NULL : place_of(p, lane, area);
  if (place == NULL)
    return PF_ENOMEM;
  *slot = *place;
  return *slot == PF_NO_SLOT ? link_slot(p, lane, area, first, slot) : PF_OK;
}
