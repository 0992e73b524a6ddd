/*
** count_arcs.c - count the rows of a table `arcs` as calls between functions.
**
** The reader thread resolves addresses to symbols, because each look-up
** searches a large index; the worker thread counts the arcs. The worker looks
** up addresses in no symbol again, because only it may add pseudo functions.
*/

#include "kernels/graph/count_arcs.h"

#include <stdlib.h>

#include "kernels/base/pipeline.h"
#include "model/base/memory.h"

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


/* Whether an address in no symbol lies before or after all symbols. */
static bool is_outside (const pf_address_index *index, uint64_t address) {
  const size_t range = pf_index_before(index, address);
  return index->count != 0 &&
         (range == PF_NO_RANGE || range == index->count - 1);
}


/* The symbols at the two ends of an arc, or UINT32_MAX; later the functions. */
typedef struct arc_ends {
  uint32_t caller, callee; /* callee PF_NO_FUNCTION: the arc is dropped */
} arc_ends;

typedef struct arc_counter {
  const pf_attribution *attribution;
  uint32_t *entries; /* of find_entries; NULL for exact profiles */
} arc_counter;


/* Returns for each symbol the nearest one, itself or before it, that is marked
   as a function. NULL when out of memory. */
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


/* The function of an address; `symbol` is the one that contains the address, or
   UINT32_MAX. */
static uint32_t function_of (const arc_counter *c, uint64_t address,
                             uint32_t symbol) {
  if (symbol != UINT32_MAX)
    return symbol;
  return pf_function_at(
      c->attribution, pf_index_before(c->attribution->index, address), address);
}


/* Replace the symbols at both ends by functions. */
static pf_status find_ends (const arc_counter *c, const pf_pull *pull,
                            size_t row, arc_ends *ends) {
  if (c->entries != NULL) {
    if (ends->caller == UINT32_MAX || ends->callee == UINT32_MAX)
      ends->callee = PF_NO_FUNCTION;
    else
      ends->callee = c->entries[ends->callee];
    return PF_OK;
  }
  const uint64_t from = pull->columns[FROM]->addrs[row];
  if (from != 0 && ends->caller != UINT32_MAX && ends->callee != UINT32_MAX)
    return PF_OK;
  const pf_address_index *index = c->attribution->index;
  const uint32_t caller = ends->caller;
  ends->callee = function_of(c, pull->columns[TO]->addrs[row], ends->callee);
  ends->caller = PF_NO_FUNCTION;
  if (ends->callee == PF_NO_FUNCTION)
    return PF_ENOMEM;
  if (from == 0 || (caller == UINT32_MAX && is_outside(index, from)))
    return PF_OK;
  ends->caller = function_of(c, from, caller);
  return ends->caller == PF_NO_FUNCTION ? PF_ENOMEM : PF_OK;
}


/* Set the notes of a batch: the symbols of the callers, and from
   notes[PF_BATCH_ROWS] on the symbols of the callees. */
static void find_symbols (void *context, const pf_pull *pull, uint32_t *notes) {
  const pf_address_index *const index =
      ((const arc_counter *)context)->attribution->index;
  const uint64_t *const from = pull->columns[FROM]->addrs;
  const uint64_t *const to = pull->columns[TO]->addrs;
  const size_t rows = pull->batch.rows;
  for (size_t row = 0, n; row < rows; row += n) {
    n = rows - row < PF_INDEX_AT_ONCE ? rows - row : PF_INDEX_AT_ONCE;
    pf_index_find_all(index, from + row, n, notes + row);
    pf_index_find_all(index, to + row, n, notes + PF_BATCH_ROWS + row);
  }
}


static pf_status count_batch (void *context, const pf_pull *pull,
                              const uint32_t *notes, pf_error *error) {
  const arc_counter *const c = context;
  pf_graph *const graph = c->attribution->graph;
  const size_t rows = pull->batch.rows;
  pf_status status = PF_OK;
  graph->facts.arc_rows += rows;
  for (size_t row = 0; status == PF_OK && row < rows; row++) {
    arc_ends ends = {notes[row], notes[PF_BATCH_ROWS + row]};
    status = find_ends(c, pull, row, &ends);
    if (status == PF_OK && ends.callee != PF_NO_FUNCTION)
      status = pf_graph_arc(graph, ends.caller, ends.callee,
                            pf_pull_int(pull->columns[COUNT], row, 0));
  }
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


pf_status pf_count_arcs (const pf_attribution *attribution, pf_reader *arcs,
                         pf_error *error) {
  arc_counter c = {.attribution = attribution};
  const pf_pipeline pipeline = {.wants = wants,
                                .nwants = NWANTS,
                                .notes = 2 * PF_BATCH_ROWS,
                                .prepare = find_symbols,
                                .process = count_batch,
                                .context = &c};
  if (attribution->graph->facts.compat &&
      (c.entries = find_entries(attribution->graph)) == NULL)
    return pf_no_memory(error);
  const pf_status status = pf_pipeline_run(&pipeline, arcs, error);
  free(c.entries);
  return status;
}
