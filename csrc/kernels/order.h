/*
** order.h - a column as order words: every value but bytes becomes a uint64_t
** that compares (unsigned) as the value does and turns back into it. So where,
** group, sort and the aggregates know one type instead of seven.
**
** Of numbers -0 is 0, and "not a number" is one value above all others. Names,
** areas and stacks are their numbers: equal when equal, in no useful order.
*/

#ifndef order_h
#define order_h

#include <string.h>

#include "model/batch.h"

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

/* Whether values of the type are numbers into a table: name, area, stack. */
static inline bool pf_type_is_id (pf_type type) {
  return type == PF_NAME || type == PF_AREA || type == PF_STACK;
}

/* The order words of the first `rows` values (not of PF_BYTES); missing
   values give a word that means nothing. */
void pf_order_column (const pf_column *column, size_t rows, uint64_t *words);

/* Put the value of a word back into a column (not of PF_BYTES). */
void pf_unorder (pf_column *column, size_t row, uint64_t word);

/*
** For numbers of names: ranks[n] = how many of names 0..count-1 come before
** name n by their bytes. `ranks` has room for count = pf_names_count.
*/
pf_status pf_rank_names (const pf_dictionary *dictionary, uint32_t *ranks,
                         uint32_t count);

/*
** Order `count` pairs by word, stably: a radix sort that leaves out the bytes
** in which all words agree. `spare` has the room of `pairs`.
*/
typedef struct pf_pair {
  uint64_t word;
  size_t row;
} pf_pair;
void pf_sort_pairs (pf_pair *pairs, pf_pair *spare, size_t count);

#endif
