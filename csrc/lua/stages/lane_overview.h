/*
** lane_overview.h - the userdata of core.overview (lane_overview.c), for its
** methods about functions (overview_functions.c).
*/

#ifndef lane_overview_h
#define lane_overview_h

#include "kernels/spans/overview.h"
#include "lua/binding.h"
#include "model/base/wide.h"
#include "text/rows.h"

#define L_OVERVIEW "profio.overview"

typedef struct l_overview {
  pf_overview *overview; /* owned; NULL when closed */
  uint32_t *indices; /* owned; by frame: 1 + its index in the texts, in order
                            of first use, or 0 */
  uint32_t *shown;   /* owned; frames by index */
  uint32_t nshown;   /* of them */
} l_overview;


/* Returns the overview at index 1. Raises when it is closed. */
l_overview *l_overview_check (lua_State *L);

static inline pf_overview *l_overview_of (lua_State *L) {
  return l_overview_check(L)->overview;
}

/* Methods about functions, which have a comment where they are defined. */
int l_overview_heat (lua_State *L);
int l_overview_heat_width (lua_State *L);
int l_overview_heaviest (lua_State *L);
int l_overview_histogram (lua_State *L);
int l_overview_worst (lua_State *L);

/* Sets `name` and, if it is known, `file` of a frame in the table on top. */
void l_set_frame (lua_State *L, const pf_overview *o, uint32_t frame);

/* Adds a number to a text, after a comma unless it is the first one. */
void l_add_number (luaL_Buffer *b, bool is_first, int64_t value);

/* Returns to - from; times of a damaged trace may be further apart than 64 bits
   hold: then the limit. */
static inline int64_t l_distance (int64_t from, int64_t to) {
  return pf_limited((pf_wide)to - from);
}

#endif
