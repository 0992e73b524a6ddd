/*
** call.h - what calls are: the one definition, on which the rows of calls, the
** statistics and the profile of contexts all stand.
**
** Each lane has a stack. `enter` puts a call of an area on it, `leave` ends
** the topmost call of its area; calls above that one have lost their ends and
** end with it, flagged `unwound`. A call is active from `enter` or `resume` to
** `suspend` or `leave`, and not while a call that it makes is open, whether
** its suspension is recorded or not.
**
**   net      time in which the call was active
**   gross    net, and the gross of all calls it made in its lane
**   call     stop - start, when both ends were recorded
**   period   from the last enter of the area in the lane to this one
**   outside  from the last leave of the area in the lane to this enter, when
**            no call of the area was open then
**   depth    1, and the number of functions around it in its lane
**   caller   the innermost function around it
**
** The class of an area (model/areas.h) tells what stands apart:
**
**   line     lies in a function and takes nothing from its net; entering a
**            line of a function ends the one before
**   state    of a variable (areas with one parent, else with one handle): in
**            no lane; entering or writing one ends the one before, and is a
**            write to the variable. So are all classes that end in it: "aux
**            state"
**   variable, aux, inspector
**            in no lane; writing one is a call without length
**
** A leave without enter began before the trace did (flag `orphan`): in a lane
** with an empty stack it is what was active whenever the stack was empty,
** since the first event of the lane; below other calls it has no length. A
** resume or suspend without enter is treated alike. What is open at the end
** ends with the last event of all (flag `open`).
*/

#ifndef call_h
#define call_h

#include "profio.h"

/* The words of column `flags`, in alphabetical order. */
typedef enum pf_call_flag {
  PF_CALL_CUT = 1,     /* an end lies outside the range of times asked for */
  PF_CALL_GAP = 2,     /* ended by an event that says: what follows does not
                          continue what came before; with a time before the
                          last one it is of another run */
  PF_CALL_LOST = 4,    /* events are lost between its ends */
  PF_CALL_OPEN = 8,    /* it had not ended when the trace did */
  PF_CALL_ORPHAN = 16, /* its enter is not in the trace */
  PF_CALL_UNWOUND = 32 /* its leave is not in the trace */
} pf_call_flag;

#define PF_CALL_FLAG_NAMES 6
extern const char
    *const pf_call_flag_names[PF_CALL_FLAG_NAMES]; /* of bits 0, 1, ... */

/* Write the words of flags with blanks between, ended by 0; 64 bytes are enough
   for all. */
void pf_call_flags_text (unsigned flags, char *text, size_t room);

/* Of an event, and no word: it is the first one of another file. */
#define PF_CALL_NEW_FILE 64

/* Calls with these were not recorded from enter to leave. */
#define PF_CALL_PARTIAL \
  (PF_CALL_CUT | PF_CALL_GAP | PF_CALL_OPEN | PF_CALL_ORPHAN | PF_CALL_UNWOUND)

/* The lengths of a call. */
enum {
  PF_NET,
  PF_GROSS,
  PF_CALL,
  PF_PERIOD,
  PF_OUTSIDE,
  PF_DURATIONS
};

#define PF_NO_TIME (-1) /* a length that is not known or above 2^63-1 */
#define PF_NO_SLOT UINT32_MAX

/* One call. Lengths are 0 or more, or PF_NO_TIME. */
typedef struct pf_call {
  int64_t start, stop;
  int64_t lengths[PF_DURATIONS];
  uint32_t slot;   /* its area and lane: call_machine.h */
  uint32_t caller; /* an area, or UINT32_MAX */
  uint32_t depth;
  uint32_t stack;  /* with the functions around it, if the machine keeps
                      stacks; else PF_NO_STACK */
  uint32_t detail; /* its number in details.h, if the machine keeps them; 0:
                       none */
  uint16_t flags;  /* of pf_call_flag */
  uint16_t count;  /* 1, or 0 when its enter was not recorded */
} pf_call;

/* What a user may ask for. Begin with zeros. */
typedef struct pf_call_options {
  bool outermost;  /* recursion = "outermost": a call within one of the same
                         area has no gross and no call, which lie in the
                         outermost one's */
  bool whole_only; /* partial = "exclude": leave out PF_CALL_PARTIAL */
  bool edges;      /* edges = "include": outside begins with the trace, and
                         what remains of it after the last leave of an area is
                         a row that has nothing else */
  bool has_from, has_to;
  int64_t from, to; /* only what happens in from <= time < to: what lasts
                         longer is cut there and flagged so */
  bool has_last;
  int64_t last;       /* the trace lasted to this time, where that is later
                         than its last event */
  uint32_t max_depth; /* of a stack: a call that would be deeper ends the one
                         around it, flagged `lost unwound`; 0: 65536 */
} pf_call_options;

#endif
