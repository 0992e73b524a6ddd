/*
** parallel.h - two pieces of work at once.
*/

#ifndef parallel_h
#define parallel_h

#include "profio.h"

/* Work on what the pointer leads to; it must not call Lua. */
typedef void pf_task (void *context);

/*
** Run both and come back when both are done: `second` in a thread of its own,
** or after `first` when there is none to be had. What one of them writes the
** other must not look at, so the results are the same either way.
*/
void pf_both (pf_task *first, void *first_context, pf_task *second,
              void *second_context);

#endif
