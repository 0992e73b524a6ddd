/*
** text_rows.c - the reader of the text of the call graph, line by line.
**
** The lines of a function's entry are: its callers, the function itself, its
** callees, a rule. Those of a cycle's entry are: a header, its members, a rule.
*/

#include <stdio.h>

#include "kernels/listing/row_fill.h"
#include "kernels/listing/rank.h"
#include "model/base/switches.h"

/* clang-format off */
enum {
  KIND, LABEL, PERCENT, SELF, CHILDREN, COUNT, OF, NAME, CYCLE, REFERENCE,
  NFIELDS
};

static const pf_field fields[NFIELDS] = {
  {"kind", PF_NAME, "the template of the line"},
  {"label", PF_BYTES, "[1], of the entry's own line"},
  {"percent", PF_NUM, "of all time, with callees"},
  {"self_seconds", PF_NUM, "time in the function"},
  {"children_seconds", PF_NUM, "time in the functions that it called"},
  {"count", PF_INT, "calls"},
  {"of", PF_INT, "of all calls, or calls by itself"},
  {"name", PF_NAME, "the function"},
  {"cycle", PF_INT, "the cycle it is in"},
  {"reference", PF_INT, "its index number"},
};

/* Kinds with a name are followed by three variants of them. */
enum {
  IN_CYCLE = 1, HIDDEN = 2,
  MEMBER = 0, MEMBER_RECURSIVE = 4, CALLER = 8, CALLER_INNER = 12,
  FUNCTION = 16, FUNCTION_RECURSIVE = 20, CALLEE = 24, CALLEE_INNER = 28,
  HEADER = 32, HEADER_RECURSIVE, SPONTANEOUS, OUTSIDE, SEPARATOR, NKINDS
};

static const char *const stems[] = {
  "member", "member_recursive", "caller", "caller_inner", "function",
  "function_recursive", "callee", "callee_inner"
};
static const char *const variants[] = {
  "", "_in_cycle", "_hidden", "_in_cycle_hidden"
};
static const char *const nameless[] = {
  "cycle", "cycle_recursive", "spontaneous", "outside", "separator"
};
/* clang-format on */

#define FETCH_AHEAD 6 /* entries ahead */
#define FETCH_ARCS  4

typedef enum step {
  NEXT_NODE,
  CALLERS,
  OWN,
  CALLEES,
  MEMBERS,
  RULE
} step;

typedef struct text_reader {
  listing_reader listing;
  uint32_t kinds[NKINDS]; /* names */
  bool is_plain;          /* symbols are shown as they are */
  size_t at;              /* the next of the flow's entries */
  double all;             /* time of 100 per cent; never 0 */
  step step;
  size_t node;
  pf_items items; /* arcs or members of the step */
  size_t done;
  char (*labels)[LISTING_LABEL]; /* of the rows of a batch */
} text_reader;


/* Make columns first to last missing. */
static void put_nothing (pf_batch *batch, size_t first, size_t last) {
  for (size_t i = first; i <= last; i++)
    put_missing(batch, i);
}


static void put_seconds (const text_reader *self, pf_batch *batch, double own,
                         double children) {
  const double second = self->listing.listing.flow->per_second;
  put_num(batch, SELF, own / second);
  put_num(batch, CHILDREN, children / second);
}


/* Put the kind, name, cycle and index number of a function. */
static void put_named (const text_reader *self, pf_batch *batch, size_t kind,
                       uint32_t function) {
  const pf_flow *const flow = self->listing.listing.flow;
  const pf_node *const node = &flow->nodes[function];
  uint32_t name = node->name, cycle = 0;
  if (name == PF_NO_NAME || !self->is_plain) {
    /* In a cycle, without an entry, or with a name to be demangled. */
    cycle = pf_flow_cycle(flow, function);
    kind += (cycle != 0 ? IN_CYCLE : 0) +
            (pf_flow_is_printed(flow, function) ? 0 : HIDDEN);
    name = listing_name(&self->listing.listing, function);
  }
  put_int(batch, REFERENCE, node->index);
  put_name(batch, KIND, self->kinds[kind]);
  put_name(batch, NAME, name);
  pf_put_int(&batch->columns[CYCLE], batch->rows, cycle, cycle != 0);
}


/* Put calls, and inner calls if there are any; returns whether there are. */
static bool put_calls (const text_reader *self, pf_batch *batch, size_t node,
                       bool is_blank_when_zero) {
  const pf_flow *flow = self->listing.listing.flow;
  const int64_t calls = flow->nodes[node].calls;
  const int64_t inner = pf_flow_self_calls(flow, node);
  pf_put_int(&batch->columns[COUNT], batch->rows, calls,
             inner != 0 || calls != 0 || !is_blank_when_zero);
  pf_put_int(&batch->columns[OF], batch->rows, inner, inner != 0);
  return inner != 0;
}


