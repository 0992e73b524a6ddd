/*
** counter.h - counters of rows with which something is wrong, for the warnings
** of views: formulas.c makes them, and joins.c uses them too. The caller pins
** the counter as long as a stage borrows it.
*/

#ifndef counter_h
#define counter_h

#include "lua/binding.h"

/* Returns the counter at `arg`; borrowed. */
uint64_t *l_counter_check (lua_State *L, int arg);

#endif
