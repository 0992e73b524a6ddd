/*
** rows_pprof.c - the readers of the tables: samples (one row with all values),
** weights (one row for each value of each sample), labels (one row for each
** label of each sample) and raw (one row for each field of Profile, and one for
** the bytes after the last field that can be read; the column `bytes` of all
** rows, concatenated, is the decompressed file). Opened through pf_table.open
** by lua/checked_reader.c, which calls `close`; that frees the reader and its
** arrays.
*/

#include "formats/pprof/pprof.h"
#include "model/base/memory.h"
#include "model/rows/abilities.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

const pf_field pprof_weights_fields[] = PF_COLUMN_FIELDS(WEIGHTS);

typedef struct samples_reader {
  pf_reader reader;
  pprof_samples samples;
  uint32_t stack;   /* of the current sample */
  size_t type;      /* weights: index of the next value */
  uint32_t *areas;  /* of the previous sample, outermost first */
  uint32_t *stacks; /* the stack that ends with each of them */
  size_t depth, area_capacity;
} samples_reader;


/* Read the next sample and find its stack. As long as its frames equal those of
   the previous sample, their stacks are reused. */
static pf_status next_stack (samples_reader *r, pf_error *error) {
  const pprof_samples *const s = &r->samples;
  const pf_status status = pprof_next_sample(&r->samples, error);
  if (status != PF_MORE)
    return status;
  size_t capacity = r->area_capacity;
  if (!pf_grow(&r->areas, &capacity, s->depth) ||
      !pf_grow(&r->stacks, &r->area_capacity, s->depth))
    return pf_no_memory(error);
  r->stack = PF_NO_STACK;
  for (size_t i = 0; i < s->depth; i++) {
    const uint32_t area = s->file->frames[s->frames[i]];
    if (i >= r->depth || r->areas[i] != area) {
      r->depth = i + 1; /* deeper frames belong to another stack */
      r->areas[i] = area;
      r->stacks[i] = pf_stack_push(r->reader.dictionary, r->stack, area);
      if (r->stacks[i] == PF_NO_STACK)
        return pf_no_memory(error);
    }
    r->stack = r->stacks[i];
  }
  return PF_MORE;
}


static pf_status put_sample (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  samples_reader *const r = (samples_reader *)(void *)self;
  const pf_status status = next_stack(r, error);
  if (status != PF_MORE)
    return status;
  const size_t row = batch->rows++;
  pf_put_id(&batch->columns[0], row, r->stack);
  for (size_t t = 0; t < r->samples.file->ntypes; t++) {
    int64_t value = 0;
    const bool has =
        pprof_value(r->samples.file, &r->samples.values, t, &value);
    pf_put_int(&batch->columns[t + 1], row, value, has);
  }
  return PF_MORE;
}


PF_NEXT_BY_STEPS(samples_next, put_sample)


/* Put the next value of the current sample, or read the next sample. */
static pf_status put_weight (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  samples_reader *const r = (samples_reader *)(void *)self;
  int64_t weight;
  if (r->type == r->samples.file->ntypes) {
    const pf_status status = next_stack(r, error);
    if (status == PF_MORE)
      r->type = 0;
    return status;
  }
  const size_t t = r->type++;
  if (!pprof_value(r->samples.file, &r->samples.values, t, &weight))
    return PF_MORE;
  const size_t row = batch->rows++;
  pf_put_id(&batch->columns[WEIGHTS_stack], row, r->stack);
  pf_put_id(&batch->columns[WEIGHTS_metric], row,
            r->samples.file->types[t].name);
  pf_put_id(&batch->columns[WEIGHTS_unit], row, r->samples.file->types[t].unit);
  pf_put_int(&batch->columns[WEIGHTS_weight], row, weight, true);
  return PF_MORE;
}


PF_NEXT_BY_STEPS(weights_next, put_weight)


static pf_status samples_read_stacks (pf_reader *self,
                                      const pf_stack_target *to,
                                      pf_error *error) {
  const samples_reader *const r = (const samples_reader *)(const void *)self;
  return pprof_read_stacks(r->samples.trace, to, error);
}


static void samples_close (pf_reader *self) {
  samples_reader *const r = (samples_reader *)(void *)self;
  pprof_samples_close(&r->samples);
  free(r->areas);
  free(r->stacks);
  free(r);
}


