/*
** aggregate.h - aggregates over the rows of groups: count, sum, quantiles and
** so on. Used by group.c and kernels/statistics: open, add for each batch,
** finish, close; for chunks of a table also clone and merge. lua/stages uses
** pf_aggregate_named and pf_aggregate_fits.
**
** Aggregates share accumulators: sum, mean and count of one column are read
** from the same one. An accumulator (accumulator.h) has a state for each group,
** and a loop over the rows of a batch. The list of aggregates is copied; the
** names of the results and the dictionary are borrowed until
** pf_aggregates_close. That function frees the accumulators.
*/

#ifndef aggregate_h
#define aggregate_h

#include "kernels/group/accumulator.h"
#include "model/rows/store.h"

typedef enum pf_function {
  PF_COUNT, /* rows, or with a column its present values */
  PF_SUM,   /* for int exact; fails if it exceeds 64 bits */
  PF_MIN,
  PF_MAX, /* names and bytes compare by their bytes */
  PF_MEAN,
  PF_STDDEV, /* of the population */
  PF_FIRST,
  PF_LAST,     /* present value, in the order of the rows */
  PF_DISTINCT, /* number of distinct values */
  PF_QUANTILE, /* nearest rank; accuracy: quantile.h */
  PF_AT_MAX    /* of ints: the least value of another column beside the
                  maximum; has no name in Lua */
} pf_function;

#define PF_NO_COLUMN SIZE_MAX
#define PF_NO_ROW    UINT32_MAX

typedef struct pf_aggregate {
  const char *name; /* of the result column */
  pf_function function;
  uint32_t rank; /* of PF_QUANTILE; p50 is PF_RANK_SCALE / 2 */
  size_t column; /* PF_NO_COLUMN: count rows */
  size_t by;     /* of PF_AT_MAX: the other column, which is never missing */
  size_t to;     /* the column of the results; PF_NO_COLUMN: in none, and the
                    name is not used */
  bool may_overflow; /* a sum above 64 bits is missing, and no failure */
} pf_aggregate;

typedef struct pf_aggregates pf_aggregates;

/* Set the rank of a quantile from its name: "p50", "p99.9" (0 to 100, at most
   six decimals). False for other names. */
bool pf_rank_named (const char *name, uint32_t *rank);

/* Set function and rank from a name: "count", "sum", ..., "p50", ... False for
   other names. */
bool pf_aggregate_named (const char *name, pf_aggregate *aggregate);

/* Whether a function applies to a column. */
bool pf_aggregate_fits (pf_function function, const pf_field *field);

/* The hidden column that a sum of the aggregate's column needs
   (pf_remainder_of), or PF_NO_COLUMN. */
size_t pf_aggregate_rest (const pf_aggregate *aggregate, const pf_field *fields,
                          size_t nfields);

/* The type as which a function reads a column, or rows (NULL). */
pf_type pf_aggregate_reads (pf_function function, const pf_field *field);

/* The type of the result for a column, or for rows (NULL). */
pf_type pf_aggregate_type (pf_function function, const pf_field *field);

/* Open aggregates of columns of `fields`, which all fit. `results` are the
   fields of the results, in which list[i].to is one; their names are used in
   messages and in column `about`. PF_ENOMEM. */
pf_status pf_aggregates_open (const pf_aggregate *list, size_t count,
                              const pf_field *fields, size_t nfields,
                              const pf_dictionary *dictionary,
                              const pf_field *results,
                              pf_aggregates **aggregates);

/* Add the rows of a batch: row i belongs to group groups[i], below ngroups.
   With `only_each` only to deviations of integers and quantiles, where the
   others get summaries (pf_aggregates_add_summary). PF_OK or PF_ENOMEM. */
pf_status pf_aggregates_add (pf_aggregates *aggregates, bool only_each,
                             const pf_batch *batch, const uint32_t *groups,
                             size_t ngroups);

/* Append the column `about` (estimates.h) to the fields of keys and results, if
   there are quantiles and no field has that name. Returns the number of
   fields. */
size_t pf_aggregates_add_about (const pf_aggregate *list, size_t count,
                                pf_field *fields, size_t nfields);

/* Whether the aggregates of chunks can be merged with exactly the same
   result. */
bool pf_aggregates_are_mergeable (const pf_aggregates *aggregates);

/* Open the same aggregates without any rows. PF_OK or PF_ENOMEM. */
pf_status pf_aggregates_clone (const pf_aggregates *aggregates,
                               pf_aggregates **made);

/* Add the aggregates of later rows: group i of `more`, below `count`, is group
   groups[i] here, below ngroups. PF_OK or PF_ENOMEM. */
pf_status pf_aggregates_merge (pf_aggregates *aggregates,
                               const pf_aggregates *more,
                               const uint32_t *groups, size_t count,
                               size_t ngroups);

/* Reserve states for groups below ngroups, which is needed for the summaries
   (accumulator.h) of groups that had no rows. PF_OK or PF_ENOMEM. */
pf_status pf_aggregates_reserve (pf_aggregates *aggregates, size_t ngroups);

/* Read what is known of the values of a column of integers in a group, or add
   to it: to deviations with `each`, but never to quantiles. */
pf_summary pf_aggregates_summary (const pf_aggregates *aggregates,
                                  size_t column, size_t group);
void pf_aggregates_add_summary (pf_aggregates *aggregates, size_t column,
                                size_t group, const pf_summary *more,
                                bool each);

/* The values of a column in a group, of which there are quantiles; *pool is
   that of all groups. */
pf_quantile *pf_aggregates_quantile (const pf_aggregates *aggregates,
                                     size_t column, size_t group,
                                     pf_quantile_pool **pool);

/* After the last row: decide which quantiles are exact (quantile.h). PF_OK or
   PF_ENOMEM. */
pf_status pf_aggregates_settle (pf_aggregates *aggregates, size_t ngroups);

/*
** Write the results of all groups into the store, that of group i to row
** row_of[i] (NULL: i; PF_NO_ROW: nowhere); then, from the column `hidden` on,
** the hidden column of each sum whose column has one (pf_aggregate_rest), and
** `about` if there is one more column. Texts are borrowed from the aggregates,
** which must outlive the store. PF_ELIMIT when a sum exceeds 64 bits;
** PF_ENOMEM.
*/
pf_status pf_aggregates_finish (pf_aggregates *aggregates, pf_store *store,
                                size_t hidden, const uint32_t *row_of,
                                size_t ngroups, pf_error *error);

void pf_aggregates_close (pf_aggregates *aggregates);

#endif
