/*
** raw_pprof.c - the reader of table raw: one row for each field of Profile. The
** column `bytes` of all rows, concatenated, is the decompressed file.
*/

#include <stdlib.h>

#include "formats/pprof/pprof.h"
#include "model/rows/put_values.h"

enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_VALUE,
  RAW_BYTES,
  RAW_COLUMNS
};

static const pf_field fields[RAW_COLUMNS] = {
    {"offset", PF_INT, "offset in the decompressed file"},
    {"size", PF_INT, "bytes"},
    {"kind", PF_NAME, "sample, location, function, string, ... or rest"},
    {"value", PF_INT, "value of a number field"},
    {"bytes", PF_BYTES, "bytes of the field"},
};

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


static pf_status put_kind (const raw_reader *r, pf_batch *batch, size_t row,
                           const char *kind, pf_error *error) {
  pf_column *const column = &batch->columns[RAW_KIND];
  if (column->data == NULL)
    return PF_OK;
  column->ids[row] = pf_intern_text(r->reader.dictionary, kind);
  return column->ids[row] == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* Store offset, size and bytes of the range `from` .. r->at. */
static void put_bytes (const raw_reader *r, pf_batch *batch, size_t row,
                       size_t from) {
  const pf_bytes bytes = {r->file->bytes.at + from, r->at - from};
  pf_put_int(&batch->columns[RAW_OFFSET], row, (int64_t)from, true);
  pf_put_int(&batch->columns[RAW_SIZE], row, (int64_t)bytes.size, true);
  pf_put_bytes(&batch->columns[RAW_BYTES], row, bytes, true);
}


static void put_value (pf_batch *batch, size_t row, const pprof_field *field) {
  const bool has = field != NULL && field->wire != PPROF_BYTES;
  pf_put_int(&batch->columns[RAW_VALUE], row, has ? (int64_t)field->value : 0,
             has);
}


static pf_status put_field (raw_reader *r, pf_batch *batch, pf_error *error) {
  pf_cursor c = pf_cursor_over(r->file->bytes, false);
  pprof_field field;
  const size_t row = batch->rows++, from = r->at;
  c.at = from;
  const bool ok = pprof_next_field(&c, &field);
  r->at = ok ? c.at : c.bytes.size;
  put_bytes(r, batch, row, from);
  put_value(batch, row, ok ? &field : NULL);
  return put_kind(
      r, batch, row,
      !ok ? "rest" : kinds[field.number < NKINDS ? field.number : 0], error);
}


static pf_status raw_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  raw_reader *const r = (raw_reader *)(void *)self;
  pf_status status = PF_OK;
  pf_batch_clear(batch);
  while (status == PF_OK && batch->rows < PF_BATCH_ROWS &&
         r->at < r->file->bytes.size)
    status = put_field(r, batch, error);
  return status != PF_OK ? status : batch->rows > 0 ? PF_MORE : PF_END;
}


static void raw_close (pf_reader *self) {
  free(self);
}


static pf_status open_raw (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error) {
  raw_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return pf_no_memory(error);
  r->reader = (pf_reader){.fields = table->fields,
                          .nfields = table->nfields,
                          .dictionary = trace->dictionary,
                          .next = raw_next,
                          .close = raw_close};
  r->file = trace->state;
  *reader = &r->reader;
  return PF_OK;
}


const pf_table pprof_raw_table = {"raw", fields, RAW_COLUMNS, 0, open_raw};
