/*
** graph_rows.c - the reader of the arcs of the call graph.
*/

#include <string.h>

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

/* Which arcs of a function are shown. */
typedef enum arcs_of {
  ALL_ARCS, /* all functions: calls from outside, then arcs to callees */
  CALLERS,
  CALLEES
} arcs_of;

typedef struct graph_reader {
  listing_reader listing;
  arcs_of which;
  uint32_t *nodes; /* in order; cycles are skipped */
  size_t count, at;
  pf_item *arcs, *spare; /* of the current node */
  size_t narcs, arc;
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


/* The row of a function without known callers. */
static void put_root (const graph_reader *self, pf_batch *batch,
                      uint32_t function) {
  const pf_flow *flow = self->listing.listing.flow;
  put_missing(batch, CALLER);
  put_name(batch, CALLEE, listing_name(&self->listing.listing, function));
  put_missing(batch, CALLS);
  const double own = pf_flow_shown_self(flow, function);
  put_time(batch, SELF, flow, own);
  put_time(batch, TOTAL, flow, own + pf_flow_shown_child(flow, function));
}


/* Append the arcs from callers, by descending time. */
static void add_callers (graph_reader *self, uint32_t function,
                         bool only_outside) {
  const pf_flow *flow = self->listing.listing.flow;
  const pf_graph *graph = flow->graph;
  const uint32_t *first = &graph->parent_first[function];
  pf_item *const from = self->arcs + self->narcs;
  size_t count = 0;
  for (uint32_t i = first[1]; i-- > first[0];) {
    const uint32_t arc = graph->parents[i];
    if (!only_outside || graph->arcs[arc].caller == PF_NO_FUNCTION)
      from[count++] = pf_arc_item(flow, arc);
  }
  pf_rank_items(from, self->spare, count, true);
  self->narcs += count;
}


/* Append the arcs to callees, by descending time. */
static void add_callees (graph_reader *self, uint32_t function) {
  const pf_flow *flow = self->listing.listing.flow;
  const uint32_t *first = &flow->graph->child_first[function];
  pf_item *const from = self->arcs + self->narcs;
  size_t count = 0;
  for (uint32_t i = first[1]; i-- > first[0];)
    from[count++] = pf_arc_item(flow, i);
  pf_rank_items(from, self->spare, count, true);
  self->narcs += count;
}


/* Begin with a function; returns whether it has a row without a caller. */
static bool begin (graph_reader *self, uint32_t function) {
  const pf_flow *flow = self->listing.listing.flow;
  self->narcs = self->arc = 0;
  if (self->which != CALLEES)
    add_callers(self, function, self->which == ALL_ARCS);
  if (self->which != CALLERS)
    add_callees(self, function);
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
    if (self->arc < self->narcs) {
      put_arc(self, batch, &self->arcs[self->arc++]);
      return true;
    }
    if (self->at == self->count)
      return false;
    const uint32_t node = self->nodes[self->at++];
    if (node < flow->graph->nfunctions && pf_flow_is_printed(flow, node) &&
        begin(self, node)) {
      put_root(self, batch, node);
      return true;
    }
  }
}


static void close_graph (pf_reader *reader) {
  graph_reader *self = (graph_reader *)reader;
  free(self->nodes);
  free(self->arcs);
  free(self->spare);
  free(self);
}


/* The maximum number of arcs of a function, in both directions. */
static size_t longest_list (const pf_graph *graph) {
  size_t max = 0;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    const size_t both =
        (size_t)(graph->child_first[i + 1] - graph->child_first[i]) +
        (graph->parent_first[i + 1] - graph->parent_first[i]);
    max = both > max ? both : max;
  }
  return max;
}


static bool open_lists (graph_reader *self, uint32_t function) {
  const pf_flow *flow = self->listing.listing.flow;
  if (pf_graph_parents(flow->graph) != PF_OK)
    return false;
  const size_t capacity = longest_list(flow->graph) + 1;
  self->arcs = malloc(capacity * sizeof *self->arcs);
  self->spare = malloc(capacity * sizeof *self->spare);
  if (self->which == ALL_ARCS) {
    self->count = flow->nnodes;
    if (pf_rank_graph(flow, &self->nodes) != PF_OK)
      return false;
  }
  else {
    self->count = 1;
    self->nodes = malloc(sizeof *self->nodes);
    if (self->nodes != NULL)
      self->nodes[0] = function;
  }
  return self->arcs != NULL && self->spare != NULL && self->nodes != NULL;
}


static pf_status open_graph (const pf_listing *listing, arcs_of which,
                             uint32_t function, pf_reader **reader,
                             pf_error *error) {
  graph_reader *self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  listing_open(&self->listing, listing, fields, NFIELDS);
  self->listing.make = make_arc;
  self->listing.base.close = close_graph;
  self->which = which;
  if (!open_lists(self, function)) {
    close_graph(&self->listing.base);
    return pf_no_memory(error);
  }
  *reader = &self->listing.base;
  return PF_OK;
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
