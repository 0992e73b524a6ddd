/*
** labels.c - the reader of labels: one row for each label of each sample.
*/

#include <stdlib.h>

#include "formats/pprof/pprof.h"
#include "model/rows/put_values.h"

#define LABEL 3

enum {
  LABEL_SAMPLE,
  LABEL_KEY,
  LABEL_TEXT,
  LABEL_NUMBER,
  LABEL_UNIT,
  LABEL_COLUMNS
};

static const pf_field fields[LABEL_COLUMNS] = {
    {"sample", PF_INT, "index of the sample, from 0"},
    {"key", PF_NAME, "key of the label"},
    {"text", PF_NAME, "value, if it is text"},
    {"number", PF_INT, "value, if it is a number"},
    {"unit", PF_NAME, "unit of the number"},
};

typedef struct labels_reader {
  pf_reader reader;
  pf_trace *trace;
  pf_cursor at;    /* in the file */
  pf_cursor inner; /* in the current sample */
  int64_t sample;  /* index of the sample; -1: none yet */
  size_t offset;   /* of the sample */
} labels_reader;


/* Store a string as a name; string 0 is missing. */
static pf_status put_text (labels_reader *r, pf_column *column, size_t row,
                           uint64_t number, pf_error *error) {
  if (column->data == NULL)
    return PF_OK;
  column->ids[row] = 0;
  if (number != 0)
    return pprof_name(r->trace, number, r->offset, &column->ids[row], error);
  pf_set_missing(column, row);
  return PF_OK;
}


static pf_status put_label (labels_reader *r, pf_batch *batch, pf_bytes message,
                            pf_error *error) {
  pprof_label label;
  const size_t row = batch->rows++;
  pprof_read_label(message, &label);
  pf_column *const columns = batch->columns;
  pf_put_int(&columns[LABEL_SAMPLE], row, r->sample, true);
  pf_put_int(&columns[LABEL_NUMBER], row, label.number, label.text == 0);
  pf_status status = put_text(r, &columns[LABEL_KEY], row, label.key, error);
  if (status == PF_OK)
    status = put_text(r, &columns[LABEL_TEXT], row, label.text, error);
  if (status == PF_OK)
    status = put_text(r, &columns[LABEL_UNIT], row, label.unit, error);
  return status;
}


static pf_status labels_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  labels_reader *const r = (labels_reader *)(void *)self;
  pprof_field field;
  pf_status status = PF_OK;
  pf_batch_clear(batch);
  while (status == PF_OK && batch->rows < PF_BATCH_ROWS) {
    if (!pprof_next_field(&r->inner, &field)) {
      if (!pprof_next_field(&r->at, &field))
        break;
      if (field.number == PPROF_SAMPLE && field.wire == PPROF_BYTES) {
        r->inner = pf_cursor_over(field.bytes, false);
        r->offset = field.at;
        r->sample++;
      }
    }
    else if (field.number == LABEL && field.wire == PPROF_BYTES)
      status = put_label(r, batch, field.bytes, error);
  }
  return status != PF_OK ? status : batch->rows > 0 ? PF_MORE : PF_END;
}


static void labels_close (pf_reader *self) {
  free(self);
}


static pf_status open_labels (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  labels_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return pf_no_memory(error);
  r->reader = (pf_reader){.fields = table->fields,
                          .nfields = table->nfields,
                          .dictionary = trace->dictionary,
                          .next = labels_next,
                          .close = labels_close};
  r->trace = trace;
  const pprof_file *const file = trace->state;
  r->at = pf_cursor_over(file->readable, false);
  r->sample = -1;
  *reader = &r->reader;
  return PF_OK;
}


const pf_table pprof_labels_table = {"labels", fields, LABEL_COLUMNS, 0,
                                     open_labels};
