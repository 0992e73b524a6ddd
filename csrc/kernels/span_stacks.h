/*
** span_stacks.h - the private part of spans.c: what has been opened and closed
** on the stacks of the machine of calls since the event before.
*/

#ifndef span_stacks_h
#define span_stacks_h

#include "kernels/spans.h"


typedef struct span_row {
  pf_span_kind kind;
  uint32_t track, frame, area, flags;
  bool has_value;
  int64_t time, value, net;
} span_row;

/* The stack of a lane or of a variable as it was after the last event. */
typedef struct span_stack {
  uint32_t *slots; /* of the open calls, the outermost first */
  uint32_t depth;
  size_t room;
  uint32_t track, run, epoch;
  int64_t base, last; /* where calls without enter begin; of the last row */
  bool has_base, is_base_due;
  bool rests;
  bool holds; /* of values: one is open, its row: */
  span_row held;
} span_stack;

/* Stacks by the number of their lane. */
typedef struct span_stacks {
  span_stack *list;
  size_t count, room;
} span_stacks;

typedef struct spans_reader {
  pf_reader reader;
  pf_spans options;
  pf_events events;
  pf_machine machine;
  bool has_machine, has_ended;
  size_t row;                /* the next event of the batch at hand */
  span_stacks lanes, groups; /* as in pf_lanes */
  span_row *rows;            /* that have not been given yet */
  size_t nrows, given, rows_room;
  pf_span_track *tracks;
  size_t ntracks, tracks_room;
  pf_id_table values, frames; /* of areas with their values */
  uint32_t epoch;             /* of the machine, and its last time then */
  int64_t heard;
  int64_t first, last; /* of all times, when there was an event */
  bool has_first;
} spans_reader;

/* All of these answer false when out of memory. */

/* Give the calls that the machine has made of an event that acted on `slot` (or
   PF_NO_SLOT). A write makes the last one; that of a state writes its variable,
   too, whose track of states says as much. */
bool pf_spans_take_calls (spans_reader *reader, uint32_t slot, uint8_t event);

/* Give what an event has opened in a lane. */
bool pf_spans_look_at_lane (spans_reader *reader, const pf_lane *lane);

/* The range begins: give what is open. */
bool pf_spans_begin_range (spans_reader *reader);

/* The values of all variables end. */
bool pf_spans_end_values (spans_reader *reader, int64_t time);

#endif
