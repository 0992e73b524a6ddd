/*
** explain.h - sums that tell why the slow calls of an area are slow. Used by
** csrc/lua/stages/event_stages.c; lua/profio/internal/explain/ computes the
** parts from the rows and writes sentences. The reader owns its memory and
** borrows the events until it is closed.
**
** The calls are those of call.h of all functions with the name asked for,
** without those that are within another one of them, and without those that
** were not recorded from enter to leave. Their duration is stop - start. They
** are ranked by duration, rounded down to its 12 highest bits, then by their
** order of stop. Of `all` calls
**
**   slow     are the last n ranks, n = all - nearest rank of the quantile, but
**            at least 5, then at most a third of all, then at least 1
**   typical  are the n ranks from (all - n) / 2 on: around the median
**   first    are those slow calls that are the first of their lane, if the
**            lane has others and all of these are shorter; `slow` is without
**            them
**   median   is the call of rank (all - 1) / 2
**   worst    is the first call with the maximum duration
**
** So `typical` has as many calls as `slow` and `first` together, and
** differences of their sums are whole ns.
*/

#ifndef explain_h
#define explain_h

#include "kernels/calls/call.h"

typedef struct pf_explain_options {
  pf_call_options calls;
  const char *area;      /* name of the functions; interned at opening */
  uint32_t rank;         /* of the quantile, kernels/group/quantile.h */
  const uint64_t *lanes; /* borrowed; only calls in these lanes are explained:
                            order words (order.h); NULL: in all lanes */
  size_t nlanes;
} pf_explain_options;

/*
** Open a reader over two readers of the same table of events (columns:
** kernels/calls/events.h), which have one dictionary. The rows, by `group`:
**
**   all, partial  one row: the number of calls, and of those that were left out
**                 because they were not recorded from enter to leave
**   the groups    a row for each `node` of the tree of calls below the area, in
**   above         which node 0 is the area itself: `parent`, `area`, count,
**                 net and elapsed (the sum of stop - start) of the calls there;
**                 `start` and `lane` of the call of the area in which elapsed
**                 of the node is largest. A node without net is no call: the
**                 calls of `parent` were suspended for elapsed, while on their
**                 core the lane `runner` ran with `area` as its outermost
**                 function (waits.h; only if the events have a column `core`).
**                 Then rows without a node: count and net of those calls of the
**                 area that came right after a call of `area` in their lane
**                 (missing: after none since the last gap or the begin
**                 of the file)
**   path          the critical path of the worst call (wait_path.h), if it was
**                 suspended, in order of time: start, elapsed, `lane` and the
**                 function `area` that ran; both are missing if none is known.
**                 There are no rows if more than PF_MAX_PATH_EVENTS events came
**                 during the call
**
** The first `next` reads the events. Memory grows with the number of lanes,
** with the nodes, and for each call of the area that is open at one time with
** the nodes below it; not with the number of calls. Nodes are as many as stacks
** below the area, and for each of these as many as runners met it.
** PF_EUNSUPPORTED without the columns of events; PF_ENOMEM. `next` also returns
** the failure of a reader, and PF_ELIMIT if a sum exceeds 2^63-1.
*/
pf_status pf_explain_open (pf_reader *first, pf_reader *second,
                           const pf_explain_options *options,
                           pf_reader **reader, pf_error *error);

#endif
