/*
** scan.c - processes a few hundred events at a time, so that their calls stay
** in the L1 cache; scans the chunks of a table in a pool of threads and merges
** the results in the order of the table. Each chunk begins at a row that is a
** multiple of PF_BATCH_ROWS, so that reading it again ends at its last row.
*/

#include "kernels/statistics/scan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/base/parallel.h"
#include "model/rows/abilities.h"

#define AT_ONCE 512 /* events */

#define MAX_THREADS 64

#define STEP    ((uint64_t)16 * PF_BATCH_ROWS) /* rows */
#define POLL_NS 50000000 /* between progress calls when the caller is idle */


pf_status pf_scan_open (pf_scan *p, pf_reader *reader,
                        const pf_scan_options *options, bool is_chunk,
                        pf_error *error) {
  memset(p, 0, sizeof *p);
  const pf_status status =
      pf_events_open(&p->events, reader, NULL, false, error);
  if (status != PF_OK) {
    pf_events_close(&p->events);
    return status;
  }
  const pf_type area = reader->fields[p->events.area].type;
  pf_machine_init(&p->machine, &options->calls, reader->dictionary,
                  area == PF_AREA);
  p->machine.is_chunk = is_chunk;
  pf_groups_init(&p->groups, is_chunk ? PF_BY_LANE : options->by,
                 options->squares, options->quantiles);
  p->is_open = true;
  return PF_OK;
}


void pf_scan_close (pf_scan *p) {
  if (!p->is_open)
    return;
  pf_machine_free(&p->machine);
  pf_groups_free(&p->groups);
  pf_events_close(&p->events);
  p->is_open = false;
}


static pf_status accumulate_calls (pf_scan *p, pf_status status) {
  const pf_machine *const m = &p->machine;
  return status == PF_OK
             ? pf_groups_add(&p->groups, &m->lanes, m->calls, m->ncalls)
             : status;
}


static pf_status process_batch (pf_scan *p) {
  pf_machine *const m = &p->machine;
  const size_t rows = p->events.batch.rows;
  pf_status status = PF_OK;
  for (size_t from = 0; from < rows && status == PF_OK; from += AT_ONCE) {
    const size_t to = rows - from < AT_ONCE ? rows : from + AT_ONCE;
    status =
        accumulate_calls(p, pf_machine_process(m, &p->events.rows, from, to));
  }
  return status;
}


pf_status pf_scan_read (pf_scan *p, uint64_t rows, pf_error *error) {
  while (rows > 0 && !p->machine.chunk.needs_reread) {
    const pf_status status = pf_events_next(&p->events, error);
    if (status != PF_MORE)
      return status;
    if (process_batch(p) != PF_OK)
      return pf_no_memory(error);
    if (pf_events_are_over(&p->events, &p->machine))
      return PF_END;
    rows -= p->events.batch.rows < rows ? p->events.batch.rows : rows;
  }
  return PF_MORE;
}


pf_status pf_scan_finish (pf_scan *p) {
  const pf_status status = accumulate_calls(p, pf_machine_finish(&p->machine));
  return status == PF_OK ? pf_call_sums_flush(&p->groups.sums) : status;
}


typedef struct chunk {
  pf_scan own;   /* unused by the first chunk */
  pf_scan *scan; /* `own`, or the caller's scan for the first chunk */
  uint64_t from, rows;
  bool is_complete; /* it was not cancelled */
  pf_status status;
  pf_error error;
} chunk;

typedef struct pool {
  const pf_scan_chunks *options;
  const pf_scan_options *scan_options;
  chunk *chunks;
  pthread_mutex_t lock; /* protects the fields below */
  pthread_cond_t done;  /* signalled when a thread ends */
  size_t next;          /* the next chunk to read */
  size_t running;       /* threads other than the caller's */
  uint64_t rows;        /* read so far in all chunks */
  bool is_cancelled;
} pool;


/* {====== In threads ====== */

/* Count rows that have been read and, in the caller's thread, call the progress
   callback. Returns false after a cancellation. */
static bool may_go_on (pool *p, uint64_t rows, bool is_caller) {
  const pf_progress *const progress = &p->options->progress;
  pthread_mutex_lock(&p->lock);
  p->rows += rows;
  const uint64_t all = p->rows;
  bool cancelled = p->is_cancelled;
  pthread_mutex_unlock(&p->lock);
  if (cancelled || !is_caller || progress->should_cancel == NULL)
    return !cancelled;
  cancelled = progress->should_cancel(progress->context, all);
  pthread_mutex_lock(&p->lock);
  p->is_cancelled = cancelled;
  pthread_mutex_unlock(&p->lock);
  return !cancelled;
}


/* Read the events of a chunk in steps. */
static pf_status read_steps (pool *p, chunk *k, bool is_caller) {
  const pf_machine *const m = &k->scan->machine;
  uint64_t left = k->rows, step = 0;
  pf_status status = PF_MORE;
  while (status == PF_MORE && left > 0 && !m->chunk.needs_reread) {
    if (!may_go_on(p, step, is_caller))
      return PF_END;
    step = left < STEP ? left : STEP;
    status = pf_scan_read(k->scan, step, &k->error);
    left -= step;
  }
  k->is_complete = true;
  return status;
}


/* Flush the quantiles here, where it runs in parallel. */
static pf_status flush (chunk *k, pf_status status) {
  if (status < PF_OK || pf_call_sums_flush(&k->scan->groups.sums) == PF_OK)
    return status;
  return pf_no_memory(&k->error);
}


