/*
** listing_flat.c - the flat profile: what each function cost by itself.
*/

#include "kernels/listing_fill.h"
#include "kernels/rank.h"

/* clang-format off */
enum {
  KIND, FUNCTION, CALLS, SELF, TOTAL, SELF_SHARE, TOTAL_SHARE, FILE_NAME,
  LINE, RECURSIVE, PERCENT, CUMULATIVE, SELF_SECONDS, SELF_PER_CALL,
  TOTAL_PER_CALL, NFIELDS
};

static const pf_field fields[NFIELDS] = {
  {"kind", PF_NAME, "function", false},
  {"function", PF_NAME, "its name", false},
  {"calls", PF_INT, "calls by others", false},
  {"self", PF_INT, "spent in it, ns", false},
  {"total", PF_INT, "spent in it and in what it called, ns", false},
  {"self_share", PF_NUM, "self of all", false},
  {"total_share", PF_NUM, "total of all", false},
  {"file", PF_NAME, "where it begins", false},
  {"line", PF_INT, "where it begins", false},
  {"recursive_calls", PF_INT, "calls by itself", false},
  {"percent", PF_NUM, "self of all, times 100", false},
  {"cumulative_seconds", PF_NUM, "self of this and the rows before", false},
  {"self_seconds", PF_NUM, "spent in it", false},
  {"self_per_call", PF_NUM, "in the unit of the table", false},
  {"total_per_call", PF_NUM, "in the unit of the table", false},
};

/* The prefixes, and how many of the unit are a second. */
static const struct {
  char prefix;
  double per_second;
} units[] = {
  {'T', 1e-12}, {'G', 1e-9}, {'M', 1e-6}, {'K', 1e-3}, {' ', 1},
  {'m', 1e3}, {'u', 1e6}, {'n', 1e9}, {'p', 1e12}, {'f', 1e15}, {'a', 1e18},
};
/* clang-format on */

#define NUNITS (sizeof units / sizeof *units)

typedef struct flat_reader {
  listing_reader listing;
  uint32_t *functions;
  size_t count, at;
  uint32_t kind;
  double total;      /* never 0 */
  double cumulative; /* of the rows made so far */
  double unit;       /* of the columns per call */
} flat_reader;


char pf_flat_unit (const pf_flow *flow, double *per_second) {
  const pf_graph *graph = flow->graph;
  double most = 0;
  for (size_t i = 0; i < graph->nfunctions; i++)
    if (graph->calls[i] != 0) {
      const double each =
          (flow->self[i] + flow->child[i]) / (double)graph->calls[i];
      most = each > most ? each : most;
    }
  size_t unit = 0;
  if (most > 0) {
    most /= flow->per_second;
    while (unit < NUNITS - 1 && !(units[unit].per_second * most >= 1 &&
                                  units[unit].per_second * most < 1000))
      unit++;
  }
  *per_second = units[unit].per_second;
  return units[unit].prefix;
}


static void put_calls (flat_reader *self, pf_batch *batch, size_t function) {
  const pf_flow *flow = self->listing.listing.flow;
  const int64_t calls = flow->graph->calls[function];
  const double own = flow->self[function];
  const double all = own + flow->child[function];
  if (calls == 0) {
    put_missing(batch, CALLS);
    put_missing(batch, SELF_PER_CALL);
    put_missing(batch, TOTAL_PER_CALL);
    return;
  }
  put_int(batch, CALLS, calls);
  put_num(batch, SELF_PER_CALL,
          self->unit * own / flow->per_second / (double)calls);
  put_num(batch, TOTAL_PER_CALL,
          self->unit * all / flow->per_second / (double)calls);
}


static void put_place (pf_batch *batch, const pf_graph *graph,
                       size_t function) {
  put_name(batch, FILE_NAME, graph->files[function]);
  if (graph->files[function] == PF_NO_NAME)
    put_missing(batch, LINE);
  else
    put_int(batch, LINE, graph->lines[function]);
}


static bool make_flat (listing_reader *reader, pf_batch *batch) {
  flat_reader *self = (flat_reader *)reader;
  const pf_flow *flow = reader->listing.flow;
  const pf_graph *graph = flow->graph;
  if (self->at == self->count)
    return false;
  const size_t f = self->functions[self->at++];
  const double own = flow->self[f], all = own + flow->child[f];
  self->cumulative += own;
  put_name(batch, KIND, self->kind);
  put_name(batch, FUNCTION, listing_name(&reader->listing, f));
  put_calls(self, batch, f);
  if (graph->facts.compat)
    put_time(batch, SELF, flow, own);
  else
    put_int(batch, SELF, graph->weights[flow->metric][f]);
  put_time(batch, TOTAL, flow, all);
  put_num(batch, SELF_SHARE, own / self->total);
  put_num(batch, TOTAL_SHARE, all / self->total);
  put_place(batch, graph, f);
  put_int(batch, RECURSIVE, graph->self_calls[f]);
  put_num(batch, PERCENT, 100 * own / self->total);
  put_num(batch, CUMULATIVE, self->cumulative / flow->per_second);
  put_num(batch, SELF_SECONDS, own / flow->per_second);
  return true;
}


static void close_flat (pf_reader *reader) {
  free(((flat_reader *)reader)->functions);
  free(reader);
}


pf_status pf_listing_flat (const pf_listing *listing, pf_reader **reader,
                           pf_error *error) {
  flat_reader *self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  listing_open(&self->listing, listing, fields, NFIELDS);
  self->listing.make = make_flat;
  self->listing.base.close = close_flat;
  self->total = listing->flow->total > 0 ? listing->flow->total : 1;
  pf_flat_unit(listing->flow, &self->unit);
  self->kind = pf_intern_text(listing->flow->graph->dictionary, "function");
  if (self->kind == PF_NO_NAME ||
      pf_rank_flat(listing->flow, listing->zeros, &self->functions,
                   &self->count) != PF_OK) {
    close_flat(&self->listing.base);
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  }
  *reader = &self->listing.base;
  return PF_OK;
}
