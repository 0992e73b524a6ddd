/*
** call.h - the definition of a call. The rows of calls, the statistics, the
** spans and the profile of contexts all use it.
**
** Each lane has a call stack. `enter` pushes a call of an area, `leave` ends
** the topmost call of its area; calls above that one have no end of their own
** and end with it, flagged `unwound`. A call runs from `enter` or `resume` to
** `suspend` or `leave`, but not while a call that it made is open, whether a
** suspend is recorded for it or not, unless it is resumed below that one. It is
** active while it is the innermost call of its lane that runs: so the net times
** of a lane add up to the time in which it was active. All times are in ns.
**
**   net      time in which the call was active
**   gross    net, and the gross of all calls it made in its lane
**   call     stop - start, if both ends were recorded
**   period   from the previous enter of the area in the lane to this one
**   outside  from the previous leave of the area in the lane to this enter, if
**            no call of the area was open then
**   depth    1, and the number of functions around it in its lane
**   caller   the innermost function around it
**
** Some classes of areas (model/dictionary/areas.h) are treated differently:
**
**   line     lies in a function; its time is not subtracted from the net of the
**            function. Entering a line of a function ends the previous line
**   state    of a variable (areas with one parent, else with one handle), in no
**            lane. Entering or writing a state ends the previous one and counts
**            as a write of the variable. All classes that end in "state" are
**            states, for example "aux state"
**   variable, aux, inspector
**            in no lane; writing one is a call with a duration of 0
**
** A leave without an enter belongs to a call that began before the trace (flag
** `orphan`). In a lane with an empty stack the call was active whenever the
** stack was empty since the first event of the lane; below other calls it has a
** duration of 0. A resume or suspend without an enter is treated alike, but a
** resumed call was not active before, and a suspend below other calls is
** ignored. Calls that are open at the end of their file end with its last event
** (flag `open`).
*/

#ifndef call_h
#define call_h

#include "profio.h"

/* The flags of a call. Column `flags` has their names in alphabetical order. */
typedef enum pf_call_flag {
  PF_CALL_CUT = 1,     /* it extends beyond the range of times asked for */
  PF_CALL_GAP = 2,     /* ended by a `gap` event: the events after it do not
                          continue those before it; if its time is earlier, they
                          are of another run */
  PF_CALL_LOST = 4,    /* events are lost between its ends */
  PF_CALL_OPEN = 8,    /* it was open at the end of its file */
  PF_CALL_ORPHAN = 16, /* its enter is not in the trace */
  PF_CALL_UNWOUND = 32 /* its leave is not in the trace */
} pf_call_flag;

#define PF_CALL_FLAG_NAMES 6
extern const char *const pf_call_flag_names[PF_CALL_FLAG_NAMES]; /* by bit */

/* Write the names of flags, separated by blanks and ended by 0, into a text of
   `capacity` bytes; 64 are enough. */
void pf_call_flags_text (unsigned flags, char *text, size_t capacity);

/* The flags in a text of names that are separated by blanks. */
uint8_t pf_call_flags_of (pf_bytes text);

/* Only in flags of events: it is the first event of another file. */
#define PF_CALL_NEW_FILE 64

/* The flags of calls that were not recorded from enter to leave. */
#define PF_CALL_PARTIAL \
  (PF_CALL_CUT | PF_CALL_GAP | PF_CALL_OPEN | PF_CALL_ORPHAN | PF_CALL_UNWOUND)

/* The durations of a call, in ns. */
enum {
  PF_NET,
  PF_GROSS,
  PF_CALL,
  PF_PERIOD,
  PF_OUTSIDE,
  PF_DURATIONS
};

#define PF_NO_TIME (-1) /* an unknown duration, or one above 2^63-1 */
#define PF_NO_SLOT UINT32_MAX

/* One call. Durations are >= 0 or PF_NO_TIME. */
typedef struct pf_call {
  int64_t start, stop;
  int64_t durations[PF_DURATIONS];
  uint32_t slot;   /* its area and lane: index in pf_lanes.slots */
  uint32_t caller; /* an area, or UINT32_MAX */
  uint32_t depth;
  uint32_t stack;  /* id of its stack if the machine has_stacks, else
                      PF_NO_STACK */
  uint32_t detail; /* id in details.c, or 0; dropped after the call was read */
  uint16_t flags;  /* of pf_call_flag */
  uint16_t count;  /* 1; 0 if its enter was not recorded */
} pf_call;

typedef struct pf_call_counts pf_call_counts; /* call_counts.h */

/* Options of a user. Initialise with zeros. */
typedef struct pf_call_options {
  bool outermost;  /* recursion = "outermost": gross and call of a recursive
                      call are unknown, as the outermost call includes them */
  bool whole_only; /* partial = "exclude": omit calls with PF_CALL_PARTIAL */
  bool edges;      /* edges = "include": the first outside begins with the
                      file, and the time from the last leave of an area to the
                      end of the file is a row that only has an outside */
  bool has_from, has_to;
  int64_t from, to; /* analyse from <= time < to; calls that extend beyond are
                       cut and flagged */
  bool has_last;
  int64_t last;       /* each file ended at this time, if later than its last
                         event */
  uint32_t max_depth; /* of a stack: a deeper call ends the one around it,
                         flagged `lost unwound`; 0: PF_MAX_DEPTH */
  pf_call_counts *counts; /* NULL, or where the counts are stored after the last
                             event, unless from or to is set; borrowed */
} pf_call_options;

#define PF_MAX_DEPTH 65536

#endif
