/*
** timeline_spans.h - access to the userdata of kept spans, for
** export_samples.c, and the options that spans and calls share. Used by
** event_stages.c too; the userdata owns the spans and pins their reader.
*/

#ifndef timeline_spans_h
#define timeline_spans_h

#include "kernels/spans/spans.h"
#include "lua/binding.h"

/* Returns the spans at `arg`; borrowed: pin them. Raises when they are closed. */
const pf_span_store *l_spans_check (lua_State *L, int arg);

/* Sets the limits `from`, `to` and `last` to the options at `arg`. */
void l_call_times (lua_State *L, int arg, pf_call_options *options);

#endif