pf_status pprof_open_samples (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  static const pf_abilities abilities = {.read_stacks = samples_read_stacks};
  const bool has_weights = table->fields == pprof_weights_fields;
  samples_reader *const r =
      pf_reader_new(sizeof *r, trace, table,
                    has_weights ? weights_next : samples_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->reader.close = samples_close;
  r->reader.can = &abilities;
  r->samples.trace = trace;
  r->samples.file = trace->state;
  r->samples.at = pf_cursor_over(r->samples.file->readable, false);
  r->type = r->samples.file->ntypes; /* no sample has been read */
  *reader = &r->reader;
  return PF_OK;
}


#define LABEL 3


#define LABELS_LIST(X, T)                          \
  X(T, sample, INT, "index of the sample, from 0") \
  X(T, key, NAME, "key of the label")              \
  X(T, text, NAME, "value, if it is text")         \
  X(T, number, INT, "value, if it is a number")    \
  X(T, unit, NAME, "unit of the number")
PF_COLUMN_INDEXES(LABELS);
static const pf_field label_fields[] = PF_COLUMN_FIELDS(LABELS);

typedef struct labels_reader {
  pf_reader reader;
  pf_trace *trace;
  pf_cursor at;    /* in the file */
  pf_cursor inner; /* in the current sample */
  int64_t sample;  /* index of the sample; -1: none yet */
  size_t offset;   /* of the sample */
} labels_reader;


static pf_status put_label (labels_reader *r, pf_batch *batch, pf_bytes message,
                            pf_error *error) {
  pprof_label label;
  const size_t row = batch->rows++;
  const bool is_end = pprof_read_message(message, &label, sizeof label);
  pf_column *const columns = batch->columns;
  const uint64_t texts[LABELS_COLUMNS] = {[LABELS_key] = label.key,
                                          [LABELS_text] = label.text,
                                          [LABELS_unit] = label.unit};
  pf_status status = pprof_check_end(r->trace, is_end, r->offset, error);
  pf_put_int(&columns[LABELS_sample], row, r->sample, true);
  pf_put_int(&columns[LABELS_number], row, label.number, label.text == 0);
  for (size_t i = 0; i < LABELS_COLUMNS && status == PF_OK; i++) {
    uint32_t name = PF_NO_NAME;
    if (label_fields[i].type != PF_NAME || columns[i].data == NULL)
      continue;
    status = pprof_name_or_none(r->trace, texts[i], r->offset, &name, error);
    pf_put_id(&columns[i], row, name);
  }
  return status;
}


static pf_status next_label (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  labels_reader *const r = (labels_reader *)(void *)self;
  pprof_field field;
  if (pprof_next_field(&r->inner, &field))
    return field.number == LABEL && field.wire == PPROF_BYTES
               ? put_label(r, batch, field.bytes, error)
               : PF_MORE;
  const pf_status status =
      pprof_check_end(r->trace, pf_left(&r->inner) == 0, r->offset, error);
  r->inner = (pf_cursor){.at = 0};
  if (status != PF_OK)
    return status;
  if (!pprof_next_field(&r->at, &field))
    return PF_END;
  if (field.number == PPROF_SAMPLE && field.wire == PPROF_BYTES) {
    r->inner = pf_cursor_over(field.bytes, false);
    r->offset = field.at;
    r->sample++;
  }
  return PF_MORE;
}


PF_NEXT_BY_STEPS(labels_next, next_label)


static pf_status open_labels (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  labels_reader *const r =
      pf_reader_new(sizeof *r, trace, table, labels_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->trace = trace;
  r->at = pf_cursor_over(((const pprof_file *)trace->state)->readable, false);
  r->sample = -1;
  *reader = &r->reader;
  return PF_OK;
}


const pf_table pprof_labels_table = {"labels", label_fields, LABELS_COLUMNS, 0,
                                     open_labels};


#define RAW_LIST(X, T)                                                \
  X(T, offset, INT, "offset in the decompressed file")                \
  X(T, size, INT, "bytes")                                            \
  X(T, kind, NAME, "sample, location, function, string, ... or rest") \
  X(T, value, INT, "value of a number field")                         \
  X(T, bytes, BYTES, "bytes of the field")
PF_COLUMN_INDEXES(RAW);
static const pf_field raw_fields[] = PF_COLUMN_FIELDS(RAW);

typedef struct raw_reader {
  pf_reader reader;
  const pprof_file *file;
  size_t at;
} raw_reader;

static const char *const kinds[] = {
    "unknown", "sample_type", "sample",
    "mapping", "location",    "function",
    "string",  "drop_frames", "keep_frames",
    "time",    "duration",    "period_type",
    "period",  "comment",     "default_sample_type",
    "doc_url"};

#define NKINDS (sizeof kinds / sizeof *kinds)


static pf_status put_field (pf_reader *self, pf_batch *batch, pf_error *error) {
  raw_reader *const r = (raw_reader *)(void *)self;
  pf_cursor c = {r->file->bytes, r->at, false};
  pf_column *const columns = batch->columns;
  pprof_field field;
  if (r->at == c.bytes.size)
    return PF_END;
  const size_t row = batch->rows++, from = r->at;
  const bool ok = pprof_next_field(&c, &field);
  r->at = ok ? c.at : c.bytes.size;
  const pf_bytes bytes = {c.bytes.at + from, r->at - from};
  const char *const kind =
      !ok ? "rest" : kinds[field.number < NKINDS ? field.number : 0];
  pf_put_int(&columns[RAW_offset], row, (int64_t)from, true);
  pf_put_int(&columns[RAW_size], row, (int64_t)bytes.size, true);
  pf_put_bytes(&columns[RAW_bytes], row, bytes, true);
  pf_put_int(&columns[RAW_value], row, (int64_t)field.value,
             ok && field.wire != PPROF_BYTES);
  return pf_put_text(r->reader.dictionary, &columns[RAW_kind], row,
                     pf_bytes_of(kind), true)
             ? PF_MORE
             : pf_no_memory(error);
}


PF_NEXT_BY_STEPS(raw_next, put_field)


static pf_status open_raw (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error) {
  raw_reader *const r = pf_reader_new(sizeof *r, trace, table, raw_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->file = trace->state;
  *reader = &r->reader;
  return PF_OK;
}


const pf_table pprof_raw_table = {"raw", raw_fields, RAW_COLUMNS, 0, open_raw};
