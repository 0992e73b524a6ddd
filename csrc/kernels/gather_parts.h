/*
** gather_parts.h - the contexts of several files, in two threads.
*/

#ifndef gather_parts_h
#define gather_parts_h

#include "kernels/chain.h"
#include "model/gathering.h"

/* What all parts gather, merged; each has a reader that gathers. PF_ENOMEM, or
   the failure of the first part that fails. */
pf_status pf_gather_parts (const pf_part *parts, size_t nparts,
                           const pf_gathering *to, pf_error *error);

#endif
