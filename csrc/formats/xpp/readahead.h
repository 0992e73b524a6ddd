/*
** readahead.h - runs the fast path of entries in a second thread, some
** batches before the reader asks for them. At the first batch that the fast
** path cannot decode the thread stops, and stays idle while the reader uses the
** general path. The results are the same without the thread.
*/

#ifndef readahead_h
#define readahead_h

#include "formats/xpp/fast.h"

typedef struct xpp_readahead xpp_readahead;

/* Creates a read-ahead for `fast` (copied) and adds it to a list. `pipelined`:
   another thread already consumes the reader's batches (pf_batch), so start a
   thread only if there are three processors or more. NULL: out of memory. */
xpp_readahead *xpp_readahead_new (const xpp_fast *fast, bool pipelined,
                                  xpp_readahead **list);

/* Waits for the thread, then frees. NULL is allowed. */
void xpp_readahead_free (xpp_readahead *readahead);

/* The batch of entries from byte `at` of a source on, valid until the next
   call. NULL: the general path is needed; the thread is idle then. */
const xpp_fast_rows *xpp_readahead_next (xpp_readahead *readahead,
                                         pf_bytes bytes, uint64_t at);

/* Wait until the thread is idle; it does not continue by itself. The second
   function does so for all of a list and empties the list. */
void xpp_readahead_stop (xpp_readahead *readahead);
void xpp_readahead_stop_all (xpp_readahead **list);

#endif
