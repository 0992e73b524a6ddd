/*
** parts.c - parts of a table in threads. Each begins at a row that is a
** multiple of PF_BATCH_ROWS, so that a pass that reads it again ends where it
** does.
*/

#include "kernels/calls/parts.h"

#include <stdlib.h>
#include <time.h>

#include "model/parallel.h"

#define MAX_THREADS 64

#define STEP       ((uint64_t)16 * PF_BATCH_ROWS) /* rows */
#define LOOK_EVERY 50000000 /* ns, while others still read */

/* A part under way. */
typedef struct work {
  pf_pass own;   /* of all but the first */
  pf_pass *pass; /* the one that reads it */
  uint64_t from, rows;
  bool is_whole; /* it was read, and not ended by the watcher */
  pf_status status;
  pf_error error;
} work;

typedef struct crew {
  const pf_parts *parts;
  const pf_pass_options *options;
  work *works;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t done;  /* a thread is */
  size_t next;          /* the first part that nobody reads */
  size_t running;       /* threads beside the caller's */
  uint64_t rows;        /* read so far */
  bool is_over;         /* nobody reads on */
} crew;


/* {====== In threads ====== */

/* Note that rows have been read; whether to read on. */
static bool goes_on (crew *c, uint64_t rows, bool is_caller) {
  const pf_watcher *const watcher = &c->parts->watcher;
  pthread_mutex_lock(&c->lock);
  c->rows += rows;
  const uint64_t all = c->rows;
  bool over = c->is_over;
  pthread_mutex_unlock(&c->lock);
  if (over || !is_caller || watcher->is_over == NULL)
    return !over;
  over = watcher->is_over(watcher->context, all);
  pthread_mutex_lock(&c->lock);
  c->is_over = over;
  pthread_mutex_unlock(&c->lock);
  return !over;
}


/* Read the events of a part in steps. */
static pf_status read_steps (crew *c, work *w, bool is_caller) {
  const pf_machine *const m = &w->pass->machine;
  uint64_t left = w->rows, step = 0;
  pf_status status = PF_MORE;
  while (status == PF_MORE && left > 0 && !m->is_stuck) {
    if (!goes_on(c, step, is_caller))
      return PF_END;
    step = left < STEP ? left : STEP;
    status = pf_pass_read(w->pass, step, &w->error);
    left -= step;
  }
  w->is_whole = true;
  return status;
}


