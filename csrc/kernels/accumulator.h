/*
** accumulator.h - the loops of the aggregates, one kind of state each.
*/

#ifndef accumulator_h
#define accumulator_h

#include "kernels/calls/squares.h"
#include "kernels/quantile.h"
#include "model/wide.h"
#include "model/batch.h"

typedef enum pf_accumulator_kind {
  PF_ACCUMULATE_COUNT,    /* pf_state_count, of rows or present values */
  PF_ACCUMULATE_SUM,      /* pf_state_sum */
  PF_ACCUMULATE_VARIANCE, /* pf_state_variance */
  PF_ACCUMULATE_SQUARES,  /* pf_state_squares */
  PF_ACCUMULATE_FRACTION, /* pf_state_fraction */
  PF_ACCUMULATE_MIN,      /* pf_state_value */
  PF_ACCUMULATE_MAX,      /* pf_state_value */
  PF_ACCUMULATE_FIRST,    /* pf_state_value */
  PF_ACCUMULATE_LAST,     /* pf_state_value */
  PF_ACCUMULATE_DISTINCT, /* pf_state_count and a set */
  PF_ACCUMULATE_QUANTILE  /* pf_quantile */
} pf_accumulator_kind;

/* The states: all begin as zeros. */

typedef uint64_t pf_state_count;

/* A sum of whole numbers is `part` and the group's pf_wide:
   most batches only touch the part, which is known not to overflow. */
typedef struct pf_state_sum {
  uint64_t count;
  union {
    uint64_t part; /* of an int64_t, that it may wrap around */
    double number;
  };
} pf_state_sum;

typedef struct pf_state_variance { /* of nums */
  uint64_t count;
  double mean, squares; /* squares: of the distances from the mean */
} pf_state_variance;

typedef struct pf_state_squares { /* of whole numbers: exact */
  uint64_t count;
  pf_squares squares; /* of the values themselves */
  pf_wide sum;
} pf_state_squares;

typedef struct pf_state_fraction { /* of nums that are counts by a rate */
  uint64_t count;
  pf_fraction sum;
} pf_state_fraction;

typedef struct pf_state_value {
  uint64_t word; /* an order word; of bytes, a number in `texts` */
  uint64_t seen; /* 0: none yet; of the last of bytes: which batch */
} pf_state_value;

/* A set of (group, word). */
typedef struct pf_set {
  struct pf_member {
    uint64_t word;
    uint32_t group; /* + 1, or 0: free */
  } * members;
  size_t count, mask;
} pf_set;

typedef struct pf_accumulator {
  pf_accumulator_kind kind;
  pf_type type;
  size_t column; /* or PF_NO_COLUMN */
  size_t by;     /* of fractions: the hidden column with the denominators */
  void *states;  /* one per group */
  size_t room;
  const pf_dictionary *names; /* of names */
  pf_dictionary *texts;       /* of bytes: those that had to be kept */
  uint64_t batches;           /* how many it has seen */
  uint64_t *absent;           /* rows without a value, by group; or NULL */
  bool counts_absent;         /* whether somebody asks for them */
  pf_wide *wide;              /* of totals: `room` of them, or NULL */
  uint64_t part_bound;        /* no part is farther from 0 than this */
  pf_set set;
  pf_quantile_pool pool;
} pf_accumulator;

/* The present values of a column in a batch, with their groups. */
typedef struct pf_present {
  const uint32_t *groups;
  size_t rows;
  const void *values;    /* as the column has them */
  const uint64_t *words; /* order words; NULL for bytes */
} pf_present;

/* Whether the measure looks at pf_present.words. */
bool pf_accumulator_needs_words (const pf_accumulator *measure);

/* States for `groups` groups. */
pf_status pf_accumulator_reserve (pf_accumulator *measure, size_t groups);

/* Have a place for the wide sums of a total. PF_ENOMEM. */
pf_status pf_accumulator_widen (pf_accumulator *measure);

/* Have a place for the rows without a value. PF_ENOMEM. */
pf_status pf_accumulator_count_absent (pf_accumulator *measure);

/* Put a value into the set of a group, and count it when it is new. */
pf_status pf_accumulator_add_member (pf_accumulator *measure, uint64_t word,
                                     uint32_t group);

/* Add present values; there are states for all their groups. */
pf_status pf_accumulator_add (pf_accumulator *measure,
                              const pf_present *present);

/* Add the fractions of a batch. */
void pf_accumulator_add_fractions (pf_accumulator *measure,
                                   const pf_batch *batch,
                                   const uint32_t *groups);

/* Count the rows of a batch that have no value in `column`, beside those that
   are present. */
pf_status pf_accumulator_add_absent (pf_accumulator *measure,
                                     const pf_column *column,
                                     const uint32_t *groups, size_t rows,
                                     const pf_present *present);

/* Whether two of them, put together, are one over all values to the last bit:
   what depends on the order of the values is not, nor what keeps texts. */
bool pf_accumulator_is_mergeable (const pf_accumulator *measure);

/* Begin again with what `model` measures. */
void pf_accumulator_clone (pf_accumulator *measure,
                           const pf_accumulator *model);

/* Add what was measured of rows that follow: group i of the `count` there is
   groups[i] here, for all of which there are states. */
pf_status pf_accumulator_merge (pf_accumulator *measure,
                                const pf_accumulator *more,
                                const uint32_t *groups, size_t count);

/* The sum of a total of whole numbers. */
pf_wide pf_total_sum (const pf_accumulator *measure, size_t group);

/* How many values of a group were added; of one that keeps a single value, 0 when
   there was none. */
uint64_t pf_accumulator_count (const pf_accumulator *measure, size_t group);

/* Of nums the sum or mean of a group, of any numbers the standard deviation: by
   the kind of the measure. There is a value, or it is the sum of none. */
double pf_accumulator_number (const pf_accumulator *measure, size_t group,
                              bool is_mean);

void pf_accumulator_close (pf_accumulator *measure);

#endif
