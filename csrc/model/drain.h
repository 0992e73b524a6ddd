/*
** drain.h - from the records of a ring to the bytes of a file: what the
** consumer's thread of a writer does, and who reads a killed writer's ring.
**
** It shares nothing with the producer but the ring: the names, areas and stacks
** that records refer to by number come to it through the journal, into a
** dictionary of its own.
*/

#ifndef drain_h
#define drain_h

#include "bytes/ring.h"
#include "bytes/sink.h"
#include "model/stacks.h"

/* Kinds of entries of the journal, each numbered from 0 in its order. */
enum {
  PF_JOURNAL_NAME,  /* its bytes */
  PF_JOURNAL_AREA,  /* numbers of 8 bytes: name, class, file, parent, line,
                       handle, value, 1: has a handle, 2: has a value */
  PF_JOURNAL_STACK, /* numbers of 8 bytes: parent, frame */
  PF_JOURNAL_KINDS
};

#define PF_JOURNAL_AREA_NUMBERS 8

/* A record's tag is the number of its table and a bit for each column that has
   a value; its words are these values, of bytes the length and then they. */
#define PF_TAG_COLUMNS 24
#define PF_TAG_TABLES  255

static inline uint32_t pf_tag (size_t table, uint32_t columns) {
  return (uint32_t)table << PF_TAG_COLUMNS | columns;
}

/* What the numbers of one kind are in the drain's own dictionary. */
typedef struct pf_numbers {
  uint32_t *list;
  size_t count, room;
} pf_numbers;

typedef struct pf_drain {
  pf_dictionary *dictionary;
  pf_encoder *encoder;
  pf_sink *sink;
  const pf_table *tables; /* that the encoder takes */
  size_t ntables;
  pf_numbers numbers[PF_JOURNAL_KINDS];
  pf_batch *batches;  /* by table */
  pf_column *columns; /* of the batch that is put: those with a value */
  uint32_t tag;       /* of the rows that wait in a batch, */
  uint8_t wanted[PF_TAG_COLUMNS]; /* their columns, */
  size_t nwanted;
  bool is_plain; /* each of which takes a word */
  uint64_t rows; /* that have been put */
} pf_drain;

/* A drain into an open sink. Close it also after a failure. */
pf_status pf_drain_open (pf_drain *drain, const pf_format *format,
                         const pf_option *options, size_t noptions,
                         pf_sink *sink, pf_error *error);
void pf_drain_close (pf_drain *drain);

/* Whether a ring can carry the rows of a table. */
bool pf_drain_carries (const pf_table *table);

/* Learn what the journal says, to its end. */
pf_status pf_drain_learn (pf_drain *drain, pf_ring_walk *journal,
                          pf_error *error);

/* Encode records, but stop soon behind `most` bytes of them. PF_MORE: there
   are more; PF_END. All that were walked over have been put. */
pf_status pf_drain_encode (pf_drain *drain, pf_ring_walk *records,
                           uint64_t most, pf_error *error);

/* Write out what has been encoded, as a valid file; of all its sinks. */
pf_status pf_drain_flush (pf_drain *drain, pf_error *error);

/* Write what ends the file. */
pf_status pf_drain_finish (pf_drain *drain, pf_error *error);

#endif
