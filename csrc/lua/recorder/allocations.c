/*
** allocations.c - mode "memory": an allocator around that of the Lua state
** finds out which functions take memory, and what is still alive at the end.
**
** Sampled: the bytes that are taken are a line on which points lie at random,
** `mean` bytes apart on average (a Poisson process). A block of s bytes with a
** point on it is a sample, and stands for 1 / (1 - exp(-s / mean)) blocks of
** its size, so all sums are unbiased. The allocator runs in the middle of an
** instruction, where the stack cannot be read as a whole and no Lua code can
** run. So a sample waits for the hook of timer.c, which fires at the next
** instruction that notices it, call or return, and reads the stack there. A
** function that ends in a tail call has left the stack by then, and the line
** may be another one: the allocator notes the innermost function and its line,
** but not while the stack itself grows.
**
** Exact: the hooks of calls and returns keep the recorder's own stacks, and
** each block adds to the innermost call.
**
** A block that grows counts as a new one of its new size, and the old one as
** freed; one that shrinks stays what it was.
**
** Used by recorder.c, timer.c and function_names.c. The recorder owns the
** l_allocations, which stays if the program has put an allocator around it.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/recorder/fast_events.h"
#include "lua/recorder/sampling.h"
#include "model/base/memory.h"

#define FILTER_BITS 65536u

/* A block that is a sample, or in exact mode any block. */
typedef struct allocation {
  size_t size;
  double weight;    /* number of blocks that it stands for; 0: none, freed */
  uint32_t context; /* L_NO_ID: its stack has not been read yet */
} allocation;

/* A sample whose stack has not been read yet. */
typedef struct pending_sample {
  uint32_t id; /* of the block; L_NO_ID: freed */
  size_t size;
  double weight;
} pending_sample;

/* The metrics, as in the contexts. */
enum {
  L_ALLOC_SPACE,
  L_ALLOC_OBJECTS,
  L_INUSE_SPACE,
  L_INUSE_OBJECTS,
  L_MEMORY_METRICS
};

typedef struct context_sums {
  double values[L_MEMORY_METRICS];
  int64_t put[L_MEMORY_METRICS]; /* part that is in the contexts */
} context_sums;

struct l_allocations {
  lua_Alloc allocator; /* of the program */
  void *context;
  l_recorder *recorder; /* NULL: closed */
  double mean;          /* bytes between two points */
  int64_t left;         /* bytes to the next point */
  uint64_t random;
  /* Bits of the hashes of samples, so that other blocks are freed quickly; in
     exact mode all are set. */
  uint64_t filter[FILTER_BITS / 64];
  size_t filter_free; /* samples until it is made anew */
  pf_id_table blocks; /* addresses of samples, which are used again */
  allocation *list;   /* by id of the address */
  size_t capacity;
  pending_sample *pending;
  size_t npending, pending_capacity;
  lua_Debug innermost; /* the function of the first pending sample */
  bool has_innermost;
  context_sums *sums; /* by context */
  size_t sums_capacity;
  int64_t freed; /* bytes */
};


/* {====== Blocks ====== */

/* xorshift64*: a random number that is not 0. */
static uint64_t next_random (l_allocations *a) {
  a->random ^= a->random >> 12;
  a->random ^= a->random << 25;
  a->random ^= a->random >> 27;
  return a->random * UINT64_C(0x2545F4914F6CDD1D);
}


/* Sets the distance to the next point, which is exponentially distributed. */
static void next_point (l_allocations *a) {
  const double part = ((double)(next_random(a) >> 11) + 0.5) / 0x1p53;
  const double distance = -log(part) * a->mean;
  a->left = distance < 0x1p62 ? (int64_t)distance : INT64_MAX / 2;
}


static context_sums *sums_of (l_allocations *a, uint32_t context) {
  if (!pf_grow_filled(&a->sums, &a->sums_capacity, (size_t)context + 1, 0))
    return NULL;
  return &a->sums[context];
}


