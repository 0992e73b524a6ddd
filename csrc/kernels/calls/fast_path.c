/*
** fast_path.c - the rarer functions of the fast path, and its loop over events
** in columns.
*/

#include "kernels/calls/fast_path.h"


bool pf_fast_write (pf_machine *m, const pf_lane *lane, uint32_t word,
                    int64_t time) {
  const uint32_t number = known_slot(lane, word >> AREA_BITS);
  if (number == PF_NO_SLOT)
    return false;
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->kind != PF_KIND_VALUE || slot->epoch != m->epoch ||
      !slot->entered || slot->lane->epoch != m->epoch ||
      time < slot->lane->last)
    return false;
  pf_call *const call = &m->calls[m->ncalls++];
  call->start = call->stop = time;
  call->durations[PF_NET] = call->durations[PF_GROSS] =
      call->durations[PF_CALL] = 0;
  call->durations[PF_PERIOD] = duration(elapsed(slot->last_enter, time));
  call->durations[PF_OUTSIDE] = PF_NO_TIME;
  call->slot = number;
  call->caller = PF_NO_AREA;
  call->depth = 1;
  call->stack = PF_NO_STACK;
  call->flags = 0;
  call->count = 1;
  slot->last_enter = slot->lane->last = time;
  if (m->last < time)
    m->last = time;
  return true;
}


bool pf_fast_pause (const fast_run *r, uint32_t word, int64_t time) {
  pf_frame *const f = r->top;
  const uint32_t number = known_slot(r->lane, word >> AREA_BITS);
  const uint32_t kind = word & KIND_MASK;
  if (number == PF_NO_SLOT || f->slot != number)
    return false;
  if (f->is_fast)
    f->word = word ^ kind ^ PF_EVENT_ENTER;
  return kind == PF_EVENT_SUSPEND  ? suspend_fast(f, time)
         : kind == PF_EVENT_RESUME ? resume_fast(f, time)
                                   : false;
}


/* Begin a run of the lane with id `number`; its lane is NULL when that is
   new. */
static fast_run run_of (const pf_machine *m, uint32_t number, size_t events) {
  const fast_run none = {.lane = NULL};
  pf_lane *const lane = pf_lane_at(&m->lanes, number);
  return lane == NULL ? none : begin_run(m, lane, events);
}


/* Process an event in a run. */
PF_HOT bool process_in_run (pf_machine *m, fast_run *r, const pf_event_rows *e,
                            size_t i) {
  if (r->lane == NULL || e->times[i] < r->last || e->areas[i] > MAX_AREA)
    return false;
  const uint32_t word = e->areas[i] << AREA_BITS | e->kinds[i];
  return process_fast(m, r, word, e->times[i]);
}


pf_status pf_fast_process (pf_machine *m, const pf_event_rows *rows,
                           size_t from, size_t to) {
  const pf_event_rows e = *rows;
  fast_run r = {.lane = NULL};
  uint32_t number = PF_NO_SLOT; /* lane id of the run */
  for (size_t i = from; i < to; i++) {
    if (e.lanes[i] != number) {
      if (r.lane != NULL)
        end_run(m, &r);
      number = e.lanes[i];
      r = run_of(m, number, to - i);
    }
    if (process_in_run(m, &r, &e, i))
      continue;
    if (r.lane != NULL)
      end_run(m, &r);
    if (pf_machine_process_one(m, rows, i) != PF_OK)
      return PF_ENOMEM;
    r.lane = NULL;
    number = PF_NO_SLOT; /* the lane may exist now */
  }
  if (r.lane != NULL)
    end_run(m, &r);
  return PF_OK;
}
