/*
** consumer.c - takes records out of a ring and writes them.
**
** A step takes an eighth of the ring at most, so that room comes back while
** there is more to do. The file is valid after each step; then the checkpoint
** says so, and only then the producer uses the room again: a process that is
** killed in between leaves the records both in the file, behind the length
** that is known, and in the ring, whose reader cuts the file there.
*/

#include "model/consumer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 20 /* ms that records may wait while nobody asks */


/* {====== Taking ====== */

/* Onto the disk, where it is one and that is asked for. */
static pf_status sync_sinks (const pf_consumer *c, pf_error *error) {
  const pf_sink *sink = c->sync ? c->drain.sink : NULL;
  for (; sink != NULL; sink = sink->side)
    if (sink->fd >= 0 && fdatasync(sink->fd) != 0 && errno != EINVAL)
      return pf_fail(error, PF_EIO, PF_NO_OFFSET, "write failed: %s",
                     strerror(errno));
  return PF_OK;
}


/* The lengths of the files, and the count of the encoder. */
static void measure (pf_consumer *c) {
  const pf_sink *sink = c->drain.sink;
  for (size_t i = 0; sink != NULL; sink = sink->side, i++)
    c->taken.lengths[i] = sink->before + sink->written;
  c->taken.count = c->drain.encoder->count;
}


/* Say how far it has come, also on the disk. */
static pf_status publish (pf_consumer *c, const pf_ring_walk *records,
                          uint64_t rows, pf_error *error) {
  const pf_ring *const ring = &c->writer->ring;
  c->taken.tail = records->at;
  if (ring->mode == PF_RING_OVERWRITE)
    c->taken.lost = ring->oldest.before - c->taken.taken;
  c->taken.taken += rows;
  measure(c);
  pf_note(&c->rounded, c->drain.encoder->rounded);
  if (ring->mode == PF_RING_OVERWRITE)
    pf_ring_taken_all(&c->writer->ring, &c->taken);
  else
    pf_ring_take(ring->header, &c->taken);
  const pf_status status = pf_ring_sync(ring, error);
  if (status == PF_OK)
    pf_publish(&c->settled, c->taken.tail);
  return status;
}


/* The records there are, from the first that was not taken. The journal says
   all they refer to: it is looked at after them. */
static pf_ring_walk records_of (pf_consumer *c) {
  const pf_ring *const ring = &c->writer->ring;
  const bool overwrites = ring->mode == PF_RING_OVERWRITE;
  const pf_ring_walk records = {.bytes = ring->slots,
                                .mask = ring->mask,
                                .at = overwrites ? ring->oldest.at
                                                 : c->taken.tail,
                                .end = pf_observe(&ring->header->head)};
  return records;
}


/* Take a part of what there is: PF_MORE when there was something. */
static pf_status take_some (pf_consumer *c, pf_error *error) {
  pf_ring *const ring = &c->writer->ring;
  const bool overwrites = ring->mode == PF_RING_OVERWRITE;
  pf_ring_walk records = records_of(c);
  const uint64_t rows = c->drain.rows;
  if (records.at >= records.end)
    return PF_END;
  c->journal.end = pf_observe(&ring->header->journal);
  c->journal.bytes = pf_observe_bytes(&ring->journal);
  pf_status status = pf_drain_learn(&c->drain, &c->journal, error);
  if (status == PF_OK)
    status =
        pf_drain_encode(&c->drain, &records,
                        overwrites ? UINT64_MAX : (ring->mask + 1) / 8, error);
  if (status >= 0)
    status = pf_drain_flush(&c->drain, error);
  if (status >= 0)
    status = sync_sinks(c, error);
  if (status < 0)
    return status;
  status = publish(c, &records, c->drain.rows - rows, error);
  return status < 0 ? status : PF_MORE;
}


/* Cut all files to the lengths of the checkpoint: a record that was cut short
   is no part of them. Pipes stay as they are. */
static void cut_sinks (const pf_consumer *c) {
  const pf_sink *s = c->drain.sink;
  for (size_t i = 0; s != NULL; s = s->side, i++) {
    const uint64_t known = c->taken.lengths[i];
    const uint64_t length = known > s->before ? known - s->before : 0;
    if (s->fd >= 0 && ftruncate(s->fd, (off_t)length) != 0)
      continue; /* a pipe */
  }
}


/* Rows before one that cannot be written are no less good. */
static pf_status fail (pf_consumer *c, pf_status status) {
  pf_error second;
  if (c->drain.sink->failed != PF_OK)
    cut_sinks(c);
  else
    (void)pf_drain_flush(&c->drain, &second);
  pf_publish(&c->writer->failed, 1);
  return status;
}


pf_status pf_consumer_take_all (pf_consumer *c, pf_error *error) {
  pf_status status = PF_MORE;
  if (pf_writer_failed(c->writer)) {
    *error = c->error;
    return c->error.status;
  }
  while (status == PF_MORE)
    status = take_some(c, &c->error);
  if (status == PF_END)
    return PF_OK;
  *error = c->error;
  return fail(c, status);
}

pf_status pf_consumer_finish (pf_consumer *c, pf_error *error) {
  pf_status status = pf_drain_finish(&c->drain, error);
  if (status >= 0)
    status = sync_sinks(c, error);
  if (status < 0)
    return status;
  for (pf_sink *sink = c->drain.sink; sink != NULL; sink = sink->side)
    if (sink->end != NULL)
      sink->end(sink);
  pf_publish(&c->writer->ring.header->closed, 1);
  return pf_ring_sync(&c->writer->ring, error);
}

