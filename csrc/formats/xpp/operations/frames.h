/*
** frames.h - the call stacks of all threads of a trace whose rows have
** operation codes: i before a call is entered, I when it is entered, O when it
** is about to return, o when it has returned. The innermost open call of a name
** is found in constant time at any depth. Used by the unfilter and refilter
** stages: open, look for each row in their order, push and pop, close.
**
** xpp_frames_close frees all stacks and slots. The dictionary is borrowed until
** then; the pointer to an open call is valid until the next push.
*/

#ifndef frames_h
#define frames_h

#include "formats/xpp/operations/line_ranges.h"
#include "model/base/id_table.h"
#include "model/dictionary/areas.h"
#include "model/dictionary/names.h"
#include "model/rows/batch.h"

#define XPP_NO_FRAME UINT32_MAX

/* The operation code of a row. */
typedef enum xpp_call_op {
  XPP_CALLING,   /* i: the caller is about to call */
  XPP_ENTERED,   /* I: the function runs */
  XPP_RETURNING, /* O: the function is about to return */
  XPP_RETURNED,  /* o: the caller goes on */
  XPP_NO_OP      /* another text, or missing */
} xpp_call_op;

/* Flags of rows: gap, lost, open, orphan, run, unwound. The name of a set,
   which is a sum, lists them in alphabetical order, separated by blanks. */
enum {
  XPP_FLAG_GAP = 1,
  XPP_FLAG_LOST = 2,
  XPP_FLAG_OPEN = 4,
  XPP_FLAG_ORPHAN = 8,
  XPP_FLAG_RUN = 16, /* of a row: it begins another run */
  XPP_FLAG_UNWOUND = 32,
  XPP_FLAG_SETS = 64
};

/* Set names[set] to the id of the name of each set; false when out of
   memory. */
bool xpp_flag_names (pf_dictionary *dictionary, uint32_t names[XPP_FLAG_SETS]);

/* The id of a name with the words of two names, each in alphabetical order;
   words beyond 127 bytes are dropped. PF_NO_NAME when out of memory. */
uint32_t xpp_flags_merge (pf_dictionary *dictionary, uint32_t left,
                          uint32_t right);

/* An open call. */
typedef struct xpp_open_call {
  uint32_t slot;        /* its thread and name */
  uint32_t below;       /* the next open call of that slot, or XPP_NO_FRAME */
  uint32_t gaps;        /* xpp_frames.gaps at its enter */
  uint32_t area;        /* of the call, set by unfilter */
  bool seen[XPP_NO_OP]; /* which codes it has had */
  int64_t time[XPP_NO_OP]; /* the times of these, in ns */
} xpp_open_call;

/* The stack of a thread. */
typedef struct xpp_call_stack {
  xpp_open_call *frames;
  uint32_t depth;
  size_t capacity;
  int64_t thread;
  bool has_thread; /* false: the rows do not tell the thread */
  uint32_t orphan; /* the slot of an O without an open call, if that was the
                      previous row; else XPP_NO_FRAME */
  int64_t first;   /* its first time, in ns; INT64_MIN before */
  int64_t before;  /* time of the row before the current one */
  int64_t seen;    /* its latest time, in ns */
  int64_t idle;    /* ns subtracted from its clock */
  int64_t shown;   /* its latest time on that clock */
} xpp_call_stack;

/* A pair of a thread and a name. */
typedef struct xpp_call_slot {
  uint32_t name; /* of the call; the empty name if it is missing */
  uint32_t top;  /* index of its innermost open call, or XPP_NO_FRAME */
  uint32_t area; /* of the name; PF_NO_AREA: not looked up yet */
  xpp_line_range lines;
  bool is_holder; /* it interrupts tracing (prfHold) */
  bool is_idle;   /* its own time is not counted */
} xpp_call_slot;

#define XPP_CACHED_SLOTS 1024 /* a power of two */

/* A cached slot; `word` is its lane (upper half) and its name. */
typedef struct xpp_cached_slot {
  uint64_t word;
  uint32_t slot;
} xpp_cached_slot;

typedef struct xpp_frames {
  pf_dictionary *dictionary;
  const pf_bytes *idle; /* names of functions in which threads wait; borrowed */
  size_t nidle;
  xpp_line_ranges *ranges; /* of lines; NULL: not used; borrowed */
  pf_id_table lane_ids, slot_ids;
  xpp_call_stack *lanes;
  xpp_call_slot *slots;
  uint32_t nlanes, nslots;
  uint32_t op_names[XPP_NO_OP]; /* ids of the names of the operation codes */
  uint32_t nameless;            /* id of the empty name */
  uint32_t gaps;                /* number of interruptions of tracing */
  uint32_t file;                /* of the last row */
  bool has_file;
  uint8_t op_of_name[256]; /* operation codes of the first 256 names */
  int64_t thread;          /* thread and lane of the last row */
  uint32_t lane;           /* XPP_NO_FRAME: it had no thread */
  bool has_holders;        /* some slot is a holder */
  xpp_cached_slot cache[XPP_CACHED_SLOTS];
} xpp_frames;

