/*
** encode_gmon.c - the encoder, step 1: adds up rows until the file is written.
**
** Equal histograms, arcs and blocks of several files are added, as `gprof -s`
** does, but without overflow of 16 or 32 bits. Opened through pf_format_gmon by
** lua/writer/file_writer.c and model/writer/ring_encoder.c, which call its
** `close`; that frees the sums.
*/

#include <stdlib.h>

#include "formats/gmon/gmon.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"

#define FEW_BINS 65536 /* missing bins that are always written as zeros */
/* The properties in which the sets of a gmon_sets differ: the members before
   `read`. */
#define HEADER_SIZE (offsetof(gmon_set, abbreviation) + sizeof(uint32_t))

/* Read an integer of a row, which must be present and not negative. */
static pf_status take (const pf_batch *batch, const pf_table *table,
                       size_t column, size_t row, uint64_t *value,
                       pf_error *error) {
  const char *const name = table->fields[column].name;
  if (!pf_has_value(batch, column, row))
    return pf_refuse(error, "a row of %s has no %s", table->name, name);
  *value = batch->columns[column].addrs[row];
  if (table->fields[column].type == PF_ADDR || *value <= INT64_MAX)
    return PF_OK;
  return pf_refuse(error, "%s of a row of %s is %lld: it cannot be below 0",
                   name, table->name, (long long)*value);
}


/* Add to a sum, which must stay below 2^63. */
static pf_status add (uint64_t *sum, uint64_t count, pf_error *error) {
  if (count > (uint64_t)INT64_MAX - *sum)
    return pf_refuse(error, "a sum of counts is 2^63 or more");
  *sum += count;
  return PF_OK;
}


/* Append bins of count 0 up to index `read`. */
static bool add_bins (gmon_set *set, uint64_t read) {
  if (read <= set->read && set->counts != NULL)
    return true;
  if (!pf_widen(&set->counts, (size_t)set->read, (size_t)read))
    return false;
  set->read = read;
  return true;
}


/* Complete a set before it is written: missing bins get the count 0. If a
   header claims far more bins than were read, the set is shortened instead.
   PF_ENOMEM, or PF_ELIMIT if no shorter set keeps the addresses of its bins. */
static pf_status finish_set (gmon_set *set, bool extended, pf_error *error) {
  uint64_t bins = set->read;
  if (set->bins > 2 * set->read + FEW_BINS) {
    if (!gmon_scale_shorten(&set->scale, extended, &bins, &set->high))
      return pf_fail(
          error, PF_ELIMIT, PF_NO_OFFSET,
          "a histogram of %llu bins, of which %llu were read, cannot "
          "be written",
          (unsigned long long)set->bins, (unsigned long long)set->read);
    set->bins = bins;
  }
  return add_bins(set, set->bins) ? PF_OK : pf_no_memory(error);
}


/* Returns the index of the set with this header, added if it is new, with
   counts for at least header->read bins; SIZE_MAX when out of memory. */
static size_t get_set (gmon_sets *sets, const gmon_set *header, bool extended) {
  const size_t known = sets->known.count;
  const uint32_t number = pf_intern_element(
      &sets->known, &sets->list, &sets->capacity, header, HEADER_SIZE);
  if (number == PF_NOT_INTERNED)
    return SIZE_MAX;
  gmon_set *const set = &sets->list[number];
  if (number == known) { /* a new set without counts */
    set->counts = NULL;
    set->read = 0;
    set->scale = gmon_scale_of(set->low, set->high, set->bins, extended);
  }
  return add_bins(set, header->read) ? number : SIZE_MAX;
}


static int compare_sets (const void *dictionary, const void *left,
                         const void *right) {
  const gmon_set *const x = left, *const y = right;
  const uint64_t a[] = {x->low, x->high, x->bins, x->rate};
  const uint64_t b[] = {y->low, y->high, y->bins, y->rate};
  for (size_t i = 0; i < sizeof a / sizeof *a; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  const int order = pf_name_compare(dictionary, x->dimension, y->dimension);
  return order != 0
             ? order
             : pf_name_compare(dictionary, x->abbreviation, y->abbreviation);
}


/* Returns the name in a column, or `text` as a name if it is missing. */
static uint32_t name_or (const gmon_writer *self, const pf_batch *batch,
                         size_t column, size_t row, const char *text) {
  return pf_has_value(batch, column, row)
             ? batch->columns[column].ids[row]
             : pf_intern_text(self->dictionary, text);
}


static pf_status take_header (const gmon_writer *self, const pf_batch *batch,
                              size_t row, gmon_set *set, pf_error *error) {
  const pf_table *const table = &gmon_written[WRITTEN_SETS];
  const size_t bins =
      pf_has_value(batch, SETS_declared, row) ? SETS_declared : SETS_bins;
  const size_t read = pf_has_value(batch, SETS_bins, row) ? SETS_bins : bins;
  uint64_t rate = 0;
  pf_status status = take(batch, table, SETS_low, row, &set->low, error);
  if (status == PF_OK)
    status = take(batch, table, SETS_high, row, &set->high, error);
  if (status == PF_OK)
    status = take(batch, table, bins, row, &set->bins, error);
  if (status == PF_OK)
    status = take(batch, table, read, row, &set->read, error);
  if (status == PF_OK)
    status = take(batch, table, SETS_rate, row, &rate, error);
  if (status != PF_OK)
    return status;
  if (set->read > set->bins)
    set->read = set->bins;
  if (set->read > GMON_MAX_BINS)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a set of %llu bins: at most %d are written",
                   (unsigned long long)set->read, GMON_MAX_BINS);
  if (rate > UINT32_MAX)
    return pf_refuse(error,
                     "the rate of a set is %llu: at most %u can be written",
                     (unsigned long long)rate, UINT32_MAX);
  set->rate = (uint32_t)rate;
  set->dimension = name_or(self, batch, SETS_dimension, row, "seconds");
  set->abbreviation = name_or(self, batch, SETS_abbreviation, row, "s");
  if (set->dimension == PF_NO_NAME || set->abbreviation == PF_NO_NAME)
    return pf_no_memory(error);
  return PF_OK;
}


