/*
** refilter.c - a filter that keeps the outer row of each pair of operation
** codes. The call stacks tell whether a row is the second of its pair.
**
** The reader owns its stacks, which its `close` frees, and borrows the input.
*/

#include "formats/xpp/operations/frames.h"
#include "formats/xpp/operations/unfilter.h"
#include "model/rows/table_reader.h"

typedef struct refilter {
  pf_reader reader;
  xpp_entry_columns at;
  xpp_frames frames;
  uint16_t keep[PF_BATCH_ROWS];
} refilter;


/* Whether a leave is kept. An O is not if its call has an i, because its o
   should follow. */
static bool leave (refilter *self, xpp_call_stack *lane, uint32_t slot,
                   xpp_call_op op) {
  const uint32_t nearest = self->frames.slots[slot].top;
  if (nearest == XPP_NO_FRAME) {
    const bool is_second = op == XPP_RETURNED && lane->orphan == slot;
    lane->orphan = op == XPP_RETURNING ? slot : XPP_NO_FRAME;
    return !is_second;
  }
  lane->orphan = XPP_NO_FRAME;
  while (nearest + 1 < lane->depth)
    xpp_frames_pop(&self->frames, lane);
  if (op == XPP_RETURNING && xpp_frames_top(lane)->seen[XPP_CALLING])
    return false;
  xpp_frames_pop(&self->frames, lane);
  return true;
}


/* Process a row and set *keep: an enter begins its call. False: no memory. */
static bool decide (refilter *self, const pf_batch *batch, size_t row,
                    bool *keep) {
  xpp_frames *const frames = &self->frames;
  xpp_call_row call_row;
  if (xpp_frames_look(frames, batch, &self->at, row, &call_row) != PF_OK)
    return false;
  xpp_call_stack *const lane = &frames->lanes[call_row.lane];
  const uint32_t slot = call_row.slot;
  const xpp_call_op op = call_row.op;
  *keep = true;
  if (xpp_frames_break(frames, batch, &self->at, row) != 0)
    for (uint32_t i = 0; i < frames->nlanes; i++)
      while (frames->lanes[i].depth > 0)
        xpp_frames_pop(frames, &frames->lanes[i]);
  if (op != XPP_RETURNED)
    lane->orphan = XPP_NO_FRAME;
  if (op == XPP_NO_OP)
    return true;
  if (op == XPP_CALLING || op == XPP_ENTERED) {
    *keep = !xpp_frames_is_second(lane, slot, op);
    xpp_open_call *const call =
        *keep ? xpp_frames_push(frames, lane, slot) : xpp_frames_top(lane);
    if (call == NULL)
      return false;
    xpp_open_call_record(call, op, 0);
    return true;
  }
  *keep = leave(self, lane, slot, op);
  return true;
}


static pf_status refilter_next (pf_reader *reader, pf_batch *batch,
                                pf_error *error) {
  refilter *const self = (refilter *)(void *)reader;
  for (;;) {
    const pf_status status =
        self->reader.input->next(self->reader.input, batch, error);
    if (status != PF_MORE)
      return status;
    size_t count = 0;
    for (size_t row = 0; row < batch->rows; row++) {
      bool is_kept;
      if (!decide(self, batch, row, &is_kept))
        return pf_no_memory(error);
      self->keep[count] = (uint16_t)row;
      count += is_kept;
    }
    if (count > 0) {
      pf_batch_keep(batch, self->keep, count);
      return PF_MORE;
    }
  }
}


static void refilter_want (pf_reader *reader, bool *wanted) {
  const refilter *const self = (const refilter *)(const void *)reader;
  xpp_entry_columns_want(reader, &self->at, wanted);
  pf_stage_want(reader, wanted);
}


static void refilter_close (pf_reader *reader) {
  refilter *const self = (refilter *)(void *)reader;
  xpp_frames_close(&self->frames);
  free(self);
}


pf_status xpp_refilter_open (pf_reader *input, pf_reader **reader,
                             pf_error *error) {
  refilter *const self =
      pf_stage_new(sizeof *self, input, refilter_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.want = refilter_want;
  self->reader.close = refilter_close;
  pf_status status = xpp_entry_columns_of(input, &self->at, error);
  self->at.time = XPP_NO_COLUMN; /* the order of rows suffices */
  if (status == PF_OK)
    status = xpp_frames_open(&self->frames, input->dictionary, error);
  return pf_reader_opened(&self->reader, status, reader);
}
