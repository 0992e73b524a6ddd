/*
** fast_int.h - fast path for integer fields of the common form: blanks,
** then up to eight digits at the end of the field. Used by fill.c.
**
** Call dbf_fast_int_open once per field, then dbf_fast_int_fill. Values of
** another form are left to dbf_parse_digits. Nothing is allocated; `out` has
** room for `count` numbers.
*/

#ifndef fast_int_h
#define fast_int_h

#include "formats/dbf/dbf.h"

/* How the last eight bytes of a field are loaded as one word. Shorter fields
   are extended by blanks. */
typedef struct dbf_fast_int {
  ptrdiff_t offset; /* of the word from the start of the field */
  unsigned shift;   /* left shift in bits */
  uint64_t mask, blanks;
  size_t prefix; /* bytes of the field before the word, which must be blank */
} dbf_fast_int;

/* Returns false if fields of this size and position need the general path.
   `record` is the size of a record. */
bool dbf_fast_int_open (dbf_fast_int *fast, const dbf_field *field,
                        size_t record);

/* Parse a field in up to `count` records of `stride` bytes; `at` is the field
   in the first record. Returns how many values were parsed before one of
   another form. */
size_t dbf_fast_int_fill (const dbf_fast_int *fast, const uint8_t *at,
                          size_t stride, size_t count, int64_t *out);

#endif
