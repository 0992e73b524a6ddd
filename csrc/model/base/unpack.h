/*
** unpack.h - reads packed data (pack.h) from outside: varints and texts, each
** checked.
** After the first failure, which `status` and the error describe, all numbers
** are 0 and all texts are empty, so that a parser checks the status only where
** it loops or allocates, and at its end. Nothing is allocated; texts point into
** the bytes.
*/

#ifndef unpack_h
#define unpack_h

#include "bytes/cursor.h"

typedef struct pf_unpack {
  pf_cursor cursor;
  const char *what; /* "packed sums", for messages */
  pf_error *error;  /* borrowed, as the bytes */
  pf_status status;
} pf_unpack;

static inline pf_unpack pf_unpack_over (pf_bytes packed, const char *what,
                                        pf_error *error) {
  return (pf_unpack){pf_cursor_over(packed, false), what, error, PF_OK};
}

/* Set a failure at the position of the cursor, unless there is one already.
   `why` is not used for PF_ENOMEM. */
void pf_unpack_fail (pf_unpack *from, pf_status status, const char *why);

/* Fail with PF_EFORMAT unless a condition holds. */
static inline void pf_unpack_check (pf_unpack *from, bool holds,
                                    const char *why) {
  if (!holds)
    pf_unpack_fail(from, PF_EFORMAT, why);
}

/* Fail with PF_ENOMEM unless memory was available. */
static inline void pf_unpack_need (pf_unpack *from, bool has_memory) {
  if (!has_memory)
    pf_unpack_fail(from, PF_ENOMEM, NULL);
}

/* Take a number that is at most `limit`, or any signed one. PF_ETRUNCATED,
   PF_EFORMAT. */
uint64_t pf_unpack_number (pf_unpack *from, uint64_t limit);
int64_t pf_unpack_signed (pf_unpack *from);

/* Take the length of a list, whose elements have at least `size` bytes each.
   PF_ETRUNCATED, PF_EFORMAT. */
size_t pf_unpack_length (pf_unpack *from, size_t size);

/* Take this many bytes. PF_ETRUNCATED. */
pf_bytes pf_unpack_bytes (pf_unpack *from, uint64_t size);

/* Take a size, at most `limit`, and as many bytes. PF_ETRUNCATED,
   PF_EFORMAT. */
pf_bytes pf_unpack_text (pf_unpack *from, uint64_t limit);

/* Take the line that all packed data of a kind begin with. Called first.
   PF_EFORMAT. */
void pf_unpack_magic (pf_unpack *from, const char *magic);

#endif
