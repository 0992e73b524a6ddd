/*
** open_spans.h - private to spans.c: finds which calls have begun and ended
** since the previous event, by comparing the stacks of the call machine with a
** copy.
*/

#ifndef open_spans_h
#define open_spans_h

#include "kernels/spans/spans.h"


typedef struct span_row {
  pf_span_kind kind;
  uint32_t track, frame, area, flags;
  bool has_value;
  int64_t time, value, net;
} span_row;

/* The stack of a lane or of a variable after the last event. */
typedef struct span_stack {
  uint32_t *slots; /* of the open calls, outermost first */
  uint32_t depth;
  size_t capacity;
  uint32_t track, run, epoch;
  int64_t base, last; /* begin of calls without an enter; time of the last
                         row */
  bool has_base, is_base_due;
  bool idle;
  bool has_value; /* of a variable: `value` is open */
  span_row value;
} span_stack;

/* Stacks by lane id. */
typedef struct span_stacks {
  span_stack *list;
  size_t count, capacity;
} span_stacks;

typedef struct spans_reader {
  pf_reader reader;
  pf_spans options;
  pf_events events;
  pf_machine machine;
  bool has_machine, has_ended;
  size_t row;                /* the next event of the batch */
  span_stacks lanes, groups; /* as in pf_lanes */
  span_row *rows;            /* not yet returned */
  size_t nrows, returned, rows_capacity;
  pf_span_track *tracks;
  size_t ntracks, tracks_capacity;
  pf_id_table values, frames; /* ids of values; ids of (area, value) pairs */
  uint32_t epoch;             /* of the machine at the last event, and its last
                                 time then */
  int64_t machine_last;
  int64_t first, last; /* of all rows, if has_first */
  bool has_first;
} spans_reader;

/* All these functions return false when out of memory. */

/* Add rows for the calls that an event on `slot` (or PF_NO_SLOT) has ended. The
   last call of a write is the value written; the write of a state also writes
   its variable, which has no rows because the track of states shows the
   same. */
bool pf_spans_add_calls (spans_reader *reader, uint32_t slot, uint8_t event);

/* Add rows for the call that an event has opened in a lane. */
bool pf_spans_update_lane (spans_reader *reader, const pf_lane *lane);

/* The range begins: add rows for all open calls. */
bool pf_spans_begin_range (spans_reader *reader);

/* Add rows that end the values of all variables. */
bool pf_spans_end_values (spans_reader *reader, int64_t time);

#endif
