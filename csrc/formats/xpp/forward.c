/*
** forward.c - some batches go round: the thread fills those that the reader has
** done with. Waking a thread costs about what a batch does: who waits is woken
** when half of them are there, or free.
*/

#include "formats/xpp/forward.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/parallel.h"

#define LOADS 8 /* batches; one of them is being read */
#define HALF  4
#define ALONE 4 /* plain ones in a row before the thread goes on with them */

struct xpp_forward {
  xpp_forward *next, **place; /* in the list; NULL: in none */
  xpp_plain plain;
  xpp_plain_rows loads[LOADS];
  size_t nloads;  /* that were opened */
  size_t alone;   /* plain ones in a row without the thread */
  bool is_single; /* there is no thread to be had */
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  /* Under the lock: a run from batch to batch. */
  pf_bytes bytes;
  uint64_t start;      /* byte of its first batch */
  size_t given, taken; /* batches of it, ever */
  bool runs;           /* the thread is to give more */
  bool is_busy;        /* it is at one */
  bool is_awaited;
  bool leaves;
};


/* {====== The thread ====== */

/* What batch `number` of a run is decoded into. The first load is that of a
   batch that is decoded without the thread. */
static xpp_plain_rows *load_of (xpp_forward *f, size_t number) {
  return &f->loads[(number + 1) % LOADS];
}


/* Where it begins. */
static uint64_t place_of (const xpp_forward *f, size_t number) {
  return f->start + (uint64_t)number * PF_BATCH_ROWS * f->plain.record;
}


static bool has_work (const xpp_forward *f) {
  return f->runs && f->given - f->taken < LOADS - 1;
}


static void decode_one (xpp_forward *f) {
  xpp_plain_rows *const load = load_of(f, f->given);
  const uint64_t at = place_of(f, f->given);
  const pf_bytes bytes = f->bytes;
  f->is_busy = true;
  pthread_mutex_unlock(&f->lock);
  const bool is_plain = xpp_plain_decode(&f->plain, bytes, at, load);
  pthread_mutex_lock(&f->lock);
  f->is_busy = false;
  f->runs = f->runs && is_plain; /* it may have been stopped meanwhile */
  f->given += f->runs;
  if (f->is_awaited && (!f->runs || f->given - f->taken >= HALF))
    pthread_cond_signal(&f->done);
}


static void *decode_all (void *context) {
  xpp_forward *const f = context;
  pthread_mutex_lock(&f->lock);
  for (;;) {
    while (!f->leaves && !has_work(f))
      pthread_cond_wait(&f->work, &f->lock);
    if (f->leaves)
      break;
    decode_one(f);
  }
  pthread_mutex_unlock(&f->lock);
  return NULL;
}

/* }====== */


/* {====== Runs ====== */

static bool open_loads (xpp_forward *f, size_t count) {
  pf_status status = PF_OK;
  while (f->nloads < count && status == PF_OK) /* closed also after a failure */
    status = xpp_plain_rows_open(&f->loads[f->nloads++], &f->plain);
  return status == PF_OK;
}


static bool open_conditions (xpp_forward *f) {
  if (pthread_mutex_init(&f->lock, NULL) != 0)
    return false;
  if (pthread_cond_init(&f->work, NULL) == 0) {
    if (pthread_cond_init(&f->done, NULL) == 0)
      return true;
    pthread_cond_destroy(&f->work);
  }
  pthread_mutex_destroy(&f->lock);
  return false;
}


static void close_conditions (xpp_forward *f) {
  pthread_cond_destroy(&f->done);
  pthread_cond_destroy(&f->work);
  pthread_mutex_destroy(&f->lock);
}


/* Have a thread, if that makes sense. */
static bool has_thread (xpp_forward *f) {
  if (f->has_thread || f->is_single)
    return f->has_thread;
  f->is_single = true;
  if (!open_loads(f, LOADS) || !open_conditions(f))
    return false;
  f->has_thread = pf_thread_start(&f->thread, decode_all, f);
  if (!f->has_thread)
    close_conditions(f);
  return f->has_thread;
}


