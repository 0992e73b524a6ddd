/*
** write_gmon.c - the encoder, step 2: writes the sums as GNU version 1 (layout
** in gnu.c) or 4.4BSD (bsd.c).
**
** All checks precede the first byte. Counts that are too large for a field are
** continued in further records, which every reader adds up. encode_gmon.c calls
** gmon_write and keeps the sums. Nothing is allocated.
*/

#include "bytes/sink.h"
#include "formats/gmon/gmon.h"
#include "model/dictionary/names.h"

/* Write a number. The sink keeps its first failure, which is checked later. */
static void put_number (const gmon_writer *self, unsigned width,
                        uint64_t value) {
  (void)pf_sink_uint(self->sink, width, self->big, value);
}


static void put_address (const gmon_writer *self, uint64_t address) {
  put_number(self, self->width, address);
}


static uint64_t largest (const gmon_set *set) {
  uint64_t maximum = 0;
  for (uint64_t i = 0; i < set->bins; i++)
    if (set->counts[i] > maximum)
      maximum = set->counts[i];
  return maximum;
}


/* Returns how many records a count takes if each holds at most `maximum`. */
static uint64_t records_for (uint64_t count, uint64_t maximum) {
  return count == 0 ? 1 : (count - 1) / maximum + 1;
}


static pf_status check_address (const gmon_writer *self, uint64_t address,
                                pf_error *error) {
  if (self->width == 8 || address <= UINT32_MAX)
    return PF_OK;
  return pf_refuse(error,
                   "address 0x%llx does not fit 4 bytes: pass address_size = 8",
                   (unsigned long long)address);
}


/* Add the bytes of the additional records of a count, each of `size` bytes, to
   *repeats. This limits the size of the file, which must not grow with a number
   that the input states. */
static pf_status add_repeats (uint64_t count, uint64_t maximum, uint64_t size,
                              uint64_t *repeats, pf_error *error) {
  const uint64_t more = records_for(count, maximum) - 1;
  if (more <= (GMON_MAX_REPEATS - *repeats) / size) {
    *repeats += more * size;
    return PF_OK;
  }
  return pf_refuse(error,
                   "a count of %llu: large counts would repeat more than %d "
                   "MiB of records; dialect = \"4.4bsd\" can hold them, or "
                   "counter_bits = 64, which only profio reads",
                   (unsigned long long)count, GMON_MAX_REPEATS >> 20);
}


/* Check addresses and counts of arcs or blocks. */
static pf_status check_sums (const gmon_writer *self,
                             const pf_pair_counts *sums, uint64_t maximum,
                             uint64_t *repeats, pf_error *error) {
  const uint64_t size = 2 * self->width + 5; /* maximum bytes of a record */
  for (size_t i = 0; i < sums->known.count; i++) {
    const pf_pair_count *const sum = &sums->list[i];
    pf_status status = check_address(self, sum->a, error);
    if (status == PF_OK)
      status = check_address(self, sum->b, error);
    if (status == PF_OK)
      status = add_repeats(sum->count, maximum, size, repeats, error);
    if (status < 0)
      return status;
  }
  return PF_OK;
}


/* Check a header: the dimension has at most 15 bytes, the abbreviation at most
   one, both without NUL. */
static pf_status check_set (const gmon_writer *self, const gmon_set *set,
                            pf_error *error) {
  const pf_bytes dimension = pf_name(self->dictionary, set->dimension);
  const pf_bytes letter = pf_name(self->dictionary, set->abbreviation);
  pf_status status = check_address(self, set->low, error);
  if (status == PF_OK)
    status = check_address(self, set->high, error);
  if (status != PF_OK)
    return status;
  if (dimension.size > GMON_DIMENSION || letter.size > 1 ||
      memchr(dimension.at, 0, dimension.size) != NULL ||
      memchr(letter.at, 0, letter.size) != NULL)
    return pf_refuse(error,
                     "a dimension of at most %d bytes and an abbreviation of "
                     "one expected",
                     GMON_DIMENSION);
  return PF_OK;
}


