/*
** by_stack.c - stacks have numbers already, and a caller's is lower than those
** of what it called: so an array of sums by number is a tree in order.
*/

#include "kernels/contexts/by_stack.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/pipeline.h"
#include "model/gathering.h"
#include "model/memory.h"
#include "model/stacks.h"

/*
** Sums by stack, `width` of them: how many rows there were (0: none), then the
** weights. Those of rows without stack stand first, those of stack n behind
** those of n others.
*/
typedef struct sums {
  const pf_stack_rows *rows;
  int64_t *values;
  size_t width, count, capacity;
  bool has_overflowed;
} sums;


static pf_status no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


/* {====== Adding up ====== */

/* Reach `count` stacks. */
static bool widen (sums *s, size_t count) {
  if (count <= s->count)
    return true;
  if (count > s->capacity) {
    const size_t more = pf_more_room(s->capacity),
                 capacity = count < more ? more : count;
    int64_t *const values = pf_large_array_resize(
        s->values, s->count * s->width, capacity * s->width, sizeof *values);
    if (values == NULL)
      return false;
    s->values = values;
    s->capacity = capacity;
  }
  memset(s->values + s->count * s->width, 0,
         (count - s->count) * s->width * sizeof *s->values);
  s->count = count;
  return true;
}


static void add_row (sums *s, const pf_batch *batch, size_t row, size_t at) {
  int64_t *const sum = s->values + at * s->width;
  sum[0]++;
  for (size_t m = 0; m < s->rows->nmetrics; m++) {
    const pf_column *const column = s->rows->columns[m] == SIZE_MAX
                                        ? NULL
                                        : &batch->columns[s->rows->columns[m]];
    if (column == NULL || !pf_is_missing(column, row))
      sum[m + 1] =
          pf_weight_add(sum[m + 1], column == NULL ? 1 : column->ints[row],
                        &s->has_overflowed);
  }
}


/* In the reader's thread: how many stacks there are by now. */
static void note (void *context, const pf_pull *pull, uint32_t *notes) {
  (void)context;
  notes[0] = pf_stacks_count(pull->reader->dictionary);
}


static pf_status take (void *context, const pf_pull *pull,
                       const uint32_t *notes, pf_error *error) {
  sums *const s = context;
  const pf_column *const stacks = &pull->batch.columns[s->rows->stack];
  if (!widen(s, (size_t)notes[0] + 1))
    return no_memory(error);
  for (size_t row = 0; row < pull->batch.rows; row++) {
    const bool is_known =
        !pf_is_missing(stacks, row) && stacks->ids[row] < notes[0];
    add_row(s, &pull->batch, row, is_known ? (size_t)stacks->ids[row] + 1 : 0);
  }
  return PF_OK;
}

/* }====== */


/* {====== Contexts of it ====== */

/* From stacks to nodes. */
typedef struct growth {
  pf_contexts *contexts;
  uint32_t *nodes;  /* by stack */
  uint32_t *frames; /* by area; that of areas which are not known is last */
  size_t nareas;
  size_t count; /* of stacks with rows */
  bool is_new;  /* no two stacks have the same frames */
} growth;


/* Who called what has rows is a context too: mark it by rows of -1. */
static void mark_callers (const pf_dictionary *d, sums *s) {
  for (size_t at = s->count; at-- > 1;) {
    const uint32_t parent = pf_stack_at(d, (uint32_t)(at - 1))->parent;
    if (s->values[at * s->width] == 0 || parent == PF_NO_STACK)
      continue;
    int64_t *const above = &s->values[((size_t)parent + 1) * s->width];
    if (*above == 0)
      *above = -1;
  }
}


/* Whether two of those areas have one frame: then two stacks may be one. */
static pf_status find_twins (growth *g, size_t nareas) {
  const size_t nframes = pf_areas_count(g->contexts->dictionary);
  bool *const met = calloc(nframes + 1, sizeof *met);
  if (met == NULL)
    return PF_ENOMEM;
  for (size_t area = 0; area < nareas; area++)
    if (g->frames[area] != PF_NO_AREA) {
      g->is_new &= !met[g->frames[area]];
      met[g->frames[area]] = true;
    }
  free(met);
  return PF_OK;
}


static uint32_t *frame_of (const growth *g, const pf_stack *stack) {
  return &g->frames[stack->frame < g->nareas ? stack->frame : g->nareas];
}


