/*
** stages.h - the stages of views: readers that select, order or concatenate the
** rows of other readers, or add columns to them; and the stacks of a dictionary
** as rows. Opened by csrc/lua/stages and csrc/lua/symbol_table.c.
**
** Each function that ends in _open sets *reader to a stage, which the caller
** closes. The stage borrows its input and dictionary, and has copies of all
** other arguments unless the comment says otherwise. Each may return PF_ENOMEM.
*/

#ifndef stages_h
#define stages_h

#include "kernels/base/pattern.h"
#include "kernels/group/keys.h"
#include "kernels/stages/formula.h"
#include "model/dictionary/areas.h"
#include "model/dictionary/stacks.h"
#include "model/symbols/symbols.h"


typedef enum pf_test_kind {
  PF_IS_IN,      /* equal to one of the values */
  PF_IS_BETWEEN, /* from values[0] to values[1], inclusive */
  PF_IS_MATCH,   /* a text in which `pattern` is found */
  PF_IS_MISSING
} pf_test_kind;

/* A value to compare with: a text for names, bytes and areas (the text of an
   area is its name), an order word (order.h) for other types. */
typedef struct pf_value {
  uint64_t word;
  pf_bytes text;
} pf_value;

typedef struct pf_test {
  size_t column;
  pf_test_kind kind;
  bool negate;
  bool open_low, open_high; /* of PF_IS_BETWEEN: no lower or upper bound */
  const pf_value *values;   /* borrowed with their texts until the reader is
                               closed */
  size_t nvalues;
  const pf_pattern *pattern; /* of PF_IS_MATCH; borrowed likewise */
} pf_test;

/* Whether values of this type are tested as texts. */
bool pf_test_is_text (pf_type type);

/* The rows for which all tests hold. */
pf_status pf_where_open (pf_reader *input, const pf_test *tests, size_t ntests,
                         pf_reader **reader, pf_error *error);

/* A predicate. The filter owns the context and frees it with `close`. */
typedef struct pf_predicate {
  void *context;

  /* Write the indexes of the rows to keep into keep[], ascending, and their
     number into *count, which is 0 before. keep[] has an element for each row
     of the batch, which has at least 1. */
  pf_status (*select)(void *context, const pf_batch *batch, uint16_t *keep,
                      size_t *count, pf_error *error);

  void (*close)(void *context);
} pf_predicate;

/* The rows that a predicate selects, which reads the columns
   columns[0..ncolumns-1]. On a failure the predicate stays with the caller. */
pf_status pf_filter_open (pf_reader *input, const size_t *columns,
                          size_t ncolumns, pf_predicate predicate,
                          pf_reader **reader, pf_error *error);

#define PF_NO_LIMIT UINT64_MAX

/* At most `limit` rows, after the first `skip`. It reads no further. */
pf_status pf_limit_open (pf_reader *input, uint64_t limit, uint64_t skip,
                         pf_reader **reader, pf_error *error);

/*
** The rows in which column `time` (of PF_INT, or of any type: pf_has_any_type)
** is at least `first` and at most `last`; rows without a time are dropped.
**
** If the input can `seek`, its rows are assumed to be sorted by the column: the
** first row is found by exponential and binary search, and reading stops after
** the last. If the search reads rows that are not sorted, the whole input is
** read instead; if rows after it are not sorted, reading goes on to the end.
*/
pf_status pf_range_open (pf_reader *input, size_t time, int64_t first,
                         int64_t last, pf_reader **reader, pf_error *error);

typedef struct pf_sort_key {
  size_t column;
  bool descending;
} pf_sort_key;

/*
** The rows sorted by the first key, equal ones by the second, and so on;
** stable. Names and bytes compare by their bytes, areas by their names, stacks
** by their ids; missing values come last in either direction. The first `next`
** reads the whole input into memory; after expect_rows (abilities.h) it stores
** at most twice these rows and a fixed number; of a live file it reads the rows
** that are there.
*/
pf_status pf_sort_open (pf_reader *input, const pf_sort_key *keys, size_t nkeys,
                        pf_reader **reader, pf_error *error);

/* One of the concatenated readers. Its reader may be NULL, except of the first
   one: it is opened when the input before has ended, and closed at its end. */
typedef struct pf_concat_input {
  pf_reader *reader; /* borrowed, or NULL */
  /* Open the reader, in any thread. `first` is that of the first input: both
     have the same fields and abilities. */
  pf_status (*open)(void *context, const pf_reader *first, pf_reader **reader,
                    pf_error *error);
  void *context;
  const uint32_t *constants; /* the value (a name) of each constant, or
                                PF_NO_NAME */
  uint64_t ids_used;         /* how many values its id column counts */
  pf_reader **owner;         /* the owner's pointer to `reader`; NULL: it is not
                                closed */
} pf_concat_input;

/*
** The rows of all inputs, which have the same fields and the same dictionary:
** of several files as one table. Its fields are those of the inputs, and
** `nconstants` columns of names, with one value for each input; `constants` are
** the names of the columns; the first one is marked as the file of a row
** (pf_is_file). `id` is the index of an int column that counts from 0 in each
** input: its values are increased by the ids that the inputs before have used.
** SIZE_MAX: there is none. An input that has ended, except the first one, is
** closed and its owner's pointer set to NULL, because thousands of files would
** otherwise keep their buffers to the end.
*/
pf_status pf_concat_open (const pf_concat_input *inputs, size_t ninputs,
                          const char *const *constants, size_t nconstants,
                          size_t id, pf_reader **reader, pf_error *error);

