/*
** cycles.c - strong components by one depth-first walk with two stacks of its
** own, after Gabow: the stack of the walk and the stack of the heads of the
** components that are still open. A call back into an open component joins
** to it all components above it.
*/

#include "kernels/cycles.h"

#include <stdlib.h>
#include <string.h>

/* A function whose callees are being visited. */
typedef struct frame {
  uint32_t function;
  uint32_t child; /* index into graph->children of the next callee */
} frame;

/* The walk. A function is met when `met` is set, closed when `place` is. */
typedef struct walk {
  const pf_graph *graph;
  pf_cycles *cycles;
  frame *frames; /* the walk's stack */
  size_t depth;
  uint32_t *open; /* heads of open components */
  size_t nopen;
  uint32_t *met;   /* when a function was met, counted from 1 */
  uint32_t *place; /* when its component was closed, counted from 1 */
  uint32_t *last;  /* of a head: the end of its chain of members */
  uint32_t clock, closed;
} walk;


/* Join all open components above the one that holds `function` to it. */
static void join (walk *w, uint32_t function) {
  size_t above = w->nopen;
  while (above > 0 && w->met[w->open[above - 1]] > w->met[function])
    above--;
  const uint32_t head = w->open[above - 1];
  for (size_t i = above; i < w->nopen; i++) {
    const uint32_t joined = w->open[i];
    w->cycles->next[w->last[head]] = joined;
    w->last[head] = w->last[joined];
  }
  w->nopen = above;
}


static void enter (walk *w, uint32_t function) {
  w->met[function] = ++w->clock;
  w->last[function] = function;
  w->open[w->nopen++] = function;
  w->frames[w->depth++] = (frame){function, w->graph->child_first[function]};
}


static void leave (walk *w, uint32_t function) {
  w->depth--;
  if (w->open[w->nopen - 1] != function)
    return;
  w->nopen--;
  w->closed++;
  for (uint32_t f = function; f != PF_NO_FUNCTION; f = w->cycles->next[f])
    w->place[f] = w->closed;
}


static void walk_from (walk *w, uint32_t root) {
  enter(w, root);
  while (w->depth > 0) {
    frame *top = &w->frames[w->depth - 1];
    if (top->child == w->graph->child_first[top->function + 1]) {
      leave(w, top->function);
      continue;
    }
    const uint32_t arc = w->graph->children[top->child++];
    const uint32_t callee = w->graph->callees[arc];
    if (w->met[callee] == 0)
      enter(w, callee);
    else if (w->place[callee] == 0)
      join(w, callee);
  }
}


static bool open_walk (walk *w, const pf_graph *graph, pf_cycles *cycles) {
  const size_t n = graph->nfunctions + 1;
  memset(w, 0, sizeof *w);
  w->graph = graph;
  w->cycles = cycles;
  w->frames = calloc(n, sizeof *w->frames);
  w->open = calloc(n, sizeof *w->open);
  w->met = calloc(n, sizeof *w->met);
  w->place = calloc(n, sizeof *w->place);
  w->last = calloc(n, sizeof *w->last);
  cycles->cycle_of = calloc(n, sizeof(uint32_t));
  cycles->next = malloc(n * sizeof(uint32_t));
  cycles->order = malloc(n * sizeof(uint32_t));
  if (cycles->next != NULL)
    memset(cycles->next, 0xff, n * sizeof(uint32_t));
  return w->frames != NULL && w->open != NULL && w->met != NULL &&
         w->place != NULL && w->last != NULL && cycles->cycle_of != NULL &&
         cycles->next != NULL && cycles->order != NULL;
}


static void close_walk (walk *w) {
  free(w->frames);
  free(w->open);
  free(w->met);
  free(w->place);
  free(w->last);
}


/* Sort the functions by when their component closed, then by number. */
static pf_status put_in_order (const walk *w) {
  const size_t n = w->graph->nfunctions;
  uint32_t *at = calloc((size_t)w->closed + 2, sizeof *at);
  if (at == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    at[w->place[i] + 1]++;
  for (size_t i = 1; i <= w->closed; i++)
    at[i + 1] += at[i];
  for (size_t i = 0; i < n; i++)
    w->cycles->order[at[w->place[i]]++] = (uint32_t)i;
  free(at);
  return PF_OK;
}


/* Number the cycles: components of more than one member, by their heads. A
   head is the member that was met first, so no member's `next`. */
static pf_status number_cycles (const walk *w) {
  const size_t n = w->graph->nfunctions;
  pf_cycles *cycles = w->cycles;
  uint32_t *is_joined = w->last; /* no longer needed */
  memset(is_joined, 0, n * sizeof *is_joined);
  for (size_t i = 0; i < n; i++)
    if (cycles->next[i] != PF_NO_FUNCTION)
      is_joined[cycles->next[i]] = 1;
  for (size_t i = 0; i < n; i++)
    cycles->count += !is_joined[i] && cycles->next[i] != PF_NO_FUNCTION;
  cycles->heads = malloc((cycles->count + 1) * sizeof(uint32_t));
  cycles->calls = calloc(cycles->count + 1, sizeof(int64_t));
  cycles->inner = calloc(cycles->count + 1, sizeof(int64_t));
  if (cycles->heads == NULL || cycles->calls == NULL || cycles->inner == NULL)
    return PF_ENOMEM;
  uint32_t number = 0;
  for (size_t i = 0; i < n; i++) {
    if (is_joined[i] || cycles->next[i] == PF_NO_FUNCTION)
      continue;
    cycles->heads[number++] = (uint32_t)i;
    for (uint32_t f = (uint32_t)i; f != PF_NO_FUNCTION; f = cycles->next[f])
      cycles->cycle_of[f] = number;
  }
  return PF_OK;
}


/* Count calls into each cycle and inside of it. */
static void count_calls (const pf_graph *graph, pf_cycles *cycles) {
  for (size_t i = 0; i < graph->narcs; i++) {
    const uint32_t cycle = cycles->cycle_of[graph->callees[i]];
    const uint32_t caller = graph->callers[i];
    if (cycle == 0 || caller == graph->callees[i])
      continue;
    int64_t *sum = caller != PF_NO_FUNCTION && cycles->cycle_of[caller] == cycle
                       ? &cycles->inner[cycle - 1]
                       : &cycles->calls[cycle - 1];
    *sum = pf_add(*sum, graph->counts[i]);
  }
}


pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph) {
  walk w;
  memset(cycles, 0, sizeof *cycles);
  pf_status status = open_walk(&w, graph, cycles) ? PF_OK : PF_ENOMEM;
  for (size_t i = 0; status == PF_OK && i < graph->nfunctions; i++)
    if (w.met[i] == 0)
      walk_from(&w, (uint32_t)i);
  if (status == PF_OK)
    status = put_in_order(&w);
  if (status == PF_OK)
    status = number_cycles(&w);
  if (status == PF_OK)
    count_calls(graph, cycles);
  close_walk(&w);
  return status;
}


void pf_cycles_close (pf_cycles *cycles) {
  free(cycles->cycle_of);
  free(cycles->next);
  free(cycles->order);
  free(cycles->heads);
  free(cycles->calls);
  free(cycles->inner);
  memset(cycles, 0, sizeof *cycles);
}
