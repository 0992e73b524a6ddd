/*
** graph.c - building the graph body of a profile.
**
** Arcs are found again through an open hash table of their two ends, pseudo
** functions through one of their address; both tables go when the graph is
** finished. Lists of arcs are two arrays in the manner of sparse matrices.
*/

#include "model/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/names.h"

#define FIRST_SLOTS 1024 /* a power of two */


void pf_graph_open (pf_graph *graph, pf_dictionary *dictionary) {
  memset(graph, 0, sizeof *graph);
  graph->dictionary = dictionary;
  graph->facts.same_rates = true;
  graph->facts.dimension = PF_NO_NAME;
  graph->facts.abbreviation = PF_NO_NAME;
}


void pf_graph_close (pf_graph *graph) {
  free(graph->names);
  free(graph->addresses);
  free(graph->files);
  free(graph->lines);
  free(graph->flags);
  for (size_t i = 0; i < PF_MAX_METRICS; i++)
    free(graph->weights[i]);
  free(graph->ticks);
  free(graph->even_ticks);
  free(graph->right_ticks);
  free(graph->calls);
  free(graph->self_calls);
  free(graph->callers);
  free(graph->callees);
  free(graph->counts);
  free(graph->child_first);
  free(graph->children);
  free(graph->parent_first);
  free(graph->parents);
  free(graph->line_rows);
  free(graph->arc_slots);
  free(graph->pseudo_slots);
  memset(graph, 0, sizeof *graph);
}


size_t pf_graph_metric (pf_graph *graph, const char *name, const char *unit) {
  graph->metrics[graph->nmetrics] = (pf_metric){name, unit};
  return graph->nmetrics++;
}


/* Make *array hold `room` values, those from `used` on zero. */
static bool widen (void *array, size_t used, size_t room, size_t size) {
  void **place = array;
  if (room > SIZE_MAX / size)
    return false;
  uint8_t *fresh = used == 0 && *place == NULL ? calloc(room, size)
                                               : realloc(*place, room * size);
  if (fresh == NULL)
    return false;
  if (*place != NULL)
    memset(fresh + used * size, 0, (room - used) * size);
  *place = fresh;
  return true;
}


/* Widen what every function has. */
static bool widen_functions (pf_graph *graph, size_t room) {
  const size_t used = graph->nfunctions;
  bool done = widen(&graph->names, used, room, sizeof *graph->names) &&
              widen(&graph->addresses, used, room, sizeof(uint64_t)) &&
              widen(&graph->files, used, room, sizeof(uint32_t)) &&
              widen(&graph->lines, used, room, sizeof(uint32_t)) &&
              widen(&graph->flags, used, room, sizeof(uint8_t)) &&
              widen(&graph->calls, used, room, sizeof(int64_t)) &&
              widen(&graph->self_calls, used, room, sizeof(int64_t));
  for (size_t i = 0; done && i < graph->nmetrics; i++)
    done = widen(&graph->weights[i], used, room, sizeof(int64_t));
  if (done && graph->facts.compat)
    done = widen(&graph->ticks, used, room, sizeof(double)) &&
           widen(&graph->even_ticks, used, room, sizeof(double)) &&
           widen(&graph->right_ticks, used, room, sizeof(double));
  return done;
}


pf_status pf_graph_reserve (pf_graph *graph, size_t count) {
  const size_t needed = graph->nfunctions + count;
  if (needed <= graph->functions_room)
    return PF_OK;
  if (needed >= PF_NO_FUNCTION / 2)
    return PF_ENOMEM;
  size_t room = graph->functions_room + graph->functions_room / 2;
  if (room < needed)
    room = needed;
  if (!widen_functions(graph, room))
    return PF_ENOMEM;
  graph->functions_room = room;
  return PF_OK;
}


