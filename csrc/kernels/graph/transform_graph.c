/*
** transform_graph.c - keep and drop by fractions that are propagated from
** callers to callees; hide functions in postorder, callees first; group.
*/

#include "kernels/graph/assemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/graph/cycles.h"
#include "model/base/wide.h"
#include "model/base/memory.h"

#define MAX_ARCS 67108864u /* hiding adds at most so many */


/* Copy all functions, without weights. */
static pf_status copy_functions (pf_graph *to, pf_graph *from) {
  const size_t n = from->nfunctions;
  if (pf_graph_locate(from) != PF_OK)
    return PF_ENOMEM;
  to->facts = from->facts;
  pf_graph_copy_metrics(to, from);
  if (pf_graph_reserve(to, n) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    const uint8_t flags =
        (uint8_t)(from->flags[i] & ~(unsigned)PF_FUNCTION_USED);
    if (pf_graph_function(to, from->names[i], from->addresses[i], flags) ==
        PF_NO_FUNCTION)
      return PF_ENOMEM;
  }
  if (from->files == NULL) /* it is not known where functions begin */
    return PF_OK;
  to->files = pf_array(n, sizeof *to->files);
  to->lines = pf_array(n, sizeof *to->lines);
  if (to->files == NULL || to->lines == NULL)
    return PF_ENOMEM;
  memcpy(to->files, from->files, n * sizeof *to->files);
  memcpy(to->lines, from->lines, n * sizeof *to->lines);
  return PF_OK;
}


/* Set the number of samples, for headings: the sum of the first metric. */
static void sum_samples (pf_graph *graph) {
  graph->facts.samples = 0;
  for (size_t i = 0; graph->nmetrics > 0 && i < graph->nfunctions; i++)
    graph->facts.samples = pf_add(graph->facts.samples, graph->weights[0][i]);
}


/* Find the cycles of a graph, and its arcs by callee. */
static pf_status find_cycles (pf_graph *graph, pf_cycles *cycles) {
  const pf_status status = pf_graph_parents(graph);
  return status == PF_OK ? pf_cycles_find(cycles, graph, false) : status;
}


typedef struct narrowing {
  pf_graph *to;
  const pf_graph *from;
  const pf_selection *selection;
  bool *chosen;      /* of each function; with the other members of cycles */
  double *fractions; /* of each function: how much is kept, 0 to 1 */
  double outside;    /* the same of calls from outside the program */
  pf_cycles cycles;
} narrowing;


/* Choose all members of a cycle of which one is in focus. */
static void keep_cycles (narrowing *n) {
  for (size_t i = 0; i < n->cycles.count; i++) {
    bool any = false;
    for (uint32_t f = n->cycles.heads[i]; f != PF_NO_FUNCTION;
         f = n->cycles.next[f])
      any |= n->chosen[f];
    for (uint32_t f = n->cycles.heads[i]; f != PF_NO_FUNCTION;
         f = n->cycles.next[f])
      n->chosen[f] = any;
  }
}


/* Sum the calls of a function from outside its cycle, and those of them that
   are kept. */
static void add_callers (const narrowing *n, uint32_t function, double *calls,
                         double *kept) {
  const pf_graph *const g = n->from;
  for (uint32_t i = g->parent_first[function];
       i < g->parent_first[function + 1]; i++) {
    const pf_arc *const arc = &g->arcs[g->parents[i]];
    if (pf_cycles_has_arc(&n->cycles, arc->caller, function))
      continue;
    *calls += (double)arc->count;
    *kept += (double)arc->count * (arc->caller == PF_NO_FUNCTION
                                       ? n->outside
                                       : n->fractions[arc->caller]);
  }
}


/* Compute the fractions in reverse postorder: callers before callees. Members
   of a cycle are neighbours in the order and inherit together. */
static void propagate_fractions (narrowing *n) {
  const uint32_t *const order = n->cycles.order, *const of = n->cycles.of;
  const double of_chosen = pf_keeps_stack(n->selection, true);
  for (size_t last = n->from->nfunctions; last > 0;) {
    size_t first = last - 1;
    double calls = 0, kept = 0;
    while (first > 0 && of != NULL && of[order[first]] != 0 &&
           of[order[first - 1]] == of[order[first]])
      first--;
    for (size_t i = first; i < last; i++)
      add_callers(n, order[i], &calls, &kept);
    for (size_t i = first; i < last; i++)
      n->fractions[order[i]] = n->chosen[order[i]] ? of_chosen
                               : calls > 0         ? kept / calls
                                                   : n->outside;
    last = first;
  }
}


