/*
** groups.c - finds the group of a call. Without PF_BY_CALLER it depends only on
** the slot.
*/

#include "kernels/statistics/groups.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"


void pf_groups_init (pf_groups *g, pf_group_by by, bool squares,
                     bool quantiles) {
  memset(g, 0, sizeof *g);
  g->by = by;
  pf_call_sums_init(&g->sums, squares, quantiles);
  pf_id_table_init(&g->keys);
}


void pf_groups_free (pf_groups *g) {
  pf_call_sums_free(&g->sums);
  pf_id_table_free(&g->keys);
  free(g->slot_groups);
  free(g->ids);
}


/* Find or create the group of a key. False when out of memory. */
static bool find_group (pf_groups *g, uint64_t key, uint32_t *group) {
  return pf_id_table_words(&g->keys, &key, 1, group) == PF_OK &&
         pf_call_sums_reserve(&g->sums, g->keys.count) == PF_OK;
}


pf_status pf_groups_of_slot (pf_groups *g, const pf_lanes *lanes, uint32_t slot,
                             uint32_t *group) {
  if (!pf_grow_filled(&g->slot_groups, &g->nslots, lanes->nslots, 0xff))
    return PF_ENOMEM;
  const uint64_t key = g->by == PF_BY_LANE ? slot : lanes->slots[slot].area;
  *group = g->slot_groups[slot];
  if (*group == PF_NO_ID && !find_group(g, key, group))
    return PF_ENOMEM;
  g->slot_groups[slot] = *group;
  return PF_OK;
}


static pf_status find_by_slot (pf_groups *g, const pf_lanes *lanes,
                               const pf_call *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t slot = calls[i].slot;
    g->ids[i] = slot < g->nslots ? g->slot_groups[slot] : PF_NO_ID;
    if (g->ids[i] == PF_NO_ID &&
        pf_groups_of_slot(g, lanes, slot, &g->ids[i]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


static pf_status find_by_caller (pf_groups *g, const pf_lanes *lanes,
                                 const pf_call *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint64_t area = lanes->slots[calls[i].slot].area;
    const uint64_t key = area << 32 | calls[i].caller;
    const size_t at = (key ^ key >> 32 ^ key >> 28) & 255;
    if (g->caller_cache[at].group == 0 || g->caller_cache[at].key != key) {
      uint32_t group;
      if (!find_group(g, key, &group))
        return PF_ENOMEM;
      g->caller_cache[at].key = key;
      g->caller_cache[at].group = group + 1;
    }
    g->ids[i] = g->caller_cache[at].group - 1;
  }
  return PF_OK;
}


pf_status pf_groups_add (pf_groups *g, const pf_lanes *lanes,
                         const pf_call *calls, size_t count) {
  if (count == 0)
    return PF_OK;
  if (!pf_grow(&g->ids, &g->capacity, count))
    return PF_ENOMEM;
  const pf_status status = g->by == PF_BY_CALLER
                               ? find_by_caller(g, lanes, calls, count)
                               : find_by_slot(g, lanes, calls, count);
  return status == PF_OK ? pf_call_sums_add(&g->sums, calls, count, g->ids)
                         : status;
}
