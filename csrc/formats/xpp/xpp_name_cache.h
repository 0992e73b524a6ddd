/*
** xpp_name_cache.h - texts of records as names. A name stands in many records: its
** bytes are looked up among those met before, and decoded when they are new.
*/

#ifndef xpp_name_cache_h
#define xpp_name_cache_h

#include "formats/xpp/xpp_rows.h"

/* Where the bytes of a field that is shorter than a word are loaded from. */
typedef enum xpp_load {
  XPP_LOAD_WORDS,     /* it is not shorter */
  XPP_LOAD_FOLLOWING, /* with bytes of its record that follow */
  XPP_LOAD_PRECEDING  /* with bytes that stand before it */
} xpp_load;

typedef struct xpp_name_cache {
  const dbf_field *field; /* NULL: its bytes alone do not tell the name */
  bool has_filled;        /* some new name filled its field */
  xpp_load load;
  size_t words;    /* of 8 bytes, that the field is compared by */
  size_t mask;     /* places are mask + 1, a power of two */
  uint64_t *slots; /* places of words + 1: the bytes, and the name + 1; 0: it is
                      free */
  uint32_t of_byte[256]; /* of a field of one byte: the name + 1, or 0 */
} xpp_name_cache;

/* Ready for a field of the trace. PF_OK or PF_ENOMEM. */
pf_status xpp_name_cache_open (xpp_name_cache *cache, const xpp_file *file,
                               size_t field);
void xpp_name_cache_close (xpp_name_cache *cache);

/*
** The names of a field, the first of which is at `at`, in records of `stride`
** bytes, as long as they have been met before and are not missing; how many, at
** most `count`. It looks and changes nothing.
*/
size_t xpp_name_cache_find (const xpp_name_cache *cache, const uint8_t *at,
                            size_t stride, size_t count, uint32_t *names);

/* Set a column of names from all rows of the batch. */
pf_status xpp_name_cache_fill (xpp_name_cache *cache, xpp_rows *rows,
                               pf_column *column, pf_error *error);

#endif
