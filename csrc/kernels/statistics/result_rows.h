/*
** result_rows.h - the columns of statistics and their rows. Private to
** statistics.c, whose reader owns the schema, the scan and the store. The store
** borrows the fields of the schema, so it is closed first.
*/

#ifndef result_rows_h
#define result_rows_h

#include "kernels/calls/events.h"
#include "kernels/statistics/statistics.h"
#include "model/rows/store.h"

/* The contents of a column. */
typedef enum pf_statistic {
  PF_STATISTIC_AREA,
  PF_STATISTIC_HANDLE,
  PF_STATISTIC_VALUE,
  PF_STATISTIC_CONTEXT,
  PF_STATISTIC_CALLER,
  PF_STATISTIC_COUNT,
  PF_STATISTIC_LAST_STOP,
  PF_STATISTIC_FILE,
  PF_STATISTIC_LINE,
  PF_STATISTIC_ABOUT,
  PF_STATISTIC_SUM, /* from here on: of a duration */
  PF_STATISTIC_MIN,
  PF_STATISTIC_MAX,
  PF_STATISTIC_MEAN,
  PF_STATISTIC_STDDEV,
  PF_STATISTIC_RANK,
  PF_STATISTIC_MAX_AT,
  PF_STATISTIC_JITTER
} pf_statistic;

typedef struct pf_statistics_column {
  pf_statistic what;
  size_t length; /* PF_NET, ... */
  size_t rank;   /* of PF_STATISTIC_RANK: index into the ranks */
} pf_statistics_column;

typedef struct pf_statistics_schema {
  pf_field *fields;
  pf_statistics_column *columns; /* of the same index as the field */
  size_t count;
  char *words; /* the texts of names and helps, borrowed by the fields */
} pf_statistics_schema;

/* Build the columns for the types of area and lane. PF_ENOMEM; free the schema
   then too. */
pf_status pf_statistics_schema_make (pf_statistics_schema *schema,
                                     const pf_statistics_options *options,
                                     pf_type area, pf_type lane);
void pf_statistics_schema_free (pf_statistics_schema *schema);

/* Write a row for each group of a scan into an empty store with that schema.
   Only the ranks and the order of rows are used from the options. With
   PF_BY_LANE groups over all lanes are added to the scan first, so call it
   once, when the scan is finished or its packed sums are flushed
   (pf_call_sums_flush). PF_ENOMEM. */
pf_status pf_statistics_fill (const pf_statistics_schema *schema, pf_scan *scan,
                              const pf_statistics_options *options,
                              pf_store *store, pf_error *error);

#endif
