/*
** recorder.h - types and functions shared by the files of the recorder, which
** profiles the Lua program that runs it.
**
**   recorder.c        the userdata: begin, pause, resume, finish
**   hooks.c           the hooks for lines, calls and returns
**   lua_lanes.c       the recorder's own stack of each coroutine
**   function_names.c  names and areas of functions
**   put_events.c      writes events as records, or adds them up
**   fast_events.h     inlined functions of lua_lanes.c and put_events.c
**   timer.c           sampling by a timer
**   zones.c           parts of functions that the program names
**   labels.c          labels that the program sets
**   allocations.c     mode "memory": an allocator around the program's
**   collector_cycles.c  mode "memory": cycles of the collector
**   coroutines.c      coroutine functions that inform the recorder
**   program_hooks.c   the program's own hooks
**   c_threads.c       Lua threads that C code resumes
**   hook_cost.c       calibration: the cost of an event outside its hook
**   clock.c           the clock
**
** Hooks and signal handlers get no context: they find the recorder through
** l_recording, a variable of the process, so at most one recorder is active. A
** hook allocates memory only for a function, line, call path, coroutine or
** stack depth that it sees for the first time. A failure ends the recording,
** never the program: the hook is removed; `error` is the reason.
**
** All times are ns. Records hold program time: the clock minus pauses, minus
** the time spent waiting for space in the ring, and, if `has_costs`, minus the
** time spent in hooks and in the interpreter around them. The sum of what is
** subtracted is `overhead`.
**
** internal/recording.lua calls it. The userdata owns functions, lanes,
** calibration and `areas`; it pins the dictionary and its stream or contexts.
*/

#ifndef lua_recorder_h
#define lua_recorder_h

#include <stdatomic.h>

#include "lua/profile/context_profile.h"
#include "lua/recorder/clock.h"
#include "lua/writer/stream.h"
#include "model/base/id_table.h"
#include "model/base/intern_table.h"
#include "os/os.h"

#define L_RECORDER "profio.recorder"

typedef enum l_mode {
  L_TIMED,     /* mode "timed": time and stack of each executed line */
  L_SAMPLED,   /* mode "sampled": a stack at each timer tick */
  L_CALLS,     /* mode "calls": enter and leave of each call */
  L_AGGREGATE, /* mode "aggregate": sums by calling context */
  L_MEMORY     /* mode "memory": allocations by calling context */
} l_mode;

/* The identity of a function. Closures of one prototype are equal. `code` is a
   hash of its code where the other members do not tell functions apart, else
   0. */
typedef struct l_function_key {
  lua_CFunction c;    /* NULL for a Lua function */
  const char *source; /* of Lua; only its address is compared later */
  size_t size;        /* bytes of the source */
  int first, last;    /* lines where it is defined */
  int signature;      /* numbers of upvalues and parameters, is it vararg */
  uint64_t code;
} l_function_key;

#define L_TAIL 64

/* A function of the program. Allocated by function_names.c. */
typedef struct l_function {
  l_function_key key;
  /* The last bytes of the source. They are compared as well, because the source
     of another chunk may get the address of a collected one. */
  char tail[L_TAIL];
  size_t tail_size;

  uint32_t name, module, kind; /* name ids */
  uint32_t record_id; /* area or name id in event records, or L_NO_ID */
  bool is_own;        /* belongs to the recorder and is not recorded */
  bool has_alike;     /* other functions have the same lines and signature */
  uint32_t *areas;    /* by line - base: l_line_area plus 1; 0: unknown */
  int base, nareas;
} l_function;

#define L_NO_ID UINT32_MAX

/* Instructions between two events of a hook that only notes lines. */
#define L_IDLE_COUNT 1000000

/* A call on a lane. */
typedef struct l_frame {
  const void *ci; /* identifies the call: compared, not dereferenced */
  l_function *function;
  int64_t spent;  /* ns on the current line, without its callees */
  int line;       /* current line; 0: C function or no debug info */
  bool has_line;  /* a line has begun */
  bool is_new;    /* the call has not been counted yet */
  bool is_hidden; /* not recorded */
  bool has_enter; /* an enter event has been recorded */
  uint32_t zone;  /* number of the zone that it is, or 0: a call */
  uint32_t path;  /* call path of the line: stack id or context */
} l_frame;

