/*
** range.h - the rows of a span of time.
*/

#ifndef range_h
#define range_h

#include "model/batch.h"

/*
** A reader of the rows of `input` (borrowed) in which column `time` (of
** PF_INT, or of any type: pf_has_any_type) is at least `first` and at most `last`; rows without a time are left
** out.
**
** Where the input can `seek`, its rows are taken to be in the order of the
** column: the first row is found by bisection and nothing is read behind the
** last. Rows that are seen to be out of order on the way switch that off, and
** the whole input is read.
*/
pf_status pf_range_open (pf_reader *input, size_t time, int64_t first,
                         int64_t last, pf_reader **reader, pf_error *error);

#endif
