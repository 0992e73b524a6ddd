/*
** spread.h - the stage that lays the values of one column side by side, a
** column for each of some names: what one event counted beside another.
*/

#ifndef spread_h
#define spread_h

#include "model/batch.h"

/* One of the new columns. */
typedef struct pf_stripe {
  uint32_t name;      /* of the rows whose value goes there */
  const char *column; /* what the column is called; copied */
} pf_stripe;

/*
** A reader of the rows of `input` (borrowed) with a column of whole numbers
** more for each of stripes[0..count-1]: the value of column `value` where column
** `key` (PF_NAME) is the stripe's name, and 0 elsewhere, so that sums of it are
** right. A missing value is missing there. PF_EUNSUPPORTED when the columns
** are of other types.
*/
pf_status pf_spread_open (pf_reader *input, size_t key, size_t value,
                          const pf_stripe *stripes, size_t count,
                          pf_reader **reader, pf_error *error);

#endif
