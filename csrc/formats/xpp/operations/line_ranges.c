/*
** line_ranges.c - finds the ranges of lines of functions.
*/

#include "formats/xpp/operations/line_ranges.h"

#include <stdlib.h>

#include "formats/xpp/operations/frames.h"
#include "model/base/memory.h"
#include "model/rows/table_reader.h"

static const xpp_line_range unknown = {1, 0};


void xpp_line_ranges_init (xpp_line_ranges *r) {
  *r = (xpp_line_ranges){.list = NULL};
  pf_id_table_init(&r->functions);
}


void xpp_line_ranges_free (xpp_line_ranges *r) {
  pf_id_table_free(&r->functions);
  free(r->list);
  r->list = NULL;
}


static uint64_t word_of (uint32_t file, uint32_t name) {
  return (uint64_t)file << 32 | name;
}


pf_status xpp_line_ranges_add (xpp_line_ranges *r, uint32_t file, uint32_t name,
                               int64_t line, xpp_line_range *range) {
  const uint64_t word = word_of(file, name);
  const uint32_t before = r->functions.count;
  uint32_t id;
  if (pf_id_table_words(&r->functions, &word, 1, &id) != PF_OK ||
      !pf_grow(&r->list, &r->capacity, (size_t)r->functions.count))
    return PF_ENOMEM;
  xpp_line_range *const known = &r->list[id];
  if (id == before)
    *known = (xpp_line_range){line, line};
  known->low = line < known->low ? line : known->low;
  known->high = line > known->high ? line : known->high;
  *range = *known;
  return PF_OK;
}


xpp_line_range xpp_line_range_of (const xpp_line_ranges *r, uint32_t file,
                                  uint32_t name) {
  const uint32_t id = pf_id_table_find(&r->functions, word_of(file, name));
  return id == PF_NO_ID ? unknown : r->list[id];
}


/* Read the rows of a batch. */
static pf_status read_rows (xpp_line_ranges *r, const pf_batch *batch,
                            const xpp_entry_columns *at, const uint32_t *ops) {
  const pf_column *const c = batch->columns;
  const uint32_t *const op = c[at->op].ids;
  for (size_t row = 0; row < batch->rows; row++) {
    const bool is_own =
        op[row] == ops[XPP_ENTERED] || op[row] == ops[XPP_RETURNING];
    const bool is_call =
        op[row] == ops[XPP_CALLING] || op[row] == ops[XPP_RETURNED];
    if ((!is_own && !is_call) || pf_is_missing(&c[at->op], row) ||
        pf_is_missing(&c[at->line], row) || pf_is_missing(&c[at->call], row))
      continue;
    r->has_calls |= is_call;
    const uint32_t file =
        at->file < batch->ncolumns && !pf_is_missing(&c[at->file], row)
            ? c[at->file].ids[row]
            : PF_NO_NAME;
    xpp_line_range range;
    if (is_own && xpp_line_ranges_add(r, file, c[at->call].ids[row],
                                      c[at->line].ints[row], &range) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


pf_status xpp_line_ranges_read (xpp_line_ranges *r, pf_reader *entries,
                                pf_error *error) {
  xpp_entry_columns at;
  pf_batch batch;
  pf_status status = xpp_entry_columns_of(entries, &at, error);
  if (status != PF_OK || at.line == XPP_NO_COLUMN)
    return PF_OK;
  uint32_t ops[XPP_NO_OP];
  if (xpp_op_names(entries->dictionary, ops, error) != PF_OK)
    return error->status;
  bool *const wanted = calloc(entries->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  wanted[at.op] = wanted[at.call] = wanted[at.line] = true;
  if (at.file < entries->nfields)
    wanted[at.file] = true;
  status = pf_batch_for(&batch, entries, wanted);
  free(wanted);
  if (status != PF_OK)
    return pf_no_memory(error);
  while ((status = entries->next(entries, &batch, error)) == PF_MORE)
    if (read_rows(r, &batch, &at, ops) != PF_OK) {
      status = pf_no_memory(error);
      break;
    }
  pf_batch_close(&batch);
  return status < 0 ? status : PF_OK;
}


static int by_low (const void *a, const void *b) {
  const xpp_line_range *const left = a, *const right = b;
  return (left->low > right->low) - (left->low < right->low);
}


pf_status xpp_line_ranges_overlaps (const xpp_line_ranges *r, uint32_t *count) {
  const size_t n = r->functions.count;
  *count = 0;
  if (n == 0)
    return PF_OK;
  xpp_line_range *const sorted = malloc(n * sizeof *sorted);
  if (sorted == NULL)
    return PF_ENOMEM;
  memcpy(sorted, r->list, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_low);
  bool was_counted = false;
  size_t widest = 0; /* the one that reaches furthest so far */
  for (size_t i = 1; i < n; i++) {
    const bool overlaps = sorted[i].low <= sorted[widest].high;
    *count += overlaps + (overlaps && !was_counted && widest == i - 1);
    was_counted = overlaps;
    if (sorted[i].high > sorted[widest].high)
      widest = i;
  }
  free(sorted);
  return PF_OK;
}
