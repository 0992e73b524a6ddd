/*
** flat_rows.c - the reader of the flat profile.
*/

#include "kernels/listing/row_fill.h"
#include "kernels/listing/rank.h"
#include "model/base/switches.h"

/* clang-format off */
enum {
  KIND, FUNCTION, CALLS, SELF, TOTAL, SELF_SHARE, TOTAL_SHARE, FILE_NAME,
  LINE, RECURSIVE, PERCENT, CUMULATIVE, SELF_SECONDS, SELF_PER_CALL,
  TOTAL_PER_CALL, NFIELDS
};

static const pf_field fields[NFIELDS] = {
  {"kind", PF_NAME, "function"},
  {"function", PF_NAME, "its name"},
  {"calls", PF_INT, "calls by others"},
  {"self", PF_INT, "time in the function, ns"},
  {"total", PF_INT, "time in it and in what it called, ns"},
  {"self_share", PF_NUM, "self as a part of the whole"},
  {"total_share", PF_NUM, "total as a part of the whole"},
  {"file", PF_NAME, "the file in which it begins"},
  {"line", PF_INT, "the line on which it begins"},
  {"recursive_calls", PF_INT, "calls by itself"},
  {"percent", PF_NUM, "self as a part of the whole, times 100"},
  {"cumulative_seconds", PF_NUM, "self of this row and the rows before"},
  {"self_seconds", PF_NUM, "time in the function"},
  {"self_per_call", PF_NUM, "self per call, unit of the table"},
  {"total_per_call", PF_NUM, "total per call, unit of the table"},
};

/* SI prefixes, and the number of units in a second. */
static const struct {
  char prefix;
  double per_second;
} units[] = {
  {'T', 1e-12}, {'G', 1e-9}, {'M', 1e-6}, {'K', 1e-3}, {' ', 1},
  {'m', 1e3}, {'u', 1e6}, {'n', 1e9}, {'p', 1e12}, {'f', 1e15}, {'a', 1e18},
};
/* clang-format on */

#define NUNITS      (sizeof units / sizeof *units)
#define FETCH_AHEAD 16 /* functions ahead */

typedef struct flat_reader {
  listing_reader listing;
  uint32_t *functions; /* in order */
  size_t count, at;
  uint32_t kind;
  double total;      /* never 0 */
  double cumulative; /* self time of the rows so far */
  double unit;       /* of the columns per call: units in a second */
} flat_reader;


char pf_flat_unit (const pf_flow *flow, double *per_second) {
  double max = flow->max_per_call;
  size_t unit = 0;
  if (max > 0) {
    max /= flow->per_second;
    while (unit < NUNITS - 1 && !(units[unit].per_second * max >= 1 &&
                                  units[unit].per_second * max < 1000))
      unit++;
  }
  *per_second = units[unit].per_second;
  return units[unit].prefix;
}


/* Prefetch the node of a later function, which may lie in two cache lines. */
PF_PREFETCHER prefetch_later (const flat_reader *self, const pf_flow *flow) {
  if (!PF_FAST(MISSES) || self->at + FETCH_AHEAD >= self->count)
    return;
  const uint32_t later = self->functions[self->at + FETCH_AHEAD];
  __builtin_prefetch(&flow->nodes[later]);
  __builtin_prefetch(&flow->nodes[later].name);
}


static bool make_function (listing_reader *reader, pf_batch *batch) {
  flat_reader *const self = (flat_reader *)reader;
  const pf_flow *const flow = reader->listing.flow;
  const pf_graph *const graph = flow->graph;
  pf_column *const columns = batch->columns;
  const size_t row = batch->rows;
  if (self->at == self->count)
    return false;
  prefetch_later(self, flow);
  const uint32_t function = self->functions[self->at++];
  const pf_node *const node = &flow->nodes[function];
  const double both = node->self + node->child;
  const double calls = (double)node->calls;
  const uint32_t file = pf_graph_file(graph, function);
  self->cumulative += node->self;
  put_name(batch, KIND, self->kind);
  put_name(batch, FUNCTION, listing_name(&reader->listing, function));
  pf_put_int(&columns[CALLS], row, node->calls, node->calls != 0);
  if (graph->facts.compat)
    put_time(batch, SELF, flow, node->self);
  else
    put_int(batch, SELF, graph->weights[flow->metric][function]);
  put_time(batch, TOTAL, flow, both);
  put_num(batch, SELF_SHARE, node->self / self->total);
  put_num(batch, TOTAL_SHARE, both / self->total);
  put_name(batch, FILE_NAME, file);
  pf_put_int(&columns[LINE], row, pf_graph_first_line(graph, function),
             file != PF_NO_NAME);
  put_int(batch, RECURSIVE, graph->self_calls[function]);
  /* gprof multiplies by 100 before it divides */
  put_num(batch, PERCENT, 100 * node->self / self->total);
  put_num(batch, CUMULATIVE, self->cumulative / flow->per_second);
  put_num(batch, SELF_SECONDS, node->self / flow->per_second);
  pf_put_num(&columns[SELF_PER_CALL], row,
             self->unit * node->self / flow->per_second / calls,
             node->calls != 0);
  pf_put_num(&columns[TOTAL_PER_CALL], row,
             self->unit * both / flow->per_second / calls, node->calls != 0);
  return true;
}


static void close_flat (pf_reader *reader) {
  free(((flat_reader *)reader)->functions);
  free(reader);
}


pf_status pf_listing_flat (const pf_listing *listing, pf_reader **reader,
                           pf_error *error) {
  const pf_flow *const flow = listing->flow;
  flat_reader *const self =
      listing_new(sizeof *self, listing, fields, NFIELDS, make_function, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->listing.base.close = close_flat;
  self->total = flow->total > 0 ? flow->total : 1;
  pf_flat_unit(flow, &self->unit);
  self->kind = pf_intern_text(flow->graph->dictionary, "function");
  const bool ok = self->kind != PF_NO_NAME &&
                  pf_rank_flat(flow, listing->zeros, &self->functions,
                               &self->count) == PF_OK;
  return pf_reader_opened(&self->listing.base, ok ? PF_OK : pf_no_memory(error),
                          reader);
}