/* Adds a sample to the sums of its context. */
static void add_sample (l_allocations *a, uint32_t context, uint32_t id,
                        size_t size, double weight) {
  context_sums *const sums = sums_of(a, context);
  if (sums == NULL) {
    l_recorder_fail(a->recorder, PF_ENOMEM, "out of memory");
    return;
  }
  sums->values[L_ALLOC_SPACE] += weight * (double)size;
  sums->values[L_ALLOC_OBJECTS] += weight;
  a->recorder->events++;
  if (id == L_NO_ID)
    return;
  sums->values[L_INUSE_SPACE] += weight * (double)a->list[id].size;
  sums->values[L_INUSE_OBJECTS] += weight;
  a->list[id].context = context;
}


/* Returns the sample that a block is, or NULL. */
static allocation *find (const l_allocations *a, const void *block) {
  const uint32_t id = pf_id_table_find(&a->blocks, (uint64_t)(uintptr_t)block);
  return id == PF_NO_ID || a->list[id].weight == 0 ? NULL : &a->list[id];
}


/* A block has got the size `size`, which is less, or 0: it is freed. */
static void on_less (l_allocations *a, const void *block, size_t size) {
  allocation *const one = find(a, block);
  if (one == NULL)
    return;
  const size_t less = one->size - size;
  one->size = size;
  if (one->context != L_NO_ID) {
    double *const values = a->sums[one->context].values;
    values[L_INUSE_SPACE] -= one->weight * (double)less;
    values[L_INUSE_OBJECTS] -= size == 0 ? one->weight : 0;
  }
  if (size > 0)
    return;
  for (size_t i = 0; i < a->npending; i++)
    if (a->pending[i].id == (uint32_t)(one - a->list))
      a->pending[i].id = L_NO_ID;
  one->weight = 0;
}


static inline uint32_t filter_bit (uint64_t address) {
  return (uint32_t)(address >> 4) * 0x9E3779B1u >> 16;
}


static inline bool may_be_sample (const l_allocations *a, const void *block) {
  const uint32_t bit = filter_bit((uint64_t)(uintptr_t)block);
  return (a->filter[bit / 64] >> bit % 64 & 1) != 0;
}


static void add_to_filter (l_allocations *a, uint64_t address) {
  const uint32_t bit = filter_bit(address);
  a->filter[bit / 64] |= UINT64_C(1) << bit % 64;
}


/* Clears the bits of blocks that are samples no more, when many have been
   noted. */
static void renew_filter (l_allocations *a) {
  size_t alive = 0;
  memset(a->filter, 0, sizeof a->filter);
  for (uint32_t i = 0; i < a->blocks.count; i++)
    if (a->list[i].weight > 0) {
      add_to_filter(a, a->blocks.words[i]);
      alive++;
    }
  a->filter_free = alive + FILTER_BITS / 8;
}


/* Notes a block as a sample that stands for `weight` blocks. L_NO_ID: out of
   memory. */
static uint32_t note (l_allocations *a, const void *block, size_t size,
                      double weight) {
  const uint64_t word = (uint64_t)(uintptr_t)block;
  uint32_t id;
  if (!pf_grow_filled(&a->list, &a->capacity, (size_t)a->blocks.count + 1, 0) ||
      pf_id_table_words(&a->blocks, &word, 1, &id) != PF_OK) {
    l_recorder_fail(a->recorder, PF_ENOMEM, "out of memory");
    return L_NO_ID;
  }
  a->list[id] = (allocation){size, weight, L_NO_ID};
  if (!a->recorder->is_exact) {
    add_to_filter(a, word);
    if (--a->filter_free == 0)
      renew_filter(a);
  }
  return id;
}


static bool is_taking (const l_allocations *a) {
  return a->recorder != NULL && a->recorder->is_on &&
         !atomic_load(&a->recorder->is_held);
}


/* Bytes of the largest stack of Lua 5.4. */
#define STACK_BYTES ((uintptr_t)16 << 20)

/* Returns whether the stack of a call is where it was. From Lua 5.4.5 on, while
   a stack grows, the first word of each of its calls is not the address of a
   function but the offset in the stack. */
static bool is_settled (const lua_Debug *ar) {
  uintptr_t function;
  memcpy(&function, (const void *)ar->i_ci, sizeof function);
  return function > STACK_BYTES;
}


