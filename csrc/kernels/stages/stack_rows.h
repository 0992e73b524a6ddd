/*
** stack_rows.h - the stacks of a dictionary as rows. csrc/lua/stages/stages.c
** opens it, for exports whose rows refer to stacks by id.
*/

#ifndef stack_rows_h
#define stack_rows_h

#include "model/dictionary/stacks.h"

/*
** Sets *reader to a reader with a row for each stack that the dictionary
** (borrowed) has now, by id: stack, parent (the stack without its innermost
** frame; missing: there are no more frames), depth (number of frames) and frame
** (the innermost one). The caller owns the reader and closes it. PF_ENOMEM.
*/
pf_status pf_stack_rows_open (pf_dictionary *dictionary, pf_reader **reader,
                              pf_error *error);

#endif
