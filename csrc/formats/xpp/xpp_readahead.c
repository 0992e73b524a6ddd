/*
** xpp_readahead.c - some batches go round: the thread fills those that the reader has
** done with. Waking a thread costs about what a batch does: who waits is woken
** when half of them are there, or free.
*/

#include "formats/xpp/xpp_readahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/parallel.h"

#define SLOTS   8 /* batches; one of them is being read */
#define WAKE_AT 4
#define MIN_STREAK \
  4 /* plain ones in a row before the thread goes on with them */

struct xpp_readahead {
  xpp_readahead *next, **link; /* in the list; NULL: in none */
  xpp_fast fast;
  xpp_fast_rows slots[SLOTS];
  size_t nslots;    /* that were opened */
  size_t streak;    /* plain ones in a row without the thread */
  bool is_disabled; /* there is no thread to be had */
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  /* Under the lock: a run from batch to batch. */
  pf_bytes bytes;
  uint64_t start;            /* byte of its first batch */
  size_t produced, consumed; /* batches of it, ever */
  bool is_running;           /* the thread is to give more */
  bool is_busy;              /* it is at one */
  bool has_waiter;
  bool is_closing;
};


/* {====== The thread ====== */

/* What batch `number` of a run is decoded into. The first slot is that of a
   batch that is decoded without the thread. */
static xpp_fast_rows *slot_of (xpp_readahead *f, size_t number) {
  return &f->slots[(number + 1) % SLOTS];
}


/* Where it run_starts. */
static uint64_t offset_of (const xpp_readahead *f, size_t number) {
  return f->start + (uint64_t)number * PF_BATCH_ROWS * f->fast.record;
}


static bool has_work (const xpp_readahead *f) {
  return f->is_running && f->produced - f->consumed < SLOTS - 1;
}


static void decode_one (xpp_readahead *f) {
  xpp_fast_rows *const slot = slot_of(f, f->produced);
  const uint64_t at = offset_of(f, f->produced);
  const pf_bytes bytes = f->bytes;
  f->is_busy = true;
  pthread_mutex_unlock(&f->lock);
  const bool is_fast = xpp_fast_decode(&f->fast, bytes, at, slot);
  pthread_mutex_lock(&f->lock);
  f->is_busy = false;
  f->is_running =
      f->is_running && is_fast; /* it may have been stopped meanwhile */
  f->produced += f->is_running;
  if (f->has_waiter && (!f->is_running || f->produced - f->consumed >= WAKE_AT))
    pthread_cond_signal(&f->done);
}


static void *decode_all (void *context) {
  xpp_readahead *const f = context;
  pthread_mutex_lock(&f->lock);
  for (;;) {
    while (!f->is_closing && !has_work(f))
      pthread_cond_wait(&f->work, &f->lock);
    if (f->is_closing)
      break;
    decode_one(f);
  }
  pthread_mutex_unlock(&f->lock);
  return NULL;
}

/* }====== */


/* {====== Runs ====== */

static bool open_slots (xpp_readahead *f, size_t count) {
  pf_status status = PF_OK;
  while (f->nslots < count && status == PF_OK) /* closed also after a failure */
    status = xpp_fast_rows_open(&f->slots[f->nslots++], &f->fast);
  return status == PF_OK;
}


