/*
** recorder.h - what the files of the recorder share. It profiles the Lua
** program that runs it.
**
**   recorder.c             the object: begin, pause, resume, finish
**   recorder_hooks.c       what happens at each line, call and return
**   recorder_lanes.c       the stack of each coroutine, as the hooks see it
**   recorder_functions.c   what a function is called, found out once
**   recorder_put.c         what is recorded, on its way out
**   recorder_fast.h        fast path of the three above: what each event does
**   recorder_timer.c       samples, when a timer says so
**   recorder_coroutines.c  resume, wrap and create that tell who runs
**   recorder_cost.c        what the interpreter adds to an event around its hook
**   recorder_clock.c       the clock
**
** Hooks are of the process: there is one recorder at a time, which they find
** through l_recording, one of the two mutable statics of profio. What a hook
** allocates is for what it sees for the first time: a function, a line, a
** coroutine, a depth. A failure ends the recording, never the program.
**
** Times are those of the program. A hook reads the clock when it begins and when
** it ends; what passed between, and what the interpreter adds around a hook,
** goes onto `overhead`, and so does waiting for the ring.
*/

#ifndef lua_recorder_h
#define lua_recorder_h

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "lua/contexts.h"
#include "lua/recorder_clock.h"
#include "lua/stream.h"

#define L_RECORDER "profio.recorder"

typedef enum l_mode {
  L_TIMED,    /* a group for each line that was executed */
  L_SAMPLED,  /* a stack now and then */
  L_CALLS,    /* enters and leaves */
  L_AGGREGATE /* sums by calling context */
} l_mode;

/* What a function is known by. */
typedef struct l_function_key {
  lua_CFunction c; /* NULL: it is a Lua function */
  const char *source;
  size_t size;     /* of the source */
  int first, last; /* lines */
  int signature;   /* upvalues, parameters, ... or not */
} l_function_key;

#define L_TAIL 64

/* A function of the program. */
typedef struct l_function {
  l_function_key key;
  /* The last bytes of the source. They are compared too: when a chunk has been
     collected, another one may have its source at the same place. */
  char tail[L_TAIL];
  size_t tail_size;

  uint32_t name, module, kind; /* names of the dictionary */
  uint32_t record_id; /* what enters and leaves say of it, or L_NO_ID */
  bool is_own;        /* of the recorder itself: not recorded */
  uint32_t *areas;    /* by line - base: 1 more than l_line_area */
  int base, nareas;
} l_function;

#define L_NO_ID UINT32_MAX

/* A call of a Lua thread. */
typedef struct l_frame {
  const void *ci; /* which of Lua's own: compared, never looked into */
  l_function *function;
  int64_t spent;  /* on its line so far, without what that called */
  int line;       /* that it executes; 0: of C or stripped */
  bool has_line;  /* it has come to one */
  bool is_new;    /* its call has not been counted */
  bool is_hidden; /* not recorded */
  bool has_enter; /* its enter has been recorded */
  uint32_t path;  /* its line with all callers: a stack or a context */
} l_frame;

/* The stack of a Lua thread. Frames that were left keep their ci and function:
   at the same depth Lua mostly uses the same again. There is one more of them
   than there is room for. */
typedef struct l_lane {
  lua_State *thread;
  l_frame *block; /* the memory: a frame that stands below the first one */
  l_frame *frames;
  l_frame *top;    /* the last one; frames - 1: there is none */
  l_frame *last;   /* that there is room for */
  uint32_t number; /* of the lane, from 0; those of ended ones are used again */
  uint32_t recorded; /* the number in records, which may hold no larger ones */
  bool is_suspended;
  bool is_stale;       /* calls may have ended while recording was paused */
  struct l_lane *next; /* with the same hash, or free */
} l_lane;

typedef struct l_lanes {
  l_lane **slots; /* mask + 1 of them */
  size_t mask, count;
  uint32_t *free; /* numbers that were given back */
  size_t nfree, free_capacity;
  uint32_t used; /* numbers */
} l_lanes;