/* The call and the operation code of a row. */
typedef struct xpp_call_row {
  uint32_t lane, slot;
  xpp_call_op op;
} xpp_call_row;

#define XPP_NO_COLUMN SIZE_MAX

/* Indexes of the columns in the fields of the reader, or XPP_NO_COLUMN. `file`
   separates concatenated files. */
typedef struct xpp_entry_columns {
  size_t thread, time, op, call, line, flags, file;
} xpp_entry_columns;

/* The index of a column with a name and a type, or XPP_NO_COLUMN. */
size_t xpp_entry_column (const pf_reader *reader, const char *name,
                         pf_type type);

/* Find the columns. PF_EUNSUPPORTED without op and call. */
pf_status xpp_entry_columns_of (const pf_reader *reader,
                                xpp_entry_columns *columns, pf_error *error);

/* Mark the columns as wanted. */
void xpp_entry_columns_want (const pf_reader *reader,
                             const xpp_entry_columns *columns, bool *wanted);

/* Set ops[code] to the id of the name of each operation code. PF_OK or
   PF_ENOMEM. */
pf_status xpp_op_names (pf_dictionary *dictionary, uint32_t ops[XPP_NO_OP],
                        pf_error *error);

/* PF_OK or PF_ENOMEM; close `frames` after a failure too. */
pf_status xpp_frames_open (xpp_frames *frames, pf_dictionary *dictionary,
                           pf_error *error);
void xpp_frames_close (xpp_frames *frames);

/* Find lane, slot and operation code of a row; call it for rows in their order.
   PF_OK or PF_ENOMEM. */
pf_status xpp_frames_look (xpp_frames *frames, const pf_batch *batch,
                           const xpp_entry_columns *columns, size_t row,
                           xpp_call_row *call_row);

/* The flag with which all open calls end before a row: XPP_FLAG_OPEN if another
   file or run begins, XPP_FLAG_GAP if rows before it are lost; 0: they do not
   end. Call it once for each row. */
unsigned xpp_frames_break (xpp_frames *frames, const pf_batch *batch,
                           const xpp_entry_columns *columns, size_t row);

/* Push a call; NULL when out of memory. */
xpp_open_call *xpp_frames_push (xpp_frames *frames, xpp_call_stack *lane,
                                uint32_t slot);

/* The innermost call of a lane, or NULL; and pop it. */
static inline xpp_open_call *xpp_frames_top (const xpp_call_stack *lane) {
  return lane->depth == 0 ? NULL : &lane->frames[lane->depth - 1];
}
void xpp_frames_pop (xpp_frames *frames, xpp_call_stack *lane);

/* Whether `op` is an I, and the innermost call has its i but not yet its I. */
static inline bool xpp_frames_is_second (const xpp_call_stack *lane,
                                         uint32_t slot, xpp_call_op op) {
  const xpp_open_call *const top = xpp_frames_top(lane);
  return op == XPP_ENTERED && top != NULL && top->slot == slot &&
         top->seen[XPP_CALLING] && !top->seen[XPP_ENTERED];
}

/* As xpp_frames_look for a row with the thread of the previous row and a cached
   slot. No value is missing. False: use xpp_frames_look. */
static inline bool xpp_frames_look_cached (const xpp_frames *frames,
                                           uint32_t op, uint32_t call,
                                           int64_t thread,
                                           xpp_call_row *call_row) {
  const uint64_t word = (uint64_t)frames->lane << 32 | call;
  const xpp_cached_slot *const cached =
      &frames->cache[call & (XPP_CACHED_SLOTS - 1)];
  if (op >= 256 || thread != frames->thread || frames->lane == XPP_NO_FRAME ||
      cached->word != word)
    return false;
  *call_row = (xpp_call_row){frames->lane, cached->slot,
                             (xpp_call_op)frames->op_of_name[op]};
  return true;
}

/* Record an operation of an open call at `time`. */
static inline void xpp_open_call_record (xpp_open_call *frame, xpp_call_op op,
                                         int64_t time) {
  frame->seen[op] = true;
  frame->time[op] = time;
}

#endif
