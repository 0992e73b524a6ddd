/*
** pipeline.c - reads a table in the caller's thread and processes its batches
** in a second one.
**
** The batch slots form a ring: the caller fills free slots and queues them, and
** the second thread processes them in the order in which they were queued.
** Waking a thread costs about as much as processing a batch, so a waiting
** thread is woken only when half of the slots are ready for it, to flush the
** queue, at the end and after a failure.
*/

#include "kernels/base/pipeline.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/system/parallel.h"
#include "model/rows/abilities.h"
#include "os/os.h"

#define SLOTS         PF_PIPELINE_SLOTS
#define FIRST_BATCHES 4          /* processed before the thread is started */
#define MIN_ROWS      256        /* of the batch at which it is started */
#define MAX_BYTES     (1u << 18) /* values of PF_BYTES columns in a slot */

typedef struct batch_slot {
  pf_pull pull;
  uint32_t *notes;
  uint8_t *bytes; /* copies of the values of its PF_BYTES columns */
  size_t capacity;
} batch_slot;

/* `lock` protects `queued` to `status`. While no batch is queued, the caller
   also reads `status` without it. */
typedef struct state {
  const pf_pipeline *pipeline;
  batch_slot slots[SLOTS];
  bool has_thread, tried_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t queued, processed; /* batches since the start */
  bool flushing;    /* the caller waits until all of them are processed */
  bool ended;       /* no more batches will be queued */
  pf_status status; /* PF_OK, or the failure of `process` */
  pf_error error;
} state;


/* Open the first slot; the others are opened as clones of it. */
static pf_status open_first (state *s, pf_reader *reader, pf_error *error) {
  const pf_pipeline *const pipeline = s->pipeline;
  batch_slot *const first = &s->slots[0];
  first->notes = malloc((pipeline->notes + 1) * sizeof *first->notes);
  if (first->notes == NULL)
    return pf_no_memory(error);
  const pf_status status =
      pipeline->wanted != NULL
          ? pf_pull_fields(&first->pull, reader, pipeline->wanted, error)
          : pf_pull_open(&first->pull, reader, pipeline->wants,
                         pipeline->nwants, error);
  if (status != PF_OK)
    return status;
  if (pipeline->weight != NULL && pf_can(reader)->omit_zeros != NULL)
    reader->can->omit_zeros(
        reader,
        pf_field_index(reader->fields, reader->nfields, pipeline->weight));
  return PF_OK;
}


static pf_status process (state *s, const batch_slot *slot) {
  return s->pipeline->process(s->pipeline->context, &slot->pull, slot->notes,
                              &s->error);
}


