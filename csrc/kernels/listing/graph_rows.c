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
  NFIELDS
};

static const pf_field fields[NFIELDS] = {
    {"caller", PF_NAME, "the caller; missing: from outside, or unknown"},
    {"callee", PF_NAME, "the function called"},
    {"calls", PF_INT, "along this arc"},
    {"self", PF_INT, "self time of the callee for this caller, ns"},
    {"total", PF_INT, "self and what the callee called, ns"},
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
  uint32_t function;     /* the only node, for CALLERS and CALLEES */
  size_t count, at;
  pf_items arcs; /* of the current node */
  size_t arc;
} graph_reader;


static void put_arc (const graph_reader *self, pf_batch *batch,
                     const pf_item *item) {
  const pf_listing *listing = &self->listing.listing;
  const pf_flow *flow = listing->flow;
  const pf_arc *const arc = &flow->graph->arcs[item->number];
  if (arc->caller == PF_NO_FUNCTION)
    put_missing(batch, CALLER);
  else
    put_name(batch, CALLER, listing_name(listing, arc->caller));
  put_name(batch, CALLEE, listing_name(listing, arc->callee));
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
      put_missing(batch, CALLER);
      put_name(batch, CALLEE, listing_name(&reader->listing, node));
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
  free(self);
}


static pf_status open_graph (const pf_listing *listing, arcs_of which,
                             uint32_t function, pf_reader **reader,
                             pf_error *error) {
  const pf_flow *const flow = listing->flow;
  graph_reader *const self =
      listing_new(sizeof *self, listing, fields, NFIELDS, make_arc, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->listing.base.close = close_graph;
  self->which = which;
  self->function = function;
  self->nodes = which == ALL_ARCS ? flow->entries : &self->function;
  self->count = which == ALL_ARCS ? flow->nnodes : 1;
  const bool ok = pf_items_open(&self->arcs, flow) == PF_OK;
  return pf_reader_opened(&self->listing.base, ok ? PF_OK : pf_no_memory(error),
                          reader);
}


pf_status pf_listing_graph (const pf_listing *listing, pf_reader **reader,
                            pf_error *error) {
  return open_graph(listing, ALL_ARCS, 0, reader, error);
}


pf_status pf_listing_callers (const pf_listing *listing, uint32_t function,
                              pf_reader **reader, pf_error *error) {
  return open_graph(listing, CALLERS, function, reader, error);
}


pf_status pf_listing_callees (const pf_listing *listing, uint32_t function,
                              pf_reader **reader, pf_error *error) {
  return open_graph(listing, CALLEES, function, reader, error);
}
