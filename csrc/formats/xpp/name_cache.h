/*
** name_cache.h - the name cache of a text field of a table: a hash table
** from the bytes of the field in a record to the id of its name in the
** dictionary. A name occurs in many records; only the first of them is decoded.
**
** Used by entries_xpp.c. xpp_name_cache_close frees the table; the field is
** borrowed from the xpp_file.
*/

#ifndef name_cache_h
#define name_cache_h

#include "formats/xpp/parser/fill_rows.h"

typedef struct xpp_name_cache {
  const dbf_field *field; /* NULL: the cache cannot be used for this field */
  bool has_filled;        /* a name filled its field: it may be cut; set also
                             where the cache is not used */
  size_t words;           /* length of the key in words of 8 bytes */
  uint64_t *slots; /* owned; each is `words` of key, then id + 1, or 0: free */
} xpp_name_cache;

/* Prepares the cache for a field of the trace (an index, or XPP_NO_FIELD). Sets
   cache->field to NULL if the trace is text, if equal bytes do not always mean
   the same name, or if the field has 2 to 7 or more than 248 bytes. PF_OK or
   PF_ENOMEM. */
pf_status xpp_name_cache_open (xpp_name_cache *cache, const xpp_file *file,
                               size_t field);
void xpp_name_cache_close (xpp_name_cache *cache);

/* Whether the name in a record, `name` in UTF-8, fills its field of text. In
   another code page it may have fewer bytes than in UTF-8. */
static inline bool xpp_name_fills (const dbf_field *field,
                                   const uint8_t *record, pf_bytes name) {
  const pf_bytes bytes = {record + field->offset, field->size};
  return name.size >= field->size && xpp_trim(bytes).size == field->size;
}

/* Fills a column of names for all rows of the batch, and adds new names to the
   cache and the dictionary. PF_OK or a failure. */
pf_status xpp_name_cache_fill (xpp_name_cache *cache, xpp_rows *rows,
                               pf_column *column, pf_error *error);

#endif