uint32_t pf_graph_function (pf_graph *graph, uint32_t name, uint64_t address,
                            uint8_t flags) {
  if (graph->nfunctions == graph->functions_room &&
      pf_graph_reserve(graph, 64) != PF_OK)
    return PF_NO_FUNCTION;
  const uint32_t number = (uint32_t)graph->nfunctions++;
  graph->names[number] = name;
  graph->addresses[number] = address;
  graph->flags[number] = flags;
  graph->files[number] = PF_NO_NAME;
  return number;
}


static inline size_t hash (uint64_t key) {
  key *= UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(key ^ key >> 29);
}


/* Double a hash table of numbers, given the key of each number. */
static bool grow_slots (const pf_graph *graph, uint32_t **slots, size_t *size,
                        uint64_t (*key)(const pf_graph *, uint32_t)) {
  const size_t wider = *size == 0 ? FIRST_SLOTS : *size * 2;
  uint32_t *fresh = calloc(wider, sizeof *fresh);
  if (fresh == NULL)
    return false;
  for (size_t i = 0; i < *size; i++)
    if ((*slots)[i] != 0) {
      size_t at = hash(key(graph, (*slots)[i] - 1)) & (wider - 1);
      while (fresh[at] != 0)
        at = (at + 1) & (wider - 1);
      fresh[at] = (*slots)[i];
    }
  free(*slots);
  *slots = fresh;
  *size = wider;
  return true;
}


static uint64_t pseudo_key (const pf_graph *graph, uint32_t number) {
  return graph->addresses[number];
}


static uint32_t add_pseudo (pf_graph *graph, uint64_t address) {
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, address);
  const uint32_t name = pf_intern_text(graph->dictionary, text);
  if (name == PF_NO_NAME)
    return PF_NO_FUNCTION;
  return pf_graph_function(graph, name, address, PF_FUNCTION_PSEUDO);
}


uint32_t pf_graph_pseudo (pf_graph *graph, uint64_t address) {
  if (graph->npseudo * 2 >= graph->pseudo_slots_size &&
      !grow_slots(graph, &graph->pseudo_slots, &graph->pseudo_slots_size,
                  pseudo_key))
    return PF_NO_FUNCTION;
  const size_t mask = graph->pseudo_slots_size - 1;
  size_t at = hash(address) & mask;
  for (uint32_t slot; (slot = graph->pseudo_slots[at]) != 0;
       at = (at + 1) & mask)
    if (graph->addresses[slot - 1] == address)
      return slot - 1;
  const uint32_t number = add_pseudo(graph, address);
  if (number != PF_NO_FUNCTION) {
    graph->pseudo_slots[at] = number + 1;
    graph->npseudo++;
  }
  return number;
}


static inline uint64_t arc_ends (uint32_t caller, uint32_t callee) {
  return (uint64_t)caller << 32 | callee;
}


static uint64_t arc_key (const pf_graph *graph, uint32_t number) {
  return arc_ends(graph->callers[number], graph->callees[number]);
}


/* Add an arc that is not there; its slot is where it belongs. */
static pf_status add_arc (pf_graph *graph, uint32_t caller, uint32_t callee,
                          uint32_t *slot) {
  const size_t used = graph->narcs;
  if (used == graph->arcs_room) {
    const size_t room = used == 0 ? 256 : used * 2;
    if (room >= PF_NO_FUNCTION ||
        !widen(&graph->callers, used, room, sizeof(uint32_t)) ||
        !widen(&graph->callees, used, room, sizeof(uint32_t)) ||
        !widen(&graph->counts, used, room, sizeof(int64_t)))
      return PF_ENOMEM;
    graph->arcs_room = room;
  }
  graph->callers[used] = caller;
  graph->callees[used] = callee;
  graph->counts[used] = 0;
  graph->narcs++;
  *slot = (uint32_t)used + 1;
  return PF_OK;
}


