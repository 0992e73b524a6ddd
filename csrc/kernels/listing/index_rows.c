/*
** index_rows.c - the reader of the index by function name.
**
** gprof prints three columns, each 26 characters wide, names running down. But
** it neither counts the two spaces around an index number nor widens a column
** for a long name, so the columns are seldom aligned.
*/

#include <stdio.h>
#include <string.h>

#include "kernels/listing/row_fill.h"
#include "kernels/listing/rank.h"

enum {
  KIND,
  PAD,
  LABEL,
  NAME,
  FILE_NAME,
  NFIELDS
};

static const pf_field fields[NFIELDS] = {
    {"kind", PF_NAME, "the template of the cell"},
    {"pad", PF_BYTES, "spaces before it"},
    {"label", PF_BYTES, "[1], or (1) when it has no entry"},
    {"name", PF_NAME, "the function or cycle"},
    {"file", PF_NAME, "its source, if it is static and another has its name"},
};

enum {
  CELL,
  CELL_FILE,
  ROW_END,
  NKINDS
};

static const char *const kinds[NKINDS] = {"cell", "cell_file", "row_end"};

#define COLUMNS      3
#define COLUMN_WIDTH 26 /* (80 - 1) / COLUMNS */
#define LABEL_WIDTH  5  /* minimum, with its brackets */

typedef struct index_reader {
  listing_reader listing;
  uint32_t kinds[NKINDS];
  uint32_t *names; /* functions in order; the cycles follow them */
  size_t nnames;
  size_t count, rows;
  size_t row, column;
  size_t width; /* characters of the row, as gprof counts them */
  char (*labels)[LISTING_LABEL];
} index_reader;

static const char spaces[] = "                                        "
                             "                                        ";


/* Whether the cell of a function tells its file: of each static one in gprof's
   index, and otherwise of those that have a name in common with a neighbour. */
static bool tells_file (const index_reader *self, size_t at) {
  const pf_graph *graph = self->listing.listing.flow->graph;
  const uint32_t *const names = graph->names;
  const uint32_t *const order = self->names;
  if (at >= self->nnames || (graph->flags[order[at]] & PF_FUNCTION_LOCAL) == 0)
    return false;
  return graph->facts.compat ||
         (at > 0 && names[order[at]] == names[order[at - 1]]) ||
         (at + 1 < self->nnames && names[order[at]] == names[order[at + 1]]);
}


/* The file that a cell tells, without its folders, or PF_NO_NAME. */
static uint32_t file_of (const index_reader *self, size_t at) {
  const pf_graph *graph = self->listing.listing.flow->graph;
  if (!tells_file(self, at))
    return PF_NO_NAME;
  const size_t node = self->names[at];
  if (pf_graph_file(graph, node) == PF_NO_NAME)
    return PF_NO_NAME;
  const pf_bytes path = pf_name(graph->dictionary, pf_graph_file(graph, node));
  const char *slash = strrchr((const char *)path.at, '/');
  return slash == NULL ? pf_graph_file(graph, node)
                       : listing_text(&self->listing.listing, slash + 1);
}


static uint32_t cycle_name (const index_reader *self, size_t number) {
  char text[40];
  snprintf(text, sizeof text, "<cycle %zu>", number);
  return listing_text(&self->listing.listing, text);
}


/* Put the index number of a node, after as many spaces as gprof prints. */
static void put_label (index_reader *self, pf_batch *batch, size_t node) {
  const pf_flow *flow = self->listing.listing.flow;
  char *label = self->labels[batch->rows];
  const size_t size = listing_label(label, flow->nodes[node].index,
                                    pf_flow_is_printed(flow, node));
  const size_t wanted = self->column * COLUMN_WIDTH + LABEL_WIDTH;
  size_t pad = 0;
  self->width += size;
  if (self->width < wanted) {
    pad = wanted - self->width;
    self->width = wanted;
  }
  pf_put_bytes(&batch->columns[PAD], batch->rows,
               (pf_bytes){(const uint8_t *)spaces, pad}, true);
  pf_put_bytes(&batch->columns[LABEL], batch->rows,
               (pf_bytes){(const uint8_t *)label, size}, true);
}


/* Put the next cell, or after the last one of a row its end. False: there are
   no more rows. */
static bool make_cell (listing_reader *reader, pf_batch *batch) {
  index_reader *self = (index_reader *)reader;
  if (self->row == self->rows)
    return false;
  const size_t at = self->row + self->column * self->rows;
  if (self->column < COLUMNS && at < self->count) {
    const size_t n = self->listing.listing.flow->graph->nfunctions;
    const size_t node =
        at < self->nnames ? self->names[at] : n + at - self->nnames;
    const uint32_t name = node < n ? listing_name(&reader->listing, node)
                                   : cycle_name(self, node - n + 1);
    const uint32_t file = file_of(self, at);
    put_label(self, batch, node);
    put_name(batch, NAME, name);
    put_name(batch, FILE_NAME, file);
    put_name(batch, KIND, self->kinds[file == PF_NO_NAME ? CELL : CELL_FILE]);
    self->width += pf_name(reader->base.dictionary, name).size;
    if (file != PF_NO_NAME)
      self->width += pf_name(reader->base.dictionary, file).size + 3;
    self->column++;
    return true;
  }
  put_name(batch, KIND, self->kinds[ROW_END]);
  for (size_t i = PAD; i <= FILE_NAME; i++)
    put_missing(batch, i);
  self->row++;
  self->column = self->width = 0;
  return true;
}


static void close_index (pf_reader *reader) {
  index_reader *self = (index_reader *)reader;
  free(self->names);
  free(self->labels);
  free(self);
}


pf_status pf_listing_index (const pf_listing *listing, pf_reader **reader,
                            pf_error *error) {
  const pf_flow *const flow = listing->flow;
  index_reader *const self =
      listing_new(sizeof *self, listing, fields, NFIELDS, make_cell, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->listing.base.close = close_index;
  self->labels = malloc(PF_BATCH_ROWS * sizeof *self->labels);
  pf_status status = pf_intern_texts(flow->graph->dictionary, kinds, NKINDS,
                                     self->kinds, error);
  if (status == PF_OK &&
      (self->labels == NULL || pf_rank_index(flow, listing->zeros, &self->names,
                                             &self->nnames) != PF_OK))
    status = pf_no_memory(error);
  self->listing.has_places = false;
  for (size_t i = 0; status == PF_OK && i < self->nnames; i++)
    self->listing.has_places |= tells_file(self, i);
  self->count = self->nnames + flow->cycles.count;
  self->rows = (self->count + COLUMNS - 1) / COLUMNS;
  return pf_reader_opened(&self->listing.base, status, reader);
}
