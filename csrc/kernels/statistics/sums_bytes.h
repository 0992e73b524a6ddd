/*
** sums_bytes.h - the header and the numbers of packed sums (packed_sums.h).
** Private to sums_form.c, pack_sums.c and unpack_sums.c.
*/

#ifndef sums_bytes_h
#define sums_bytes_h

#include "kernels/statistics/packed_sums.h"
#include "model/dictionary/areas.h"

/* Append; if memory runs out, to->is_out_of_memory is set. */
void pf_put_bytes (pf_packed *to, const void *bytes, size_t size);
void pf_put_number (pf_packed *to, uint64_t value);
void pf_put_signed (pf_packed *to, int64_t value);

/* Append the header. */
void pf_sums_put_form (pf_packed *to, const pf_sums_form *form);

/* Bytes that are read. After the first failure, which `status` and the error
   describe, all numbers are 0. */
typedef struct pf_sums_input {
  pf_cursor cursor;
  pf_status status;
  pf_error *error; /* borrowed */
} pf_sums_input;

static inline pf_sums_input pf_sums_input_over (pf_bytes packed,
                                                pf_error *error) {
  return (pf_sums_input){pf_cursor_over(packed, false), PF_OK, error};
}

/* Set a failure at the position of the cursor, unless there is one already.
   PF_ENOMEM needs no text. */
void pf_sums_fail (pf_sums_input *from, pf_status status, const char *what);

/* Take a number that is at most `limit`, or any signed one. PF_ETRUNCATED,
   PF_EFORMAT. */
uint64_t pf_sums_take (pf_sums_input *from, uint64_t limit);
int64_t pf_sums_take_signed (pf_sums_input *from);

/* Take the header. PF_ETRUNCATED, PF_EFORMAT. */
void pf_sums_take_form (pf_sums_input *from, pf_sums_form *form);

#endif
