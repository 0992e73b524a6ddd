/*
** parts.h - all events of a table through passes, one or several at once.
*/

#ifndef parts_h
#define parts_h

#include "kernels/calls/pass.h"

typedef struct pf_parts {
  pf_reader *const *readers; /* borrowed; each can seek, if there are several */
  size_t count;
  uint64_t rows;  /* in all */
  size_t threads; /* at most */
} pf_parts;

/*
** Read all events of parts into `pass`, which is open over the first reader
** and has read nothing. It is finished then. PF_OK or a failure.
*/
pf_status pf_parts_read (const pf_parts *parts, const pf_pass_options *options,
                         pf_pass *pass, pf_error *error);

#endif
