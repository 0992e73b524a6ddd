/*
** timeline_spans.h - access to the userdata of kept spans. Used by
** export_samples.c.
*/

#ifndef timeline_spans_h
#define timeline_spans_h

#include "kernels/spans/track_store.h"
#include "lua/binding.h"

/* Returns the spans at `arg`; borrowed: pin them. Raises when they are
   closed. */
const pf_span_store *l_spans_check (lua_State *L, int arg);

#endif
