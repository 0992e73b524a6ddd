/*
** batch.h - making batches, and marking what is missing in them.
*/

#ifndef batch_h
#define batch_h

#include "profio.h"

/* Bytes one value of a column takes. */
size_t pf_type_size (pf_type type);

/* The word for a type: "int", "num", "addr", ... */
const char *pf_type_name (pf_type type);

/* The number of the field called `name`, or nfields when there is none. */
size_t pf_field_index (const pf_field *fields, size_t nfields,
                       const char *name);

/* The help of a hidden column, known by its address. It belongs to the column
   whose name follows the dot of its own: of whole numbers it has what rounding
   left over (see model/base/wide.h), of nums the whole number that makes them
   whole again, so that a sum is one of fractions. Sums look at it; nobody else
   sees it. */
extern const char pf_remainder_help[];

static inline bool pf_is_hidden (const pf_field *field) {
  return field->help == pf_remainder_help;
}

/* The help of a column of type name all of whose values are missing, known by
   its address: nothing tells its type, so it may stand for one of any type.
   What takes it for another type looks at none of its values. */
extern const char pf_any_type_help[];

static inline bool pf_has_any_type (const pf_field *field) {
  return field->help == pf_any_type_help;
}

/* Whether a column has nanoseconds: its help has the word ns, or there is none
   and its name says so. */
bool pf_is_time (const pf_field *field);

/* The hidden column that belongs to another one, or SIZE_MAX. */
size_t pf_remainder_of (const pf_field *fields, size_t nfields, size_t column);

/*
** Make a batch for rows of `fields` in which the columns with wanted[i] set
** have memory (wanted NULL: all of them). Ask the reader's `want` first:
** pf_batch_for does both.
*/
pf_status pf_batch_open (pf_batch *batch, const pf_field *fields,
                         size_t nfields, const bool *wanted);

/* A batch for what `reader` yields, in which wanted[nfields] are filled;
   `wanted` is widened by what the stages below need. */
pf_status pf_batch_for (pf_batch *batch, pf_reader *reader, bool *wanted);

void pf_batch_close (pf_batch *batch);

/* Forget rows and missing marks; every reader that makes rows calls it
   first. */
static inline void pf_batch_clear (pf_batch *batch) {
  batch->rows = 0;
  for (size_t i = 0; i < batch->ncolumns; i++)
    batch->columns[i].has_missing = false;
}

/* Mark a value as missing (the column must have memory). */
void pf_set_missing (pf_column *column, size_t row);

/* Of a batch that was opened: the checker believes it may have no columns. */
static inline bool pf_is_missing (const pf_column *column, size_t row) {
  /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  return column->has_missing &&
         (column->missing[row >> 6] >> (row & 63) & 1) != 0;
}

/* Whether some of the first rows have a value in a column. */
bool pf_has_values (const pf_column *column, size_t rows);

/* Keep only the rows whose numbers stand, ascending, in keep[0..count-1]. */
void pf_batch_keep (pf_batch *batch, const uint16_t *keep, size_t count);

#endif