/* A block is taken or grows, and a point lies on it: notes the innermost
   function. Up to Lua 5.4.4 a stack that grows is where it was until then, and
   freed after it. */
static void note_innermost (l_allocations *a) {
  const l_recorder *const r = a->recorder;
  if (!is_taking(a) || r->is_exact || a->npending > 0)
    return;
  lua_State *const L = atomic_load(&r->thread);
  a->has_innermost =
      lua_getstack(L, 0, &a->innermost) && is_settled(&a->innermost);
  if (a->has_innermost)
    lua_getinfo(L, "Sul", &a->innermost);
}


static void on_sample (l_allocations *a, const void *block, size_t size) {
  l_recorder *const r = a->recorder;
  const double weight = 1 / -expm1(-(double)size / a->mean);
  next_point(a);
  const uint32_t id = note(a, block, size, weight);
  if (id == L_NO_ID)
    return;
  if (!pf_grow(&a->pending, &a->pending_capacity, a->npending + 1)) {
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
    return;
  }
  a->pending[a->npending++] = (pending_sample){id, size, weight};
  l_timer_arm(r);
}


/* A new block, or one that has grown. In exact mode `left` is below 0. */
static void on_more (l_allocations *a, const void *block, size_t size) {
  l_recorder *const r = a->recorder;
  if (!is_taking(a)) {
    a->left += (int64_t)size;
    return;
  }
  if (!r->is_exact) {
    on_sample(a, block, size);
    return;
  }
  const uint32_t context = l_put_running(r);
  const uint32_t id = context == L_NO_ID ? L_NO_ID : note(a, block, size, 1);
  if (id != L_NO_ID)
    add_sample(a, context, id, size, 1);
}


/* Another allocator has moved a block while it shrank. */
static void on_move (l_allocations *a, const void *block, const void *made) {
  const allocation *const one = find(a, block);
  if (one == NULL)
    return;
  const allocation copy = *one;
  const uint32_t old = (uint32_t)(one - a->list);
  const uint32_t id = note(a, made, copy.size, copy.weight);
  a->list[old].weight = 0;
  if (id == L_NO_ID)
    return;
  a->list[id].context = copy.context;
  for (size_t i = 0; i < a->npending; i++)
    if (a->pending[i].id == old)
      a->pending[i].id = id;
}


/* Calls the program's allocator for a block on which a point lies. */
static L_COLD void *allocate_sample (l_allocations *a, size_t type,
                                     size_t size) {
  note_innermost(a);
  void *const made = a->allocator(a->context, NULL, type, size);
  if (made != NULL)
    on_more(a, made, size);
  return made;
}


static L_COLD void *reallocate (l_allocations *a, void *block, size_t before,
                                size_t size) {
  if (size > before && a->left < (int64_t)size)
    note_innermost(a);
  void *const made = a->allocator(a->context, block, before, size);
  if (made == NULL && size > 0)
    return made;
  if (size > before) {
    if (a->recorder != NULL)
      on_less(a, block, 0);
    if ((a->left -= (int64_t)size) < 0)
      on_more(a, made, size);
    return made;
  }
  a->freed += (int64_t)(before - size);
  if (a->recorder == NULL)
    return made;
  on_less(a, block, size);
  if (made != block && size > 0)
    on_move(a, block, made);
  return made;
}


/* A lua_Alloc: that of the program. It runs at each allocation, and mostly ends
   in a jump. */
static void *allocate (void *context, void *block, size_t osize, size_t nsize) {
  l_allocations *const a = context;
  if (block == NULL) {
    if ((a->left -= (int64_t)nsize) < 0)
      return allocate_sample(a, osize, nsize);
  }
  else if (nsize > 0 || may_be_sample(a, block))
    return reallocate(a, block, osize, nsize);
  else
    a->freed += (int64_t)osize;
  return a->allocator(a->context, block, osize, nsize);
}


/* }====== */

/* {====== The hook ====== */

/* Returns the area of the innermost function of the pending samples, which a
   tail call has replaced, or whose line was another one then. PF_NO_AREA: it is
   not known. */