/* Set what is kept of each weight, as the difference of two rounded running
   sums. */
static void keep_weights (const narrowing *n, size_t metric) {
  long double sum = 0, given = 0;
  for (size_t i = 0; i < n->from->nfunctions; i++) {
    const int64_t weight = n->from->weights[metric][i];
    int64_t *const kept = &n->to->weights[metric][i];
    if (n->fractions[i] == 1 || weight == 0) {
      *kept = weight;
      continue;
    }
    sum += (long double)weight * n->fractions[i];
    const long double rounded = roundl(sum);
    *kept = (int64_t)(rounded - given);
    given = rounded;
  }
}


/* Keep an arc in the fraction of its caller. If the callee itself is in focus,
   its other calls become calls from outside. */
static pf_status keep_arc (const narrowing *n, const pf_arc *arc) {
  const double fraction =
      arc->caller == PF_NO_FUNCTION ? n->outside : n->fractions[arc->caller];
  const int64_t kept =
      fraction == 1 ? arc->count : (int64_t)ceil((double)arc->count * fraction);
  const bool is_chosen = n->chosen[arc->callee];
  pf_status status = PF_OK;
  if (is_chosen && !pf_keeps_stack(n->selection, true))
    return PF_OK;
  if (fraction > 0)
    status = pf_graph_arc(n->to, arc->caller, arc->callee,
                          kept < arc->count ? kept : arc->count);
  if (status == PF_OK && kept < arc->count && is_chosen)
    status = pf_graph_arc(n->to, PF_NO_FUNCTION, arc->callee,
                          arc->count - (fraction > 0 ? kept : 0));
  return status;
}


static pf_status keep_lines (const narrowing *n) {
  const size_t count = n->from->nline_rows;
  if (n->from->line_rows == NULL)
    return PF_OK;
  n->to->line_rows = pf_array(count + 1, sizeof *n->to->line_rows);
  if (n->to->line_rows == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++) {
    pf_graph_line line = n->from->line_rows[i];
    const double fraction = line.function == PF_NO_FUNCTION
                                ? n->outside
                                : n->fractions[line.function];
    for (size_t m = 0; fraction != 1 && m < n->from->nmetrics; m++)
      pf_scaled(line.weights[m], pf_factor_of(fraction), &line.weights[m]);
    if (fraction > 0)
      n->to->line_rows[n->to->nline_rows++] = line;
  }
  return PF_OK;
}


/* Fill `to` with the functions of `from` that are kept. */
static pf_status keep_stacks (pf_graph *to, pf_graph *from,
                              const pf_selection *selection) {
  const size_t count = from->nfunctions;
  narrowing n = {.to = to,
                 .from = from,
                 .selection = selection,
                 .outside = pf_keeps_stack(selection, false)};
  n.chosen = pf_array(count + 1, sizeof *n.chosen);
  n.fractions = pf_array_of_zeros(count + 1, sizeof *n.fractions);
  pf_status status = find_cycles(from, &n.cycles);
  if (n.chosen == NULL || n.fractions == NULL)
    status = PF_ENOMEM;
  if (status == PF_OK)
    status = copy_functions(to, from);
  if (status == PF_OK) {
    for (size_t i = 0; i < count; i++)
      n.chosen[i] = pf_is_chosen(selection, i);
    if (selection->narrowing == PF_FOCUS)
      keep_cycles(&n);
    propagate_fractions(&n);
    for (size_t m = 0; m < from->nmetrics; m++)
      keep_weights(&n, m);
    status = keep_lines(&n);
  }
  for (size_t i = 0; status == PF_OK && i < from->narcs; i++)
    status = keep_arc(&n, &from->arcs[i]);
  if (status == PF_OK)
    status = pf_graph_finish(to);
  pf_cycles_close(&n.cycles);
  free(n.chosen);
  free(n.fractions);
  return status;
}


/* The calls by one hidden function: its own, and those of hidden callees that
   were moved to it. */
typedef struct call_list {
  pf_arc *list;
  uint32_t count;
  size_t capacity;
} call_list;

typedef struct hiding {
  pf_graph *to;
  const pf_graph *from;
  const pf_selection *selection;
  pf_cycles cycles;
  call_list *calls; /* of each function */
  size_t narcs;
} hiding;


static bool is_hidden (const hiding *h, uint32_t function) {
  return function != PF_NO_FUNCTION && pf_hides(h->selection, function);
}