/* Returns the maximum count of a bin in one record of a GNU file. */
static uint64_t max_bin (const gmon_writer *self) {
  return self->is_wide ? INT64_MAX : UINT16_MAX;
}


/* Whether a text is one or more printable bytes of ASCII. */
static bool is_printable (pf_bytes text) {
  for (size_t i = 0; i < text.size; i++)
    if (text.at[i] < 0x20 || text.at[i] >= 0x7f)
      return false;
  return text.size > 0;
}


/* Refuse a header that is damage when a GNU file is read (gnu.c). Wide counters
   are excepted: stores add up the histograms of damaged files in this form. */
static pf_status check_gnu_set (const gmon_writer *self, const gmon_set *set,
                                pf_error *error) {
  const pf_dictionary *const d = self->dictionary;
  if (self->is_wide || (set->rate < GMON_RATE_LIMIT &&
                        is_printable(pf_name(d, set->dimension)) &&
                        is_printable(pf_name(d, set->abbreviation))))
    return PF_OK;
  return pf_refuse(error,
                   "a printable dimension and abbreviation and a rate below "
                   "2^29 expected for a GNU file, found rate %u",
                   (unsigned)set->rate);
}


static pf_status check_gnu (const gmon_writer *self, uint64_t *repeats,
                            pf_error *error) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < self->sets.known.count && status == PF_OK; i++) {
    const gmon_set *const set = &self->sets.list[i];
    status = check_set(self, set, error);
    if (status == PF_OK)
      status = check_gnu_set(self, set, error);
    if (status == PF_OK)
      status = add_repeats(largest(set), max_bin(self), 2 * set->bins + 64,
                           repeats, error);
  }
  return status;
}


/* Returns the bytes of a bin in a 4.4BSD file: 2, or 4 and 8 as in FreeBSD. */
static unsigned counter_for (const gmon_set *set) {
  const uint64_t maximum = largest(set);
  return maximum <= UINT16_MAX ? 2 : maximum <= UINT32_MAX ? 4 : 8;
}


static pf_status check_bsd (const gmon_writer *self, pf_error *error) {
  if (self->sets.known.count != 1)
    return pf_refuse(error, "a 4.4BSD file holds one histogram, here are %u",
                     self->sets.known.count);
  if (self->blocks.known.count > 0)
    return pf_refuse(error, "a 4.4BSD file holds no basic blocks, here are %u",
                     self->blocks.known.count);
  const gmon_set *const set = self->sets.list;
  if (set->dimension !=
          pf_find_name(self->dictionary, pf_bytes_of("seconds")) ||
      set->abbreviation != pf_find_name(self->dictionary, pf_bytes_of("s")))
    return pf_refuse(error, "a 4.4BSD file can only count seconds");
  if (set->bins * counter_for(set) > UINT32_MAX - 64)
    return pf_refuse(error, "%llu bins are too many for a 4.4BSD file",
                     (unsigned long long)set->bins);
  return check_set(self, set, error);
}


/* Write the bins of one record: the part of each count above `passed`, limited
   to `width` bytes. Buffered, because a call for each bin costs more. */
static void put_bins (const gmon_writer *self, const gmon_set *set,
                      unsigned width, uint64_t passed) {
  uint8_t packed[4096];
  size_t used = 0;
  const uint64_t maximum =
      width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
  for (uint64_t i = 0; i < set->bins; i++) {
    const uint64_t count = set->counts[i];
    const uint64_t left = count > passed ? count - passed : 0;
    pf_save(packed + used, width, self->big, left < maximum ? left : maximum);
    used += width;
    if (used < sizeof packed && i + 1 < set->bins)
      continue;
    (void)pf_sink_put(self->sink, packed, used);
    used = 0;
  }
}


