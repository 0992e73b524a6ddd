/*
** chain_stacks.h - the bulk read of stacks of concatenated readers, in two
** chunks at once. Used by kernels/stages/chain.c. The inputs are borrowed
** during the call.
*/

#ifndef chain_stacks_h
#define chain_stacks_h

#include "kernels/stages/chain.h"
#include "model/rows/abilities.h"
#include "model/rows/read_stacks.h"

/* Read the stacks of all inputs, each of which supports it, and merge them.
   PF_ENOMEM, or the failure of the first input that fails. */
pf_status pf_chain_read_stacks (const pf_chain_input *inputs, size_t ninputs,
                                const pf_stack_target *to, pf_error *error);

#endif
