/*
** cycles.c - strong components by one depth-first walk with two stacks of its
** own, after Gabow: the stack of the walk and the stack of the components that
** are still open. A call back into an open component joins to it all
** components above it.
**
** The walk jumps about in memory, so it touches little for each function: one
** word that says when it was met, its arcs, and its place in the order. Where
** the order need not be that of a walk, sweeps over all functions come first:
** most call only what lies on one side of them, or nobody.
*/

#include "kernels/graph/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "model/memory.h"

#define CLOSED     UINT32_MAX
#define FETCH_FROM 16 /* roots ahead */

/* A function whose callees are being visited. */
typedef struct frame {
  uint32_t function;
  uint32_t arc, end; /* its arcs that are left */
} frame;

/* A component that is open: a chain of functions. */
typedef struct component {
  uint32_t head, last;
} component;

typedef struct walk {
  const pf_graph *graph;
  pf_cycles *cycles;
  const pf_visitor *visitor;
  frame *frames; /* the walk's stack */
  size_t depth;
  component *open; /* the other stack */
  size_t nopen;
  uint32_t *met; /* when, counted from 1; 0: not met; or CLOSED */
  uint32_t clock;
  size_t closed; /* functions */
  size_t heads_capacity;
} walk;


/* {====== The walk ====== */

/* Join all open components above the one that holds `function` to it. */
static void join (walk *w, uint32_t function) {
  const uint32_t met = w->met[function];
  size_t above = w->nopen;
  while (above > 1 && w->met[w->open[above - 1].head] > met)
    above--;
  component *const into = &w->open[above - 1];
  for (size_t i = above; i < w->nopen; i++) {
    w->cycles->next[into->last] = w->open[i].head;
    into->last = w->open[i].last;
  }
  w->nopen = above;
}


static void enter (walk *w, uint32_t function) {
  const uint32_t *first = &w->graph->child_first[function];
  w->met[function] = ++w->clock;
  w->open[w->nopen++] = (component){function, function};
  w->frames[w->depth++] = (frame){function, first[0], first[1]};
}


/* Where the next functions of the order go. Who visits each as it is left needs
   no list of all. */
static uint32_t *next_place (const walk *w) {
  return w->cycles->order + (w->visitor == NULL ? w->closed : 0);
}


/* So many functions more have been put there. */
static void leave (walk *w, size_t count) {
  if (w->visitor != NULL)
    w->visitor->leave(w->visitor->context, next_place(w), count);
  w->closed += count;
}


static int compare_numbers (const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}


/* Keep the head of a cycle that has closed. */
static bool keep_head (walk *w, uint32_t head) {
  pf_cycles *const cycles = w->cycles;
  if (cycles->count == w->heads_capacity) {
    const size_t capacity = 2 * w->heads_capacity + 16;
    uint32_t *const heads = realloc(cycles->heads, capacity * sizeof *heads);
    if (heads == NULL)
      return false;
    cycles->heads = heads;
    w->heads_capacity = capacity;
  }
  cycles->heads[cycles->count++] = head;
  return true;
}


/* Close the topmost component; false when out of memory. */
static bool close_component (walk *w) {
  const component done = w->open[--w->nopen];
  uint32_t *const members = next_place(w);
  size_t count = 0;
  if (done.head == done.last) {
    w->met[done.head] = CLOSED;
    members[0] = done.head;
    leave(w, 1);
    return true;
  }
  w->cycles->next[done.last] = PF_NO_FUNCTION;
  for (uint32_t f = done.head; f != PF_NO_FUNCTION; f = w->cycles->next[f]) {
    w->met[f] = CLOSED;
    members[count++] = f;
  }
  qsort(members, count, sizeof *members, compare_numbers);
  if (!keep_head(w, done.head))
    return false;
  leave(w, count);
  return true;
}


/* A function that calls nobody closes at once. */
static bool close_leaf (walk *w, uint32_t function) {
  const uint32_t *first = &w->graph->child_first[function];
  if (first[0] != first[1])
    return false;
  w->met[function] = CLOSED;
  *next_place(w) = function;
  leave(w, 1);
  return true;
}