static pf_status put_set (gmon_writer *self, const pf_batch *batch, size_t row,
                          pf_error *error) {
  gmon_set header = {.low = 0};
  uint64_t id = self->nset_ids;
  pf_status status = take_header(self, batch, row, &header, error);
  if (status == PF_OK && pf_has_value(batch, SETS_set, row))
    status =
        take(batch, &gmon_written[WRITTEN_SETS], SETS_set, row, &id, error);
  if (status < 0)
    return status;
  /* An id may repeat, from another file, if the headers are equal. */
  pf_pair_count *const entry = pf_pair_counts_get(&self->set_ids, id, 0);
  if (entry == NULL)
    return pf_no_memory(error);
  if (entry->count != 0 &&
      memcmp(&self->sets.list[entry->count - 1], &header, HEADER_SIZE) != 0)
    return pf_refuse(error, "set %llu is given twice, with different headers",
                     (unsigned long long)id);
  const size_t set = get_set(&self->sets, &header, self->extended);
  if (set == SIZE_MAX)
    return pf_no_memory(error);
  self->nset_ids += entry->count == 0;
  entry->count = set + 1;
  return PF_OK;
}


/* Returns the set of a histogram row: that of its id, or the only set. Returns
   NULL with `error` filled if there is none. */
static gmon_set *find_set (gmon_writer *self, const pf_batch *batch, size_t row,
                           pf_error *error) {
  const uint32_t count = self->sets.known.count;
  if (!pf_has_value(batch, HISTOGRAM_SET, row) && count == 1)
    return self->sets.list;
  if (!pf_has_value(batch, HISTOGRAM_SET, row)) {
    (void)pf_refuse(error, "a row of histogram has no set, and there are %u",
                    count);
    return NULL;
  }
  const uint64_t id = batch->columns[HISTOGRAM_SET].addrs[row];
  const pf_pair_count *const entry = pf_pair_counts_get(&self->set_ids, id, 0);
  if (entry != NULL && entry->count != 0)
    return &self->sets.list[entry->count - 1];
  if (entry == NULL)
    (void)pf_no_memory(error);
  else
    (void)pf_refuse(error,
                    "a row of histogram belongs to set %lld, which has not "
                    "been given in table sets",
                    (long long)id);
  return NULL;
}


/* Find the bin of a row by its index or by its first address. */
static pf_status find_bin (const pf_batch *batch, size_t row,
                           const gmon_set *set, uint64_t *bin,
                           pf_error *error) {
  const pf_table *const table = &gmon_written[WRITTEN_HISTOGRAM];
  if (pf_has_value(batch, HISTOGRAM_BIN, row)) {
    const pf_status status = take(batch, table, HISTOGRAM_BIN, row, bin, error);
    if (status < 0 || *bin < set->read)
      return status;
    return pf_refuse(error, "a row of histogram has bin %llu of %llu",
                     (unsigned long long)*bin, (unsigned long long)set->read);
  }
  uint64_t low = 0;
  const pf_status status = take(batch, table, HISTOGRAM_LOW, row, &low, error);
  if (status < 0 || (gmon_bin_at(&set->scale, low, bin) && *bin < set->read))
    return status;
  return pf_refuse(error, "no bin of the set begins at 0x%llx",
                   (unsigned long long)low);
}


static pf_status put_bin (gmon_writer *self, const pf_batch *batch, size_t row,
                          pf_error *error) {
  uint64_t bin = 0, count = 0;
  const pf_status status = take(batch, &gmon_written[WRITTEN_HISTOGRAM],
                                HISTOGRAM_COUNT, row, &count, error);
  if (status != PF_OK)
    return status;
  gmon_set *const set = find_set(self, batch, row, error);
  if (set == NULL || find_bin(batch, row, set, &bin, error) != PF_OK)
    return error->status;
  return count == 0 ? PF_OK : add(&set->counts[bin], count, error);
}


