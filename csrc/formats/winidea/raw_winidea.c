/*
** raw_winidea.c - the readers of table raw: the records of a binary timeline
** and the bytes after the last complete one, or the lines of a main file. The
** bytes of all rows together are the file. Opened by open_winidea.c for
** lua/checked_reader.c, which closes them. They own nothing but themselves.
*/

#include "formats/winidea/text1.h"
#include "model/rows/abilities.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define MAX_LINE 65536 /* bytes of a row of XML */

typedef struct raw_reader {
  pf_reader reader;
  pf_trace *trace;
  const winidea_file *file;
  uint64_t at;   /* the next record, or the byte of the next line */
  uint32_t kind; /* id of the kind of lines: the section or, before the first
                    one, "rest" */
} raw_reader;


/* Puts the bytes of a row. Only a complete record has fields. */
static void put_row (const pf_batch *batch, uint64_t offset, uint32_t kind,
                     pf_bytes bytes, bool is_record) {
  pf_column *const c = batch->columns;
  const size_t row = batch->rows, size = bytes.size;
  pf_put_int(&c[RAW_offset], row, (int64_t)offset, true);
  pf_put_int(&c[RAW_size], row, (int64_t)size, true);
  pf_put_id(&c[RAW_kind], row, kind);
  pf_put_bytes(&c[RAW_bytes], row, bytes, true);
  for (int i = RAW_handle; i <= RAW_time && !is_record; i++)
    pf_put_none(&c[i], row, 1);
  if (!is_record)
    return;
  pf_put_addr(&c[RAW_handle], row, pf_load32le(bytes.at), true);
  pf_put_addr(&c[RAW_flags], row, pf_load32le(bytes.at + 4), true);
  pf_put_addr(&c[RAW_data], row, (uint64_t)winidea_data(bytes.at, size), true);
  pf_put_addr(&c[RAW_time], row, pf_load64le(bytes.at + size - 8), true);
}


static pf_status next_records (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  const winidea_file *const file = self->file;
  const size_t size = file->layout.size;
  pf_batch_clear(batch);
  const pf_status status = winidea_update_live(self->trace, error);
  if (status < 0)
    return status;
  uint64_t all = file->timeline->bytes.size;
  if (file->is_live)
    all -= all % size; /* leave out a record that is not complete */
  for (; batch->rows < PF_BATCH_ROWS && self->at * size < all; batch->rows++) {
    const uint64_t offset = self->at++ * size;
    const bool is_whole = all - offset >= size;
    const pf_bytes bytes = {file->timeline->bytes.at + offset,
                            is_whole ? size : (size_t)(all - offset)};
    put_row(batch, offset, is_whole ? file->record_id : file->rest_id, bytes,
            is_whole);
  }
  return pf_batch_status(batch, file->is_live ? PF_AGAIN : PF_END);
}


static pf_status seek_record (pf_reader *reader, uint64_t row,
                              pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  const uint64_t end = winidea_records(self->file) + 1;
  (void)error;
  self->at = row < end ? row : end;
  return PF_OK;
}


/* The text up to the bytes that a row may have: XML may be a single line. */
static pf_bytes line_part (const winidea_file *file, pf_bytes text,
                           uint64_t at) {
  if (file->text == NULL && text.size - at > MAX_LINE)
    text.size = (size_t)at + MAX_LINE;
  return text;
}


static pf_status next_lines (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  const winidea_file *const file = self->file;
  const pf_bytes text =
      winidea_complete_lines(file, self->trace->sources[0].bytes);
  (void)error;
  pf_batch_clear(batch);
  for (; batch->rows < PF_BATCH_ROWS && self->at < text.size; batch->rows++) {
    const uint64_t at = self->at;
    pf_bytes line = winidea_line(line_part(file, text, at), at, &self->at);
    if (at == 0 && line.size >= 3 && line.at[0] == 0xef)
      line = (pf_bytes){line.at + 3, line.size - 3}; /* byte order mark */
    const winidea_section_kind kind =
        file->text != NULL ? winidea_header_kind(&file->headers, line)
                           : WINIDEA_SECTIONS;
    const bool is_header = kind != WINIDEA_SECTIONS;
    if (is_header)
      self->kind = file->section_ids[kind];
    put_row(batch, at,
            is_header        ? file->header_id
            : line.size == 0 ? file->blank_id
                             : self->kind,
            (pf_bytes){text.at + at, (size_t)(self->at - at)}, false);
  }
  return pf_batch_status(batch, file->is_live ? PF_AGAIN : PF_END);
}


pf_status winidea_open_raw (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error) {
  static const pf_abilities abilities = {.seek = seek_record};
  const winidea_file *const file = trace->state;
  const bool is_bin = file->at[0] == 0; /* sources may be reallocated */
  raw_reader *const self = pf_reader_new(
      sizeof *self, trace, table, is_bin ? next_records : next_lines, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.can = is_bin ? &abilities : NULL;
  self->trace = trace;
  self->file = file;
  self->kind = file->rest_id;
  *reader = &self->reader;
  return PF_OK;
}
