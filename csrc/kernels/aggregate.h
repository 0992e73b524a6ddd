/*
** aggregate.h - what is said about the rows of a group: count, sum, quantiles.
**
** Aggregates that need the same numbers share them: sum, mean and count of one
** column are three answers of one measure. A measure is an array of states, one
** per group, and a loop over the rows of a batch.
*/

#ifndef aggregate_h
#define aggregate_h

#include "model/store.h"

typedef enum pf_function {
  PF_COUNT, /* rows, or with a column: its present values */
  PF_SUM,   /* of int exact, a failure when it leaves 64 bits */
  PF_MIN,
  PF_MAX, /* names and bytes by their bytes */
  PF_MEAN,
  PF_STDDEV, /* of the population */
  PF_FIRST,
  PF_LAST,     /* present value in the order of the rows */
  PF_DISTINCT, /* how many different values */
  PF_QUANTILE  /* nearest rank: quantile.h tells how exact */
} pf_function;

#define PF_NO_COLUMN SIZE_MAX

typedef struct pf_aggregate {
  const char *name; /* of the result column */
  pf_function function;
  uint32_t rank; /* of PF_QUANTILE: p50 is PF_RANK_SCALE / 2 */
  size_t column; /* PF_NO_COLUMN: count rows */
} pf_aggregate;

typedef struct pf_aggregates pf_aggregates;

/* The function called "count", "sum", ..., "p50", "p99.9" (0 to 100, at most
   six decimals); fills function and rank. */
bool pf_aggregate_named (const char *name, pf_aggregate *aggregate);

/* Whether the function can be had of a column. */
bool pf_aggregate_fits (pf_function function, const pf_field *field);

/* The hidden column that a sum of an aggregate's column needs (pf_rest_of), or
   PF_NO_COLUMN. */
size_t pf_aggregate_rest (const pf_aggregate *aggregate, const pf_field *fields,
                          size_t nfields);

/* The type of its result of a column, or of rows (NULL). */
pf_type pf_aggregate_type (pf_function function, const pf_field *field);

/* Aggregates of columns of `fields`, all of which fit. `results` are the
   fields of the answers: their names are used in messages. */
pf_status pf_aggregates_open (const pf_aggregate *list, size_t count,
                              const pf_field *fields, size_t nfields,
                              const pf_dictionary *dictionary,
                              const pf_field *results,
                              pf_aggregates **aggregates);

/* Add the rows of a batch: row i belongs to group groups[i], and all group
   numbers are below ngroups. */
pf_status pf_aggregates_add (pf_aggregates *aggregates, const pf_batch *batch,
                             const uint32_t *groups, size_t ngroups,
                             pf_error *error);

/* Whether the sums of parts, put together, are those of one pass to the last
   bit. */
bool pf_aggregates_are_mergeable (const pf_aggregates *aggregates);

/* Begin again with the same aggregates. PF_OK or PF_ENOMEM. */
pf_status pf_aggregates_clone (const pf_aggregates *aggregates,
                               pf_aggregates **made);

/* Add those of rows that follow: group i of the `count` there is group
   groups[i] here, below ngroups. PF_OK or PF_ENOMEM. */
pf_status pf_aggregates_merge (pf_aggregates *aggregates,
                               const pf_aggregates *more,
                               const uint32_t *groups, size_t count,
                               size_t ngroups);

/*
** Write the answers for all groups into columns first, first + 1, ... of rows
** 0..ngroups-1 of the store, and behind them the hidden column of each sum whose
** column has one (pf_aggregate_rest). Texts lie in the aggregates: they must outlive
** the store. PF_ELIMIT when a sum leaves 64 bits.
*/
pf_status pf_aggregates_finish (pf_aggregates *aggregates, pf_store *store,
                                size_t first, size_t ngroups, pf_error *error);

void pf_aggregates_close (pf_aggregates *aggregates);

#endif
