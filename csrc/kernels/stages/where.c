/*
** where.c - runs the tests of a batch one after the other; tests of texts only
** see the rows that remain. The results for names and areas are stored by their
** ids, so that each is tested once.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/stages/stages.h"
#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/areas.h"

enum {
  UNKNOWN,
  NO,
  YES
}; /* the result of a test for a name */

/* Names and areas with ids from here on are tested for each row. */
#define MAX_RESULTS ((size_t)1 << 26)

/* Up to so many values are compared with all rows, which is faster. */
#define FEW_VALUES 8

typedef struct results {
  uint8_t *by_number;
  size_t size;
} results;

typedef struct where {
  const pf_dictionary *dictionary;
  uint64_t words[PF_BATCH_ROWS];
  bool yes[PF_BATCH_ROWS]; /* by row: whether the test holds */
  size_t ntests;
  pf_test *tests;
  size_t *columns;   /* by test */
  results *results;  /* by test */
  pf_value **sorted; /* by test: the values of PF_IS_IN */
} where;


bool pf_test_is_text (pf_type type) {
  return type == PF_NAME || type == PF_BYTES || type == PF_AREA;
}


static int compare_texts (const void *context, const void *a, const void *b) {
  (void)context;
  return pf_text_compare(((const pf_value *)a)->text,
                         ((const pf_value *)b)->text);
}


static int compare_words (const void *context, const void *a, const void *b) {
  const uint64_t x = ((const pf_value *)a)->word;
  const uint64_t y = ((const pf_value *)b)->word;
  (void)context;
  return (x > y) - (x < y);
}


/* Whether the values of a test, which are sorted, have one. */
static bool is_in (const pf_test *test, const pf_value *value,
                   pf_compare *compare) {
  size_t low = 0, high = test->nvalues;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = compare(NULL, value, &test->values[middle]);
    if (order == 0)
      return true;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return false;
}


/* Run a test on a text, before negation. */
static pf_status try_text (const pf_test *test, pf_bytes text, bool *yes,
                           pf_error *error) {
  pf_found found;
  pf_status status = PF_OK;
  *yes = false;
  switch (test->kind) {
    case PF_IS_IN:
      *yes = is_in(test, &(pf_value){0, text}, compare_texts);
      break;
    case PF_IS_BETWEEN:
      *yes =
          (test->open_low ||
           pf_text_compare(text, test->values[0].text) >= 0) &&
          (test->open_high || pf_text_compare(text, test->values[1].text) <= 0);
      break;
    case PF_IS_MATCH:
      status = pf_pattern_find(test->pattern, text, &found, error);
      *yes = found.is_found;
      break;
    case PF_IS_MISSING: break;
  }
  return status;
}


/* Test the texts of names or areas, each once, and store the results. */
static pf_status test_names (where *w, size_t t, const pf_column *column,
                             const uint16_t *keep, size_t count,
                             pf_error *error) {
  results *const v = &w->results[t];
  for (size_t i = 0; i < count; i++) {
    const size_t row = keep[i];
    const uint32_t number = column->ids[row];
    w->yes[row] = false;
    if (pf_is_missing(column, row))
      continue;
    if (number < v->size && v->by_number[number] != UNKNOWN) {
      w->yes[row] = v->by_number[number] == YES;
      continue;
    }
    const pf_bytes text = pf_text(w->dictionary, column->type, number);
    const pf_status status = try_text(&w->tests[t], text, &w->yes[row], error);
    if (status != PF_OK)
      return status;
    if (number >= MAX_RESULTS)
      continue;
    if (!pf_grow_filled(&v->by_number, &v->size, (size_t)number + 1, UNKNOWN))
      return pf_no_memory(error);
    v->by_number[number] = w->yes[row] ? YES : NO;
  }
  return PF_OK;
}


/* Test all rows of the batch: cheaper than only the remaining ones. */
static void test_words (where *w, const pf_test *test, const pf_column *column,
                        size_t rows) {
  pf_order_column(column, rows, w->words);
  if (test->kind == PF_IS_BETWEEN) {
    const uint64_t low = test->open_low ? 0 : test->values[0].word;
    const uint64_t high = test->open_high ? UINT64_MAX : test->values[1].word;
    for (size_t i = 0; i < rows; i++)
      w->yes[i] = (w->words[i] >= low) & (w->words[i] <= high);
  }
  else if (test->nvalues > FEW_VALUES)
    for (size_t i = 0; i < rows; i++)
      w->yes[i] =
          is_in(test, &(pf_value){w->words[i], {NULL, 0}}, compare_words);
  else {
    memset(w->yes, 0, rows);
    for (size_t v = 0; v < test->nvalues; v++)
      for (size_t i = 0; i < rows; i++)
        w->yes[i] |= w->words[i] == test->values[v].word;
  }
  for (size_t i = 0; column->has_missing && i < rows; i++)
    w->yes[i] &= !pf_is_missing(column, i);
}