typedef struct l_functions {
  l_function **slots;
  size_t mask, count;
} l_functions;

/* Where the values of a record go: the words of a row of a table. */
#define L_LAYOUT_MAX 6

typedef struct l_layout {
  uint32_t tag;
  uint8_t at[L_LAYOUT_MAX]; /* in the order the columns were asked for */
} l_layout;

/* What calls are recorded with. */
typedef enum l_event_code {
  L_ENTER,
  L_LEAVE,
  L_SUSPEND,
  L_RESUME
} l_event_code;

/* Kinds of events by what the interpreter does around their hooks. */
typedef enum l_cost {
  L_COST_LINE,
  L_COST_LUA, /* call or return of a Lua function */
  L_COST_C,   /* call or return of a C function */
  L_COST_KINDS
} l_cost;

#define L_COST_BITS 10 /* costs are kept in 1/1024 ns */

typedef struct l_calibration l_calibration; /* recorder_cost.c */

typedef struct l_recorder {
  l_mode mode;
  l_clock clock;
  int64_t interval; /* of samples, ns */
  uint32_t depth;   /* frames of a stack that are kept */
  bool by_line;     /* of sums */
  bool has_callers; /* of lines */
  uint32_t max_lanes;
  size_t max_name; /* bytes of a function's name that the format holds */

  lua_Hook hook; /* NULL: nothing is recorded at the moment */
  int mask;
  bool is_on;
  const void *state; /* whose hooks: a Lua state's registry, */
  pid_t process;     /* in this process */
  l_lane *running;
  int64_t start, program_time; /* the clock at the begin; the program's time */
  int64_t overhead;            /* what was not the program's, since start */
  int64_t waited;              /* of that, for room in the ring */
  int64_t sampling_time;       /* in hooks of samples */
  int64_t consumer_time;       /* CPU time of the writer's thread */
  bool is_probe;  /* it measures what events cost: its writer is none */
  bool has_costs; /* what events cost is taken off the times */
  l_calibration *calibration;  /* measures them, or NULL */
  int64_t calibrate_at;        /* the clock, when they are measured again */
  int64_t costs[L_COST_KINDS]; /* of an event around its hook, in 1/1024 ns */
  int64_t cost_fraction; /* of that less than a ns, not on `overhead` so far */
  int64_t hook_time[L_COST_KINDS];     /* ns in hooks */
  uint64_t event_counts[L_COST_KINDS]; /* events */
  uint64_t events;                     /* records */

  pf_dictionary *dictionary;
  pf_writer *writer; /* NULL: sums */
  /* The writer while nothing has to be looked at before a record: it knows all
     that the dictionary has, and nothing has failed. Else NULL. */
  pf_writer *fast_writer;
  pf_contexts *contexts; /* of sums, else NULL */
  pf_error error;        /* why recording has ended; PF_OK */
  l_layout layout;
  uint32_t event_codes[4]; /* name ids by l_event_code; or PF_NO_NAME */
  uint32_t kinds[2];       /* function, main */
  l_functions functions;
  l_lanes lanes;
  char own_source[LUA_IDSIZE]; /* the source of the recorder's Lua part */

  /* Samples. The handler of the timer's signal writes these. */
  _Atomic(lua_State *) thread; /* the one that runs */
  lua_State *main;
  _Atomic uint64_t due;    /* ns for which there is no sample so far */
  int64_t last_tick;       /* the clock at the last tick */
  uint32_t random;         /* so that ticks do not keep step with loops */
  lua_State *armed_thread; /* where our hook stands, for a moment, */
  lua_Hook saved_hook;     /* in place of the program's own */
  int saved_mask, saved_count;
  bool has_timer;
  timer_t timer;
  struct sigaction saved_action; /* who had the signal */
  uint32_t *areas;               /* of a stack: `depth` of them */
} l_recorder;

extern _Atomic(l_recorder *) l_recording;


/* The clock, in ns. */
static inline int64_t l_now (l_recorder *r) {
  return l_clock_now(&r->clock);
}

/* A failure in a hook: recording ends. */
void l_recorder_fail (l_recorder *recorder, pf_status status, const char *what);


