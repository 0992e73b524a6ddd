/*
** unfilter.h - from entries with letters to enters and leaves.
**
** A trace may say of one call four things: i (about to be called), I (it
** runs), O (about to return), o (has returned). The first pair becomes one
** enter, the second one leave; a trace that has only one letter of a pair goes
** through as it is, so it need not be known which kind of trace it is.
**
** What the letters tell about a call is known when it ends: its leave has
** `overhead`, the ns between the letters of its pairs, and `compiled`, whether
** the function itself ever said something. Leaves that the trace does not have
** are added before the row that shows them, with a flag:
**   unwound  a function further out returned: the call was left by a BREAK
**   gap      the same, or nobody knows: tracing was interrupted meanwhile
**   open     the trace ended
** A leave without its call has the flag `orphan`, after an interruption also
** `gap`. A row whose own flags say `gap` closes the calls of all threads,
** and so does the first row of another file, or one whose flags say `run`.
*/

#ifndef unfilter_h
#define unfilter_h

#include "profio.h"

/*
** A reader over `input` (borrowed), which has name columns op and call, and
** may have int columns thread and time and a name column flags. It yields the
** input's columns (missing in leaves that were added), then flags where the
** input has none, event (enter or leave), overhead and compiled. Rows of a
** thread stay in order. PF_EUNSUPPORTED for other columns.
*/
pf_status pf_unfilter_open (pf_reader *input, pf_reader **reader,
                            pf_error *error);

/* How events are made. */
typedef struct pf_unfilter_options {
  const pf_bytes *idle; /* names of functions in which a thread waits: their own
                           time is taken out of its clock. Letters of any
                           case; borrowed until the reader is made */
  size_t nidle;
  bool by_line; /* calls that begin at different lines (int column line) are
                   different areas */
  bool details; /* events have the columns line and params of the input */
} pf_unfilter_options;

/*
** The same as columns time, event, area, lane, flags and perhaps line
** and params, and without the rows
** that are neither enter nor leave: a table of events.
*/
pf_status pf_unfilter_events (pf_reader *input,
                              const pf_unfilter_options *making,
                              pf_reader **reader, pf_error *error);

/*
** The opposite: the rows of such an input of which a profiler that keeps one
** entry per enter and one per leave would have kept, the outer ones of each
** pair. Its columns are those of the input.
*/
pf_status pf_refilter_open (pf_reader *input, pf_reader **reader,
                            pf_error *error);

#endif