static void put_gnu_set (const gmon_writer *self, const gmon_set *set) {
  const pf_dictionary *const dictionary = self->dictionary;
  const pf_bytes dimension = pf_name(dictionary, set->dimension);
  const pf_bytes letter = pf_name(dictionary, set->abbreviation);
  const uint64_t records = records_for(largest(set), max_bin(self));
  for (uint64_t i = 0; i < records; i++) {
    put_number(self, 1, 0);
    put_address(self, set->low);
    put_address(self, set->high);
    put_number(self, 4, set->bins);
    put_number(self, 4, set->rate);
    (void)pf_sink_put(self->sink, dimension.at, dimension.size);
    (void)pf_sink_fill(self->sink, 0, GMON_DIMENSION - dimension.size);
    put_number(self, 1, letter.size > 0 ? letter.at[0] : 0);
    put_bins(self, set, self->is_wide ? 8 : 2, i * max_bin(self));
  }
}


/* Write arcs or blocks, each in as many records as its count takes. */
static void put_sums (const gmon_writer *self, const pf_pair_counts *sums,
                      bool is_arc, uint64_t maximum) {
  const bool is_gnu = self->dialect == GMON_GNU;
  const bool is_narrow = is_arc && is_gnu && !self->is_wide;
  for (size_t i = 0; i < sums->known.count; i++) {
    uint64_t left = sums->list[i].count;
    do {
      const uint64_t count = left < maximum ? left : maximum;
      if (is_arc && is_gnu)
        put_number(self, 1, 1);
      put_address(self, sums->list[i].a);
      if (is_arc)
        put_address(self, sums->list[i].b);
      put_number(self,
                 is_narrow          ? 4
                 : is_arc && is_gnu ? 8
                                    : self->width,
                 count);
      left -= count;
    } while (left > 0);
  }
}


/* Write all blocks in one record; gprof reads their number in 4 bytes. */
static void put_blocks (const gmon_writer *self, uint64_t maximum) {
  const pf_pair_counts *const blocks = &self->blocks;
  uint64_t number = 0;
  for (size_t i = 0; i < blocks->known.count; i++)
    number += records_for(blocks->list[i].count, maximum);
  if (number == 0)
    return;
  put_number(self, 1, 2);
  put_number(self, 4, number);
  put_sums(self, blocks, false, maximum);
}


pf_status gmon_write (const gmon_writer *self, pf_error *error) {
  const bool is_gnu = self->dialect == GMON_GNU;
  /* the maximum counts of one record */
  const uint64_t max_block = self->width == 8 ? INT64_MAX : UINT32_MAX;
  const uint64_t max_arc = !is_gnu         ? max_block
                           : self->is_wide ? INT64_MAX
                                           : UINT32_MAX;
  uint64_t repeats = 0;
  pf_status status =
      is_gnu ? check_gnu(self, &repeats, error) : check_bsd(self, error);
  if (status == PF_OK)
    status = check_sums(self, &self->arcs, max_arc, &repeats, error);
  if (status == PF_OK)
    status = check_sums(self, &self->blocks, max_block, &repeats, error);
  if (status < 0)
    return status;
  if (is_gnu) {
    (void)pf_sink_put(self->sink, "gmon", 4);
    put_number(self, 4, 1);
    (void)pf_sink_fill(self->sink, 0, 12);
    for (size_t i = 0; i < self->sets.known.count; i++)
      put_gnu_set(self, &self->sets.list[i]);
    put_sums(self, &self->arcs, true, max_arc);
    put_blocks(self, max_block);
  }
  else {
    const gmon_set *const set = self->sets.list;
    const unsigned counter = counter_for(set);
    const unsigned header = 2 * self->width + 24;
    put_address(self, set->low);
    put_address(self, set->high);
    put_number(self, 4, header + set->bins * counter);
    put_number(self, 4, GMON_SIGNATURE);
    put_number(self, 4, set->rate);
    put_number(self, 4, counter == 2 ? 0 : 8 * counter);
    put_number(self, 8, 0);
    put_bins(self, set, counter, 0);
    put_sums(self, &self->arcs, true, max_arc);
  }
  return pf_sink_flush(self->sink, error);
}
