/*
** profile.h - what the files profile*.c share: the two objects behind a
** profile.
*/

#ifndef profile_h
#define profile_h

#include "kernels/graph/listing.h"
#include "lua/binding.h"

#define L_PROFILE "profio.profile"
#define L_FLOW    "profio.flow"

/* A graph. User value 1: its dictionary. 2: the flow without options. */
typedef struct l_profile {
  pf_graph graph;
  bool open;       /* it has been assembled and not been closed */
  uint32_t *shown; /* readable names as they become known; NULL: none */
} l_profile;

/* A flow of a profile. User value 1: the profile. */
typedef struct l_flow {
  pf_flow flow;
  uint8_t *filter;
} l_flow;


/* The profile at `arg`; raises when it is none or closed. */
l_profile *l_profile_check (lua_State *L, int arg);

/*
** Push the flow that the options at `arg` (a table or nil) ask of the profile
** at `profile`: metric, include_flat, exclude_flat, include_graph, ... The
** one without options is computed once.
*/
const pf_flow *l_flow_push (lua_State *L, int profile, int arg);

/* A listing that has orders, and the function that computes them with the flow:
   pf_flow_open_flat or pf_flow_open_graph. */
typedef pf_status l_open_ordered (pf_flow *flow, pf_graph *graph, size_t metric,
                                  const uint8_t *filter, bool zeros);

/* The same with the orders of a listing, of all functions or those without
   zeros, when the flow has to be computed. */
pf_flow *l_flow_push_ordered (lua_State *L, int profile, int arg,
                              l_open_ordered *open, bool zeros);

/* Push a table of the numbers a heading shows; pf_graph_facts and the flow
   at the top of the stack. */
void l_profile_facts (lua_State *L, const pf_flow *flow);

/* Make the class of flows. */
void l_open_flow (lua_State *L);

#endif
