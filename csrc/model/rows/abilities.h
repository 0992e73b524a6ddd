/*
** abilities.h - what a reader may be able to do besides `next`. All of it is
** optional: without an ability there is NULL, and the rows are read with `next`
** in their order. A stage offers those of its input that are also true of its
** own rows. pf_can returns the abilities of any reader.
**
** Offered by readers of all layers, as a constant or a member of the reader.
** Used by kernels, lua, store and the pprof encoder.
*/

#ifndef abilities_h
#define abilities_h

#include "profio.h"

typedef struct pf_contexts pf_contexts;         /* model/contexts/contexts.h */
typedef struct pf_event_target pf_event_target; /* model/rows/event_words.h */

/* The destination of the bulk read of stacks. The caller owns all. */
typedef struct pf_stack_target {
  pf_contexts *contexts; /* use the reader's dictionary; only the root node */
  size_t nmetrics; /* length of the arrays; 0: each row states its metric, and
                      new metrics are added to the contexts */
  const size_t *columns; /* columns of the reader with weights */
  const size_t *metrics; /* metric of each column in the contexts */
} pf_stack_target;

struct pf_abilities {
  /* Continue at a row. Not possible where records have several sizes. */
  pf_status (*seek)(pf_reader *self, uint64_t row, pf_error *error);
  /* Bulk read of all rows, which are stacks and weights: faster than building
     rows and adding these one by one, with the same result. It adds nothing to
     the dictionary and calls no callback, so that the readers of several files
     may run in parallel threads, each with its own contexts. */
  pf_status (*read_stacks)(pf_reader *self, const pf_stack_target *to,
                           pf_error *error);
  /* As `next` with all columns of events, but to times and words, of *rows
     events. PF_MORE with 0 rows: the next rows need `next`. The reader has no
     columns of flags, and its lanes are names. */
  pf_status (*next_events)(pf_reader *self, const pf_event_target *to,
                           size_t *rows, pf_error *error);
  /* Rows in which this column is 0 may be left out. A stage that counts rows
     must not offer it. */
  void (*omit_zeros)(pf_reader *self, size_t column);
  /* Only the first `rows` rows will be read. Ignored after the first `next`. */
  void (*expect_rows)(pf_reader *self, uint64_t rows);
  /* Let the caller read the input: see pf_calls_push (kernels/calls/calls.h).
     */
  pf_status (*detach_input)(pf_reader *self, const bool *wanted,
                            pf_reader **input, bool **wants);
};

/* Return the abilities of a reader, never NULL. */
static inline const pf_abilities *pf_can (const pf_reader *reader) {
  static const pf_abilities none = {.seek = NULL};
  return reader->can != NULL ? reader->can : &none;
}

#endif
