/*
** result_rows.h - the columns of statistics and their rows. Private to
** statistics.c, whose reader owns the schema, the scan and the store. The store
** borrows the fields of the schema, so it is closed first.
*/

#ifndef result_rows_h
#define result_rows_h

#include "kernels/statistics/statistics.h"

#define PF_STATISTICS_COLUMNS (20 + PF_DURATIONS * (5 + PF_MAX_RANKS))
#define PF_MOST_AGGREGATES    (PF_STATISTICS_COLUMNS + PF_SUMS_AGGREGATES)

/* The columns that are no aggregates; those that do not exist are SIZE_MAX. */
typedef enum pf_statistic {
  PF_STATISTIC_AREA,
  PF_STATISTIC_HANDLE,
  PF_STATISTIC_VALUE,
  PF_STATISTIC_CONTEXT,
  PF_STATISTIC_CALLER,
  PF_STATISTIC_JITTER,
  PF_STATISTIC_LAST_STOP,
  PF_STATISTIC_FILE,
  PF_STATISTIC_LINE,
  PF_STATISTIC_ABOUT,
  PF_STATISTICS
} pf_statistic;

typedef struct pf_statistics_schema {
  pf_field *fields;
  size_t count;
  size_t at[PF_STATISTICS]; /* columns */
  pf_aggregate *aggregates; /* the other columns */
  size_t naggregates;
  char *words; /* the texts of names and helps, borrowed by the fields */
} pf_statistics_schema;

/* Build the columns for the types of area and lane. PF_ENOMEM; free the schema
   then too. */
pf_status pf_statistics_schema_make (pf_statistics_schema *schema,
                                     const pf_statistics_options *options,
                                     pf_type area, pf_type lane);
void pf_statistics_schema_free (pf_statistics_schema *schema);

/* Keep only those deviations and quantiles that `batch` wants, or add all that
   packed sums have (`batch` is NULL). Returns what a scan has to compute; the
   list is that of the schema. */
pf_call_aggregates pf_statistics_wanted (pf_statistics_schema *schema,
                                         const pf_batch *batch);

/* Write a row for each group of a finished scan, and with PF_BY_LANE first for
   each area over all lanes, into an empty store with that schema. `by_content`:
   in the order of the contents of areas and lanes (content_order.h). PF_ENOMEM
   and the failures of pf_aggregates_finish. */
pf_status pf_statistics_fill (const pf_statistics_schema *schema, pf_scan *scan,
                              bool by_content, pf_store *store,
                              pf_error *error);

#endif