static bool open_conditions (xpp_readahead *f) {
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


static void close_conditions (xpp_readahead *f) {
  pthread_cond_destroy(&f->done);
  pthread_cond_destroy(&f->work);
  pthread_mutex_destroy(&f->lock);
}


/* Have a thread, if that makes sense. */
static bool ensure_thread (xpp_readahead *f) {
  if (f->has_thread || f->is_disabled)
    return f->has_thread;
  f->is_disabled = true;
  if (!open_slots(f, SLOTS) || !open_conditions(f))
    return false;
  f->has_thread = pf_thread_start(&f->thread, decode_all, f);
  if (!f->has_thread)
    close_conditions(f);
  return f->has_thread;
}


static void begin_run (xpp_readahead *f, pf_bytes bytes, uint64_t start) {
  if (!ensure_thread(f))
    return;
  pthread_mutex_lock(&f->lock);
  f->bytes = bytes;
  f->start = start;
  f->produced = f->consumed = 0;
  f->is_running = true;
  pthread_cond_signal(&f->work);
  pthread_mutex_unlock(&f->lock);
}


void xpp_readahead_stop (xpp_readahead *f) {
  if (!f->has_thread)
    return;
  pthread_mutex_lock(&f->lock);
  f->is_running = false;
  f->produced = f->consumed;
  f->has_waiter = true;
  while (f->is_busy)
    pthread_cond_wait(&f->done, &f->lock);
  f->has_waiter = false;
  pthread_mutex_unlock(&f->lock);
}


/* The next batch of the run; NULL: it has ended. False: it does not go on
   there. */
static bool take_from_thread (xpp_readahead *f, pf_bytes bytes, uint64_t at,
                              const xpp_fast_rows **slot) {
  pthread_mutex_lock(&f->lock);
  const bool goes_on =
      f->bytes.at == bytes.at && offset_of(f, f->consumed) == at;
  *slot = NULL;
  f->has_waiter = goes_on && f->produced == f->consumed;
  while (f->has_waiter && f->is_running && f->produced - f->consumed < WAKE_AT)
    pthread_cond_wait(&f->done, &f->lock);
  f->has_waiter = false;
  if (goes_on && f->produced > f->consumed)
    *slot = slot_of(f, f->consumed++);
  if (f->is_running && f->produced - f->consumed == WAKE_AT)
    pthread_cond_signal(&f->work);
  pthread_mutex_unlock(&f->lock);
  return goes_on;
}


/* The same without the thread, which goes on behind it when that has been so
   for a while. */
static const xpp_fast_rows *decode_direct (xpp_readahead *f, pf_bytes bytes,
                                           uint64_t at) {
  if (!open_slots(f, 1) ||
      !xpp_fast_decode(&f->fast, bytes, at, &f->slots[0])) {
    f->streak = 0;
    return NULL;
  }
  if (++f->streak >= MIN_STREAK)
    begin_run(f, bytes, at + (uint64_t)PF_BATCH_ROWS * f->fast.record);
  return &f->slots[0];
}


const xpp_fast_rows *xpp_readahead_next (xpp_readahead *f, pf_bytes bytes,
                                         uint64_t at) {
  const xpp_fast_rows *slot;
  if (f->streak < MIN_STREAK || !f->has_thread)
    return decode_direct(f, bytes, at);
  if (!take_from_thread(f, bytes, at, &slot)) {
    xpp_readahead_stop(f);
    return decode_direct(f, bytes, at);
  }
  if (slot == NULL)
    f->streak = 0;
  return slot;
}

/* }====== */


/* {====== Making ====== */

xpp_readahead *xpp_readahead_new (const xpp_fast *fast, bool relayed,
                                  xpp_readahead **list) {
  xpp_readahead *const f = calloc(1, sizeof *f);
  if (f == NULL)
    return NULL;
  f->fast = *fast;
  f->is_disabled = sysconf(_SC_NPROCESSORS_ONLN) < (relayed ? 3 : 2);
  f->next = *list;
  f->link = list;
  if (f->next != NULL)
    f->next->link = &f->next;
  *list = f;
  return f;
}


static void leave_list (xpp_readahead *f) {
  if (f->link == NULL)
    return;
  *f->link = f->next;
  if (f->next != NULL)
    f->next->link = f->link;
  f->next = NULL;
  f->link = NULL;
}


void xpp_readahead_stop_all (xpp_readahead **list) {
  while (*list != NULL) {
    xpp_readahead_stop(*list);
    leave_list(*list);
  }
}


void xpp_readahead_free (xpp_readahead *f) {
  if (f == NULL)
    return;
  leave_list(f);
  if (f->has_thread) {
    pthread_mutex_lock(&f->lock);
    f->is_closing = true;
    f->is_running = false;
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    close_conditions(f);
  }
  for (size_t i = 0; i < f->nslots; i++)
    xpp_fast_rows_close(&f->slots[i]);
  free(f);
}

/* }====== */