static pf_status add_call (hiding *h, uint32_t caller, uint32_t callee,
                           int64_t count) {
  call_list *const c = &h->calls[caller];
  if (!pf_grow(&c->list, &c->capacity, (size_t)c->count + 1))
    return PF_ENOMEM;
  c->list[c->count++] = (pf_arc){caller, callee, count};
  return PF_OK;
}


/* Whether time and calls of a hidden callee are moved to the caller of an arc.
   They are not moved to a hidden caller of the same cycle. */
static bool is_charged (const hiding *h, const pf_arc *arc) {
  return arc->count > 0 && arc->caller != arc->callee &&
         !(is_hidden(h, arc->caller) &&
           pf_cycles_has_arc(&h->cycles, arc->caller, arc->callee));
}


/* Divide `whole` among the charged callers of a function, in proportion to
   their `calls` in all, and call `give` with each caller's part. */
static pf_status divide (hiding *h, uint32_t function, int64_t calls,
                         int64_t whole, size_t what,
                         pf_status (*give)(hiding *h, uint32_t function,
                                           uint32_t caller, size_t what,
                                           int64_t part)) {
  const pf_graph *const g = h->from;
  long double sum = 0, given = 0;
  pf_status status = PF_OK;
  for (uint32_t i = g->parent_first[function];
       status == PF_OK && i < g->parent_first[function + 1]; i++) {
    const pf_arc *const arc = &g->arcs[g->parents[i]];
    if (!is_charged(h, arc))
      continue;
    sum += (long double)whole * arc->count / calls;
    const long double rounded = roundl(sum);
    if (rounded != given)
      status = give(h, function, arc->caller, what, (int64_t)(rounded - given));
    given = rounded;
  }
  return status;
}


/* Add weight to a caller. The weight of calls from outside the program stays
   with the function. */
static pf_status give_weight (hiding *h, uint32_t function, uint32_t caller,
                              size_t metric, int64_t weight) {
  const uint32_t to = caller == PF_NO_FUNCTION ? function : caller;
  h->to->weights[metric][to] = pf_add(h->to->weights[metric][to], weight);
  return PF_OK;
}


static pf_status give_call (hiding *h, uint32_t function, uint32_t caller,
                            size_t callee, int64_t count) {
  (void)function;
  if (++h->narcs > MAX_ARCS)
    return PF_ELIMIT;
  return is_hidden(h, caller)
             ? add_call(h, caller, (uint32_t)callee, count)
             : pf_graph_arc(h->to, caller, (uint32_t)callee, count);
}


/* Move the weights and calls of a hidden function to its callers; its hidden
   callees have been moved already. Without callers it stays. */
static pf_status hide_one (hiding *h, uint32_t function) {
  const call_list *const list = &h->calls[function];
  const pf_graph *const g = h->from;
  int64_t calls = 0; /* from callers that are charged */
  pf_status status = PF_OK;
  for (uint32_t i = g->parent_first[function];
       i < g->parent_first[function + 1]; i++)
    if (is_charged(h, &g->arcs[g->parents[i]]))
      calls = pf_add(calls, g->arcs[g->parents[i]].count);
  for (uint32_t i = 0; calls == 0 && status == PF_OK && i < list->count; i++)
    status = pf_graph_arc(h->to, function, list->list[i].callee,
                          list->list[i].count);
  if (calls == 0)
    return status;
  for (size_t m = 0; status == PF_OK && m < h->from->nmetrics; m++) {
    const int64_t weight = h->to->weights[m][function];
    h->to->weights[m][function] = 0;
    status = divide(h, function, calls, weight, m, give_weight);
  }
  for (uint32_t i = 0; status == PF_OK && i < list->count; i++) {
    const pf_arc call = list->list[i];
    if (call.callee != function)
      status = divide(h, function, calls, call.count, call.callee, give_call);
  }
  return status;
}


/* Copy arcs between shown functions, collect the calls by hidden functions, and
   hide these, callees first. Arcs to hidden functions are looked up in
   `from`. */
static pf_status hide_all (hiding *h) {
  pf_status status = PF_OK;
  for (size_t i = 0; status == PF_OK && i < h->from->narcs; i++) {
    const pf_arc *const arc = &h->from->arcs[i];
    if (is_hidden(h, arc->callee))
      continue;
    status = is_hidden(h, arc->caller)
                 ? add_call(h, arc->caller, arc->callee, arc->count)
                 : pf_graph_arc(h->to, arc->caller, arc->callee, arc->count);
  }
  for (size_t i = 0; status == PF_OK && i < h->from->nfunctions; i++)
    if (is_hidden(h, h->cycles.order[i]))
      status = hide_one(h, h->cycles.order[i]);
  return status == PF_OK ? pf_graph_finish(h->to) : status;
}


