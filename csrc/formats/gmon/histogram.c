/*
** histogram.c - the reader of histograms: one row for each bin.
**
** It first lists the bins that become rows: all bins in order or, if rows of
** count 0 may be omitted (omit_zeros), the bins that are not 0, which are
** searched 32 bytes at a time. Then a loop for each wanted column fills it.
**
** open_gmon.c lists the table. read_gmon.c makes the reader and calls `fill`;
** lua/checked_reader.c closes it. A consumer calls omit_zeros before the first
** `next`. Bins are read from the source; nothing is allocated here.
*/

#include "formats/gmon/gmon.h"
#include "model/rows/batch.h"
#include "model/base/wide.h"
#include "model/rows/put_values.h"

#define NANOSECONDS 1000000000 /* of a second */

typedef struct histogram_reader {
  gmon_reader base;
  gmon_scale scale;
  uint64_t offset;  /* offset of the current segment + 1; 0: none yet */
  uint64_t carried; /* number of bins that are included in `carry` */
  uint64_t carry;   /* of their times: rest of a ns, in 1 / rate ns */
  bool omits_zeros; /* rows with count 0 may be left out */
  uint32_t bins[PF_BATCH_ROWS]; /* the bin of each row, below 2^32 */
} histogram_reader;


/* Whether 32 bytes are 0. */
static bool are_zero (const uint8_t *at) {
  return (pf_load64le(at) | pf_load64le(at + 8) | pf_load64le(at + 16) |
          pf_load64le(at + 24)) == 0;
}


/* List the next bins of `width` bytes that are not 0, and move base->row past
   them. Bins that are not in 32 bytes of 0 are tested one by one, without a
   branch that depends on their values. The byte order of 0 does not matter. */
static inline size_t list_nonzero (histogram_reader *self, size_t free_rows,
                                   unsigned width) {
  gmon_reader *const base = &self->base;
  const uint8_t *const at = gmon_item(base, 0);
  const unsigned block = 32 / width;
  uint64_t bin = base->row;
  size_t count = 0;
  while (bin < base->rows && count < free_rows) {
    const bool is_block = base->rows - bin >= block;
    const uint64_t stop = is_block ? bin + block : base->rows;
    if (is_block && are_zero(at + bin * width))
      bin = stop;
    for (; bin < stop && count < free_rows; bin++) {
      self->bins[count] = (uint32_t)bin;
      count += pf_load(at + bin * width, width, false) != 0;
    }
  }
  base->row = bin;
  return count;
}


/* Calls list_nonzero with the width of the histogram. With the constant 2, the
   usual width, the compiler generates one kind of load. */
static size_t list_sparse (histogram_reader *self, size_t free_rows) {
  const unsigned width = (unsigned)self->base.segment.stride;
  return width == 2 ? list_nonzero(self, free_rows, 2)
                    : list_nonzero(self, free_rows, width);
}


/* Returns the samples of a bin, sign-extended if bins are signed. */
static uint64_t bin_value (const gmon_reader *base, uint64_t bin) {
  const gmon_layout *const layout = &base->file->layout;
  const unsigned width = (unsigned)base->segment.stride;
  const uint64_t value = pf_load(gmon_item(base, bin), width, layout->big);
  if (!layout->is_signed || width == 8 || value >> (8 * width - 1) == 0)
    return value;
  return value | UINT64_MAX << 8 * width;
}


/* Whether the samples of a bin fit into int64_t. */
static bool is_countable (const gmon_reader *base, uint64_t value) {
  return base->file->layout.is_signed || value <= INT64_MAX;
}


static pf_status fill_counts (const histogram_reader *self, pf_column *column,
                              size_t first, size_t count, pf_error *error) {
  const gmon_reader *const base = &self->base;
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    const uint64_t value = bin_value(base, self->bins[i]);
    column->ints[first + i] = (int64_t)value;
    if (!is_countable(base, value))
      status = gmon_count_too_large(
          base, column, first + i,
          base->segment.items_at + base->segment.stride * self->bins[i], error);
  }
  return status;
}


