/*
** fuzz_dbf.c - random fields and values: the decoder of dbf must return what
** the encoder has accepted, and must not report our own tables as damaged.
**
** The input is a line of fields, a byte of options, then rows: for each column
** a byte (its lowest bit: missing) and a value.
*/

#include "bytes/cursor.h"
#include "bytes/sink.h"
#include "fuzz.h"
#include "model/writer/encoder.h"

#define MAX_ROWS 8

static const char *const pages[] = {"raw", "CP1252", "CP850", "CP932"};

/* The rows written and the rows read. */
typedef struct pair {
  const pf_batch *put, *got;
  const pf_reader *reader;
} pair;


/* {====== Values ====== */

static uint64_t take_number (pf_cursor *in) {
  uint64_t value = 0;
  if (!pf_take_uint(in, 8, &value))
    in->at = in->bytes.size;
  return value;
}


static pf_bytes take_text (pf_cursor *in) {
  uint64_t size = 0;
  pf_bytes text = {(const uint8_t *)"", 0};
  if (pf_take_uint(in, 1, &size) && !pf_take(in, size, &text))
    in->at = in->bytes.size;
  return text;
}


static void take_value (pf_cursor *in, pf_column *column, size_t row) {
  uint64_t head = 1;
  (void)pf_take_uint(in, 1, &head);
  if (head & 1) {
    pf_set_missing(column, row);
    return;
  }
  switch (column->type) {
    case PF_BYTES: column->bytes[row] = take_text(in); break;
    case PF_BOOL: column->bools[row] = head >> 1 & 1; break;
    default: /* small numbers too, and powers of two */
      column->addrs[row] = head & 2 ? head >> 2 : take_number(in);
      if (column->type == PF_NUM && (head & 2) != 0)
        column->nums[row] = (double)(head >> 2) / 4;
  }
}


static void take_rows (pf_cursor *in, pf_batch *batch) {
  while (batch->rows < MAX_ROWS && pf_left(in) > 0) {
    for (size_t i = 0; i < batch->ncolumns; i++)
      take_value(in, &batch->columns[i], batch->rows);
    batch->rows++;
  }
}

/* }====== */


/* {====== Comparison ====== */

/* Compare times of day; the decoder omits thousandths that are 0. */
static bool is_same_time (pf_bytes put, pf_bytes got) {
  return put.size == got.size + 4 && got.size > 0 &&
         memcmp(put.at, got.at, got.size) == 0 &&
         memcmp(put.at + got.size, ".000", 4) == 0;
}


/* Compare texts of fields of fixed size, without trailing blanks and NULs. */
static bool is_same_text (pf_bytes put, pf_bytes got) {
  if (is_same_time(put, got))
    return true;
  while (put.size > got.size &&
         (put.at[put.size - 1] == ' ' || put.at[put.size - 1] == 0))
    put.size--;
  return put.size == got.size &&
         (put.size == 0 || memcmp(put.at, got.at, put.size) == 0);
}


static bool is_same (const pf_column *put, const pf_column *got, size_t row) {
  if (pf_is_missing(put, row))
    return pf_is_missing(got, row) || got->type != PF_BYTES ||
           got->bytes[row].size == 0;
  if (pf_is_missing(got, row))
    return false;
  switch (put->type) {
    case PF_BYTES: return is_same_text(put->bytes[row], got->bytes[row]);
    case PF_BOOL: return put->bools[row] == got->bools[row];
    case PF_NUM: /* the bits, of what is no number */
      return put->nums[row] == got->nums[row] ||
             put->addrs[row] == got->addrs[row];
    default: return put->ints[row] == got->ints[row];
  }
}


/* Whether a column is one of the two columns of a currency field. */
static bool is_currency (const pair *p, size_t column) {
  const char *const name = p->reader->fields[column].name;
  const size_t size = strlen(name);
  return (size > 6 && strcmp(name + size - 6, "_exact") == 0) ||
         (column + 1 < p->reader->nfields &&
          strncmp(p->reader->fields[column + 1].name, name, size) == 0 &&
          strcmp(p->reader->fields[column + 1].name + size, "_exact") == 0);
}


/* Compare all columns. The reader has a column `record` before `deleted`, which
   the encoder does not have. */
