/*
** context_profile.h - the userdata of profiles that consist of calling
** contexts. Used by lua/profile, the recorder and csrc/store. The userdata owns
** the contexts and pins their dictionary.
*/

#ifndef context_profile_h
#define context_profile_h

#include "lua/binding.h"
#include "model/contexts/contexts.h"

#define L_CONTEXTS "profio.contexts"

/* User value 1: the dictionary of the contexts. */
typedef struct l_contexts {
  pf_contexts contexts;
  bool open;
  pf_error error; /* the failure of an operation */
} l_contexts;

/* Pushes an empty profile with the dictionary at `dictionary_arg`. The userdata
   owns the result. */
pf_contexts *l_contexts_new (lua_State *L, int dictionary_arg);

/* Returns the contexts at `arg`; borrowed: pin them. */
pf_contexts *l_contexts_check (lua_State *L, int arg);

/* Returns the index of a metric (NULL: the default one); raises with a list. */
size_t l_metric_check (lua_State *L, const pf_contexts *contexts,
                       const char *name);

#endif
