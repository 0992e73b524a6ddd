/*
** dbf_fast_int.h - the usual numbers of digits, many at a time: blanks, then up to
** eight digits and nothing else, in the last bytes of a field.
*/

#ifndef dbf_fast_int_h
#define dbf_fast_int_h

#include "formats/dbf/dbf.h"

/* How the last eight bytes of a field are loaded as one word; of a shorter
   field blanks stand before it. */
typedef struct dbf_fast_int {
  ptrdiff_t offset; /* of the word, from the field on */
  unsigned shift;   /* bits to be shifted to the higher bytes */
  uint64_t mask, blanks;
  size_t prefix; /* bytes of the field before the word: they are to be blank */
} dbf_fast_int;

/* False: fields that stand so have to be looked at byte by byte. */
bool dbf_fast_int_open (dbf_fast_int *fast, const dbf_field *field,
                        size_t record);

/* The numbers of a field, the first of which is at `at`, in records of `stride`
   bytes, as long as they are usual; how many there are, at most `count`. */
size_t dbf_fast_int_fill (const dbf_fast_int *fast, const uint8_t *at,
                          size_t stride, size_t count, int64_t *out);

#endif
