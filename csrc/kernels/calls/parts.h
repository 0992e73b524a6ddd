/*
** parts.h - all events of a table through passes, one or several at once.
*/

#ifndef parts_h
#define parts_h

#include "kernels/calls/pass.h"

/* Who watches a pass over parts. */
typedef struct pf_watcher {
  /* Asked now and then in the caller's thread, with the rows that have been
     read: whether to read no more. NULL: nobody watches. */
  bool (*is_over)(void *context, uint64_t rows);
  void *context;
} pf_watcher;

typedef struct pf_parts {
  pf_reader *const *readers; /* borrowed; each can seek, if there are several */
  size_t count;
  uint64_t rows;  /* in all */
  size_t threads; /* at most */
  pf_watcher watcher;
} pf_parts;

/*
** Read all events of parts into `pass`, which is open over the first reader
** and has read nothing. It is finished then: with the events up to where the
** first part was that the watcher has ended. PF_OK or a failure.
*/
pf_status pf_parts_read (const pf_parts *parts, const pf_pass_options *options,
                         pf_pass *pass, pf_error *error);

#endif
