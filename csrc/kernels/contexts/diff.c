/*
** diff.c - the functions of the joint profile, by descending absolute change of
** self.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contexts/views.h"
#include "kernels/base/order.h"
#include "model/base/sorts.h"
#include "model/rows/batch.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

/* clang-format off */
enum {
  FUNCTION, SELF, SELF_BEFORE, CHANGE, RELATIVE, TOTAL, TOTAL_BEFORE,
  TOTAL_CHANGE, SIGNIFICANCE, FILE_NAME, LINE, NFIELDS
};

#define FIRST_WEIGHT SELF
#define LAST_WEIGHT  TOTAL_CHANGE

static const pf_field fields[NFIELDS] = {
  {"function", PF_NAME, "its name"},
  {"self", PF_INT, "its own time or weight"},
  {"self_before", PF_INT, "self of the old profile"},
  {"change", PF_INT, "self less self_before"},
  {"relative", PF_NUM, "change as a part of self_before"},
  {"total", PF_INT, "with all it called"},
  {"total_before", PF_INT, "total of the old profile"},
  {"total_change", PF_INT, "total less total_before"},
  {"significance", PF_NUM, "the change of its count in standard errors"},
  {"file", PF_NAME, "its source file or module"},
  {"line", PF_INT, "its line"},
};
/* clang-format on */

typedef struct diff_reader {
  pf_reader reader;
  pf_field fields[NFIELDS];
  char helps[LAST_WEIGHT + 1][160]; /* of weights, with their unit */
  pf_diff diff;
  pf_pair *pairs; /* the nodes in order, and as many spare ones */
  size_t count, at;
} diff_reader;


static int64_t weight (const pf_diff *d, size_t metric, uint32_t node) {
  return metric == PF_NO_METRIC ? 0 : d->contexts->weights[metric][node];
}


static int64_t difference (int64_t a, int64_t b) {
  int64_t result;
  if (!__builtin_sub_overflow(a, b, &result))
    return result;
  return a < 0 ? INT64_MIN : INT64_MAX;
}


static void put_ratio (pf_column *column, size_t row, double above,
                       double below) {
  pf_put_num(column, row, below == 0 ? 0 : above / below, below != 0);
}


static void put_node (const diff_reader *r, pf_column *c, size_t row,
                      uint32_t node) {
  const pf_diff *const d = &r->diff;
  const int64_t self = weight(d, d->self, node);
  const int64_t before = weight(d, d->self_before, node);
  const int64_t total = weight(d, d->total, node);
  const int64_t total_before = weight(d, d->total_before, node);
  const double n = (double)weight(d, d->count, node);
  const double n_before = (double)weight(d, d->count_before, node);
  const pf_area *const area =
      pf_area_at(r->reader.dictionary, r->diff.contexts->frames[node]);
  pf_put_id(&c[FUNCTION], row, area->name);
  pf_put_id(&c[FILE_NAME], row, area->file);
  pf_put_int(&c[LINE], row, area->line, area->line != 0);
  pf_put_int(&c[SELF], row, self, true);
  pf_put_int(&c[SELF_BEFORE], row, before, true);
  pf_put_int(&c[CHANGE], row, difference(self, before), true);
  put_ratio(&c[RELATIVE], row, (double)self - (double)before, (double)before);
  pf_put_int(&c[TOTAL], row, total, true);
  pf_put_int(&c[TOTAL_BEFORE], row, total_before, true);
  pf_put_int(&c[TOTAL_CHANGE], row, difference(total, total_before), true);
  put_ratio(&c[SIGNIFICANCE], row, n - n_before * d->exposure,
            d->count == PF_NO_METRIC || d->count_before == PF_NO_METRIC ||
                    !(d->exposure > 0)
                ? 0
                : sqrt(fabs(n) + fabs(n_before) * d->exposure * d->exposure));
}


static pf_status diff_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  diff_reader *const r = (diff_reader *)(void *)self;
  (void)error;
  pf_batch_clear(batch);
  for (; batch->rows < PF_BATCH_ROWS && r->at < r->count; r->at++)
    put_node(r, batch->columns, batch->rows++, (uint32_t)r->pairs[r->at].row);
  return pf_batch_status(batch, PF_END);
}


static void diff_close (pf_reader *self) {
  diff_reader *const r = (diff_reader *)(void *)self;
  free(r->pairs);
  free(r);
}


/* Order the nodes with a self or total that is not 0, by descending absolute
   change of self. False when out of memory. */
static bool order_nodes (diff_reader *r) {
  const pf_diff *const d = &r->diff;
  const uint32_t count = d->contexts->count;
  r->pairs = malloc((size_t)count * 2 * sizeof *r->pairs);
  if (r->pairs == NULL)
    return false;
  for (uint32_t i = 1; i < count; i++) {
    const int64_t self = weight(d, d->self, i);
    const int64_t before = weight(d, d->self_before, i);
    const int64_t change = difference(self, before);
    const int64_t size = change < 0 ? difference(0, change) : change;
    if (self != 0 || before != 0 || weight(d, d->total, i) != 0 ||
        weight(d, d->total_before, i) != 0)
      r->pairs[r->count++] = (pf_pair){~pf_order_int(size), i};
  }
  pf_sort_pairs(r->pairs, r->pairs + count, r->count);
  return true;
}


/* Set the fields, in whose help text output finds the unit. */
static void set_fields (diff_reader *r, const char *unit) {
  memcpy(r->fields, fields, sizeof fields);
  for (int i = FIRST_WEIGHT; i <= LAST_WEIGHT; i++)
    if (i != RELATIVE) {
      pf_help_of_weight(r->helps[i], sizeof r->helps[i], fields[i].help, unit,
                        unit);
      r->fields[i].help = r->helps[i];
    }
  r->reader.fields = r->fields;
}


pf_status pf_diff_open (const pf_diff *diff, pf_reader **reader,
                        pf_error *error) {
  diff_reader *const r = pf_reader_of(
      sizeof *r, fields, NFIELDS, diff->contexts->dictionary, diff_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->reader.close = diff_close;
  r->diff = *diff;
  set_fields(r, diff->unit);
  return pf_reader_opened(&r->reader,
                          order_nodes(r) ? PF_OK : pf_no_memory(error), reader);
}
