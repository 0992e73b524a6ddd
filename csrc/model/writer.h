/*
** writer.h - records into a file through a ring: a thread of the writer takes
** them out of it, encodes them and writes. Recording costs a few stores and no
** system call; what was recorded outlives the process.
**
**   pf_writer_open(&writer, &plan, &error)
**   uint64_t *at = pf_writer_begin(writer, words);   a few nanoseconds
**   ... at[0] = ..., at[1] = ...
**   pf_writer_commit(writer, at, words, tag);        pf_tag of drain.h
**   pf_writer_close(writer, &error);
**
** All but the thread itself is for one thread, the producer's. A process that
** fork has made has no part in the writer: nothing is recorded there, closing
** there leaves files and ring as they are, and both are failures.
*/

#ifndef writer_h
#define writer_h

#include "model/drain.h"

#define PF_RING_USUAL 4194304u /* bytes of a ring when nothing is said */

typedef struct pf_writer pf_writer;

/* What a writer is to do; nothing of it is kept but the sink. */
typedef struct pf_writer_plan {
  const pf_format *format; /* a stream: its encoder can flush */
  const pf_option *options;
  size_t noptions;
  /* those under which what a killed writer leaves is written as one file */
  const pf_option *kept;
  size_t nkept;
  pf_dictionary *dictionary; /* what the numbers in records point into */
  pf_sink *sink;        /* open, of a descriptor; with the sides it needs */
  pf_ring_claim *claim; /* NULL: the ring does not outlive the process */
  /* Of a killed writer, to go on behind: the files have been cut to the lengths
     of its checkpoint. Or NULL. */
  pf_ring_copy *older;
  uint64_t ring_size; /* bytes; 0: PF_RING_USUAL */
  pf_ring_mode mode;
  uint64_t flush_every; /* records; 0: when there is time */
  bool sync;            /* onto the disk, at each flush */
} pf_writer_plan;

typedef struct pf_writer_facts {
  uint64_t tried;   /* records that were given */
  uint64_t written; /* that are in the file */
  uint64_t lost;    /* dropped or overwritten, also those of plan.older */
  uint64_t rounded; /* values in what is written */
} pf_writer_facts;

/* PF_EIO, PF_EUNSUPPORTED (no stream), PF_ELIMIT, PF_ENOMEM. */
pf_status pf_writer_open (pf_writer **writer, const pf_writer_plan *plan,
                          pf_error *error);

/* The files are cut: from here on they are read with the ring. PF_EIO. */
pf_status pf_writer_start (pf_writer *writer, pf_error *error);

/* What can be written. */
const pf_table *pf_writer_tables (const pf_writer *writer, size_t *count);

/* One row of a batch of a table's schema. PF_OK also when it was dropped. */
pf_status pf_writer_put (pf_writer *writer, size_t table, const pf_batch *batch,
                         size_t row, pf_error *error);

/* Make known what the dictionary has got since the last time: before a record
   that refers to it is committed. */
pf_status pf_writer_learn (pf_writer *writer, pf_error *error);

/* Wait until everything recorded so far is in the file. Not what is to be
   overwritten: pf_writer_dump writes that. */
pf_status pf_writer_flush (pf_writer *writer, pf_error *error);
pf_status pf_writer_dump (pf_writer *writer, pf_error *error);

/* The failure of the writer's thread, or PF_OK. What was written stays. */
pf_status pf_writer_failure (pf_writer *writer, pf_error *error);

pf_writer_facts pf_writer_facts_of (pf_writer *writer);

/* Write everything and what ends the file, and free the writer. The ring is
   removed, but after a failure: what it holds is not in the file. The sink and
   its descriptor stay with who opened them. */
pf_status pf_writer_close (pf_writer *writer, pf_error *error);


/* Private part: seen so that recording needs no call. */

struct pf_writer {
  pf_ring ring;
  uint64_t flush_at;                /* records at which the thread is woken */
  pf_shared failed;                 /* 1: the thread has failed, and ended */
  uint32_t known[PF_JOURNAL_KINDS]; /* how much the journal says */
  pf_dictionary *dictionary;
  struct pf_consumer *consumer;
  uint64_t flush_every;
};

/* Called when so many records have come that the file shall have them. */
void pf_writer_due (pf_writer *writer);

/* Room for a record of so many words, to be filled and committed before the
   next one. NULL: it was dropped, it is too large, or the writer failed. */
static inline uint64_t *pf_writer_begin (pf_writer *writer, size_t words) {
  return pf_ring_reserve(&writer->ring, words);
}

static inline void pf_writer_commit (pf_writer *writer, uint64_t *record,
                                     size_t words, uint32_t tag) {
  pf_ring_commit(&writer->ring, record, words, tag);
  if (writer->ring.count >= writer->flush_at)
    pf_writer_due(writer);
}

/* Whether this process made the writer, and is no copy of that one. */
static inline bool pf_writer_is_here (const pf_writer *writer) {
  return writer->consumer != NULL;
}

/* Whether the thread has failed: look before recording. */
static inline bool pf_writer_failed (const pf_writer *writer) {
  return pf_glance(&writer->failed) != 0;
}

#endif
