/*
** contexts.h - what other files of the binding need of profiles whose body are
** calling contexts.
*/

#ifndef lua_contexts_h
#define lua_contexts_h

#include "lua/binding.h"
#include "model/contexts.h"

#define L_CONTEXTS "profio.contexts"

/* Contexts. User value 1: their dictionary. */
typedef struct l_contexts {
  pf_contexts contexts;
  bool open;
} l_contexts;

/* Push an empty profile over the dictionary at `dictionary_arg`. */
pf_contexts *l_contexts_new (lua_State *L, int dictionary_arg);

/* The contexts at `arg`; raises when they are none or closed. Pin them. */
pf_contexts *l_contexts_check (lua_State *L, int arg);

/* The number of a metric (NULL: the one shown first); raises with the
   names there are. */
size_t l_metric_check (lua_State *L, const pf_contexts *contexts,
                       const char *name);

#endif
