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

/* Fail with PF_EFORMAT at the position of the cursor. */
pf_status pf_sums_damaged (const pf_cursor *in, const char *what,
                           pf_error *error);

/* Take a number that is at most `limit`, or any signed one. PF_ETRUNCATED,
   PF_EFORMAT. */
pf_status pf_sums_take (pf_cursor *in, uint64_t limit, uint64_t *value,
                        pf_error *error);
pf_status pf_sums_take_signed (pf_cursor *in, int64_t *value, pf_error *error);

/* Take the header. PF_ETRUNCATED, PF_EFORMAT. */
pf_status pf_sums_take_form (pf_cursor *in, pf_sums_form *form,
                             pf_error *error);

#endif