pf_status pf_graph_arc (pf_graph *graph, uint32_t caller, uint32_t callee,
                        int64_t count) {
  if (graph->narcs * 2 >= graph->arc_slots_size &&
      !grow_slots(graph, &graph->arc_slots, &graph->arc_slots_size, arc_key))
    return PF_ENOMEM;
  const size_t mask = graph->arc_slots_size - 1;
  size_t at = hash(arc_ends(caller, callee)) & mask;
  uint32_t *slot = &graph->arc_slots[at];
  while (*slot != 0 && (graph->callers[*slot - 1] != caller ||
                        graph->callees[*slot - 1] != callee)) {
    at = (at + 1) & mask;
    slot = &graph->arc_slots[at];
  }
  if (*slot == 0 && add_arc(graph, caller, callee, slot) != PF_OK)
    return PF_ENOMEM;
  const uint32_t arc = *slot - 1;
  graph->counts[arc] = pf_add(graph->counts[arc], count);
  graph->calls[callee] = pf_add(graph->calls[callee], count);
  return PF_OK;
}


void pf_graph_arc_soon (const pf_graph *graph, uint32_t caller,
                        uint32_t callee) {
  if (graph->arc_slots_size == 0)
    return;
  const size_t at =
      hash(arc_ends(caller, callee)) & (graph->arc_slots_size - 1);
  __builtin_prefetch(&graph->arc_slots[at]);
  __builtin_prefetch(&graph->calls[callee]);
}


/* List arcs by one of their ends, the newest first. */
static pf_status list_arcs (const pf_graph *graph, const uint32_t *ends,
                            uint32_t **first, uint32_t **list) {
  const size_t n = graph->nfunctions;
  uint32_t *at = calloc(n + 2, sizeof *at);
  uint32_t *arcs = malloc((graph->narcs + 1) * sizeof *arcs);
  *first = at;
  *list = arcs;
  if (at == NULL || arcs == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < graph->narcs; i++)
    if (ends[i] != PF_NO_FUNCTION)
      at[ends[i] + 2]++;
  for (size_t i = 2; i < n + 2; i++)
    at[i] += at[i - 1];
  for (size_t i = graph->narcs; i-- > 0;)
    if (ends[i] != PF_NO_FUNCTION)
      arcs[at[ends[i] + 1]++] = (uint32_t)i;
  return PF_OK;
}


/* Part the calls of a function by itself from those by others. */
static void part_self_calls (pf_graph *graph) {
  for (size_t i = 0; i < graph->narcs; i++) {
    const uint32_t callee = graph->callees[i];
    graph->flags[callee] |= PF_FUNCTION_USED;
    if (graph->callers[i] == PF_NO_FUNCTION)
      continue;
    graph->flags[graph->callers[i]] |= PF_FUNCTION_USED;
    if (graph->callers[i] == callee) {
      graph->calls[callee] -= graph->counts[i];
      graph->self_calls[callee] = graph->counts[i];
    }
  }
}


static void mark_weights (pf_graph *graph) {
  for (size_t m = 0; m < graph->nmetrics; m++)
    for (size_t i = 0; i < graph->nfunctions; i++)
      if (graph->weights[m][i] != 0)
        graph->flags[i] |= PF_FUNCTION_USED;
  for (size_t i = 0; graph->ticks != NULL && i < graph->nfunctions; i++)
    if (graph->ticks[i] != 0)
      graph->flags[i] |= PF_FUNCTION_USED;
}


pf_status pf_graph_finish (pf_graph *graph) {
  free(graph->arc_slots);
  free(graph->pseudo_slots);
  graph->arc_slots = graph->pseudo_slots = NULL;
  graph->arc_slots_size = graph->pseudo_slots_size = 0;
  part_self_calls(graph);
  mark_weights(graph);
  pf_status status =
      list_arcs(graph, graph->callers, &graph->child_first, &graph->children);
  if (status == PF_OK)
    status =
        list_arcs(graph, graph->callees, &graph->parent_first, &graph->parents);
  return status;
}
