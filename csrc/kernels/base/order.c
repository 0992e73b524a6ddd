/*
** order.c - converts columns to order words (see order.h) and back, and ranks
** names.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/names.h"


void pf_order_column (const pf_column *column, size_t rows, uint64_t *words) {
  switch (column->type) {
    case PF_INT:
      for (size_t i = 0; i < rows; i++)
        words[i] = pf_order_int(column->ints[i]);
      break;
    case PF_NUM:
      for (size_t i = 0; i < rows; i++)
        words[i] = pf_order_num(column->nums[i]);
      break;
    case PF_HANDLE:
    case PF_ADDR: memcpy(words, column->addrs, rows * sizeof *words); break;
    case PF_BOOL:
      for (size_t i = 0; i < rows; i++)
        words[i] = column->bools[i] != 0;
      break;
    default:
      for (size_t i = 0; i < rows; i++)
        words[i] = column->ids[i];
  }
}


void pf_unorder (pf_column *column, size_t row, uint64_t word) {
  switch (column->type) {
    case PF_INT: column->ints[row] = pf_unorder_int(word); break;
    case PF_NUM: column->nums[row] = pf_unorder_num(word); break;
    case PF_HANDLE:
    case PF_ADDR: column->addrs[row] = word; break;
    case PF_BOOL: column->bools[row] = (uint8_t)word; break;
    default: column->ids[row] = (uint32_t)word;
  }
}


/* Compares two names by their bytes. */
static int compare_names (const void *context, const void *left,
                          const void *right) {
  return pf_name_compare(context, *(const uint32_t *)left,
                         *(const uint32_t *)right);
}


pf_status pf_rank_names (const pf_dictionary *dictionary, uint32_t *ranks,
                         uint32_t count) {
  uint32_t *const list = pf_array((size_t)count * 2, sizeof *list);
  if (list == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    list[i] = i;
  pf_sort(list, list + count, count, sizeof *list, compare_names, dictionary);
  for (uint32_t i = 0; i < count; i++)
    ranks[list[i]] = i;
  free(list);
  return PF_OK;
}
