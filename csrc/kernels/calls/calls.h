/*
** calls.h - the stage that turns a table of events into a table of calls. Used
** by core.calls (csrc/lua/calls.c) and, in two threads, by row_scan.c.
*/

#ifndef calls_h
#define calls_h

#include "kernels/calls/call.h"

/*
** Open a reader of the calls of `events` (borrowed; its columns: events.h), in
** order of stop, unwound calls first. Columns: area, lane, start, stop, gross,
** net, call, period, outside, depth, caller, flags, count, stack; if the events
** have them also line and params, those of the enter, which are stored for open
** calls and for the rows of the last batch. PF_EUNSUPPORTED when the columns
** are not those of events; PF_ENOMEM.
*/
pf_status pf_calls_open (pf_reader *events, const pf_call_options *options,
                         pf_reader **reader, pf_error *error);

/*
** Let the caller read the events, so that calls can be computed in another
** thread. The caller reads the columns `wants` (owned by `reader`) of `events`
** and hands over one batch at a time with pf_calls_push; then `next` returns
** its calls, and PF_AGAIN after the last of them. `wanted` are the columns of
** calls that will be read. *events is NULL when this is impossible: for columns
** that intern names or stacks, for a range that ends early, and for a reader of
** another kind. PF_OK or PF_ENOMEM.
*/
pf_status pf_calls_detach_input (pf_reader *reader, const bool *wanted,
                                 pf_reader **events, bool **wants);

/* Hand over the next batch. It must stay unchanged until `next` returns
   PF_AGAIN. */
void pf_calls_push (pf_reader *reader, const pf_batch *events);

/* The caller stops reading events. With `is_over` they have ended, otherwise
   `next` reads further events itself. */
void pf_calls_reattach_input (pf_reader *reader, bool is_over);

#endif
