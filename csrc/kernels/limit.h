/*
** limit.h - the first rows, or those after them.
*/

#ifndef limit_h
#define limit_h

#include "model/batch.h"

#define PF_NO_LIMIT UINT64_MAX

/* A reader that leaves out the first `skip` rows of `input` (borrowed), then
   yields at most `limit` rows and pulls no further. */
pf_status pf_limit_open (pf_reader *input, uint64_t limit, uint64_t skip,
                         pf_reader **reader, pf_error *error);

/* How many rows a reader of pf_limit_open has yielded; PF_NO_LIMIT: it is
   another reader. */
uint64_t pf_limit_passed (const pf_reader *reader);

#endif