static pf_status run_test (where *w, size_t t, const pf_batch *batch,
                           const uint16_t *keep, size_t count,
                           pf_error *error) {
  const pf_test *const test = &w->tests[t];
  const pf_column *const column = &batch->columns[test->column];
  if (test->kind == PF_IS_MISSING) {
    for (size_t i = 0; i < batch->rows; i++)
      w->yes[i] = pf_is_missing(column, i);
  }
  else if (column->type == PF_BYTES) {
    for (size_t i = 0; i < count; i++) {
      const size_t row = keep[i];
      w->yes[row] = false;
      if (pf_is_missing(column, row))
        continue;
      const pf_status status =
          try_text(test, column->bytes[row], &w->yes[row], error);
      if (status != PF_OK)
        return status;
    }
    return PF_OK;
  }
  else if (pf_test_is_text(column->type))
    return test_names(w, t, column, keep, count, error);
  else
    test_words(w, test, column, batch->rows);
  return PF_OK;
}


/* The predicate of the filter. */
static pf_status select_rows (void *context, const pf_batch *batch,
                              uint16_t *keep, size_t *count, pf_error *error) {
  where *const w = context;
  size_t left = batch->rows;
  for (size_t i = 0; i < left; i++)
    keep[i] = (uint16_t)i;
  for (size_t t = 0; t < w->ntests && left > 0; t++) {
    const pf_status status = run_test(w, t, batch, keep, left, error);
    if (status != PF_OK)
      return status;
    size_t kept = 0;
    for (size_t i = 0; i < left; i++) {
      keep[kept] = keep[i];
      kept += w->yes[keep[i]] != w->tests[t].negate;
    }
    left = kept;
  }
  *count = left;
  return PF_OK;
}


static void where_close (void *context) {
  where *const w = context;
  for (size_t t = 0; w->results != NULL && t < w->ntests; t++)
    free(w->results[t].by_number);
  for (size_t t = 0; w->sorted != NULL && t < w->ntests; t++)
    free(w->sorted[t]);
  free(w->results);
  free(w->sorted);
  free(w->tests);
  free(w->columns);
  free(w);
}


/* Give a test sorted values of its own. False when out of memory. */
static bool sort_values (where *w, size_t t, pf_type type) {
  pf_test *const test = &w->tests[t];
  const size_t count = test->nvalues;
  if (test->kind != PF_IS_IN || count < 2)
    return true;
  pf_value *const sorted = pf_array_of_zeros(count + 1, sizeof *sorted);
  if (sorted == NULL)
    return false;
  memcpy(sorted, test->values, count * sizeof *sorted);
  w->sorted[t] = sorted;
  test->values = sorted;
  pf_value *const spare = pf_array_of_zeros(count, sizeof *spare);
  if (spare != NULL)
    pf_sort(sorted, spare, count, sizeof *sorted,
            pf_test_is_text(type) ? compare_texts : compare_words, NULL);
  free(spare);
  return spare != NULL;
}


pf_status pf_where_open (pf_reader *input, const pf_test *tests, size_t ntests,
                         pf_reader **reader, pf_error *error) {
  where *const w = calloc(1, sizeof *w);
  if (w == NULL)
    return pf_no_memory(error);
  w->dictionary = input->dictionary;
  w->ntests = ntests;
  w->tests = calloc(ntests + 1, sizeof *tests);
  w->columns = calloc(ntests + 1, sizeof *w->columns);
  w->results = calloc(ntests + 1, sizeof *w->results);
  w->sorted = calloc(ntests + 1, sizeof *w->sorted);
  bool ok = w->tests != NULL && w->columns != NULL && w->results != NULL &&
            w->sorted != NULL;
  for (size_t i = 0; ok && i < ntests; i++) {
    w->tests[i] = tests[i];
    w->columns[i] = tests[i].column;
    ok = sort_values(w, i, input->fields[tests[i].column].type);
  }
  if (!ok) {
    where_close(w);
    return pf_no_memory(error);
  }
  const pf_status status = pf_filter_open(
      input, w->columns, ntests, (pf_predicate){w, select_rows, where_close},
      reader, error);
  if (status != PF_OK)
    where_close(w);
  return status;
}
