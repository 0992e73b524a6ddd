/*
** cycles.c - strongly connected components by one depth-first traversal with
** two explicit stacks, after Gabow: the stack of the traversal, and the stack
** of the components that are still open. An arc to a function of an open
** component joins all components above it on the stack to that component.
**
** The traversal accesses memory at random, so it touches little for each
** function: its preorder number, its arcs, and its slot in the order. With a
** visitor, linear sweeps over all functions come first: most functions are in
** no cycle and call only functions on one side of them, or none.
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
  const pf_visitor *visitor;
  frame *frames; /* the stack of the traversal */
  size_t depth;
  component *open; /* the stack of open components */
  size_t nopen;
  uint32_t *preorder; /* numbers from 1; 0: not discovered; or CLOSED */
  uint32_t discovered;
  size_t closed; /* functions */
  size_t heads_capacity;
} traversal;


/* {====== The traversal ====== */

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


/* The next free slot of the order. A visitor needs no list of all functions, so
   for it the slots are used again. */
static uint32_t *next_slot (const traversal *t) {
  return t->cycles->order + (t->visitor == NULL ? t->closed : 0);
}


/* Report the `count` functions in the next slots as closed. */
static void report (traversal *t, size_t count) {
  if (t->visitor != NULL)
    t->visitor->visit(t->visitor->context, next_slot(t), count);
  t->closed += count;
}


static int compare_numbers (const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}


/* Append the head of a closed cycle; false when out of memory. */
static bool keep_head (traversal *t, uint32_t head) {
  pf_cycles *const cycles = t->cycles;
  if (!pf_grow(&cycles->heads, &t->heads_capacity, (size_t)cycles->count + 1))
    return false;
  cycles->heads[cycles->count++] = head;
  return true;
}


/* Close the topmost component; false when out of memory. */
static bool close_component (traversal *t) {
  const component done = t->open[--t->nopen];
  uint32_t *const members = next_slot(t);
  size_t count = 0;
  if (done.head == done.last) {
    t->preorder[done.head] = CLOSED;
    members[0] = done.head;
    report(t, 1);
    return true;
  }
  t->cycles->next[done.last] = PF_NO_FUNCTION;
  for (uint32_t f = done.head; f != PF_NO_FUNCTION; f = t->cycles->next[f]) {
    t->preorder[f] = CLOSED;
    members[count++] = f;
  }
  qsort(members, count, sizeof *members, compare_numbers);
  if (!keep_head(t, done.head))
    return false;
  report(t, count);
  return true;
}


/* Close a function without callees at once; false if it has callees. */
static bool close_leaf (traversal *t, uint32_t function) {
  const uint32_t *first = &t->graph->child_first[function];
  if (first[0] != first[1])
    return false;
  t->preorder[function] = CLOSED;
  *next_slot(t) = function;
  report(t, 1);
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


/* }====== */


/* {====== Sweeps ====== */

/* Whether all functions that a function calls, other than itself, are
   closed. */
static bool callees_are_closed (const traversal *t, uint32_t function) {
  const pf_graph *const graph = t->graph;
  const uint32_t end = graph->child_first[function + 1];
  for (uint32_t i = graph->child_first[function]; i < end; i++)
    if (t->preorder[graph->arcs[i].callee] != CLOSED &&
        graph->arcs[i].callee != function)
      return false;
  return true;
}


/* Close all functions whose callees are closed, in descending or ascending
   order of number; returns how many. */
static size_t sweep (traversal *t, bool from_last) {
  const size_t n = t->graph->nfunctions, before = t->closed;
  for (size_t i = 0; i < n; i++) {
    const uint32_t function = (uint32_t)(from_last ? n - 1 - i : i);
    if (t->preorder[function] == CLOSED || !callees_are_closed(t, function))
      continue;
    t->preorder[function] = CLOSED;
    *next_slot(t) = function;
    report(t, 1);
  }
  return t->closed - before;
}


/* Sweep in both directions, and again while more than an eighth of all
   functions is left and a sweep closes more than a quarter of the rest.
   Functions closed here are in no cycle and lead to none, so the heads and
   lists of cycles that the traversal finds stay the same. */
static void sweep_both_ways (traversal *t) {
  const size_t n = t->graph->nfunctions;
  size_t left, closed;
  (void)sweep(t, true);
  do {
    left = n - t->closed;
    closed = sweep(t, false) + sweep(t, true);
  } while (closed > left / 4 && n - t->closed > n / 8);
}

/* }====== */


static bool open_traversal (traversal *t, const pf_graph *graph,
                            pf_cycles *cycles) {
  const size_t n = graph->nfunctions + 1;
  t->graph = graph;
  t->cycles = cycles;
  t->frames = pf_array(n, sizeof *t->frames);
  t->open = pf_array(n, sizeof *t->open);
  t->preorder = pf_array(n, sizeof *t->preorder);
  cycles->next = pf_array(n, sizeof(uint32_t));
  cycles->order = pf_array(n, sizeof(uint32_t));
  if (t->preorder != NULL)
    memset(t->preorder, 0, n * sizeof(uint32_t));
  return t->frames != NULL && t->open != NULL && t->preorder != NULL &&
         cycles->next != NULL && cycles->order != NULL;
}


static void close_traversal (traversal *t) {
  free(t->frames);
  free(t->open);
  free(t->preorder);
}


pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph,
                          const pf_visitor *visitor) {
  traversal t = {.visitor = visitor};
  memset(cycles, 0, sizeof *cycles);
  bool done = open_traversal(&t, graph, cycles);
  if (done && visitor != NULL)
    sweep_both_ways(&t);
  for (size_t i = 0; done && t.closed < graph->nfunctions; i++)
    if (t.preorder[i] == 0)
      done = traverse_from(&t, (uint32_t)i);
  if (visitor == NULL)
    pf_cycles_number(cycles);
  else {
    free(cycles->order);
    cycles->order = NULL;
  }
  close_traversal(&t);
  return done ? PF_OK : PF_ENOMEM;
}


void pf_cycles_number (pf_cycles *cycles) {
  if (cycles->count > 1)
    qsort(cycles->heads, cycles->count, sizeof(uint32_t), compare_numbers);
}


void pf_cycles_close (pf_cycles *cycles) {
  free(cycles->next);
  free(cycles->order);
  free(cycles->heads);
  memset(cycles, 0, sizeof *cycles);
}
