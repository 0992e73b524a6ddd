/*
** ring.c - the producer's side of a ring: its file, room for records, the
** journal.
*/

#include "bytes/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes/output.h"

#define JOURNAL_FIRST 262144u /* bytes; doubled when they are used up */

/* A mapping of the journal that has been replaced by a larger one. */
typedef struct pf_ring_map {
  struct pf_ring_map *next;
  uint8_t *at;
  uint64_t size;
} pf_ring_map;


/* {====== The file ====== */

static pf_status fail_by_system (pf_error *error, const char *what,
                                 int errnum) {
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s: %s", what, strerror(errnum));
}


/* A file without a name. */
static int open_unnamed (void) {
  const char *const folder = getenv("TMPDIR");
  char path[256];
  snprintf(path, sizeof path, "%.200s/profio-ring.XXXXXX",
           folder != NULL && folder[0] != '\0' ? folder : "/tmp");
  const int fd = mkstemp(path);
  if (fd >= 0)
    unlink(path);
  return fd;
}


/* The file of a ring, locked, which gets its name when it is complete. */
static pf_status open_beside (const char *path, pf_output *beside, int *fd,
                              pf_error *error) {
  const pf_status status = pf_output_open(beside, path, error);
  if (status != PF_OK)
    return status;
  *fd = fcntl(beside->fd, F_DUPFD_CLOEXEC, 0);
  if (*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) != 0)
    return fail_by_system(error, "the ring cannot be made", errno);
  return PF_OK;
}


/* Map a part of the file that the disk has given. A page of it that is written
   later cannot fail for want of room. */
static pf_status map_part (const pf_ring *ring, uint64_t at, uint64_t size,
                           uint8_t **mapped, pf_error *error) {
  const int errnum = posix_fallocate(ring->fd, (off_t)at, (off_t)size);
  if (errnum != 0)
    return fail_by_system(error, "no room for the ring", errnum);
  void *const memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                            MAP_SHARED, ring->fd, (off_t)at);
  if (memory == MAP_FAILED)
    return fail_by_system(error, "the ring cannot be mapped", errno);
  *mapped = memory;
  return PF_OK;
}


static uint64_t journal_at (const pf_ring *ring) {
  return PF_RING_PAGE + ring->mask + 1;
}


static pf_status map_all (pf_ring *ring, pf_error *error) {
  uint8_t *memory = NULL;
  pf_status status = map_part(ring, 0, journal_at(ring), &memory, error);
  if (status != PF_OK)
    return status;
  ring->header = (pf_ring_header *)(void *)memory;
  ring->slots = memory + PF_RING_PAGE;
  status = map_part(ring, journal_at(ring), JOURNAL_FIRST, &memory, error);
  if (status != PF_OK)
    return status;
  pf_publish_bytes(&ring->journal, memory);
  ring->journal_room = JOURNAL_FIRST;
  return PF_OK;
}


/* The smallest power of two that is large enough. */
static uint64_t whole_size (uint64_t size) {
  uint64_t whole = PF_RING_LEAST;
  while (whole < size && whole < PF_RING_MOST)
    whole *= 2;
  return whole;
}


static void fill_header (const pf_ring *ring, pf_bytes settings, bool sync) {
  pf_ring_header *const header = ring->header;
  header->version = PF_RING_VERSION;
  header->mode = ring->mode;
  header->size = ring->mask + 1;
  header->settings_size = settings.size;
  memcpy(header->settings, settings.at, settings.size);
  header->is_synced = sync;
  pf_ring_boot(header->boot);
  memcpy(header->magic, PF_RING_MAGIC, sizeof header->magic);
  pf_publish(&header->closed, 1);
}


/* Give the ring its name, in place of what has been claimed. */
static pf_status commit (pf_ring *ring, pf_output *beside, pf_ring_claim *claim,
                         bool sync, pf_error *error) {
  if (sync && fsync(ring->fd) != 0)
    return fail_by_system(error, "the ring cannot be made", errno);
  pf_status status = pf_output_commit(beside, 1, error);
  if (status == PF_OK && sync)
    status = pf_output_sync_folder(claim->path, error);
  if (status != PF_OK)
    return status;
  claim->is_new = false; /* its file has lost the name */
  pf_ring_claim_close(claim);
  return PF_OK;
}


