/*
** ring_encoder.h - turns the records of a ring into the bytes of a file. The
** thread of a writer uses it (ring_consumer.c), and so does the recovery of a
** ring whose writer was killed (lua/writer/recover.c). A new writer that
** continues the file of an older one also replays the older journal into its
** own dictionary, which it lends for that (writer.c). lua/writer asks
** pf_ring_encoder_accepts before it takes rows.
**
** Order of calls: open; then any number of replay (the journal up to now) and
** consume (records up to now), and flush wherever the file must be valid;
** finish; close.
**
** It shares nothing with the producer but the ring: the journal has the names,
** areas and stacks that records refer to by id, and replay adds them to a
** dictionary of the encoder's own, whose ids may differ. Contents of a ring are
** checked, since the ring may come from a damaged file. Functions fail with
** PF_EFORMAT (damaged ring), PF_ENOMEM, or the failure of format or sink.
*/

#ifndef ring_encoder_h
#define ring_encoder_h

#include "bytes/ring/ring.h"
#include "bytes/sink.h"
#include "model/dictionary/stacks.h"
#include "model/writer/encoder.h"

/* Kinds of journal entries. The n-th entry of a kind has the id n, from 0. */
enum {
  PF_JOURNAL_NAME,  /* the bytes of the name */
  PF_JOURNAL_AREA,  /* words of 8 bytes: name, class, file, parent, line,
                       handle, value, bit 0: has a handle, bit 1: a value */
  PF_JOURNAL_STACK, /* words of 8 bytes: parent, frame */
  PF_JOURNAL_KINDS
};

#define PF_JOURNAL_AREA_NUMBERS 8

/* The tag of a record: the number of its table above PF_TAG_COLUMNS bits, of
   which bit i is set where column i has a value. The record has a word for each
   value; of PF_BYTES the size, then the bytes, padded to whole words. */
#define PF_TAG_COLUMNS 24
#define PF_TAG_TABLES  255 /* so no tag equals PF_RING_FILLER */

static inline uint32_t pf_tag (size_t table, uint32_t columns) {
  return (uint32_t)table << PF_TAG_COLUMNS | columns;
}

/* The index of the word of a column in a record with these columns, without
   PF_BYTES. */
static inline size_t pf_tag_word (uint32_t columns, size_t column) {
  return (size_t)__builtin_popcount(columns & ((1u << column) - 1));
}

/* Ids of the encoder's dictionary by ids of the producer, for one kind. */
typedef struct pf_id_map {
  uint32_t *ids;
  size_t count, capacity;
} pf_id_map;

typedef struct pf_ring_encoder {
  pf_dictionary *dictionary; /* owned, but for that which writer.c lends */
  pf_encoder *encoder;       /* of the format; owned */
  pf_sink *sink;             /* borrowed */
  const pf_table *tables;    /* borrowed from the encoder or the format */
  size_t ntables;
  pf_id_map ids[PF_JOURNAL_KINDS];
  pf_batch *batches;  /* by table; owned */
  pf_column *columns; /* scratch: of the batch that is put; owned */
  uint32_t tag;       /* of the rows collected in a batch, or NO_TAG */
  uint8_t wanted[PF_TAG_COLUMNS]; /* columns that have a value with this tag */
  size_t nwanted;
  bool has_fixed_size; /* none of them is PF_BYTES: one word per value */
  uint64_t rows;       /* given to the encoder so far */
} pf_ring_encoder;

/* Open an encoder into an open sink, which it borrows. After a failure it must
   be closed too. */
pf_status pf_ring_encoder_open (pf_ring_encoder *encoder,
                                const pf_format *format,
                                const pf_option *options, size_t noptions,
                                pf_sink *sink, pf_error *error);
void pf_ring_encoder_close (pf_ring_encoder *encoder);

/* Whether rows of a table fit into ring records (PF_TAG_COLUMNS columns). */
bool pf_ring_encoder_accepts (const pf_table *table);

/* Add all entries that are left in the journal to the dictionary. */
pf_status pf_ring_encoder_replay (pf_ring_encoder *encoder,
                                  pf_ring_cursor *journal, pf_error *error);

/* Encode records until about `max_bytes` of the ring have been read. PF_MORE:
   records are left; PF_END: none is left. All records before the cursor have
   been given to the encoder of the format; after a failure, those before the
   damaged one. */
pf_status pf_ring_encoder_consume (pf_ring_encoder *encoder,
                                   pf_ring_cursor *records, uint64_t max_bytes,
                                   pf_error *error);

/* Complete the file so far and write all its sinks: the file is valid. The
   encoder must have pf_encoder.flush. */
pf_status pf_ring_encoder_flush (pf_ring_encoder *encoder, pf_error *error);

/* Write the end of the file. Only close may follow. */
pf_status pf_ring_encoder_finish (pf_ring_encoder *encoder, pf_error *error);

#endif
