/*
** frames.h - the open calls of a trace whose rows tell by letters what became
** of a call: i before it is entered, I when it is, O when it is about to
** return, o when it has returned. One stack per thread; the nearest open call
** of a name is found in constant time, however deep the stack is.
**
** unfilter.c and refilter.c are built on it.
*/

#ifndef frames_h
#define frames_h

#include "kernels/id_table.h"
#include "model/areas.h"
#include "model/batch.h"

#define PF_NO_FRAME UINT32_MAX

/* What a row says. */
typedef enum pf_call_op {
  PF_CALLING,   /* i: the caller is about to call */
  PF_ENTERED,   /* I: the function runs */
  PF_RETURNING, /* O: the function is about to return */
  PF_RETURNED,  /* o: the caller goes on */
  PF_NO_OP      /* none of them */
} pf_call_op;

/* An open call. */
typedef struct pf_open_call {
  uint32_t slot;  /* which thread and name */
  uint32_t below; /* the next one of that slot further down, or PF_NO_FRAME */
  uint32_t gaps;  /* how many gaps there had been when it was entered */
  uint32_t area;  /* free for the user */
  bool seen[PF_NO_OP];    /* which letters it has had */
  int64_t time[PF_NO_OP]; /* of these */
} pf_open_call;

/* The stack of a thread. */
typedef struct pf_call_stack {
  pf_open_call *frames;
  uint32_t depth, room;
  int64_t thread;
  bool has_thread; /* else the rows do not say which */
  uint32_t orphan; /* the slot of an O whose call was not open, if the row
                         before was one; else PF_NO_FRAME */
  int64_t seen;    /* the last time in it */
  int64_t idle;    /* ns taken out of its clock */
  int64_t shown;   /* the last time on that clock */
} pf_call_stack;

/* A thread and a name. */
typedef struct pf_call_slot {
  uint32_t name;  /* of the call; the empty one where it is missing */
  uint32_t top;   /* its nearest open call, or PF_NO_FRAME */
  uint32_t area;  /* of the name, or PF_NO_AREA until pf_frames_area made it */
  bool is_holder; /* tracing is held inside of it */
  bool is_idle;   /* its own time counts for nothing */
} pf_call_slot;

#define PF_CACHED_SLOTS 1024 /* a power of two */

/* A slot met lately, by its lane (above) and name. */
typedef struct pf_cached_slot {
  uint64_t word;
  uint32_t slot;
} pf_cached_slot;

typedef struct pf_frames {
  pf_dictionary *dictionary;
  const pf_bytes *idle; /* names of functions in which a thread waits */
  size_t nidle;
  pf_id_table lane_numbers, slot_numbers;
  pf_call_stack *lanes;
  pf_call_slot *slots;
  uint32_t nlanes, nslots;
  uint32_t letters[PF_NO_OP]; /* their numbers in the dictionary */
  uint32_t nameless;          /* the number of the empty name */
  uint32_t gaps;              /* how often tracing was interrupted */
  uint32_t file;              /* of the last row */
  bool has_file;
  uint8_t few_letters[256]; /* of the names with the least numbers */
  int64_t thread;           /* of the last row, and its lane */
  uint32_t lane;            /* PF_NO_FRAME: it had none */
  bool has_holders;         /* some slot is one */
  pf_cached_slot near[PF_CACHED_SLOTS];
} pf_frames;

/* What a row says, and of which call. */
typedef struct pf_call_row {
  uint32_t lane, slot;
  pf_call_op letter;
} pf_call_row;

/* The columns the stacks are made from, in the reader's fields; nfields for
   those there are none of. `file` tells files in a row apart. */
typedef struct pf_entry_columns {
  size_t thread, time, op, call, flags, file;
} pf_entry_columns;

/* Find them. PF_EUNSUPPORTED without op and call. */
pf_status pf_entry_columns_of (const pf_reader *reader,
                               pf_entry_columns *columns, pf_error *error);

/* Mark them as wanted. */
void pf_entry_columns_want (const pf_reader *reader,
                            const pf_entry_columns *columns, bool *wanted);

/* Both PF_OK or PF_ENOMEM; `frames` may be closed after a failure too. */
pf_status pf_frames_open (pf_frames *frames, pf_dictionary *dictionary);
void pf_frames_close (pf_frames *frames);

/* Find lane, slot and letter of a row; rows are asked in their order. PF_OK or
   PF_ENOMEM. */
pf_status pf_frames_look (pf_frames *frames, const pf_batch *batch,
                          const pf_entry_columns *columns, size_t row,
                          pf_call_row *mark);

/* Whether a row is the first one of another file than the row before; asked
   once for each row. */
bool pf_frames_new_file (pf_frames *frames, const pf_batch *batch,
                         const pf_entry_columns *columns, size_t row);

/* The area that a slot's name is, or PF_NO_AREA when out of memory. */
uint32_t pf_frames_area (pf_frames *frames, uint32_t slot);

/* Open a call; NULL when out of memory. */
pf_open_call *pf_frames_push (pf_frames *frames, pf_call_stack *lane,
                              uint32_t slot);

/* The innermost call of a lane, or NULL; and close it. */
static inline pf_open_call *pf_frames_top (const pf_call_stack *lane) {
  return lane->depth == 0 ? NULL : &lane->frames[lane->depth - 1];
}
void pf_frames_pop (pf_frames *frames, pf_call_stack *lane);

/* Whether an I is the second letter of the innermost call, which has had its
   i. */
static inline bool pf_frames_is_second (const pf_call_stack *lane,
                                        uint32_t slot, pf_call_op letter) {
  const pf_open_call *const top = pf_frames_top(lane);
  return letter == PF_ENTERED && top != NULL && top->slot == slot &&
         top->seen[PF_CALLING] && !top->seen[PF_ENTERED];
}

/* Whether tracing was interrupted since the call began. */
static inline bool pf_open_call_has_gap (const pf_frames *frames,
                                         const pf_open_call *frame) {
  return frame->gaps < frames->gaps;
}

/* The same as pf_frames_look where nothing is new: the thread is that of the
   row before, and the call has been met lately. The values are not missing.
   False: that has to look. */
static inline bool pf_frames_look_cached (const pf_frames *frames, uint32_t op,
                                          uint32_t call, int64_t thread,
                                          pf_call_row *mark) {
  const uint64_t word = (uint64_t)frames->lane << 32 | call;
  const pf_cached_slot *const near =
      &frames->near[call & (PF_CACHED_SLOTS - 1)];
  if (op >= 256 || thread != frames->thread || frames->lane == PF_NO_FRAME ||
      near->word != word)
    return false;
  *mark = (pf_call_row){frames->lane, near->slot,
                        (pf_call_op)frames->few_letters[op]};
  return true;
}

/* Note a letter of an open call. */
static inline void pf_open_call_record (pf_open_call *frame, pf_call_op letter,
                                        int64_t time) {
  frame->seen[letter] = true;
  frame->time[letter] = time;
}

#endif
