/*
** collect.c - find the columns, and add the rows to contexts. by_stack.c reads
** rows with stacks; for other rows the frames are looked up row by row.
*/

#include "kernels/contexts/collect.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/contexts/by_stack.h"
#include "model/base/memory.h"
#include "model/rows/batch.h"
#include "model/base/wide.h"

#define NO_COLUMN SIZE_MAX

/* The columns of stacks and frames. */
enum {
  STACK,
  FOLDED,
  FUNCTION,
  CALLER,
  CALLER_FILE,
  FILE_NAME,
  LINE,
  NCOLUMNS
};

typedef struct collector {
  pf_contexts *contexts;
  const pf_collect *from;
  size_t at[NCOLUMNS]; /* numbers of the columns, or NO_COLUMN */
  size_t *columns;     /* of weights, or NO_COLUMN */
  size_t *metrics;     /* their numbers in the contexts */
  size_t *rests;  /* columns with what their rounding left over, or NO_COLUMN */
  pf_wide **sums; /* of these, by metric and node; NULL: none yet */
  size_t capacity; /* nodes that the sums have */
  pf_batch batch;
} collector;


static pf_status find_column (const pf_reader *reader, const char *name,
                              pf_type type, size_t *column, pf_error *error) {
  *column = NO_COLUMN;
  if (name == NULL)
    return PF_OK;
  const size_t i = pf_field_index(reader->fields, reader->nfields, name);
  const pf_type found = i < reader->nfields ? reader->fields[i].type : type;
  if (i == reader->nfields ||
      !(found == type || (type == PF_NAME && found == PF_AREA)))
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


/* Returns for each field whether it is read; NULL when out of memory. */
static bool *wanted_fields (const collector *c) {
  bool *const wanted = calloc(c->from->reader->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return NULL;
  for (size_t i = 0; i < NCOLUMNS; i++)
    if (c->at[i] != NO_COLUMN)
      wanted[c->at[i]] = true;
  for (size_t m = 0; m < c->from->nmetrics; m++)
    if (c->columns[m] != NO_COLUMN) {
      wanted[c->columns[m]] = true;
      if (c->rests[m] != NO_COLUMN)
        wanted[c->rests[m]] = true;
    }
  return wanted;
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


static uint32_t node_of_frame (collector *c, size_t row) {
  pf_dictionary *const d = c->contexts->dictionary;
  pf_area frame = PF_AREA_NONE;
  if (!pf_has_value(&c->batch, c->at[FUNCTION], row))
    return 0;
  const pf_column *const function = &c->batch.columns[c->at[FUNCTION]];
  frame.name = function->ids[row];
  if (function->type == PF_AREA) {
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


static pf_status add_batch (collector *c, pf_error *error) {
  for (size_t row = 0; row < c->batch.rows; row++) {
    const uint32_t node = c->at[FOLDED] != NO_COLUMN ? node_of_folded(c, row)
                                                     : node_of_frame(c, row);
    if (node == PF_NO_CONTEXT || !add_rests(c, row, node))
      return pf_no_memory(error);
    for (size_t m = 0; m < c->from->nmetrics; m++) {
      const size_t at = c->columns[m];
      if (at == NO_COLUMN || pf_has_value(&c->batch, at, row))
        pf_context_add(c->contexts, node, c->metrics[m],
                       at == NO_COLUMN ? 1 : c->batch.columns[at].ints[row]);
    }
  }
  return PF_OK;
}


static pf_status read_rows (collector *c, bool *wanted, pf_error *error) {
  pf_reader *const reader = c->from->reader;
  pf_status status = pf_batch_for(&c->batch, reader, wanted);
  if (status != PF_OK)
    return pf_no_memory(error);
  while (status == PF_OK) {
    status = reader->next(reader, &c->batch, error);
    if (status == PF_MORE)
      status = add_batch(c, error);
  }
  pf_batch_close(&c->batch);
  return status == PF_END || status == PF_AGAIN ? PF_OK : status;
}


/* Read the rows into the contexts, after find_columns. */
static pf_status read_all (collector *c, pf_error *error) {
  bool *const wanted = wanted_fields(c);
  if (wanted == NULL)
    return pf_no_memory(error);
  const pf_stack_rows rows = {.reader = c->from->reader,
                              .stack = c->at[STACK],
                              .nmetrics = c->from->nmetrics,
                              .columns = c->columns,
                              .metrics = c->metrics};
  const pf_status status =
      c->at[STACK] != NO_COLUMN && c->at[FOLDED] == NO_COLUMN
          ? pf_contexts_by_stack(c->contexts, &rows, wanted, error)
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
