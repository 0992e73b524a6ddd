/*
** outline.c - sums of functions and shares of contexts.
*/

#include "kernels/contexts/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/sorts.h"


/* Add the weights of all nodes to their functions. */
static void sum_functions (pf_outline *o, const bool *outermost, size_t m) {
  const pf_traversal *const t = &o->traversal;
  const pf_contexts *const c = t->contexts;
  const size_t total_metric = o->metrics[m].total;
  const int64_t *const own = c->weights[o->metrics[m].self];
  const int64_t *const all = total_metric == PF_NO_METRIC
                                 ? o->totals + m * c->count
                                 : c->weights[total_metric];
  int64_t *const self = o->self + m * t->nfunctions;
  int64_t *const total = o->total + m * t->nfunctions;
  bool overflow = false;
  for (uint32_t i = 1; i < c->count; i++) {
    const uint32_t f = t->functions[i];
    self[f] = pf_weight_add(self[f], own[i], &overflow);
    if (total_metric != PF_NO_METRIC || outermost[i])
      total[f] = pf_weight_add(total[f], all[i], &overflow);
  }
}


static void sum_calls (pf_outline *o, size_t metric) {
  const pf_contexts *const c = o->traversal.contexts;
  bool overflow = false;
  for (uint32_t i = 1; metric != PF_NO_METRIC && i < c->count; i++) {
    int64_t *const calls = &o->calls[o->traversal.functions[i]];
    *calls = pf_weight_add(*calls, c->weights[metric][i], &overflow);
  }
}


static bool has_number (const pf_outline *o, uint32_t f) {
  const size_t count = o->traversal.nfunctions;
  for (size_t m = 0; m < o->nmetrics; m++)
    if (o->self[m * count + f] != 0 || o->total[m * count + f] != 0)
      return true;
  return o->calls[f] != 0;
}


/* The sums by which functions are ordered. */
typedef struct function_order {
  const int64_t *self, *total; /* in the usual metric */
} function_order;


/* The absolute value of a number. */
static uint64_t size_of (int64_t value) {
  return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}


static int compare_functions (const void *context, const void *left,
                              const void *right) {
  const function_order *const by = context;
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  uint64_t x = size_of(by->self[a]), y = size_of(by->self[b]);
  if (x == y) {
    x = size_of(by->total[a]);
    y = size_of(by->total[b]);
  }
  return x > y ? -1 : x < y;
}


static pf_status order_functions (pf_outline *o, size_t usual) {
  const size_t count = o->traversal.nfunctions;
  const function_order by = {o->self + usual * count, o->total + usual * count};
  uint32_t *const spare = pf_array(count + 1, sizeof *spare);
  if (spare == NULL)
    return PF_ENOMEM;
  for (uint32_t f = 0; f < count; f++)
    if (has_number(o, f))
      o->functions[o->nfunctions++] = f;
  pf_sort(o->functions, spare, o->nfunctions, sizeof *spare, compare_functions,
          &by);
  free(spare);
  return PF_OK;
}

/* Set the share of each node. */
static void set_shares (const pf_outline *o, double *shares) {
  const pf_contexts *const c = o->traversal.contexts;
  for (size_t m = 0; m < o->nmetrics; m++) {
    const int64_t *const totals = o->totals + m * c->count;
    const double whole = fmax(1, fabs((double)totals[0]));
    for (uint32_t i = 1; i < c->count; i++)
      shares[i] = fmax(shares[i], fabs((double)totals[i]) / whole);
  }
  for (uint32_t i = c->count; i-- > 1;) /* callees have higher numbers */
    shares[c->parents[i]] = fmax(shares[c->parents[i]], shares[i]);
}


/* Sort nodes in preorder by share; the bits of positive doubles are in the
   order of the doubles. */
static pf_status order_nodes (pf_outline *o) {
  const size_t count = o->traversal.contexts->count;
  double *const shares = pf_array_of_zeros(count, sizeof *shares);
  pf_pair *const pairs = pf_array(2 * count, sizeof *pairs);
  const pf_status status = shares == NULL || pairs == NULL ? PF_ENOMEM : PF_OK;
  if (status == PF_OK) {
    set_shares(o, shares);
    for (size_t i = 1; i < count; i++) {
      const uint32_t node = o->traversal.order[i];
      uint64_t bits;
      memcpy(&bits, &shares[node], sizeof bits);
      pairs[o->nnodes] = (pf_pair){~bits, node};
      o->nnodes += shares[node] > 0;
    }
    pf_sort_pairs(pairs, pairs + count, o->nnodes);
    for (uint32_t i = 0; i < o->nnodes; i++)
      o->nodes[i] = (uint32_t)pairs[i].row;
  }
  free(pairs);
  free(shares);
  return status;
}

static pf_status fill (pf_outline *o, size_t usual, size_t calls) {
  const pf_traversal *const t = &o->traversal;
  const size_t count = t->contexts->count;
  bool *const outermost = pf_array(count, sizeof *outermost);
  pf_status status =
      outermost == NULL
          ? PF_ENOMEM
          : pf_traversal_outermost(t, t->functions, t->nfunctions, outermost);
  for (size_t m = 0; status == PF_OK && m < o->nmetrics; m++) {
    pf_contexts_totals(t->contexts, o->metrics[m].self, o->totals + m * count);
    sum_functions(o, outermost, m);
  }
  free(outermost);
  if (status != PF_OK)
    return status;
  sum_calls(o, calls);
  status = order_functions(o, usual);
  return status == PF_OK ? order_nodes(o) : status;
}


pf_status pf_outline_open (pf_outline *o, const pf_contexts *contexts,
                           const pf_outline_metric *metrics, size_t nmetrics,
                           size_t usual, size_t calls) {
  *o = (pf_outline){.metrics = metrics, .nmetrics = nmetrics};
  if (pf_traversal_open(&o->traversal, contexts, NULL) != PF_OK)
    return PF_ENOMEM;
  const size_t nfunctions = (size_t)o->traversal.nfunctions + 1;
  o->totals = pf_array(nmetrics * contexts->count, sizeof *o->totals);
  o->self = pf_array_of_zeros(nmetrics * nfunctions, sizeof *o->self);
  o->total = pf_array_of_zeros(nmetrics * nfunctions, sizeof *o->total);
  o->calls = pf_array_of_zeros(nfunctions, sizeof *o->calls);
  o->functions = pf_array(nfunctions, sizeof *o->functions);
  o->nodes = pf_array(contexts->count, sizeof *o->nodes);
  pf_status status = PF_ENOMEM;
  if (o->totals != NULL && o->self != NULL && o->total != NULL &&
      o->calls != NULL && o->functions != NULL && o->nodes != NULL)
    status = fill(o, usual, calls);
  if (status != PF_OK)
    pf_outline_close(o);
  return status;
}


void pf_outline_close (pf_outline *o) {
  pf_traversal_close(&o->traversal);
  free(o->totals);
  free(o->self);
  free(o->total);
  free(o->calls);
  free(o->functions);
  free(o->nodes);
  *o = (pf_outline){.nmetrics = 0};
}