pf_status pf_ring_create (pf_ring *ring, pf_ring_claim *claim, uint64_t size,
                          pf_ring_mode mode, pf_bytes settings, bool sync,
                          pf_error *error) {
  pf_output beside = {.fd = -1};
  pf_status status = PF_OK;
  *ring = (pf_ring){.mask = whole_size(size) - 1, .mode = mode, .fd = -1};
  if (size > PF_RING_MOST)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a ring of %u bytes at most expected, found %llu",
                   PF_RING_MOST, (unsigned long long)size);
  if (settings.size > PF_RING_SETTINGS)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "options of %u bytes at most expected, found %zu",
                   PF_RING_SETTINGS, settings.size);
  if (claim != NULL)
    status = open_beside(claim->path, &beside, &ring->fd, error);
  else if ((ring->fd = open_unnamed()) < 0)
    status = fail_by_system(error, "the ring cannot be made", errno);
  if (status == PF_OK)
    status = map_all(ring, error);
  if (status == PF_OK) {
    fill_header(ring, settings, sync);
    if (claim != NULL && (ring->path = strdup(claim->path)) == NULL)
      status = pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  }
  if (status == PF_OK && claim != NULL)
    status = commit(ring, &beside, claim, sync, error); /* it can be found */
  if (status != PF_OK)
    pf_ring_close(ring, false);
  pf_output_close(&beside);
  return status;
}


void pf_ring_start (pf_ring *ring) {
  pf_publish(&ring->header->closed, 0);
}


pf_status pf_ring_sync (const pf_ring *ring, pf_error *error) {
  if (ring->path == NULL || ring->header->is_synced == 0 ||
      msync(ring->header, PF_RING_PAGE, MS_SYNC) == 0)
    return PF_OK;
  return fail_by_system(error, "the ring cannot be synchronised", errno);
}


void pf_ring_close (pf_ring *ring, bool remove) {
  if (remove && ring->path != NULL)
    unlink(ring->path);
  if (ring->header != NULL)
    munmap(ring->header, (size_t)journal_at(ring));
  if (pf_observe_bytes(&ring->journal) != NULL)
    munmap(pf_observe_bytes(&ring->journal), (size_t)ring->journal_room);
  for (pf_ring_map *map = ring->maps, *next; map != NULL; map = next) {
    next = map->next;
    munmap(map->at, (size_t)map->size);
    free(map);
  }
  if (ring->fd >= 0)
    close(ring->fd);
  free(ring->path);
  *ring = (pf_ring){.fd = -1};
}

/* }====== */


/* {====== Numbers that belong together ====== */

/* Those that are not being written: the others are, and then `which` says that
   they hold. */
static void look_at (const pf_together *together,
                     uint64_t numbers[PF_TOGETHER]) {
  uint64_t which = pf_observe(&together->which), before;
  do {
    before = which;
    for (int i = 0; i < PF_TOGETHER; i++)
      numbers[i] = pf_observe(&together->numbers[which & 1][i]);
    which = pf_observe(&together->which);
  } while (which != before);
}


/* Publish others, before whatever is written from here on. */
static void put_together (pf_together *together,
                          const uint64_t numbers[PF_TOGETHER]) {
  const uint64_t next = pf_glance(&together->which) + 1;
  for (int i = 0; i < PF_TOGETHER; i++)
    pf_publish(&together->numbers[next & 1][i], numbers[i]);
  pf_announce(&together->which, next);
}


pf_checkpoint pf_ring_checkpoint (const pf_ring_header *header) {
  uint64_t n[PF_TOGETHER];
  look_at(&header->checkpoint, n);
  pf_checkpoint checkpoint = {
      .tail = n[0], .taken = n[1], .lost = n[2], .count = n[3]};
  memcpy(checkpoint.lengths, n + 4, sizeof checkpoint.lengths);
  return checkpoint;
}


void pf_ring_take (pf_ring_header *header, const pf_checkpoint *checkpoint) {
  uint64_t n[PF_TOGETHER] = {checkpoint->tail, checkpoint->taken,
                             checkpoint->lost, checkpoint->count};
  memcpy(n + 4, checkpoint->lengths, sizeof checkpoint->lengths);
  put_together(&header->checkpoint, n);
}


pf_oldest pf_ring_oldest (const pf_ring_header *header) {
  uint64_t n[PF_TOGETHER];
  look_at(&header->oldest, n);
  return (pf_oldest){n[0], n[1]};
}


static void set_oldest (pf_ring *ring, uint64_t at, uint64_t before) {
  const uint64_t n[PF_TOGETHER] = {at, before};
  ring->oldest = (pf_oldest){at, before};
  put_together(&ring->header->oldest, n);
}


void pf_ring_taken_all (pf_ring *ring, const pf_checkpoint *checkpoint) {
  pf_ring_take(ring->header, checkpoint);
  set_oldest(ring, checkpoint->tail, ring->count);
  ring->limit = 0;
}

/* }====== */


/* {====== Room ====== */

static uint64_t segment_size (const pf_ring *ring) {
  return (ring->mask + 1) / PF_RING_SEGMENTS;
}


/* Where the piece ends that a position is in, of which no record leaves: a
   segment where segments are given up, else the slots. */
static uint64_t end_of_piece (const pf_ring *ring, uint64_t position) {
  const uint64_t size =
      ring->mode == PF_RING_OVERWRITE ? segment_size(ring) : ring->mask + 1;
  return (position | (size - 1)) + 1;
}


bool pf_ring_takes (const pf_ring *ring, size_t words) {
  const uint64_t most = ring->mode == PF_RING_OVERWRITE ? segment_size(ring)
                                                        : (ring->mask + 1) / 4;
  return words < most / 8;
}


