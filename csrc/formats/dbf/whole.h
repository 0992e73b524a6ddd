/*
** whole.h - the usual numbers of digits, many at a time: blanks, then up to
** eight digits and nothing else, in the last bytes of a field.
*/

#ifndef dbf_whole_h
#define dbf_whole_h

#include "formats/dbf/dbf.h"

/* How the last eight bytes of a field are loaded as one word; of a shorter
   field blanks stand before it. */
typedef struct dbf_whole {
  ptrdiff_t at; /* of the word, from the field on */
  unsigned up;  /* bits to be shifted to the higher bytes */
  uint64_t keep, fill;
  size_t front; /* bytes of the field before the word: they are to be blank */
} dbf_whole;

/* False: fields that stand so have to be looked at byte by byte. */
bool dbf_whole_open (dbf_whole *whole, const dbf_field *field, size_t record);

/* The numbers of a field, the first of which is at `at`, in records of `stride`
   bytes, as long as they are usual; how many there are, at most `count`. */
size_t dbf_whole_fill (const dbf_whole *whole, const uint8_t *at, size_t stride,
                       size_t count, int64_t *out);

#endif
