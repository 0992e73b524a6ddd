/*
** calls.h - the stage that makes calls of events.
*/

#ifndef calls_h
#define calls_h

#include "kernels/calls/call.h"

/*
** A reader of the calls of `events` (borrowed; its columns: events.h), in
** order of stop, unwound ones first: area, lane, start, stop, gross, net,
** call, period, outside, depth, caller, flags, count, stack; and where the events
** have them line and params, those of the enter. Only when these are asked for
** they are kept, for the calls that are open and those handed out last.
*/
pf_status pf_calls_open (pf_reader *events, const pf_call_options *options,
                         pf_reader **reader, pf_error *error);

/*
** Let others read the events, so that calls can be made in a thread apart:
** they read the columns `wants` (owned by the reader) of `events` and give the batches,
** one after the other; after each `next` answers its calls, and PF_AGAIN when
** they have been handed out. `wanted` are the columns of calls. *events is NULL
** when that cannot be: for those that make names or stacks, or end before the
** events do, and of a reader of other things. PF_OK or PF_ENOMEM.
*/
pf_status pf_calls_split (pf_reader *reader, const bool *wanted,
                          pf_reader **events, bool **wants);

/* Give the next batch. It must stay as it is until PF_AGAIN. */
void pf_calls_give (pf_reader *reader, const pf_batch *events);

/* Nobody else reads the events any more: they have ended, or `next` goes on
   with them. */
void pf_calls_take_back (pf_reader *reader, bool is_over);

#endif