/* Give up the segment with the oldest record. This is published before
   anything is written over it. */
static void give_up (pf_ring *ring) {
  const uint64_t next = end_of_piece(ring, ring->oldest.at);
  const uint64_t segment = (next & ring->mask) / segment_size(ring);
  set_oldest(ring, next, ring->before[segment]);
}


/* Where room ends: a lap behind the first record that must stay; and where the
   consumer shall be woken. */
static uint64_t end_of_room (const pf_ring *ring, uint64_t *half) {
  const uint64_t size = ring->mask + 1;
  *half = UINT64_MAX;
  if (ring->mode == PF_RING_OVERWRITE)
    return ring->oldest.at + size;
  const uint64_t tail = pf_ring_checkpoint(ring->header).tail;
  *half = tail + size / 2;
  return tail + size;
}


/* Go to the end of the piece, which is not far. */
static void fill_piece (pf_ring *ring, uint64_t end) {
  const uint64_t filler = (end - ring->head) / 8 | (uint64_t)PF_RING_FILLER
                                                       << 32;
  if (end > ring->head)
    memcpy(ring->slots + (ring->head & ring->mask), &filler, sizeof filler);
  ring->head = end;
}


/* How far records find room from here on without asking: to the end of the
   piece or of the room, but first to where the consumer is woken. */
static void set_limit (pf_ring *ring, uint64_t end, uint64_t room,
                       uint64_t half) {
  const uint64_t piece = end_of_piece(ring, ring->head);
  ring->limit = piece < room ? piece : room;
  if (ring->head >= half)
    ring->help.wake(ring->help.context);
  else if (half < ring->limit)
    ring->limit = half < end ? end : half;
}


/* No room: true when there may be now. */
static bool ask_for_room (pf_ring *ring) {
  switch (ring->mode) {
    case PF_RING_BLOCK: return ring->help.wait(ring->help.context);
    case PF_RING_OVERWRITE: give_up(ring); return true;
    default:
      pf_note(&ring->header->dropped, ++ring->dropped);
      ring->help.wake(ring->help.context);
      return false;
  }
}


/* The record's place. A segment that begins remembers how many came before. */
static uint64_t *begin_record (pf_ring *ring) {
  const uint64_t place = ring->head & ring->mask;
  if ((place & (segment_size(ring) - 1)) == 0)
    ring->before[place / segment_size(ring)] = ring->count;
  return (uint64_t *)(void *)(ring->slots + place) + 1;
}


uint64_t *pf_ring_make_room (pf_ring *ring, size_t words) {
  const uint64_t need = 8 * (uint64_t)words + 8;
  if (!pf_ring_takes(ring, words))
    return NULL;
  for (;;) {
    const uint64_t piece = end_of_piece(ring, ring->head);
    const bool crosses = ring->head + need > piece;
    const uint64_t end = (crosses ? piece : ring->head) + need;
    uint64_t half;
    const uint64_t room = end_of_room(ring, &half);
    if (end <= room) {
      if (crosses)
        fill_piece(ring, piece);
      set_limit(ring, end, room, half);
      return begin_record(ring);
    }
    if (!ask_for_room(ring))
      return NULL;
  }
}

/* }====== */


/* {====== The journal ====== */

/* Map twice as much of it. The old mapping stays: the consumer may look at
   it. */
static pf_status grow_journal (pf_ring *ring, uint64_t wanted,
                               pf_error *error) {
  uint64_t room = ring->journal_room;
  uint8_t *journal = NULL;
  while (room < wanted)
    room *= 2;
  pf_ring_map *const old = malloc(sizeof *old);
  if (old == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  const pf_status status =
      map_part(ring, journal_at(ring), room, &journal, error);
  if (status != PF_OK) {
    free(old);
    return status;
  }
  *old = (pf_ring_map){ring->maps, pf_observe_bytes(&ring->journal),
                       ring->journal_room};
  ring->maps = old;
  pf_publish_bytes(&ring->journal, journal);
  ring->journal_room = room;
  return PF_OK;
}


pf_status pf_ring_append (pf_ring *ring, uint32_t kind, pf_bytes text,
                          pf_error *error) {
  const uint64_t size = 8 + (text.size + 7) / 8 * 8;
  if (size > ring->journal_room - ring->journal_used) {
    const pf_status status =
        grow_journal(ring, ring->journal_used + size, error);
    if (status != PF_OK)
      return status;
  }
  uint8_t *const at = pf_observe_bytes(&ring->journal) + ring->journal_used;
  const uint64_t first = text.size | (uint64_t)kind << 32;
  memcpy(at, &first, sizeof first);
  if (text.size > 0)
    memcpy(at + 8, text.at, text.size);
  ring->journal_used += size;
  pf_publish(&ring->header->journal, ring->journal_used);
  return PF_OK;
}

/* }====== */
