/*
** graph.c - the metrics and functions of a call graph while it is built; its
** arcs, and the end of building it, are in arcs.c.
**
** Pseudo functions follow all others, in the order of their ids in a table of
** their addresses, which is freed when the graph is finished.
*/

#include "model/graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"


void pf_graph_open (pf_graph *graph, pf_dictionary *dictionary) {
  memset(graph, 0, sizeof *graph);
  graph->dictionary = dictionary;
  pf_id_table_init(&graph->pseudo);
  graph->facts.same_rates = true;
  graph->facts.is_seconds = true;
  graph->facts.dimension = PF_NO_NAME;
  graph->facts.abbreviation = PF_NO_NAME;
}


void pf_graph_close (pf_graph *graph) {
  free(graph->names);
  free(graph->addresses);
  free(graph->files);
  free(graph->lines);
  free(graph->flags);
  for (size_t i = 0; i < PF_MAX_METRICS; i++)
    free(graph->weights[i]);
  free(graph->ticks);
  free(graph->even_ticks);
  free(graph->right_ticks);
  free(graph->calls);
  free(graph->self_calls);
  free(graph->child_first);
  free(graph->arcs);
  free(graph->parent_first);
  free(graph->parents);
  free(graph->input_numbers);
  free(graph->line_rows);
  pf_id_table_free(&graph->pseudo);
  memset(graph, 0, sizeof *graph);
}


size_t pf_graph_metric (pf_graph *graph, const char *name, const char *unit) {
  pf_metric *const metric = &graph->metrics[graph->nmetrics];
  *metric = (pf_metric){.dimension = PF_NO_NAME, .abbreviation = PF_NO_NAME};
  snprintf(metric->name, sizeof metric->name, "%s", name);
  snprintf(metric->unit, sizeof metric->unit, "%s", unit);
  return graph->nmetrics++;
}


void pf_graph_copy_metrics (pf_graph *graph, const pf_graph *other) {
  graph->nmetrics = other->nmetrics;
  memcpy(graph->metrics, other->metrics,
         other->nmetrics * sizeof *other->metrics);
}


/* Reserves more than requested, because pseudo functions may follow, and the
   first of them must not copy all arrays. */
pf_status pf_graph_reserve (pf_graph *graph, size_t count) {
  const size_t needed = graph->nfunctions + count;
  if (needed <= graph->functions_capacity)
    return PF_OK;
  if (needed >= PF_NO_FUNCTION / 2)
    return PF_ENOMEM;
  size_t capacity = graph->functions_capacity + graph->functions_capacity / 2;
  if (capacity < needed)
    capacity = needed + needed / 16 + 64;
  const size_t before = graph->functions_capacity;
  bool done = pf_widen(&graph->names, before, capacity) &&
              pf_widen(&graph->addresses, before, capacity) &&
              pf_widen(&graph->flags, before, capacity);
  for (size_t i = 0; done && i < graph->nmetrics; i++)
    done = pf_widen(&graph->weights[i], before, capacity);
  if (done && graph->facts.compat)
    done = pf_widen(&graph->ticks, before, capacity) &&
           pf_widen(&graph->even_ticks, before, capacity) &&
           pf_widen(&graph->right_ticks, before, capacity);
  if (!done)
    return PF_ENOMEM;
  graph->functions_capacity = capacity;
  return PF_OK;
}


uint32_t pf_graph_function (pf_graph *graph, uint32_t name, uint64_t address,
                            uint8_t flags) {
  if (graph->nfunctions == graph->functions_capacity &&
      pf_graph_reserve(graph, 64) != PF_OK)
    return PF_NO_FUNCTION;
  const uint32_t number = (uint32_t)graph->nfunctions++;
  graph->names[number] = name;
  graph->addresses[number] = address;
  graph->flags[number] = flags;
  return number;
}


uint32_t pf_graph_pseudo (pf_graph *graph, uint64_t address) {
  uint32_t id;
  if ((graph->nfunctions == graph->functions_capacity &&
       pf_graph_reserve(graph, 64) != PF_OK) ||
      pf_id_table_words(&graph->pseudo, &address, 1, &id) != PF_OK)
    return PF_NO_FUNCTION;
  if (id < graph->npseudo)
    return (uint32_t)(graph->nfunctions - graph->npseudo) + id;
  graph->npseudo++;
  return pf_graph_function(graph, PF_NO_NAME, address, PF_FUNCTION_PSEUDO);
}


pf_status pf_graph_locate (pf_graph *graph) {
  const size_t n = graph->nfunctions;
  if (graph->files != NULL || graph->symbols == NULL ||
      !graph->symbols->facts.has_lines)
    return PF_OK;
  uint32_t *const files = pf_array(n, sizeof *files);
  uint32_t *const lines = pf_array_of_zeros(n, sizeof *lines);
  if (files == NULL || lines == NULL ||
      pf_symbols_read_lines(graph->symbols) != PF_OK) {
    free(files);
    free(lines);
    return PF_ENOMEM;
  }
  for (size_t i = 0; i < n; i++) {
    pf_line_row row;
    files[i] = PF_NO_NAME;
    if ((graph->flags[i] & PF_FUNCTION_PSEUDO) == 0 &&
        pf_symbols_line(graph->symbols, graph->addresses[i] - graph->bias,
                        &row)) {
      files[i] = row.file;
      lines[i] = row.line;
    }
  }
  graph->files = files;
  graph->lines = lines;
  return PF_OK;
}


pf_status pf_graph_name_pseudo (pf_graph *graph) {
  for (size_t i = graph->nfunctions - graph->npseudo; i < graph->nfunctions;
       i++) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, graph->addresses[i]);
    graph->names[i] = pf_intern_text(graph->dictionary, text);
    if (graph->names[i] == PF_NO_NAME)
      return PF_ENOMEM;
  }
  return PF_OK;
}
