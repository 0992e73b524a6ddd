/*
** xpp_lines.h - access to the userdata of line ranges, for event_stages.c.
*/

#ifndef xpp_lines_h
#define xpp_lines_h

#include "formats/xpp/operations/line_ranges.h"
#include "lua/binding.h"

/* The ranges of a userdata, borrowed: pin it; or NULL for nil. */
xpp_line_ranges *l_line_ranges (lua_State *L, int arg);

#endif
