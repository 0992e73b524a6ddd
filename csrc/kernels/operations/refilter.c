/*
** refilter.c - a filter that keeps the outer row of each pair of operation
** codes. The call stacks tell whether a row is the second of its pair.
*/

#include <stdlib.h>

#include "kernels/stages/filter.h"
#include "kernels/operations/flags.h"
#include "kernels/operations/frames.h"
#include "kernels/operations/unfilter.h"
#include "model/dictionary/names.h"

typedef struct refilter {
  pf_entry_columns at;
  pf_frames frames;
} refilter;


/* Whether rows before this one are lost, or are of another run. */
static bool follows_gap (const refilter *self, const pf_batch *batch,
                         size_t row) {
  if (self->at.flags >= batch->ncolumns)
    return false;
  const pf_column *const flags = &batch->columns[self->at.flags];
  if (pf_is_missing(flags, row) || flags->ids[row] == self->frames.nameless)
    return false;
  const pf_bytes text = pf_name(self->frames.dictionary, flags->ids[row]);
  return (pf_flags_in(text) & (PF_FLAG_GAP | PF_FLAG_RUN)) != 0;
}


/* Drop all open calls if the row does not continue the previous ones. */
static void forget_after_gap (refilter *self, const pf_batch *batch,
                              size_t row) {
  if (!pf_frames_new_file(&self->frames, batch, &self->at, row) &&
      !follows_gap(self, batch, row))
    return;
  for (uint32_t i = 0; i < self->frames.nlanes; i++)
    while (self->frames.lanes[i].depth > 0)
      pf_frames_pop(&self->frames, &self->frames.lanes[i]);
}


/* Process an enter; it is kept if its call begins. False when out of memory. */
static bool enter (refilter *self, pf_call_stack *lane, uint32_t slot,
                   pf_call_op op, bool *keep) {
  *keep = !pf_frames_is_second(lane, slot, op);
  pf_open_call *const call =
      *keep ? pf_frames_push(&self->frames, lane, slot) : pf_frames_top(lane);
  if (call == NULL)
    return false;
  pf_open_call_record(call, op, 0);
  return true;
}


/* Whether a leave is kept; an O is, unless its o will follow. */
static bool leave (refilter *self, pf_call_stack *lane, uint32_t slot,
                   pf_call_op op) {
  const uint32_t nearest = self->frames.slots[slot].top;
  if (nearest == PF_NO_FRAME) {
    const bool is_second = op == PF_RETURNED && lane->orphan == slot;
    lane->orphan = op == PF_RETURNING ? slot : PF_NO_FRAME;
    return !is_second;
  }
  while (nearest + 1 < lane->depth)
    pf_frames_pop(&self->frames, lane);
  if (op == PF_RETURNING && pf_frames_top(lane)->seen[PF_CALLING])
    return false;
  pf_frames_pop(&self->frames, lane);
  return true;
}


/* Process a row and set *keep; false when out of memory. */
static bool decide (refilter *self, const pf_batch *batch, size_t row,
                    bool *keep) {
  pf_frames *const frames = &self->frames;
  pf_call_row call_row;
  if (pf_frames_look(frames, batch, &self->at, row, &call_row) != PF_OK)
    return false;
  pf_call_stack *const lane = &frames->lanes[call_row.lane];
  const uint32_t slot = call_row.slot;
  const pf_call_op op = call_row.op;
  *keep = true;
  forget_after_gap(self, batch, row);
  if (op != PF_RETURNED)
    lane->orphan = PF_NO_FRAME;
  if (op == PF_NO_OP)
    return true;
  if (op == PF_CALLING || op == PF_ENTERED)
    return enter(self, lane, slot, op, keep);
  *keep = leave(self, lane, slot, op);
  return true;
}


static pf_status select_rows (void *context, const pf_batch *batch,
                              uint16_t *keep, size_t *count, pf_error *error) {
  refilter *const self = context;
  bool has_capacity = true;
  for (size_t row = 0; row < batch->rows && has_capacity; row++) {
    bool is_kept;
    has_capacity = decide(self, batch, row, &is_kept);
    keep[*count] = (uint16_t)row;
    *count += has_capacity && is_kept;
  }
  if (has_capacity)
    return PF_OK;
  return pf_no_memory(error);
}


static void close_predicate (void *context) {
  refilter *const self = context;
  pf_frames_close(&self->frames);
  free(self);
}


pf_status pf_refilter_open (pf_reader *input, pf_reader **reader,
                            pf_error *error) {
  refilter *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  pf_status status = pf_entry_columns_of(input, &self->at, error);
  if (status == PF_OK &&
      (status = pf_frames_open(&self->frames, input->dictionary)) != PF_OK)
    pf_fail(error, status, PF_NO_OFFSET, "out of memory");
  size_t needed[5] = {self->at.op, self->at.call}, count = 2;
  if (self->at.thread < input->nfields)
    needed[count++] = self->at.thread;
  if (self->at.flags < input->nfields)
    needed[count++] = self->at.flags;
  if (self->at.file < input->nfields)
    needed[count++] = self->at.file;
  const pf_predicate predicate = {self, select_rows, close_predicate};
  if (status == PF_OK)
    status = pf_filter_open(input, needed, count, predicate, reader, error);
  if (status != PF_OK)
    close_predicate(self);
  return status;
}
