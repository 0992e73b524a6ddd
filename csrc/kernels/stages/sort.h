/*
** sort.h - the stage that sorts rows. Used by csrc/lua/stages/grouping.c.
** The keys are copied; the rows are freed when the reader is closed.
*/

#ifndef sort_h
#define sort_h

#include "model/rows/batch.h"

typedef struct pf_sort_key {
  size_t column;
  bool descending;
} pf_sort_key;

/*
** Open a reader of the rows of `input` (borrowed), sorted by the first key,
** equal ones by the second, and so on; stable. Names and bytes compare by their
** bytes, areas by their names, stacks by their ids; missing values come last in
** either direction. The first `next` reads the whole input into memory; after
** expect_rows (abilities.h) it stores at most twice these rows and a fixed
** number; for a live file it returns PF_AGAIN and continues at the next call.
** PF_ENOMEM.
*/
pf_status pf_sort_open (pf_reader *input, const pf_sort_key *keys, size_t nkeys,
                        pf_reader **reader, pf_error *error);

#endif