/* The stack of a Lua thread. Popped frames keep `ci`, because the next call at
   the same depth usually has the same. One frame more than the capacity is
   allocated, so top[1] can always be read. */
typedef struct l_lane {
  lua_State *thread;
  l_frame *block;    /* owned memory; [0] is a sentinel */
  l_frame *frames;   /* in the block */
  l_frame *top;      /* innermost call; frames - 1: empty stack */
  l_frame *last;     /* last frame of the capacity */
  uint32_t number;   /* from 0; numbers of ended lanes are reused */
  uint32_t base;     /* call path of its labels */
  uint32_t recorded; /* the number in records, limited by max_lanes */
  bool is_suspended;
  bool is_stale; /* must be compared with Lua's stack after a pause */
} l_lane;

/* A sample of the last time. */
typedef struct l_taken {
  int64_t time; /* of the system, ns */
  uint32_t stack, count;
} l_taken;

/* Mode "sampled": the samples as counts by stack. */
typedef struct l_sample_counts {
  uint64_t *by_stack;
  size_t capacity;
  int64_t keep;    /* ns after which a sample is forgotten; 0: never */
  l_taken *window; /* circular, if `keep` is not 0 */
  size_t first, count, window_capacity; /* a power of two */
} l_sample_counts;

typedef struct l_lanes {
  pf_id_table threads; /* their addresses, which Lua uses again */
  l_lane **list;       /* by id of the address; NULL: ended */
  size_t capacity;
  uint32_t *free; /* numbers of ended lanes */
  size_t nfree, free_capacity;
  uint32_t used; /* lowest number that was never used */
} l_lanes;

typedef struct l_functions {
  l_function **list;
  size_t capacity;
  pf_intern_table known; /* index of `list` by key */
} l_functions;

/* An open zone. */
typedef struct l_zone {
  const lua_State *thread;
  const void *ci; /* the call in which it lies, of `owner` */
  const l_function *owner;
  l_function *function; /* what it is recorded as */
  uint32_t number;      /* from 1 */
} l_zone;

/* A label of a thread. */
typedef struct l_label {
  const lua_State *thread;
  uint32_t key;         /* name id */
  l_function *function; /* its frame, called key=value */
} l_label;

/* Layout of a record: which word holds which value. */
#define L_LAYOUT_MAX 6

typedef struct l_layout {
  uint32_t tag;
  uint8_t at[L_LAYOUT_MAX]; /* word of each value, by argument */
} l_layout;

/* Events of mode "calls", and their index in `event_codes`. */
typedef enum l_event_code {
  L_ENTER,
  L_LEAVE,
  L_SUSPEND,
  L_RESUME
} l_event_code;

/* Kinds of events by the work of the interpreter around their hook. */
typedef enum l_cost {
  L_COST_LINE,
  L_COST_LUA, /* call or return of a Lua function */
  L_COST_C,   /* call or return of a C function */
  L_COST_KINDS
} l_cost;

#define L_COST_BITS 10 /* costs are stored in units of 1/1024 ns */

typedef struct l_calibration l_calibration; /* hook_cost.c */
typedef struct l_c_threads l_c_threads;     /* c_threads.c */
typedef struct l_allocations l_allocations; /* allocations.c */
typedef struct l_cycles l_cycles;           /* collector_cycles.c */

