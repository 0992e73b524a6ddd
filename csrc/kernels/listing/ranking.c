/*
** ranking.c - sort by one key after the other; each time only the runs of nodes
** that are still equal. The bytes of names are the last keys, eight at a time.
*/

#include "kernels/listing/ranking.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/base/switches.h"

#define FETCH_AHEAD PF_RANK_FETCH_AHEAD


pf_status pf_ranking_open (pf_ranking *r, const pf_flow *flow,
                           size_t capacity) {
  *r = (pf_ranking){.flow = flow,
                    .pairs = pf_array(capacity, sizeof *r->pairs),
                    .spare = pf_array(capacity, sizeof *r->spare),
                    .same = pf_array(capacity, sizeof *r->same)};
  return r->pairs != NULL && r->spare != NULL && r->same != NULL ? PF_OK
                                                                 : PF_ENOMEM;
}


void pf_ranking_close (pf_ranking *r) {
  free(r->pairs);
  free(r->spare);
  free(r->same);
  *r = (pf_ranking){0};
}


/* Whether node i has an equal neighbour. */
static inline bool is_in_run (const pf_ranking *r, size_t i) {
  return r->same[i] || (i + 1 < r->count && r->same[i + 1]);
}


/* Sort each run by the current key; returns whether any nodes are still
   equal. */
static bool sort_runs (pf_ranking *r) {
  bool any = false;
  for (size_t from = 0, end; from < r->count; from = end) {
    for (end = from + 1; end < r->count && r->same[end];)
      end++;
    pf_sort_pairs(r->pairs + from, r->spare, end - from);
    for (size_t i = from + 1; i < end; i++)
      any |= r->same[i] = r->pairs[i].word == r->pairs[i - 1].word;
  }
  return any;
}


void pf_ranking_by_keys (pf_ranking *r, const pf_rank_key *keys) {
  memset(r->same, true, r->count);
  r->same[0] = false;
  for (bool any = r->count > 1; any && keys->word != NULL; keys++) {
    for (size_t i = 0; i < r->count; i++) {
      if (PF_FAST(MISSES) && keys->prefetch != NULL)
        keys->prefetch(r, i);
      if (is_in_run(r, i))
        r->pairs[i].word = keys->word(r->flow, r->pairs[i].row);
    }
    any = sort_runs(r);
  }
}


static uint64_t part_of_name (const pf_flow *flow, size_t node, size_t offset) {
  const pf_graph *graph = flow->graph;
  return node >= graph->nfunctions
             ? 0
             : pf_name_word(graph->dictionary, graph->names[node], offset);
}


/* Prefetch names in steps: the name's id in the graph, its entry in the
   dictionary, its bytes. For cycles, which have no name, any function is
   used. */
void pf_ranking_prefetch_name (const pf_ranking *r, size_t i) {
  const pf_graph *const graph = r->flow->graph;
  const size_t last = graph->nfunctions - 1;
  size_t rows[3];
  if (!PF_FAST(MISSES) || i + 3 * FETCH_AHEAD >= r->count)
    return;
  for (size_t step = 0; step < 3; step++) {
    const size_t row = r->pairs[i + (step + 1) * FETCH_AHEAD].row;
    rows[step] = row < last ? row : last;
  }
  __builtin_prefetch(&graph->names[rows[2]]);
  pf_name_prefetch(graph->dictionary, graph->names[rows[1]]);
  __builtin_prefetch(pf_name(graph->dictionary, graph->names[rows[0]]).at);
}


/* Set the keys to the first 8 bytes of the names, which are read in the order
   of functions, in which names are stored. False: too few nodes for that, or
   out of memory. */
static bool set_prefixes (pf_ranking *r, size_t in_runs) {
  const size_t n = r->flow->graph->nfunctions;
  uint64_t *const prefixes = PF_FAST(MISSES) && in_runs >= n / 2
                                 ? pf_array(n, sizeof *prefixes)
                                 : NULL;
  for (size_t i = 0; prefixes != NULL && i < n; i++)
    prefixes[i] = part_of_name(r->flow, i, 0);
  for (size_t i = 0; prefixes != NULL && i < r->count; i++) {
    const size_t row = r->pairs[i].row;
    if (i + FETCH_AHEAD < r->count && r->pairs[i + FETCH_AHEAD].row < n)
      __builtin_prefetch(&prefixes[r->pairs[i + FETCH_AHEAD].row]);
    if (is_in_run(r, i))
      r->pairs[i].word = row < n ? prefixes[row] : 0;
  }
  const bool done = prefixes != NULL;
  free(prefixes);
  return done;
}


void pf_ranking_by_names (pf_ranking *r) {
  size_t in_runs = 0;
  for (size_t i = 0; i < r->count; i++)
    in_runs += is_in_run(r, i);
  bool any = in_runs > 0;
  for (size_t offset = 0; any; offset += 8) {
    const bool done = offset == 0 && set_prefixes(r, in_runs);
    for (size_t i = 0; !done && i < r->count; i++)
      if (is_in_run(r, i)) {
        pf_ranking_prefetch_name(r, i);
        r->pairs[i].word = part_of_name(r->flow, r->pairs[i].row, offset);
      }
    any = false;
    if (!sort_runs(r))
      break;
    /* Nodes whose names have ended stay equal. */
    for (size_t i = 1; i < r->count; i++)
      any |= r->same[i] = r->same[i] && (r->pairs[i].word & 0xff) != 0;
  }
}


pf_status pf_ranking_nodes (const pf_ranking *r, uint32_t **nodes) {
  *nodes = pf_array(r->count, sizeof **nodes);
  if (*nodes == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < r->count; i++)
    (*nodes)[i] = (uint32_t)r->pairs[i].row;
  return PF_OK;
}