/* Convert samples to nanoseconds, including the carry of the bins before, so
   that the times of a histogram add up to its exact time, rounded once.
   Division rounds down also for negative counts. False if the time may not fit
   into 64 bits (1 s is left for the carry). */
static bool to_nanoseconds (uint64_t *carry, int64_t samples, uint32_t rate,
                            int64_t *spent) {
  int64_t whole = samples / (int64_t)rate;
  int64_t left = samples % (int64_t)rate;
  if (left < 0) {
    left += (int64_t)rate;
    whole--;
  }
  const uint64_t parts = (uint64_t)left * NANOSECONDS + *carry;
  if (whole > INT64_MAX / NANOSECONDS - 1 ||
      whole < INT64_MIN / NANOSECONDS + 1)
    return false;
  *carry = parts % rate;
  *spent = whole * NANOSECONDS + (int64_t)(parts / rate);
  return true;
}


/* Advance the carry to `bin`, over bins that were left out or skipped by a
   seek. After a seek back it starts again. */
static void advance_carry (histogram_reader *self, uint64_t bin,
                           uint32_t rate) {
  int64_t spent;
  if (self->carried > bin) {
    self->carried = 0;
    self->carry = rate / 2; /* so that sums are rounded to nearest */
  }
  for (; self->carried < bin; self->carried++) {
    const uint64_t value = bin_value(&self->base, self->carried);
    if (value != 0 && is_countable(&self->base, value))
      (void)to_nanoseconds(&self->carry, (int64_t)value, rate, &spent);
  }
}


/* Fill times. The bins from `start` on that are not listed are 0. If a sample
   is a whole number of nanoseconds, the carry does not change. */
static void fill_spent (histogram_reader *self, pf_column *column, size_t first,
                        size_t count, uint64_t start) {
  const gmon_reader *const base = &self->base;
  const uint32_t rate = gmon_rate(&base->file->layout, &base->segment);
  const int64_t length = NANOSECONDS % rate == 0 ? NANOSECONDS / rate : 0;
  if (length == 0)
    advance_carry(self, start, rate);
  for (size_t i = 0; i < count; i++) {
    const uint64_t value = bin_value(base, self->bins[i]);
    int64_t *const spent = &column->ints[first + i];
    *spent = length * (int64_t)(uint32_t)value;
    if ((length == 0 || value > UINT32_MAX) && value != 0 &&
        (!is_countable(base, value) ||
         !to_nanoseconds(&self->carry, (int64_t)value, rate, spent)))
      pf_set_missing(column, first + i);
  }
  self->carried = base->row;
}


/* Fill the hidden column with what the time in `spent` lacks, in ns /
   PF_REMAINDER_UNIT: the samples times the length of one sample, rounded to
   this unit, minus that time. So sums of both do not depend on the carry. */
static void fill_remainders (const histogram_reader *self, pf_column *column,
                             const pf_column *spent, size_t first,
                             size_t count) {
  const gmon_reader *const base = &self->base;
  const uint32_t rate = gmon_rate(&base->file->layout, &base->segment);
  const pf_wide length = (NANOSECONDS * PF_REMAINDER_UNIT + rate / 2) / rate;
  for (size_t i = 0; i < count; i++) {
    const uint64_t value = bin_value(base, self->bins[i]);
    const bool is_there =
        spent->data != NULL && !pf_is_missing(spent, first + i);
    column->ints[first + i] =
        is_there && NANOSECONDS % rate != 0
            ? (int64_t)((int64_t)value * length -
                        spent->ints[first + i] * PF_REMAINDER_UNIT)
            : 0;
    if (!is_there)
      pf_set_missing(column, first + i);
  }
}


/* Fill the columns of time, or mark them missing if counts are not seconds.
   HISTOGRAM_RATE, by which a sum of counts is divided, is then 1. */
