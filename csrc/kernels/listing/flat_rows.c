/*
** flat_rows.c - the reader of the flat profile.
*/

#include <string.h>

#include "kernels/listing/row_fill.h"
#include "kernels/listing/rank.h"

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

#define NUNITS (sizeof units / sizeof *units)

typedef struct flat_reader {
  listing_reader listing;
  const uint32_t *functions; /* in order; the flow's, or `ranked` */
  uint32_t *ranked;          /* owned; NULL if the flow has the order */
  size_t count, at;
  uint32_t kind;
  double total;      /* never 0 */
  double cumulative; /* self time of the rows so far */
  double unit;       /* of the columns per call: units in a second */
  /* Values of the functions of a batch: */
  double own[PF_BATCH_ROWS], child[PF_BATCH_ROWS];
  int64_t calls[PF_BATCH_ROWS];
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


/* {====== Columns ====== */

/* The values of a column, or NULL if it was not requested. */
static double *nums_of (const pf_batch *batch, size_t column) {
  return batch->columns[column].nums;
}


static int64_t *ints_of (const pf_batch *batch, size_t column) {
  return batch->columns[column].ints;
}


/* Make a column missing for functions without callers. */
static void clear_uncalled (const flat_reader *self, pf_batch *batch,
                            size_t column) {
  for (size_t i = 0; i < batch->rows; i++)
    if (self->calls[i] == 0)
      pf_set_missing(&batch->columns[column], i);
}


static void fill_calls (const flat_reader *self, pf_batch *batch) {
  int64_t *const calls = ints_of(batch, CALLS);
  if (calls == NULL)
    return;
  memcpy(calls, self->calls, batch->rows * sizeof *calls);
  clear_uncalled(self, batch, CALLS);
}


/* Fill in time per call, in the unit of the table; `child` may be NULL. */
static void fill_per_call (const flat_reader *self, pf_batch *batch,
                           size_t column, const double *child) {
  const double second = self->listing.listing.flow->per_second;
  double *const times = nums_of(batch, column);
  if (times == NULL)
    return;
  for (size_t i = 0; i < batch->rows; i++) {
    const double time = self->own[i] + (child == NULL ? 0 : child[i]);
    times[i] = self->unit * time / second / (double)self->calls[i];
  }
  clear_uncalled(self, batch, column);
}


/* Fill in a share of the total, times `factor`: gprof multiplies by 100 before
   it divides. */
static void fill_share (const flat_reader *self, pf_batch *batch, size_t column,
                        double factor, const double *child) {
  double *const shares = nums_of(batch, column);
  if (shares == NULL)
    return;
  for (size_t i = 0; i < batch->rows; i++)
    shares[i] =
        factor * (self->own[i] + (child == NULL ? 0 : child[i])) / self->total;
}


/* Fill in seconds, and the cumulative seconds of all rows so far. */
static void fill_seconds (flat_reader *self, pf_batch *batch) {
  const double second = self->listing.listing.flow->per_second;
  double *const own = nums_of(batch, SELF_SECONDS);
  double *const sums = nums_of(batch, CUMULATIVE);
  for (size_t i = 0; own != NULL && i < batch->rows; i++)
    own[i] = self->own[i] / second;
  for (size_t i = 0; sums != NULL && i < batch->rows; i++) {
    self->cumulative += self->own[i];
    sums[i] = self->cumulative / second;
  }
}


/* Fill in times in whole units. */
static void fill_time (const flat_reader *self, pf_batch *batch, size_t column,
                       const double *child) {
  const pf_flow *flow = self->listing.listing.flow;
  int64_t *const times = ints_of(batch, column);
  for (size_t i = 0; times != NULL && i < batch->rows; i++)
    if (!listing_whole(flow, self->own[i] + (child == NULL ? 0 : child[i]),
                       &times[i]))
      pf_set_missing(&batch->columns[column], i);
}


static void fill_self (const flat_reader *self, pf_batch *batch,
                       const uint32_t *functions) {
  const pf_flow *flow = self->listing.listing.flow;
  int64_t *const times = ints_of(batch, SELF);
  if (flow->graph->facts.compat)
    fill_time(self, batch, SELF, NULL);
  else
    for (size_t i = 0; times != NULL && i < batch->rows; i++)
      times[i] = flow->graph->weights[flow->metric][functions[i]];
}


static void fill_locations (const flat_reader *self, pf_batch *batch,
                            const uint32_t *functions) {
  const pf_graph *graph = self->listing.listing.flow->graph;
  uint32_t *const files = batch->columns[FILE_NAME].ids;
  int64_t *const lines = ints_of(batch, LINE);
  for (size_t i = 0; i < batch->rows && (files != NULL || lines != NULL); i++) {
    const uint32_t file = pf_graph_file(graph, functions[i]);
    if (files != NULL)
      files[i] = file;
    if (lines != NULL)
      lines[i] = pf_graph_first_line(graph, functions[i]);
    if (file == PF_NO_NAME && files != NULL)
      pf_set_missing(&batch->columns[FILE_NAME], i);
    if (file == PF_NO_NAME && lines != NULL)
      pf_set_missing(&batch->columns[LINE], i);
  }
}

/* }====== */


static pf_status next_flat (pf_reader *reader, pf_batch *batch,
                            pf_error *error) {
  flat_reader *self = (flat_reader *)reader;
  const uint32_t *functions = self->functions + self->at;
  const size_t left = self->count - self->at;
  pf_batch_clear(batch);
  batch->rows = left < PF_BATCH_ROWS ? left : PF_BATCH_ROWS;
  self->at += batch->rows;
  /* The nodes of a batch are far apart in memory; in one short loop the
     cache misses overlap. */
  const pf_flow *flow = self->listing.listing.flow;
  for (size_t i = 0; i < batch->rows; i++) {
    const pf_node *const node = &flow->nodes[functions[i]];
    self->own[i] = node->self;
    self->child[i] = node->child;
    self->calls[i] = node->calls;
  }
  uint32_t *const kinds = batch->columns[KIND].ids;
  uint32_t *const names = batch->columns[FUNCTION].ids;
  for (size_t i = 0; kinds != NULL && i < batch->rows; i++)
    kinds[i] = self->kind;
  for (size_t i = 0; names != NULL && i < batch->rows; i++)
    names[i] = listing_name(&self->listing.listing, functions[i]);
  fill_calls(self, batch);
  fill_self(self, batch, functions);
  fill_time(self, batch, TOTAL, self->child);
  fill_share(self, batch, SELF_SHARE, 1, NULL);
  fill_share(self, batch, TOTAL_SHARE, 1, self->child);
  fill_locations(self, batch, functions);
  int64_t *const calls = ints_of(batch, RECURSIVE);
  for (size_t i = 0; calls != NULL && i < batch->rows; i++)
    calls[i] = flow->graph->self_calls[functions[i]];
  fill_share(self, batch, PERCENT, 100, NULL);
  fill_seconds(self, batch);
  fill_per_call(self, batch, SELF_PER_CALL, NULL);
  fill_per_call(self, batch, TOTAL_PER_CALL, self->child);
  return listing_filled(reader, batch, error);
}


static void close_flat (pf_reader *reader) {
  free(((flat_reader *)reader)->ranked);
  free(reader);
}


/* Use the order of the flow, or compute it. */
static pf_status rank (flat_reader *self) {
  const pf_listing *listing = &self->listing.listing;
  const pf_flow *flow = listing->flow;
  if (flow->flat != NULL && flow->zeros == listing->zeros) {
    self->functions = flow->flat;
    self->count = flow->nflat;
    return PF_OK;
  }
  const pf_status status =
      pf_rank_flat(flow, listing->zeros, &self->ranked, &self->count);
  self->functions = self->ranked;
  return status;
}


pf_status pf_listing_flat (const pf_listing *listing, pf_reader **reader,
                           pf_error *error) {
  flat_reader *self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  listing_open(&self->listing, listing, fields, NFIELDS);
  self->listing.base.next = next_flat;
  self->listing.base.close = close_flat;
  self->total = listing->flow->total > 0 ? listing->flow->total : 1;
  pf_flat_unit(listing->flow, &self->unit);
  self->kind = pf_intern_text(listing->flow->graph->dictionary, "function");
  if (self->kind == PF_NO_NAME || rank(self) != PF_OK) {
    close_flat(&self->listing.base);
    return pf_no_memory(error);
  }
  *reader = &self->listing.base;
  return PF_OK;
}
