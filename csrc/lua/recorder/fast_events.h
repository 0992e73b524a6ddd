/*
** fast_events.h - functions that run at each event, inlined into the hooks:
** an event takes a few hundred instructions in all, most of them in Lua. Used
** by hooks.c, lua_lanes.c and put_events.c; it owns nothing.
*/

#ifndef lua_recorder_fast_h
#define lua_recorder_fast_h

#include "lua/recorder/recorder.h"

#define L_HOT static inline __attribute__((always_inline))

/* Rare paths stay out of line. */
#define L_COLD __attribute__((noinline, cold))

/* Words of a record by mode. */
#define L_LINE_WORDS   2
#define L_SAMPLE_WORDS 1
#define L_EVENT_WORDS  4
#define L_SWITCH_WORDS 5


/* put_events.c */

/* General path of l_put_begin: checks the writer, informs it of new dictionary
   entries, and waits for space in the ring. */
uint64_t *l_put_begin_general (l_recorder *recorder, size_t words);

/* Sets and returns the id that event records have for a function: its area, or
   its name where the table has names. */
uint32_t l_put_function (l_recorder *recorder, l_function *function);

/* Reserves space for a record. NULL: it was dropped, or recording has ended. */
L_HOT uint64_t *l_put_begin (l_recorder *r, size_t words) {
  pf_writer *const w = r->fast_writer;
  if (w == NULL || pf_writer_failed(w) || !pf_ring_has_space(&w->ring, words))
    return l_put_begin_general(r, words);
  return pf_writer_begin(w, words);
}

L_HOT void l_put_commit (l_recorder *r, uint64_t *record, size_t words) {
  r->events++;
  pf_writer_commit(r->writer, record, words, r->layout.tag);
}

/* Mode "calls": records that the next events of the shared lane are of this
   one. */
void l_put_switch (l_recorder *recorder, const l_lane *lane);

/* Mode "calls": records an event of a call. */
L_HOT void l_put_event (l_recorder *r, const l_lane *lane, l_event_code code,
                        const l_frame *f) {
  if (lane->number >= r->max_lanes - 1 && lane->number != r->shared_number)
    l_put_switch(r, lane);
  uint32_t word = f->function->record_id;
  if (word == L_NO_ID)
    word = l_put_function(r, f->function);
  uint64_t *const record = l_put_begin(r, L_EVENT_WORDS);
  if (record == NULL)
    return;
  record[r->layout.at[0]] = (uint64_t)r->program_time;
  record[r->layout.at[1]] = r->event_codes[code];
  record[r->layout.at[2]] = word;
  record[r->layout.at[3]] = lane->recorded;
  l_put_commit(r, record, L_EVENT_WORDS);
}

/* Records the begin of a call. */
L_HOT void l_put_enter (l_recorder *r, const l_lane *lane, l_frame *f) {
  if (f->is_hidden)
    return;
  f->has_enter = true;
  l_put_event(r, lane, L_ENTER, f);
}


/* lua_lanes.c */

/* Enters a call. NULL: out of memory; recording has ended. */
L_HOT l_frame *l_lane_push (l_recorder *r, l_lane *lane, const void *ci,
                            l_function *function) {
  if (function == NULL || (lane->top == lane->last && !l_lane_reserve(r, lane)))
    return NULL;
  l_frame *const f = ++lane->top;
  const bool is_c = function->key.c != NULL;
  *f = (l_frame){.ci = ci,
                 .function = function,
                 .has_line = is_c,
                 .is_new = true,
                 .is_hidden = function->is_own || (is_c && f[-1].is_hidden),
                 .path = L_NO_ID};
  return f;
}

/* Leaves the innermost call. */
L_HOT void l_lane_pop (l_recorder *r, l_lane *lane) {
  l_frame *const f = lane->top;
  if (f->has_enter)
    l_put_event(r, lane, L_LEAVE, f);
  else if (r->mode != L_CALLS && f->has_line && !f->is_hidden)
    l_put_line(r, lane, f);
  lane->top--;
}

#endif
