/*
** unfilter_state.h - shared by the files of the unfilter stage. unfilter.c
** decides which row comes next, unfilter_columns.c creates the reader and
** writes the row into the columns of a batch, and unfilter_fast.c is the fast
** path.
**
** xpp_unfilter_open and xpp_unfilter_events allocate the `unfilter` with its
** fields; xpp_unfilter_close frees it with `idle`, `frames` and the batch `in`.
** The input is borrowed.
*/

#ifndef unfilter_state_h
#define unfilter_state_h

#include "formats/xpp/operations/frames.h"

#define NO_ROW    SIZE_MAX
#define NO_BREAK  UINT32_MAX
#define NO_COLUMN XPP_NO_COLUMN

/* Indexes of the output columns, or NO_COLUMN. */
typedef struct out_columns {
  size_t thread, time, call, area, flags, event, overhead, compiled;
  size_t line, params; /* only of events */
} out_columns;

typedef struct unfilter {
  pf_reader reader;
  pf_bytes *idle;      /* names, followed by their bytes */
  size_t line, params; /* input columns of a table of events, or NO_COLUMN */
  bool by_line;        /* the option, and the input has lines */
  bool has_details;    /* line or params are wanted */
  pf_reader *input;
  xpp_entry_columns at;
  out_columns to;
  size_t copied; /* input columns copied first; 0: a table of events */
  pf_batch in;
  size_t row;         /* the next row of `in` */
  bool is_open;       /* `in` is open */
  bool has_ended;     /* the input has ended */
  bool is_swept;      /* the calls that a gap before `row` ends are closed */
  bool may_have_gaps; /* rows of `in` may have flags, or files may begin */
  bool is_fast;       /* xpp_unfilter_fast may process the rows of `in` */
  uint32_t kept; /* the calls above this number of them were left by a BREAK,
                    which the row at hand shows; NO_BREAK: not looked for */
  uint64_t left, after;  /* as in xpp_line_ranges, so far */
  bool has_gap;          /* no event was written since the last gap or run */
  int64_t latest;        /* the latest time of all threads */
  unsigned close_flags;  /* all open calls get closed with these; 0: not */
  uint32_t closing_lane; /* the lane that is being closed */
  uint32_t enter, leave; /* names in the dictionary */
  uint32_t flag_names[XPP_FLAG_SETS];
  xpp_frames frames;
  pf_field fields[];
} unfilter;

/* A row of the input. */
typedef struct entry {
  xpp_call_stack *lane;
  uint32_t slot;
  xpp_call_op op;
  int64_t time;
} entry;

/* An output row. */
typedef struct out_row {
  xpp_call_stack *lane;
  uint32_t slot, area;
  int64_t time;
  size_t row;                 /* row of the input, or NO_ROW */
  uint32_t event;             /* a name; PF_NO_NAME: neither enter nor leave */
  const xpp_open_call *frame; /* the call that ends, or NULL */
  unsigned flags;
} out_row;


/* Append a row: copied from the input, or with what is known of a row that is
   not in it. PF_OK or PF_ENOMEM. */
pf_status xpp_unfilter_put (unfilter *self, pf_batch *out, const out_row *l,
                            pf_error *error);

/*
** unfilter_fast.c: process rows of the input from `row` on, until an unusual
** one or until `out` is full, as the general path does. PF_OK or PF_ENOMEM.
*/
pf_status xpp_unfilter_fast (unfilter *self, pf_batch *out);

/* unfilter.c: the functions of the reader. */
pf_status xpp_unfilter_next (pf_reader *reader, pf_batch *out, pf_error *error);
void xpp_unfilter_close (pf_reader *reader);

#endif
