/*
** ring_consumer.c - encodes the records of a ring and writes them to the files.
**
** A step consumes about an eighth of the ring at most (in overwrite mode, all
** of it), so that the producer gets space back before all is written. The files
** are valid after each step; then the checkpoint with their lengths is
** published, and only then the producer reuses the space. If the process is
** killed between the write and the checkpoint, the records are both in the ring
** and in the file, after the length of the checkpoint: recovery reads the file
** only up to that length.
*/

#include "model/writer/ring_consumer.h"
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DELAY 20000000 /* ns between two steps without a request */


/* Write the files to the disk, if the plan asks for it. Pipes have none
   (EINVAL). */
static pf_status sync_sinks (const pf_ring_consumer *c, pf_error *error) {
  const pf_sink *sink = c->sync ? c->encoder.sink : NULL;
  for (; sink != NULL; sink = sink->side)
    if (sink->fd >= 0 && !os_sync(sink->fd) && errno != EINVAL)
      return pf_fail(error, PF_EIO, PF_NO_OFFSET, "write failed: %s",
                     strerror(errno));
  return PF_OK;
}


/* Set the lengths of the files and the count of the encoder in the
   checkpoint. */
static void set_lengths (pf_ring_consumer *c) {
  const pf_sink *sink = c->encoder.sink;
  for (size_t i = 0; sink != NULL; sink = sink->side, i++)
    c->checkpoint.lengths[i] = sink->before + sink->written;
  c->checkpoint.count = c->encoder.encoder->count;
}


/* Publish the checkpoint after `rows` more rows: in the ring, and on the disk
   if the ring is synchronised. */
static pf_status publish (pf_ring_consumer *c, const pf_ring_cursor *records,
                          uint64_t rows, pf_error *error) {
  const pf_ring *const ring = &c->writer->ring;
  c->checkpoint.tail = records->at;
  if (ring->mode == PF_RING_OVERWRITE)
    c->checkpoint.lost = ring->oldest.before - c->checkpoint.consumed;
  c->checkpoint.consumed += rows;
  set_lengths(c);
  pf_store_relaxed(&c->rounded, c->encoder.encoder->rounded);
  if (ring->mode == PF_RING_OVERWRITE)
    pf_ring_release_all(&c->writer->ring, &c->checkpoint);
  else
    pf_ring_set_checkpoint(ring->header, &c->checkpoint);
  const pf_status status = pf_ring_sync(ring, error);
  if (status == PF_OK)
    pf_store_release(&c->synced_tail, c->checkpoint.tail);
  return status;
}


/* Run a step: PF_MORE, PF_END if there was no record, or a failure. */
static pf_status consume_some (pf_ring_consumer *c, pf_error *error) {
  pf_ring *const ring = &c->writer->ring;
  const bool overwrites = ring->mode == PF_RING_OVERWRITE;
  /* From the first record that was not consumed to the head. */
  pf_ring_cursor records = {.bytes = ring->slots,
                            .mask = ring->mask,
                            .at = overwrites ? ring->oldest.at
                                             : c->checkpoint.tail,
                            .end = pf_load_acquire(&ring->header->head)};
  const uint64_t rows = c->encoder.rows;
  if (records.at >= records.end)
    return PF_END;
  /* Loaded after the head: it has all ids that these records use. */
  c->journal.end = pf_load_acquire(&ring->header->journal);
  c->journal.bytes = pf_load_acquire_bytes(&ring->journal);
  pf_status status = pf_ring_encoder_replay(&c->encoder, &c->journal, error);
  if (status == PF_OK)
    status = pf_ring_encoder_consume(
        &c->encoder, &records, overwrites ? UINT64_MAX : (ring->mask + 1) / 8,
        error);
  if (status >= 0)
    status = pf_ring_encoder_flush(&c->encoder, error);
  if (status >= 0)
    status = sync_sinks(c, error);
  if (status < 0)
    return status;
  status = publish(c, &records, c->encoder.rows - rows, error);
  return status < 0 ? status : PF_MORE;
}


/* Set writer->failed; returns `status`. If the main sink still works, write the
   rows that were encoded before the failure; else truncate all files to the
   lengths of the checkpoint, since the last record may be incomplete. */
static pf_status fail (pf_ring_consumer *c, pf_status status) {
  pf_error second;
  const pf_sink *s = c->encoder.sink;
  if (s->failed == PF_OK) {
    (void)pf_ring_encoder_flush(&c->encoder, &second);
    s = NULL;
  }
  for (size_t i = 0; s != NULL; s = s->side, i++) {
    const uint64_t known = c->checkpoint.lengths[i];
    const uint64_t length = known > s->before ? known - s->before : 0;
    if (s->fd >= 0 && !s->is_in_place && !os_set_size(s->fd, length))
      continue; /* no failure: the checkpoint has the valid length */
  }
  pf_store_release(&c->writer->failed, 1);
  return status;
}


pf_status pf_ring_consumer_consume_all (pf_ring_consumer *c, pf_error *error) {
  pf_status status = PF_MORE;
  if (pf_writer_failed(c->writer)) {
    *error = c->error;
    return c->error.status;
  }
  while (status == PF_MORE)
    status = consume_some(c, &c->error);
  if (status == PF_END)
    return PF_OK;
  *error = c->error;
  return fail(c, status);
}

