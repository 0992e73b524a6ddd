/*
** sampling.h - functions of the modes that take samples: "sampled" by a timer,
** "memory" by an allocator. Used by all files of the recorder that concern
** samples. They own nothing; what they open belongs to the recorder.
*/

#ifndef lua_recorder_sampling_h
#define lua_recorder_sampling_h

#include "lua/recorder/recorder.h"

/* timer.c */

/* Whether a timer can be had. PF_EIO. */
pf_status l_timer_check (pf_error *error);

/* Starts the timer of mode "sampled". PF_EIO. */
pf_status l_timer_start (l_recorder *recorder, pf_error *error);

/* Stops the timer, if it runs. */
void l_timer_stop (l_recorder *recorder);

/* Makes L, the caller, the thread that the signal handler interrupts. The
   registry keeps it, because it may end unseen; other threads than L and the
   main thread lose the sampling hook. */
void l_timer_follow (lua_State *L, l_recorder *recorder);

/* Allows the collector to free the thread of l_timer_follow. */
void l_timer_release (lua_State *L, l_recorder *recorder);

/* Between the two the recorder itself works, as for a name: what the clock
   shows from `now` on is none of the program, so no sample stands for it, no
   hook takes one, and no allocation counts. */
void l_timer_hold (l_recorder *recorder, int64_t now);
void l_timer_release_hold (l_recorder *recorder, int64_t now);

/* Sets the sampling hook on the running thread: the next instruction, call or
   return is an event that takes a sample. For the timer, and for the allocator
   of mode "memory". */
void l_timer_arm (l_recorder *recorder);

/* Fills r->areas with the functions of a stack from `level` on, innermost
   first, without the recorder's own and without the interpreter's C function at
   the bottom, unless it is alone: then it loads the program. Returns their
   number; 0 when out of memory. */
size_t l_stack_read (lua_State *L, l_recorder *r, int level);

/* Restores the program's own hook of a thread, for which the program asks or
   which it sets. Returns whether the thread had the sampling hook; afterwards
   l_timer_arm sets that again. */
bool l_timer_disarm (l_recorder *recorder, lua_State *thread);

/* The area of a function in a sample: at a line (0 or less: unknown), or by
   function if mode "memory" does not count by line. PF_NO_AREA: out of memory;
   recording has ended. */
uint32_t l_sample_area (l_recorder *recorder, l_function *function, int line);

/* Whether the hook of a thread is the sampling hook. */
bool l_timer_is_armed (lua_State *thread);


/* c_threads.c: begin and end to note the threads of L's state, for mode
   "sampled". Without memory none are noted. */
void l_c_threads_open (lua_State *L, l_recorder *recorder);
void l_c_threads_close (lua_State *L, l_recorder *recorder);

/* Signal handler: set the hook on the threads that have run since they had it.
   `threads` may be NULL here and below. */
void l_c_threads_arm (l_c_threads *threads, lua_Hook hook, int mask);

/* A thread has run, and its hook is removed. */
void l_c_threads_ran (l_c_threads *threads, lua_State *thread);

/* The recorder's own functions resume this thread. */
void l_c_threads_forget (l_c_threads *threads, lua_State *thread);


/* put_events.c: records `count` equal samples of a stack. */
void l_put_sample (l_recorder *recorder, uint32_t stack, uint64_t count);

/* sample_counts.c: counts samples of a stack. False: out of memory. */
bool l_samples_add (l_sample_counts *samples, uint32_t stack, uint64_t count);
void l_samples_free (l_sample_counts *samples);

/* The method recorder:samples. */
int l_recorder_samples (lua_State *L);

/* allocations.c: puts an allocator around that of the Lua state; raises when
   out of memory. */
void l_allocations_open (lua_State *L, l_recorder *recorder);

/* Removes the allocator. `allocations` may be NULL. */
void l_allocations_close (lua_State *L, l_recorder *recorder);

/* Whether samples wait for an event of the sampling hook. */
bool l_allocations_wait (const l_recorder *recorder);

/* Adds the waiting samples at an event of the sampling hook. */
void l_allocations_take (lua_State *L, l_recorder *recorder, int event);

/* Adds what has been counted since the last call to the contexts. */
void l_allocations_settle (l_recorder *recorder);

/* Returns the bytes that were freed so far. */
int64_t l_allocations_freed (const l_recorder *recorder);

/* collector_cycles.c: counts cycles from now on; raises when out of memory. */
void l_cycles_open (lua_State *L, l_recorder *recorder);
void l_cycles_free (l_recorder *recorder);

/* Pushes an array of the bytes that each cycle of the collector has freed. */
void l_cycles_push (lua_State *L, const l_recorder *recorder);

#endif
