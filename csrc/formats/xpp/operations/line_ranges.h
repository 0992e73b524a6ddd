/*
** line_ranges.h - the lines of the source of each function, as far as a trace
** shows them, and what a reading found out about calls that a BREAK left.
**
** The I and O of a function state lines of its own: their smallest and largest
** one are its range. An i or o states a line of the caller. So a row whose line
** is not one of the function on top of the stack, but of one below, shows that
** a BREAK left the calls above that one (unfilter.c).
**
** csrc/lua/stages/xpp_lines.c owns the ranges; the unfilter stages borrow them.
*/

#ifndef line_ranges_h
#define line_ranges_h

#include "model/base/id_table.h"
#include "profio.h"

/* From line `low` to line `high`; low > high: unknown. */
typedef struct xpp_line_range {
  int64_t low, high;
} xpp_line_range;

typedef struct xpp_line_ranges {
  pf_id_table functions; /* file (upper half) and name of each */
  xpp_line_range *list;  /* by id; owned */
  size_t capacity;
  bool learns;    /* the readers extend the ranges: the trace grows */
  bool has_calls; /* a line of a caller is known */
  /* Of the last reading: the calls without a leave that a function further out
     has ended, the time from their enters to the rows that showed this, and the
     duration of all threads, in ns. */
  uint64_t left;
  uint64_t after, total;
} xpp_line_ranges;

void xpp_line_ranges_init (xpp_line_ranges *ranges);
void xpp_line_ranges_free (xpp_line_ranges *ranges);

/* Read all rows of entries. Without the columns op, call and line there are no
   ranges. PF_OK, also if a live trace has no more rows yet, or a failure. */
pf_status xpp_line_ranges_read (xpp_line_ranges *ranges, pf_reader *entries,
                                pf_error *error);

/* Extend the range of a function by a line. `file`: PF_NO_NAME without a column
   of files. The new range in *range. PF_OK or PF_ENOMEM. */
pf_status xpp_line_ranges_add (xpp_line_ranges *ranges, uint32_t file,
                               uint32_t name, int64_t line,
                               xpp_line_range *range);

/* The range of a function. */
xpp_line_range xpp_line_range_of (const xpp_line_ranges *ranges, uint32_t file,
                                  uint32_t name);

static inline bool xpp_has_line (xpp_line_range range, int64_t line) {
  return range.low <= line && line <= range.high;
}

/* Set *count to the number of functions whose range overlaps that of another
   one: they are of several source files, or blocks of code in another function.
   PF_OK or PF_ENOMEM. */
pf_status xpp_line_ranges_overlaps (const xpp_line_ranges *ranges,
                                    uint32_t *count);

#endif
