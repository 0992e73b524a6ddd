/*
** calls.h - the stage that makes calls of events.
*/

#ifndef calls_h
#define calls_h

#include "kernels/calls/call.h"

/*
** A reader of the calls of `events` (borrowed; its columns: events.h), in
** order of stop, unwound ones first: area, lane, start, stop, gross, net,
** call, period, outside, depth, caller, flags, count, stack.
*/
pf_status pf_calls_open (pf_reader *events, const pf_call_options *options,
                         pf_reader **reader, pf_error *error);

#endif
