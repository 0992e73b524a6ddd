/*
** kept_cells.h - single values of rows that are gone. Used by lag.c and asof.c,
** which own the cells. Texts, which a source keeps only until its next `next`,
** are copied into a dictionary of the stage.
*/

#ifndef kept_cells_h
#define kept_cells_h

#include "model/dictionary/names.h"
#include "model/rows/put_values.h"

typedef struct pf_cell {
  uint64_t word; /* the bits of the value; of a text its name in `texts` */
  bool has;      /* false: it is missing */
} pf_cell;

/* Set a cell to the value of a row. False when out of memory. */
static inline bool pf_cell_take (pf_cell *cell, const pf_column *column,
                                 size_t row, pf_dictionary *texts) {
  cell->has = column->data != NULL && !pf_is_missing(column, row);
  if (!cell->has)
    return true;
  switch (pf_type_size(column->type)) {
    case sizeof(uint8_t): cell->word = column->bools[row]; return true;
    case sizeof(uint32_t): cell->word = column->ids[row]; return true;
    case sizeof(uint64_t): cell->word = column->addrs[row]; return true;
    default:
      cell->word = pf_intern(texts, column->bytes[row]);
      return cell->word != PF_NO_NAME;
  }
}

/* Put the value of a cell into a row of a column of the same type. */
static inline void pf_cell_put (const pf_cell *cell, pf_column *column,
                                size_t row, const pf_dictionary *texts) {
  if (column->data == NULL)
    return;
  if (!cell->has) {
    pf_put_none(column, row, 1);
    return;
  }
  switch (pf_type_size(column->type)) {
    case sizeof(uint8_t): column->bools[row] = cell->word != 0; break;
    case sizeof(uint32_t): column->ids[row] = (uint32_t)cell->word; break;
    case sizeof(uint64_t): column->addrs[row] = cell->word; break;
    default: column->bytes[row] = pf_name(texts, (uint32_t)cell->word);
  }
}

#endif
