/*
** calls.h - the stage that turns a table of events into a table of calls. Used
** by core.calls (csrc/lua/stages/event_stages.c) and, in two threads, by
** kernels/group/group.c. The caller closes the reader, which frees all its
** memory and borrows the events until then.
*/

#ifndef calls_h
#define calls_h

#include "kernels/calls/call.h"

/*
** Open a reader of the calls of `events` (borrowed; its columns: events.h), in
** the order in which they end, inner calls first. Columns: area, lane, start,
** stop, gross, net, call, period, outside, depth, caller, flags, count, stack;
** if the events have them also line and params, those of the enter, which are
** stored for open calls and for the rows of the last batch. PF_EUNSUPPORTED
** when the columns are not those of events; PF_ENOMEM.
*/
pf_status pf_calls_open (pf_reader *events, const pf_call_options *options,
                         pf_reader **reader, pf_error *error);

/*
** Hand over the next batch to a reader of calls whose `detach_input`
** (abilities.h) has set *input to the reader of its events: another thread can
** compute the calls while the caller reads the columns `wants` (owned by the
** reader) of the events. Then `next` returns the calls of the batch, which must
** stay unchanged, and PF_AGAIN after the last of them. `wanted` are the columns
** of calls that will be read. *input is NULL for the columns flags, stack, line
** and params, for a range that ends early, and after the first `next`.
*/
void pf_calls_push (pf_reader *reader, const pf_batch *events);

/* The caller stops reading events. With `is_over` they have ended, otherwise
   `next` reads further events itself. */
void pf_calls_reattach_input (pf_reader *reader, bool is_over);

#endif
