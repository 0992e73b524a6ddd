/*
** diff.h - compare two profiles, a row for each function. Used by
** lua/profile/context_profile.c, which puts both profiles into one tree with
** separate metrics. The caller closes the reader, which frees its own arrays.
*/

#ifndef contexts_diff_h
#define contexts_diff_h

#include "model/contexts/contexts.h"

/*
** The metrics that are compared, of a profile of single frames: values of the
** new and the old profile (..._before). PF_NO_METRIC: unknown.
*/
typedef struct pf_diff {
  const pf_contexts *contexts; /* borrowed by the reader, must not change */
  size_t self, self_before, total, total_before;
  size_t count, count_before; /* number of samples, for significance */
} pf_diff;

/*
** Open a reader with rows function, self, self_before, change, relative, total,
** total_before, total_change, significance, file, line; the largest change
** first. `relative` is change / self_before, missing if self_before is 0.
** `significance` is the change of the count in standard errors, if counts have
** a Poisson distribution: below 2 it may be chance. It is missing if one
** profile has no counts, or both counts are 0. PF_ENOMEM.
*/
pf_status pf_diff_open (const pf_diff *diff, pf_reader **reader,
                        pf_error *error);

#endif
