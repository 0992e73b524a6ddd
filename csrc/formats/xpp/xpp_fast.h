/*
** xpp_fast.h - entries of which there is nothing to be said: whole live records
** with letters, usual numbers and names that have been met. Most batches are
** so. To decode them touches neither the trace nor its dictionary, so a second
** thread may do it; of all others it answers that they are none, and the
** readers of every case take them.
*/

#ifndef xpp_fast_h
#define xpp_fast_h

#include "formats/dbf/whole.h"
#include "formats/xpp/xpp_name_cache.h"

/* A field of numbers. */
typedef struct xpp_fast_field {
  bool is_wanted, has_digits; /* else it is an int32, little-endian */
  uint32_t offset;
  dbf_whole whole;
} xpp_fast_field;

/* How they are decoded. */
typedef struct xpp_fast {
  size_t record, op_offset;
  xpp_fast_field thread, time, line;
  const xpp_name_cache *ops, *calls; /* NULL: nobody wants them */
} xpp_fast;

/* A batch of them: columns of table entries, and what they came to. Those that
   nobody wants have no memory. */
typedef struct xpp_fast_rows {
  int64_t *threads, *times, *lines;
  uint32_t *ops, *calls;
  bool is_same_thread; /* all rows are of one thread */
  bool is_sorted;      /* no time is less than the one before */
} xpp_fast_rows;

/* Which columns are wanted, by the numbers of table entries. False: the fields
   of the trace are not such that there are plain entries. */
bool xpp_fast_open (xpp_fast *plain, const xpp_file *file, const bool *wanted,
                    const xpp_name_cache *ops, const xpp_name_cache *calls);

/* PF_OK or PF_ENOMEM; close it also after that. */
pf_status xpp_fast_rows_open (xpp_fast_rows *rows, const xpp_fast *plain);
void xpp_fast_rows_close (xpp_fast_rows *rows);

/* Decode PF_BATCH_ROWS records from byte `at` of a source on. False: they are
   not plain, or fewer; the rows have no meaning then. */
bool xpp_fast_decode (const xpp_fast *plain, pf_bytes bytes, uint64_t at,
                      xpp_fast_rows *rows);

#endif
