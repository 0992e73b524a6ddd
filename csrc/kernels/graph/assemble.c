/*
** assemble.c - build the call graph of a profile from the tables of a trace.
**
** Function i is symbol i; after them come pseudo functions, for addresses in no
** symbol.
*/

#include "kernels/graph/assemble.h"

#include "kernels/graph/attribute.h"
#include "kernels/graph/gprof.h"
#include "kernels/graph/line_weights.h"
#include "kernels/graph/address_index.h"
#include "kernels/graph/histograms.h"
#include "kernels/graph/count_arcs.h"
#include "model/dictionary/names.h"


/* If no symbol is marked as a function, mark all of them. */
static void mark_callable (pf_graph *graph) {
  for (size_t i = 0; i < graph->nfunctions; i++)
    if ((graph->flags[i] & PF_FUNCTION_CALLABLE) != 0)
      return;
  for (size_t i = 0; i < graph->nfunctions; i++)
    graph->flags[i] |= PF_FUNCTION_CALLABLE;
}


/* Add a function for each symbol, and open the index of their ranges. */
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
  }
  if (!pf_index_open(index, ranges, assembly->bias))
    return pf_refuse(error,
                     "the load bias moves symbols past the last address");
  if (pf_graph_reserve(graph, count) != PF_OK)
    return pf_no_memory(error);
  for (size_t i = 0; i < count; i++) {
    graph->names[i] = symbols[i].name;
    graph->addresses[i] = symbols[i].start + assembly->bias;
    graph->flags[i] =
        (uint8_t)((symbols[i].is_global ? 0 : PF_FUNCTION_LOCAL) |
                  (symbols[i].is_function ? PF_FUNCTION_CALLABLE : 0));
  }
  graph->nfunctions = count;
  mark_callable(graph);
  return PF_OK;
}


/* Attribute the histogram to functions and source lines in one scan. */
static pf_status add_with_lines (const pf_assembly *assembly,
                                 pf_attribution *attribution,
                                 pf_line_weights *lines, pf_error *error) {
  if (pf_line_weights_open(lines, attribution, assembly->symbols,
                           assembly->bias) != PF_OK)
    return pf_no_memory(error);
  pf_attribution both = *attribution;
  both.observe = pf_line_weights_bin;
  both.context = lines;
  const pf_status status =
      pf_attribute_histogram(&both, assembly->histogram, error);
  if (status != PF_OK)
    return status;
  return pf_line_weights_finish(lines) == PF_OK ? PF_OK : pf_no_memory(error);
}


static pf_status add_as_gprof (pf_graph *graph, const pf_assembly *assembly,
                               const pf_address_index *index,
                               pf_histograms *sets, pf_error *error) {
  if (assembly->sets == NULL)
    return pf_refuse(error, "gprof's arithmetic needs the histograms' headers");
  const pf_status status = pf_gprof_check(sets, error);
  if (status != PF_OK)
    return status;
  return pf_gprof_histogram(graph, index, sets, assembly->histogram, error);
}


static pf_status add_weights (pf_graph *graph, const pf_assembly *assembly,
                              pf_attribution *attribution, pf_histograms *sets,
                              pf_error *error) {
  pf_line_weights lines;
  attribution->units = sets->has_units ? sets : NULL;
  if (assembly->histogram == NULL)
    return PF_OK;
  if (graph->facts.compat)
    return add_as_gprof(graph, assembly, attribution->index, sets, error);
  if (!assembly->lines || assembly->symbols == NULL)
    return pf_attribute_histogram(attribution, assembly->histogram, error);
  const pf_status status = add_with_lines(assembly, attribution, &lines, error);
  pf_line_weights_close(&lines);
  return status;
}


/* Look up the files and lines in which functions begin. */
static pf_status find_lines (pf_graph *graph, const pf_assembly *assembly) {
  if (assembly->symbols == NULL || !assembly->symbols->facts.has_lines)
    return PF_OK;
  if (pf_symbols_read_lines(assembly->symbols) != PF_OK ||
      pf_graph_add_locations(graph) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    pf_line_row row;
    if ((graph->flags[i] & PF_FUNCTION_PSEUDO) == 0 &&
        pf_symbols_line(assembly->symbols, graph->addresses[i] - assembly->bias,
                        &row)) {
      graph->files[i] = row.file;
      graph->lines[i] = row.line;
    }
  }
  return PF_OK;
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
    status = add_weights(graph, assembly, &attribution, sets, error);
  if (status == PF_OK && assembly->arcs != NULL)
    status = pf_count_arcs(&attribution, assembly->arcs, error);
  if (status == PF_OK &&
      (pf_graph_name_pseudo(graph) != PF_OK ||
       pf_graph_finish(graph) != PF_OK || find_lines(graph, assembly) != PF_OK))
    status = pf_no_memory(error);
  return status;
}


/* Read the sets and add the metrics that they and the histogram give. */
static pf_status add_metrics (pf_graph *graph, const pf_assembly *assembly,
                              pf_histograms *sets, pf_error *error) {
  pf_status status = PF_OK;
  if (assembly->sets != NULL)
    status = pf_histograms_read(sets, assembly->sets, error);
  pf_histograms_facts(sets, graph->dictionary, &graph->facts);
  if (status != PF_OK || assembly->compat)
    return status;
  if (assembly->histogram != NULL)
    return pf_attribution_metrics(graph, assembly->histogram, sets, error);
  pf_graph_metric(graph, "samples", "count");
  return PF_OK;
}


pf_status pf_assemble (pf_graph *graph, const pf_assembly *assembly,
                       pf_dictionary *dictionary, pf_error *error) {
  pf_histograms sets = {0};
  pf_graph_open(graph, dictionary);
  graph->facts.compat = assembly->compat;
  pf_status status = add_metrics(graph, assembly, &sets, error);
  if (status == PF_OK)
    status = fill(graph, assembly, &sets, error);
  pf_histograms_close(&sets);
  return status;
}
