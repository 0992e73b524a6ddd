/*
** collect.c - finds the columns, and adds the rows to contexts. Stacks are
** summed by their ids, or read in bulk; for other rows the frames are looked up
** row by row.
*/

#include "kernels/contexts/collect.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/pipeline.h"
#include "model/base/memory.h"
#include "model/dictionary/stacks.h"
#include "model/contexts/contexts.h"
#include "model/rows/abilities.h"
#include "model/base/wide.h"

#define NO_COLUMN SIZE_MAX

/* The columns of stacks and frames. */
/* clang-format off */
enum {
  STACK, FOLDED, FUNCTION, FALLBACK, CALLER, CALLER_FILE, FILE_NAME, LINE,
  NCOLUMNS
};
/* clang-format on */

typedef struct collector {
  pf_contexts *contexts;
  const pf_collect *from;
  size_t at[NCOLUMNS]; /* numbers of the columns, or NO_COLUMN */
  size_t *columns;     /* of weights, or NO_COLUMN */
  size_t *metrics;     /* their numbers in the contexts */
  size_t *rests;   /* their remainder columns (pf_remainder_of), or NO_COLUMN */
  pf_wide **sums;  /* of these, by metric and node; NULL: none yet */
  size_t capacity; /* nodes that the sums have */
  pf_batch batch;
} collector;


static pf_status find_column (const pf_reader *reader, const char *name,
                              pf_type type, size_t *column, pf_error *error) {
  *column = NO_COLUMN;
  if (name == NULL)
    return PF_OK;
  const size_t i = pf_field_index(reader->fields, reader->nfields, name);
  const pf_field *const field = &reader->fields[i];
  if (i == reader->nfields ||
      !(field->type == type || (type == PF_NAME && field->type == PF_AREA) ||
        pf_has_any_type(field)))
    return pf_refuse(error, "a profile needs a column '%s' of type %s", name,
                     pf_type_name(type));
  *column = i;
  return PF_OK;
}


static pf_status find_columns (collector *c, pf_error *error) {
  const pf_collect *const from = c->from;
  const struct {
    const char *name;
    pf_type type;
  } wanted[NCOLUMNS] = {[STACK] = {from->stack, PF_STACK},
                        [FOLDED] = {from->folded, PF_NAME},
                        [FUNCTION] = {from->function, PF_NAME},
                        [FALLBACK] = {from->fallback, PF_NAME},
                        [CALLER] = {from->caller, PF_NAME},
                        [CALLER_FILE] = {from->caller_file, PF_NAME},
                        [FILE_NAME] = {from->file, PF_NAME},
                        [LINE] = {from->line, PF_INT}};
  pf_status status = PF_OK;
  for (size_t i = 0; status == PF_OK && i < NCOLUMNS; i++)
    status = find_column(from->reader, wanted[i].name, wanted[i].type,
                         &c->at[i], error);
  for (size_t m = 0; status == PF_OK && m < from->nmetrics; m++) {
    status = find_column(from->reader, from->metrics[m].column, PF_INT,
                         &c->columns[m], error);
    c->rests[m] = c->columns[m] == NO_COLUMN || status != PF_OK
                      ? NO_COLUMN
                      : pf_remainder_of(from->reader->fields,
                                        from->reader->nfields, c->columns[m]);
    c->metrics[m] =
        pf_metric_of(c->contexts, from->metrics[m].name, from->metrics[m].unit);
    if (status == PF_OK && c->metrics[m] == PF_NO_METRIC)
      status = pf_no_memory(error);
  }
  if (status == PF_OK && from->usual != NULL &&
      c->contexts->default_metric == PF_NO_METRIC)
    c->contexts->default_metric = pf_metric_named(c->contexts, from->usual);
  return status;
}


/* The node of the caller of a single frame. */
static uint32_t node_of_caller (collector *c, size_t row) {
  pf_dictionary *const d = c->contexts->dictionary;
  pf_area frame = PF_AREA_NONE;
  if (!pf_has_value(&c->batch, c->at[CALLER], row))
    return 0;
  const pf_column *const caller = &c->batch.columns[c->at[CALLER]];
  frame.name = caller->type == PF_AREA ? pf_area_name(d, caller->ids[row])
                                       : caller->ids[row];
  if (pf_has_value(&c->batch, c->at[CALLER_FILE], row))
    frame.file = c->batch.columns[c->at[CALLER_FILE]].ids[row];
  const uint32_t area = pf_area_add(d, &frame);
  return area == PF_NO_AREA ? PF_NO_CONTEXT
                            : pf_context_of(c->contexts, 0, area);
}


