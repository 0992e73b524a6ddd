/*
** derive.h - the stage that adds columns computed by formulas: shares, running
** sums, differences. Used by csrc/lua/stages/formulas.c. The caller closes
** the reader.
*/

#ifndef derive_h
#define derive_h

#include "kernels/stages/formula.h"

/*
** Open a reader of the rows of `input` (borrowed) with one further column for
** each formula. Everything is copied, except the counters of overflows, which
** must outlive the reader. If a formula has a total, the first `next` reads the
** whole input into memory. PF_EUNSUPPORTED for a column that is not a number, a
** formula that does not leave exactly one value, or one that needs more than
** PF_MAX_STACK; PF_ENOMEM.
*/
pf_status pf_derive_open (pf_reader *input, const pf_formula *formulas,
                          size_t count, pf_reader **reader, pf_error *error);

#endif