typedef struct l_recorder {
  l_mode mode;
  l_clock clock;
  int64_t interval; /* between samples, ns; mode "memory": bytes */
  uint32_t depth;   /* maximum number of frames of a recorded stack */
  bool by_line;     /* aggregate, memory: sums by line */
  bool is_exact;    /* memory: each block, not samples */
  bool has_callers; /* timed: with the stack of callers */
  uint32_t max_lanes;
  size_t max_name; /* maximum bytes of a function name */

  lua_Hook hook; /* NULL: no hook is active */
  int mask;      /* 0: the mode needs no hook */
  bool is_on;
  bool is_paused;         /* by the program */
  const lua_State *taker; /* thread with a hook of the program, or NULL */
  bool is_lost;           /* another hook has replaced the recorder's */
  int64_t taken_at;       /* program time when a hook was first taken */
  int64_t taken_since; /* clock when the current hook of the program was set */
  int64_t taken_time;  /* ns without a hook: part of no record */
  const void *state;   /* registry of the Lua state that is recorded */
  int64_t process;     /* process that is recorded */
  l_lane *running;
  int64_t start, program_time; /* clock at begin; time of the last event */
  int64_t overhead;            /* ns since `start` that are not program time */
  int64_t waited;              /* ns spent waiting for space in the ring */
  int64_t sampling_time;       /* ns spent in hooks of samples */
  int64_t consumer_time;       /* CPU time of the writer's thread, ns */
  bool is_probe;               /* of hook_cost.c: its records are not kept */
  bool has_costs;              /* costs are subtracted from program time */
  l_calibration *calibration;  /* measures `costs`; owned, or NULL */
  int64_t calibrate_at;        /* clock of the next calibration */
  int64_t costs[L_COST_KINDS]; /* outside of the hook, 1/1024 ns */
  int64_t cost_fraction;       /* less than 1 ns, not yet in `overhead` */
  int64_t hook_time[L_COST_KINDS];     /* ns inside hooks */
  uint64_t event_counts[L_COST_KINDS]; /* number of events */
  uint64_t events;                     /* number of records */

  pf_dictionary *dictionary;
  pf_writer *writer; /* borrowed; NULL: mode "aggregate", or finished */
  /* Equal to `writer` while records need no check: the writer knows the whole
     dictionary and has not failed. NULL: take the general path. */
  pf_writer *fast_writer;
  int64_t warn_at;       /* bytes of the file at which to say so; 0: never */
  pf_contexts *contexts; /* borrowed; mode "aggregate", else NULL */
  pf_error error;        /* why recording has ended, or PF_OK */
  l_layout layout;
  uint32_t event_codes[4]; /* name ids by l_event_code, or PF_NO_NAME */
  /* Mode "calls" with the table `timeline`: lanes from max_lanes - 1 on share
     that number, and a variable says which of them the next events are of. */
  l_layout switch_layout;
  uint32_t switch_area;   /* the variable */
  uint32_t switch_code;   /* name id of "write" */
  uint32_t shared_number; /* its last value, or L_NO_ID */
  uint32_t kinds[2];      /* name ids of "function" and "main" */
  l_functions functions;
  l_lanes lanes;
  l_zone *zones; /* owned; the open ones in the order of their begins */
  size_t nzones, zone_capacity;
  l_label *labels; /* owned; in the order in which they were set */
  size_t nlabels, label_capacity;
  uint32_t last_zone;          /* number of the last one */
  char own_source[LUA_IDSIZE]; /* source of recorder.lua */

  /* Sampling. The function of the timer writes these fields. */
  _Atomic(lua_State *) thread; /* the running thread */
  const lua_State *pinned;     /* thread that the registry keeps, or NULL */
  lua_State *main;
  _Atomic uint64_t due; /* ns that no sample stands for yet */
  int64_t last_tick;    /* clock at the last tick */
  int64_t set_at, wait; /* clock when the timer was set, and ns up to its tick;
                           paused: the rest of these, or 0 before the first */
  _Atomic bool is_held; /* see l_timer_hold */
  uint32_t random;      /* pseudo-random state: varies the interval */
  _Atomic(lua_State *) armed_thread; /* has the sampling hook; or NULL */
  lua_Hook saved_hook;               /* the program's own hook on that thread */
  int saved_mask, saved_count;
  l_sample_counts samples;
  l_c_threads *c_threads;     /* owned; NULL: not sampling */
  l_allocations *allocations; /* owned; NULL: not mode "memory" */
  l_cycles *cycles;           /* owned; NULL: not mode "memory" */
  os_sampler *sampler;        /* owned; NULL: it does not run */
  uint32_t *areas;            /* scratch for the `depth` areas of a stack */
} l_recorder;

