/*
** unfilter_put.h - what the files of unfilter share: unfilter_open.c makes the
** stage, unfilter.c decides which row comes next, unfilter_put.c writes it into
** the columns of a batch.
*/

#ifndef unfilter_put_h
#define unfilter_put_h

#include "kernels/flags.h"
#include "kernels/frames.h"
#include "model/packed.h"

#define NO_ROW    SIZE_MAX
#define NO_COLUMN SIZE_MAX

/* So many lanes have a number in a word. */
#define UNFILTER_LANES ((PF_PACKED_LANES >> PF_PACKED_LANE) + 1)

/* The columns that are put out: their numbers, or NO_COLUMN. */
typedef struct out_columns {
  size_t thread, time, call, area, flags, event, overhead, compiled;
  size_t line, params; /* of events */
} out_columns;

typedef struct unfilter {
  pf_reader reader;
  pf_bytes *idle; /* names, and their bytes behind */
  size_t line;    /* the column that tells areas apart, or NO_COLUMN */
  size_t lines,
      params;       /* columns of the input that events have too, likewise */
  bool has_details; /* somebody asks for these */
  pf_reader *input;
  pf_entry_columns at;
  out_columns to;
  size_t copied; /* how many columns of the input stand first in the output */
  pf_batch in;
  size_t row;       /* the next of `in` */
  pf_status pulled; /* what came instead of a batch and is not told yet */
  pf_error failure; /* the words of that */
  bool is_open;     /* `in` is */
  bool has_ended;   /* the input has */
  bool is_swept;    /* what the gap before `row` closes is closed */
  bool has_marks;   /* rows of `in` may close calls: files begin, or gaps */
  bool is_plain;    /* rows of `in` may be taken by pf_unfilter_fast */
  bool has_gap;     /* no event has been put out since one */
  int64_t latest;   /* the last time of all threads */
  unsigned closes;  /* all open calls are being closed, with these flags; 0:
                      they are not */
  uint32_t closing; /* the lane at which that is */
  uint32_t enter, leave; /* words, in the dictionary */
  uint32_t flag_names[PF_FLAG_SETS];
  pf_frames frames;
  uint32_t nthreads; /* of lanes whose threads are in `threads` */
  int64_t threads[UNFILTER_LANES];
  pf_field fields[];
} unfilter;

/* A row to put out. */
typedef struct line {
  pf_call_stack *lane;
  uint32_t slot, area;
  int64_t time;
  size_t row;                /* of the input, or NO_ROW */
  uint32_t event;            /* PF_NO_NAME: neither enter nor leave */
  const pf_open_call *frame; /* whose call ends; NULL: none is known */
  unsigned flags;
} line;


/* Append a row: that of the input, or what is known of one that is not there.
   PF_OK or PF_ENOMEM. */
pf_status pf_unfilter_put (unfilter *self, pf_batch *out, const line *l,
                           pf_error *error);

/*
** unfilter_fast.c: make events of rows of the input from `row` on, as long as
** they are usual ones of calls that are entered and left in their order, and
** there is room. What the long way makes of these is the same. PF_OK or
** PF_ENOMEM.
*/
pf_status pf_unfilter_fast (unfilter *self, pf_batch *out);

/* The same as packed events: there may be none. */
pf_status pf_unfilter_pack (unfilter *self, pf_packed *events);

/* unfilter.c: the functions of the reader. */
pf_status pf_unfilter_next (pf_reader *reader, pf_batch *out, pf_error *error);
bool pf_unfilter_pack_next (pf_reader *reader, pf_packed *events);
void pf_unfilter_close (pf_reader *reader);

/* The flags a row of the input has; the number of no flags where it has
   none. */
uint32_t pf_unfilter_flags (const unfilter *self, size_t row);

#endif