/* }====== */


/* {====== The thread ====== */

/* Wait until somebody asks, or for a while. */
static void wait_a_while (pf_consumer *c) {
  struct timespec until;
  if (c->asked || c->stopping)
    return;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += PATIENCE * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&c->asked_for, &c->lock, &until);
}


/* One step without the lock; what it came to. */
static pf_status step (pf_consumer *c) {
  pf_error error;
  pthread_mutex_unlock(&c->lock);
  const pf_status status = take_some(c, &error);
  pthread_mutex_lock(&c->lock);
  if (status < 0)
    c->error = error;
  c->steps++;
  return status;
}


static void *consume (void *context) {
  pf_consumer *const c = context;
  pf_status status = PF_END;
  pthread_mutex_lock(&c->lock);
  while (!c->stopping && status >= 0) {
    if (status == PF_END)
      wait_a_while(c);
    c->asked = false;
    status = step(c);
    if (status < 0)
      fail(c, status);
    pthread_cond_broadcast(&c->progress);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}


void pf_consumer_ask (pf_consumer *c) {
  if (!c->has_thread)
    return;
  pthread_mutex_lock(&c->lock);
  c->asked = true;
  pthread_cond_signal(&c->asked_for);
  pthread_mutex_unlock(&c->lock);
}


bool pf_consumer_wait (pf_consumer *c) {
  pf_error error;
  if (!c->has_thread)
    return pf_consumer_take_all(c, &error) == PF_OK;
  pthread_mutex_lock(&c->lock);
  const uint64_t steps = c->steps;
  c->asked = true;
  pthread_cond_signal(&c->asked_for);
  while (c->steps == steps && !pf_writer_failed(c->writer))
    pthread_cond_wait(&c->progress, &c->lock);
  pthread_mutex_unlock(&c->lock);
  return !pf_writer_failed(c->writer);
}


/* The clock of waiting must not be set back by anybody. */
static bool open_conditions (pf_consumer *c) {
  pthread_condattr_t monotonic;
  if (pthread_condattr_init(&monotonic) != 0)
    return false;
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  bool done = pthread_cond_init(&c->asked_for, &monotonic) == 0;
  pthread_condattr_destroy(&monotonic);
  if (done && pthread_cond_init(&c->progress, NULL) != 0) {
    pthread_cond_destroy(&c->asked_for);
    done = false;
  }
  return done;
}


/* Without a thread the producer does its work, when the ring is full. */
static void start_thread (pf_consumer *c) {
  if (pthread_mutex_init(&c->lock, NULL) != 0)
    return;
  if (!open_conditions(c)) {
    pthread_mutex_destroy(&c->lock);
    return;
  }
  c->has_thread = pf_thread_start(&c->thread, consume, c);
  if (c->has_thread)
    return;
  pthread_cond_destroy(&c->asked_for);
  pthread_cond_destroy(&c->progress);
  pthread_mutex_destroy(&c->lock);
}


/* Write what the ring of a killed writer holds behind what that one has written.
   From then on the numbers in records are those of the new ring. */
static pf_status take_over (pf_consumer *c, pf_ring_copy *older,
                            pf_error *error) {
  pf_drain *const drain = &c->drain;
  if (drain->encoder->resume == NULL)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "its format cannot go on behind a file");
  drain->encoder->resume(drain->encoder, drain->sink, older->checkpoint.count);
  pf_status status = pf_drain_learn(drain, &older->journal, error);
  if (status >= 0)
    status = pf_drain_encode(drain, &older->records, UINT64_MAX, error);
  if (status >= 0)
    status = pf_drain_flush(drain, error);
  if (status >= 0)
    status = sync_sinks(c, error);
  for (int kind = 0; kind < PF_JOURNAL_KINDS; kind++)
    drain->numbers[kind].count = 0;
  drain->rows = 0;
  measure(c);
  return status < 0 ? status : PF_OK;
}


pf_status pf_consumer_open (pf_consumer *c, pf_writer *writer,
                            const pf_writer_plan *plan, pf_error *error) {
  *c = (pf_consumer){
      .writer = writer, .journal = {.mask = UINT64_MAX}, .sync = plan->sync};
  const pf_status status = pf_drain_open(&c->drain, plan->format, plan->options,
                                         plan->noptions, plan->sink, error);
  if (status != PF_OK)
    return status;
  if (c->drain.encoder->flush == NULL)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "format '%s' is written whole when it is closed: no ring "
                   "serves it",
                   plan->format->name);
  return plan->older == NULL ? PF_OK : take_over(c, plan->older, error);
}


void pf_consumer_start (pf_consumer *c) {
  if (c->writer->ring.mode != PF_RING_OVERWRITE)
    start_thread(c);
}


void pf_consumer_stop (pf_consumer *c) {
  if (!c->has_thread)
    return;
  pthread_mutex_lock(&c->lock);
  c->stopping = true;
  pthread_cond_signal(&c->asked_for);
  pthread_mutex_unlock(&c->lock);
  pthread_join(c->thread, NULL);
  pthread_cond_destroy(&c->asked_for);
  pthread_cond_destroy(&c->progress);
  pthread_mutex_destroy(&c->lock);
  c->has_thread = false;
}


void pf_consumer_close (pf_consumer *c) {
  pf_consumer_stop(c);
  pf_drain_close(&c->drain);
}

/* }====== */