static void make_nameless (text_reader *self, pf_batch *batch, size_t kind) {
  put_nothing(batch, LABEL, REFERENCE);
  put_name(batch, KIND, self->kinds[kind]);
}


/* The line of an arc; `function` is its other end, seen from the entry. */
static void make_arc (text_reader *self, pf_batch *batch, const pf_item *item,
                      uint32_t function, size_t kind) {
  const pf_flow *flow = self->listing.listing.flow;
  put_nothing(batch, LABEL, PERCENT);
  put_int(batch, COUNT, item->count);
  if (item->kind == PF_ARC_PLAIN) {
    const uint32_t callee = flow->graph->arcs[item->number].callee;
    put_seconds(self, batch, item->share.self, item->share.child);
    put_int(batch, OF, flow->nodes[pf_flow_node(flow, callee)].calls);
  }
  else {
    put_nothing(batch, SELF, CHILDREN);
    put_missing(batch, OF);
    kind += CALLER_INNER - CALLER;
  }
  if (function != PF_NO_FUNCTION) {
    put_named(self, batch, kind, function);
    return;
  }
  put_name(batch, KIND, self->kinds[OUTSIDE]);
  put_nothing(batch, NAME, REFERENCE);
}


/* Prefetch the node of a function. */
PF_PREFETCHER prefetch_function (const text_reader *self, uint32_t function) {
  __builtin_prefetch(&self->listing.listing.flow->nodes[function]);
}


/* The end of the arcs of a list that are prefetched: most lists are short. */
static inline uint32_t end_of_prefetch (const uint32_t *first) {
  return first[1] - first[0] < FETCH_ARCS ? first[1] : first[0] + FETCH_ARCS;
}


/* Prefetch the callees of an entry, and the arcs from its callers. */
static void prefetch_ends (const text_reader *self, uint32_t function) {
  const pf_graph *graph = self->listing.listing.flow->graph;
  const uint32_t *children = &graph->child_first[function];
  const uint32_t *parents = &graph->parent_first[function];
  for (uint32_t i = children[0]; i < end_of_prefetch(children); i++)
    prefetch_function(self, graph->arcs[i].callee);
  for (uint32_t i = parents[0]; i < end_of_prefetch(parents); i++)
    __builtin_prefetch(&graph->arcs[graph->parents[i]]);
}


/* Prefetch for the next entries, in four steps: their data is spread over
   memory and linked, so each step loads what the step before has made known,
   for an entry that is nearer. */
static void prefetch (const text_reader *self) {
  const pf_flow *flow = self->listing.listing.flow;
  const pf_graph *graph = flow->graph;
  uint32_t next[4];
  if (!PF_FAST(MISSES) || self->at + 4 * FETCH_AHEAD >= flow->nnodes ||
      graph->narcs == 0)
    return;
  for (size_t i = 0; i < 4; i++) {
    next[i] = flow->entries[self->at + (4 - i) * FETCH_AHEAD];
    if (next[i] >= graph->nfunctions)
      return;
  }
  prefetch_function(self, next[0]);
  __builtin_prefetch(&graph->self_calls[next[0]]);
  __builtin_prefetch(&graph->child_first[next[0]]);
  __builtin_prefetch(&graph->parent_first[next[0]]);
  __builtin_prefetch(&graph->arcs[graph->child_first[next[1]]]);
  __builtin_prefetch(&graph->parents[graph->parent_first[next[1]]]);
  prefetch_ends(self, next[2]);
  const uint32_t *const parents = &graph->parent_first[next[3]];
  for (uint32_t i = parents[0]; i < end_of_prefetch(parents); i++) {
    const uint32_t caller = graph->arcs[graph->parents[i]].caller;
    if (caller != PF_NO_FUNCTION)
      prefetch_function(self, caller);
  }
}


/* Go to the next node with an entry; false at the end. */
static bool next_node (text_reader *self) {
  const pf_flow *flow = self->listing.listing.flow;
  for (; self->at < flow->nnodes; self->at++) {
    const size_t node = flow->entries[self->at];
    if (pf_flow_is_printed(flow, node) &&
        (self->listing.listing.zeros || flow->nodes[node].calls != 0 ||
         pf_flow_self_calls(flow, node) != 0 ||
         pf_flow_shown_self(flow, node) != 0 ||
         pf_flow_shown_child(flow, node) != 0))
      break;
  }
  if (self->at == flow->nnodes)
    return false;
  prefetch(self);
  self->node = flow->entries[self->at++];
  self->items.count = self->done = 0;
  self->step = OWN;
  if (self->node < flow->graph->nfunctions) {
    pf_items_callers(&self->items, flow, self->node, false, true);
    self->step = CALLERS;
  }
  return true;
}


