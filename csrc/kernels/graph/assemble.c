/*
** assemble.c - build the call graph of a profile from the tables of a trace.
**
** Function i is symbol i; after them come pseudo functions, for addresses in no
** symbol.
*/

#include "kernels/graph/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/graph/attribute.h"
#include "kernels/graph/gprof.h"
#include "model/dictionary/names.h"
#include "kernels/base/pipeline.h"
#include "model/base/memory.h"

enum {
  FROM,
  TO,
  COUNT,
  NWANTS
};

static const pf_want wants[NWANTS] = {
    {"from", PF_ADDR, true},
    {"to", PF_ADDR, true},
    {"count", PF_INT, true},
};


/* Add a function for each symbol, and open the index of their ranges. If no
   symbol is marked as a function, all count as functions. */
static pf_status add_functions (pf_graph *graph, const pf_assembly *assembly,
                                pf_address_index *index, pf_error *error) {
  static const pf_ranges none = {0};
  size_t count = 0;
  const pf_symbol *symbols = NULL;
  const pf_ranges *ranges = &none;
  if (assembly->symbols != NULL) {
    symbols = assembly->symbols->all;
    count = assembly->symbols->count;
    ranges = &assembly->symbols->ranges;
    graph->facts.by_line = assembly->symbols->by_line;
  }
  if (!pf_index_open(index, ranges, assembly->bias))
    return pf_refuse(error,
                     "the load bias moves symbols past the last address");
  if (pf_graph_reserve(graph, count) != PF_OK)
    return pf_no_memory(error);
  bool has_functions = false;
  for (size_t i = 0; i < count && !has_functions; i++)
    has_functions = symbols[i].is_function;
  for (size_t i = 0; i < count; i++) {
    graph->names[i] = symbols[i].name;
    graph->addresses[i] = symbols[i].start + assembly->bias;
    graph->flags[i] = (uint8_t)((symbols[i].is_global ? 0 : PF_FUNCTION_LOCAL) |
                                (symbols[i].is_function || !has_functions
                                     ? PF_FUNCTION_CALLABLE
                                     : 0));
  }
  graph->nfunctions = count;
  return PF_OK;
}


#define NO_ROW UINT32_MAX

struct line_range {
  uint64_t start, end;
  uint32_t row; /* of the line table, or NO_ROW */
};

/*
** The weights of source lines. Functions and the rows of the line table are two
** sorted lists of ranges. A sweep over both cuts the code into ranges that lie
** in at most one function and one row. A second graph, which has a function for
** each of these ranges, accumulates the weights, by the rules of attribute.h.
*/
typedef struct line_weights {
  const pf_attribution *functions; /* borrowed */
  const pf_line_row *table;        /* the line table, borrowed */
  size_t table_rows;
  struct line_range *ranges; /* each in at most one function and one row */
  size_t nranges, ranges_capacity;
  pf_ranges lookup;           /* finds the range of an address */
  pf_address_index index;     /* the same without a bias */
  pf_graph cells;             /* its "function" i is range i */
  pf_attribution attribution; /* to the cells */
} line_weights;


static bool add_range (line_weights *lines, uint64_t start, uint64_t end,
                       uint32_t row) {
  if (!pf_grow(&lines->ranges, &lines->ranges_capacity, lines->nranges + 1))
    return false;
  lines->ranges[lines->nranges++] = (struct line_range){start, end, row};
  return true;
}


