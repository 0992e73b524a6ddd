/*
** unfilter.h - stages that turn entries with operation codes into enters and
** leaves, and back. Used by csrc/lua/stages/event_stages.c.
**
** A trace may have four entries for a call, each with an operation code: i (the
** caller is about to call), I (the function runs), O (the function is about to
** return), o (the caller goes on). i and I become one enter, O and o one leave.
** A trace that has only one code of a pair passes through unchanged, so both
** kinds of traces are treated alike.
**
** Details of a call are known at its end. Its leave has `overhead`, the ns
** between the codes of its pairs, and `compiled`, whether the function itself
** wrote an entry. Leaves that are not in the trace are added before the row
** that proves them, without a flag if only the o of a call is missing, else
** with one:
**    unwound  a BREAK left the call, as the line of a caller or the return of a
**             function further out shows (line_ranges.h); it ends with the last
**             row of its thread before that one
**    gap      as unwound, or unknown, because tracing was interrupted meanwhile
**    open     the trace, its file or its run ended
** A leave without its call has the flag `orphan`, after an interruption also
** `gap`. A row whose own flags contain `gap` closes the calls of all threads,
** and so does the first row of another file, or a row with `run`.
*/

#ifndef unfilter_h
#define unfilter_h

#include "formats/xpp/operations/line_ranges.h"
#include "profio.h"

/*
** Open a reader over `input` (borrowed), which has name columns op and call,
** and may have int columns thread and time (ns) and name columns flags and
** file. It returns the columns of the input (added leaves have only thread,
** time, call and flags), then flags unless the input has it, event (enter or
** leave), overhead and compiled. The rows of a thread stay in order. `ranges`
** (NULL: unknown lines) is borrowed, and gets the results of the reading.
** PF_EUNSUPPORTED without op and call, or if the input has event, overhead or
** compiled; PF_ENOMEM.
*/
pf_status xpp_unfilter_open (pf_reader *input, xpp_line_ranges *ranges,
                             pf_reader **reader, pf_error *error);

/* Options of xpp_unfilter_events. Initialise with zeros. */
typedef struct xpp_unfilter_options {
  const pf_bytes *idle; /* names of functions in which a thread waits: their own
                           time is subtracted from its clock. Case is ignored;
                           borrowed during the call */
  size_t nidle;
  xpp_line_ranges
      *ranges;  /* NULL: unknown lines; borrowed, and gets the results
                              of the reading */
  bool by_line; /* calls from different lines get different areas */
  bool details; /* events get the columns line and params of the input */
} xpp_unfilter_options;

/*
** As xpp_unfilter_open, but only enters and leaves, as a table of events: time,
** event, area, lane, flags, and with `details` line and params. Open calls
** without an O get no leave at a gap or at the end, because the call machine
** closes them.
*/
pf_status xpp_unfilter_events (pf_reader *input,
                               const xpp_unfilter_options *options,
                               pf_reader **reader, pf_error *error);

/*
** The opposite: only the entries that a profiler with one entry per enter and
** one per leave would have written, the outer ones of each pair. The columns
** are those of the input. Errors as above.
*/
pf_status xpp_refilter_open (pf_reader *input, pf_reader **reader,
                             pf_error *error);

#endif
