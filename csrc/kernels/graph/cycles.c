/*
** cycles.c - strongly connected components by one depth-first traversal with
** two explicit stacks, after Gabow: the stack of the traversal, and the stack
** of the components that are still open. An arc to a function of an open
** component joins all components above it on the stack to that component.
**
** The traversal accesses memory at random, so it touches little for each
** function: its preorder number, its arcs, and its slot in the order.
*/

#include "kernels/graph/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define CLOSED UINT32_MAX

/* A function whose callees are being visited. */
typedef struct frame {
  uint32_t function;
  uint32_t arc, end; /* its arcs that have not been followed yet */
} frame;

/* An open component: a linked list of functions. */
typedef struct component {
  uint32_t head, last;
} component;

typedef struct traversal {
  const pf_graph *graph;
  pf_cycles *cycles;
  frame *frames; /* the stack of the traversal */
  size_t depth;
  component *open; /* the stack of open components */
  size_t nopen;
  uint32_t *preorder; /* numbers from 1; 0: not discovered; or CLOSED */
  uint32_t discovered;
  size_t closed; /* number of functions in the order */
  size_t heads_capacity;
} traversal;


/* Join all open components above the one that holds `function` to it. */
static void join (traversal *t, uint32_t function) {
  const uint32_t number = t->preorder[function];
  size_t above = t->nopen;
  while (above > 1 && t->preorder[t->open[above - 1].head] > number)
    above--;
  component *const into = &t->open[above - 1];
  for (size_t i = above; i < t->nopen; i++) {
    t->cycles->next[into->last] = t->open[i].head;
    into->last = t->open[i].last;
  }
  t->nopen = above;
}


static void enter (traversal *t, uint32_t function) {
  const uint32_t *first = &t->graph->child_first[function];
  t->preorder[function] = ++t->discovered;
  t->open[t->nopen++] = (component){function, function};
  t->frames[t->depth++] = (frame){function, first[0], first[1]};
}


static int compare_numbers (const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}


/* Close the topmost component; false when out of memory. */
static bool close_component (traversal *t) {
  pf_cycles *const cycles = t->cycles;
  const component done = t->open[--t->nopen];
  uint32_t *const members = cycles->order + t->closed;
  size_t count = 0;
  cycles->next[done.last] = PF_NO_FUNCTION;
  for (uint32_t f = done.head; f != PF_NO_FUNCTION; f = cycles->next[f]) {
    t->preorder[f] = CLOSED;
    members[count++] = f;
  }
  t->closed += count;
  if (count == 1)
    return true;
  qsort(members, count, sizeof *members, compare_numbers);
  if (!pf_grow(&cycles->heads, &t->heads_capacity, (size_t)cycles->count + 1))
    return false;
  cycles->heads[cycles->count++] = done.head;
  return true;
}


/* Close a function without callees at once; false if it has callees. */
static bool close_leaf (traversal *t, uint32_t function) {
  const uint32_t *first = &t->graph->child_first[function];
  if (first[0] != first[1])
    return false;
  t->preorder[function] = CLOSED;
  t->cycles->order[t->closed++] = function;
  return true;
}


/* Traverse what is reachable from `root`; false when out of memory. */
static bool traverse_from (traversal *t, uint32_t root) {
  if (close_leaf(t, root))
    return true;
  enter(t, root);
  while (t->depth > 0) {
    frame *const top = &t->frames[t->depth - 1];
    if (top->arc < top->end) {
      const uint32_t callee = t->graph->arcs[top->arc++].callee;
      const uint32_t number = t->preorder[callee];
      if (number != 0 && number != CLOSED)
        join(t, callee);
      else if (number == 0 && !close_leaf(t, callee))
        enter(t, callee);
    }
    else {
      t->depth--;
      if (t->open[t->nopen - 1].head == top->function && !close_component(t))
        return false;
    }
  }
  return true;
}


/* In one pass in descending order of number, close each function whose callees,
   apart from itself, are all closed. It is in no cycle and leads to none, so
   the traversal finds the same cycles after that. */
static void trim (traversal *t) {
  const pf_graph *const graph = t->graph;
  for (size_t f = graph->nfunctions; f-- > 0;) {
    uint32_t at = graph->child_first[f];
    const uint32_t end = graph->child_first[f + 1];
    while (at < end && (t->preorder[graph->arcs[at].callee] == CLOSED ||
                        graph->arcs[at].callee == f))
      at++;
    if (at < end)
      continue;
    t->preorder[f] = CLOSED;
    t->cycles->order[t->closed++] = (uint32_t)f;
  }
}


pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph,
                          bool in_any_order) {
  const size_t n = graph->nfunctions + 1;
  traversal t = {.graph = graph,
                 .cycles = cycles,
                 .frames = pf_array(n, sizeof *t.frames),
                 .open = pf_array(n, sizeof *t.open),
                 .preorder = pf_array_of_zeros(n, sizeof *t.preorder)};
  *cycles = (pf_cycles){.next = pf_array(n, sizeof *cycles->next),
                        .order = pf_array(n, sizeof *cycles->order)};
  bool done = t.frames != NULL && t.open != NULL && t.preorder != NULL &&
              cycles->next != NULL && cycles->order != NULL;
  if (done && in_any_order)
    trim(&t);
  for (size_t i = 0; done && i < graph->nfunctions; i++)
    if (t.preorder[i] == 0)
      done = traverse_from(&t, (uint32_t)i);
  if (done && cycles->count > 0) {
    qsort(cycles->heads, cycles->count, sizeof(uint32_t), compare_numbers);
    cycles->of = pf_array_of_zeros(n, sizeof *cycles->of);
    done = cycles->of != NULL;
  }
  for (size_t i = 0; done && i < cycles->count; i++)
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f])
      cycles->of[f] = (uint32_t)i + 1;
  free(t.frames);
  free(t.open);
  free(t.preorder);
  return done ? PF_OK : PF_ENOMEM;
}


void pf_cycles_close (pf_cycles *cycles) {
  free(cycles->next);
  free(cycles->order);
  free(cycles->heads);
  free(cycles->of);
  memset(cycles, 0, sizeof *cycles);
}