static void *run_thread (void *argument) {
  state *const s = argument;
  pthread_mutex_lock(&s->lock);
  while (s->status == PF_OK) {
    /* Wait for the next queued batch. */
    if (s->queued == s->processed)
      while (s->queued - s->processed < (s->flushing ? 1 : SLOTS / 2) &&
             !s->ended)
        pthread_cond_wait(&s->changed, &s->lock);
    if (s->queued == s->processed)
      break;
    const batch_slot *const slot = &s->slots[s->processed % SLOTS];
    pthread_mutex_unlock(&s->lock);
    const pf_status status = process(s, slot);
    pthread_mutex_lock(&s->lock);
    s->status = status;
    s->processed++;
    const size_t left = s->queued - s->processed;
    if (left == SLOTS / 2 || left == 0 || status != PF_OK)
      pthread_cond_signal(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}


/* Wait for a free slot; NULL when processing has failed. */
static batch_slot *free_slot (state *s) {
  if (!s->has_thread)
    return s->status == PF_OK ? &s->slots[0] : NULL;
  pthread_mutex_lock(&s->lock);
  if (s->queued - s->processed == SLOTS)
    while (s->status == PF_OK && s->queued - s->processed > SLOTS / 2)
      pthread_cond_wait(&s->changed, &s->lock);
  batch_slot *const slot =
      s->status == PF_OK ? &s->slots[s->queued % SLOTS] : NULL;
  pthread_mutex_unlock(&s->lock);
  return slot;
}


/* Reserve memory for the copies of a slot's values. False when they are too
   large or memory is short; then the batch is processed before the next read,
   which needs no copies. */
static bool reserve_bytes (batch_slot *slot) {
  const pf_batch *const batch = &slot->pull.batch;
  size_t count = 0;
  for (size_t i = 0; i < batch->ncolumns; i++) {
    const pf_column *const column = &batch->columns[i];
    const bool is_wanted = column->type == PF_BYTES && column->data != NULL;
    for (size_t row = 0; is_wanted && row < batch->rows; row++) {
      if (pf_is_missing(column, row))
        continue;
      if (column->bytes[row].size > MAX_BYTES - count)
        return false;
      count += column->bytes[row].size;
    }
  }
  return pf_grow(&slot->bytes, &slot->capacity, count);
}


/* Wait until all queued batches are processed, then process this one in the
   caller's thread. */
static void process_in_order (state *s, const batch_slot *slot) {
  if (s->has_thread) {
    pthread_mutex_lock(&s->lock);
    s->flushing = true;
    pthread_cond_signal(&s->changed);
    while (s->status == PF_OK && s->queued != s->processed)
      pthread_cond_wait(&s->changed, &s->lock);
    s->flushing = false;
    pthread_mutex_unlock(&s->lock);
  }
  if (s->status != PF_OK)
    return;
  const pf_status status = process(s, slot);
  /* A thread that has just started may read the status now. */
  pthread_mutex_lock(&s->lock);
  s->status = status;
  pthread_mutex_unlock(&s->lock);
}


static void enqueue (state *s, batch_slot *slot) {
  if (!s->has_thread || !reserve_bytes(slot)) {
    process_in_order(s, slot);
    return;
  }
  /* Copy the values of PF_BYTES columns: the reader keeps them only until the
     next batch is read. */
  const pf_batch *const batch = &slot->pull.batch;
  uint8_t *to = slot->bytes;
  for (size_t i = 0; i < batch->ncolumns; i++) {
    const pf_column *const column = &batch->columns[i];
    const bool is_wanted = column->type == PF_BYTES && column->data != NULL;
    for (size_t row = 0; is_wanted && row < batch->rows; row++) {
      pf_bytes *const bytes = &column->bytes[row];
      if (pf_is_missing(column, row) || bytes->size == 0)
        continue;
      memcpy(to, bytes->at, bytes->size);
      bytes->at = to;
      to += bytes->size;
    }
  }
  pthread_mutex_lock(&s->lock);
  s->queued++;
  assert(s->queued - s->processed <= SLOTS);
  if (s->queued - s->processed == SLOTS / 2)
    pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
}


static void stop_thread (state *s) {
  if (!s->has_thread)
    return;
  pthread_mutex_lock(&s->lock);
  s->ended = true;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
}


/* Open the other slots and start the second thread. If that fails, the caller
   processes all batches. */
static void start_thread (state *s) {
  pf_error unused;
  bool ok = true;
  for (size_t i = 1; i < SLOTS && ok; i++) {
    batch_slot *const slot = &s->slots[i];
    slot->notes = malloc((s->pipeline->notes + 1) * sizeof *slot->notes);
    ok = slot->notes != NULL &&
         pf_pull_clone(&slot->pull, &s->slots[0].pull, &unused) == PF_OK;
  }
  s->tried_thread = true;
  s->has_thread = ok && os_thread_start(&s->thread, run_thread, s);
}


/* Whether half of the slots wait for the second thread. */
static bool is_half_full (state *s) {
  if (!s->has_thread)
    return false;
  pthread_mutex_lock(&s->lock);
  const bool many = s->queued - s->processed >= SLOTS / 2;
  pthread_mutex_unlock(&s->lock);
  return many;
}


/* Read and queue all batches. PF_END, the failure of the reader, or PF_MORE
   when processing has failed. */
static pf_status read_batches (state *s, pf_error *error) {
  const pf_pipeline *const pipeline = s->pipeline;
  for (size_t batches = 0;; batches++) {
    batch_slot *const slot = free_slot(s);
    if (slot == NULL)
      return PF_MORE;
    const pf_status status = pf_pull_next(&slot->pull, error);
    if (pipeline->has_paused != NULL)
      *pipeline->has_paused = slot->pull.has_paused;
    if (status != PF_MORE)
      return status;
    if (batches >= FIRST_BATCHES && slot->pull.batch.rows >= MIN_ROWS &&
        !s->tried_thread && !pipeline->in_caller)
      start_thread(s);
    if (pipeline->prepare != NULL)
      pipeline->prepare(pipeline->context, &slot->pull, slot->notes);
    if (pipeline->process_in_caller != NULL && is_half_full(s))
      pipeline->process_in_caller(pipeline->context, &slot->pull,
                                  (size_t)(slot - s->slots), slot->notes);
    enqueue(s, slot);
  }
}


pf_status pf_pipeline_run (const pf_pipeline *pipeline, pf_reader *reader,
                           pf_error *error) {
  state s = {.pipeline = pipeline,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER,
             .status = PF_OK};
  pf_status status = open_first(&s, reader, error);
  if (status == PF_OK) {
    status = read_batches(&s, error);
    stop_thread(&s);
  }
  pthread_cond_destroy(&s.changed);
  pthread_mutex_destroy(&s.lock);
  for (size_t i = 0; i < SLOTS; i++) {
    batch_slot *const slot = &s.slots[i];
    free(slot->notes);
    free(slot->bytes);
    pf_pull_close(&slot->pull);
  }
  if (s.status != PF_OK) {
    *error = s.error;
    return s.status;
  }
  return status == PF_END ? PF_OK : status;
}
