/*
** relay.c - a table into a sink, the reading and the computing in two threads.
**
** Some loads go round: the caller fills those that have been taken, the second
** thread takes them in the order they were given. Waking a thread costs about
** what a load does: who waits is woken for half of the loads, not for each.
*/

#include "kernels/relay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/parallel.h"

#define LOADS     PF_RELAY_LOADS
#define ALONE     4          /* so many are taken before a thread starts */
#define MOST_KEPT (1u << 18) /* bytes of columns of bytes in a load */

/* A batch on its way. */
typedef struct load {
  pf_pull pull;
  uint32_t *notes;
  uint8_t *kept; /* what its columns of bytes hold */
  size_t kept_size;
} load;

/* The relay under way. Under the lock: given to status. */
typedef struct crew {
  const pf_relay *relay;
  load loads[LOADS];
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t given, taken; /* loads, ever; their difference is under way */
  bool hurried;        /* the caller waits until all are taken */
  bool ended;          /* nothing more is given */
  pf_status status;    /* what taking came to */
  pf_error error;
} crew;


static void close_load (load *l) {
  free(l->notes);
  free(l->kept);
  pf_pull_close(&l->pull);
}


static pf_status open_notes (const pf_relay *relay, load *l, pf_error *error) {
  l->notes = malloc((relay->notes + 1) * sizeof *l->notes);
  if (l->notes != NULL)
    return PF_OK;
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


/* Make the first load: the others are like it. */
static pf_status open_first (crew *c, pf_reader *reader, pf_error *error) {
  const pf_relay *const relay = c->relay;
  load *const first = &c->loads[0];
  const pf_status status =
      relay->wanted != NULL
          ? pf_pull_fields(&first->pull, reader, relay->wanted, error)
          : pf_pull_open(&first->pull, reader, relay->wants, relay->nwants,
                         error);
  if (status != PF_OK)
    return status;
  if (relay->sparse >= 0)
    pf_pull_sparse(&first->pull, (size_t)relay->sparse);
  return open_notes(relay, first, error);
}


static bool open_others (crew *c) {
  pf_error unused;
  for (size_t i = 1; i < LOADS; i++)
    if (pf_pull_like(&c->loads[i].pull, &c->loads[0].pull, &unused) != PF_OK ||
        open_notes(c->relay, &c->loads[i], &unused) != PF_OK)
      return false;
  return true;
}


static pf_status take (crew *c, const load *l) {
  return c->relay->take(c->relay->context, &l->pull, l->notes, &c->error);
}


/* {====== The second thread ====== */

/* The next load; NULL: there is none any more. */
static const load *wait_for_load (crew *c) {
  if (c->given == c->taken)
    while (c->given - c->taken < (c->hurried ? 1 : LOADS / 2) && !c->ended)
      pthread_cond_wait(&c->changed, &c->lock);
  return c->given == c->taken ? NULL : &c->loads[c->taken % LOADS];
}


static void *take_all (void *argument) {
  crew *const c = argument;
  const load *l;
  pthread_mutex_lock(&c->lock);
  while (c->status == PF_OK && (l = wait_for_load(c)) != NULL) {
    pthread_mutex_unlock(&c->lock);
    const pf_status status = take(c, l);
    pthread_mutex_lock(&c->lock);
    c->status = status;
    c->taken++;
    const size_t left = c->given - c->taken;
    if (left == LOADS / 2 || left == 0 || status != PF_OK)
      pthread_cond_signal(&c->changed);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}


/* }====== */


/* {====== The caller's thread ====== */

/* Go on with a second thread, where there is one to have. */
static void call_in_help (crew *c) {
  if (!open_others(c) || pthread_mutex_init(&c->lock, NULL) != 0)
    return;
  if (pthread_cond_init(&c->changed, NULL) != 0) {
    pthread_mutex_destroy(&c->lock);
    return;
  }
  c->has_thread = pf_thread_start(&c->thread, take_all, c);
  if (!c->has_thread) {
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
  }
}


/* A load to fill; NULL when taking has failed. */
static load *next_load (crew *c) {
  if (!c->has_thread)
    return c->status == PF_OK ? &c->loads[0] : NULL;
  pthread_mutex_lock(&c->lock);
  if (c->given - c->taken == LOADS)
    while (c->status == PF_OK && c->given - c->taken > LOADS / 2)
      pthread_cond_wait(&c->changed, &c->lock);
  load *const l = c->status == PF_OK ? &c->loads[c->given % LOADS] : NULL;
  pthread_mutex_unlock(&c->lock);
  return l;
}


/* How many bytes the columns of bytes hold, as far as they may be kept. */
static size_t count_bytes (const pf_batch *batch) {
  size_t count = 0;
  for (size_t i = 0; i < batch->ncolumns; i++) {
    const pf_column *const column = &batch->columns[i];
    const bool is_wanted = column->type == PF_BYTES && column->data != NULL;
    for (size_t row = 0; is_wanted && row < batch->rows; row++) {
      if (pf_is_missing(column, row))
        continue;
      if (column->bytes[row].size > MOST_KEPT - count)
        return SIZE_MAX;
      count += column->bytes[row].size;
    }
  }
  return count;
}


/* Have room for the bytes of a load; false: they are too many. */
static bool has_room (load *l) {
  const size_t count = count_bytes(&l->pull.batch);
  if (count <= l->kept_size)
    return true;
  if (count > MOST_KEPT)
    return false;
  uint8_t *const kept = realloc(l->kept, count);
  if (kept == NULL)
    return false;
  l->kept = kept;
  l->kept_size = count;
  return true;
}


/* Copy the bytes of a load, which last only until the next one is read. */
static void keep_bytes (load *l) {
  const pf_batch *const batch = &l->pull.batch;
  uint8_t *to = l->kept;
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
}


/* Take a load in this thread, after all before it. */
static void take_here (crew *c, const load *l) {
  if (c->has_thread) {
    pthread_mutex_lock(&c->lock);
    c->hurried = true;
    pthread_cond_signal(&c->changed);
    while (c->status == PF_OK && c->given != c->taken)
      pthread_cond_wait(&c->changed, &c->lock);
    c->hurried = false;
    pthread_mutex_unlock(&c->lock);
  }
  if (c->status == PF_OK)
    c->status = take(c, l);
}


static void give (crew *c, load *l) {
  if (!c->has_thread || !has_room(l)) {
    take_here(c, l);
    return;
  }
  keep_bytes(l);
  pthread_mutex_lock(&c->lock);
  c->given++;
  if (c->given - c->taken == LOADS / 2)
    pthread_cond_signal(&c->changed);
  pthread_mutex_unlock(&c->lock);
}


static void send_home (crew *c) {
  if (!c->has_thread)
    return;
  pthread_mutex_lock(&c->lock);
  c->ended = true;
  pthread_cond_signal(&c->changed);
  pthread_mutex_unlock(&c->lock);
  pthread_join(c->thread, NULL);
  pthread_cond_destroy(&c->changed);
  pthread_mutex_destroy(&c->lock);
}


/* Whether many loads wait for the second thread. */
static bool is_ahead (crew *c) {
  if (!c->has_thread)
    return false;
  pthread_mutex_lock(&c->lock);
  const bool many = c->given - c->taken >= LOADS / 2;
  pthread_mutex_unlock(&c->lock);
  return many;
}


/* Give all batches of the reader; PF_END or its failure, PF_MORE when taking
   has failed. */
static pf_status give_all (crew *c, pf_error *error) {
  const pf_relay *const relay = c->relay;
  for (size_t batches = 0;; batches++) {
    if (batches == ALONE)
      call_in_help(c);
    load *const l = next_load(c);
    if (l == NULL)
      return PF_MORE;
    l->pull.batch.relayed = true;
    const pf_status status = pf_pull_next(&l->pull, error);
    if (relay->has_paused != NULL)
      *relay->has_paused = l->pull.has_paused;
    if (status != PF_MORE)
      return status;
    if (relay->prepare != NULL)
      relay->prepare(relay->context, &l->pull, l->notes);
    if (relay->help != NULL && is_ahead(c))
      relay->help(relay->context, &l->pull, (size_t)(l - c->loads), l->notes);
    give(c, l);
  }
}

/* }====== */


pf_status pf_relay_read (const pf_relay *relay, pf_reader *reader,
                         pf_error *error) {
  crew c = {.relay = relay, .status = PF_OK};
  pf_status status = open_first(&c, reader, error);
  if (status == PF_OK) {
    status = give_all(&c, error);
    send_home(&c);
  }
  for (size_t i = 0; i < LOADS; i++)
    close_load(&c.loads[i]);
  if (c.status != PF_OK) {
    *error = c.error;
    return c.status;
  }
  return status == PF_END ? PF_OK : status;
}