/* What can be done before the parts are put together. */
static pf_status settle (work *w, pf_status status) {
  if (status < PF_OK || pf_tallies_settle(&w->pass->groups.tallies) == PF_OK)
    return status;
  return pf_fail(&w->error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


static pf_status read_part (crew *c, size_t number, bool is_caller) {
  work *const w = &c->works[number];
  pf_reader *const reader = c->parts->readers[number];
  pf_status status = PF_OK;
  if (number > 0) {
    status = reader->seek(reader, w->from, &w->error);
    if (status == PF_OK)
      status = pf_pass_open(w->pass, reader, c->options, true, &w->error);
  }
  return status == PF_OK ? settle(w, read_steps(c, w, is_caller)) : status;
}


/* The number of a part to read; c->parts->count when there is none. */
static size_t take_part (crew *c) {
  pthread_mutex_lock(&c->lock);
  const size_t number = c->is_over ? c->parts->count : c->next;
  c->next += number < c->parts->count;
  pthread_mutex_unlock(&c->lock);
  return number;
}


/* The caller's thread begins with the first part, whose reader may be more than
   a decoder's. */
static void read_parts (crew *c, bool is_caller) {
  size_t number = 0;
  if (is_caller)
    c->works[0].status = read_part(c, 0, true);
  while ((number = take_part(c)) < c->parts->count)
    c->works[number].status = read_part(c, number, is_caller);
}


static void *run (void *context) {
  crew *const c = context;
  read_parts(c, false);
  pthread_mutex_lock(&c->lock);
  c->running--;
  pthread_cond_signal(&c->done);
  pthread_mutex_unlock(&c->lock);
  return NULL;
}


/* Wait a while for the other threads; whether some still run. */
static bool wait_for (crew *c) {
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += LOOK_EVERY;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&c->lock);
  if (c->running > 0)
    (void)pthread_cond_timedwait(&c->done, &c->lock, &until);
  const bool more = c->running > 0;
  pthread_mutex_unlock(&c->lock);
  return more;
}


static void read_all (crew *c) {
  pthread_t threads[MAX_THREADS];
  size_t wanted = c->parts->threads, started = 0;
  if (wanted > c->parts->count)
    wanted = c->parts->count;
  c->running = wanted > 0 && wanted <= MAX_THREADS ? wanted - 1 : 0;
  const size_t most = c->running;
  while (started < most && pf_thread_start(&threads[started], run, c))
    started++;
  pthread_mutex_lock(&c->lock);
  c->running -= most - started;
  pthread_mutex_unlock(&c->lock);
  read_parts(c, true);
  while (wait_for(c))
    (void)goes_on(c, 0, true);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}

/* }====== */


/* Read the part again behind all that came before. */
static pf_status read_again (const work *w, pf_pass *pass, pf_error *error) {
  pf_reader *const reader = pass->events.reader;
  const pf_status status = reader->seek(reader, w->from, error);
  return status == PF_OK ? pf_pass_read(pass, w->rows, error) : status;
}


/* Put the parts together, in their order. */
static pf_status add_all (const crew *c, pf_pass *pass, pf_error *error) {
  for (size_t i = 0; i < c->parts->count; i++) {
    work *const w = &c->works[i];
    bool fits = i == 0;
    if (w->status < PF_OK) {
      *error = w->error;
      return w->status;
    }
    if (i > 0 && !w->pass->is_open)
      break;
    if (i > 0 && pf_pass_add(pass, w->pass, &fits) != PF_OK)
      return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
    const pf_status status = fits ? PF_OK : read_again(w, pass, error);
    if (status < PF_OK)
      return status;
    pf_pass_close(&w->own);
    if (!w->is_whole || (!fits && status == PF_END))
      break; /* what was read behind it does not follow it */
  }
  return PF_OK;
}


/* The row at which a part begins. */
static uint64_t begin_of (const crew *c, size_t number) {
  const uint64_t batches = c->parts->rows / PF_BATCH_ROWS;
  const uint64_t count = c->parts->count;
  return (batches / count * number + batches % count * number / count) *
         PF_BATCH_ROWS;
}


/* Parts of about one size; the last reads to the end. */
static void divide (const crew *c, pf_pass *first) {
  for (size_t i = 0; i < c->parts->count; i++) {
    work *const w = &c->works[i];
    w->pass = i == 0 ? first : &w->own;
    w->from = begin_of(c, i);
    w->rows =
        i + 1 < c->parts->count ? begin_of(c, i + 1) - w->from : UINT64_MAX;
  }
}


pf_status pf_parts_read (const pf_parts *parts, const pf_pass_options *options,
                         pf_pass *pass, pf_error *error) {
  crew c = {.parts = parts, .options = options, .next = 1};
  c.works = calloc(parts->count, sizeof *c.works);
  if (c.works == NULL || pthread_mutex_init(&c.lock, NULL) != 0 ||
      pthread_cond_init(&c.done, NULL) != 0) {
    free(c.works);
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  }
  divide(&c, pass);
  read_all(&c);
  pf_status status = add_all(&c, pass, error);
  if (status == PF_OK && pf_pass_finish(pass) != PF_OK)
    status = pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  for (size_t i = 0; i < parts->count; i++)
    pf_pass_close(&c.works[i].own);
  pthread_cond_destroy(&c.done);
  pthread_mutex_destroy(&c.lock);
  free(c.works);
  return status;
}