/*
** view:with_area: adds the columns class, handle, value, parent, file and line
** of the area in column `area`. A column whose name the input has already is
** not added. The added columns are missing where the area is missing or the
** column holds only names (PF_NAME). PF_EUNSUPPORTED: the column has another
** type.
*/
pf_status pf_area_join_open (pf_reader *input, size_t area, pf_reader **reader,
                             pf_error *error);

/* A column that view:pivot adds. */
typedef struct pf_pivot_column {
  uint32_t name;      /* the name in column `key` of the rows that it shows */
  const char *column; /* the name of the new column */
} pf_pivot_column;

/*
** view:pivot: adds a column of whole numbers for each of columns[0..count-1].
** In rows whose column `key` (PF_NAME) has the name of the pivot column, it
** holds the value of column `value`, or is missing if that is missing; in all
** other rows it is 0, so that sums over groups of rows are right.
** PF_EUNSUPPORTED: the columns have other types.
*/
pf_status pf_pivot_open (pf_reader *input, size_t key, size_t value,
                         const pf_pivot_column *columns, size_t count,
                         pf_reader **reader, pf_error *error);

/*
** Adds a column for each formula. The counters of overflows are borrowed. If a
** formula has a total, the first `next` reads the whole input into memory. Of a
** live file it reads the rows that are there. The first `next` after their end
** reads those that were added, whose totals include all rows before.
** PF_EUNSUPPORTED for a column that is not a number, a formula that lacks a
** value or does not leave exactly one, or one that needs more than
** PF_MAX_STACK.
*/
pf_status pf_derive_open (pf_reader *input, const pf_formula *formulas,
                          size_t count, pf_reader **reader, pf_error *error);

/*
** view:derive with prev(column) or next(column): adds a column with its value
** in the row before, or after, among the rows with equal keys (columns, at most
** PF_MAX_KEYS; a missing value is a value). It is missing in the first row, or
** the last one. With `is_next` the first `next` reads the whole input into
** memory; of a live file the rows that are there.
*/
pf_status pf_lag_open (pf_reader *input, const char *name, size_t column,
                       bool is_next, const pf_key *keys, size_t nkeys,
                       pf_reader **reader, pf_error *error);

/*
** view:merge: the rows of both inputs, which have the same dictionary, in the
** order of an int column; of equal ones those of `left` come first, and a row
** without a time follows the one before it. Columns with the same name are one
** column, those of one input only are missing in the rows of the other. A
** column of whole numbers or areas that the other input has as names has names.
** `right` is borrowed too. *disorder (NULL: not counted) becomes the number of
** rows that an input has in a wrong order; they are not sorted. PF_EUNSUPPORTED
** when columns have other types.
*/
pf_status pf_merge_open (pf_reader *left, pf_reader *right, size_t left_time,
                         size_t right_time, uint64_t *disorder,
                         pf_reader **reader, pf_error *error);

typedef struct pf_asof {
  pf_reader *right; /* borrowed; it has the dictionary of the left input */
  size_t left_time, right_time; /* int columns */
  const size_t *left_keys, *right_keys;
  size_t nkeys;          /* at most PF_MAX_KEYS */
  const size_t *columns; /* of the right input, which are added */
  size_t count;
  int64_t within;     /* the longest time between; INT64_MAX: any */
  uint64_t *disorder; /* as for pf_merge_open */
} pf_asof;

/*
** view:join_asof: adds columns of the latest row of another input that is not
** later than a row and has equal keys; without one they are missing. A column
** whose name exists gets the suffix "_right". Both inputs are in the order of
** their times; of a live file the right rows are used that are there.
** PF_EUNSUPPORTED when keys have different types.
*/
pf_status pf_asof_open (pf_reader *left, const pf_asof *given,
                        pf_reader **reader, pf_error *error);

/* A column of addresses, and the prefix of the names of its new columns. */
typedef struct pf_address_column {
  size_t column;      /* of type PF_ADDR */
  const char *prefix; /* "" or, say, "from_" */
} pf_address_column;

/*
** Adds three columns for each of columns[0..count-1]: function (a name,
** demangled unless `raw`), file (a name) and line (a number). A name that the
** input already has gets the prefix "source_". The function is missing for an
** address in no symbol, file and line for one without a line. Addresses are
** looked up in the symbols (borrowed) as (address - bias), if the column is
** wanted. PF_EUNSUPPORTED when a column does not hold addresses, a prefix is
** too long, or the names of the symbols are in another dictionary than those of
** the input.
*/
pf_status pf_symbolize_open (pf_reader *input, pf_symbols *symbols,
                             uint64_t bias, bool raw,
                             const pf_address_column *columns, size_t count,
                             pf_reader **reader, pf_error *error);

/* A row for each stack that the dictionary has now, by id: stack, parent (the
   stack without its innermost frame; missing: there are no more frames), depth
   (number of frames) and frame (the innermost one). */
pf_status pf_stack_rows_open (pf_dictionary *dictionary, pf_reader **reader,
                              pf_error *error);

#endif