/* A row without a name gets a frame too: views and exports need its weight. */
static uint32_t node_of_frame (collector *c, size_t row) {
  pf_dictionary *const d = c->contexts->dictionary;
  pf_area frame = PF_AREA_NONE;
  const bool has_function = pf_has_value(&c->batch, c->at[FUNCTION], row);
  const size_t at = c->at[has_function ? FUNCTION : FALLBACK];
  frame.name = pf_id_at(&c->batch, at, row);
  if (frame.name == PF_NO_NAME) {
    frame.name = pf_intern_text(d, PF_UNNAMED);
    if (frame.name == PF_NO_NAME)
      return PF_NO_CONTEXT;
  }
  else if (c->batch.columns[at].type == PF_AREA) {
    const pf_area *const area = pf_area_at(d, frame.name);
    frame.name = area->name;
    frame.file = area->file;
    frame.line = area->line;
  }
  if (pf_has_value(&c->batch, c->at[FILE_NAME], row))
    frame.file = c->batch.columns[c->at[FILE_NAME]].ids[row];
  if (pf_has_value(&c->batch, c->at[LINE], row))
    frame.line = c->batch.columns[c->at[LINE]].ints[row];
  const uint32_t area = pf_area_add(d, &frame);
  const uint32_t caller = node_of_caller(c, row);
  return area == PF_NO_AREA || caller == PF_NO_CONTEXT
             ? PF_NO_CONTEXT
             : pf_context_of(c->contexts, caller, area);
}


/* The node of a folded stack. */
static uint32_t node_of_folded (collector *c, size_t row) {
  pf_dictionary *const d = c->contexts->dictionary;
  uint32_t node = 0;
  if (!pf_has_value(&c->batch, c->at[FOLDED], row))
    return 0;
  const pf_column *const column = &c->batch.columns[c->at[FOLDED]];
  pf_bytes left = pf_text(d, column->type, column->ids[row]);
  while (left.size > 0 && node != PF_NO_CONTEXT) {
    const uint8_t *const end = memchr(left.at, ';', left.size);
    const size_t size = end == NULL ? left.size : (size_t)(end - left.at);
    pf_area frame = PF_AREA_NONE;
    frame.name = pf_intern(d, (pf_bytes){left.at, size});
    const uint32_t area = pf_area_add(d, &frame);
    node = frame.name == PF_NO_NAME || area == PF_NO_AREA
               ? PF_NO_CONTEXT
               : pf_context_of(c->contexts, node, area);
    left.at += size + (end != NULL);
    left.size -= size + (end != NULL);
  }
  return node;
}


/* Add the remainders of a row to the sums, which grow to all nodes; false when
   out of memory. */
static bool add_rests (collector *c, size_t row, uint32_t node) {
  const size_t count = c->contexts->count, capacity = count + count / 2;
  const bool grows = count > c->capacity;
  for (size_t m = 0; m < c->from->nmetrics; m++) {
    if (c->rests[m] == NO_COLUMN)
      continue;
    if (grows && !pf_widen(&c->sums[m], c->capacity, capacity))
      return false;
    if (pf_has_value(&c->batch, c->rests[m], row))
      c->sums[m][node] += c->batch.columns[c->rests[m]].ints[row];
  }
  if (grows)
    c->capacity = capacity;
  return true;
}


static pf_status read_rows (collector *c, bool *wanted, pf_error *error) {
  pf_reader *const reader = c->from->reader;
  pf_status status = pf_batch_for(&c->batch, reader, wanted);
  if (status != PF_OK)
    return pf_no_memory(error);
  while (status == PF_OK) {
    status = reader->next(reader, &c->batch, error);
    for (size_t row = 0; status == PF_MORE && row < c->batch.rows; row++) {
      const uint32_t node = c->at[FOLDED] != NO_COLUMN ? node_of_folded(c, row)
                                                       : node_of_frame(c, row);
      if (node == PF_NO_CONTEXT || !add_rests(c, row, node)) {
        status = pf_no_memory(error);
        break;
      }
      for (size_t m = 0; m < c->from->nmetrics; m++) {
        const size_t at = c->columns[m];
        if (at == NO_COLUMN || pf_has_value(&c->batch, at, row))
          pf_context_add(c->contexts, node, c->metrics[m],
                         at == NO_COLUMN ? 1 : c->batch.columns[at].ints[row]);
      }
    }
  }
  pf_batch_close(&c->batch);
  return status == PF_END || status == PF_AGAIN ? PF_OK : status;
}


/* Rows with stacks: the reader and its columns, by number. */
typedef struct stack_rows {
  pf_reader *reader;
  size_t stack; /* the column of stacks */
  size_t nmetrics;
  const size_t *columns; /* of weights; SIZE_MAX: each row counts 1 */
  const size_t *metrics; /* of the contexts, for these columns */
} stack_rows;

