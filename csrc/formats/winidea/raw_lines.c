/*
** raw_lines.c - the reader of table raw of a main file: its lines. The
** bytes of all rows together are the file.
*/

#include <stdlib.h>

#include "formats/winidea/text1.h"
#include "model/rows/batch.h"

typedef struct lines_reader {
  pf_reader reader;
  const pf_trace *trace;
  const winidea_file *file;
  pf_bytes text;
  uint64_t at;
  uint32_t
      kind; /* id of the kind of rows: the section or, before the first one,
                    "rest" */
} lines_reader;


static void put_line (lines_reader *self, const pf_batch *batch) {
  const winidea_file *const file = self->file;
  const size_t row = batch->rows;
  pf_column *const c = batch->columns;
  uint64_t next;
  pf_bytes line = winidea_line(self->text, self->at, &next);
  if (self->at == 0 && line.size >= 3 && line.at[0] == 0xef)
    line = (pf_bytes){line.at + 3, line.size - 3}; /* byte order mark */
  const bool is_header = file->text != NULL && winidea_is_header(line);
  if (is_header)
    self->kind = file->section_ids[winidea_kind_of_header(line)];
  if (c[RAW_OFFSET].data != NULL)
    c[RAW_OFFSET].ints[row] = (int64_t)self->at;
  if (c[RAW_SIZE].data != NULL)
    c[RAW_SIZE].ints[row] = (int64_t)(next - self->at);
  if (c[RAW_KIND].data != NULL)
    c[RAW_KIND].ids[row] = is_header        ? file->header_id
                           : line.size == 0 ? file->blank_id
                                            : self->kind;
  if (c[RAW_BYTES].data != NULL)
    c[RAW_BYTES].bytes[row] =
        (pf_bytes){self->text.at + self->at, (size_t)(next - self->at)};
  for (int i = RAW_HANDLE; i <= RAW_TIME; i++) {
    if (c[i].data == NULL)
      continue;
    c[i].addrs[row] = 0;
    pf_set_missing(&c[i], row);
  }
  self->at = next;
}


static pf_status lines_next (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  lines_reader *const self = (lines_reader *)(void *)reader;
  (void)error;
  const bool is_live = self->file->is_live;
  pf_batch_clear(batch);
  if (is_live)
    self->text =
        winidea_complete_lines(self->file, self->trace->sources[0].bytes);
  for (; batch->rows < PF_BATCH_ROWS && self->at < self->text.size;
       batch->rows++)
    put_line(self, batch);
  if (batch->rows > 0)
    return PF_MORE;
  return is_live ? PF_AGAIN : PF_END;
}


static void lines_close (pf_reader *reader) {
  free(reader);
}


pf_status winidea_open_lines (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  lines_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->reader = (pf_reader){.fields = table->fields,
                             .nfields = table->nfields,
                             .dictionary = trace->dictionary,
                             .next = lines_next,
                             .close = lines_close};
  self->trace = trace;
  self->file = trace->state;
  self->text = trace->sources[0].bytes;
  self->kind = self->file->rest_id;
  *reader = &self->reader;
  return PF_OK;
}
