/*
** diff.h - two profiles beside each other, a row for each function.
*/

#ifndef contexts_diff_h
#define contexts_diff_h

#include "model/contexts.h"

/*
** The metrics of a profile of single frames that are compared: what each
** function got in the new and in the old profile. PF_NO_METRIC: not known.
*/
typedef struct pf_diff {
  const pf_contexts *contexts; /* borrowed by the reader, must not change */
  size_t self, self_before, total, total_before;
  size_t count, count_before; /* events that were counted, for significance */
} pf_diff;

/*
** Rows function, self, self_before, change, relative, total, total_before,
** total_change, significance, file, line; the largest change first. `relative`
** is the change as a part of what was before, missing when that is 0.
** `significance` is the change of the count in standard errors, as if counts
** were Poisson's: below 2 it may be chance. It is missing where one side has no
** counts, and where both counts are 0. PF_ENOMEM.
*/
pf_status pf_diff_open (const pf_diff *diff, pf_reader **reader,
                        pf_error *error);

#endif