static void fill_times (histogram_reader *self, pf_batch *batch, size_t first,
                        size_t count, uint64_t start) {
  const gmon_reader *const base = &self->base;
  pf_column *const columns = batch->columns;
  pf_column *const seconds = &columns[HISTOGRAM_SECONDS];
  const uint32_t rate = gmon_rate(&base->file->layout, &base->segment);
  const pf_bytes dimension = gmon_dimension(&base->segment);
  const bool is_time = rate != 0 && dimension.size == 7 &&
                       memcmp(dimension.at, "seconds", 7) == 0;
  for (size_t i = 0; i < count; i++)
    pf_put_int(&columns[HISTOGRAM_RATE], first + i, is_time ? rate : 1, true);
  if (!is_time) {
    pf_put_none(seconds, first, count);
    pf_put_none(&columns[HISTOGRAM_SPENT], first, count);
    pf_put_none(&columns[HISTOGRAM_REST], first, count);
    return;
  }
  for (size_t i = 0; seconds->data != NULL && i < count; i++) {
    const uint64_t value = bin_value(base, self->bins[i]);
    pf_put_num(seconds, first + i, (double)(int64_t)value / rate,
               is_countable(base, value));
  }
  if (columns[HISTOGRAM_SPENT].data != NULL)
    fill_spent(self, &columns[HISTOGRAM_SPENT], first, count, start);
  if (columns[HISTOGRAM_REST].data != NULL)
    fill_remainders(self, &columns[HISTOGRAM_REST], &columns[HISTOGRAM_SPENT],
                    first, count);
}


/* Fill the addresses at which the bins begin, or with `shift` 1 end. */
static void fill_addresses (const histogram_reader *self, pf_column *column,
                            size_t first, size_t count, unsigned shift) {
  if (self->scale.range == 0)
    pf_put_none(column, first, count);
  else if (column->data != NULL)
    for (size_t i = 0; i < count; i++)
      column->addrs[first + i] =
          gmon_bin_start(&self->scale, (uint64_t)self->bins[i] + shift);
}


static pf_status fill (gmon_reader *base, pf_batch *batch, pf_error *error) {
  histogram_reader *const self = (histogram_reader *)base;
  const size_t first = batch->rows;
  const uint64_t start = base->row;
  const gmon_segment *const segment = &base->segment;
  if (self->offset != segment->offset + 1) { /* another segment */
    self->offset = segment->offset + 1;
    self->scale = gmon_scale_of(segment->low, segment->high, segment->declared,
                                base->file->extended);
    self->carried = 0;
    self->carry = gmon_rate(&base->file->layout, segment) / 2;
  }
  const size_t count = self->omits_zeros
                           ? list_sparse(self, PF_BATCH_ROWS - first)
                           : gmon_fillable_rows(base, batch);
  for (size_t i = 0; !self->omits_zeros && i < count; i++)
    self->bins[i] = (uint32_t)base->row++;
  batch->rows += count;
  pf_column *const columns = batch->columns;
  for (size_t i = 0; i < count; i++) {
    pf_put_int(&columns[HISTOGRAM_SET], first + i, base->set, true);
    pf_put_int(&columns[HISTOGRAM_BIN], first + i, self->bins[i], true);
  }
  fill_addresses(self, &columns[HISTOGRAM_LOW], first, count, 0);
  fill_addresses(self, &columns[HISTOGRAM_HIGH], first, count, 1);
  fill_times(self, batch, first, count, start);
  return columns[HISTOGRAM_COUNT].data == NULL
             ? PF_OK
             : fill_counts(self, &columns[HISTOGRAM_COUNT], first, count,
                           error);
}


/* Leave out rows whose count is 0. For any other column none is left out. */
static void omit_zeros (pf_reader *reader, size_t column) {
  histogram_reader *const self = (histogram_reader *)(void *)reader;
  self->omits_zeros = column == HISTOGRAM_COUNT;
}


static const pf_abilities abilities = {.seek = gmon_seek,
                                       .omit_zeros = omit_zeros};

const gmon_table gmon_histogram_table = {"histogram",
                                         gmon_histogram_fields,
                                         HISTOGRAM_COLUMNS,
                                         sizeof(histogram_reader),
                                         &abilities,
                                         GMON_HISTOGRAM,
                                         true,
                                         fill};
