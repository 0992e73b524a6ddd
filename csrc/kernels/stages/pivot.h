/*
** pivot.h - the stage of view:pivot: it lays the values of one column side by
** side, in one column for each of some names (the counts of several events
** beside each other). csrc/lua/stages/formulas.c opens it.
*/

#ifndef pivot_h
#define pivot_h

#include "model/rows/batch.h"

/* One of the columns that are added. */
typedef struct pf_pivot_column {
  uint32_t name;      /* the name in column `key` of the rows that it shows */
  const char *column; /* the name of the new column; copied */
} pf_pivot_column;

/*
** Sets *reader to a reader of the rows of `input` (borrowed), with one column
** of whole numbers added for each of columns[0..count-1]. In rows whose column
** `key` (PF_NAME) has the name of the pivot column, it holds the value of
** column `value`, or is missing if that is missing; in all other rows it is 0,
** so that sums over groups of rows are right. The caller owns the reader and
** closes it. PF_EUNSUPPORTED: the columns have other types.
*/
pf_status pf_pivot_open (pf_reader *input, size_t key, size_t value,
                         const pf_pivot_column *columns, size_t count,
                         pf_reader **reader, pf_error *error);

#endif