extern _Atomic(l_recorder *) l_recording;


/* Returns the active recorder if it records this Lua state, else NULL. */
static inline l_recorder *l_recording_of (lua_State *L) {
  l_recorder *const r =
      atomic_load_explicit(&l_recording, memory_order_relaxed);
  return r != NULL && r->state == lua_topointer(L, LUA_REGISTRYINDEX) ? r
                                                                      : NULL;
}

/* Returns the clock in ns. */
static inline int64_t l_now (l_recorder *r) {
  return l_clock_now(&r->clock);
}

/* Ends the recording. recorder->error keeps the first failure, a copy. */
void l_recorder_fail (l_recorder *recorder, pf_status status, const char *what);


/* function_names.c */

/* Moves the namer, a Lua function, from the stack to the registry. To be called
   before l_function_of. */
void l_functions_prepare (lua_State *L);

/* Removes the namer, which keeps what it has read of the program's texts. */
void l_functions_release (lua_State *L);

/* Adds core.c_address and core.c_place. */
void l_open_function_names (lua_State *L);

/* Returns the function of the activation `ar`, a new one if it is unknown. The
   recorder owns the result. NULL: out of memory; recording has ended. If
   ar->i_ci is NULL, `ar` describes ("Su") a Lua function that has left the
   stack and has not been collected yet. */
l_function *l_function_of (lua_State *L, lua_Debug *ar, l_recorder *recorder);

/* Returns what is recorded as a function, but is none: a zone or a label. NULL:
   out of memory. */
l_function *l_named_function (l_recorder *recorder, const char *name,
                              uint32_t module, int line);

/* Returns the area id of a line of the function. In mode "timed" without
   callers it returns the id of a stack with this frame only. PF_NO_AREA: out of
   memory; recording has ended. */
uint32_t l_line_area (l_recorder *recorder, l_function *function, int line);

/* Frees the functions and the table. */
void l_functions_free (l_functions *functions);


/* lua_lanes.c */

/* Returns the lane of a thread, or NULL. */
l_lane *l_lane_find (const l_recorder *recorder, const lua_State *thread);

/* Adds a lane for a thread. NULL: out of memory. */
l_lane *l_lane_new (l_recorder *recorder, lua_State *thread);

/* Leaves all calls of the thread's lane and frees the lane. A running lane is
   kept while recording is on. */
void l_lane_end (l_recorder *recorder, lua_State *thread);

/* Makes the lane equal to the thread's stack from `level` on. Frames that are
   still on it are kept and get their current line; the others are left; missing
   ones are entered. A call that ended during a pause cannot be told from a new
   call of the same function with the same CallInfo. */
void l_lane_sync (l_recorder *recorder, l_lane *lane, int level);

/* Allocates the frames, or doubles their capacity. False: out of memory;
   recording has ended. */
bool l_lane_reserve (l_recorder *recorder, l_lane *lane);

/* Leaves all calls but the outermost `count`. */
void l_lane_leave (l_recorder *recorder, l_lane *lane, size_t count);

/* Returns the index of the frame with this ci, or SIZE_MAX. */
size_t l_lane_index (const l_lane *lane, const void *ci);

/* Frees the lanes without recording their ends. */
void l_lanes_free (l_lanes *lanes);

/* Marks all lanes stale: each is compared with its thread before its next
   use. */
void l_lanes_mark_stale (l_recorder *recorder);

/* Mode "aggregate": adds what all open calls have spent so far. */
void l_lanes_put_open (l_recorder *recorder);

/* Leaves all calls of all lanes. */
void l_lanes_leave_all (l_recorder *recorder);

static inline size_t l_lane_count (const l_lane *lane) {
  return (size_t)(lane->top + 1 - lane->frames);
}


/* put_events.c */

/* Finds the record layout for the mode. Raises when the writer's tables lack a
   table or column. */
void l_put_prepare (lua_State *L, l_recorder *recorder);

/* Records the time spent on the current line of a frame. */
void l_put_line (l_recorder *recorder, const l_lane *lane, l_frame *frame);

