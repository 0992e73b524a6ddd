/*
** ring.h - a ring buffer of records in a mapped file, from one producer to one
** consumer. The file outlives both: records that were committed can be read
** after the process was killed at any instruction.
**
** Claim (lua/writer/recover.c): pf_ring_claim_open. Producer
** (model/writer/writer.c): pf_ring_create, which takes over the claim, and
** pf_ring_start; then for each record pf_ring_journal_append of what it refers
** to, pf_ring_reserve and pf_ring_commit; pf_ring_close. Consumer
** (model/writer/ring_consumer.c, ring_encoder.c): pf_ring_journal_next and
** pf_ring_next, then pf_ring_set_checkpoint. Recovery (lua/writer/recover.c,
** stream.c): pf_ring_read, both ..._next, pf_ring_copy_close. The structs
** belong to the caller; the functions that close them free what they own.
**
** Of a record the ring knows its size and a tag. The slots wrap; the journal
** after them only grows and has what records refer to by id.
**
** The file: a header of one page, the slots (a power of two), the journal. All
** numbers have the byte order of the machine. A position counts bytes since the
** first record and never wraps; its place in the slots is the position modulo
** their size. A record never crosses the end of the slots: a filler is put
** before it.
**
**   OFFSET SIZE FIELD          a record, at a multiple of 8
**   0      4    words of 8 bytes, this one included
**   4      4    tag; PF_RING_FILLER: skip this record
**   8      ..   words
**
**   OFFSET SIZE FIELD          an entry of the journal, at a multiple of 8
**   0      4    bytes n of its text
**   4      4    kind
**   8      n    text, zeros up to a multiple of 8
**
** A store of `head` with release order publishes a record. The checkpoint of
** the consumer and the oldest record of a ring in overwrite mode are several
** numbers each, and published as a pf_snapshot. A ring in overwrite mode
** discards a segment (a sixteenth) at a time; no record crosses the end of a
** segment.
*/

#ifndef ring_h
#define ring_h

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bytes/named.h"
#include "os/os.h"
#include "profio.h"

/*
** Atomic numbers that two threads share, or two processes through a mapped
** file. A store with release order pairs with a load with acquire order: a
** thread that reads the stored value also sees all writes made before the
** store. All explicit memory orders of rings are here.
*/

typedef _Atomic uint64_t pf_shared;
typedef _Atomic(uint8_t *) pf_shared_bytes; /* an atomic pointer */

static inline void pf_store_release (pf_shared *number, uint64_t value) {
  atomic_store_explicit(number, value, memory_order_release);
}

static inline uint64_t pf_load_acquire (const pf_shared *number) {
  return atomic_load_explicit(number, memory_order_acquire);
}

static inline void pf_store_release_bytes (pf_shared_bytes *at,
                                           uint8_t *bytes) {
  atomic_store_explicit(at, bytes, memory_order_release);
}

static inline uint8_t *pf_load_acquire_bytes (const pf_shared_bytes *at) {
  return atomic_load_explicit(at, memory_order_acquire);
}

/* Relaxed order: nothing is said about other memory. */
static inline void pf_store_relaxed (pf_shared *number, uint64_t value) {
  atomic_store_explicit(number, value, memory_order_relaxed);
}

static inline uint64_t pf_load_relaxed (const pf_shared *number) {
  return atomic_load_explicit(number, memory_order_relaxed);
}

/* An exchange: writes after it become visible no earlier than `value`. */
static inline void pf_exchange_acq_rel (pf_shared *number, uint64_t value) {
  (void)atomic_exchange_explicit(number, value, memory_order_acq_rel);
}

/* Loads before the fence are done before loads and stores after it. */
static inline void pf_fence_acquire (void) {
  atomic_thread_fence(memory_order_acquire);
}

