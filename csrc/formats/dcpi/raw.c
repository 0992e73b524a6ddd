/*
** raw.c - the parts of a file as it states them: joined, the bytes of all
** rows are the file.
*/

#include <stdlib.h>

#include "formats/dcpi/dcpi.h"
#include "model/batch.h"
#include "model/names.h"

static const char *const kind_words[DCPI_KINDS] = {[DCPI_LINE] = "line",
                                                   [DCPI_CHUNK] = "chunk",
                                                   [DCPI_FOOTER] = "footer",
                                                   [DCPI_COUNTS] = "counts",
                                                   [DCPI_REST] = "rest"};


static void put_numbers (pf_batch *batch, size_t row, const dcpi_part *part) {
  const bool is_chunk = part->kind == DCPI_CHUNK;
  const bool is_footer = part->kind == DCPI_FOOTER;
  dcpi_put_number(batch, RAW_OFFSET, row, true, part->offset);
  dcpi_put_number(batch, RAW_SIZE, row, true, part->size);
  dcpi_put_number(batch, RAW_START, row, is_chunk, part->words[0]);
  dcpi_put_number(batch, RAW_NUMBER, row, is_chunk, part->words[1]);
  dcpi_put_number(batch, RAW_ADDRESSES, row, is_footer, part->words[0]);
  dcpi_put_number(batch, RAW_SAMPLES, row, is_footer, part->words[1]);
  dcpi_put_number(batch, RAW_ADDRESS, row,
                  is_chunk || part->kind == DCPI_COUNTS, part->address);
}


static pf_status put_part (dcpi_reader *self, pf_batch *batch,
                           const dcpi_part *part, pf_error *error) {
  const pf_bytes none = {NULL, 0};
  const bool is_line = part->kind == DCPI_LINE;
  const size_t row = batch->rows++;
  put_numbers(batch, row, part);
  if (dcpi_wanted(batch, RAW_BYTES))
    batch->columns[RAW_BYTES].bytes[row] =
        (pf_bytes){self->walk.bytes.at + part->offset, (size_t)part->size};
  pf_status status = dcpi_put_text(self, batch, RAW_KIND, row,
                                   dcpi_text(kind_words[part->kind]), error);
  if (status == PF_OK)
    status = dcpi_put_text(self, batch, RAW_WORD, row,
                           is_line ? part->line.word : none, error);
  if (status == PF_OK)
    status = dcpi_put_text(self, batch, RAW_VALUE, row,
                           is_line ? part->line.value : none, error);
  return status;
}


static pf_status next_parts (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  dcpi_reader *const self = (dcpi_reader *)reader;
  dcpi_part part;
  pf_status status = dcpi_renew(self, error);
  pf_batch_clear(batch);
  while (status == PF_OK && batch->rows < PF_BATCH_ROWS) {
    status = dcpi_next_part(&self->walk, &part);
    if (status == PF_MORE)
      status = put_part(self, batch, &part, error);
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
  self->reader.next = next_parts;
  *reader = &self->reader;
  return PF_OK;
}