/* Add the count of a row to the sum of its key, which is in column `a`, or in
   the columns `a` and `b` if these differ. */
static pf_status put_sum (pf_pair_counts *sums, const pf_batch *batch,
                          size_t row, size_t table, size_t a, size_t b,
                          size_t count, pf_error *error) {
  const pf_table *const from = &gmon_written[table];
  uint64_t keys[2] = {0, 0}, value = 0;
  pf_status status = take(batch, from, a, row, &keys[0], error);
  if (status == PF_OK && b != a)
    status = take(batch, from, b, row, &keys[1], error);
  if (status == PF_OK)
    status = take(batch, from, count, row, &value, error);
  if (status != PF_OK)
    return status;
  pf_pair_count *const sum = pf_pair_counts_get(sums, keys[0], keys[1]);
  return sum == NULL ? pf_no_memory(error) : add(&sum->count, value, error);
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  gmon_writer *const self = (gmon_writer *)encoder;
  pf_status status = PF_OK;
  (void)sink; /* everything is written at the end */
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    switch (table) {
      case WRITTEN_SETS: status = put_set(self, batch, row, error); break;
      case WRITTEN_HISTOGRAM: status = put_bin(self, batch, row, error); break;
      case WRITTEN_ARCS:
        status = put_sum(&self->arcs, batch, row, table, ARCS_from, ARCS_to,
                         ARCS_count, error);
        break;
      default:
        status = put_sum(&self->blocks, batch, row, table, BLOCKS_address,
                         BLOCKS_address, BLOCKS_count, error);
    }
  return status;
}


/* Completes the sets, sorts the sums of several inputs and writes the file.
   PF_ELIMIT, PF_EUNSUPPORTED, PF_ENOMEM, PF_EIO. */
static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  gmon_writer *const self = (gmon_writer *)encoder;
  for (size_t i = 0; i < self->sets.known.count; i++) {
    const pf_status status =
        finish_set(&self->sets.list[i], self->extended, error);
    if (status != PF_OK)
      return status;
  }
  if (self->is_sorted) {
    gmon_sets *const sets = &self->sets;
    gmon_set *const spare = pf_array(sets->known.count, sizeof *spare);
    if (spare == NULL)
      return pf_no_memory(error);
    pf_sort(sets->list, spare, sets->known.count, sizeof *spare, compare_sets,
            self->dictionary);
    free(spare);
    pf_pair_counts_sort(&self->arcs);
    pf_pair_counts_sort(&self->blocks);
  }
  self->sink = sink;
  return gmon_write(self, error);
}


static void close_writer (pf_encoder *encoder) {
  gmon_writer *const self = (gmon_writer *)encoder;
  for (size_t i = 0; i < self->sets.known.count; i++)
    free(self->sets.list[i].counts);
  free(self->sets.list);
  pf_intern_table_free(&self->sets.known);
  pf_pair_counts_close(&self->set_ids);
  pf_pair_counts_close(&self->arcs);
  pf_pair_counts_close(&self->blocks);
  free(self);
}


/* Read the options. The functions that read them expect a trace. */
static pf_status read_options (gmon_writer *self, const pf_option *options,
                               size_t noptions, pf_error *error) {
  const pf_trace asked = {.options = options, .noptions = noptions};
  pf_bytes dialect;
  if (gmon_width_option(&asked, "address_size", &self->width, error) != PF_OK)
    return error->status;
  if (self->width == 0)
    self->width = 8;
  self->is_wide = pf_option_int(&asked, "counter_bits", 0) == 64;
  self->big = pf_option_is(&asked, "byte_order", "big");
  self->is_sorted = pf_option_int(&asked, "inputs", 1) > 1;
  self->extended = pf_option_int(&asked, "extended_precision", 0) != 0;
  self->dialect =
      pf_option_is(&asked, "dialect", "4.4bsd") ? GMON_BSD44 : GMON_GNU;
  if (self->dialect == GMON_BSD44 ||
      !pf_option_text(&asked, "dialect", &dialect) ||
      pf_option_is(&asked, "dialect", "gnu") ||
      pf_option_is(&asked, "dialect", "auto"))
    return PF_OK;
  return pf_refuse(error,
                   "dialect gnu or 4.4bsd expected for writing, found %.*s",
                   PF_SHOWN(dialect, 32));
}


pf_status gmon_encoder (const pf_option *options, size_t noptions,
                        pf_dictionary *dictionary, pf_encoder **encoder,
                        pf_error *error) {
  gmon_writer *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->encoder =
      (pf_encoder){.put = put, .finish = finish, .close = close_writer};
  self->dictionary = dictionary;
  self->sets.known.seed = self->set_ids.known.seed = self->arcs.known.seed =
      self->blocks.known.seed = dictionary->seed;
  const pf_status status = read_options(self, options, noptions, error);
  return pf_encoder_opened(&self->encoder, status, encoder);
}
