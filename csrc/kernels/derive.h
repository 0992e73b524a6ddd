/*
** derive.h - the stage that adds columns computed from others: shares, running
** sums, differences.
*/

#ifndef derive_h
#define derive_h

#include "kernels/formula.h"

/*
** A reader of the rows of `input` (borrowed) with a column more for each
** formula; everything given is copied, but for the counters of overflows. A
** formula with a total makes the first `next` read the whole input into memory.
** PF_EUNSUPPORTED for a column that is no number, a formula that leaves not one
** value, or one that needs more than PF_MAX_STACK.
*/
pf_status pf_derive_open (pf_reader *input, const pf_formula *formulas,
                          size_t count, pf_reader **reader, pf_error *error);

#endif