pf_status pf_ring_consumer_finish (pf_ring_consumer *c, pf_error *error) {
  pf_status status = pf_ring_encoder_finish(&c->encoder, error);
  if (status >= 0)
    status = sync_sinks(c, error);
  if (status < 0)
    return status;
  for (pf_sink *sink = c->encoder.sink; sink != NULL; sink = sink->side)
    if (sink->end != NULL)
      sink->end(sink);
  pf_store_release(&c->writer->ring.header->closed, 1);
  return pf_ring_sync(&c->writer->ring, error);
}


/* Wait for a request, for MAX_DELAY at most. The lock is held. */
static void wait_for_request (pf_ring_consumer *c) {
  if (!c->is_requested && !c->stopping)
    os_condition_wait(&c->requested, &c->lock, MAX_DELAY);
}


static void *run (void *context) {
  pf_ring_consumer *const c = context;
  pf_status status = PF_END;
  pthread_mutex_lock(&c->lock);
  while (!c->stopping && status >= 0) {
    if (status == PF_END)
      wait_for_request(c);
    c->is_requested = false;
    pf_error error;
    pthread_mutex_unlock(&c->lock);
    status = consume_some(c, &error);
    pthread_mutex_lock(&c->lock);
    c->steps++;
    if (status < 0) {
      c->error = error;
      fail(c, status);
    }
    pthread_cond_broadcast(&c->progress);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}


void pf_ring_consumer_ask (pf_ring_consumer *c) {
  pf_error unused; /* the next call of the writer reports it */
  if (!c->has_thread) {
    (void)pf_ring_consumer_consume_all(c, &unused);
    return;
  }
  pthread_mutex_lock(&c->lock);
  c->is_requested = true;
  pthread_cond_signal(&c->requested);
  pthread_mutex_unlock(&c->lock);
}


bool pf_ring_consumer_wait (pf_ring_consumer *c) {
  pf_error error;
  if (!c->has_thread)
    return pf_ring_consumer_consume_all(c, &error) == PF_OK;
  pthread_mutex_lock(&c->lock);
  const uint64_t steps = c->steps;
  c->is_requested = true;
  pthread_cond_signal(&c->requested);
  while (c->steps == steps && !pf_writer_failed(c->writer))
    pthread_cond_wait(&c->progress, &c->lock);
  pthread_mutex_unlock(&c->lock);
  return !pf_writer_failed(c->writer);
}


void pf_ring_consumer_start (pf_ring_consumer *c) {
  if (c->writer->ring.mode == PF_RING_OVERWRITE)
    return;
  const bool done = os_condition_open(&c->requested);
  c->has_thread = done && os_thread_start(&c->thread, run, c);
  if (done && !c->has_thread)
    pthread_cond_destroy(&c->requested);
}


/* Append the records of an older ring to the files that its writer left. The
   ids of the older ring are forgotten then: the journal of the new ring has its
   own. */
static pf_status append_older (pf_ring_consumer *c, pf_ring_copy *older,
                               pf_error *error) {
  pf_ring_encoder *const e = &c->encoder;
  if (e->encoder->resume == NULL)
    return pf_refuse(error, "its format cannot go on behind a file");
  e->encoder->resume(e->encoder, e->sink, older->checkpoint.count);
  pf_status status = pf_ring_encoder_replay(e, &older->journal, error);
  if (status >= 0)
    status = pf_ring_encoder_consume(e, &older->records, UINT64_MAX, error);
  if (status >= 0)
    status = pf_ring_encoder_flush(e, error);
  if (status >= 0)
    status = sync_sinks(c, error);
  for (int kind = 0; kind < PF_JOURNAL_KINDS; kind++)
    e->ids[kind].count = 0;
  e->rows = 0;
  set_lengths(c);
  return status < 0 ? status : PF_OK;
}


pf_status pf_ring_consumer_open (pf_ring_consumer *c, pf_writer *writer,
                                 const pf_writer_plan *plan, pf_error *error) {
  *c = (pf_ring_consumer){.writer = writer,
                          .journal = {.mask = UINT64_MAX},
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .progress = PTHREAD_COND_INITIALIZER,
                          .sync = plan->sync};
  const pf_status status =
      pf_ring_encoder_open(&c->encoder, plan->format, plan->options,
                           plan->noptions, plan->sink, error);
  if (status != PF_OK)
    return status;
  if (c->encoder.encoder->flush == NULL)
    return pf_refuse(error,
                     "format '%s' is written whole when it is closed: no ring "
                     "serves it",
                     plan->format->name);
  return plan->older == NULL ? PF_OK : append_older(c, plan->older, error);
}


void pf_ring_consumer_stop (pf_ring_consumer *c) {
  if (!c->has_thread)
    return;
  pthread_mutex_lock(&c->lock);
  c->stopping = true;
  pthread_cond_signal(&c->requested);
  pthread_mutex_unlock(&c->lock);
  pthread_join(c->thread, NULL);
  pthread_cond_destroy(&c->requested);
  c->has_thread = false;
}


void pf_ring_consumer_close (pf_ring_consumer *c) {
  pf_ring_consumer_stop(c);
  pthread_cond_destroy(&c->progress);
  pthread_mutex_destroy(&c->lock);
  pf_ring_encoder_close(&c->encoder);
}
