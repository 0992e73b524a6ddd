/*
** formula.h - formulas over the columns of a batch: their types, and the steps
** that compute them.
**
** Values are whole numbers with a sign (int, and bool as 0 or 1), without one
** (addr, handle), or num. Whole numbers are computed exactly; a result that its
** type cannot hold is missing and counted. Types of results, where U is addr or
** handle (addr, when both occur):
**
**   + *  least most   num when one operand is; else U when one is; else int
**   -                 num when one operand is; U - int is U, else int
**   //  %             num when one operand is; else // has the type of the
**                     dividend and % that of the divisor; both round down
**   /  root           num: the double nearest to the exact ratio
**   comparisons       int, 0 or 1; exact also between a whole number and a num
**   run  total        that of the column, in 128 bits until something other
**                     than / takes it
**
** A sum of a column with a hidden one beside it (pf_rest_of), and a share of such
** a sum, have what rounding left over of each row, and are rounded once.
*/

#ifndef formula_h
#define formula_h

#include "model/wide.h"
#include "model/batch.h"

#define PF_MAX_STACK 16 /* values a formula may hold at once */

/* A step of a formula. A missing operand, a division by 0 and the root of a
   negative number make the result missing. */
typedef enum pf_operation {
  PF_PUSH_COLUMN, /* the value of a column of numbers */
  PF_PUSH_TOTAL,  /* the sum of a column over all rows */
  PF_PUSH_NUMBER, /* a constant */
  PF_ADD,         /* of the two on top, as those down to PF_UNEQUAL */
  PF_SUBTRACT,
  PF_MULTIPLY,
  PF_DIVIDE,
  PF_QUOTIENT,  /* of //, rounded down */
  PF_REMAINDER, /* of % */
  PF_LEAST,
  PF_MOST,
  PF_LESS,
  PF_AT_MOST,
  PF_GREATER,
  PF_AT_LEAST,
  PF_EQUAL,
  PF_UNEQUAL,
  PF_RUN,  /* the sum of the top over the rows so far, as the three below */
  PF_ROOT, /* of the top */
  PF_SIZE, /* without its sign */
  PF_NEGATE
} pf_operation;

typedef struct pf_step {
  pf_operation operation;
  size_t column; /* of PF_PUSH_COLUMN and PF_PUSH_TOTAL */
  size_t rest;   /* their hidden column, or SIZE_MAX; pf_derive_open finds it */
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
  uint64_t *overflows; /* rises to the number of rows that one reader found
                          missing because of an overflow; or NULL */
} pf_formula;

/* The values of a batch in one place of the stack. */
typedef struct pf_slot {
  pf_type type;     /* PF_INT, PF_ADDR, PF_HANDLE or PF_NUM */
  bool is_wide;     /* whole numbers of 128 bits, in `wides` */
  bool is_fraction; /* numerators, in `wides`; of whole numbers the denominator
                       is PF_REST_UNIT, of nums it is in `denominators` */
  bool has_missing; /* of whole numbers and fractions; a missing num is a NaN */
  uint64_t missing[PF_BATCH_ROWS / 64];
  union {
    int64_t ints[PF_BATCH_ROWS];
    uint64_t addrs[PF_BATCH_ROWS];
    double nums[PF_BATCH_ROWS];
    pf_wide wides[PF_BATCH_ROWS];
  };
  int64_t denominators[PF_BATCH_ROWS];
} pf_slot;

/* A sum: of whole numbers or their numerators, of nums, of fractions. */
typedef struct pf_sum {
  pf_wide whole;
  double number;
  pf_fraction fraction;
} pf_sum;

/* A set of rows of a batch. */
typedef struct pf_row_set {
  uint64_t bits[PF_BATCH_ROWS / 64];
} pf_row_set;

/* Whether formulas compute with a column. */
bool pf_formula_takes (const pf_field *field);

/* How many values an operation takes from the stack; it puts one there. */
size_t pf_operands (pf_operation operation);

/*
** Run a step for the rows of a batch; `height` slots of the stack are in use.
** `sum` is the step's own: for PF_RUN the sum so far, for PF_PUSH_TOTAL that of
** all rows. Rows whose result overflows are added to `over`.
*/
void pf_step_run (const pf_step *step, pf_sum *sum, const pf_batch *batch,
                  pf_slot *stack, size_t height, pf_row_set *over);

/* The type that a step leaves, given those of its operands (`a` below `b`). */
pf_type pf_step_type (const pf_step *step, const pf_field *fields, pf_type a,
                      pf_type b);

/* Whether a step leaves nanoseconds, given whether its operands are such (`a`
   below `b`): sums of them, also with plain numbers. A product or a quotient may
   be one in another unit. */
bool pf_step_is_time (const pf_step *step, const pf_field *fields, bool a,
                      bool b);

/* Copy the column of a PF_PUSH_COLUMN or PF_PUSH_TOTAL into a slot. */
void pf_slot_load (pf_slot *slot, const pf_step *step, const pf_batch *batch);

/* Add the values that are not missing to a sum. */
void pf_slot_add_to (const pf_slot *slot, size_t rows, pf_sum *sum);

/* Copy the values of a slot to a column of its type. */
void pf_slot_store (pf_slot *slot, pf_column *column, size_t rows,
                    pf_row_set *over);

#endif
