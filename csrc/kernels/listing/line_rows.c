/*
** line_rows.c - the readers of the source lines of a profile, by weight or by
** file and line. A reader computes all rows when it is opened.
*/

#include "kernels/listing/row_fill.h"
#include "kernels/base/order.h"

enum {
  FILE_NAME,
  LINE,
  COUNT,
  SELF,
  SHARE,
  FUNCTION,
  CALLS,
  NFIELDS
};

static const pf_field fields[NFIELDS] = {
    {"file", PF_NAME, "the source file; missing: unknown"},
    {"line", PF_INT, "the line; missing: unknown"},
    {"count", PF_INT, "samples"},
    {"self", PF_INT, "spent on the line, ns"},
    {"self_share", PF_NUM, "self as a part of the whole"},
    {"function", PF_NAME, "the function it belongs to"},
    {"calls", PF_INT, "of the function that begins on it"},
};

typedef struct line_row {
  uint32_t file, line, function;
  bool has_calls;
  int64_t calls, count, self;
} line_row;

typedef struct line_reader {
  listing_reader listing;
  line_row *rows;
  size_t count, at;
  double total;
} line_reader;


/* Compare by file, line and function; `file` is the rank of the file name. */
static int by_location (const void *left, const void *right) {
  const line_row *a = left, *b = right;
  if (a->file != b->file)
    return a->file < b->file ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return a->function < b->function ? -1 : a->function > b->function;
}


static int by_weight (const void *left, const void *right) {
  const line_row *a = left, *b = right;
  if (a->self != b->self)
    return a->self > b->self ? -1 : 1;
  return by_location(left, right);
}


/* Sort the rows. Ids of file names are replaced by their ranks meanwhile; the
   unknown file comes last. */
static pf_status sort_rows (line_reader *self,
                            int (*order)(const void *, const void *)) {
  const pf_dictionary *dictionary = self->listing.base.dictionary;
  const uint32_t names = pf_names_count(dictionary);
  uint32_t *ranks = malloc(((size_t)names + 1) * sizeof *ranks);
  uint32_t *numbers = malloc(((size_t)names + 1) * sizeof *numbers);
  const bool done = ranks != NULL && numbers != NULL && self->count > 0 &&
                    pf_rank_names(dictionary, ranks, names) == PF_OK;
  if (done) {
    for (uint32_t i = 0; i < names; i++)
      numbers[ranks[i]] = i;
    for (size_t i = 0; i < self->count; i++)
      if (self->rows[i].file != PF_NO_NAME)
        self->rows[i].file = ranks[self->rows[i].file];
    qsort(self->rows, self->count, sizeof *self->rows, order);
    for (size_t i = 0; i < self->count; i++)
      if (self->rows[i].file != PF_NO_NAME)
        self->rows[i].file = numbers[self->rows[i].file];
  }
  free(ranks);
  free(numbers);
  return done || self->count == 0 ? PF_OK : PF_ENOMEM;
}


static bool make_line (listing_reader *reader, pf_batch *batch) {
  line_reader *self = (line_reader *)reader;
  if (self->at == self->count)
    return false;
  const line_row *row = &self->rows[self->at++];
  put_name(batch, FILE_NAME, row->file);
  pf_put_int(&batch->columns[LINE], batch->rows, row->line,
             row->file != PF_NO_NAME);
  put_int(batch, COUNT, row->count);
  put_int(batch, SELF, row->self);
  put_num(batch, SHARE, (double)row->self / self->total);
  put_name(batch, FUNCTION, listing_name(&reader->listing, row->function));
  if (batch->ncolumns > CALLS)
    pf_put_int(&batch->columns[CALLS], batch->rows, row->calls, row->has_calls);
  return true;
}


/* Add rows of the lines with a weight; returns how many. */
static size_t add_lines (line_reader *self) {
  const pf_flow *flow = self->listing.listing.flow;
  const pf_graph *graph = flow->graph;
  /* Column count has the weights of the metric itself if its dimension is not
     seconds, else the samples. */
  const size_t counts =
      flow->metric < graph->nmetrics && graph->metrics[flow->metric].rate > 0
          ? flow->metric
          : 0;
  size_t count = 0;
  for (size_t i = 0; i < graph->nline_rows; i++) {
    const pf_graph_line *line = &graph->line_rows[i];
    if (!pf_flow_in_flat(flow, line->function))
      continue;
    line_row *row = &self->rows[count++];
    *row = (line_row){.file = line->file,
                      .line = line->line,
                      .function = line->function,
                      .count = line->weights[counts],
                      .self = line->weights[flow->metric]};
  }
  return count;
}


/* Append a row for each function that was called; returns how many. */
static size_t add_calls (line_reader *self) {
  const pf_graph *graph = self->listing.listing.flow->graph;
  line_row *rows = self->rows + self->count;
  size_t count = 0;
  for (size_t i = 0; i < graph->nfunctions; i++)
    if (pf_graph_file(graph, i) != PF_NO_NAME &&
        (graph->calls[i] != 0 || graph->self_calls[i] != 0))
      rows[count++] = (line_row){.file = pf_graph_file(graph, i),
                                 .line = pf_graph_first_line(graph, i),
                                 .function = (uint32_t)i,
                                 .has_calls = true,
                                 .calls = graph->calls[i]};
  return count;
}


/* Merge neighbours of one file, line and function. */
static void merge_rows (line_reader *self) {
  size_t kept = 0;
  for (size_t i = 0; i < self->count; i++) {
    const line_row *row = &self->rows[i];
    line_row *last = kept == 0 ? NULL : &self->rows[kept - 1];
    if (last == NULL || by_location(last, row) != 0) {
      self->rows[kept++] = *row;
      continue;
    }
    last->calls = pf_add(last->calls, row->calls);
    last->count = pf_add(last->count, row->count);
    last->self = pf_add(last->self, row->self);
    last->has_calls |= row->has_calls;
  }
  self->count = kept;
}


static void close_lines (pf_reader *reader) {
  free(((line_reader *)reader)->rows);
  free(reader);
}


static pf_status open_lines (const pf_listing *listing, bool annotations,
                             pf_reader **reader, pf_error *error) {
  pf_graph *const graph = listing->flow->graph;
  if (pf_graph_locate(graph) != PF_OK)
    return pf_no_memory(error);
  line_reader *const self =
      listing_new(sizeof *self, listing, fields, annotations ? NFIELDS : CALLS,
                  make_line, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->listing.base.close = close_lines;
  self->total = listing->flow->total > 0 ? listing->flow->total : 1;
  self->rows =
      malloc((graph->nline_rows + graph->nfunctions + 1) * sizeof *self->rows);
  pf_status status = self->rows == NULL ? PF_ENOMEM : PF_OK;
  if (status == PF_OK) {
    self->count = add_lines(self);
    if (annotations)
      self->count += add_calls(self);
    status = sort_rows(self, annotations ? by_location : by_weight);
    if (annotations)
      merge_rows(self);
  }
  return pf_reader_opened(&self->listing.base,
                          status == PF_OK ? PF_OK : pf_no_memory(error),
                          reader);
}


pf_status pf_listing_lines (const pf_listing *listing, pf_reader **reader,
                            pf_error *error) {
  return open_lines(listing, false, reader, error);
}


pf_status pf_listing_annotations (const pf_listing *listing, pf_reader **reader,
                                  pf_error *error) {
  return open_lines(listing, true, reader, error);
}
