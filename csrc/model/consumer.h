/*
** consumer.h - the other end of a writer's ring: a thread that takes records
** out of it when there is something to take and some time has passed, when it
** is asked to, or when the ring is half full. A ring that is overwritten has no
** thread: it is taken as a whole when the producer says so.
*/

/* Behind files that another encoder has written and flushed an encoder goes on
   by pf_encoder.resume: the sink and its sides state their sizes, `count` is what
   that of the other one was. NULL: it cannot. */

#ifndef consumer_h
#define consumer_h

#include "model/parallel.h"
#include "model/writer.h"

typedef struct pf_consumer {
  pf_writer *writer;
  pf_drain drain;
  pf_ring_walk journal; /* how far it has been learnt */
  pf_checkpoint taken;  /* what has been published */
  pf_shared settled;    /* tail of a checkpoint that is also on the disk */
  pf_shared rounded;    /* values, by the encoder */
  bool sync;
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t asked_for; /* the thread waits for it */
  pthread_cond_t progress;  /* the producer does */
  bool asked, stopping;     /* under the lock, as all that follows */
  uint64_t steps;           /* how often the thread has looked */
  pf_error error;           /* why it has failed */
} pf_consumer;

/* Open the encoder, and write what plan->older holds. Close it also after a
   failure. */
pf_status pf_consumer_open (pf_consumer *consumer, pf_writer *writer,
                            const pf_writer_plan *plan, pf_error *error);

/* Begin to consume: the writer has its ring. */
void pf_consumer_start (pf_consumer *consumer);

/* End the thread; nothing is taken any more. */
void pf_consumer_stop (pf_consumer *consumer);

void pf_consumer_close (pf_consumer *consumer);

/* Have the thread look, and go on. */
void pf_consumer_ask (pf_consumer *consumer);

/* The same, and wait until it has: false when it has failed. */
bool pf_consumer_wait (pf_consumer *consumer);

/* Take everything, in the thread of the caller: there is no other one. */
pf_status pf_consumer_take_all (pf_consumer *consumer, pf_error *error);

/* Write what ends the files: from then on they are complete without the ring. */
pf_status pf_consumer_finish (pf_consumer *consumer, pf_error *error);

#endif
