/*
** sample_counts.c - how often each stack was sampled: of the whole recording,
** or of its last `keep` ns, for a profile of a program that goes on running.
** The samples of that time are in a circular buffer.
**
** Used by timer.c and recorder.c. The recorder owns the arrays.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/recorder/sampling.h"
#include "model/base/memory.h"
#include "model/dictionary/stacks.h"


static l_taken *taken_at (const l_sample_counts *s, size_t i) {
  return &s->window[(s->first + i) & (s->window_capacity - 1)];
}


/* Forgets the samples that are older than `keep`. */
static void forget (l_sample_counts *s, int64_t now) {
  for (; s->count > 0 && taken_at(s, 0)->time < now - s->keep; s->count--) {
    const l_taken *const old = taken_at(s, 0);
    s->by_stack[old->stack] -= old->count;
    s->first = (s->first + 1) & (s->window_capacity - 1);
  }
}


/* Doubles the circular buffer. False: out of memory. */
static bool grow (l_sample_counts *s) {
  const size_t capacity =
      s->window_capacity == 0 ? 256 : s->window_capacity * 2;
  l_taken *const window = pf_array_resize(NULL, capacity, sizeof *window);
  if (window == NULL)
    return false;
  for (size_t i = 0; i < s->count; i++)
    window[i] = *taken_at(s, i);
  free(s->window);
  s->window = window;
  s->window_capacity = capacity;
  s->first = 0;
  return true;
}


bool l_samples_add (l_sample_counts *s, uint32_t stack, uint64_t count) {
  if (!pf_grow_filled(&s->by_stack, &s->capacity, (size_t)stack + 1, 0))
    return false;
  s->by_stack[stack] += count;
  if (s->keep == 0)
    return true;
  const int64_t now = os_now(OS_MONOTONIC);
  forget(s, now);
  if (s->count == s->window_capacity && !grow(s))
    return false;
  *taken_at(s, s->count++) = (l_taken){now, stack, (uint32_t)count};
  return true;
}


/* Subtracts from `counts` the samples of the window that are older than `last`
   ns. */
static void subtract_older (const l_sample_counts *s, uint64_t *counts,
                            int64_t last) {
  const int64_t since = os_now(OS_MONOTONIC) - last;
  for (size_t i = 0; i < s->count && taken_at(s, i)->time < since; i++)
    counts[taken_at(s, i)->stack] -= taken_at(s, i)->count;
}


/* Adds the stacks with their counts. A stack has a higher id than the one
   around it. `nodes` is scratch by stack, of 0. False: out of memory. */
static bool add_stacks (const l_recorder *r, const uint64_t *counts, size_t n,
                        uint32_t *nodes, pf_contexts *contexts) {
  for (size_t i = n; i > 0; i--) { /* marks stacks around a sample */
    const uint32_t parent = pf_stack_at(r->dictionary, (uint32_t)i - 1)->parent;
    if (parent != PF_NO_STACK && (counts[i - 1] > 0 || nodes[i - 1] > 0))
      nodes[parent] = 1;
  }
  for (uint32_t i = 0; i < n; i++) {
    const pf_stack *const stack = pf_stack_at(r->dictionary, i);
    if (counts[i] == 0 && nodes[i] == 0)
      continue;
    const uint32_t parent =
        stack->parent == PF_NO_STACK ? 0 : nodes[stack->parent];
    const uint32_t frame = pf_frame_of(r->dictionary, stack->frame);
    nodes[i] = frame == PF_NO_AREA ? PF_NO_CONTEXT
                                   : pf_context_of(contexts, parent, frame);
    if (nodes[i] == PF_NO_CONTEXT)
      return false;
    pf_context_add(contexts, nodes[i], 0, (int64_t)counts[i]);
    pf_context_add(contexts, nodes[i], 1, (int64_t)counts[i] * r->interval);
  }
  return true;
}


/* recorder:samples(last): a profile of the samples, of the last so many ns
   (nil: of all that are kept); of mode "sampled". */
int l_recorder_samples (lua_State *L) {
  l_recorder *const r = luaL_checkudata(L, 1, L_RECORDER);
  const int64_t last = luaL_optinteger(L, 2, 0);
  l_sample_counts *const s = &r->samples;
  luaL_argcheck(L, last == 0 || s->keep > 0, 2, "nothing is kept by time");
  if (s->keep > 0)
    forget(s, os_now(OS_MONOTONIC));
  const size_t n = s->capacity < pf_stacks_count(r->dictionary)
                       ? s->capacity
                       : pf_stacks_count(r->dictionary);
  uint64_t *const counts = l_scratch(L, n + 1, sizeof *counts);
  uint32_t *const nodes = l_scratch(L, n + 1, sizeof *nodes);
  memset(nodes, 0, n * sizeof *nodes);
  if (n > 0)
    memcpy(counts, s->by_stack, n * sizeof *counts);
  if (last > 0)
    subtract_older(s, counts, last);
  lua_getiuservalue(L, 1, 3);
  pf_contexts *const contexts = l_contexts_new(L, -1);
  if (pf_metric_of(contexts, "samples", "count") != 0 ||
      pf_metric_of(contexts, "time", "ns") != 1 ||
      !add_stacks(r, counts, n, nodes, contexts))
    l_no_memory(L);
  return 1;
}


void l_samples_free (l_sample_counts *s) {
  free(s->by_stack);
  free(s->window);
  *s = (l_sample_counts){.keep = s->keep};
}
