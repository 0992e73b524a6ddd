/*
** writer.h - writes records to a file through a ring: the producer copies each
** record into the ring, without a system call, and a thread of the writer
** encodes the records and writes them. Records in the ring outlive the process.
**
**   pf_writer_open(&writer, &plan, &error)
**   pf_writer_start(writer, &error)
**   uint64_t *at = pf_writer_begin(writer, words);   a few nanoseconds
**   ... at[0] = ..., at[1] = ...
**   pf_writer_commit(writer, at, words, tag);        pf_tag of ring_encoder.h
**   pf_writer_close(writer, &error);
**
** One thread, the producer's, makes all calls. Used by lua/writer/stream.c,
** whose userdata owns the writer, by lua/writer/emitter.c and the recorder. In
** a forked child the writer records nothing: pf_writer_begin returns NULL,
** functions that take an error fail with PF_EIO, and closing leaves the files
** and the ring to the parent.
*/

#ifndef writer_h
#define writer_h

#include "model/writer/ring_encoder.h"

#define PF_RING_DEFAULT 4194304u /* bytes of a ring */

typedef struct pf_writer pf_writer;

/* Options of pf_writer_open. Only dictionary and sink must outlive the call. */
typedef struct pf_writer_plan {
  const pf_format *format; /* its encoder must have `flush` */
  const pf_option *options;
  size_t noptions;
  const pf_option *recovery_options; /* for the manifest: options under which
                                        recovery writes one complete file */
  size_t nrecovery_options;
  pf_dictionary *dictionary; /* of the ids in records */
  pf_sink *sink; /* open, with a descriptor; with the side files it needs */
  pf_ring_claim
      *claim; /* NULL: the ring has no name and ends with the process */
  pf_ring_copy *older; /* ring of a killed writer whose files are continued, and
                          have been truncated to its checkpoint; or NULL */
  uint64_t ring_size;  /* bytes; 0: PF_RING_DEFAULT */
  pf_ring_mode mode;
  uint64_t flush_every; /* records; 0: by time only */
  bool sync;            /* write to the disk at each flush */
} pf_writer_plan;

typedef struct pf_writer_facts {
  uint64_t tried;   /* records given to the writer; and plan->older->lost */
  uint64_t written; /* of those given to the writer, in the files */
  uint64_t lost;    /* dropped or overwritten, also those of plan->older */
  uint64_t rounded; /* values that the encoder has rounded */
} pf_writer_facts;

/* Open a writer, its ring and its thread. PF_EIO, PF_EUNSUPPORTED (the format
   cannot be written in steps), PF_ELIMIT, PF_ENOMEM, PF_EFORMAT (plan->older is
   damaged), or a failure of the encoder. */
pf_status pf_writer_open (pf_writer **writer, const pf_writer_plan *plan,
                          pf_error *error);

/* Mark the ring as open (pf_ring_start), when the files have been truncated to
   the lengths of the checkpoint. Not to be called in a forked child. PF_EIO. */
pf_status pf_writer_start (pf_writer *writer, pf_error *error);

/* The tables whose rows can be written; NULL in a forked child. */
const pf_table *pf_writer_tables (const pf_writer *writer, size_t *count);

/* Write a row of a batch that has the schema of table number `table`. PF_OK
   also if the ring dropped it; PF_ELIMIT: too large for the ring. PF_EIO,
   PF_ENOMEM, or the failure of the writer's thread. */
pf_status pf_writer_put (pf_writer *writer, size_t table, const pf_batch *batch,
                         size_t row, pf_error *error);

/* Append new names, areas and stacks of the dictionary to the journal. To be
   called before a record that uses them is committed; pf_writer_put does it
   itself. PF_EIO, PF_ENOMEM. */
pf_status pf_writer_journal (pf_writer *writer, pf_error *error);

/* Wait until all records so far are in the files. In overwrite mode flush
   writes nothing, and dump writes the records in the ring. Both return the
   failure of the writer's thread, if it has failed. */
pf_status pf_writer_flush (pf_writer *writer, pf_error *error);
pf_status pf_writer_dump (pf_writer *writer, pf_error *error);

/* The failure of the writer's thread, or PF_OK. Records written before it
   stay. */
pf_status pf_writer_failure (pf_writer *writer, pf_error *error);

pf_writer_facts pf_writer_facts_of (pf_writer *writer);

/* Write all records and the end of the files, and free the writer, also after a
   failure. The ring is removed, except after a failure, since it has records
   then that are not in the files. The caller closes the sink and its
   descriptor. */
pf_status pf_writer_close (pf_writer *writer, pf_error *error);


/* Private part: visible so that recording needs no call. */

struct pf_writer {
  pf_ring ring;
  uint64_t flush_at; /* ring.count at which the thread is woken */
  pf_shared failed;  /* 1: the thread has failed and ended */
  uint32_t known[PF_JOURNAL_KINDS];  /* ids in the journal */
  pf_dictionary *dictionary;         /* borrowed */
  struct pf_ring_consumer *consumer; /* owned; NULL in a forked child */
  uint64_t flush_every;
};

/* Request a flush: flush_every records have been committed since the last
   one. */
void pf_writer_flush_due (pf_writer *writer);

/* Reserve a record of `words` words; see pf_ring_reserve. */
static inline uint64_t *pf_writer_begin (pf_writer *writer, size_t words) {
  return pf_ring_reserve(&writer->ring, words);
}

static inline void pf_writer_commit (pf_writer *writer, uint64_t *record,
                                     size_t words, uint32_t tag) {
  pf_ring_commit(&writer->ring, record, words, tag);
  if (writer->ring.count >= writer->flush_at)
    pf_writer_flush_due(writer);
}

/* Whether this process opened the writer; false in a forked child. */
static inline bool pf_writer_is_owner (const pf_writer *writer) {
  return writer->consumer != NULL;
}

/* Whether the thread has failed. Check this before recording. */
static inline bool pf_writer_failed (const pf_writer *writer) {
  return pf_load_relaxed(&writer->failed) != 0;
}

#endif
