/*
** open_calls.c - the sums of an open call are a list of the nodes in which it
** has made calls, so that adding and forgetting them costs nothing for others.
*/

#include "kernels/explain/open_calls.h"

#include <stdlib.h>

#include "model/base/memory.h"


pf_open_lane *pf_open_calls_lane (pf_open_calls *c, uint32_t lane) {
  if (!pf_grow_filled(&c->lanes, &c->nlanes, (size_t)lane + 1, 0))
    return NULL;
  pf_open_lane *const l = &c->lanes[lane];
  if (!l->has_begun)
    l->before = PF_NO_AREA;
  l->has_begun = true;
  return l;
}


/* The sums of the open call of a lane; NULL when out of memory. */
static pf_open_call *sums_of (pf_open_calls *c, pf_open_lane *lane) {
  if (lane->call == NULL && c->unused != NULL) {
    lane->call = c->unused;
    c->unused = lane->call->next;
  }
  if (lane->call == NULL)
    lane->call = calloc(1, sizeof *lane->call);
  return lane->call;
}


pf_status pf_open_calls_add (pf_open_calls *c, pf_open_lane *lane,
                             uint32_t node, const pf_node_sum *sum) {
  pf_open_call *const o = sums_of(c, lane);
  if (o == NULL ||
      !pf_grow_filled(&o->entries, &o->nentries, (size_t)node + 1, 0))
    return PF_ENOMEM;
  if (o->entries[node] == 0) {
    if (!pf_grow(&o->list, &o->capacity, o->count + 1))
      return PF_ENOMEM;
    o->list[o->count] = (struct pf_open_entry){.node = node};
    o->entries[node] = (uint32_t)++o->count;
  }
  pf_node_sum *const to = &o->list[o->entries[node] - 1].sum;
  to->count += sum->count;
  to->net += sum->net;
  to->elapsed += sum->elapsed;
  return PF_OK;
}


void pf_open_calls_end (pf_open_calls *c, pf_open_lane *lane) {
  pf_open_call *const o = lane->call;
  if (o == NULL)
    return;
  for (size_t i = 0; i < o->count; i++)
    o->entries[o->list[i].node] = 0;
  o->count = 0;
  o->next = c->unused;
  c->unused = o;
  lane->call = NULL;
}


void pf_open_calls_reset (pf_open_calls *c) {
  for (size_t i = 0; i < c->nlanes; i++)
    c->lanes[i].has_begun = false;
}


static pf_status put_before (pf_open_calls *c, pf_explained_group group,
                             const pf_open_lane *lane, const pf_call *call) {
  const uint64_t word = (uint64_t)group << 32 | lane->before;
  uint32_t id;
  if (pf_id_table_words(&c->before, &word, 1, &id) != PF_OK ||
      !pf_grow_filled(&c->before_sums, &c->nbefore, (size_t)id + 1, 0))
    return PF_ENOMEM;
  c->before_sums[id].count++;
  c->before_sums[id].net += call->durations[PF_NET];
  return PF_OK;
}


static pf_status put (pf_open_calls *c, pf_explained_group group,
                      const pf_open_lane *lane, const pf_call *call,
                      uint32_t id) {
  const pf_open_call *const open = lane->call;
  for (size_t i = 0; i < open->count; i++) {
    const struct pf_open_entry *const entry = &open->list[i];
    if (!pf_grow_filled(&c->groups[group].sums, &c->groups[group].nsums,
                        (size_t)entry->node + 1, 0))
      return PF_ENOMEM;
    pf_group_sum *const to = &c->groups[group].sums[entry->node];
    if (to->sum.count == 0 || entry->sum.elapsed > to->most) {
      to->most = entry->sum.elapsed;
      to->start = call->start;
      to->lane = id;
    }
    to->sum.count += entry->sum.count;
    to->sum.net += entry->sum.net;
    to->sum.elapsed += entry->sum.elapsed;
  }
  return put_before(c, group, lane, call);
}


pf_status pf_open_calls_put (pf_open_calls *c, const pf_open_lane *lane,
                             const pf_call_rank *rank, const pf_call *call,
                             uint32_t id) {
  const bool is_in[PF_EXPLAINED_GROUPS] = {
      [PF_GROUP_TYPICAL] = rank->is_typical,
      [PF_GROUP_SLOW] = rank->is_slow && !rank->is_first,
      [PF_GROUP_FIRST] = rank->is_first,
      [PF_GROUP_MEDIAN] = rank->is_median,
      [PF_GROUP_WORST] = rank->is_worst};
  pf_status status = PF_OK;
  for (int group = 0; group < PF_EXPLAINED_GROUPS && status == PF_OK; group++)
    if (is_in[group])
      status = put(c, (pf_explained_group)group, lane, call, id);
  return status;
}

static void free_sums (pf_open_call *o) {
  if (o == NULL)
    return;
  free(o->entries);
  free(o->list);
  free(o);
}


void pf_open_calls_free (pf_open_calls *c) {
  for (size_t i = 0; i < c->nlanes; i++)
    free_sums(c->lanes[i].call);
  while (c->unused != NULL) {
    pf_open_call *const o = c->unused;
    c->unused = o->next;
    free_sums(o);
  }
  free(c->lanes);
  for (int group = 0; group < PF_EXPLAINED_GROUPS; group++)
    free(c->groups[group].sums);
  pf_id_table_free(&c->before);
  free(c->before_sums);
}
