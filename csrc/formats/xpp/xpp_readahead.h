/*
** xpp_readahead.h - plain entries, decoded by a second thread before they are asked
** for. It goes on from batch to batch while they are plain, some of them ahead
** of who reads; at one that is not it stops, and nothing runs while the reader
** takes that one the long way. So what comes out is the same without it.
*/

#ifndef xpp_readahead_h
#define xpp_readahead_h

#include "formats/xpp/xpp_fast.h"

typedef struct xpp_readahead xpp_readahead;

/* Ready for entries that `plain` (copied) describes, as one of a list; NULL when
   out of memory. Where what is asked for is relayed (pf_batch), there is a
   thread only if there is a third processor for it. */
xpp_readahead *xpp_readahead_new (const xpp_fast *plain, bool relayed,
                                  xpp_readahead **list);

/* Also while its thread runs: that is waited for. NULL is fine. */
void xpp_readahead_free (xpp_readahead *readahead);

/* The batch of plain entries from byte `at` of a source on, until the next
   call; NULL when they are not plain. Nothing runs then. */
const xpp_fast_rows *xpp_readahead_next (xpp_readahead *readahead,
                                         pf_bytes bytes, uint64_t at);

/* Nothing runs from now on; those of the list are in none any more. */
void xpp_readahead_stop (xpp_readahead *readahead);
void xpp_readahead_stop_all (xpp_readahead **list);

#endif
