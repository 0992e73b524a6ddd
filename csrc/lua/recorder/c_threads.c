/*
** c_threads.c - the Lua threads that C code creates and resumes, as cqueues and
** other hosts do. No function of the recorder sees them run, so while mode
** "sampled" records, an allocator around that of the Lua state notes where
** threads are created and freed.
**
** Each tick sets the sampling hook on all of them that have run since the last
** one, since any may be running; the hook of the one that runs takes the
** sample. Threads that do not run keep their hook, so a tick costs no more than
** the threads that ran before it.
**
** Used by recorder.c, timer.c and coroutines.c. The recorder owns the
** l_c_threads; the signal handler reads it unless it is busy.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/recorder/fast_events.h"
#include "lua/recorder/sampling.h"
#include "model/base/memory.h"

typedef struct c_thread {
  lua_State *thread; /* NULL: freed, or resumed by the recorder's functions */
  uint32_t place;    /* index in `ready` plus 1; 0: it has its hook */
} c_thread;

struct l_c_threads {
  lua_Alloc allocator; /* of the program */
  void *context;
  size_t size;          /* bytes of a thread; 0: none has been seen */
  _Atomic bool is_busy; /* what follows is changing */
  pf_id_table blocks;   /* addresses of their memory */
  c_thread *list;       /* by id of the address */
  size_t capacity;
  uint32_t *ready; /* ids of threads without the hook; as long as `list` */
  size_t nready, ready_capacity;
};


static c_thread *find (const l_c_threads *t, const void *block) {
  const uint32_t id = pf_id_table_find(&t->blocks, (uint64_t)(uintptr_t)block);
  return id == PF_NO_ID ? NULL : &t->list[id];
}


static void add_ready (l_c_threads *t, c_thread *thread) {
  t->ready[t->nready++] = (uint32_t)(thread - t->list);
  thread->place = (uint32_t)t->nready;
}


static void remove_ready (l_c_threads *t, c_thread *thread) {
  if (thread->place == 0)
    return;
  const uint32_t last = t->ready[--t->nready];
  t->ready[thread->place - 1] = last;
  t->list[last].place = thread->place;
  thread->place = 0;
}


/* Notes a new thread. Its memory is cleared, because the signal handler may set
   the hook before Lua has initialised it, which then has no effect. */
static void add (l_c_threads *t, void *block, size_t size) {
  const uint64_t word = (uint64_t)(uintptr_t)block;
  uint32_t id;
  memset(block, 0, size);
  t->size = size;
  atomic_store(&t->is_busy, true);
  if (pf_id_table_words(&t->blocks, &word, 1, &id) == PF_OK &&
      pf_grow_filled(&t->list, &t->capacity, t->blocks.count, 0) &&
      pf_grow(&t->ready, &t->ready_capacity, t->capacity)) {
    t->list[id].thread = (lua_State *)(void *)((char *)block + LUA_EXTRASPACE);
    if (t->list[id].place == 0)
      add_ready(t, &t->list[id]);
  }
  atomic_store(&t->is_busy, false);
}


static void drop (l_c_threads *t, const void *block) {
  c_thread *const thread = find(t, block);
  if (thread == NULL)
    return;
  atomic_store(&t->is_busy, true);
  remove_ready(t, thread);
  thread->thread = NULL;
  atomic_store(&t->is_busy, false);
}


/* Allocates a thread, or frees what may be one. */
static L_COLD void *allocate_thread (l_c_threads *t, void *block, size_t osize,
                                     size_t nsize) {
  if (block != NULL)
    drop(t, block);
  void *const made = t->allocator(t->context, block, osize, nsize);
  if (block == NULL && made != NULL)
    add(t, made, nsize);
  return made;
}


/* A lua_Alloc: that of the program; a new block states its type in `osize`. It
   runs at each allocation, and mostly ends in a jump. */
static void *allocate (void *context, void *block, size_t osize, size_t nsize) {
  l_c_threads *const t = context;
  if (block == NULL ? osize == LUA_TTHREAD : nsize == 0 && osize == t->size)
    return allocate_thread(t, block, osize, nsize);
  return t->allocator(t->context, block, osize, nsize);
}


void l_c_threads_open (lua_State *L, l_recorder *r) {
  l_c_threads *const t = calloc(1, sizeof *t);
  if (t == NULL)
    return;
  pf_id_table_init(&t->blocks);
  t->allocator = lua_getallocf(L, &t->context);
  r->c_threads = t;
  lua_setallocf(L, allocate, t);
}


void l_c_threads_close (lua_State *L, l_recorder *r) {
  l_c_threads *const t = r->c_threads;
  void *context;
  if (t == NULL)
    return;
  r->c_threads = NULL;
  /* if the program has put an allocator around this one, both must stay */
  if (lua_getallocf(L, &context) != allocate || context != t)
    return;
  lua_setallocf(L, t->allocator, t->context);
  pf_id_table_free(&t->blocks);
  free(t->list);
  free(t->ready);
  free(t);
}


void l_c_threads_arm (l_c_threads *t, lua_Hook hook, int mask) {
  if (t == NULL || atomic_load(&t->is_busy))
    return;
  for (size_t i = 0; i < t->nready; i++) {
    c_thread *const one = &t->list[t->ready[i]];
    one->place = 0;
    if (lua_gethook(one->thread) == NULL)
      lua_sethook(one->thread, hook, mask, 1);
  }
  t->nready = 0;
}


void l_c_threads_ran (l_c_threads *t, lua_State *thread) {
  c_thread *const one =
      t == NULL ? NULL : find(t, (char *)thread - LUA_EXTRASPACE);
  if (one == NULL || one->thread == NULL || one->place != 0)
    return;
  atomic_store(&t->is_busy, true);
  add_ready(t, one);
  atomic_store(&t->is_busy, false);
}


void l_c_threads_forget (l_c_threads *t, lua_State *thread) {
  if (t != NULL)
    drop(t, (char *)thread - LUA_EXTRASPACE);
}
