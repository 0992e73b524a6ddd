/*
** by_stack.c - stacks have ids in the dictionary, and a stack has a greater id
** than its parent: so one scan over an array of sums by id builds the contexts.
*/

#include "kernels/contexts/by_stack.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/pipeline.h"
#include "model/base/memory.h"
#include "model/dictionary/stacks.h"
#include "model/rows/read_stacks.h"

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


/* Mark the ancestors of stacks with rows by a number of rows of -1: they need
   nodes as well. Returns the number of stacks that need one. */
static size_t mark_ancestors (sums *s, const pf_dictionary *dictionary) {
  size_t count = 0;
  for (size_t at = s->count; at-- > 1;) {
    if (s->values[at * s->width] == 0)
      continue;
    const uint32_t parent = pf_stack_at(dictionary, (uint32_t)(at - 1))->parent;
    const size_t above = parent == PF_NO_STACK ? 0 : (size_t)parent + 1;
    if (s->values[above * s->width] == 0 && above > 0)
      s->values[above * s->width] = -1;
    count++;
  }
  return count;
}


/* Add a node for each stack that needs one, parents first. */
static pf_status make_contexts (pf_contexts *contexts, sums *s) {
  pf_dictionary *const d = contexts->dictionary;
  const size_t nareas = pf_areas_count(d);
  uint32_t *const nodes = pf_large_array(s->count + 1, sizeof *nodes);
  /* by area; the last one is for unknown areas */
  uint32_t *const frames = malloc((nareas + 1) * sizeof *frames);
  bool ok = nodes != NULL && frames != NULL;
  if (ok) {
    memset(frames, 0xff, (nareas + 1) * sizeof *frames);
    pf_contexts_reserve(contexts, contexts->count + mark_ancestors(s, d));
  }
  for (size_t at = 0; ok && at < s->count; at++) {
    const int64_t *const sum = s->values + at * s->width;
    uint32_t node = 0;
    if (*sum == 0)
      continue;
    if (at > 0) {
      const pf_stack *const stack = pf_stack_at(d, (uint32_t)(at - 1));
      const uint32_t above =
          stack->parent == PF_NO_STACK ? 0 : nodes[stack->parent];
      uint32_t *const frame =
          &frames[stack->frame < nareas ? stack->frame : nareas];
      if (*frame == PF_NO_AREA)
        *frame = pf_frame_of(d, stack->frame);
      node = *frame == PF_NO_AREA ? PF_NO_CONTEXT
                                  : pf_context_of(contexts, above, *frame);
      nodes[at - 1] = node;
    }
    ok = node != PF_NO_CONTEXT;
    for (size_t m = 0; ok && m < s->rows->nmetrics; m++)
      pf_context_add(contexts, node, s->rows->metrics[m], sum[m + 1]);
  }
  contexts->has_overflowed |= s->has_overflowed;
  free(nodes);
  free(frames);
  return ok ? PF_OK : PF_ENOMEM;
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
