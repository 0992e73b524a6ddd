/*
** scan.c - processes a few hundred events at a time, so that their calls stay
** in the L1 cache; scans the chunks of a table in a pool of threads and merges
** the results in the order of the table. Each chunk begins at a row that is a
** multiple of PF_BATCH_ROWS, so that reading it again ends at its last row.
*/

#include "kernels/statistics/scan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/pipeline.h"
#include "kernels/calls/stack.h"
#include "model/system/parallel.h"
#include "model/rows/abilities.h"

#define STEP ((uint64_t)16 * PF_BATCH_ROWS) /* rows */


pf_status pf_scan_open (pf_scan *p, pf_reader *reader,
                        const pf_scan_options *options, bool is_chunk,
                        pf_error *error) {
  memset(p, 0, sizeof *p);
  const pf_status status =
      pf_events_open(&p->events, reader, NULL, NULL, false, error);
  if (status != PF_OK) {
    pf_events_close(&p->events);
    return status;
  }
  const pf_type area = reader->fields[p->events.area].type;
  pf_machine_init(&p->machine, &options->calls, reader->dictionary,
                  area == PF_AREA);
  p->machine.is_chunk = is_chunk;
  p->is_open = true;
  return pf_call_groups_open(&p->groups, options->by, &options->aggregates,
                             reader->dictionary) == PF_OK
             ? PF_OK
             : pf_no_memory(error);
}


void pf_scan_close (pf_scan *p) {
  if (!p->is_open)
    return;
  pf_machine_free(&p->machine);
  pf_call_groups_free(&p->groups);
  pf_events_close(&p->events);
  p->is_open = false;
}


static pf_status accumulate_calls (pf_scan *p, pf_status status) {
  pf_machine *const m = &p->machine;
  return status == PF_OK
             ? pf_call_groups_add(&p->groups, &m->lanes, m->calls, m->ncalls)
             : status;
}


/* Add a call to the hot sums of its group, if nothing else changes. */
PF_HOT bool add_to_sums (void *groups, const pf_slot *slot,
                         const int64_t *durations) {
  return slot->group != PF_NO_ID &&
         pf_call_groups_try_add(groups, slot->group, durations);
}


/* A function of its own, so that it can use all registers. */
static __attribute__((noinline)) pf_status process_to_sums (
    pf_machine *m, pf_call_groups *groups, const pf_event_rows *rows,
    size_t from, size_t to) {
  return process_plain(m, rows, from, to, (pf_call_sink){add_to_sums, groups});
}


/* As pf_machine_process; calls that only change sums are added at once. */
static pf_status process_events (pf_scan *p, size_t from, size_t to) {
  const pf_event_rows *const rows = &p->events.rows;
  const bool only_sums = p->groups.by != PF_BY_CALLER && !p->groups.each;
  if (only_sums && are_plain(&p->machine, rows))
    return process_to_sums(&p->machine, &p->groups, rows, from, to);
  return pf_machine_process(&p->machine, rows, from, to);
}


