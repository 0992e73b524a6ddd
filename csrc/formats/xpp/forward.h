/*
** forward.h - plain entries, decoded by a second thread before they are asked
** for. It goes on from batch to batch while they are plain, some of them ahead
** of who reads; at one that is not it stops, and nothing runs while the reader
** takes that one the long way. So what comes out is the same without it.
*/

#ifndef xpp_forward_h
#define xpp_forward_h

#include "formats/xpp/plain.h"

typedef struct xpp_forward xpp_forward;

/* Ready for entries that `plain` (copied) describes, as one of a list; NULL when
   out of memory. Where what is asked for is relayed (pf_batch), there is a
   thread only if there is a third processor for it. */
xpp_forward *xpp_forward_new (const xpp_plain *plain, bool relayed,
                              xpp_forward **list);

/* Also while its thread runs: that is waited for. NULL is fine. */
void xpp_forward_free (xpp_forward *forward);

/* The batch of plain entries from byte `at` of a source on, until the next
   call; NULL when they are not plain. Nothing runs then. */
const xpp_plain_rows *xpp_forward_next (xpp_forward *forward, pf_bytes bytes,
                                        uint64_t at);

/* Nothing runs from now on; those of the list are in none any more. */
void xpp_forward_stop (xpp_forward *forward);
void xpp_forward_stop_all (xpp_forward **list);

#endif