/* False when out of memory. */
static bool walk_from (walk *w, uint32_t root) {
  if (close_leaf(w, root))
    return true;
  enter(w, root);
  while (w->depth > 0) {
    frame *const top = &w->frames[w->depth - 1];
    if (top->arc < top->end) {
      const uint32_t callee = w->graph->arcs[top->arc++].callee;
      const uint32_t met = w->met[callee];
      if (met != 0 && met != CLOSED)
        join(w, callee);
      else if (met == 0 && !close_leaf(w, callee))
        enter(w, callee);
    }
    else {
      w->depth--;
      if (w->open[w->nopen - 1].head == top->function && !close_component(w))
        return false;
    }
  }
  return true;
}


/* A root will soon be walked from: have what its first callee needs ready. */
static inline void fetch (const walk *w, size_t root) {
  const size_t near = root + FETCH_FROM, far = root + 2 * FETCH_FROM;
  const pf_graph *const graph = w->graph;
  if (far >= graph->nfunctions)
    return;
  const uint32_t arc = graph->child_first[far];
  if (arc < graph->narcs) {
    __builtin_prefetch(&w->met[graph->arcs[arc].callee], 1);
    __builtin_prefetch(&graph->child_first[graph->arcs[arc].callee]);
  }
  const uint32_t soon = graph->child_first[near];
  if (soon < graph->narcs)
    __builtin_prefetch(
        &graph->arcs[graph->child_first[graph->arcs[soon].callee]]);
}

/* }====== */


/* {====== Sweeps ====== */

/* Whether all that a function calls, itself left out, is closed. */
static bool is_free (const walk *w, uint32_t function) {
  const pf_graph *const graph = w->graph;
  const uint32_t end = graph->child_first[function + 1];
  for (uint32_t i = graph->child_first[function]; i < end; i++)
    if (w->met[graph->arcs[i].callee] != CLOSED &&
        graph->arcs[i].callee != function)
      return false;
  return true;
}


/* Close what can be closed, from the last function to the first or from the
   first to the last; answers how many were. */
static size_t sweep (walk *w, bool from_last) {
  const size_t n = w->graph->nfunctions, before = w->closed;
  for (size_t i = 0; i < n; i++) {
    const uint32_t function = (uint32_t)(from_last ? n - 1 - i : i);
    if (w->met[function] == CLOSED || !is_free(w, function))
      continue;
    w->met[function] = CLOSED;
    *next_place(w) = function;
    leave(w, 1);
  }
  return w->closed - before;
}


/* What is closed so is in no cycle and leads to none, so it makes no difference
   to the heads and chains of those that the walk will find. Both ways once, then
   a few times more while much is left and a good part of that is closed. */
static void sweep_both_ways (walk *w) {
  const size_t n = w->graph->nfunctions;
  size_t left, closed;
  (void)sweep(w, true);
  do {
    left = n - w->closed;
    closed = sweep(w, false) + sweep(w, true);
  } while (closed > left / 4 && n - w->closed > n / 8);
}

/* }====== */


static bool open_walk (walk *w, const pf_graph *graph, pf_cycles *cycles) {
  const size_t n = graph->nfunctions + 1;
  w->graph = graph;
  w->cycles = cycles;
  w->frames = pf_array(n, sizeof *w->frames);
  w->open = pf_array(n, sizeof *w->open);
  w->met = pf_array(n, sizeof *w->met);
  cycles->next = pf_array(n, sizeof(uint32_t));
  cycles->order = pf_array(n, sizeof(uint32_t));
  if (w->met != NULL)
    memset(w->met, 0, n * sizeof(uint32_t));
  return w->frames != NULL && w->open != NULL && w->met != NULL &&
         cycles->next != NULL && cycles->order != NULL;
}


static void close_walk (walk *w) {
  free(w->frames);
  free(w->open);
  free(w->met);
}


pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph,
                          const pf_visitor *visitor) {
  walk w = {.visitor = visitor};
  memset(cycles, 0, sizeof *cycles);
  bool done = open_walk(&w, graph, cycles);
  if (done && visitor != NULL)
    sweep_both_ways(&w);
  for (size_t i = 0; done && w.closed < graph->nfunctions; i++) {
    if (visitor == NULL)
      fetch(&w, i); /* else few are left */
    if (w.met[i] == 0)
      done = walk_from(&w, (uint32_t)i);
  }
  if (visitor == NULL)
    pf_cycles_number(cycles);
  else {
    free(cycles->order);
    cycles->order = NULL;
  }
  close_walk(&w);
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