/*
** Sums by stack, `width` values for each: the number of rows (0: none), then
** the weights. Entry 0 is for rows without a stack, entry n + 1 for stack n.
*/
typedef struct sums {
  const stack_rows *rows;
  int64_t *values;
  size_t width, count, capacity;
  bool has_overflowed;
} sums;


/* Grow to `count` entries; false when out of memory. */
static bool grow_sums (sums *s, size_t count) {
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


static void sum_row (sums *s, const pf_batch *batch, size_t row, size_t at) {
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


/* In the caller's thread, which adds stacks: note how many the dictionary has
   after the batch was read. */
static void count_stacks (void *context, const pf_pull *pull, uint32_t *notes) {
  (void)context;
  notes[0] = pf_stacks_count(pull->reader->dictionary);
}


static pf_status sum_batch (void *context, const pf_pull *pull,
                            const uint32_t *notes, pf_error *error) {
  sums *const s = context;
  const pf_column *const stacks = &pull->batch.columns[s->rows->stack];
  if (!grow_sums(s, (size_t)notes[0] + 1))
    return pf_no_memory(error);
  for (size_t row = 0; row < pull->batch.rows; row++) {
    const bool is_known =
        !pf_is_missing(stacks, row) && stacks->ids[row] < notes[0];
    sum_row(s, &pull->batch, row, is_known ? (size_t)stacks->ids[row] + 1 : 0);
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
                           const stack_rows *rows) {
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


/* Read rows with stacks, in bulk if the reader can. Else their weights are
   summed by stack id in the worker thread, and become contexts at the end. A
   stack has a greater id than its parent, so one scan over an array of sums by
   id builds the contexts. */
static pf_status collect_stacks (pf_contexts *contexts, const stack_rows *rows,
                                 bool *wanted, pf_error *error) {
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
                                .process = sum_batch,
                                .context = &s};
  pf_status status = pf_pipeline_run(&pipeline, rows->reader, error);
  if (status == PF_OK && make_contexts(contexts, &s) != PF_OK)
    status = pf_no_memory(error);
  free(s.values);
  return status;
}


/* Read the rows into the contexts, after find_columns. */
static pf_status read_all (collector *c, pf_error *error) {
  bool *const wanted = calloc(c->from->reader->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < NCOLUMNS; i++)
    if (c->at[i] != NO_COLUMN)
      wanted[c->at[i]] = true;
  for (size_t m = 0; m < c->from->nmetrics; m++) {
    if (c->columns[m] != NO_COLUMN)
      wanted[c->columns[m]] = true;
    if (c->rests[m] != NO_COLUMN)
      wanted[c->rests[m]] = true;
  }
  const stack_rows rows = {.reader = c->from->reader,
                           .stack = c->at[STACK],
                           .nmetrics = c->from->nmetrics,
                           .columns = c->columns,
                           .metrics = c->metrics};
  const pf_status status =
      c->at[STACK] != NO_COLUMN && c->at[FOLDED] == NO_COLUMN
          ? collect_stacks(c->contexts, &rows, wanted, error)
          : read_rows(c, wanted, error);
  free(wanted);
  return status;
}


pf_status pf_contexts_collect (pf_contexts *contexts, const pf_collect *from,
                               pf_error *error) {
  collector c = {.contexts = contexts,
                 .from = from,
                 .columns = calloc(from->nmetrics + 1, sizeof *c.columns),
                 .metrics = calloc(from->nmetrics + 1, sizeof *c.metrics),
                 .rests = calloc(from->nmetrics + 1, sizeof *c.rests),
                 .sums = calloc(from->nmetrics + 1, sizeof *c.sums)};
  pf_status status = c.columns == NULL || c.metrics == NULL ||
                             c.rests == NULL || c.sums == NULL
                         ? pf_no_memory(error)
                         : find_columns(&c, error);
  if (status == PF_OK)
    status = read_all(&c, error);
  if (status == PF_OK) {
    /* Add the sums of the remainders, rounded, to the weights. */
    for (size_t m = 0; c.sums != NULL && m < c.from->nmetrics; m++)
      for (uint32_t node = 0;
           c.sums[m] != NULL && node < c.contexts->count && node < c.capacity;
           node++)
        pf_context_add(c.contexts, node, c.metrics[m],
                       (int64_t)pf_ns_of_parts(c.sums[m][node]));
  }
  for (size_t m = 0; c.sums != NULL && m < from->nmetrics; m++)
    free(c.sums[m]);
  free(c.columns);
  free(c.metrics);
  free(c.rests);
  free(c.sums);
  return status;
}
