/*
** encode_dbf.c - the encoder: tables of Visual FoxPro (0x30, or 0x32 with
** varchar) and of FoxPro 2 and dBASE III (0xF5 with memos, else 0x03). The
** layout is in header_dbf.c; memo files are FPT.
**
** The header is written first and its record count updated at each flush.
** Records are written as they come; a refused row leaves its memos, which no
** record refers to. encode_dbf.h states who opens and closes the encoder.
*/

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bytes/cursor.h"
#include "formats/dbf/encode_dbf.h"
#include "model/dictionary/names.h"
#include "model/rows/batch.h"
#include "os/os.h"

#define MAX_BYTES INT32_MAX /* of a table */


static void put_descriptor (const dbf_writer *self,
                            const dbf_output_field *field, pf_sink *sink) {
  uint8_t d[32] = {0};
  const bool is_binary = strchr("CVMNFDL", field->type) == NULL;
  memcpy(d, field->written, strlen(field->written));
  d[11] = (uint8_t)field->type;
  if (self->visual)
    pf_save(d + 12, 4, false, field->offset);
  d[16] = field->size;
  d[17] = field->decimals;
  if (self->visual)
    d[18] = (uint8_t)((field->nullable ? DBF_NULLABLE : 0) |
                      (is_binary ? DBF_AS_IS : 0) |
                      (field->type == '0' ? DBF_SYSTEM : 0));
  (void)pf_sink_put(sink, d, sizeof d);
}


/* Write the header, once. The sink keeps a failure until it is flushed. */
static void begin (dbf_writer *self, pf_sink *sink) {
  if (self->begun)
    return;
  self->begun = true;
  pf_sink_hold(sink);
  const bool has_flags = self->null_bytes > 0;
  const size_t descriptors = self->nfields + has_flags;
  uint8_t head[32] = {self->visual ? 0x30 : self->has_memos ? 0xF5 : 0x03};
  for (size_t i = 0; i < self->nfields; i++)
    if (self->visual && self->fields[i].length_bit >= 0)
      head[0] = 0x32;
  memcpy(head + 1, self->date, 3);
  pf_save(head + 8, 2, false,
          32 + 32 * descriptors + 1 + (self->visual ? DBF_BACKLINK : 0));
  pf_save(head + 10, 2, false, self->record_size);
  head[28] = self->visual && self->has_memos ? 2 : 0;
  head[29] = self->mark;
  (void)pf_sink_put(sink, head, sizeof head);
  for (size_t i = 0; i < self->nfields; i++)
    put_descriptor(self, &self->fields[i], sink);
  if (has_flags)
    put_descriptor(self,
                   &(dbf_output_field){.written = "_NullFlags",
                                       .type = '0',
                                       .offset = self->null_flags,
                                       .size = (uint8_t)self->null_bytes},
                   sink);
  (void)pf_sink_fill(sink, 0x0D, 1);
  (void)pf_sink_fill(sink, 0, self->visual ? DBF_BACKLINK : 0);
}


static pf_status put_record (dbf_writer *self, const pf_batch *batch,
                             size_t row, pf_sink *sink, pf_error *error) {
  const size_t deleted = self->ncolumns - 1;
  pf_status status = PF_OK;
  memset(self->record, ' ', self->record_size);
  memset(self->record + self->null_flags, 0, self->null_bytes);
  self->record[0] =
      pf_has_value(batch, deleted, row) && batch->columns[deleted].bools[row]
          ? 0x2A
          : 0x20;
  for (size_t i = 0; i < self->nfields && status == PF_OK; i++)
    status = dbf_put_value(self, &self->fields[i], batch, row, sink, error);
  if (status != PF_OK)
    return status;
  if (sink->written + self->record_size >= MAX_BYTES)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a table has less than 2^31 bytes: record %llu does not fit",
                   (unsigned long long)(self->encoder.count + 1));
  self->encoder.count++;
  return pf_sink_put(sink, self->record, self->record_size);
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  dbf_writer *const self = (dbf_writer *)encoder;
  pf_status status = PF_OK;
  (void)table; /* there is only one */
  begin(self, sink);
  dbf_arena_reset(&self->text);
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    status = put_record(self, batch, row, sink, error);
  return status == PF_OK || sink->failed == PF_OK ? status
                                                  : pf_sink_flush(sink, error);
}


/* Update the record count, and the header of the memo file. */
static pf_status flush (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  dbf_writer *const self = (dbf_writer *)encoder;
  uint8_t count[4];
  pf_save(count, 4, false, encoder->count);
  begin(self, sink);
  if (pf_sink_patch(sink, 4, count, 4) != PF_OK)
    return pf_sink_flush(sink, error);
  return dbf_end_memos(self, sink, error);
}


static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  const dbf_writer *const self = (dbf_writer *)encoder;
  pf_sink *const cpg = pf_sink_side(sink, "cpg");
  const pf_bytes page = pf_bytes_of(self->charset.name);
  const pf_status status = flush(encoder, sink, error);
  if (status != PF_OK)
    return status;
  /* The .cpg file is written if the header has no mark for the code page: a
     side file without bytes is not created. The sink keeps a failure. */
  if (cpg != NULL && self->mark == 0)
    (void)pf_sink_put(cpg, page.at, page.size);
  if (pf_sink_fill(sink, 0x1A, 1) != PF_OK)
    return pf_sink_flush(sink, error);
  return PF_OK;
}


