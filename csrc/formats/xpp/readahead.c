/*
** readahead.c - a bounded queue of batches between the thread and the
** reader. Waking a thread costs about as much as decoding a batch, so the
** reader is woken when half of the slots are filled, and the thread when half
** are free.
*/

#include "formats/xpp/readahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/base/parallel.h"

#define SLOTS      8 /* one of them is in use by the reader */
#define WAKE_AT    4
#define MIN_STREAK 4 /* batches before the thread starts */

struct xpp_readahead {
  xpp_readahead *next, **link; /* list node; NULL: not in a list */
  xpp_fast fast;
  xpp_fast_rows slots[SLOTS];
  size_t nslots;    /* number of slots that were opened */
  size_t streak;    /* batches in sequence that the reader decoded itself */
  bool is_disabled; /* do not try to start a thread (again) */
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  /* Protected by the lock. A run: consecutive batches that the thread
     decodes. */
  pf_bytes bytes;
  uint64_t start;            /* byte at which its first batch begins */
  size_t produced, consumed; /* batches of the run so far */
  bool is_running;           /* the thread continues to decode */
  bool is_busy;              /* the thread is decoding a batch */
  bool has_waiter;
  bool is_closing;
};


/* {====== The thread ====== */

/* The slot of batch `number` of a run. A run begins with slot 1, because the
   reader still uses slot 0, into which it decoded the batch before. */
static xpp_fast_rows *slot_of (xpp_readahead *f, size_t number) {
  return &f->slots[(number + 1) % SLOTS];
}


/* The byte at which a batch of the run begins. */
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
      f->is_running && is_fast; /* xpp_readahead_stop may have been called
                                   meanwhile */
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
  while (f->nslots < count && status == PF_OK) /* counts the slot also after a
                                                  failure, so that it is
                                                  closed */
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


/* Starts the thread if there is none. Returns false if there cannot be one. */
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


/* Takes the next batch of the run; *slot is NULL if the run has ended. Returns
   false if the run does not continue at this byte. */
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


/* Decodes a batch in the caller. After MIN_STREAK batches the thread begins a
   run after it. */
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


/* {====== Creation ====== */

xpp_readahead *xpp_readahead_new (const xpp_fast *fast, bool pipelined,
                                  xpp_readahead **list) {
  xpp_readahead *const f = calloc(1, sizeof *f);
  if (f == NULL)
    return NULL;
  f->fast = *fast;
  f->is_disabled = sysconf(_SC_NPROCESSORS_ONLN) < (pipelined ? 3 : 2);
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
