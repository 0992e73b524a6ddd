/*
** raw_dcpi.c - the reader of table raw: one row for each segment. The column
** `bytes` of all rows, concatenated, is the file.
*/

#include <stdlib.h>

#include "formats/dcpi/dcpi.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"

static const char *const kind_words[DCPI_KINDS] = {[DCPI_LINE] = "line",
                                                   [DCPI_CHUNK] = "chunk",
                                                   [DCPI_FOOTER] = "footer",
                                                   [DCPI_COUNTS] = "counts",
                                                   [DCPI_REST] = "rest"};


static void put_numbers (pf_batch *batch, size_t row,
                         const dcpi_segment *segment) {
  const bool is_chunk = segment->kind == DCPI_CHUNK;
  const bool is_footer = segment->kind == DCPI_FOOTER;
  dcpi_put_number(batch, RAW_OFFSET, row, true, segment->offset);
  dcpi_put_number(batch, RAW_SIZE, row, true, segment->size);
  dcpi_put_number(batch, RAW_START, row, is_chunk, segment->words[0]);
  dcpi_put_number(batch, RAW_NUMBER, row, is_chunk, segment->words[1]);
  dcpi_put_number(batch, RAW_ADDRESSES, row, is_footer, segment->words[0]);
  dcpi_put_number(batch, RAW_SAMPLES, row, is_footer, segment->words[1]);
  dcpi_put_number(batch, RAW_ADDRESS, row,
                  is_chunk || segment->kind == DCPI_COUNTS, segment->address);
}


static pf_status put_segment (dcpi_reader *self, pf_batch *batch,
                              const dcpi_segment *segment, pf_error *error) {
  const pf_bytes none = {NULL, 0};
  const bool is_line = segment->kind == DCPI_LINE;
  const size_t row = batch->rows++;
  put_numbers(batch, row, segment);
  if (dcpi_wanted(batch, RAW_BYTES))
    batch->columns[RAW_BYTES].bytes[row] = (pf_bytes){
        self->parser.bytes.at + segment->offset, (size_t)segment->size};
  pf_status status = dcpi_put_text(self, batch, RAW_KIND, row,
                                   dcpi_text(kind_words[segment->kind]), error);
  if (status == PF_OK)
    status = dcpi_put_text(self, batch, RAW_WORD, row,
                           is_line ? segment->line.word : none, error);
  if (status == PF_OK)
    status = dcpi_put_text(self, batch, RAW_VALUE, row,
                           is_line ? segment->line.value : none, error);
  return status;
}


static pf_status next_segments (pf_reader *reader, pf_batch *batch,
                                pf_error *error) {
  dcpi_reader *const self = (dcpi_reader *)reader;
  dcpi_segment segment;
  pf_status status = dcpi_refresh(self, error);
  pf_batch_clear(batch);
  while (status == PF_OK && batch->rows < PF_BATCH_ROWS) {
    status = dcpi_next_segment(&self->parser, &segment);
    if (status == PF_MORE)
      status = put_segment(self, batch, &segment, error);
  }
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : PF_END;
}


pf_status dcpi_open_raw (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error) {
  dcpi_reader *self;
  const pf_status status =
      dcpi_reader_make(trace, table, sizeof *self, &self, error);
  if (status < 0)
    return status;
  self->reader.next = next_segments;
  *reader = &self->reader;
  return PF_OK;
}
