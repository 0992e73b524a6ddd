/*
** ring.h - records of one producer on their way to one consumer, through a
** mapped file that outlives both: what has been committed is there after the
** process was killed at any instruction.
**
** The ring knows nothing of its records but their size and a tag. Beside the
** slots, which wrap, there is a journal, which does not: for what records
** refer to by number.
**
** The file: a header of one page, the slots (a power of two), the journal. All
** numbers are the machine's own. Positions count bytes from the first record
** ever and never wrap: the place of one is its remainder by the size of the
** slots. A record never lies across the end of the slots; a filler does.
**
**   OFFSET SIZE FIELD          a record, at a multiple of 8
**   0      4    words of 8 bytes, this one included
**   4      4    tag; PF_RING_FILLER: to be passed over
**   8      ..   words
**
**   OFFSET SIZE FIELD          an entry of the journal, at a multiple of 8
**   0      4    bytes n of its text
**   4      4    kind
**   8      n    text, zeros up to a multiple of 8
**
** One number publishes a record: `head`. The consumer publishes how far it has
** come and how long each of its files was then: numbers that belong together lie twice,
** and a further one says by its lowest bit which of the two holds. So does the
** place of the oldest record of a ring that overwrites, with how many came
** before it. Such a ring gives up a segment at a time, a sixteenth; no record
** lies across two of them.
*/

#ifndef ring_h
#define ring_h

#include <stddef.h>

#include "bytes/barrier.h"
#include "profio.h"

#define PF_RING_MAGIC    "PFRING\r\n" /* what a ring begins with */
#define PF_RING_VERSION  2u
#define PF_RING_PAGE     4096u
#define PF_RING_SECTOR   512u
#define PF_RING_BOOT     40u /* bytes of the name of a boot */
#define PF_RING_FILLER   UINT32_MAX
#define PF_RING_SETTINGS 2048u  /* bytes the user of the ring may keep */
#define PF_RING_LEAST    65536u /* bytes of slots */
#define PF_RING_MOST     (1u << 30)

/* What happens to a record that finds no room. */
typedef enum pf_ring_mode {
  PF_RING_BLOCK,    /* it waits: nothing is lost */
  PF_RING_DROP,     /* it is lost, and counted */
  PF_RING_OVERWRITE /* the oldest ones are, and counted */
} pf_ring_mode;

#define PF_RING_FILES 4 /* that a consumer writes */

/* How far the consumer has come. */
typedef struct pf_checkpoint {
  uint64_t tail;  /* position of the first record not taken */
  uint64_t taken; /* records before it that were */
  uint64_t lost;  /* and that were overwritten */
  /* Bytes of each file of the consumer, the main one first: what is behind them
     belongs to records that are still in the ring. Files that are numbered count
     as one. */
  uint64_t lengths[PF_RING_FILES];
  uint64_t count; /* of the encoder: what it has to know to go on */
} pf_checkpoint;

/* The first record that has not been overwritten. */
typedef struct pf_oldest {
  uint64_t at;     /* its position */
  uint64_t before; /* how many were committed before it */
} pf_oldest;

/* Numbers that belong together. */
#define PF_TOGETHER (4 + PF_RING_FILES)
typedef struct pf_together {
  pf_shared which; /* its lowest bit: of these two */
  pf_shared numbers[2][PF_TOGETHER];
} pf_together;

#define PF_RING_SEGMENTS 16u

typedef struct pf_ring_header {
  char magic[8];
  uint32_t version, mode;
  uint64_t size;          /* of the slots */
  uint64_t settings_size; /* bytes of settings that are used */
  uint8_t settings[PF_RING_SETTINGS];
  uint64_t is_synced; /* the checkpoint is on the disk when it is promised */
  char boot[PF_RING_BOOT]; /* of the system that wrote it; zeros: not known */

  _Alignas(64) pf_shared head; /* the producer's: end of the last record */
  pf_shared dropped;           /* records */
  pf_shared journal;           /* end of its last entry */
  pf_together oldest;          /* pf_oldest */

  /* In one sector, which the disk writes as a whole. */
  _Alignas(PF_RING_SECTOR) pf_together checkpoint; /* the consumer's */
  pf_shared closed; /* 1: the file is complete without the ring */
} pf_ring_header;

