/*
** callback.h - Lua functions called by stages of the core.
**
** A stage cannot know which coroutine will pull it, so each callback has a
** thread of its own that runs nothing else. A raise does not leave it: it
** becomes PF_ERAISED, which the binding raises again.
*/

#ifndef callback_h
#define callback_h

#include "lua/binding.h"

typedef struct l_callback {
  lua_State *thread; /* pinned by the reader that uses it */
  bool busy;
} l_callback;

/* Push the thread of a new callback, with the `count` values on top of the
   stack (popped) as its values 1..count. */
void l_callback_open (lua_State *L, l_callback *callback, int count);

/*
** Run body(call, value 1, ..., value count) on the thread, protected. `call` is
** a light userdata. Nothing is left on the thread.
*/
pf_status l_callback_run (l_callback *callback, lua_CFunction body, void *call,
                          int count, pf_error *error);

#endif
