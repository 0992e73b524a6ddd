/*
** formula.h - formulas over the columns of a batch: their types, and the steps
** of the stack machine that computes them (formula_types.c and formula.c). Used
** by derive.c, which owns steps, sums and the stack.
**
** Values are signed integers (int, and bool as 0 or 1), unsigned integers
** (addr, handle), or num. Integers are computed exactly; a result that its type
** cannot hold is missing and counted. Types of results, where U is addr or
** handle (addr, when both occur):
**
**     + *  least most   num when one operand is; else U when one is; else int
**     -                 num when one operand is; U - int is U, else int
**     //  %             num when one operand is; else // has the type of the
**                       dividend and % that of the divisor; both round down
**     /  root           num: the double nearest to the exact ratio
**     comparisons       int, 0 or 1; exact also between an integer and a num
**     run  total        that of the operand or column, in 128 bits until an
**                       operation other than / uses it
**
** The sum of a column that has a hidden column (pf_remainder_of), and a share
** of such a sum, include the rounding remainders of all rows and are rounded
** once.
*/

#ifndef formula_h
#define formula_h

#include "model/base/wide.h"
#include "model/rows/batch.h"

#define PF_MAX_STACK 16 /* depth of the stack of a formula */

/* The operations. A missing operand, a division by 0 and the root of a negative
   number make the result missing. */
typedef enum pf_operation {
  PF_PUSH_COLUMN, /* push the value of a column of numbers */
  PF_PUSH_TOTAL,  /* push the sum of a column over all rows */
  PF_PUSH_NUMBER, /* push a constant */
  PF_ADD,         /* from here to PF_UNEQUAL: of the top two values */
  PF_SUBTRACT,
  PF_MULTIPLY,
  PF_DIVIDE,
  PF_QUOTIENT,  /* //, rounded down */
  PF_REMAINDER, /* % */
  PF_LEAST,
  PF_MOST,
  PF_LESS,
  PF_AT_MOST,
  PF_GREATER,
  PF_AT_LEAST,
  PF_EQUAL,
  PF_UNEQUAL,
  PF_RUN,  /* from here on: of the top value; its sum over the rows so far */
  PF_ROOT, /* square root */
  PF_SIZE, /* absolute value */
  PF_NEGATE
} pf_operation;

typedef struct pf_step {
  pf_operation operation;
  size_t column; /* of PF_PUSH_COLUMN and PF_PUSH_TOTAL */
  size_t rest;   /* their hidden column, or SIZE_MAX; pf_derive_open sets it */
  pf_type type;  /* of PF_PUSH_NUMBER: PF_INT, PF_ADDR or PF_NUM */
  union {
    int64_t integer; /* of PF_INT; of PF_ADDR its bits */
    double number;
  };
} pf_step;

/* A new column. Its steps leave one value on the stack. */
typedef struct pf_formula {
  const char *name;
  const pf_step *steps;
  size_t nsteps;
  uint64_t *overflows; /* borrowed; set to at least the number of rows in which
                          one reader found an overflow; or NULL */
} pf_formula;

/* The values of a batch in one element of the stack. */
typedef struct pf_operand {
  pf_type type;     /* PF_INT, PF_ADDR, PF_HANDLE or PF_NUM */
  bool is_wide;     /* integers of 128 bits, in `wides` */
  bool is_fraction; /* numerators, in `wides`; for integers the denominator is
                       PF_REMAINDER_UNIT, for nums it is in `denominators` */
  bool has_missing; /* only for integers and fractions; a missing num is a
                       NaN */
  uint64_t missing[PF_BATCH_ROWS / 64];
  union {
    int64_t ints[PF_BATCH_ROWS];
    uint64_t addrs[PF_BATCH_ROWS];
    double nums[PF_BATCH_ROWS];
    pf_wide wides[PF_BATCH_ROWS];
  };
  int64_t denominators[PF_BATCH_ROWS];
} pf_operand;

/* A sum: of integers or their numerators, of nums, of fractions. */
typedef struct pf_formula_sum {
  pf_wide whole;
  double number;
  pf_fraction fraction;
} pf_formula_sum;

/* A set of rows of a batch. */
typedef struct pf_row_set {
  uint64_t bits[PF_BATCH_ROWS / 64];
} pf_row_set;

/* The type as which formulas compute with a column of a type. */
pf_type pf_number_type (pf_type type);

/* Whether formulas can use a column. */
bool pf_formula_takes (const pf_field *field);

/* The number of values that an operation pops; it pushes one. */
size_t pf_operands (pf_operation operation);

/*
** Run a step for the rows of a batch; `height` operands are on the stack, whose
** capacity includes the result. `sum` belongs to the step: for PF_RUN the sum
** so far, for PF_PUSH_TOTAL that of all rows. Rows whose result overflows are
** added to `overflows`.
*/
void pf_step_run (const pf_step *step, pf_formula_sum *sum,
                  const pf_batch *batch, pf_operand *stack, size_t height,
                  pf_row_set *overflows);

/* The type of the result of a step, given those of its operands (`a` below
   `b`). */
pf_type pf_step_type (const pf_step *step, const pf_field *fields, pf_type a,
                      pf_type b);

/* Whether the result of a step is in ns, given whether its operands are (`a`
   below `b`): sums are, also with plain numbers; a product or a quotient may
   have another unit. */
bool pf_step_is_time (const pf_step *step, const pf_field *fields, bool a,
                      bool b);

/* Copy the column of a PF_PUSH_COLUMN or PF_PUSH_TOTAL into an operand. */
void pf_operand_load (pf_operand *operand, const pf_step *step,
                      const pf_batch *batch);

/* Add the values that are not missing to a sum. */
void pf_operand_add_to (const pf_operand *operand, size_t rows,
                        pf_formula_sum *sum);

/* Copy the values of an operand to a column of its type. Infinite nums become
   missing and are added to `overflows`. */
void pf_operand_store (pf_operand *operand, pf_column *column, size_t rows,
                       pf_row_set *overflows);

#endif