/* Put the entry's own line, and list what follows it. */
static void make_own_line (text_reader *self, pf_batch *batch) {
  const pf_flow *flow = self->listing.listing.flow;
  const pf_graph *graph = flow->graph;
  /* The label, the share and the times. */
  const double own = pf_flow_shown_self(flow, self->node);
  const double children = pf_flow_shown_child(flow, self->node);
  char *const label = self->labels[batch->rows];
  const size_t size = listing_label(label, flow->nodes[self->node].index, true);
  pf_put_bytes(&batch->columns[LABEL], batch->rows,
               (pf_bytes){(const uint8_t *)label, size}, true);
  put_num(batch, PERCENT, 100 * (own + children) / self->all);
  put_seconds(self, batch, own, children);
  self->items.count = self->done = 0;
  if (self->node >= graph->nfunctions) {
    const size_t cycle = self->node - graph->nfunctions;
    const bool is_recursive = put_calls(self, batch, self->node, false);
    put_name(batch, KIND,
             self->kinds[is_recursive ? HEADER_RECURSIVE : HEADER]);
    put_missing(batch, NAME);
    put_int(batch, CYCLE, (int64_t)cycle + 1);
    put_int(batch, REFERENCE, flow->nodes[self->node].index);
    pf_items_members(&self->items, flow, cycle);
    self->step = MEMBERS;
    return;
  }
  const bool is_recursive = put_calls(self, batch, self->node, true);
  put_named(self, batch, is_recursive ? FUNCTION_RECURSIVE : FUNCTION,
            (uint32_t)self->node);
  pf_items_callees(&self->items, flow, self->node);
  self->step = CALLEES;
}


/* Put the line of the next arc or member of the step. */
static void make_listed (text_reader *self, pf_batch *batch) {
  const pf_graph *graph = self->listing.listing.flow->graph;
  const pf_item *const item = &self->items.list[self->done++];
  if (self->step == CALLERS)
    make_arc(self, batch, item, graph->arcs[item->number].caller, CALLER);
  else if (self->step == CALLEES)
    make_arc(self, batch, item, graph->arcs[item->number].callee, CALLEE);
  else {
    put_nothing(batch, LABEL, PERCENT);
    put_seconds(self, batch, item->share.self, item->share.child);
    const bool is_recursive = put_calls(self, batch, item->number, false);
    put_named(self, batch, is_recursive ? MEMBER_RECURSIVE : MEMBER,
              item->number);
  }
}


static bool make_line (listing_reader *reader, pf_batch *batch) {
  text_reader *self = (text_reader *)reader;
  if (self->step == NEXT_NODE && !next_node(self))
    return false;
  if (self->step == CALLERS && self->items.count == 0) {
    make_nameless(self, batch, SPONTANEOUS);
    self->step = OWN;
    return true;
  }
  if (self->step != OWN && self->step != RULE &&
      self->done < self->items.count) {
    make_listed(self, batch);
    return true;
  }
  if (self->step == CALLERS || self->step == OWN) {
    make_own_line(self, batch);
    return true;
  }
  make_nameless(self, batch, SEPARATOR);
  self->step = NEXT_NODE;
  return true;
}


static void close_text (pf_reader *reader) {
  text_reader *self = (text_reader *)reader;
  pf_items_close(&self->items);
  free(self->labels);
  free(self);
}


pf_status pf_listing_text (const pf_listing *listing, pf_reader **reader,
                           pf_error *error) {
  const pf_flow *const flow = listing->flow;
  text_reader *const self =
      listing_new(sizeof *self, listing, fields, NFIELDS, make_line, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->listing.base.close = close_text;
  self->is_plain =
      listing->shown == NULL || !flow->graph->dictionary->has_mangled;
  self->all = flow->total_shown > 0 ? flow->total_shown : 1;
  self->labels = malloc(PF_BATCH_ROWS * sizeof *self->labels);
  bool ok = self->labels != NULL && pf_items_open(&self->items, flow) == PF_OK;
  for (size_t i = 0; i < NKINDS && ok; i++) {
    char text[64];
    if (i < HEADER)
      snprintf(text, sizeof text, "%s%s", stems[i / 4], variants[i % 4]);
    else
      snprintf(text, sizeof text, "%s", nameless[i - HEADER]);
    self->kinds[i] = pf_intern_text(flow->graph->dictionary, text);
    ok = self->kinds[i] != PF_NO_NAME;
  }
  return pf_reader_opened(&self->listing.base, ok ? PF_OK : pf_no_memory(error),
                          reader);
}
