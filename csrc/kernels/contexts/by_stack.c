/*
** by_stack.c - stacks have ids in the dictionary, and a stack has a greater id
** than its parent: so one scan over an array of sums by id builds the contexts.
*/

#include "kernels/contexts/by_stack.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/pipeline.h"
#include "model/rows/read_stacks.h"
#include "model/base/memory.h"
#include "model/dictionary/stacks.h"
#include "model/rows/abilities.h"

/*
** Sums by stack, `width` values for each: the number of rows (0: none), then
** the weights. Entry 0 is for rows without a stack, entry n + 1 for stack n.
*/
typedef struct sums {
  const pf_stack_rows *rows;
  int64_t *values;
  size_t width, count, capacity;
  bool has_overflowed;
} sums;


/* Grow to `count` entries; false when out of memory. */
static bool grow (sums *s, size_t count) {
  if (count <= s->count)
    return true;
  if (count > s->capacity) {
    const size_t more = pf_next_capacity(s->capacity),
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


/* In the reader thread: note the number of stacks in the dictionary so far. */
static void count_stacks (void *context, const pf_pull *pull, uint32_t *notes) {
  (void)context;
  notes[0] = pf_stacks_count(pull->reader->dictionary);
}


static pf_status add_batch (void *context, const pf_pull *pull,
                            const uint32_t *notes, pf_error *error) {
  sums *const s = context;
  const pf_column *const stacks = &pull->batch.columns[s->rows->stack];
  if (!grow(s, (size_t)notes[0] + 1))
    return pf_no_memory(error);
  for (size_t row = 0; row < pull->batch.rows; row++) {
    const bool is_known =
        !pf_is_missing(stacks, row) && stacks->ids[row] < notes[0];
    add_row(s, &pull->batch, row, is_known ? (size_t)stacks->ids[row] + 1 : 0);
  }
  return PF_OK;
}


/* Maps from stacks and areas to nodes and frames. */
typedef struct conversion {
  pf_contexts *contexts;
  uint32_t *nodes;  /* by stack */
  uint32_t *frames; /* by area; the last one is for unknown areas */
  size_t nareas;
  size_t count; /* of stacks with rows */
  bool is_new;  /* no two stacks have the same frames */
} conversion;


static uint32_t *frame_of (const conversion *c, const pf_stack *stack) {
  return &c->frames[stack->frame < c->nareas ? stack->frame : c->nareas];
}


/* Find the frame of each area that is on a stack with rows. */
static pf_status find_frames (conversion *c, const sums *s) {
  pf_dictionary *const d = c->contexts->dictionary;
  for (size_t at = 1; at < s->count; at++) {
    if (s->values[at * s->width] == 0)
      continue;
    c->count++;
    const pf_stack *const stack = pf_stack_at(d, (uint32_t)(at - 1));
    uint32_t *const frame = frame_of(c, stack);
    c->is_new &= stack->frame < c->nareas;
    if (*frame == PF_NO_AREA)
      *frame = pf_frame_of(d, stack->frame);
    if (*frame == PF_NO_AREA)
      return PF_ENOMEM;
  }
  /* If two areas have the same frame, two stacks may be the same context. */
  const size_t nframes = pf_areas_count(c->contexts->dictionary);
  bool *const seen = calloc(nframes + 1, sizeof *seen);
  if (seen == NULL)
    return PF_ENOMEM;
  for (size_t area = 0; area < c->nareas; area++)
    if (c->frames[area] != PF_NO_AREA) {
      c->is_new &= !seen[c->frames[area]];
      seen[c->frames[area]] = true;
    }
  free(seen);
  return PF_OK;
}


static pf_status make_nodes (conversion *c, const sums *s) {
  pf_contexts_reserve(c->contexts, c->contexts->count + c->count);
  for (size_t at = 0; at < s->count; at++) {
    if (s->values[at * s->width] == 0)
      continue;
    uint32_t node = 0;
    if (at > 0) {
      const pf_stack *const stack =
          pf_stack_at(c->contexts->dictionary, (uint32_t)(at - 1));
      const uint32_t above =
          stack->parent == PF_NO_STACK ? 0 : c->nodes[stack->parent];
      const uint32_t frame = *frame_of(c, stack);
      node = c->is_new ? pf_context_append(c->contexts, above, frame)
                       : pf_context_of(c->contexts, above, frame);
      c->nodes[at - 1] = node;
    }
    if (node == PF_NO_CONTEXT)
      return PF_ENOMEM;
    const int64_t *const sum = s->values + at * s->width;
    for (size_t m = 0; m < s->rows->nmetrics; m++)
      pf_context_add(c->contexts, node, s->rows->metrics[m], sum[m + 1]);
  }
  return PF_OK;
}


static pf_status make_contexts (pf_contexts *contexts, sums *s) {
  conversion c = {.contexts = contexts, .is_new = contexts->count == 1};
  c.nareas = pf_areas_count(contexts->dictionary);
  c.nodes = pf_large_array(s->count + 1, sizeof *c.nodes);
  c.frames = malloc((c.nareas + 1) * sizeof *c.frames);
  pf_status status = c.nodes == NULL || c.frames == NULL ? PF_ENOMEM : PF_OK;
  if (status == PF_OK) {
    memset(c.frames, 0xff, (c.nareas + 1) * sizeof *c.frames);
    /* Mark the ancestors of stacks with rows by a number of rows of -1: they
       need nodes as well. */
    for (size_t at = s->count; at-- > 1;) {
      const uint32_t parent =
          pf_stack_at(contexts->dictionary, (uint32_t)(at - 1))->parent;
      if (s->values[at * s->width] == 0 || parent == PF_NO_STACK)
        continue;
      int64_t *const above = &s->values[((size_t)parent + 1) * s->width];
      if (*above == 0)
        *above = -1;
    }
    status = find_frames(&c, s);
  }
  if (status == PF_OK)
    status = make_nodes(&c, s);
  contexts->has_overflowed |= s->has_overflowed;
  free(c.nodes);
  free(c.frames);
  return status;
}


/* Whether the reader can do a bulk read into the contexts: they are empty, and
   each metric has a column of its own. */
static bool can_bulk_read (const pf_contexts *contexts,
                           const pf_stack_rows *rows) {
  if (pf_can(rows->reader)->read_stacks == NULL || contexts->count > 1)
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


pf_status pf_contexts_by_stack (pf_contexts *contexts,
                                const pf_stack_rows *rows, bool *wanted,
                                pf_error *error) {
  if (can_bulk_read(contexts, rows)) {
    const pf_stack_target to = {.contexts = contexts,
                                .nmetrics = rows->nmetrics,
                                .columns = rows->columns,
                                .metrics = rows->metrics};
    return rows->reader->can->read_stacks(rows->reader, &to, error);
  }
  sums s = {.rows = rows, .width = rows->nmetrics + 1};
  const pf_pipeline pipeline = {.wanted = wanted,
                                .notes = 1,
                                .prepare = count_stacks,
                                .process = add_batch,
                                .context = &s};
  pf_status status = pf_pipeline_run(&pipeline, rows->reader, error);
  if (status == PF_OK && make_contexts(contexts, &s) != PF_OK)
    status = pf_no_memory(error);
  free(s.values);
  return status;
}