static void begin_run (xpp_forward *f, pf_bytes bytes, uint64_t start) {
  if (!has_thread(f))
    return;
  pthread_mutex_lock(&f->lock);
  f->bytes = bytes;
  f->start = start;
  f->given = f->taken = 0;
  f->runs = true;
  pthread_cond_signal(&f->work);
  pthread_mutex_unlock(&f->lock);
}


void xpp_forward_stop (xpp_forward *f) {
  if (!f->has_thread)
    return;
  pthread_mutex_lock(&f->lock);
  f->runs = false;
  f->given = f->taken;
  f->is_awaited = true;
  while (f->is_busy)
    pthread_cond_wait(&f->done, &f->lock);
  f->is_awaited = false;
  pthread_mutex_unlock(&f->lock);
}


/* The next batch of the run; NULL: it has ended. False: it does not go on
   there. */
static bool take_from_run (xpp_forward *f, pf_bytes bytes, uint64_t at,
                           const xpp_plain_rows **load) {
  pthread_mutex_lock(&f->lock);
  const bool goes_on = f->bytes.at == bytes.at && place_of(f, f->taken) == at;
  *load = NULL;
  f->is_awaited = goes_on && f->given == f->taken;
  while (f->is_awaited && f->runs && f->given - f->taken < HALF)
    pthread_cond_wait(&f->done, &f->lock);
  f->is_awaited = false;
  if (goes_on && f->given > f->taken)
    *load = load_of(f, f->taken++);
  if (f->runs && f->given - f->taken == HALF)
    pthread_cond_signal(&f->work);
  pthread_mutex_unlock(&f->lock);
  return goes_on;
}


/* The same without the thread, which goes on behind it when that has been so
   for a while. */
static const xpp_plain_rows *take_alone (xpp_forward *f, pf_bytes bytes,
                                         uint64_t at) {
  if (!open_loads(f, 1) ||
      !xpp_plain_decode(&f->plain, bytes, at, &f->loads[0])) {
    f->alone = 0;
    return NULL;
  }
  if (++f->alone >= ALONE)
    begin_run(f, bytes, at + (uint64_t)PF_BATCH_ROWS * f->plain.record);
  return &f->loads[0];
}


const xpp_plain_rows *xpp_forward_next (xpp_forward *f, pf_bytes bytes,
                                        uint64_t at) {
  const xpp_plain_rows *load;
  if (f->alone < ALONE || !f->has_thread)
    return take_alone(f, bytes, at);
  if (!take_from_run(f, bytes, at, &load)) {
    xpp_forward_stop(f);
    return take_alone(f, bytes, at);
  }
  if (load == NULL)
    f->alone = 0;
  return load;
}

/* }====== */


/* {====== Making ====== */

xpp_forward *xpp_forward_new (const xpp_plain *plain, bool relayed,
                              xpp_forward **list) {
  xpp_forward *const f = calloc(1, sizeof *f);
  if (f == NULL)
    return NULL;
  f->plain = *plain;
  f->is_single = sysconf(_SC_NPROCESSORS_ONLN) < (relayed ? 3 : 2);
  f->next = *list;
  f->place = list;
  if (f->next != NULL)
    f->next->place = &f->next;
  *list = f;
  return f;
}


static void leave_list (xpp_forward *f) {
  if (f->place == NULL)
    return;
  *f->place = f->next;
  if (f->next != NULL)
    f->next->place = f->place;
  f->next = NULL;
  f->place = NULL;
}


void xpp_forward_stop_all (xpp_forward **list) {
  while (*list != NULL) {
    xpp_forward_stop(*list);
    leave_list(*list);
  }
}


void xpp_forward_free (xpp_forward *f) {
  if (f == NULL)
    return;
  leave_list(f);
  if (f->has_thread) {
    pthread_mutex_lock(&f->lock);
    f->leaves = true;
    f->runs = false;
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    close_conditions(f);
  }
  for (size_t i = 0; i < f->nloads; i++)
    xpp_plain_rows_close(&f->loads[i]);
  free(f);
}

/* }====== */
