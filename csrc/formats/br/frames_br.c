/*
** frames_br.c - the reader of table frames: for each group its line, then its
** callers from the innermost to the outermost.
*/

#include <stdlib.h>

#include "formats/br/columns.h"

const pf_field br_frames_fields[FRAMES_COLUMNS] = {
    {"offset", PF_INT, "byte at which the group begins"},
    {"level", PF_INT, "0: the line itself, 1: its caller, ..."},
    {"frame", PF_NAME, "line or caller"},
    {"module", PF_NAME, "file of the program, or module#N when N has no name"},
    {"line", PF_INT, "line number"},
    {"clause", PF_INT, "number of the clause in the line"},
    {"function", PF_NAME, "function the line is in"},
    {"kind", PF_NAME, "what the line is in: function, gosub, main or unknown"},
    {"spent", PF_INT, "of the line itself: time as stated, ns"},
};

typedef struct frames_reader {
  pf_reader reader;
  br_parser parser;
  const br_interpretation *interp;
  uint32_t routines[BR_ROUTINES]; /* ids of their names */
  uint32_t frame_ids[2];          /* ids of "line" and "caller" */
  size_t level, count;            /* next frame of the group, and number of
                                     frames */
} frames_reader;


static void put_frame (const frames_reader *self, pf_batch *batch) {
  const br_group *const group = &self->parser.group;
  const br_frame *const frame = br_frame_of(group, self->interp, self->level);
  const size_t row = batch->rows++;
  br_put_int(batch, FRAMES_OFFSET, row, (int64_t)group->offset);
  br_put_int(batch, FRAMES_LEVEL, row, (int64_t)self->level);
  br_put_id(batch, FRAMES_FRAME, row, self->frame_ids[self->level > 0]);
  br_put_id(batch, FRAMES_MODULE, row, frame->module);
  br_put_int(batch, FRAMES_LINE, row, frame->line);
  br_put_int(batch, FRAMES_CLAUSE, row, frame->clause);
  br_put_id(batch, FRAMES_KIND, row, self->routines[frame->routine]);
  if (frame->function == PF_NO_NAME)
    br_put_missing(batch, FRAMES_FUNCTION, row);
  else
    br_put_id(batch, FRAMES_FUNCTION, row, frame->function);
  br_put_int_if(batch, FRAMES_SPENT, row,
                self->level == 0 && group->has_time &&
                    group->spent <= INT64_MAX,
                (int64_t)group->spent);
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  frames_reader *const self = (frames_reader *)(void *)reader;
  pf_status status = PF_MORE;
  pf_batch_clear(batch);
  while (status == PF_MORE && batch->rows < PF_BATCH_ROWS) {
    if (self->level == self->count) {
      status = br_next_group(&self->parser, error);
      self->level = 0;
      self->count = status == PF_MORE ? self->parser.group.nframes : 0;
    }
    if (status == PF_MORE) {
      put_frame(self, batch);
      self->level++;
    }
  }
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : status;
}


static void close_reader (pf_reader *reader) {
  frames_reader *const self = (frames_reader *)(void *)reader;
  br_parser_close(&self->parser);
  free(self);
}


pf_status br_open_frames (pf_trace *trace, const pf_table *table,
                          pf_reader **reader, pf_error *error) {
  frames_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->reader.fields = table->fields;
  self->reader.nfields = table->nfields;
  self->reader.dictionary = trace->dictionary;
  self->reader.next = next;
  self->reader.close = close_reader;
  self->interp = &((const br_file *)trace->state)->interp;
  pf_status status = br_parser_open(&self->parser, trace, error);
  self->frame_ids[0] = pf_intern_text(trace->dictionary, "line");
  self->frame_ids[1] = pf_intern_text(trace->dictionary, "caller");
  if (status == PF_OK &&
      (self->frame_ids[0] == PF_NO_NAME || self->frame_ids[1] == PF_NO_NAME))
    status = pf_no_memory(error);
  if (status == PF_OK)
    status = br_intern_routines(trace->dictionary, self->routines, error);
  if (status == PF_OK)
    *reader = &self->reader;
  else
    close_reader(&self->reader);
  return status;
}
