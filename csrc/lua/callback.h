/*
** callback.h - Lua functions called by readers of the core.
**
** A stage cannot know which coroutine will pull it, so each callback has a
** thread of its own that runs nothing else. A raise does not leave it: it
** becomes PF_ERAISED, which the binding raises again.
**
** These functions are the only way from a running reader into Lua: each of them
** fails with "trace is closed" when the Lua function has closed the trace that
** the reader reads, before the reader touches it again. `make lint` refuses other
** calls of Lua.
*/

#ifndef callback_h
#define callback_h

#include "lua/binding.h"

typedef struct l_callback {
  lua_State *thread; /* pinned by the reader that uses it */
  const bool *open;  /* the flag of the trace that is read */
  bool busy;
} l_callback;

/* Push the thread of a new callback, with the `count` values on top of the
   stack (popped) as its values 1..count. `open` is the flag of the trace that the
   reader reads. */
void l_callback_open (lua_State *L, l_callback *callback, int count,
                      const bool *open);

/*
** Run body(call, value 1, ..., value count) on the thread, protected. `call` is
** a light userdata. Nothing is left on the thread.
*/
pf_status l_callback_run (l_callback *callback, lua_CFunction body, void *call,
                          int count, pf_error *error);

/* In a body: call the Lua function that lies below its `arguments` on top of the
   stack, and push its first result. Raises when the trace is closed then. */
void l_callback_call (lua_State *L, const l_callback *callback, int arguments);

/* Resume the thread, which is a coroutine: its function or what it yielded from
   lies below `arguments`. *is_over: it has returned, or failed. What it yields is
   dropped. */
pf_status l_callback_resume (l_callback *callback, int arguments, bool *is_over,
                             pf_error *error);

/* Whether a reader waits for a Lua function to return. What readers may hold is
   not freed then, but left to the collector. */
bool l_callback_is_running (lua_State *L);

#endif
