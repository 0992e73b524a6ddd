/*
** raw_records_winidea.c - the reader of table raw of a binary timeline: its
** records, and the bytes after the last complete one. The bytes of all rows
** together are the file.
*/

#include <stdlib.h>

#include "formats/winidea/winidea.h"
#include "model/rows/abilities.h"
#include "model/rows/batch.h"

typedef struct raw_reader {
  pf_reader reader;
  pf_trace *trace;
  const winidea_file *file;
  uint64_t row;
} raw_reader;


static void put_word (const pf_batch *batch, int column, uint64_t value) {
  if (batch->columns[column].data != NULL)
    batch->columns[column].addrs[batch->rows] = value;
}


/* An incomplete record, which is the last, has no fields. */
static void put_row (const raw_reader *self, const pf_batch *batch,
                     uint64_t offset, size_t left) {
  const size_t size = self->file->layout.size;
  const uint8_t *const at = self->file->timeline->bytes.at + offset;
  const bool is_whole = left >= size;
  put_word(batch, RAW_OFFSET, offset);
  put_word(batch, RAW_SIZE, is_whole ? size : left);
  if (batch->columns[RAW_KIND].data != NULL)
    batch->columns[RAW_KIND].ids[batch->rows] =
        is_whole ? self->file->record_id : self->file->rest_id;
  if (batch->columns[RAW_BYTES].data != NULL)
    batch->columns[RAW_BYTES].bytes[batch->rows] =
        (pf_bytes){at, is_whole ? size : left};
  if (is_whole) {
    put_word(batch, RAW_HANDLE, pf_load32le(at));
    put_word(batch, RAW_FLAGS, pf_load32le(at + 4));
    put_word(batch, RAW_DATA,
             size == 20 ? pf_load32le(at + 8) : pf_load64le(at + 8));
    put_word(batch, RAW_TIME, pf_load64le(at + size - 8));
    return;
  }
  for (int i = RAW_HANDLE; i <= RAW_TIME; i++) {
    put_word(batch, i, 0);
    if (batch->columns[i].data != NULL)
      pf_set_missing(&batch->columns[i], batch->rows);
  }
}


static pf_status raw_next (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  const size_t size = self->file->layout.size;
  const bool is_live = self->file->is_live;
  pf_batch_clear(batch);
  const pf_status status = winidea_update_live(self->trace, error);
  if (status < 0)
    return status;
  uint64_t all = self->file->timeline->bytes.size;
  if (is_live)
    all -= all % size; /* leave out a record that is not complete */
  while (batch->rows < PF_BATCH_ROWS && self->row * size < all) {
    const uint64_t offset = self->row++ * size;
    put_row(self, batch, offset, (size_t)(all - offset));
    batch->rows++;
  }
  if (batch->rows > 0)
    return PF_MORE;
  return is_live ? PF_AGAIN : PF_END;
}


static pf_status raw_seek (pf_reader *reader, uint64_t row, pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  const uint64_t end = winidea_records(self->file) + 1;
  (void)error;
  self->row = row < end ? row : end;
  return PF_OK;
}


static const pf_abilities abilities = {.seek = raw_seek};


static void raw_close (pf_reader *reader) {
  free(reader);
}


pf_status winidea_open_raw (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error) {
  raw_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->reader = (pf_reader){.fields = table->fields,
                             .nfields = table->nfields,
                             .dictionary = trace->dictionary,
                             .next = raw_next,
                             .close = raw_close,
                             .can = &abilities};
  self->trace = trace;
  self->file = trace->state;
  *reader = &self->reader;
  return PF_OK;
}