static void resume (pf_encoder *encoder, const pf_sink *sink, uint64_t count) {
  dbf_writer *const self = (dbf_writer *)encoder;
  const pf_sink *memo = sink->side;
  while (memo != NULL && strcmp(memo->role, "memo") != 0)
    memo = memo->side;
  self->begun = sink->written > 0;
  encoder->count = count;
  self->next_block = memo == NULL ? 0 : memo->written / self->memo_block;
}


static void close_writer (pf_encoder *encoder) {
  dbf_writer *const self = (dbf_writer *)encoder;
  pf_converter_close(&self->to_page);
  dbf_arena_close(&self->text);
  free(self->fields);
  free(self->schema);
  free(self->record);
  free(self);
}


/* Set the date of the last change: the option, else today in UTC.
   PF_EUNSUPPORTED for an invalid option. */
static pf_status read_date (dbf_writer *self, const pf_trace *asked,
                            pf_error *error) {
  const time_t now = time(NULL);
  struct tm today;
  pf_bytes text;
  if (!pf_option_text(asked, "changed", &text)) {
    if (!os_date(now, &today))
      return PF_OK;
    self->date[0] = (uint8_t)(today.tm_year % 256);
    self->date[1] = (uint8_t)(today.tm_mon + 1);
    self->date[2] = (uint8_t)today.tm_mday;
    return PF_OK;
  }
  uint8_t digits[8];
  if (text.size != 10 || !dbf_parse_date(text, digits) ||
      memcmp(digits, "1980", 4) < 0 || memcmp(digits, "2079", 4) > 0)
    return pf_refuse(
        error,
        "changed: a date YYYY-MM-DD of 1980 to 2079 expected, found %.*s",
        (int)(text.size < 32 ? text.size : 32), (const char *)text.at);
  self->date[0] = (uint8_t)(dbf_number_of(digits, 4) - 1900);
  self->date[1] = (uint8_t)dbf_number_of(digits + 4, 2);
  self->date[2] = (uint8_t)dbf_number_of(digits + 6, 2);
  return PF_OK;
}


static pf_status read_code_page (dbf_writer *self, const pf_trace *asked,
                                 pf_error *error) {
  pf_bytes name;
  if (!pf_option_text(asked, "code_page", &name))
    name = pf_bytes_of("CP1252");
  pf_status status = pf_charset_open_given(&self->charset, name, error);
  if (status != PF_OK)
    return status;
  self->mark = dbf_code_page_mark(self->charset.name);
  if (self->mark == 0 && self->charset.kind != PF_TEXT_AS_BYTES &&
      pf_option_int(asked, "cpg", 0) == 0)
    return pf_refuse(
        error,
        "only a .cpg file can state code page %s, and none can be written "
        "here: write to a file without a ring, whose name no other table has, "
        "or use raw, which leaves the code page open",
        self->charset.name);
  status = pf_converter_open_back(&self->to_page, &self->charset);
  if (status != PF_OK)
    return pf_fail(error, status, PF_NO_OFFSET,
                   "this system cannot write code page %s", self->charset.name);
  return PF_OK;
}


static pf_status read_options (dbf_writer *self, const pf_option *options,
                               size_t noptions, pf_error *error) {
  const pf_trace asked = {.options = options, .noptions = noptions};
  const int64_t block = pf_option_int(&asked, "memo_block", 64);
  pf_bytes fields;
  self->visual = !pf_option_is(&asked, "dialect", "foxpro2");
  self->round = pf_option_int(&asked, "round", 0) != 0;
  if (block < 1 || block > 65535)
    return pf_refuse(error, "memo_block: 1 to 65535 expected, found %lld",
                     (long long)block);
  self->memo_block = (uint32_t)block;
  if (!pf_option_text(&asked, "fields", &fields))
    return pf_refuse(error,
                     "a table needs fields = \"NAME C(20), AGE N(3), ...\"");
  pf_status status = read_date(self, &asked, error);
  if (status == PF_OK)
    status = read_code_page(self, &asked, error);
  if (status == PF_OK)
    status = dbf_parse_fields(self, fields, error);
  return status;
}


pf_status dbf_encoder (const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error) {
  dbf_writer *const self = calloc(1, sizeof *self);
  (void)dictionary; /* no column holds names */
  if (self == NULL)
    return pf_no_memory(error);
  self->encoder = (pf_encoder){.put = put,
                               .finish = finish,
                               .close = close_writer,
                               .flush = flush,
                               .resume = resume};
  self->to_page = (pf_converter){.charset = &self->charset};
  const pf_status status = read_options(self, options, noptions, error);
  self->table = (pf_table){"data", self->schema, self->ncolumns, -1, NULL};
  self->encoder.tables = &self->table;
  self->encoder.ntables = 1;
  return pf_encoder_opened(&self->encoder, status, encoder);
}
