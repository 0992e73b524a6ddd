/*
** filter.h - the stage that leaves rows out. What is left out is decided by a
** choice: the conditions of where.h, or a Lua function.
*/

#ifndef filter_h
#define filter_h

#include "model/batch.h"

/* Who decides. The filter owns the context and frees it with `close`. */
typedef struct pf_predicate {
  void *context;

  /* Write the numbers of the rows to keep into keep[], ascending, and how
     many they are into *count. The batch has 1 row or more. */
  pf_status (*choose)(void *context, const pf_batch *batch, uint16_t *keep,
                      size_t *count, pf_error *error);

  void (*close)(void *context);
} pf_predicate;

/*
** A reader of the chosen rows of `input` (borrowed). It needs the columns
** columns[0..ncolumns-1] beside those its user wants. On a failure the choice
** stays with the caller.
*/
pf_status pf_filter_open (pf_reader *input, const size_t *columns,
                          size_t ncolumns, pf_predicate choice,
                          pf_reader **reader, pf_error *error);

#endif