_Static_assert(sizeof(pf_ring_header) <= PF_RING_PAGE, "one page");
_Static_assert(offsetof(pf_ring_header, closed) + sizeof(pf_shared) -
                       offsetof(pf_ring_header, checkpoint) <=
                   PF_RING_SECTOR,
               "one sector");

typedef struct pf_ring pf_ring;

/* What the producer asks of the consumer. */
typedef struct pf_ring_help {
  void (*wake)(void *context); /* half of the ring is full */
  bool (*wait)(void *context); /* it is full: come back when there is room;
                                  false: there will be none */
  void *context;
} pf_ring_help;

/* The producer's side. */
struct pf_ring {
  pf_ring_header *header;
  uint8_t *slots;
  uint64_t mask;  /* size of the slots - 1 */
  uint64_t head;  /* where the next record begins */
  uint64_t limit; /* up to here it finds room without asking */
  uint64_t count; /* of records that were committed */

  pf_ring_mode mode;
  pf_ring_help help;
  uint64_t dropped;                  /* records */
  pf_oldest oldest;                  /* overwriting: as in the header */
  uint64_t before[PF_RING_SEGMENTS]; /* records before those of a segment */
  pf_shared_bytes journal;           /* mapped anew when it grows */
  uint64_t journal_room;             /* bytes that are mapped of it */
  uint64_t journal_used;
  struct pf_ring_map *maps; /* of journals that have grown, to be unmapped */
  char *path;               /* NULL: the file has no name */
  int fd;
};


/* The right to write the ring at a path, which one writer has at a time. */
typedef struct pf_ring_claim {
  const char *path; /* borrowed */
  int fd;           /* of the file that has the name, locked; -1: no right */
  bool is_new;      /* there was no ring */
} pf_ring_claim;

/* Claim a path. PF_EIO: another writer has it, or there is another file. */
pf_status pf_ring_claim_open (pf_ring_claim *claim, const char *path,
                              pf_error *error);

/* Give the right back: what a writer has left there stays. */
void pf_ring_claim_close (pf_ring_claim *claim);

/*
** Make a ring of at least `size` bytes of slots. With a claim it replaces what
** has the claimed name, and keeps the right; NULL: the file has no name. The
** disk gives all of it at once, or it is PF_EIO. The file of the writer is read
** without the ring until pf_ring_start is called. `settings` are kept for the
** readers of the ring. With `sync` the ring is on the disk when it has its name.
*/
pf_status pf_ring_create (pf_ring *ring, pf_ring_claim *claim, uint64_t size,
                          pf_ring_mode mode, pf_bytes settings, bool sync,
                          pf_error *error);

/* From here on the files of the writer are what the checkpoint says. */
void pf_ring_start (pf_ring *ring);

/* Write the checkpoint onto the disk, where the ring was made with `sync`. What it
   says of the files must be there already. PF_EIO. */
pf_status pf_ring_sync (const pf_ring *ring, pf_error *error);

/* The name of this boot of the system, or zeros: a ring that was written before
   the last start of the system holds what the disk got of it, old and new. */
void pf_ring_boot (char boot[PF_RING_BOOT]);

/* Unmap; remove the file when nothing in it is wanted any more. */
void pf_ring_close (pf_ring *ring, bool remove);

/* The slow way of pf_ring_reserve. */
uint64_t *pf_ring_make_room (pf_ring *ring, size_t words);

/* Whether a record of `words` words finds room without asking. */
static inline bool pf_ring_has_room (const pf_ring *ring, size_t words) {
  return ring->head + 8 * words + 8 <= ring->limit;
}

