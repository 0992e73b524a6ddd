/*
** name_cache.h - the name cache of a text field of a table: a hash table
** from the bytes of the field in a record to the id of its name in the
** dictionary. A name occurs in many records; only the first of them is decoded.
*/

#ifndef name_cache_h
#define name_cache_h

#include "formats/xpp/parser/fill_rows.h"

/* The load of a field of less than 8 bytes as one word. */
typedef enum xpp_load {
  XPP_LOAD_WORDS,     /* the field has 8 bytes or more */
  XPP_LOAD_FOLLOWING, /* together with the bytes that follow in its record */
  XPP_LOAD_PRECEDING  /* together with the bytes before it */
} xpp_load;

typedef struct xpp_name_cache {
  const dbf_field *field; /* NULL: the cache cannot be used for this field */
  bool has_filled;        /* a name filled its whole field, so it may be cut */
  xpp_load load;
  size_t words;    /* length of the key in words of 8 bytes; 0: one byte */
  size_t mask;     /* number of slots - 1; slots are a power of two */
  uint64_t *slots; /* owned; each is `words` of key, then id + 1, or 0: free */
  uint32_t of_byte[256]; /* fields of one byte: id + 1, or 0 */
} xpp_name_cache;

/* Prepares the cache for a field of the trace (an index, or XPP_NO_FIELD). Sets
   cache->field to NULL if equal bytes do not always mean the same name. PF_OK
   or PF_ENOMEM. */
pf_status xpp_name_cache_open (xpp_name_cache *cache, const xpp_file *file,
                               size_t field);
void xpp_name_cache_close (xpp_name_cache *cache);

/*
** Looks up the names of consecutive records of `stride` bytes; `at` is the
** field in the first one. Stops at the first name that is missing or not in the
** cache. Returns the number of ids stored in `names`, at most `count`.
*/
size_t xpp_name_cache_find (const xpp_name_cache *cache, const uint8_t *at,
                            size_t stride, size_t count, uint32_t *names);

/* Fills a column of names for all rows of the batch, and adds new names to the
   cache and the dictionary. PF_OK or a failure. */
pf_status xpp_name_cache_fill (xpp_name_cache *cache, xpp_rows *rows,
                               pf_column *column, pf_error *error);

#endif