/* recorder_functions.c */

/* Before functions are looked up. */
void l_functions_prepare (lua_State *L);

/* The function of an activation, which may be `hint` (NULL: no idea); NULL when
   out of memory, which ends the recording. */
l_function *l_function_of (lua_State *L, lua_Debug *ar, l_recorder *recorder,
                           l_function *hint);

/* The area of a line of it, but where lines are recorded alone its stack of one
   frame. When out of memory, which ends the recording: PF_NO_AREA. */
uint32_t l_line_area (l_recorder *recorder, l_function *function, int line);

void l_functions_free (l_functions *functions);


/* recorder_lanes.c */

/* The lane of a thread, when it has one. */
l_lane *l_lane_find (const l_recorder *recorder, const lua_State *thread);

/* A lane for a thread; NULL when out of memory. */
l_lane *l_lane_new (l_recorder *recorder, lua_State *thread);

/* The thread has ended: what it was in is left. */
void l_lane_end (l_recorder *recorder, lua_State *thread);

/* Take the calls of a thread as they are, from a level on: those of the lane that
   are still there stay, with the line that they execute now. A call that ended
   and one of the same function that took its place unseen are taken for one. */
void l_lane_sync (l_recorder *recorder, l_lane *lane, int level);

/* Room for one more call; false when out of memory, which ends the recording. */
bool l_lane_reserve (l_recorder *recorder, l_lane *lane);

/* Leave the calls above the first `count`. */
void l_lane_leave (l_recorder *recorder, l_lane *lane, size_t count);

/* The number of the frame with that ci, or SIZE_MAX. */
size_t l_lane_index (const l_lane *lane, const void *ci);

void l_lanes_free (l_lanes *lanes);

/* Recording pauses: each lane is compared with its thread before it goes on. */
void l_lanes_mark_stale (l_recorder *recorder);

/* Leave all calls of all lanes. */
void l_lanes_leave_all (l_recorder *recorder);

static inline size_t l_lane_count (const l_lane *lane) {
  return (size_t)(lane->top + 1 - lane->frames);
}


/* recorder_put.c */

/* Find where the values of records go; raises when the writer's tables are
   not as they should be. */
void l_put_prepare (lua_State *L, l_recorder *recorder);

/* The line of a frame is done. */
void l_put_line (l_recorder *recorder, const l_lane *lane, l_frame *frame);

/* Of mode calls: a lane waits, or goes on. */
void l_put_suspended (l_recorder *recorder, const l_lane *lane, bool waits);

/* A stack was sampled, so many times. */
void l_put_sample (l_recorder *recorder, uint32_t stack, uint64_t count);

/* The dictionary has something new, for the writer. */
static inline void l_put_changed (l_recorder *recorder) {
  recorder->fast_writer = NULL;
}


/* recorder_hooks.c: what it sets, by mode, and the mask of it. */
lua_Hook l_hook_of (l_mode mode, bool by_line, int *mask);

/* Charge the time since the last event to what runs. */
void l_charge (l_recorder *recorder, int64_t now);

/* A thread runs: its lane, after what passed until now has been charged. Of one
   that has none the calls from that level on are taken as they are. */
l_lane *l_switch (l_recorder *recorder, lua_State *thread, int level,
                  int64_t now);


/* recorder_timer.c */

pf_status l_timer_start (l_recorder *recorder, pf_error *error);
void l_timer_stop (l_recorder *recorder);


/* Whether a hook of a thread is that of samples. */
bool l_timer_is_armed (lua_State *thread);


/* recorder_coroutines.c: core.coroutines. */
int l_core_coroutines (lua_State *L);


/* recorder_cost.c */

/* Measure recorder->costs, and be ready to measure them again. When out of memory
   they stay 0, and calibration is NULL. */
void l_calibration_open (l_recorder *recorder);
void l_calibration_close (l_recorder *recorder);

/* Measure one of them again: the clock has come to calibrate_at. */
void l_calibration_update (l_recorder *recorder);

#endif
