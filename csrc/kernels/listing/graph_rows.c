/*
** graph_rows.c - the reader of the arcs of the call graph, or of one function.
*/

#include "kernels/listing/row_fill.h"
#include "kernels/listing/rank.h"

enum {
  CALLER,
  CALLEE,
  CALLS,
  SELF,
  TOTAL,
  CALLER_FILE,
  CALLEE_FILE,
  NFIELDS
};

static const pf_field fields[NFIELDS] = {
    {"caller", PF_NAME, "the caller; missing: from outside, or unknown"},
    {"callee", PF_NAME, "the function called"},
    {"calls", PF_INT, "along this arc"},
    {"self", PF_INT, "self time of the callee for this caller, ns"},
    {"total", PF_INT, "self and what the callee called, ns"},
    {"caller_file", PF_NAME, "the file in which the caller begins"},
    {"callee_file", PF_NAME, "the file in which the callee begins"},
};

/* The arcs that a reader shows. */
typedef enum arcs_of {
  ALL_ARCS, /* all functions: calls from outside, then arcs to callees */
  CALLERS,
  CALLEES
} arcs_of;

typedef struct graph_reader {
  listing_reader listing;
  arcs_of which;
  const uint32_t *nodes; /* in order; cycles are skipped */
  uint32_t *functions;   /* the nodes of CALLERS and CALLEES; owned */
  size_t count, at;
  pf_items arcs; /* of the current node */
  size_t arc;
} graph_reader;


/* Puts the two functions of a row; `caller` may be PF_NO_FUNCTION. */
static void put_functions (const pf_listing *listing, pf_batch *batch,
                           uint32_t caller, uint32_t callee) {
  const pf_graph *const graph = listing->flow->graph;
  const bool has_caller = caller != PF_NO_FUNCTION;
  put_name(batch, CALLER,
           has_caller ? listing_name(listing, caller) : PF_NO_NAME);
  put_name(batch, CALLER_FILE,
           has_caller ? pf_graph_file(graph, caller) : PF_NO_NAME);
  put_name(batch, CALLEE, listing_name(listing, callee));
  put_name(batch, CALLEE_FILE, pf_graph_file(graph, callee));
}


static void put_arc (const graph_reader *self, pf_batch *batch,
                     const pf_item *item) {
  const pf_listing *listing = &self->listing.listing;
  const pf_flow *flow = listing->flow;
  const pf_arc *const arc = &flow->graph->arcs[item->number];
  put_functions(listing, batch, arc->caller, arc->callee);
  put_int(batch, CALLS, arc->count);
  if (item->kind != PF_ARC_PLAIN) {
    put_missing(batch, SELF);
    put_missing(batch, TOTAL);
    return;
  }
  put_time(batch, SELF, flow, item->share.self);
  put_time(batch, TOTAL, flow, item->time);
}


/* Begin with a function; returns whether it has a row without a caller. */
static bool begin (graph_reader *self, uint32_t function) {
  const pf_flow *flow = self->listing.listing.flow;
  self->arcs.count = self->arc = 0;
  if (self->which != CALLEES)
    pf_items_callers(&self->arcs, flow, function, self->which == ALL_ARCS,
                     false);
  if (self->which != CALLERS)
    pf_items_callees(&self->arcs, flow, function);
  return self->which != CALLEES &&
         flow->graph->parent_first[function] ==
             flow->graph->parent_first[function + 1] &&
         (self->listing.listing.zeros ||
          pf_flow_shown_self(flow, function) != 0 ||
          pf_flow_shown_child(flow, function) != 0);
}


static bool make_arc (listing_reader *reader, pf_batch *batch) {
  graph_reader *self = (graph_reader *)reader;
  const pf_flow *flow = reader->listing.flow;
  for (;;) {
    if (self->arc < self->arcs.count) {
      put_arc(self, batch, &self->arcs.list[self->arc++]);
      return true;
    }
    if (self->at == self->count)
      return false;
    const uint32_t node = self->nodes[self->at++];
    if (node < flow->graph->nfunctions && pf_flow_is_printed(flow, node) &&
        begin(self, node)) {
      /* The row of a function without known callers. */
      const double own = pf_flow_shown_self(flow, node);
      put_functions(&reader->listing, batch, PF_NO_FUNCTION, node);
      put_missing(batch, CALLS);
      put_time(batch, SELF, flow, own);
      put_time(batch, TOTAL, flow, own + pf_flow_shown_child(flow, node));
      return true;
    }
  }
}


static void close_graph (pf_reader *reader) {
  graph_reader *self = (graph_reader *)reader;
  pf_items_close(&self->arcs);
  free(self->functions);
  free(self);
}


/* Opens a reader of all arcs, or of those of `count` functions. */
static pf_status open_graph (const pf_listing *listing, arcs_of which,
                             const uint32_t *functions, size_t count,
                             pf_reader **reader, pf_error *error) {
  const pf_flow *const flow = listing->flow;
  graph_reader *const self =
      listing_new(sizeof *self, listing, fields, NFIELDS, make_arc, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->listing.base.close = close_graph;
  self->which = which;
  bool ok = pf_items_open(&self->arcs, flow) == PF_OK;
  if (which == ALL_ARCS) {
    self->nodes = flow->entries;
    self->count = flow->nnodes;
  }
  else {
    self->nodes = self->functions = malloc((count + 1) * sizeof *functions);
    self->count = count;
    ok &= self->functions != NULL;
    for (size_t i = 0; ok && i < count; i++)
      self->functions[i] = functions[i];
  }
  return pf_reader_opened(&self->listing.base, ok ? PF_OK : pf_no_memory(error),
                          reader);
}


pf_status pf_listing_graph (const pf_listing *listing, pf_reader **reader,
                            pf_error *error) {
  return open_graph(listing, ALL_ARCS, NULL, 0, reader, error);
}


pf_status pf_listing_callers (const pf_listing *listing,
                              const uint32_t *functions, size_t count,
                              pf_reader **reader, pf_error *error) {
  return open_graph(listing, CALLERS, functions, count, reader, error);
}


pf_status pf_listing_callees (const pf_listing *listing,
                              const uint32_t *functions, size_t count,
                              pf_reader **reader, pf_error *error) {
  return open_graph(listing, CALLEES, functions, count, reader, error);
}
