/*
** profile.h - the two userdata behind a call graph profile, shared by profile.c
** and flow.c: the graph, and a flow, which is the attribution of one metric
** under the filters of a report (kernels/graph/). Each owns what it contains;
** readers pin both.
*/

#ifndef profile_h
#define profile_h

#include "kernels/listing/listing.h"
#include "kernels/base/selection.h"
#include "lua/binding.h"

#define L_PROFILE "profio.profile"
#define L_FLOW    "profio.flow"

/* User value 1: the dictionary; 2: the flow without options, once computed; 3:
   the symbols, or nil. */
typedef struct l_profile {
  pf_graph graph;
  bool open;       /* built and not closed */
  uint32_t *shown; /* owned; by function: demangled name id; NULL: none */
} l_profile;

/* User value 1: the profile. */
typedef struct l_flow {
  pf_flow flow;    /* borrows graph and filter */
  uint8_t *filter; /* owned; a byte per function; NULL: none */
} l_flow;


/* Returns the profile at `arg`; raises when it is not one, or closed. */
l_profile *l_profile_check (lua_State *L, int arg);

/* Demangles the names of all functions that were used, so that a demangled name
   can be found. Raises without memory. */
void l_profile_demangle (lua_State *L, const l_profile *p);

/*
** Pushes the flow of the profile at index `profile` for the options at `arg` (a
** table; others count as none): metric, include_flat, exclude_flat,
** include_graph, ... The flow without these options is computed once and
** cached; that time a nil is pushed below it. Pin the result.
*/
pf_flow *l_flow_push (lua_State *L, int profile, int arg);

/* Returns the selection of the arguments from `arg` on: "focus", "ignore" or
   "hide", and a table whose keys are the numbers, below `count`, of the
   functions that are chosen. It is valid while the stack has what is pushed. */
pf_selection l_selection_check (lua_State *L, int arg, size_t count);

/* Pushes a table of the numbers in headings. The flow must be on top. */
void l_profile_facts (lua_State *L, const pf_flow *flow);

/* Creates the class of flows. */
void l_open_flow (lua_State *L);

#endif
