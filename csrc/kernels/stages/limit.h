/*
** limit.h - the stage that skips rows and limits their number. Used by
** csrc/lua/filter.c.
*/

#ifndef limit_h
#define limit_h

#include "model/rows/batch.h"

#define PF_NO_LIMIT UINT64_MAX

/* Open a reader that skips the first `skip` rows of `input` (borrowed), then
   returns at most `limit` rows and reads no further. PF_ENOMEM. */
pf_status pf_limit_open (pf_reader *input, uint64_t limit, uint64_t skip,
                         pf_reader **reader, pf_error *error);

/* The number of rows that a reader of pf_limit_open has returned. */
uint64_t pf_limit_passed (const pf_reader *reader);

#endif
