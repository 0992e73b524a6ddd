/*
** accumulator.h - accumulators of the aggregates: an array of states, one for
** each group, with a loop over the present values of a batch for each kind of
** state. Used by aggregate.c: reserve, add, merge, settle, read, close. An
** accumulator owns its states, texts, counts and set until
** pf_accumulator_close.
*/

#ifndef accumulator_h
#define accumulator_h

#include "kernels/group/quantile.h"
#include "model/base/intern_table.h"
#include "model/base/wide.h"
#include "model/rows/batch.h"

typedef enum pf_accumulator_kind {
  PF_ACCUMULATE_COUNT,    /* pf_state_count of rows or present values */
  PF_ACCUMULATE_SUM,      /* pf_state_sum */
  PF_ACCUMULATE_VARIANCE, /* pf_state_variance */
  PF_ACCUMULATE_SQUARES,  /* pf_state_squares */
  PF_ACCUMULATE_FRACTION, /* pf_state_fraction */
  PF_ACCUMULATE_AT_MAX,   /* pf_state_place */
  PF_ACCUMULATE_MIN,      /* pf_state_value */
  PF_ACCUMULATE_MAX,      /* pf_state_value */
  PF_ACCUMULATE_FIRST,    /* pf_state_value */
  PF_ACCUMULATE_LAST,     /* pf_state_value */
  PF_ACCUMULATE_DISTINCT, /* pf_state_count and a set */
  PF_ACCUMULATE_QUANTILE  /* pf_quantile */
} pf_accumulator_kind;

/* The states. All are zeros at first, and begin with a count: of values, or for
   pf_state_value 0 while there is none. */

typedef uint64_t pf_state_count;

typedef struct pf_state_sum {
  uint64_t count;
  union {
    double number;
    pf_wide integer; /* not two words: the compiler adds to it in memory, which
                        is faster for consecutive rows of one group */
  };
} pf_state_sum;

typedef struct pf_state_variance { /* of nums: Welford's algorithm */
  uint64_t count;
  double mean, squares; /* squares: sum of squared distances from the mean */
} pf_state_variance;

typedef struct pf_state_squares { /* of integers: exact */
  uint64_t count;
  pf_squares squares; /* sum of squares of the values */
  pf_wide sum;
} pf_state_squares;

typedef struct pf_state_fraction { /* of nums that are a count divided by a
                                      rate */
  uint64_t count;
  pf_fraction sum;
} pf_state_fraction;

typedef struct pf_state_place { /* of integers */
  uint64_t count;
  int64_t max;
  int64_t at; /* the smallest integer of the other column beside it */
} pf_state_place;

typedef struct pf_state_value {
  uint64_t seen; /* 0: none yet; for the last of bytes: number of the batch */
  uint64_t word; /* an order word; for bytes, an id in `texts` */
} pf_state_value;

/* A set of (group, word) pairs. */
typedef struct pf_set {
  struct pf_member {
    uint64_t word;
    uint32_t group;
  } * members;
  size_t capacity;
  pf_intern_table known; /* index of `members` */
} pf_set;

typedef struct pf_accumulator {
  pf_accumulator_kind kind;
  pf_type type;
  size_t column; /* or PF_NO_COLUMN */
  size_t by;     /* of fractions: the hidden column with the denominators; of
                    places: the other column, which has no missing values */
  void *states;  /* one per group */
  size_t size;   /* of a state */
  size_t capacity;
  const pf_dictionary *names; /* of names; borrowed */
  pf_dictionary *texts;       /* of bytes: the texts that are stored */
  uint64_t batches;           /* number of batches so far */
  uint64_t *absent;           /* number of rows without a value, by group; or
                                 NULL */
  bool counts_absent;         /* whether `absent` is wanted */
  pf_set set;
  pf_quantile_pool *pool; /* of all quantiles of the result; borrowed */
} pf_accumulator;

/* The present values of a column in a batch, with their groups. */
typedef struct pf_present {
  const uint32_t *groups;
  const uint16_t *places; /* their rows in the batch; NULL: all rows */
  size_t rows;
  const void *values;    /* in the type of the column */
  const uint64_t *words; /* order words; NULL for bytes */
} pf_present;

/* Whether the accumulator reads pf_present.words. */
bool pf_accumulator_needs_words (const pf_accumulator *accumulator);

/* Create the states of `groups` groups. PF_ENOMEM. */
pf_status pf_accumulator_reserve (pf_accumulator *accumulator, size_t groups);

/* Add present values, unless it is a PF_ACCUMULATE_FRACTION; the states of
   their groups exist. PF_ENOMEM. */
pf_status pf_accumulator_add (pf_accumulator *accumulator,
                              const pf_present *present);

/* Add the fractions of a batch to a PF_ACCUMULATE_FRACTION. The column with the
   denominators, all above 0, has a value in each row with a fraction. */
void pf_accumulator_add_fractions (pf_accumulator *accumulator,
                                   const pf_batch *batch,
                                   const uint32_t *groups);

/* Add the present values of a batch to a PF_ACCUMULATE_AT_MAX, with the column
   `by`. */
void pf_accumulator_add_places (pf_accumulator *accumulator,
                                const pf_present *present, const int64_t *by);

/* Count the rows of a batch that have no value in `column`. PF_ENOMEM. */
pf_status pf_accumulator_add_absent (pf_accumulator *accumulator,
                                     const pf_column *column,
                                     const uint32_t *groups, size_t rows);

/* Whether accumulators of chunks can be merged with exactly the same result.
   Sums and deviations of nums depend on the order; stored texts are not
   merged. */
bool pf_accumulator_is_mergeable (const pf_accumulator *accumulator);

/* Initialise an accumulator of the same kind and column, without states, for a
   result with this pool. */
void pf_accumulator_clone (pf_accumulator *accumulator,
                           const pf_accumulator *model, pf_quantile_pool *pool);

/* Add the states of later rows: group i of `more`, below `count`, is groups[i]
   here, whose states exist. PF_ENOMEM. */
pf_status pf_accumulator_merge (pf_accumulator *accumulator,
                                const pf_accumulator *more,
                                const uint32_t *groups, size_t count);

/* After the last value: let all groups follow the rule of quantile.h.
   PF_ENOMEM. */
pf_status pf_accumulator_settle (pf_accumulator *accumulator, size_t groups);

/* The sum of a PF_ACCUMULATE_SUM of integers. */
pf_wide pf_accumulator_sum (const pf_accumulator *accumulator, size_t group);

/* The number of values of a group; of accumulators that store one value, 0 if
   there was none. */
uint64_t pf_accumulator_count (const pf_accumulator *accumulator, size_t group);

/* The sum or mean of nums, or the standard deviation of any numbers, depending
   on the kind. The group has a value, unless a sum is read. */
double pf_accumulator_number (const pf_accumulator *accumulator, size_t group,
                              bool is_mean);

/* The knowledge that the accumulators of one column of integers have of the
   values of a group. */
typedef struct pf_summary {
  uint64_t count;
  pf_wide sum;
  int64_t min, max, at; /* unless the count is 0; `at`: of pf_state_place */
  pf_squares squares;
} pf_summary;

/* Set the part of a summary that an accumulator knows; add a summary of at
   least one value to its state, unless it is one of quantiles. */
void pf_accumulator_summary (const pf_accumulator *accumulator, size_t group,
                             pf_summary *summary);
void pf_accumulator_add_summary (pf_accumulator *accumulator, size_t group,
                                 const pf_summary *summary);

void pf_accumulator_close (pf_accumulator *accumulator);

#endif
