/*
** groups.c - which group a call belongs to. Of areas and lanes its slot tells.
*/

#include "kernels/calls/groups.h"

#include <stdlib.h>
#include <string.h>


void pf_groups_init (pf_groups *g, pf_group_by by, bool squares,
                     bool quantiles) {
  memset(g, 0, sizeof *g);
  g->by = by;
  pf_call_sums_init(&g->tallies, squares, quantiles);
  pf_id_table_init(&g->keys);
}


void pf_groups_free (pf_groups *g) {
  pf_call_sums_free(&g->tallies);
  pf_id_table_free(&g->keys);
  free(g->of_slots);
  free(g->numbers);
}


/* The group of a key; false: out of memory. */
static bool find_group (pf_groups *g, uint64_t key, uint32_t *group) {
  return pf_id_table_words(&g->keys, &key, 1, group) == PF_OK &&
         pf_call_sums_reserve(&g->tallies, g->keys.count) == PF_OK;
}


/* Make room for as many slots as there are. */
static bool reach_slots (pf_groups *g, const pf_lanes *lanes) {
  const size_t room = lanes->slots_room;
  uint32_t *const grown = realloc(g->of_slots, room * sizeof *grown);
  if (grown == NULL)
    return false;
  memset(grown + g->nslots, 0xff, (room - g->nslots) * sizeof *grown);
  g->of_slots = grown;
  g->nslots = room;
  return true;
}


pf_status pf_groups_of_slot (pf_groups *g, const pf_lanes *lanes, uint32_t slot,
                             uint32_t *group) {
  if (lanes->nslots > g->nslots && !reach_slots(g, lanes))
    return PF_ENOMEM;
  const uint64_t key = g->by == PF_BY_LANE ? slot : lanes->slots[slot].area;
  *group = g->of_slots[slot];
  if (*group == PF_NO_ID && !find_group(g, key, group))
    return PF_ENOMEM;
  g->of_slots[slot] = *group;
  return PF_OK;
}


static pf_status number_by_slot (pf_groups *g, const pf_lanes *lanes,
                                 const pf_call *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t slot = calls[i].slot;
    g->numbers[i] = slot < g->nslots ? g->of_slots[slot] : PF_NO_ID;
    if (g->numbers[i] == PF_NO_ID &&
        pf_groups_of_slot(g, lanes, slot, &g->numbers[i]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


static pf_status number_by_caller (pf_groups *g, const pf_lanes *lanes,
                                   const pf_call *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint64_t area = lanes->slots[calls[i].slot].area;
    const uint64_t key = area << 32 | calls[i].caller;
    const size_t at = (key ^ key >> 32 ^ key >> 28) & 255;
    if (g->recent[at].group == 0 || g->recent[at].key != key) {
      uint32_t group;
      if (!find_group(g, key, &group))
        return PF_ENOMEM;
      g->recent[at].key = key;
      g->recent[at].group = group + 1;
    }
    g->numbers[i] = g->recent[at].group - 1;
  }
  return PF_OK;
}


static bool reserve_numbers (pf_groups *g, size_t count) {
  if (count <= g->room)
    return true;
  uint32_t *const numbers = realloc(g->numbers, count * 2 * sizeof *numbers);
  if (numbers == NULL)
    return false;
  g->numbers = numbers;
  g->room = count * 2;
  return true;
}


pf_status pf_groups_add (pf_groups *g, const pf_lanes *lanes,
                         const pf_call *calls, size_t count) {
  if (count == 0)
    return PF_OK;
  if (!reserve_numbers(g, count))
    return PF_ENOMEM;
  const pf_status status = g->by == PF_BY_CALLER
                               ? number_by_caller(g, lanes, calls, count)
                               : number_by_slot(g, lanes, calls, count);
  return status == PF_OK
             ? pf_call_sums_add(&g->tallies, calls, count, g->numbers)
             : status;
}
