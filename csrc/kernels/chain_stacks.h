/*
** chain_stacks.h - the contexts of several files, in two threads.
*/

#ifndef chain_stacks_h
#define chain_stacks_h

#include "kernels/chain.h"
#include "model/gathering.h"

/* What all parts gather, merged; each has a reader that gathers. PF_ENOMEM, or
   the failure of the first part that fails. */
pf_status pf_chain_read_stacks (const pf_chain_input *parts, size_t nparts,
                                const pf_gathering *to, pf_error *error);

#endif
