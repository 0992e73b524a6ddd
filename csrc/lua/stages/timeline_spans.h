/*
** timeline_spans.h - access to the userdata of kept spans, for
** export_samples.c, and what spans share with calls (event_stages.c) and with
** lane_overview.c. The userdata owns the spans and pins their reader.
*/

#ifndef timeline_spans_h
#define timeline_spans_h

#include "kernels/spans/spans.h"
#include "lua/binding.h"

/* Returns the spans at `arg`; borrowed: pin them. Raises when they are
   closed. */
const pf_span_store *l_spans_check (lua_State *L, int arg);

/* Sets the limits `from`, `to` and `last`, and `counts`, to the options at
   `arg`, which the caller pins while the calls are computed. */
void l_call_times (lua_State *L, int arg, pf_call_options *options);

/* Sets fields of the table on top of the stack to the facts of a track of the
   events: kind ("lane", "states", "values") and run; of a lane also its value,
   of other tracks the name of the variable. */
void l_span_track_facts (lua_State *L, const pf_events *events,
                         const pf_span_track *track);

#endif
