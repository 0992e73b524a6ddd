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
#include "model/dictionary/areas.h"

enum {
  UNKNOWN,
  NO,
  YES
}; /* the result of a test for a name */

/* Names and areas with ids from here on are tested for each row. */
#define MAX_RESULTS ((size_t)1 << 26)

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
  size_t *columns;  /* by test */
  results *results; /* by test */
} where;


bool pf_test_is_text (pf_type type) {
  return type == PF_NAME || type == PF_BYTES || type == PF_AREA;
}


static bool is_in (const pf_test *test, pf_bytes text) {
  for (size_t i = 0; i < test->nvalues; i++)
    if (text.size == test->values[i].text.size &&
        pf_text_compare(text, test->values[i].text) == 0)
      return true;
  return false;
}


/* Run a test on a text, before negation. */
static pf_status try_text (const pf_test *test, pf_bytes text, bool *yes,
                           pf_error *error) {
  pf_found found;
  pf_status status = PF_OK;
  *yes = false;
  switch (test->kind) {
    case PF_IS_IN: *yes = is_in(test, text); break;
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
  free(w->results);
  free(w->tests);
  free(w->columns);
  free(w);
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
  if (w->tests == NULL || w->columns == NULL || w->results == NULL) {
    where_close(w);
    return pf_no_memory(error);
  }
  for (size_t i = 0; i < ntests; i++) {
    w->tests[i] = tests[i];
    w->columns[i] = tests[i].column;
  }
  const pf_status status = pf_filter_open(
      input, w->columns, ntests, (pf_predicate){w, select_rows, where_close},
      reader, error);
  if (status != PF_OK)
    where_close(w);
  return status;
}
