/*
** fuzz_counts.c - packed counts from any bytes: counts that can be read come
** back when they are packed and read again, and no part of the bytes is
** complete.
*/

#include "fuzz.h"
#include "model/base/pair_counts.h"


/* Read counts; the caller closes them. */
static pf_status read_all (pf_bytes bytes, pf_pair_counts *counts) {
  pf_error error = {.status = PF_OK};
  *counts = (pf_pair_counts){.list = NULL};
  const pf_status status = pf_pair_counts_unpack(counts, bytes, 0, &error);
  MUST(status == PF_OK ||
       (status < 0 && error.status == status && error.what[0] != '\0'));
  MUST(counts->known.count <= bytes.size / 2);
  return status;
}


static void check_again (pf_pair_counts *counts) {
  pf_pair_counts again;
  pf_packed packed = {.at = NULL};
  pf_pair_counts_sort(counts);
  pf_pair_counts_pack(counts, &packed);
  MUST(!packed.is_out_of_memory);
  MUST(read_all((pf_bytes){packed.at, packed.used}, &again) == PF_OK);
  MUST(again.known.count == counts->known.count);
  for (uint32_t i = 0; i < again.known.count; i++)
    MUST(memcmp(&again.list[i], &counts->list[i], sizeof *again.list) == 0);
  pf_pair_counts_close(&again);
  free(packed.at);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  pf_pair_counts counts, part;
  if (read_all((pf_bytes){data, size}, &counts) == PF_OK) {
    for (size_t cut = 1; cut <= 40 && cut <= size; cut++) {
      MUST(read_all((pf_bytes){data, size - cut}, &part) != PF_OK);
      pf_pair_counts_close(&part);
    }
    check_again(&counts);
  }
  pf_pair_counts_close(&counts);
  return 0;
}