/* The frame of each area that stands on a stack with rows. */
static pf_status find_frames (growth *g, const sums *s) {
  pf_dictionary *const d = g->contexts->dictionary;
  for (size_t at = 1; at < s->count; at++) {
    if (s->values[at * s->width] == 0)
      continue;
    g->count++;
    const pf_stack *const stack = pf_stack_at(d, (uint32_t)(at - 1));
    uint32_t *const frame = frame_of(g, stack);
    g->is_new &= stack->frame < g->nareas;
    if (*frame == PF_NO_AREA)
      *frame = pf_frame_of(d, stack->frame);
    if (*frame == PF_NO_AREA)
      return PF_ENOMEM;
  }
  return find_twins(g, g->nareas);
}


static uint32_t make_node (growth *g, uint32_t stack) {
  const pf_stack *const s = pf_stack_at(g->contexts->dictionary, stack);
  const uint32_t above = s->parent == PF_NO_STACK ? 0 : g->nodes[s->parent];
  const uint32_t frame = *frame_of(g, s);
  return g->nodes[stack] = g->is_new
                               ? pf_context_append(g->contexts, above, frame)
                               : pf_context_of(g->contexts, above, frame);
}


static void carry_weights (const growth *g, const sums *s, size_t at,
                           uint32_t node) {
  const int64_t *const sum = s->values + at * s->width;
  for (size_t m = 0; m < s->rows->nmetrics; m++)
    pf_context_add(g->contexts, node, s->rows->metrics[m], sum[m + 1]);
}


static pf_status make_nodes (growth *g, const sums *s) {
  pf_contexts_reserve(g->contexts, g->contexts->count + g->count);
  for (size_t at = 0; at < s->count; at++) {
    if (s->values[at * s->width] == 0)
      continue;
    const uint32_t node = at == 0 ? 0 : make_node(g, (uint32_t)(at - 1));
    if (node == PF_NO_CONTEXT)
      return PF_ENOMEM;
    carry_weights(g, s, at, node);
  }
  return PF_OK;
}


static pf_status make_contexts (pf_contexts *contexts, sums *s) {
  growth g = {.contexts = contexts, .is_new = contexts->count == 1};
  g.nareas = pf_areas_count(contexts->dictionary);
  g.nodes = pf_large_array(s->count + 1, sizeof *g.nodes);
  g.frames = malloc((g.nareas + 1) * sizeof *g.frames);
  pf_status status = g.nodes == NULL || g.frames == NULL ? PF_ENOMEM : PF_OK;
  if (status == PF_OK) {
    memset(g.frames, 0xff, (g.nareas + 1) * sizeof *g.frames);
    mark_callers(contexts->dictionary, s);
    status = find_frames(&g, s);
  }
  if (status == PF_OK)
    status = make_nodes(&g, s);
  contexts->has_overflowed |= s->has_overflowed;
  free(g.nodes);
  free(g.frames);
  return status;
}

/* }====== */


/* Whether the reader can do it itself: each column weighs once. */
static bool can_gather (const pf_contexts *contexts,
                        const pf_stack_rows *rows) {
  if (rows->reader->gather == NULL || contexts->count > 1)
    return false;
  for (size_t m = 0; m < rows->nmetrics; m++) {
    if (rows->columns[m] == SIZE_MAX)
      return false;
    for (size_t other = 0; other < m; other++)
      if (rows->columns[other] == rows->columns[m])
        return false;
  }
  return rows->nmetrics > 0;
}


static pf_status gather (pf_contexts *contexts, const pf_stack_rows *rows,
                         pf_error *error) {
  const pf_gathering to = {.contexts = contexts,
                           .nmetrics = rows->nmetrics,
                           .columns = rows->columns,
                           .metrics = rows->metrics};
  return rows->reader->gather(rows->reader, &to, error);
}


pf_status pf_contexts_by_stack (pf_contexts *contexts,
                                const pf_stack_rows *rows, bool *wanted,
                                pf_error *error) {
  if (can_gather(contexts, rows))
    return gather(contexts, rows, error);
  sums s = {.rows = rows, .width = rows->nmetrics + 1};
  const pf_pipeline pipeline = {.wanted = wanted,
                                .sparse = -1,
                                .notes = 1,
                                .prepare = note,
                                .process = take,
                                .context = &s};
  pf_status status = pf_pipeline_run(&pipeline, rows->reader, error);
  if (status == PF_OK && make_contexts(contexts, &s) != PF_OK)
    status = no_memory(error);
  free(s.values);
  return status;
}
