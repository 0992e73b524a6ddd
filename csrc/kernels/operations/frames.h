/*
** frames.h - the call stacks of all threads of a trace whose rows have
** operation codes: i before a call is entered, I when it is entered, O when it
** is about to return, o when it has returned. The innermost open call of a name
** is found in constant time at any depth. Used by the unfilter and refilter
** stages: open, look for each row in their order, push and pop, close.
*/

#ifndef frames_h
#define frames_h

#include "model/base/id_table.h"
#include "model/dictionary/areas.h"
#include "model/rows/batch.h"

#define PF_NO_FRAME UINT32_MAX

/* The operation code of a row. */
typedef enum pf_call_op {
  PF_CALLING,   /* i: the caller is about to call */
  PF_ENTERED,   /* I: the function runs */
  PF_RETURNING, /* O: the function is about to return */
  PF_RETURNED,  /* o: the caller goes on */
  PF_NO_OP      /* another text, or missing */
} pf_call_op;

/* An open call. */
typedef struct pf_open_call {
  uint32_t slot;  /* its thread and name */
  uint32_t below; /* index of the next open call of that slot further down, or
                     PF_NO_FRAME */
  uint32_t gaps;  /* pf_frames.gaps at its enter */
  uint32_t area;  /* for use by the caller */
  bool seen[PF_NO_OP];    /* which codes it has had */
  int64_t time[PF_NO_OP]; /* the times of these, in ns */
} pf_open_call;

/* The stack of a thread. */
typedef struct pf_call_stack {
  pf_open_call *frames;
  uint32_t depth;
  size_t capacity;
  int64_t thread;
  bool has_thread; /* false: the rows do not tell the thread */
  uint32_t orphan; /* the slot of an O without an open call, if that was the
                      previous row; else PF_NO_FRAME */
  int64_t seen;    /* its latest time, in ns */
  int64_t idle;    /* ns subtracted from its clock */
  int64_t shown;   /* its latest time on that clock */
} pf_call_stack;

/* A pair of a thread and a name. */
typedef struct pf_call_slot {
  uint32_t name;  /* of the call; the empty name if it is missing */
  uint32_t top;   /* index of its innermost open call, or PF_NO_FRAME */
  uint32_t area;  /* of the name; PF_NO_AREA until pf_frames_area */
  bool is_holder; /* it interrupts tracing (prfHold) */
  bool is_idle;   /* its own time is not counted */
} pf_call_slot;

#define PF_CACHED_SLOTS 1024 /* a power of two */

/* A cached slot; `word` has its lane in the upper half and its name in the
   lower. */
typedef struct pf_cached_slot {
  uint64_t word;
  uint32_t slot;
} pf_cached_slot;

typedef struct pf_frames {
  pf_dictionary *dictionary;
  const pf_bytes *idle; /* names of functions in which threads wait; borrowed */
  size_t nidle;
  pf_id_table lane_ids, slot_ids;
  pf_call_stack *lanes;
  pf_call_slot *slots;
  uint32_t nlanes, nslots;
  uint32_t op_names[PF_NO_OP]; /* ids of the names of the operation codes */
  uint32_t nameless;           /* id of the empty name */
  uint32_t gaps;               /* number of interruptions of tracing */
  uint32_t file;               /* of the last row */
  bool has_file;
  uint8_t op_of_name[256]; /* operation codes of the first 256 names */
  int64_t thread;          /* thread and lane of the last row */
  uint32_t lane;           /* PF_NO_FRAME: it had no thread */
  bool has_holders;        /* some slot is a holder */
  pf_cached_slot cache[PF_CACHED_SLOTS];
} pf_frames;

/* The call and the operation code of a row. */
typedef struct pf_call_row {
  uint32_t lane, slot;
  pf_call_op op;
} pf_call_row;

/* Indexes of the columns in the fields of the reader; nfields for missing ones.
   `file` separates concatenated files. */
typedef struct pf_entry_columns {
  size_t thread, time, op, call, flags, file;
} pf_entry_columns;

/* Find the columns. PF_EUNSUPPORTED without op and call. */
pf_status pf_entry_columns_of (const pf_reader *reader,
                               pf_entry_columns *columns, pf_error *error);

/* Mark the columns as wanted. */
void pf_entry_columns_want (const pf_reader *reader,
                            const pf_entry_columns *columns, bool *wanted);

/* PF_OK or PF_ENOMEM; close `frames` after a failure too. */
pf_status pf_frames_open (pf_frames *frames, pf_dictionary *dictionary);
void pf_frames_close (pf_frames *frames);

/* Find lane, slot and operation code of a row; call it for rows in their order.
   PF_OK or PF_ENOMEM. */
pf_status pf_frames_look (pf_frames *frames, const pf_batch *batch,
                          const pf_entry_columns *columns, size_t row,
                          pf_call_row *call_row);

/* Whether a row is the first one of another file; call it once for each row. */
bool pf_frames_new_file (pf_frames *frames, const pf_batch *batch,
                         const pf_entry_columns *columns, size_t row);

/* The area of the name of a slot; PF_NO_AREA when out of memory. */
uint32_t pf_frames_area (pf_frames *frames, uint32_t slot);

/* Push a call; NULL when out of memory. */
pf_open_call *pf_frames_push (pf_frames *frames, pf_call_stack *lane,
                              uint32_t slot);

/* The innermost call of a lane, or NULL; and pop it. */
static inline pf_open_call *pf_frames_top (const pf_call_stack *lane) {
  return lane->depth == 0 ? NULL : &lane->frames[lane->depth - 1];
}
void pf_frames_pop (pf_frames *frames, pf_call_stack *lane);

/* Whether `op` is an I, and the innermost call has its i but not yet its I. */
static inline bool pf_frames_is_second (const pf_call_stack *lane,
                                        uint32_t slot, pf_call_op op) {
  const pf_open_call *const top = pf_frames_top(lane);
  return op == PF_ENTERED && top != NULL && top->slot == slot &&
         top->seen[PF_CALLING] && !top->seen[PF_ENTERED];
}

/* Whether tracing was interrupted since the call began. */
static inline bool pf_open_call_has_gap (const pf_frames *frames,
                                         const pf_open_call *frame) {
  return frame->gaps < frames->gaps;
}

/* As pf_frames_look for a row with the thread of the previous row and a cached
   slot. No value is missing. False: use pf_frames_look. */
static inline bool pf_frames_look_cached (const pf_frames *frames, uint32_t op,
                                          uint32_t call, int64_t thread,
                                          pf_call_row *call_row) {
  const uint64_t word = (uint64_t)frames->lane << 32 | call;
  const pf_cached_slot *const cached =
      &frames->cache[call & (PF_CACHED_SLOTS - 1)];
  if (op >= 256 || thread != frames->thread || frames->lane == PF_NO_FRAME ||
      cached->word != word)
    return false;
  *call_row = (pf_call_row){frames->lane, cached->slot,
                            (pf_call_op)frames->op_of_name[op]};
  return true;
}

/* Record an operation of an open call at `time`. */
static inline void pf_open_call_record (pf_open_call *frame, pf_call_op op,
                                        int64_t time) {
  frame->seen[op] = true;
  frame->time[op] = time;
}

#endif
