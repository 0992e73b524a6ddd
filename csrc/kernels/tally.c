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


/* The functions at the two ends of an arc. */
typedef struct arc_ends {
  uint32_t caller, callee; /* callee PF_NO_FUNCTION: the arc is dropped */
} arc_ends;

/* The tally under way. */
typedef struct tally {
  const pf_credit *credit;
  uint32_t *entries; /* compat only, see find_entries */
  size_t near;       /* the range of the last caller */
} tally;


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


static pf_status find_exactly (const tally *t, uint64_t from, uint64_t to,
                               size_t callee, arc_ends *ends) {
  const pf_places *places = t->credit->places;
  ends->caller = PF_NO_FUNCTION;
  ends->callee = pf_credit_function(t->credit, callee, to);
  if (ends->callee == PF_NO_FUNCTION)
    return PF_ENOMEM;
  if (from == 0 || is_outside(places, t->near, from))
    return PF_OK;
  ends->caller = pf_credit_function(t->credit, t->near, from);
  return ends->caller == PF_NO_FUNCTION ? PF_ENOMEM : PF_OK;
}


static arc_ends find_as_gprof (const tally *t, uint64_t from, uint64_t to,
                               size_t callee) {
  const pf_places *places = t->credit->places;
  if (t->near == PF_NO_PLACE || from >= places->ends[t->near] ||
      callee == PF_NO_PLACE || to >= places->ends[callee])
    return (arc_ends){PF_NO_FUNCTION, PF_NO_FUNCTION};
  return (arc_ends){(uint32_t)t->near, t->entries[callee]};
}


/* Find both ends of `count` arcs. */
static pf_status find_ends (tally *t, const uint64_t *from, const uint64_t *to,
                            size_t count, arc_ends *ends) {
  const pf_places *places = t->credit->places;
  uint32_t callees[PF_PLACES_AT_ONCE];
  pf_places_before_all(places, to, count, callees);
  for (size_t i = 0; i < count; i++) {
    const size_t callee = callees[i] == UINT32_MAX ? PF_NO_PLACE : callees[i];
    t->near = pf_places_near(places, t->near, from[i]);
    if (t->entries != NULL)
      ends[i] = find_as_gprof(t, from[i], to[i], callee);
    else if (find_exactly(t, from[i], to[i], callee, &ends[i]) != PF_OK)
      return PF_ENOMEM;
    if (ends[i].callee != PF_NO_FUNCTION)
      pf_graph_arc_soon(t->credit->graph, ends[i].caller, ends[i].callee);
  }
  return PF_OK;
}


static pf_status tally_rows (tally *t, const pf_pull *pull, size_t first,
                             size_t count) {
  arc_ends ends[PF_PLACES_AT_ONCE];
  pf_status status = find_ends(t, pull->columns[FROM]->addrs + first,
                               pull->columns[TO]->addrs + first, count, ends);
  for (size_t i = 0; status == PF_OK && i < count; i++)
    if (ends[i].callee != PF_NO_FUNCTION)
      status = pf_graph_arc(t->credit->graph, ends[i].caller, ends[i].callee,
                            pf_pull_int(pull->columns[COUNT], first + i, 0));
  return status;
}


static pf_status tally_batch (tally *t, const pf_pull *pull) {
  const size_t rows = pull->batch.rows;
  pf_status status = PF_OK;
  t->credit->graph->facts.arc_rows += rows;
  for (size_t row = 0; status == PF_OK && row < rows; row += PF_PLACES_AT_ONCE)
    status = tally_rows(t, pull, row,
                        rows - row < PF_PLACES_AT_ONCE ? rows - row
                                                       : PF_PLACES_AT_ONCE);
  return status;
}


pf_status pf_tally_arcs (const pf_credit *credit, pf_reader *arcs,
                         pf_error *error) {
  const bool compat = credit->graph->facts.compat;
  tally t = {.credit = credit, .near = PF_NO_PLACE};
  pf_pull pull;
  pf_status status = pf_pull_open(&pull, arcs, wants, NWANTS, error);
  if (status != PF_OK)
    return status;
  if (compat)
    t.entries = find_entries(credit->graph);
  while ((status = pf_pull_next(&pull, error)) == PF_MORE)
    if ((compat && t.entries == NULL) || tally_batch(&t, &pull) != PF_OK) {
      status = pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
      break;
    }
  free(t.entries);
  pf_pull_close(&pull);
  return status == PF_END ? PF_OK : status;
}
