/*
** tally.c - rows of a table `arcs` into arcs between functions.
**
** Callers mostly ascend in a file, callees do not: the search for a caller
** begins where the last one ended.
*/

#include "kernels/tally.h"

#include <stdlib.h>

#include "kernels/pull.h"

enum {
  FROM,
  TO,
  COUNT,
  NWANTS
};

static const pf_want wants[NWANTS] = {
    {"from", PF_ADDR, true},
    {"to", PF_ADDR, true},
    {"count", PF_INT, true},
};


/* Whether an address lies before or behind all symbols. */
static bool is_outside (const pf_places *places, size_t place,
                        uint64_t address) {
  if (places->count == 0)
    return false;
  return place == PF_NO_PLACE ||
         (place == places->count - 1 && address >= places->ends[place]);
}


static pf_status tally_exact (const pf_credit *credit, uint64_t from,
                              size_t from_place, uint64_t to, size_t to_place,
                              int64_t count) {
  const uint32_t callee = pf_credit_function(credit, to_place, to);
  uint32_t caller = PF_NO_FUNCTION;
  if (from != 0 && !is_outside(credit->places, from_place, from)) {
    caller = pf_credit_function(credit, from_place, from);
    if (caller == PF_NO_FUNCTION)
      return PF_ENOMEM;
  }
  if (callee == PF_NO_FUNCTION)
    return PF_ENOMEM;
  return pf_graph_arc(credit->graph, caller, callee, count);
}


/* For each function itself, or the nearest before it, that is marked as one;
   NULL when out of memory. */
static uint32_t *find_entries (const pf_graph *graph) {
  uint32_t *entries = malloc((graph->nfunctions + 1) * sizeof *entries);
  uint32_t entry = PF_NO_FUNCTION;
  for (size_t i = 0; entries != NULL && i < graph->nfunctions; i++) {
    if ((graph->flags[i] & PF_FUNCTION_CALLABLE) != 0)
      entry = (uint32_t)i;
    entries[i] = entry;
  }
  return entries;
}


static pf_status tally_as_gprof (const pf_credit *credit,
                                 const uint32_t *entries, uint64_t from,
                                 size_t caller, uint64_t to, size_t callee,
                                 int64_t count) {
  const pf_places *places = credit->places;
  if (caller == PF_NO_PLACE || from >= places->ends[caller] ||
      callee == PF_NO_PLACE || to >= places->ends[callee] ||
      entries[callee] == PF_NO_FUNCTION)
    return PF_OK;
  return pf_graph_arc(credit->graph, (uint32_t)caller, entries[callee], count);
}


static pf_status tally_batch (const pf_credit *credit, const pf_pull *pull,
                              const uint32_t *entries, size_t *near) {
  const pf_places *places = credit->places;
  credit->graph->facts.arc_rows += pull->batch.rows;
  for (size_t row = 0; row < pull->batch.rows; row++) {
    const uint64_t from = pull->columns[FROM]->addrs[row];
    const uint64_t to = pull->columns[TO]->addrs[row];
    const int64_t count = pf_pull_int(pull->columns[COUNT], row, 0);
    const size_t callee = pf_places_before(places, to);
    *near = pf_places_near(places, *near, from);
    const pf_status status =
        entries != NULL
            ? tally_as_gprof(credit, entries, from, *near, to, callee, count)
            : tally_exact(credit, from, *near, to, callee, count);
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


pf_status pf_tally_arcs (const pf_credit *credit, pf_reader *arcs,
                         pf_error *error) {
  const bool compat = credit->graph->facts.compat;
  pf_pull pull;
  size_t near = PF_NO_PLACE;
  pf_status status = pf_pull_open(&pull, arcs, wants, NWANTS, error);
  if (status != PF_OK)
    return status;
  uint32_t *entries = compat ? find_entries(credit->graph) : NULL;
  while ((status = pf_pull_next(&pull, error)) == PF_MORE)
    if ((compat && entries == NULL) ||
        tally_batch(credit, &pull, entries, &near) != PF_OK) {
      status = pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
      break;
    }
  free(entries);
  pf_pull_close(&pull);
  return status == PF_END ? PF_OK : status;
}
