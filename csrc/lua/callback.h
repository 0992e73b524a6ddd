/*
** callback.h - Lua functions called by readers of the core.
**
** Used by stages whose rows depend on a Lua function: filters, keys, pattern
** tests, decoders. Call l_callback_open when the stage is created, then
** l_callback_run or l_callback_resume for each batch; within a run,
** l_callback_call for each call.
**
** Any coroutine may read from a stage, so each callback has a Lua thread of its
** own. An error does not leave this thread: it becomes PF_ERAISED, which the
** binding raises again.
**
** Running readers call Lua only through these functions (`make lint` checks
** this). Each of them fails with "trace is closed" if the Lua function has
** closed the trace, before the reader accesses it again. Used by stages.c,
** conditions.c and grouping.c of lua/stages, by user_decoder.c, and by emitters
** of lua/writer/file_writer.c for messages. The reader owns the l_callback and
** pins its thread; nothing else is allocated. Close methods of readers, parts
** and sources ask l_callback_is_running.
*/

#ifndef callback_h
#define callback_h

#include "lua/binding.h"

typedef struct l_callback {
  lua_State *thread; /* pinned by the reader that uses it */
  const bool *open;  /* flag of the trace that is read; not owned */
  bool busy;
} l_callback;

/* Opens a callback and pushes its thread, which the reader must pin. The
   `count` values on top of the stack are moved to the thread as values
   1..count. `open` is the flag of the trace. */
void l_callback_open (lua_State *L, l_callback *callback, int count,
                      const bool *open);

/*
** Calls body(call, value 1, ..., value count) on the thread in protected mode.
** `call` is passed as a light userdata. Returns PF_ERAISED for an error,
** PF_ELIMIT for too many nested callbacks, PF_EUNSUPPORTED if the callback is
** already running.
*/
pf_status l_callback_run (l_callback *callback, lua_CFunction body, void *call,
                          int count, pf_error *error);

/* To be used in a body: calls the Lua function below the `arguments` on top of
   the stack and pushes its first result. Raises if the trace is closed then. */
void l_callback_call (lua_State *L, const l_callback *callback, int arguments);

/* Resumes the thread as a coroutine with the `arguments` on its stack; below
   them is its function at the first call. Sets *is_over when it has returned or
   failed. Yielded values are dropped. Errors as l_callback_run. */
pf_status l_callback_resume (l_callback *callback, int arguments, bool *is_over,
                             pf_error *error);

/* Calls file:write(text) and for an empty text file:flush() of the file at
   `arg`, which stays the same. False: it has failed, and *errnum says why, if
   it knows. */
bool l_callback_write (lua_State *L, int arg, pf_bytes text, int *errnum);

/* Calls the Lua function at `index`, which raises the message on top of the
   stack with the position of the user's code. For emitters, not for readers. */
int l_callback_raise (lua_State *L, int index);

/* Whether a reader is waiting for a Lua function. If so, objects that readers
   may use must not be freed but left to the collector. */
bool l_callback_is_running (lua_State *L);

#endif