static uint32_t innermost_area (lua_State *L, l_recorder *r) {
  lua_Debug *const ar = &r->allocations->innermost;
  ar->i_ci = NULL; /* its frame must not be read any more */
  l_function *const f = l_function_of(L, ar, r);
  return f == NULL || f->is_own ? PF_NO_AREA
                                : l_sample_area(r, f, ar->currentline);
}


/* Reads the stack of the pending samples at an event into r->areas. Returns its
   size. */
static size_t read_stack (lua_State *L, l_recorder *r, int event) {
  l_allocations *const a = r->allocations;
  const bool is_tail = event == LUA_HOOKTAILCALL;
  const int level = event == LUA_HOOKCALL || is_tail;
  const void *const ci = a->innermost.i_ci;
  const bool is_known = a->has_innermost && *a->innermost.what != 'C';
  lua_Debug ar;
  const bool is_there = is_known && !is_tail && r->by_line &&
                        lua_getstack(L, level, &ar) &&
                        ci == (const void *)ar.i_ci;
  const uint32_t area =
      is_there || (is_known && is_tail) ? innermost_area(L, r) : PF_NO_AREA;
  size_t n = l_stack_read(L, r, level);
  if (area == PF_NO_AREA)
    return n;
  if (is_tail) {
    n -= n == r->depth;
    memmove(r->areas + 1, r->areas, n * sizeof *r->areas);
    n++;
  }
  r->areas[0] = area;
  return n;
}


bool l_allocations_wait (const l_recorder *r) {
  return r->allocations->npending > 0;
}


void l_allocations_take (lua_State *L, l_recorder *r, int event) {
  l_allocations *const a = r->allocations;
  uint32_t context = 0;
  for (size_t i = read_stack(L, r, event); i > 0 && context != L_NO_ID; i--)
    context = pf_context_of(r->contexts, context, r->areas[i - 1]);
  if (context == L_NO_ID)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  for (size_t i = 0; i < a->npending && context != L_NO_ID && context != 0; i++)
    add_sample(a, context, a->pending[i].id, a->pending[i].size,
               a->pending[i].weight);
  a->npending = 0;
}


/* }====== */

/* {====== Begin and end ====== */

void l_allocations_open (lua_State *L, l_recorder *r) {
  l_allocations *const a = calloc(1, sizeof *a);
  if (a == NULL)
    l_no_memory(L);
  pf_id_table_init(&a->blocks);
  a->recorder = r;
  a->mean = (double)r->interval;
  a->random = (uint64_t)os_now(OS_MONOTONIC) | 1;
  a->filter_free = FILTER_BITS / 8;
  if (r->is_exact) {
    memset(a->filter, 0xFF, sizeof a->filter);
    a->left = -1;
  }
  else
    next_point(a);
  r->allocations = a;
  a->allocator = lua_getallocf(L, &a->context);
  lua_setallocf(L, allocate, a);
}


int64_t l_allocations_freed (const l_recorder *r) {
  return r->allocations->freed;
}


void l_allocations_settle (l_recorder *r) {
  const l_allocations *const a = r->allocations;
  const size_t count = r->contexts->count < a->sums_capacity
                           ? r->contexts->count
                           : a->sums_capacity;
  for (uint32_t i = 0; i < count; i++)
    for (size_t m = 0; m < L_MEMORY_METRICS; m++) {
      context_sums *const sums = &a->sums[i];
      const double value = sums->values[m];
      const int64_t whole = value < 0x1p62 ? llround(value) : INT64_MAX;
      pf_context_add(r->contexts, i, m, whole - sums->put[m]);
      sums->put[m] = whole;
    }
}


void l_allocations_close (lua_State *L, l_recorder *r) {
  l_allocations *const a = r->allocations;
  void *context;
  if (a == NULL)
    return;
  r->allocations = NULL;
  a->recorder = NULL;
  a->left = INT64_MAX;
  memset(a->filter, 0, sizeof a->filter);
  pf_id_table_free(&a->blocks);
  free(a->list);
  free(a->pending);
  free(a->sums);
  /* if the program has put an allocator around this one, both must stay */
  if (lua_getallocf(L, &context) != allocate || context != a)
    return;
  lua_setallocf(L, a->allocator, a->context);
  free(a);
}


/* }====== */
