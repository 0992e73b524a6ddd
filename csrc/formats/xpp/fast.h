/*
** fast.h - the fast path of table entries: it decodes a full batch of
** records if none of them is deleted, every operation is valid, numbers have
** their usual form and all names are in the name caches. Most batches are so.
** For all other batches it returns false, and the general path (fill_rows.h,
** entries_xpp.c) decodes them.
*/

#ifndef fast_h
#define fast_h

#include "formats/dbf/fast_int.h"
#include "formats/xpp/name_cache.h"

/* A field of integers. */
typedef struct xpp_fast_field {
  bool is_wanted, has_digits; /* digits; else a little-endian int32 */
  uint32_t offset;
  dbf_fast_int whole;
} xpp_fast_field;

/* The fields to decode. */
typedef struct xpp_fast {
  size_t record, op_offset;
  xpp_fast_field thread, time, line;
  const xpp_name_cache *ops, *calls; /* NULL: not wanted */
} xpp_fast;

/* The columns of one batch, borrowed; unwanted ones are NULL. */
typedef struct xpp_fast_rows {
  int64_t *threads, *times, *lines;
  uint32_t *ops, *calls;
  bool is_same_thread; /* all rows belong to one thread */
  bool is_sorted;      /* no time is less than the one before */
} xpp_fast_rows;

/* Sets up the fast path; `wanted` is by column of table entries. Returns false
   if the types of the fields or the wanted columns do not allow it. */
bool xpp_fast_open (xpp_fast *fast, const xpp_file *file, const bool *wanted,
                    const xpp_name_cache *ops, const xpp_name_cache *calls);

/* Decodes PF_BATCH_ROWS records from byte `at` of a source on. Returns false if
   there are fewer or the general path is needed; the columns are undefined
   then. */
bool xpp_fast_decode (const xpp_fast *fast, pf_bytes bytes, uint64_t at,
                      xpp_fast_rows *rows);

#endif