/* Mode "calls": records that the innermost call of a lane was suspended or
   resumed. */
void l_put_suspended (l_recorder *recorder, const l_lane *lane, bool suspended);

/* Says once on standard error that the file has got large. */
void l_put_check_size (l_recorder *recorder);

/* Mode "aggregate": adds what an open call has spent so far. */
void l_put_open (l_recorder *recorder, const l_lane *lane, l_frame *frame);

/* Mode "memory": the context of the innermost call. L_NO_ID: none, or out of
   memory. */
uint32_t l_put_running (l_recorder *recorder);

/* To be called after adding to the dictionary: the writer learns the new
   entries before the next record. */
static inline void l_put_changed (l_recorder *recorder) {
  recorder->fast_writer = NULL;
}


/* hooks.c: returns the hook of a recorder's mode and its mask. NULL: the mode
   samples, and needs none in between. */
lua_Hook l_hook_of (const l_recorder *recorder, int *mask);

/* Adds the time since the last event to the running call. `now` is the
   clock. */
void l_charge (l_recorder *recorder, int64_t now);

/* Makes `thread` the running thread at clock `now`, after charging the time
   until then. Returns its lane, synchronised with the stack from `level` on if
   it is new or stale. NULL: out of memory; recording has ended. */
l_lane *l_switch (l_recorder *recorder, lua_State *thread, int level,
                  int64_t now);


/* zones.c: adds core.zone; and makes the value that closes zones of a
   recording. */
void l_open_zones (lua_State *L);
void l_zones_open (lua_State *L, const l_recorder *recorder);

/* Whether a C function is one of zones.c or of labels.c, and not recorded. */
bool l_zone_is_own (lua_CFunction f);
bool l_label_is_own (lua_CFunction f);

/* Adds the zones that are open in a call of `owner` to the `n` first of
   r->areas, the innermost first, at the current line of the call (0: unknown).
   Returns how many there are. */
size_t l_zones_read (l_recorder *recorder, const lua_State *thread,
                     const void *ci, const l_function *owner, int line,
                     size_t n);

/* Removes the zones of a thread, which has ended. */
void l_zones_end (l_recorder *recorder, const lua_State *thread);


/* labels.c: adds core.label. */
void l_open_labels (lua_State *L);

/* The call path of the labels of a thread: a stack or a context. */
uint32_t l_labels_path (l_recorder *recorder, const lua_State *thread);

/* The open calls of a lane go on below the labels that its thread has now. */
void l_labels_move (l_recorder *recorder, l_lane *lane);

/* Adds the labels of a thread to the `n` first of r->areas, and returns how
   many there are. */
size_t l_labels_read (l_recorder *recorder, const lua_State *thread, size_t n);

/* Removes the labels of a thread, which has ended; copies those of a thread to
   a new one. */
void l_labels_end (l_recorder *recorder, const lua_State *thread);
void l_labels_inherit (l_recorder *recorder, const lua_State *from,
                       const lua_State *to);


/* recorder.c: the program sets a hook on a thread, which pauses recording; and
   removes it. */
void l_recorder_take (lua_State *L, l_recorder *recorder,
                      const lua_State *thread);
void l_recorder_give_back (lua_State *L, l_recorder *recorder);

/* program_hooks.c: core.program_hooks. */
int l_core_program_hooks (lua_State *L);

/* coroutines.c: core.coroutines. */
int l_core_coroutines (lua_State *L);


/* hook_cost.c */

/* Starts the calibration and measures recorder->costs, which takes some
   milliseconds. Without memory costs stay 0 and the calibration NULL. */
void l_calibration_open (l_recorder *recorder);

/* Frees the calibration, if there is one. */
void l_calibration_close (l_recorder *recorder);

/* By how much the subtracted cost may be wrong, in ns: for each event half of
   the range of the recent results without the smallest and the largest one. 0
   without calibration. */
int64_t l_calibration_error (const l_recorder *recorder);

/* Measures one kind of event again, when the clock has reached calibrate_at. */
void l_calibration_update (l_recorder *recorder);

#endif
