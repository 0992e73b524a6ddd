/*
** spans.h - what other files of the binding need of kept spans.
*/

#ifndef lua_spans_h
#define lua_spans_h

#include "kernels/kept_spans.h"
#include "lua/binding.h"

/* The spans at `arg`; raises when they are none or closed. Pin them. */
const pf_kept_spans *l_spans_check (lua_State *L, int arg);

#endif