static void compare (const pair *p) {
  const size_t last = p->put->ncolumns - 1;
  MUST(p->got->rows == p->put->rows);
  MUST(p->got->ncolumns == p->put->ncolumns + 1);
  for (size_t row = 0; row < p->put->rows; row++) {
    for (size_t i = 0; i < last; i++)
      MUST(is_currency(p, i) ||
           is_same(&p->put->columns[i], &p->got->columns[i], row));
    const pf_column *const deleted = &p->put->columns[last];
    MUST(p->got->columns[last + 1].bools[row] ==
         (!pf_is_missing(deleted, row) && deleted->bools[row]));
  }
}

/* }====== */


/* Read what was written. */
static void read_back (pf_bytes bytes, pf_bytes memo, const pf_batch *put) {
  static const pf_option options[] = {
      {"deleted", true, 0, {(const uint8_t *)"show", 4}}};
  pf_error error = {.status = PF_OK};
  fuzz_trace fuzz;
  pf_reader *reader = NULL;
  pf_batch got;
  MUST(fuzz_open_beside(&fuzz, pf_format_named("dbf"), bytes, memo, options, 1,
                        true) == PF_OK);
  MUST(fuzz.trace.tables[0].open(&fuzz.trace, &fuzz.trace.tables[0], &reader,
                                 &error) == PF_OK);
  MUST(pf_batch_open(&got, reader->fields, reader->nfields, NULL) == PF_OK);
  const pf_status status = reader->next(reader, &got, &error);
  MUST(status >= 0);
  const pair p = {put, &got, reader};
  compare(&p);
  MUST(reader->next(reader, &got, &error) == PF_END);
  MUST(pf_warning_count(fuzz.trace.notes) == 0);
  pf_batch_close(&got);
  reader->close(reader);
  fuzz_close(&fuzz);
}


static void write_and_read (pf_encoder *encoder, pf_cursor *in) {
  const pf_table *const table = encoder->tables;
  pf_error error = {.status = PF_OK};
  pf_sink sinks[2];
  pf_batch batch;
  MUST(pf_batch_open(&batch, table->fields, table->nfields, NULL) == PF_OK);
  MUST(pf_sink_open(&sinks[0], -1) == PF_OK);
  MUST(pf_sink_open(&sinks[1], -1) == PF_OK);
  sinks[0].side = &sinks[1];
  sinks[1].role = "memo";
  pf_batch_clear(&batch);
  take_rows(in, &batch);
  pf_status status = encoder->put(encoder, 0, &batch, sinks, &error);
  if (status == PF_OK)
    status = encoder->flush(encoder, sinks, &error);
  if (status == PF_OK)
    status = encoder->finish(encoder, sinks, &error);
  MUST(status == PF_OK || (status == error.status && error.what[0] != '\0'));
  if (status == PF_OK)
    read_back(pf_sink_bytes(&sinks[0]), pf_sink_bytes(&sinks[1]), &batch);
  pf_sink_close(&sinks[0]);
  pf_sink_close(&sinks[1]);
  pf_batch_close(&batch);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const uint8_t *const end = size == 0 ? NULL : memchr(data, '\n', size);
  if (end == NULL || (size_t)(end - data) + 2 > size)
    return 0;
  const pf_bytes fields = {data, (size_t)(end - data)};
  pf_cursor in =
      pf_cursor_over((pf_bytes){end + 2, size - fields.size - 2}, false);
  const char *const page = pages[end[1] & 3];
  const char *const dialect = end[1] & 4 ? "foxpro2" : "visual";
  const pf_option options[] = {
      {"fields", true, 0, fields},
      {"code_page", true, 0, {(const uint8_t *)page, strlen(page)}},
      {"dialect", true, 0, {(const uint8_t *)dialect, strlen(dialect)}},
      {"memo_block", false, end[1] >> 3 == 0 ? 64 : 1 << (end[1] >> 4), {0}}};
  pf_error error = {.status = PF_OK};
  pf_encoder *encoder = NULL;
  const pf_status status =
      pf_format_named("dbf")->encoder(options, 4, NULL, &encoder, &error);
  MUST(status == PF_OK || (status == error.status && error.what[0] != '\0'));
  if (status != PF_OK)
    return 0;
  write_and_read(encoder, &in);
  encoder->close(encoder);
  return 0;
}
