/*
** order.h - order words: every value except bytes as a uint64_t that compares
** like the value and converts back, so that where, group, sort and the
** aggregates handle one type instead of eight. Also ranks of names. Used by
** most folders of kernels and by lua/stages. The caller owns all arrays.
**
** For numbers -0 equals 0, and NaN is one value above all others. The word of a
** name, area or stack is its id: equal for equal values, but in no useful
** order.
*/

#ifndef order_h
#define order_h

#include <string.h>

#include "model/rows/batch.h"

#define PF_TOP_BIT ((uint64_t)1 << 63)

static inline uint64_t pf_order_int (int64_t value) {
  return (uint64_t)value ^ PF_TOP_BIT;
}

static inline int64_t pf_unorder_int (uint64_t word) {
  return (int64_t)(word ^ PF_TOP_BIT);
}

static inline uint64_t pf_order_num (double value) {
  uint64_t bits;
  value = value != value ? (double)__builtin_nanf("") : value + 0.0;
  memcpy(&bits, &value, sizeof bits);
  return (bits & PF_TOP_BIT) != 0 ? ~bits : bits | PF_TOP_BIT;
}

static inline double pf_unorder_num (uint64_t word) {
  const uint64_t bits = (word & PF_TOP_BIT) != 0 ? word ^ PF_TOP_BIT : ~word;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Whether values of the type are ids: name, area, stack. */
static inline bool pf_type_is_id (pf_type type) {
  return type == PF_NAME || type == PF_AREA || type == PF_STACK;
}

/* Write the order words of the first `rows` values (not of PF_BYTES) into
   words[rows]; those of missing values are undefined. */
void pf_order_column (const pf_column *column, size_t rows, uint64_t *words);

/* Write the value of a word into a column (not of PF_BYTES). */
void pf_unorder (pf_column *column, size_t row, uint64_t word);

/*
** Set ranks[n] to the number of names among 0..count-1 that sort before name n
** by their bytes. `ranks` has `count` elements. PF_ENOMEM.
*/
pf_status pf_rank_names (const pf_dictionary *dictionary, uint32_t *ranks,
                         uint32_t count);

#endif