/* Cut the functions and the line table into ranges. */
static bool sweep (line_weights *lines, uint64_t bias) {
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


/* Compute the ranges of `functions` and the line table of `symbols`, which are
   borrowed; `bias` is added to addresses of the table. PF_ENOMEM; close it also
   after a failure. */
static pf_status open_lines (line_weights *lines,
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


/* `observe` of a pf_attribution, with line_weights as context. */
static pf_status attribute_to_lines (void *context, uint64_t low, uint64_t high,
                                     const int64_t *weights) {
  line_weights *lines = context;
  return pf_attribute_bin(&lines->attribution, low, high, weights);
}


/* Set `line` to the file, line, function and weights of range or gap `cell`. */
static pf_status set_line (const line_weights *lines, uint32_t cell,
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


/* Set line_rows of the graph of the functions. PF_ENOMEM. */
static pf_status finish_lines (line_weights *lines) {
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


static void close_lines (line_weights *lines) {
  pf_ranges_close(&lines->lookup);
  pf_graph_close(&lines->cells);
  pf_shared_bins_free(&lines->attribution.shared);
  free(lines->ranges);
  memset(lines, 0, sizeof *lines);
}


static pf_status attribute_weights (pf_graph *graph,
                                    const pf_assembly *assembly,
                                    pf_attribution *attribution,
                                    pf_histograms *sets, pf_error *error) {
  line_weights lines;
  attribution->units = sets->has_units ? sets : NULL;
  if (assembly->histogram == NULL)
    return PF_OK;
  if (graph->facts.compat && assembly->sets == NULL)
    return pf_refuse(error, "gprof's arithmetic needs the histograms' headers");
  if (graph->facts.compat) {
    const pf_status status = pf_gprof_check(sets, error);
    return status != PF_OK ? status
                           : pf_gprof_histogram(graph, attribution->index, sets,
                                                assembly->histogram, error);
  }
  if (!assembly->lines || assembly->symbols == NULL)
    return pf_attribute_histogram(attribution, assembly->histogram, error);
  /* Attribute the histogram to functions and source lines in one scan. */
  pf_status status =
      open_lines(&lines, attribution, assembly->symbols, assembly->bias);
  pf_attribution both = *attribution;
  both.observe = attribute_to_lines;
  both.context = &lines;
  if (status != PF_OK)
    status = pf_no_memory(error);
  else
    status = pf_attribute_histogram(&both, assembly->histogram, error);
  if (status == PF_OK && finish_lines(&lines) != PF_OK)
    status = pf_no_memory(error);
  close_lines(&lines);
  return status;
}


/* The symbols at the two ends of an arc, or UINT32_MAX; later the functions. */
typedef struct arc_ends {
  uint32_t caller, callee; /* callee PF_NO_FUNCTION: the arc is dropped */
} arc_ends;

typedef struct arc_counter {
  const pf_attribution *attribution;
  uint32_t *entries; /* by symbol: its function; NULL for exact
                        profiles */
} arc_counter;


/* The function of an address; `symbol` is the one that contains the address, or
   UINT32_MAX. */
static uint32_t function_of (const arc_counter *c, uint64_t address,
                             uint32_t symbol) {
  if (symbol != UINT32_MAX)
    return symbol;
  return pf_function_at(
      c->attribution, pf_index_before(c->attribution->index, address), address);
}


/* Replace the symbols at both ends by functions. */
static pf_status find_ends (const arc_counter *c, const pf_pull *pull,
                            size_t row, arc_ends *ends) {
  if (c->entries != NULL) {
    if (ends->caller == UINT32_MAX || ends->callee == UINT32_MAX)
      ends->callee = PF_NO_FUNCTION;
    else
      ends->callee = c->entries[ends->callee];
    return PF_OK;
  }
  const uint64_t from = pull->columns[FROM]->addrs[row];
  if (from != 0 && ends->caller != UINT32_MAX && ends->callee != UINT32_MAX)
    return PF_OK;
  const pf_address_index *index = c->attribution->index;
  const uint32_t caller = ends->caller;
  ends->callee = function_of(c, pull->columns[TO]->addrs[row], ends->callee);
  ends->caller = PF_NO_FUNCTION;
  if (ends->callee == PF_NO_FUNCTION)
    return PF_ENOMEM;
  const size_t range = pf_index_before(index, from);
  const bool is_outside =
      index->count != 0 && (range == PF_NO_RANGE || range == index->count - 1);
  if (from == 0 || (caller == UINT32_MAX && is_outside))
    return PF_OK;
  ends->caller = function_of(c, from, caller);
  return ends->caller == PF_NO_FUNCTION ? PF_ENOMEM : PF_OK;
}


/* Set the notes of a batch: the symbols of the callers, and from
   notes[PF_BATCH_ROWS] on the symbols of the callees. */
static void find_symbols (void *context, const pf_pull *pull, uint32_t *notes) {
  const pf_address_index *const index =
      ((const arc_counter *)context)->attribution->index;
  const uint64_t *const from = pull->columns[FROM]->addrs;
  const uint64_t *const to = pull->columns[TO]->addrs;
  const size_t rows = pull->batch.rows;
  for (size_t row = 0, n; row < rows; row += n) {
    n = rows - row < PF_INDEX_AT_ONCE ? rows - row : PF_INDEX_AT_ONCE;
    pf_index_find_all(index, from + row, n, notes + row);
    pf_index_find_all(index, to + row, n, notes + PF_BATCH_ROWS + row);
  }
}


static pf_status count_batch (void *context, const pf_pull *pull,
                              const uint32_t *notes, pf_error *error) {
  const arc_counter *const c = context;
  pf_graph *const graph = c->attribution->graph;
  const size_t rows = pull->batch.rows;
  pf_status status = PF_OK;
  graph->facts.arc_rows += rows;
  for (size_t row = 0; status == PF_OK && row < rows; row++) {
    arc_ends ends = {notes[row], notes[PF_BATCH_ROWS + row]};
    status = find_ends(c, pull, row, &ends);
    if (status == PF_OK && ends.callee != PF_NO_FUNCTION)
      status = pf_graph_arc(graph, ends.caller, ends.callee,
                            pf_pull_int(pull->columns[COUNT], row, 0));
  }
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


/*
** Add all arcs of a reader with the columns from, to (addresses) and count to
** the graph of `attribution`. The reader thread resolves addresses to symbols,
** because each look-up searches a large index; the worker thread counts the
** arcs. The worker looks up addresses in no symbol again, because only it may
** add pseudo functions.
**
** Exact profiles: an address in no symbol becomes the pseudo function of its
** gap; a caller that is 0, or lies before or after all symbols, is outside the
** program. Profiles as gprof computes them (facts.compat of the graph): an arc
** with an end in no symbol is dropped, and a callee that is not marked as a
** function becomes the nearest function before it.
*/
static pf_status count_arcs (const pf_attribution *attribution, pf_reader *arcs,
                             pf_error *error) {
  arc_counter c = {.attribution = attribution};
  const pf_pipeline pipeline = {.wants = wants,
                                .nwants = NWANTS,
                                .notes = 2 * PF_BATCH_ROWS,
                                .prepare = find_symbols,
                                .process = count_batch,
                                .context = &c};
  const pf_graph *const graph = attribution->graph;
  if (graph->facts.compat) {
    /* For each symbol the nearest one, itself or before it, that is marked as a
       function. */
    uint32_t entry = PF_NO_FUNCTION;
    c.entries = pf_array(graph->nfunctions, sizeof *c.entries);
    if (c.entries == NULL)
      return pf_no_memory(error);
    for (size_t i = 0; i < graph->nfunctions; i++) {
      if ((graph->flags[i] & PF_FUNCTION_CALLABLE) != 0)
        entry = (uint32_t)i;
      c.entries[i] = entry;
    }
  }
  const pf_status status = pf_pipeline_run(&pipeline, arcs, error);
  free(c.entries);
  return status;
}


static pf_status fill (pf_graph *graph, const pf_assembly *assembly,
                       pf_histograms *sets, pf_error *error) {
  pf_address_index index;
  pf_attribution attribution = {.graph = graph,
                                .index = &index,
                                .is_partial =
                                    assembly->symbols != NULL &&
                                    assembly->symbols->facts.only_dynamic};
  pf_status status = add_functions(graph, assembly, &index, error);
  if (status == PF_OK)
    status = attribute_weights(graph, assembly, &attribution, sets, error);
  if (status == PF_OK && assembly->arcs != NULL)
    status = count_arcs(&attribution, assembly->arcs, error);
  if (status == PF_OK &&
      (pf_graph_name_pseudo(graph) != PF_OK || pf_graph_finish(graph) != PF_OK))
    status = pf_no_memory(error);
  graph->symbols = assembly->symbols;
  graph->bias = assembly->bias;
  return status;
}


pf_status pf_assemble (pf_graph *graph, const pf_assembly *assembly,
                       pf_dictionary *dictionary, pf_error *error) {
  pf_histograms sets = {0};
  pf_graph_open(graph, dictionary);
  graph->facts.compat = assembly->compat;
  pf_status status = PF_OK;
  if (assembly->sets != NULL)
    status = pf_histograms_read(&sets, assembly->sets, error);
  pf_histograms_facts(&sets, dictionary, &graph->facts);
  /* Add the metrics that the sets and the histogram give. */
  if (status == PF_OK && !assembly->compat && assembly->histogram != NULL)
    status = pf_attribution_metrics(graph, assembly->histogram, &sets, error);
  else if (status == PF_OK && !assembly->compat)
    pf_graph_metric(graph, "samples", "count");
  if (status == PF_OK)
    status = fill(graph, assembly, &sets, error);
  pf_histograms_close(&sets);
  return status;
}
