/*
** line_weights.c - attribute histogram counts to source lines.
**
** Functions and the rows of the line table are two sorted lists of ranges. A
** sweep over both cuts the code into ranges that lie in at most one function
** and one row. A second graph, which has a function for each of these ranges,
** accumulates the weights.
*/

#include "kernels/graph/line_weights.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define NO_ROW UINT32_MAX


struct pf_line_range {
  uint64_t start, end;
  uint32_t row; /* of the line table, or NO_ROW */
};


static bool add_range (pf_line_weights *lines, uint64_t start, uint64_t end,
                       uint32_t row) {
  if (!pf_grow(&lines->ranges, &lines->ranges_capacity, lines->nranges + 1))
    return false;
  lines->ranges[lines->nranges++] = (struct pf_line_range){start, end, row};
  return true;
}


/* Cut the functions and the line table into ranges. */
static bool sweep (pf_line_weights *lines, uint64_t bias) {
  const pf_address_index *functions = lines->functions->index;
  size_t f = 0, r = 0;
  uint64_t at = 0;
  while (f < functions->count || r < lines->table_rows) {
    const pf_line_row *row = r < lines->table_rows ? &lines->table[r] : NULL;
    if (f < functions->count && pf_index_end(functions, f) <= at) {
      f++;
      continue;
    }
    if (row != NULL && row->end + bias <= at) {
      r++;
      continue;
    }
    uint64_t edge = UINT64_MAX;
    bool in_function = false, in_row = false;
    if (f < functions->count) {
      in_function = pf_index_start(functions, f) <= at;
      edge = in_function ? pf_index_end(functions, f)
                         : pf_index_start(functions, f);
    }
    if (row != NULL) {
      in_row = row->start + bias <= at;
      const uint64_t other = (in_row ? row->end : row->start) + bias;
      edge = other < edge ? other : edge;
    }
    if ((in_function || in_row) &&
        !add_range(lines, at, edge, in_row ? (uint32_t)r : NO_ROW))
      return false;
    at = edge;
  }
  return true;
}


pf_status pf_line_weights_open (pf_line_weights *lines,
                                const pf_attribution *functions,
                                pf_symbols *symbols, uint64_t bias) {
  memset(lines, 0, sizeof *lines);
  lines->functions = functions;
  if (pf_symbols_read_lines(symbols) != PF_OK)
    return PF_ENOMEM;
  lines->table = symbols->lines;
  lines->table_rows = symbols->nlines;
  if (!sweep(lines, bias) ||
      pf_ranges_open(&lines->lookup, lines->ranges, sizeof *lines->ranges,
                     lines->nranges) != PF_OK)
    return PF_ENOMEM;
  pf_index_open(&lines->index, &lines->lookup, 0);
  /* A second graph has one function per range, with the same metrics. */
  const pf_graph *graph = lines->functions->graph;
  pf_graph_open(&lines->cells, graph->dictionary);
  pf_graph_copy_metrics(&lines->cells, graph);
  if (pf_graph_reserve(&lines->cells, lines->nranges) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < lines->nranges; i++)
    pf_graph_function(&lines->cells, PF_NO_NAME, lines->ranges[i].start, 0);
  lines->attribution =
      (pf_attribution){.graph = &lines->cells,
                       .index = &lines->index,
                       .is_partial = lines->functions->is_partial};
  return PF_OK;
}


pf_status pf_line_weights_bin (void *context, uint64_t low, uint64_t high,
                               const int64_t *weights) {
  pf_line_weights *lines = context;
  return pf_attribute_bin(&lines->attribution, low, high, weights);
}


/* Set `line` to the file, line, function and weights of range or gap `cell`. */
static pf_status set_line (const pf_line_weights *lines, uint32_t cell,
                           pf_graph_line *line) {
  const pf_attribution *functions = lines->functions;
  const uint64_t address = lines->cells.addresses[cell];
  const bool is_gap = cell >= lines->nranges;
  const uint32_t row = is_gap ? NO_ROW : lines->ranges[cell].row;
  *line = (pf_graph_line){.file = PF_NO_NAME};
  if (row != NO_ROW) {
    line->file = lines->table[row].file;
    line->line = lines->table[row].line;
  }
  line->function = pf_function_at(
      functions, pf_index_before(functions->index, address), address);
  for (size_t i = 0; i < lines->cells.nmetrics; i++)
    line->weights[i] = lines->cells.weights[i][cell];
  return line->function == PF_NO_FUNCTION ? PF_ENOMEM : PF_OK;
}


static int compare_lines (const void *left, const void *right) {
  const pf_graph_line *a = left, *b = right;
  if (a->file != b->file)
    return a->file < b->file ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return a->function < b->function ? -1 : a->function > b->function;
}


static bool has_weight (const pf_graph *cells, size_t cell) {
  for (size_t i = 0; i < cells->nmetrics; i++)
    if (cells->weights[i][cell] != 0)
      return true;
  return false;
}


pf_status pf_line_weights_finish (pf_line_weights *lines) {
  pf_graph *graph = lines->functions->graph;
  const pf_graph *cells = &lines->cells;
  size_t count = 0;
  if (pf_attribution_finish(&lines->attribution) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < cells->nfunctions; i++)
    count += has_weight(cells, i);
  pf_graph_line *rows = malloc((count + 1) * sizeof *rows);
  if (rows == NULL)
    return PF_ENOMEM;
  graph->line_rows = rows;
  count = 0;
  for (size_t i = 0; i < cells->nfunctions; i++)
    if (has_weight(cells, i) &&
        set_line(lines, (uint32_t)i, &rows[count++]) != PF_OK)
      return PF_ENOMEM;
  qsort(rows, count, sizeof *rows, compare_lines);
  /* Merge neighbours of one file, line and function. */
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (kept > 0 && compare_lines(&rows[kept - 1], &rows[i]) == 0)
      for (size_t m = 0; m < PF_MAX_METRICS; m++)
        rows[kept - 1].weights[m] =
            pf_add(rows[kept - 1].weights[m], rows[i].weights[m]);
    else
      rows[kept++] = rows[i];
  graph->nline_rows = kept;
  return PF_OK;
}


void pf_line_weights_close (pf_line_weights *lines) {
  pf_ranges_close(&lines->lookup);
  pf_graph_close(&lines->cells);
  pf_shared_bins_free(&lines->attribution.shared);
  free(lines->ranges);
  memset(lines, 0, sizeof *lines);
}
