/*
** tally.c - rows of a table `arcs` into arcs between functions.
**
** Who calls is found in the thread that reads, who is called in the one that
** counts: each is a search in a large index. What is no symbol's needs another
** look, for it may become a pseudo function.
*/

#include "kernels/graph/tally.h"

#include <stdlib.h>

#include "kernels/relay.h"
#include "model/memory.h"

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


/* Whether an address in no symbol lies before or behind all of them. */
static bool is_outside (const pf_places *places, uint64_t address) {
  const size_t place = pf_places_before(places, address);
  return places->count != 0 &&
         (place == PF_NO_PLACE || place == places->count - 1);
}


/* The symbols at the two ends of an arc, UINT32_MAX for none; then the
   functions. */
typedef struct arc_ends {
  uint32_t caller, callee; /* callee PF_NO_FUNCTION: the arc is dropped */
} arc_ends;

/* The tally under way. */
typedef struct tally {
  const pf_credit *credit;
  uint32_t *entries; /* compat only, see find_entries */
} tally;


/* For each function itself, or the nearest before it, that is marked as one;
   NULL when out of memory. */
static uint32_t *find_entries (const pf_graph *graph) {
  uint32_t *entries = pf_array(graph->nfunctions, sizeof *entries);
  uint32_t entry = PF_NO_FUNCTION;
  for (size_t i = 0; entries != NULL && i < graph->nfunctions; i++) {
    if ((graph->flags[i] & PF_FUNCTION_CALLABLE) != 0)
      entry = (uint32_t)i;
    entries[i] = entry;
  }
  return entries;
}


/* The function of an address, given the symbol that holds it, if one does. */
static uint32_t function_of (const tally *t, uint64_t address,
                             uint32_t symbol) {
  if (symbol != UINT32_MAX)
    return symbol;
  return pf_credit_function(
      t->credit, pf_places_before(t->credit->places, address), address);
}


static pf_status find_exactly (const tally *t, uint64_t from, uint64_t to,
                               arc_ends *ends) {
  const pf_places *places = t->credit->places;
  const uint32_t caller = ends->caller;
  ends->callee = function_of(t, to, ends->callee);
  ends->caller = PF_NO_FUNCTION;
  if (ends->callee == PF_NO_FUNCTION)
    return PF_ENOMEM;
  if (from == 0 || (caller == UINT32_MAX && is_outside(places, from)))
    return PF_OK;
  ends->caller = function_of(t, from, caller);
  return ends->caller == PF_NO_FUNCTION ? PF_ENOMEM : PF_OK;
}


static void find_as_gprof (const tally *t, arc_ends *ends) {
  if (ends->caller == UINT32_MAX || ends->callee == UINT32_MAX)
    ends->callee = PF_NO_FUNCTION;
  else
    ends->callee = t->entries[ends->callee];
}


/* From symbols to functions. */
static pf_status find_ends (const tally *t, const uint64_t *from,
                            const uint64_t *to, size_t count, arc_ends *ends) {
  for (size_t i = 0; i < count; i++) {
    if (t->entries != NULL)
      find_as_gprof(t, &ends[i]);
    else if (find_exactly(t, from[i], to[i], &ends[i]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


static pf_status tally_rows (const tally *t, const pf_pull *pull,
                             const uint32_t *callers, size_t first,
                             size_t count) {
  const uint64_t *const from = pull->columns[FROM]->addrs + first;
  const uint64_t *const to = pull->columns[TO]->addrs + first;
  uint32_t callees[PF_PLACES_AT_ONCE];
  arc_ends ends[PF_PLACES_AT_ONCE];
  pf_places_find_all(t->credit->places, to, count, callees);
  for (size_t i = 0; i < count; i++)
    ends[i] = (arc_ends){callers[first + i], callees[i]};
  pf_status status = find_ends(t, from, to, count, ends);
  for (size_t i = 0; status == PF_OK && i < count; i++)
    if (ends[i].callee != PF_NO_FUNCTION)
      status = pf_graph_arc(t->credit->graph, ends[i].caller, ends[i].callee,
                            pf_pull_int(pull->columns[COUNT], first + i, 0));
  return status;
}


/* How many of the rows from `row` on are looked up together. */
static size_t at_once (size_t rows, size_t row) {
  return rows - row < PF_PLACES_AT_ONCE ? rows - row : PF_PLACES_AT_ONCE;
}


/* Note the symbols that hold the callers. */
static void find_callers (void *context, const pf_pull *pull,
                          uint32_t *callers) {
  const tally *const t = context;
  const size_t rows = pull->batch.rows;
  for (size_t row = 0; row < rows; row += PF_PLACES_AT_ONCE)
    pf_places_find_all(t->credit->places, pull->columns[FROM]->addrs + row,
                       at_once(rows, row), callers + row);
}


static pf_status tally_batch (void *context, const pf_pull *pull,
                              const uint32_t *callers, pf_error *error) {
  const tally *const t = context;
  const size_t rows = pull->batch.rows;
  pf_status status = PF_OK;
  t->credit->graph->facts.arc_rows += rows;
  for (size_t row = 0; status == PF_OK && row < rows; row += PF_PLACES_AT_ONCE)
    status = tally_rows(t, pull, callers, row, at_once(rows, row));
  return status == PF_OK
             ? PF_OK
             : pf_fail(error, status, PF_NO_OFFSET, "out of memory");
}


pf_status pf_tally_arcs (const pf_credit *credit, pf_reader *arcs,
                         pf_error *error) {
  tally t = {.credit = credit};
  const pf_relay relay = {.wants = wants,
                          .nwants = NWANTS,
                          .sparse = -1,
                          .notes = PF_BATCH_ROWS,
                          .prepare = find_callers,
                          .take = tally_batch,
                          .context = &t};
  if (credit->graph->facts.compat &&
      (t.entries = find_entries(credit->graph)) == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  const pf_status status = pf_relay_read(&relay, arcs, error);
  free(t.entries);
  return status;
}