/* A word of a record or entry, in the byte order of the machine. */
static inline uint64_t pf_ring_word (const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

#define PF_RING_MAGIC    "PFRING\r\n" /* first bytes of the file */
#define PF_RING_VERSION  2u
#define PF_RING_PAGE     4096u
#define PF_RING_SECTOR   512u
#define PF_RING_FILLER   UINT32_MAX
#define PF_RING_SETTINGS 2048u  /* bytes of settings */
#define PF_RING_MIN      65536u /* bytes of slots */
#define PF_RING_MAX      (1u << 30)

/* The behaviour of the producer when the ring is full. */
typedef enum pf_ring_mode {
  PF_RING_BLOCK,    /* wait for the consumer */
  PF_RING_DROP,     /* drop the new record and count it */
  PF_RING_OVERWRITE /* overwrite the oldest records and count them */
} pf_ring_mode;

#define PF_RING_FILES 4 /* most files that a consumer writes */

/* State of the consumer. Files whose lengths it has can be continued there. */
typedef struct pf_checkpoint {
  uint64_t tail;     /* position of the first record not consumed */
  uint64_t consumed; /* records before it that were written */
  uint64_t lost;     /* records before it that were overwritten */
  /* Bytes of each file, the main one first. Bytes after that belong to records
     that are still in the ring. Numbered files of one role count as one. */
  uint64_t lengths[PF_RING_FILES];
  uint64_t count; /* pf_encoder.count, for pf_encoder.resume */
} pf_checkpoint;

/* The first record that has not been overwritten. */
typedef struct pf_oldest {
  uint64_t at;     /* its position */
  uint64_t before; /* records committed before it */
} pf_oldest;

/* Numbers that are published together by double buffering: the lowest bit of
   `version` selects the copy that is valid, and the other one is written. */
#define PF_SNAPSHOT_NUMBERS (4 + PF_RING_FILES)
typedef struct pf_snapshot {
  pf_shared version;
  pf_shared numbers[2][PF_SNAPSHOT_NUMBERS];
} pf_snapshot;

#define PF_RING_SEGMENTS 16u

typedef struct pf_ring_header {
  char magic[8];
  uint32_t version, mode;
  uint64_t size;                      /* of the slots, in bytes */
  uint64_t settings_size;             /* bytes of settings that are used */
  uint8_t settings[PF_RING_SETTINGS]; /* the writer manifest */
  uint64_t is_synced;                 /* 1: made with `sync` */
  char
      boot[OS_BOOT_ID_SIZE]; /* boot of the writer's system; zeros: not known */

  _Alignas(64) pf_shared head; /* end of the last record committed */
  pf_shared dropped;           /* records */
  pf_shared journal;           /* end of its last entry, in bytes */
  pf_snapshot oldest;          /* a pf_oldest */

  /* In one sector, which the disk writes as a whole. */
  _Alignas(PF_RING_SECTOR) pf_snapshot checkpoint; /* a pf_checkpoint */
  pf_shared closed; /* 1: the files are complete without the ring */
} pf_ring_header;

_Static_assert(sizeof(pf_ring_header) <= PF_RING_PAGE, "one page");
_Static_assert(offsetof(pf_ring_header, closed) + sizeof(pf_shared) -
                       offsetof(pf_ring_header, checkpoint) <=
                   PF_RING_SECTOR,
               "one sector");

typedef struct pf_ring pf_ring;

/* The functions by which the producer calls the consumer. */
typedef struct pf_ring_callbacks {
  void (*wake)(void *context); /* half full, or a record was dropped */
  bool (*wait)(void *context); /* the ring is full: return when there is space;
                                  false: the consumer has failed */
  void *context;
} pf_ring_callbacks;

/* The producer's side. */
struct pf_ring {
  pf_ring_header *header; /* owned mapping of header and slots */
  uint8_t *slots;         /* in that mapping */
  uint64_t mask;          /* size of the slots - 1 */
  uint64_t head;          /* position of the next record */
  uint64_t limit; /* records that end here or before take the fast path */
  uint64_t count; /* records committed so far */

  pf_ring_mode mode;
  pf_ring_callbacks callbacks;
  uint64_t dropped; /* records */
  pf_oldest oldest; /* in overwrite mode: as in the header */
  uint64_t count_before[PF_RING_SEGMENTS]; /* records before each segment */
  pf_shared_bytes journal;   /* owned mapping, mapped again when it grows */
  uint64_t journal_capacity; /* bytes mapped */
  uint64_t journal_used;
  struct pf_ring_map *maps; /* replaced mappings of the journal, owned */
  char *path;               /* owned; NULL: the file has no name */
  int fd;                   /* owned; locked if the file has a name */
};


/* The exclusive right to write the ring at a path: a lock on the file there. */
typedef struct pf_ring_claim {
  const char *path; /* borrowed */
  int fd;           /* the locked file at the path; -1: not claimed */
  bool is_new;      /* the claim has made the file */
} pf_ring_claim;

/* Claim a path. PF_EIO: another writer has it, the file is no ring, or it
   cannot be opened or made; PF_ENOMEM. */
pf_status pf_ring_claim_open (pf_ring_claim *claim, const char *path,
                              pf_error *error);

/* Release a claim. A file that the claim has made is removed; the ring of an
   earlier writer stays. */
void pf_ring_claim_close (pf_ring_claim *claim);

/*
** Create a ring of at least `size` bytes of slots, a power of two. With a claim
** the ring replaces the claimed file and takes over the claim, which is closed;
** NULL: the file has no name. Disk space is reserved at once (PF_EIO: not
** enough).
** The ring is marked as closed until pf_ring_start. `settings` are stored for
** recovery. With `sync` the ring is on the disk before it gets its name.
** PF_EIO, PF_ELIMIT, PF_ENOMEM; the ring is closed after a failure.
*/
pf_status pf_ring_create (pf_ring *ring, pf_ring_claim *claim, uint64_t size,
                          pf_ring_mode mode, pf_bytes settings, bool sync,
                          pf_error *error);

/* Mark the ring as open: from now on the files are valid up to the lengths of
   the checkpoint, and their last records are in the ring. */
void pf_ring_start (pf_ring *ring);

/* Write the header, with the checkpoint, to the disk, if the ring was made with
   `sync` and has a name. The files must be on the disk up to the lengths of the
   checkpoint. PF_EIO. */
pf_status pf_ring_sync (const pf_ring *ring, pf_error *error);


/* Unmap the ring and close its file; with `remove` the file is removed. */
void pf_ring_close (pf_ring *ring, bool remove);

/* The general path of pf_ring_reserve: makes space, waits or drops. */
uint64_t *pf_ring_reserve_slow (pf_ring *ring, size_t words);

/* Whether pf_ring_reserve takes the fast path for a record of `words` words. */
static inline bool pf_ring_has_space (const pf_ring *ring, size_t words) {
  return ring->head + 8 * words + 8 <= ring->limit;
}

/*
** Reserve a record of `words` words. The caller fills them all, then commits;
** another reservation drops this one. NULL: the record was dropped and counted,
** it is too large (pf_ring_can_hold), or the consumer has failed.
*/
static inline uint64_t *pf_ring_reserve (pf_ring *ring, size_t words) {
  if (!pf_ring_has_space(ring, words))
    return pf_ring_reserve_slow(ring, words);
  return (uint64_t *)(void *)(ring->slots + (ring->head & ring->mask)) + 1;
}

/* Publish the record that was reserved with the same `words`. */
static inline void pf_ring_commit (pf_ring *ring, uint64_t *record,
                                   size_t words, uint32_t tag) {
  record[-1] = (words + 1) | (uint64_t)tag << 32;
  ring->count++;
  ring->head += 8 * words + 8;
  pf_store_release(&ring->header->head, ring->head);
}

/* Whether a record of `words` words fits into an empty ring: it has less than a
   quarter of the slots, or in overwrite mode less than a segment. */
bool pf_ring_can_hold (const pf_ring *ring, size_t words);

/* Append an entry to the journal. Readers see it before all records that are
   committed later. PF_EIO: no disk space, or no mapping; PF_ENOMEM. */
pf_status pf_ring_journal_append (pf_ring *ring, uint32_t kind, pf_bytes text,
                                  pf_error *error);

/* Read the published checkpoint, and the published oldest record. */
pf_checkpoint pf_ring_checkpoint (const pf_ring_header *header);
pf_oldest pf_ring_oldest (const pf_ring_header *header);

/* Publish a checkpoint (consumer): the slots before its tail may be reused. */
void pf_ring_set_checkpoint (pf_ring_header *header,
                             const pf_checkpoint *checkpoint);

/* Publish a checkpoint in overwrite mode, where the producer's thread consumes:
   all records have been consumed. */
void pf_ring_release_all (pf_ring *ring, const pf_checkpoint *checkpoint);


/* Reading, in the process of the ring or from any file (copy.c). All sizes in
   the ring are checked. */

/* A range of records, or of journal entries, that is being read. */
typedef struct pf_ring_cursor {
  const uint8_t *bytes; /* the slots, or the journal */
  uint64_t mask;        /* of positions: UINT64_MAX in the journal */
  uint64_t at, end;     /* positions */
} pf_ring_cursor;

typedef struct pf_ring_record {
  uint32_t tag;
  const uint8_t *words; /* in the ring */
  size_t count;         /* of words */
} pf_ring_record;

/* Read the next record: PF_MORE, PF_END, or PF_EFORMAT. */
pf_status pf_ring_next (pf_ring_cursor *cursor, pf_ring_record *record,
                        pf_error *error);

/* Skip records that directly follow `record` (the last one read) and have its
   tag and size. Returns their number, at most `max_count`. */
size_t pf_ring_next_alike (pf_ring_cursor *cursor, const pf_ring_record *record,
                           size_t max_count);

/* Read the next journal entry: PF_MORE, PF_END, or PF_EFORMAT. `text` lies in
   the journal. */
pf_status pf_ring_journal_next (pf_ring_cursor *cursor, uint32_t *kind,
                                pf_bytes *text, pf_error *error);

/* A consistent copy of a ring in a file, whose writer may go on meanwhile. */
typedef struct pf_ring_copy {
  pf_ring_mode mode;
  uint64_t size; /* of the slots */
  uint8_t settings[PF_RING_SETTINGS];
  size_t settings_size;
  bool is_closed; /* the files are complete without the ring: of the other
                     members only is_alive is set */
  pf_checkpoint checkpoint;
  uint64_t lost;          /* records: dropped or overwritten */
  uint8_t *memory;        /* owns the slots and the journal */
  pf_ring_cursor records; /* those neither consumed nor overwritten */
  pf_ring_cursor journal; /* all entries */
  bool is_alive;          /* the writer holds its lock */
  bool is_restarted; /* the system has been started since the ring was made */
  bool is_synced;    /* made with `sync`; if is_restarted too, the checkpoint is
                        valid and `records` is empty */
} pf_ring_copy;

/* Copy the ring in the file at `path`, which pf_named_open opens by `rule`
   (NULL: a regular file in any folder). PF_EIO, PF_EUNSUPPORTED, PF_ELIMIT as
   pf_named_open; PF_EFORMAT: it is no ring, or a damaged one; PF_ENOMEM. The
   caller closes the copy, also after a failure. */
pf_status pf_ring_read (const char *path, const pf_named_rule *rule,
                        pf_ring_copy *copy, pf_error *error);

/* The state of a ring that is written, without a copy of it. */
typedef struct pf_ring_state {
  bool is_open;  /* it is a ring, and no writer has closed it */
  bool is_alive; /* a writer holds its lock */
  uint64_t head; /* where the next record goes: grows with each record */
} pf_ring_state;

/* Look at the ring in the file at `path`, which pf_named_open opens by `rule`.
   The errors are those of pf_named_open. */
pf_status pf_ring_look (const char *path, const pf_named_rule *rule,
                        pf_ring_state *state, pf_error *error);

/* Copy the ring in the bytes of a file, which are aligned like a page; is_alive
   is not set. PF_EFORMAT, PF_ENOMEM. */
pf_status pf_ring_parse (pf_bytes file, pf_ring_copy *copy, pf_error *error);

void pf_ring_copy_close (pf_ring_copy *copy);

#endif
