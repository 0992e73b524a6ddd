/*
** samples_pprof.c - the readers of samples (one row with all values) and
** weights (one row for each value).
*/

#include <stdlib.h>
#include <string.h>

#include "formats/pprof/pprof.h"
#include "model/base/memory.h"
#include "model/rows/abilities.h"
#include "model/rows/put_values.h"

const pf_field pprof_weights_fields[WEIGHTS_COLUMNS] = {
    {"stack", PF_STACK, "call stack of the sample"},
    {"metric", PF_NAME, "name of the metric"},
    {"unit", PF_NAME, "unit of the weight; times are in ns"},
    {"weight", PF_INT, "value in that unit"},
};

typedef struct samples_reader {
  pf_reader reader;
  pf_trace *trace;
  const pprof_file *file;
  pf_cursor at;
  uint32_t stack; /* of the current sample */
  pprof_values values;
  size_t type;       /* weights: index of the next value */
  pprof_id_list ids; /* scratch: the locations of a sample */
  uint32_t *frames;  /* of the previous sample, outermost first */
  uint32_t *stacks;  /* the stack that ends with each frame */
  size_t depth, frame_capacity;
} samples_reader;


/* {====== Stacks ====== */

/* Append the location ids of a field: packed or a single one. */
static bool read_ids (pprof_id_list *list, const pprof_field *field) {
  pprof_numbers numbers = pprof_numbers_of(field);
  for (uint64_t id; pprof_next_number(&numbers, &id);) {
    if (!pf_grow(&list->ids, &list->capacity, list->count + 1))
      return false;
    list->ids[list->count++] = id;
  }
  return true;
}


bool pprof_list_ids (pprof_id_list *list, pf_bytes message) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  list->count = 0;
  while (pprof_next_field(&c, &field))
    if (field.number == 1 && !read_ids(list, &field))
      return false;
  return true;
}


pf_status pprof_warn_no_location (pf_trace *trace, uint64_t id, size_t offset,
                                  pf_error *error) {
  return pf_warn(trace, PF_DAMAGE, "pprof-no-location", PF_EFORMAT, offset,
                 error, "there is no location %llu", (unsigned long long)id);
}


/* Set the frame at a depth. As long as frames equal those of the previous
   sample, its stacks are reused. */
static bool push (samples_reader *r, size_t depth, uint32_t frame) {
  if (depth < r->depth && r->frames[depth] == frame)
    return true;
  size_t capacity = r->frame_capacity;
  if (!pf_grow(&r->frames, &capacity, depth + 1) ||
      !pf_grow(&r->stacks, &r->frame_capacity, depth + 1))
    return false;
  r->depth = depth + 1; /* deeper frames belong to another stack */
  r->frames[depth] = frame;
  r->stacks[depth] =
      pf_stack_push(r->reader.dictionary,
                    depth == 0 ? PF_NO_STACK : r->stacks[depth - 1], frame);
  return r->stacks[depth] != PF_NO_STACK;
}


/* Set r->stack from the locations in r->ids, which are leaf first. */
static pf_status find_stack (samples_reader *r, size_t offset,
                             pf_error *error) {
  size_t depth = 0;
  pf_status status = PF_OK;
  for (size_t n = r->ids.count; n-- > 0 && status == PF_OK;) {
    const uint32_t number = pprof_find_location(r->file, r->ids.ids[n]);
    if (number == UINT32_MAX) {
      status = pprof_warn_no_location(r->trace, r->ids.ids[n], offset, error);
      continue;
    }
    const pprof_location *const l = &r->file->locations[number];
    for (uint32_t i = l->count; i-- > 0; depth++)
      if (!push(r, depth, r->file->frames[l->first + i]))
        return pf_no_memory(error);
  }
  r->stack = depth == 0 ? PF_NO_STACK : r->stacks[depth - 1];
  return status;
}

/* }====== */


/* {====== Samples ====== */

void pprof_read_values (pprof_values *values, const pprof_field *field) {
  pprof_numbers numbers = pprof_numbers_of(field);
  for (uint64_t value; pprof_next_number(&numbers, &value); values->count++)
    if (values->count < PPROF_MAX_TYPES)
      values->at[values->count] = (int64_t)value;
}


pf_status pprof_check_values (pf_trace *trace, const pprof_file *file,
                              const pprof_values *values, size_t offset,
                              pf_error *error) {
  if (values->count == file->ntypes)
    return PF_OK;
  return pf_warn(trace, PF_DAMAGE, "pprof-values", PF_EFORMAT, offset, error,
                 "a sample has %zu values, there are %zu sample types",
                 values->count, file->ntypes);
}


