/*
** ring_consumer.h - the consumer side of a writer's ring: a thread that encodes
** the records and writes them to the file. It runs a step when the producer
** asks (also when the ring is half full or full), and every 20 ms. A ring in
** overwrite mode has no thread: all of it is written when the producer dumps or
** closes it.
**
** Used by model/writer/writer.c, which owns it; lua/recorder/recorder.c reads
** the CPU time of its thread. Order of calls: open, start, then ask and wait
** (without a thread: consume_all); stop; consume_all and finish; close. The
** producer's thread makes all calls. A failure of a step is kept in `error` and
** sets writer->failed.
*/

#ifndef ring_consumer_h
#define ring_consumer_h

#include "model/system/parallel.h"
#include "model/writer/writer.h"

typedef struct pf_ring_consumer {
  pf_writer *writer; /* borrowed */
  pf_ring_encoder encoder;
  pf_ring_cursor journal;   /* at the first entry that was not replayed */
  pf_checkpoint checkpoint; /* the last one that was published */
  pf_shared synced_tail;    /* tail of the last checkpoint, when it is on the
                               disk too if `sync` is set */
  pf_shared rounded;        /* values that the encoder has rounded */
  bool sync;                /* fdatasync the files in each step */
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t requested;    /* wakes the thread */
  pthread_cond_t progress;     /* wakes the producer after a step */
  bool is_requested, stopping; /* under the lock, as all that follows */
  uint64_t steps;              /* done so far */
  pf_error error;              /* valid and constant once writer->failed is 1 */
} pf_ring_consumer;

/* Open the encoder, and write the records of plan->older. PF_EUNSUPPORTED: the
   format cannot be written in steps, or not be continued; else the failures of
   ring_encoder.h, PF_EIO. After a failure it must be closed too. */
pf_status pf_ring_consumer_open (pf_ring_consumer *consumer, pf_writer *writer,
                                 const pf_writer_plan *plan, pf_error *error);

/* Start the thread, except in overwrite mode; writer->ring is open. If it
   cannot be started, pf_ring_consumer_ask, ..._wait and ..._consume_all do its
   work in the thread of the caller. */
void pf_ring_consumer_start (pf_ring_consumer *consumer);

/* End the thread after its current step, and join it. */
void pf_ring_consumer_stop (pf_ring_consumer *consumer);

void pf_ring_consumer_close (pf_ring_consumer *consumer);

/* Request a step and return at once; not called in overwrite mode. */
void pf_ring_consumer_ask (pf_ring_consumer *consumer);

/* Request a step and wait for the end of one; false: the consumer has
   failed. */
bool pf_ring_consumer_wait (pf_ring_consumer *consumer);

/* Write all records, in the thread of the caller; the consumer's thread must
   not be running. */
pf_status pf_ring_consumer_consume_all (pf_ring_consumer *consumer,
                                        pf_error *error);

/* Write the end of the files and mark the ring as closed: the files are
   complete without it. */
pf_status pf_ring_consumer_finish (pf_ring_consumer *consumer, pf_error *error);

#endif
