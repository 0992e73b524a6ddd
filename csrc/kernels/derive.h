/*
** derive.h - the stage that adds columns computed from others: shares, running
** sums, differences.
*/

#ifndef derive_h
#define derive_h

#include "model/store.h"

#define PF_MAX_STACK 16 /* values a formula may hold at once */

/* What a step does with the stack of values; a missing value, a division by 0
   and the root of a negative number make the result missing. */
typedef enum pf_operation {
  PF_PUSH_COLUMN, /* the value of a column of type int, num or bool */
  PF_PUSH_TOTAL,  /* the sum of a column over all rows */
  PF_PUSH_NUMBER, /* a constant */
  PF_RUN,         /* the sum of the top over the rows so far */
  PF_ADD,         /* of the two on top, as the four below */
  PF_SUBTRACT,
  PF_MULTIPLY,
  PF_DIVIDE,
  PF_LESS, /* 1 when the lower one is less, else 0 */
  PF_LEAST,
  PF_MOST,
  PF_ROOT, /* of the top, as the two below */
  PF_SIZE, /* without its sign */
  PF_NEGATE
} pf_operation;

typedef struct pf_step {
  pf_operation operation;
  size_t column; /* of PF_PUSH_COLUMN and PF_PUSH_TOTAL */
  double number; /* of PF_PUSH_NUMBER */
} pf_step;

/* A new column. Its steps leave one value on the stack. */
typedef struct pf_formula {
  const char *name;
  pf_type type; /* PF_NUM, or PF_INT: rounded to the nearest */
  const pf_step *steps;
  size_t nsteps;
} pf_formula;

/*
** A reader of the rows of `input` (borrowed) with a column more for each
** formula; everything given is copied. It computes in double precision: whole
** numbers are exact below 2^53. A formula with a total makes the first `next`
** read the whole input into memory. PF_EUNSUPPORTED for a column that is no
** number, a formula that leaves not one value, or one that needs more than
** PF_MAX_STACK.
*/
pf_status pf_derive_open (pf_reader *input, const pf_formula *formulas,
                          size_t count, pf_reader **reader, pf_error *error);

#endif
