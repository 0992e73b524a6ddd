/*
** ring_consumer.h - the consumer side of a writer's ring: a thread that encodes
** the records and writes them to the file. It runs a step when the producer
** asks, when the ring is half full, and every 20 ms. A ring in overwrite mode
** has no thread: all of it is written when the producer dumps it.
**
** Used by model/writer/writer.c, which owns it; lua/recorder/recorder.c reads
** the CPU time of its thread. Order of calls: open, start, then ask,
** wait or consume_all; stop; consume_all and finish; close. The producer's
** thread makes all calls. Failures of the thread are kept in `error` and set
** writer->failed.
*/

#ifndef ring_consumer_h
#define ring_consumer_h

#include "model/base/parallel.h"
#include "model/writer/writer.h"

typedef struct pf_ring_consumer {
  pf_writer *writer; /* borrowed */
  pf_ring_encoder encoder;
  pf_ring_cursor journal;   /* at the first entry that was not replayed */
  pf_checkpoint checkpoint; /* the last one that was published */
  pf_shared synced_tail;    /* tail of the last checkpoint, when it is on the
                               disk too if `sync` is set */
  pf_shared rounded;        /* values that the encoder has rounded */
  bool sync;                /* fdatasync after each step */
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t requested;    /* wakes the thread */
  pthread_cond_t progress;     /* wakes the producer after a step */
  bool is_requested, stopping; /* under the lock, as all that follows */
  uint64_t steps;              /* done so far */
  pf_error error;              /* the failure that has ended the thread */
} pf_ring_consumer;

/* Open the encoder, and write the records of plan->older. After a failure it
   must be closed too. */
pf_status pf_ring_consumer_open (pf_ring_consumer *consumer, pf_writer *writer,
                                 const pf_writer_plan *plan, pf_error *error);

/* Start the thread; writer->ring is open. If there is no thread to be had, wait
   and consume_all do its work in the thread of the caller. */
void pf_ring_consumer_start (pf_ring_consumer *consumer);

/* End the thread after its current step. */
void pf_ring_consumer_stop (pf_ring_consumer *consumer);

void pf_ring_consumer_close (pf_ring_consumer *consumer);

/* Request a step and return at once. */
void pf_ring_consumer_ask (pf_ring_consumer *consumer);

/* Request a step and wait for the end of one; false: the consumer has
   failed. */
bool pf_ring_consumer_wait (pf_ring_consumer *consumer);

/* Write all records, in the thread of the caller; the consumer's does not
   run. */
pf_status pf_ring_consumer_consume_all (pf_ring_consumer *consumer,
                                        pf_error *error);

/* Write the end of the files and mark the ring as closed: the files are
   complete without it. */
pf_status pf_ring_consumer_finish (pf_ring_consumer *consumer, pf_error *error);

#endif