bool pprof_value (const pprof_file *file, const pprof_values *values,
                  size_t type, int64_t *value) {
  return type < values->count && type < PPROF_MAX_TYPES &&
         !__builtin_mul_overflow(values->at[type], file->types[type].scale,
                                 value);
}


/* Read the next sample. Returns PF_MORE, PF_END, or a failure. */
static pf_status next_sample (samples_reader *r, pf_error *error) {
  pprof_field message, field;
  do {
    if (!pprof_next_field(&r->at, &message))
      return PF_END;
  } while (message.number != PPROF_SAMPLE || message.wire != PPROF_BYTES);
  pf_cursor c = pf_cursor_over(message.bytes, false);
  r->ids.count = r->values.count = 0;
  while (pprof_next_field(&c, &field)) {
    if (field.number == 1 && !read_ids(&r->ids, &field))
      return pf_no_memory(error);
    if (field.number == 2)
      pprof_read_values(&r->values, &field);
  }
  const pf_status status =
      pprof_check_values(r->trace, r->file, &r->values, message.at, error);
  return status == PF_OK ? find_stack(r, message.at, error) : status;
}

/* }====== */


/* {====== Rows ====== */

static pf_status samples_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  samples_reader *const r = (samples_reader *)(void *)self;
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS) {
    const pf_status status = next_sample(r, error);
    if (status == PF_END)
      break;
    if (status != PF_MORE)
      return status;
    const size_t row = batch->rows++;
    pf_put_id(&batch->columns[0], row, r->stack);
    for (size_t t = 0; t < r->file->ntypes; t++) {
      pf_column *const column = &batch->columns[t + 1];
      if (column->data == NULL)
        continue;
      column->ints[row] = 0;
      if (!pprof_value(r->file, &r->values, t, &column->ints[row]))
        pf_set_missing(column, row);
    }
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


/* Append one value of the current sample. */
static void put_weight (samples_reader *r, pf_batch *batch, int64_t weight) {
  const size_t row = batch->rows++;
  const pprof_type *const type = &r->file->types[r->type];
  pf_put_id(&batch->columns[WEIGHTS_STACK], row, r->stack);
  if (batch->columns[WEIGHTS_METRIC].data != NULL)
    batch->columns[WEIGHTS_METRIC].ids[row] = type->name;
  if (batch->columns[WEIGHTS_UNIT].data != NULL)
    batch->columns[WEIGHTS_UNIT].ids[row] = type->unit;
  if (batch->columns[WEIGHTS_WEIGHT].data != NULL)
    batch->columns[WEIGHTS_WEIGHT].ints[row] = weight;
}


static pf_status weights_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  samples_reader *const r = (samples_reader *)(void *)self;
  int64_t weight;
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS) {
    if (r->type == r->file->ntypes) {
      const pf_status status = next_sample(r, error);
      if (status == PF_END)
        break;
      if (status != PF_MORE)
        return status;
      r->type = 0;
      continue;
    }
    if (pprof_value(r->file, &r->values, r->type, &weight))
      put_weight(r, batch, weight);
    r->type++;
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


static pf_status samples_read_stacks (pf_reader *self,
                                      const pf_stack_target *to,
                                      pf_error *error) {
  const samples_reader *const r = (const samples_reader *)(const void *)self;
  return pprof_read_stacks(r->trace, to, error);
}


static void samples_close (pf_reader *self) {
  samples_reader *const r = (samples_reader *)(void *)self;
  free(r->ids.ids);
  free(r->frames);
  free(r->stacks);
  free(r);
}


static const pf_abilities abilities = {.read_stacks = samples_read_stacks};


static pf_status open_reader (pf_trace *trace, const pf_table *table,
                              pf_status (*next)(pf_reader *, pf_batch *,
                                                pf_error *),
                              pf_reader **reader, pf_error *error) {
  samples_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return pf_no_memory(error);
  r->reader = (pf_reader){.fields = table->fields,
                          .nfields = table->nfields,
                          .dictionary = trace->dictionary,
                          .next = next,
                          .close = samples_close,
                          .can = &abilities};
  r->trace = trace;
  r->file = trace->state;
  r->at = pf_cursor_over(r->file->readable, false);
  r->type = r->file->ntypes; /* no sample has been read */
  *reader = &r->reader;
  return PF_OK;
}


pf_status pprof_open_samples (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, samples_next, reader, error);
}


pf_status pprof_open_weights (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, weights_next, reader, error);
}

/* }====== */
