/*
** bin_timeline.c - the reader of a binary timeline: little-endian, no
** header, records of one size.
**
**   OFFSET SIZE  FIELD
**        0    4  HANDLE of the area
**        4    4  version 1.1: FLAGS, bits 0 to 3 type, bits 4 to 11 core
**                (0xff: unknown); version 1.0: EVENT, bits 24 to 27 the type
**        8    8  DATA: what was written to a variable or input, as an integer
**                or, for areas of type F64, as a double; else 0
**       16    8  TIME, signed, ns
**
**   type 0 exit, 1 suspend, 2 resume, 3 enter, 4 write (only in version 1.1)
**
** From the vendor's pages on the Text1 and XML exports; they imply that there
** is no header. An older programming interface exchanges types 1 and 2: option
** swap_suspend_resume. Records of 20 bytes, with 4 bytes of DATA, are not
** documented: option record_size. DATA of events of states is not documented,
** either: the state with that value is used, else the only state of the handle.
** Opened by open_winidea.c for lua/checked_reader.c, and by areas_table.c and
** text_timeline.c. The reader owns its area cache.
*/

#include "formats/winidea/decode.h"
#include "model/rows/abilities.h"
#include "model/rows/table_reader.h"

typedef struct bin_reader {
  pf_reader reader;
  const winidea_file *file;
  uint64_t row; /* the next record */
  bool has_end; /* an event "end" follows the last record */
  pf_trace *trace;
  const pf_table *table;
  bool has_decoder; /* false until the version is known */
  winidea_decoder decoder;
} bin_reader;


/* Decodes the event "end", if there is one. PF_MORE, PF_END or a failure. */
static pf_status next_end (bin_reader *self, pf_batch *batch, pf_error *error) {
  const winidea_file *const file = self->file;
  const uint64_t records = winidea_records(file);
  if (!self->has_end || self->row > records)
    return PF_END;
  const uint8_t *const last =
      file->timeline->bytes.at + (records - 1) * file->layout.size;
  const pf_status status = winidea_decode_end(&self->decoder, last, PF_NO_NAME,
                                              file->end, batch, error);
  self->row++;
  batch->rows = 1;
  return status < 0 ? status : PF_MORE;
}


/* The next records up to a multiple of PF_BATCH_ROWS, so that batches begin at
   the same rows wherever a reader starts. */
static winidea_slice next_slice (const bin_reader *self) {
  const size_t size = self->file->layout.size;
  const uint64_t left = winidea_records(self->file) - self->row;
  const size_t limit = PF_BATCH_ROWS - self->row % PF_BATCH_ROWS;
  return (winidea_slice){self->file->timeline->bytes.at + self->row * size,
                         left < limit ? (size_t)left : limit, size};
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  bin_reader *const self = (bin_reader *)(void *)reader;
  const winidea_file *const file = self->file;
  pf_batch_clear(batch);
  pf_status status = winidea_update_live(self->trace, error);
  if (status != PF_OK) /* PF_AGAIN: the version is not known */
    return status;
  if (!self->has_decoder)
    winidea_decoder_init(&self->decoder, self->trace, &file->layout,
                         self->table);
  self->has_decoder = true;
  if (file->is_live)
    winidea_cache_refresh(&self->decoder.cache);
  if (self->row >= winidea_records(file))
    return file->is_live ? PF_AGAIN : next_end(self, batch, error);
  const winidea_slice slice = next_slice(self);
  self->decoder.offset = self->row * slice.size;
  status = winidea_decode(&self->decoder, slice, batch, error);
  if (status < 0)
    return status;
  batch->rows = slice.count;
  self->row += slice.count;
  return PF_MORE;
}


/* pf_abilities.next_events: a file that is not live. */
static pf_status next_events (pf_reader *reader, const pf_event_target *to,
                              size_t *rows, pf_error *error) {
  bin_reader *const self = (bin_reader *)(void *)reader;
  (void)error;
  *rows = 0;
  if (self->row >= winidea_records(self->file))
    return PF_MORE;
  const winidea_slice slice = next_slice(self);
  if (winidea_decode_events(&self->decoder, slice, to))
    *rows = slice.count;
  self->row += *rows;
  return PF_MORE;
}


static pf_status seek (pf_reader *reader, uint64_t row, pf_error *error) {
  bin_reader *const self = (bin_reader *)(void *)reader;
  const uint64_t records = winidea_records(self->file);
  (void)error;
  self->row = row < records ? row : records + (row > records);
  const uint64_t before = self->row < records ? self->row : records;
  self->decoder.last =
      before > 0 ? winidea_time_at(self->file, before - 1) : INT64_MIN;
  return PF_OK;
}


static void close_reader (pf_reader *reader) {
  bin_reader *const self = (bin_reader *)(void *)reader;
  winidea_decoder_free(&self->decoder);
  free(self);
}


pf_status winidea_open_bin (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error) {
  static const pf_abilities of_timeline = {.seek = seek};
  static const pf_abilities of_events = {.seek = seek,
                                         .next_events = next_events};
  bin_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  self->file = trace->state;
  self->trace = trace;
  self->table = table;
  const pf_status status = winidea_scan_contexts(trace, error);
  if (status < 0) {
    free(self);
    return status;
  }
  self->has_decoder = !self->file->is_version_pending;
  if (self->has_decoder)
    winidea_decoder_init(&self->decoder, trace, &self->file->layout, table);
  self->has_end = table->fields == winidea_events_fields && self->file->has_end;
  /* Tracked contexts depend on all records before. */
  if (!self->decoder.tracks_contexts && !self->file->is_live)
    self->reader.can =
        table->fields == winidea_events_fields ? &of_events : &of_timeline;
  *reader = &self->reader;
  return PF_OK;
}
