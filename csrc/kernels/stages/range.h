/*
** range.h - the stage that keeps the rows of a range of times. Used by
** csrc/lua/stages/stages.c. The caller closes the reader.
*/

#ifndef range_h
#define range_h

#include "model/rows/batch.h"

/*
** Open a reader of the rows of `input` (borrowed) in which column `time` (of
** PF_INT, or of any type: pf_has_any_type) is at least `first` and at most
** `last`, both in ns; rows without a time are dropped.
**
** If the input can `seek`, its rows are assumed to be sorted by the column: the
** first row is found by exponential and binary search, and reading stops after
** the last. When rows turn out to be unsorted, the whole input is read instead.
** PF_ENOMEM.
*/
pf_status pf_range_open (pf_reader *input, size_t time, int64_t first,
                         int64_t last, pf_reader **reader, pf_error *error);

#endif