static pf_status process_batch (pf_scan *p) {
  const size_t rows = p->events.batch.rows;
  pf_status status = PF_OK;
  for (size_t from = 0; from < rows && status == PF_OK;
       from += PF_EVENTS_AT_ONCE) {
    const size_t to =
        rows - from < PF_EVENTS_AT_ONCE ? rows : from + PF_EVENTS_AT_ONCE;
    status = accumulate_calls(p, process_events(p, from, to));
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


static pf_status process_pulled (void *context, const pf_pull *pull,
                                 const uint32_t *notes, pf_error *error) {
  pf_scan *const p = context;
  (void)notes;
  const pf_status status = pf_events_take(&p->events, &pull->batch, error);
  if (status != PF_OK || process_batch(p) == PF_OK)
    return status;
  return pf_no_memory(error);
}


/* Whether one thread should read what another one processes: not what is
   decoded to words in one step, and no range that ends early. */
static bool should_pipe (const pf_scan *p, size_t threads) {
  return threads > 1 && pf_can(p->events.reader)->next_events == NULL &&
         !p->machine.options.has_to;
}


pf_status pf_scan_read_all (pf_scan *p, size_t threads, pf_error *error) {
  bool has_paused = false;
  if (!should_pipe(p, threads))
    return pf_scan_read(p, UINT64_MAX, error);
  pf_reader *const reader = p->events.reader;
  bool *const wanted = calloc(reader->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  pf_events_want(&p->events, wanted);
  const pf_pipeline pipeline = {.wanted = wanted,
                                .process = process_pulled,
                                .context = p,
                                .has_paused = &has_paused};
  const pf_status status = pf_pipeline_run(&pipeline, reader, error);
  free(wanted);
  if (status != PF_OK)
    return status;
  return has_paused ? PF_AGAIN : PF_END;
}


pf_status pf_scan_finish (pf_scan *p) {
  const pf_status status = accumulate_calls(p, pf_machine_finish(&p->machine));
  return status == PF_OK ? pf_call_groups_flush(&p->groups) : status;
}


/* Shared by the threads. */
typedef struct pool {
  const pf_scan_chunks *options;
  const pf_scan_options *scan_options;
  pthread_t caller;
  _Atomic uint64_t rows; /* read so far in all chunks */
  atomic_bool is_cancelled;
} pool;

typedef struct chunk {
  pool *pool;
  pf_reader *reader;
  pf_scan own;   /* unused by the first chunk */
  pf_scan *scan; /* `own`, or the caller's scan for the first chunk */
  uint64_t from, rows;
  bool is_complete; /* it was not cancelled */
  pf_status status;
  pf_error error;
} chunk;


/* Count rows that have been read and, in the caller's thread, call the progress
   callback. Returns false after a cancellation. */
static bool may_go_on (pool *p, uint64_t rows) {
  const pf_progress *const progress = &p->options->progress;
  const uint64_t all = atomic_fetch_add(&p->rows, rows) + rows;
  if (!atomic_load(&p->is_cancelled) && progress->should_cancel != NULL &&
      pthread_equal(p->caller, pthread_self()) &&
      progress->should_cancel(progress->context, all))
    atomic_store(&p->is_cancelled, true);
  return !atomic_load(&p->is_cancelled);
}


static void show_progress (void *context) {
  (void)may_go_on(context, 0);
}


/* Read the events of a chunk in steps. */
static pf_status read_steps (chunk *k) {
  const pf_machine *const m = &k->scan->machine;
  uint64_t left = k->rows, step = 0;
  pf_status status = PF_MORE;
  while (status == PF_MORE && left > 0 && !m->chunk.needs_reread) {
    if (!may_go_on(k->pool, step))
      return PF_END;
    step = left < STEP ? left : STEP;
    status = pf_scan_read(k->scan, step, &k->error);
    left -= step;
  }
  k->is_complete = true;
  return status;
}


/* Read a chunk. Its rows are added here, where it runs in parallel. The first
   chunk is read by the caller's thread: its reader may be a stage that may only
   run there. */
static void read_chunk (void *context) {
  chunk *const k = context;
  if (k->scan == &k->own) {
    if (atomic_load(&k->pool->is_cancelled))
      return;
    k->status = k->reader->can->seek(k->reader, k->from, &k->error);
    if (k->status == PF_OK)
      k->status = pf_scan_open(k->scan, k->reader, k->pool->scan_options, true,
                               &k->error);
  }
  if (k->status == PF_OK)
    k->status = read_steps(k);
  if (k->status >= PF_OK && pf_call_groups_flush(&k->scan->groups) != PF_OK)
    k->status = pf_no_memory(&k->error);
}


/* Merge the chunks in their order. */
static pf_status merge_chunks (chunk *chunks, size_t count, pf_scan *scan,
                               pf_error *error) {
  for (size_t i = 0; i < count; i++) {
    chunk *const k = &chunks[i];
    bool fits = i == 0;
    if (k->status < PF_OK) {
      *error = k->error;
      return k->status;
    }
    if (i > 0 && !k->scan->is_open)
      break;
    if (i > 0 && pf_scan_merge(scan, k->scan, &fits) != PF_OK)
      return pf_no_memory(error);
    /* A chunk that does not fit is read again with the scan. */
    pf_reader *const reader = scan->events.reader;
    pf_status status = fits ? PF_OK : reader->can->seek(reader, k->from, error);
    if (!fits && status == PF_OK)
      status = pf_scan_read(scan, k->rows, error);
    if (status < PF_OK)
      return status;
    pf_scan_close(&k->own);
    if (!k->is_complete || (!fits && status == PF_END))
      break; /* later chunks do not follow directly */
  }
  return PF_OK;
}


/* The first row of a chunk. */
static uint64_t first_row (const pf_scan_chunks *chunks, size_t number) {
  const uint64_t batches = chunks->rows / PF_BATCH_ROWS;
  const uint64_t count = chunks->count;
  return (batches / count * number + batches % count * number / count) *
         PF_BATCH_ROWS;
}


pf_status pf_scan_chunks_read (const pf_scan_chunks *chunks,
                               const pf_scan_options *options, pf_scan *scan,
                               pf_error *error) {
  pool p = {
      .options = chunks, .scan_options = options, .caller = pthread_self()};
  const size_t count = chunks->count;
  chunk *const list = calloc(count, sizeof *list);
  if (list == NULL)
    return pf_no_memory(error);
  /* Chunks of about equal size; the last one reads to the end. */
  for (size_t i = 0; i < count; i++) {
    chunk *const k = &list[i];
    k->pool = &p;
    k->reader = chunks->readers[i];
    k->scan = i == 0 ? scan : &k->own;
    k->from = first_row(chunks, i);
    k->rows = i + 1 < count ? first_row(chunks, i + 1) - k->from : UINT64_MAX;
  }
  pf_run_polled(read_chunk, list, sizeof *list, count, chunks->threads,
                show_progress, &p);
  pf_status status = merge_chunks(list, count, scan, error);
  if (status == PF_OK && pf_scan_finish(scan) != PF_OK)
    status = pf_no_memory(error);
  for (size_t i = 0; i < count; i++)
    pf_scan_close(&list[i].own);
  free(list);
  return status;
}
