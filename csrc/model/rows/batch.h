/*
** batch.h - functions for batches of rows, which all readers use: open and
** close, missing values, removal of rows, and the columns with a special role.
** A batch owns the memory of its columns. Functions with a status return PF_OK
** or PF_ENOMEM.
**
** The function that opens a batch closes it; readers only fill it. Values of
** PF_BYTES are borrowed from the source.
*/

#ifndef batch_h
#define batch_h

#include "profio.h"

/* Return the size of a value of a column in bytes. */
size_t pf_type_size (pf_type type);

/* Return the name of a type: "int", "num", "addr", ... */
const char *pf_type_name (pf_type type);

/* The columns of a table are stated once: T_LIST(X, T) is X(T, module, NAME,
   "help of the column module") for each. These expand it to the enum of their
   indexes (T_module, ..., T_COLUMNS), and to the values of the array of their
   fields. */
#define PF_COLUMN_INDEX(T, name, type, help) T##_##name,
#define PF_COLUMN_FIELD(T, name, type, help) {#name, PF_##type, help},
#define PF_COLUMN_INDEXES(T)                 \
  enum {                                     \
    T##_LIST(PF_COLUMN_INDEX, T) T##_COLUMNS \
  }
#define PF_COLUMN_FIELDS(T) \
  { T##_LIST(PF_COLUMN_FIELD, T) }

/* Return the index of the field with a name, or nfields if there is none. */
size_t pf_field_index (const pf_field *fields, size_t nfields,
                       const char *name);

/* The help text of a hidden remainder column, which is identified by this
   address. The column is called "." and the name of its main column, and has
   the rounding errors of it (see model/base/wide.h); beside a num, the integer
   part of a fraction. Only sums read it, so that they are exact. */
extern const char pf_remainder_help[];

static inline bool pf_is_hidden (const pf_field *field) {
  return field->help == pf_remainder_help;
}

/* The help text of a column without any value, which is identified by this
   address. Its type is PF_NAME, but it may be used as a column of any type. A
   consumer that treats it as another type must not read its values. */
extern const char pf_any_type_help[];

static inline bool pf_has_any_type (const pf_field *field) {
  return field->help == pf_any_type_help;
}

/* The help text of the column that names the file of a row, which is identified
   by this address. */
extern const char pf_file_help[];

static inline bool pf_is_file (const pf_field *field) {
  return field->help == pf_file_help;
}

/* Return the unit of a column, which is an int or a num: "ns" if its help
   contains the word ns, or if it has no help and the name of a time column;
   what is counted, if its help ends with that in brackets, "[bytes]"; else an
   empty text. This is the only place that decides the unit of a column. */
pf_bytes pf_unit_of (const pf_field *field);

/* Return whether a column is in nanoseconds. */
bool pf_is_time (const pf_field *field);

/* Return whether a column has dates: times since 1970 in UTC. It is an int
   whose help contains "ns since 1970". */
bool pf_is_date (const pf_field *field);

/* Write the help of a column with the weights of a metric, from which
   pf_unit_of reads the unit: that of the metric, or the name of the metric if
   it counts. */
void pf_help_of_weight (char *help, size_t size, const char *text,
                        const char *metric, const char *unit);

/* Return the index of the remainder column of a column, or SIZE_MAX. */
size_t pf_remainder_of (const pf_field *fields, size_t nfields, size_t column);

/*
** Open a batch for rows of `fields`. Only columns with wanted[i] get memory
** (`wanted` NULL: all of them). The reader may need further columns: call its
** `want` first, or use pf_batch_for.
*/
pf_status pf_batch_open (pf_batch *batch, const pf_field *fields,
                         size_t nfields, const bool *wanted);

/* Open a batch for rows of `fields`, with memory for those columns that have
   memory in `model`, of which `fields` are the first ones. */
pf_status pf_batch_like (pf_batch *batch, const pf_field *fields,
                         size_t nfields, const pf_batch *model);

/* Open a batch for the rows of `reader` with the columns wanted[nfields]. The
   stages of the reader set further flags in `wanted` for what they need. */
pf_status pf_batch_for (pf_batch *batch, pf_reader *reader, bool *wanted);

void pf_batch_close (pf_batch *batch);

/* Remove all rows and missing marks. Each `next` of a reader calls it first. */
static inline void pf_batch_clear (pf_batch *batch) {
  batch->rows = 0;
  for (size_t i = 0; i < batch->ncolumns; i++)
    batch->columns[i].has_missing = false;
}

/* Mark a value as missing; the column must have memory. */
void pf_set_missing (pf_column *column, size_t row);

/* Return whether a value is missing. The analyzer assumes wrongly that the
   columns of an open batch may be NULL. */
static inline bool pf_is_missing (const pf_column *column, size_t row) {
  /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  return column->has_missing &&
         (column->missing[row >> 6] >> (row & 63) & 1) != 0;
}

/* Return whether a row has a value in a column, which may be unwanted or beyond
   the last one. */
static inline bool pf_has_value (const pf_batch *batch, size_t column,
                                 size_t row) {
  return column < batch->ncolumns && batch->columns[column].data != NULL &&
         !pf_is_missing(&batch->columns[column], row);
}

/* Return the integer, or the id, in a row, or a substitute if it is missing:
   `missing`, or UINT32_MAX. */
static inline int64_t pf_int_at (const pf_batch *batch, size_t column,
                                 size_t row, int64_t missing) {
  return pf_has_value(batch, column, row) ? batch->columns[column].ints[row]
                                          : missing;
}

static inline uint32_t pf_id_at (const pf_batch *batch, size_t column,
                                 size_t row) {
  return pf_has_value(batch, column, row) ? batch->columns[column].ids[row]
                                          : UINT32_MAX;
}

/* Return whether any of the first `rows` rows has a value in a column. */
bool pf_has_values (const pf_column *column, size_t rows);

/* Copy the values of `count` rows, which are in ascending order, to `to`, which
   may be the memory of the column. Marks of missing values are not copied. */
void pf_copy_values (const pf_column *column, const uint16_t *rows,
                     size_t count, void *to);

/* Remove all rows except those whose indices are in keep[0..count-1], which are
   in ascending order. */
void pf_batch_keep (pf_batch *batch, const uint16_t *keep, size_t count);

#endif
