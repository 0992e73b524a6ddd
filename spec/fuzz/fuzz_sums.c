/*
** fuzz_sums.c - random bytes as packed sums: they are damaged, or packing what
** was read gives bytes that do not change when they are packed again; adding
** them to themselves gives the same in whatever order; and their statistics can
** be read.
*/

#include "fuzz.h"
#include "kernels/statistics/statistics.h"

#define LARGEST 65536 /* bytes of an input */


/* The sum of packed sums as packed sums; the caller frees it. Ends the program
   when out of memory. */
static pf_status add_up (const pf_bytes *packs, size_t count, pf_packed *sum) {
  pf_dictionary *const dictionary = pf_dictionary_new();
  pf_error error = {.status = PF_OK};
  pf_sums_form form;
  pf_sums sums;
  pf_scan scan;
  MUST(dictionary != NULL);
  memset(&scan, 0, sizeof scan);
  pf_status status = pf_sums_form_of(packs[0], &form, &error);
  if (status == PF_OK) {
    const pf_scan_options options = {form.calls, form.by, pf_sums_aggregates};
    status = pf_sums_open(&sums, &scan, &form, &options, dictionary, &error);
  }
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = pf_sums_add(&sums, packs[i], &error);
  MUST(status == PF_OK || (status == error.status && error.what[0] != '\0'));
  if (status == PF_OK)
    MUST(pf_sums_pack(&scan, &form, sum) == PF_OK);
  pf_scan_close(&scan);
  pf_dictionary_free(dictionary);
  return status;
}


static bool is_same (const pf_packed *one, const pf_packed *other) {
  return one->used == other->used && memcmp(one->at, other->at, one->used) == 0;
}


/* Read all rows of the statistics. */
static void read_rows (const pf_packed *packed, pf_group_by by) {
  const pf_bytes bytes = {packed->at, packed->used};
  pf_dictionary *const dictionary = pf_dictionary_new();
  pf_error error = {.status = PF_OK};
  pf_sums_form form;
  pf_batch batch;
  pf_reader *reader;
  MUST(pf_sums_form_of(bytes, &form, &error) == PF_OK);
  const pf_statistics_options options = {
      .calls = form.calls,
      .by = by,
      .ranks = {0, PF_RANK_SCALE / 2, PF_RANK_SCALE},
      .rank_names = {"p0", "p50", "p100"},
      .nranks = 3,
      .without_end = form.without_end};
  const bool fits = (by == PF_BY_CALLER) == (form.by == PF_BY_CALLER);
  const pf_status status =
      pf_statistics_of_sums(bytes, dictionary, &options, &reader, &error);
  MUST(status ==
       (fits || form.calls.max_depth == 0 ? status : PF_EUNSUPPORTED));
  if (status == PF_OK) {
    MUST(pf_batch_open(&batch, reader->fields, reader->nfields, NULL) == PF_OK);
    while (reader->next(reader, &batch, &error) == PF_MORE)
      MUST(batch.rows > 0);
    pf_batch_close(&batch);
    reader->close(reader);
  }
  pf_dictionary_free(dictionary);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const pf_bytes input = {data, size};
  pf_packed first = {0}, second = {0}, left = {0}, right = {0};
  if (size > LARGEST)
    return 0;
  if (add_up(&input, 1, &first) == PF_OK) {
    const pf_bytes packed = {first.at, first.used};
    MUST(add_up(&packed, 1, &second) == PF_OK);
    MUST(is_same(&first, &second));
    for (int by = PF_BY_AREA; by <= PF_BY_CALLER; by++)
      read_rows(&first, (pf_group_by)by);
    const pf_bytes two[] = {input, packed}, swapped[] = {packed, input};
    const pf_status status = add_up(two, 2, &left);
    MUST(add_up(swapped, 2, &right) == status);
    MUST(status != PF_OK || is_same(&left, &right));
  }
  free(first.at);
  free(second.at);
  free(left.at);
  free(right.at);
  return 0;
}