/*
** Room for a record of `words` words; fill them, then commit. NULL: it was
** dropped, or there will never be room: look at what the consumer says, and at
** pf_ring_takes.
*/
static inline uint64_t *pf_ring_reserve (pf_ring *ring, size_t words) {
  if (!pf_ring_has_room(ring, words))
    return pf_ring_make_room(ring, words);
  return (uint64_t *)(void *)(ring->slots + (ring->head & ring->mask)) + 1;
}

/* Publish the record that was reserved with `words`. */
static inline void pf_ring_commit (pf_ring *ring, uint64_t *record,
                                   size_t words, uint32_t tag) {
  record[-1] = (words + 1) | (uint64_t)tag << 32;
  ring->count++;
  ring->head += 8 * words + 8;
  pf_publish(&ring->header->head, ring->head);
}

/* Whether the ring can take records of so many words. */
bool pf_ring_takes (const pf_ring *ring, size_t words);

/* Append an entry to the journal: it is there before any record committed from
   now on. PF_EIO: the disk is full. */
pf_status pf_ring_append (pf_ring *ring, uint32_t kind, pf_bytes text,
                          pf_error *error);

/* What the consumer, and what a producer who overwrites has published. */
pf_checkpoint pf_ring_checkpoint (const pf_ring_header *header);
pf_oldest pf_ring_oldest (const pf_ring_header *header);

/* The consumer's: publish how far he has come. */
void pf_ring_take (pf_ring_header *header, const pf_checkpoint *checkpoint);

/* The producer's, when he is the consumer too: everything has been taken. */
void pf_ring_taken_all (pf_ring *ring, const pf_checkpoint *checkpoint);


/* Reading: in the process of the ring (ring_read.c), or of any file
   (ring_copy.c). */

/* A stretch of records, or of entries of the journal; nothing in it is
   trusted. */
typedef struct pf_ring_walk {
  const uint8_t *bytes; /* the slots, or the journal */
  uint64_t mask;        /* of positions: UINT64_MAX in the journal */
  uint64_t at, end;
} pf_ring_walk;

typedef struct pf_ring_record {
  uint32_t tag;
  const uint8_t *words; /* in the ring */
  size_t count;         /* of words */
} pf_ring_record;

/* The next record: PF_MORE, PF_END, or PF_EFORMAT. */
pf_status pf_ring_next (pf_ring_walk *walk, pf_ring_record *record,
                        pf_error *error);

/* Walk past records that have the tag and the size of the one that was given
   last and lie one behind the other after it: how many there were, at most
   `most`. */
size_t pf_ring_more (pf_ring_walk *walk, const pf_ring_record *record,
                     size_t most);

/* The next entry of the journal. */
pf_status pf_ring_entry (pf_ring_walk *walk, uint32_t *kind, pf_bytes *text,
                         pf_error *error);

/* A copy of what a ring in a file held at one moment. */
typedef struct pf_ring_copy {
  pf_ring_mode mode;
  uint64_t size; /* of the slots */
  uint8_t settings[PF_RING_SETTINGS];
  size_t settings_size;
  bool is_closed; /* the file is complete without the ring: no more is said */
  pf_checkpoint checkpoint;
  uint64_t lost;        /* records: dropped, or overwritten */
  uint8_t *memory;      /* owns the slots and the journal */
  pf_ring_walk records; /* from the first that was not taken */
  pf_ring_walk journal;
  bool is_alive;     /* its writer lives */
  bool is_restarted; /* the system has been started since it was written */
  bool is_synced;    /* then only the checkpoint holds: there are no records */
} pf_ring_copy;

/* Copy the ring in the file at `path`. PF_EFORMAT: it is none. */
pf_status pf_ring_read (const char *path, pf_ring_copy *copy, pf_error *error);

/* The same of the bytes of such a file, which lie as a page does. */
pf_status pf_ring_parse (pf_bytes file, pf_ring_copy *copy, pf_error *error);

void pf_ring_copy_close (pf_ring_copy *copy);

#endif
