/*
** parts.c - parts of a table in threads. Each begins at a row that is a
** multiple of PF_BATCH_ROWS, so that a pass that reads it again ends where it
** does.
*/

#include "kernels/calls/parts.h"

#include <stdlib.h>

#include "model/parallel.h"

#define MAX_THREADS 64

/* A part under way. */
typedef struct work {
  pf_pass own;   /* of all but the first */
  pf_pass *pass; /* the one that reads it */
  uint64_t from, rows;
  pf_status status;
  pf_error error;
} work;

typedef struct crew {
  const pf_parts *parts;
  const pf_pass_options *options;
  work *works;
  pthread_mutex_t lock;
  size_t next; /* under the lock: the first part that nobody reads */
} crew;


/* {====== In threads ====== */

static pf_status read_part (const crew *c, size_t number) {
  work *const w = &c->works[number];
  pf_reader *const reader = c->parts->readers[number];
  pf_status status = PF_OK;
  if (number > 0) {
    status = reader->seek(reader, w->from, &w->error);
    if (status == PF_OK)
      status = pf_pass_open(w->pass, reader, c->options, true, &w->error);
  }
  return status == PF_OK ? pf_pass_read(w->pass, w->rows, &w->error) : status;
}


/* The number of a part to read; c->parts->count when there is none. */
static size_t take_part (crew *c) {
  pthread_mutex_lock(&c->lock);
  const size_t number = c->next;
  c->next += number < c->parts->count;
  pthread_mutex_unlock(&c->lock);
  return number;
}


static void *read_parts (void *context) {
  crew *const c = context;
  size_t number;
  while ((number = take_part(c)) < c->parts->count)
    c->works[number].status = read_part(c, number);
  return NULL;
}


static void read_all (crew *c) {
  pthread_t threads[MAX_THREADS];
  size_t wanted = c->parts->threads, started = 0;
  if (wanted > c->parts->count)
    wanted = c->parts->count;
  while (started + 1 < wanted && started < MAX_THREADS &&
         pf_thread_start(&threads[started], read_parts, c))
    started++;
  read_parts(c);
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
    if (i > 0 && pf_pass_add(pass, w->pass, &fits) != PF_OK)
      return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
    const pf_status status = fits ? PF_OK : read_again(w, pass, error);
    if (status < PF_OK)
      return status;
    pf_pass_close(&w->own);
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
  crew c = {.parts = parts, .options = options};
  c.works = calloc(parts->count, sizeof *c.works);
  if (c.works == NULL || pthread_mutex_init(&c.lock, NULL) != 0) {
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
  pthread_mutex_destroy(&c.lock);
  free(c.works);
  return status;
}
