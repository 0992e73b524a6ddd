/*
** sums_bytes.h - the header and the numbers of packed sums (packed_sums.h).
** Private to sums_form.c, pack_sums.c and unpack_sums.c.
*/

#ifndef sums_bytes_h
#define sums_bytes_h

#include "kernels/statistics/packed_sums.h"
#include "model/base/unpack.h"
#include "model/dictionary/areas.h"

/* Append; if memory runs out, to->is_out_of_memory is set. */
void pf_put_bytes (pf_packed *to, const void *bytes, size_t size);
void pf_put_number (pf_packed *to, uint64_t value);
void pf_put_signed (pf_packed *to, int64_t value);

/* Begin to read. */
static inline pf_unpack pf_sums_input (pf_bytes packed, pf_error *error) {
  return pf_unpack_over(packed, "packed sums", error);
}

/* Append the header. */
void pf_sums_put_form (pf_packed *to, const pf_sums_form *form);

/* Take the header. PF_ETRUNCATED, PF_EFORMAT. */
void pf_sums_take_form (pf_unpack *from, pf_sums_form *form);

#endif
