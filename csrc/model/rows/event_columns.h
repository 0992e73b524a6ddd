/*
** event_columns.h - columns for the counts of events that a file names, after
** the columns that a table always has. Used by the formats callgrind and
** perfscript. A pf_event_columns is zeroed before, and owns nothing; it belongs
** to the state of a trace, since fields point into it.
*/

#ifndef event_columns_h
#define event_columns_h

#include "model/rows/batch.h"
#include "model/rows/trace.h"

#define PF_EVENT_COLUMNS 64 /* the most that are read */

typedef struct pf_event_column {
  char name[64];
  char help[128];
} pf_event_column;

typedef struct pf_event_columns {
  size_t count;
  pf_event_column list[PF_EVENT_COLUMNS];
} pf_event_columns;

/* Add a column with a name; what a formula cannot name becomes _ if `is_plain`.
   A name that an earlier column or one of the tables has gets a number. NULL if
   there are too many. */
pf_event_column *pf_event_columns_add (pf_event_columns *columns, pf_bytes name,
                                       bool is_plain, const pf_table *tables,
                                       size_t ntables);

/* Set the fields of the columns. */
void pf_event_columns_fields (const pf_event_columns *columns,
                              pf_field *fields);

#endif