/* Copy the lines of shown functions, and of hidden functions the part of the
   weights that was not moved to callers. A function without weight has no part,
   also if it gets that of a callee. */
static pf_status hide_lines (pf_graph *to, const pf_graph *from,
                             const pf_selection *selection) {
  if (from->line_rows == NULL)
    return PF_OK;
  to->line_rows = pf_array(from->nline_rows + 1, sizeof *to->line_rows);
  if (to->line_rows == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < from->nline_rows; i++) {
    pf_graph_line line = from->line_rows[i];
    const bool has_hidden =
        line.function != PF_NO_FUNCTION && pf_hides(selection, line.function);
    bool is_shown = !has_hidden;
    for (size_t m = 0; has_hidden && m < from->nmetrics; m++) {
      const int64_t before = from->weights[m][line.function];
      const int64_t after = to->weights[m][line.function];
      if (before != after && before != 0)
        line.weights[m] =
            llround((double)line.weights[m] * (double)after / (double)before);
      is_shown |= line.weights[m] != 0;
    }
    if (is_shown)
      to->line_rows[to->nline_rows++] = line;
  }
  return PF_OK;
}


/* Fill `to` with `from` without its hidden functions. */
static pf_status hide_functions (pf_graph *to, pf_graph *from,
                                 const pf_selection *selection) {
  const size_t count = from->nfunctions;
  hiding h = {.to = to, .from = from, .selection = selection};
  pf_status status = find_cycles(from, &h.cycles);
  h.calls = pf_array_of_zeros(count + 1, sizeof *h.calls);
  if (h.calls == NULL)
    status = PF_ENOMEM;
  if (status == PF_OK)
    status = copy_functions(to, from);
  for (size_t m = 0; status == PF_OK && m < from->nmetrics; m++)
    memcpy(to->weights[m], from->weights[m], count * sizeof *to->weights[m]);
  if (status == PF_OK)
    status = hide_all(&h);
  if (status == PF_OK)
    status = hide_lines(to, from, selection);
  for (size_t i = 0; h.calls != NULL && i < count; i++)
    free(h.calls[i].list);
  free(h.calls);
  pf_cycles_close(&h.cycles);
  return status;
}


pf_status pf_graph_narrow (pf_graph *to, pf_graph *from,
                           const pf_selection *selection, pf_error *error) {
  const pf_status status = selection->narrowing == PF_HIDE
                               ? hide_functions(to, from, selection)
                               : keep_stacks(to, from, selection);
  if (status == PF_ELIMIT)
    return pf_fail(error, status, PF_NO_OFFSET,
                   "hiding these functions would make more than %u arcs",
                   MAX_ARCS);
  if (status != PF_OK)
    return pf_no_memory(error);
  sum_samples(to);
  return PF_OK;
}


pf_status pf_graph_group (pf_graph *to, const pf_graph *from,
                          const uint32_t *groups, const uint32_t *names,
                          size_t count) {
  to->facts = from->facts;
  pf_graph_copy_metrics(to, from);
  if (pf_graph_reserve(to, count) != PF_OK)
    return PF_ENOMEM;
  for (size_t g = 0; g < count; g++)
    if (pf_graph_function(to, names[g], 0, PF_FUNCTION_CALLABLE) ==
        PF_NO_FUNCTION)
      return PF_ENOMEM;
  for (size_t i = 0; i < from->nfunctions; i++)
    for (size_t m = 0; count > 0 && m < from->nmetrics; m++)
      to->weights[m][groups[i]] =
          pf_add(to->weights[m][groups[i]], from->weights[m][i]);
  pf_status status = PF_OK;
  for (size_t i = 0; status == PF_OK && i < from->narcs; i++) {
    const pf_arc *const arc = &from->arcs[i];
    const uint32_t caller =
        arc->caller == PF_NO_FUNCTION ? PF_NO_FUNCTION : groups[arc->caller];
    status = pf_graph_arc(to, caller, groups[arc->callee], arc->count);
  }
  if (status == PF_OK)
    status = pf_graph_finish(to);
  if (status == PF_OK)
    sum_samples(to);
  return status;
}
