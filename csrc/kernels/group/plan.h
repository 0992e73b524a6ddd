/*
** plan.h - the aggregates of a result and their accumulators. Private to
** aggregate.c, which fills them, and results.c, which writes the results.
*/

#ifndef plan_h
#define plan_h

#include "kernels/group/aggregate.h"

struct pf_aggregates {
  size_t count, naccumulators;
  pf_aggregate *list;
  size_t *accumulator_of; /* by aggregate */
  size_t *rest_of; /* accumulator of its hidden column, or PF_NO_COLUMN */
  pf_accumulator *accumulators;
  pf_quantile_pool pool; /* of all quantiles */

  /* the present values of column `prepared` of the current batch */
  pf_present present;
  size_t prepared;
  uint16_t rows[PF_BATCH_ROWS];
  uint32_t groups[PF_BATCH_ROWS];
  pf_bytes values[PF_BATCH_ROWS]; /* large enough for the widest type */
  uint64_t words[PF_BATCH_ROWS];
};

#endif