static pf_status read_chunk (pool *p, size_t number, bool is_caller) {
  chunk *const k = &p->chunks[number];
  pf_reader *const reader = p->options->readers[number];
  pf_status status = PF_OK;
  if (number > 0) {
    status = reader->can->seek(reader, k->from, &k->error);
    if (status == PF_OK)
      status = pf_scan_open(k->scan, reader, p->scan_options, true, &k->error);
  }
  return status == PF_OK ? flush(k, read_steps(p, k, is_caller)) : status;
}


/* The index of the next chunk; p->options->count when there is none. */
static size_t next_chunk (pool *p) {
  pthread_mutex_lock(&p->lock);
  const size_t number = p->is_cancelled ? p->options->count : p->next;
  p->next += number < p->options->count;
  pthread_mutex_unlock(&p->lock);
  return number;
}


/* The first chunk is read by the caller's thread: its reader may be a stage
   that may only run there. */
static void read_chunks (pool *p, bool is_caller) {
  size_t number = 0;
  if (is_caller)
    p->chunks[0].status = read_chunk(p, 0, true);
  while ((number = next_chunk(p)) < p->options->count)
    p->chunks[number].status = read_chunk(p, number, is_caller);
}


static void *run (void *context) {
  pool *const p = context;
  read_chunks(p, false);
  pthread_mutex_lock(&p->lock);
  p->running--;
  pthread_cond_signal(&p->done);
  pthread_mutex_unlock(&p->lock);
  return NULL;
}


/* Wait at most POLL_NS for the other threads. Returns whether some are
   running. */
static bool wait_for_threads (pool *p) {
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += POLL_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&p->lock);
  if (p->running > 0)
    (void)pthread_cond_timedwait(&p->done, &p->lock, &until);
  const bool more = p->running > 0;
  pthread_mutex_unlock(&p->lock);
  return more;
}

/* }====== */


/* Read a chunk again with the scan that holds all earlier chunks. */
static pf_status reread (const chunk *k, pf_scan *scan, pf_error *error) {
  pf_reader *const reader = scan->events.reader;
  const pf_status status = reader->can->seek(reader, k->from, error);
  return status == PF_OK ? pf_scan_read(scan, k->rows, error) : status;
}


/* Merge the chunks in their order. */
static pf_status merge_chunks (const pool *p, pf_scan *scan, pf_error *error) {
  for (size_t i = 0; i < p->options->count; i++) {
    chunk *const k = &p->chunks[i];
    bool fits = i == 0;
    if (k->status < PF_OK) {
      *error = k->error;
      return k->status;
    }
    if (i > 0 && !k->scan->is_open)
      break;
    if (i > 0 && pf_scan_merge(scan, k->scan, &fits) != PF_OK)
      return pf_no_memory(error);
    const pf_status status = fits ? PF_OK : reread(k, scan, error);
    if (status < PF_OK)
      return status;
    pf_scan_close(&k->own);
    if (!k->is_complete || (!fits && status == PF_END))
      break; /* later chunks do not follow directly */
  }
  return PF_OK;
}


/* The first row of a chunk. */
static uint64_t first_row (const pool *p, size_t number) {
  const uint64_t batches = p->options->rows / PF_BATCH_ROWS;
  const uint64_t count = p->options->count;
  return (batches / count * number + batches % count * number / count) *
         PF_BATCH_ROWS;
}


/* Divide the table into chunks of about equal size; the last one reads to the
   end. */
static void divide (const pool *p, pf_scan *first) {
  for (size_t i = 0; i < p->options->count; i++) {
    chunk *const k = &p->chunks[i];
    k->scan = i == 0 ? first : &k->own;
    k->from = first_row(p, i);
    k->rows =
        i + 1 < p->options->count ? first_row(p, i + 1) - k->from : UINT64_MAX;
  }
}


pf_status pf_scan_chunks_read (const pf_scan_chunks *chunks,
                               const pf_scan_options *options, pf_scan *scan,
                               pf_error *error) {
  pool p = {.options = chunks, .scan_options = options, .next = 1};
  p.chunks = calloc(chunks->count, sizeof *p.chunks);
  if (p.chunks == NULL || pthread_mutex_init(&p.lock, NULL) != 0 ||
      pthread_cond_init(&p.done, NULL) != 0) {
    free(p.chunks);
    return pf_no_memory(error);
  }
  divide(&p, scan);
  pthread_t threads[MAX_THREADS];
  size_t wanted = p.options->threads, started = 0;
  if (wanted > p.options->count)
    wanted = p.options->count;
  p.running = wanted > 0 && wanted <= MAX_THREADS ? wanted - 1 : 0;
  const size_t most = p.running;
  while (started < most && pf_thread_start(&threads[started], run, &p))
    started++;
  pthread_mutex_lock(&p.lock);
  p.running -= most - started;
  pthread_mutex_unlock(&p.lock);
  read_chunks(&p, true);
  while (wait_for_threads(&p))
    (void)may_go_on(&p, 0, true);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
  pf_status status = merge_chunks(&p, scan, error);
  if (status == PF_OK && pf_scan_finish(scan) != PF_OK)
    status = pf_no_memory(error);
  for (size_t i = 0; i < chunks->count; i++)
    pf_scan_close(&p.chunks[i].own);
  pthread_cond_destroy(&p.done);
  pthread_mutex_destroy(&p.lock);
  free(p.chunks);
  return status;
}
