/*
** ring.c - the producer's side of a ring: its file, its slots, the journal; and
** the snapshots that both sides publish.
*/

#include "bytes/ring/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/output.h"
#include "bytes/target.h"
#include "bytes/temporary.h"
#include "os/os.h"

#define JOURNAL_FIRST 262144u /* bytes; doubled when they are used up */

/* A mapping of the journal that has been replaced by a larger one. */
typedef struct pf_ring_map {
  struct pf_ring_map *next;
  uint8_t *at;
  uint64_t size;
} pf_ring_map;


/* Open the output of a ring at `path` and lock it. *fd becomes a descriptor of
   its own, since the commit closes that of the output. */
static pf_status open_target (const char *path, pf_output *target, int *fd,
                              pf_error *error) {
  const pf_status status = pf_output_open(target, path, error);
  if (status != PF_OK)
    return status;
  *fd = os_duplicate(target->fd);
  if (*fd < 0 || !os_lock(*fd, OS_EXCLUSIVE))
    return pf_fail_by_system(error, "the ring cannot be made", errno);
  return PF_OK;
}


/* Map `size` bytes of the file at offset `at`. Their disk space is reserved
   first, so that later writes to the mapping cannot fail. */
static pf_status map_part (const pf_ring *ring, uint64_t at, uint64_t size,
                           uint8_t **mapped, pf_error *error) {
  if (!os_reserve(ring->fd, at, size))
    return pf_fail_by_system(error, "no disk space for the ring", errno);
  void *const memory = os_share(ring->fd, at, (size_t)size, true);
  if (memory == NULL)
    return pf_fail_by_system(error, "the ring cannot be mapped", errno);
  *mapped = memory;
  return PF_OK;
}


static uint64_t journal_at (const pf_ring *ring) {
  return PF_RING_PAGE + ring->mask + 1;
}


/* Map the ring and its journal, and write the header. */
static pf_status map_all (pf_ring *ring, pf_bytes settings, bool sync,
                          pf_error *error) {
  uint8_t *memory = NULL;
  pf_status status = map_part(ring, 0, journal_at(ring), &memory, error);
  if (status != PF_OK)
    return status;
  ring->header = (pf_ring_header *)(void *)memory;
  ring->slots = memory + PF_RING_PAGE;
  status = map_part(ring, journal_at(ring), JOURNAL_FIRST, &memory, error);
  if (status != PF_OK)
    return status;
  pf_store_release_bytes(&ring->journal, memory);
  ring->journal_capacity = JOURNAL_FIRST;
  pf_ring_header *const header = ring->header;
  header->version = PF_RING_VERSION;
  header->mode = ring->mode;
  header->size = ring->mask + 1;
  header->settings_size = settings.size;
  memcpy(header->settings, settings.at, settings.size);
  header->is_synced = sync;
  os_boot_id(header->boot);
  memcpy(header->magic, PF_RING_MAGIC, sizeof header->magic);
  pf_store_release(&header->closed, 1);
  return PF_OK;
}


/* Give the ring its name, which replaces the claimed file. */
static pf_status commit (pf_ring *ring, pf_output *target, pf_ring_claim *claim,
                         bool sync, pf_error *error) {
  if (sync && !os_sync(ring->fd))
    return pf_fail_by_system(error, "the ring cannot be made", errno);
  if (!os_replaces_open_files()) { /* another writer may come between */
    claim->is_new = false;
    pf_ring_claim_close(claim);
  }
  pf_status status = pf_output_commit(target, 1, error);
  if (status == PF_OK && sync)
    status = pf_target_sync_folder(claim->path, error);
  if (status != PF_OK)
    return status;
  claim->is_new = false; /* the name is the ring's now: do not remove it */
  pf_ring_claim_close(claim);
  return PF_OK;
}


pf_status pf_ring_create (pf_ring *ring, pf_ring_claim *claim, uint64_t size,
                          pf_ring_mode mode, pf_bytes settings, bool sync,
                          pf_error *error) {
  pf_output target = {.fd = -1};
  pf_status status = PF_OK;
  uint64_t rounded = PF_RING_MIN; /* a power of two */
  while (rounded < size && rounded < PF_RING_MAX)
    rounded *= 2;
  *ring = (pf_ring){.mask = rounded - 1, .mode = mode, .fd = -1};
  if (size > PF_RING_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a ring of %u bytes at most expected, found %llu",
                   PF_RING_MAX, (unsigned long long)size);
  if (settings.size > PF_RING_SETTINGS)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "options of %u bytes at most expected, found %zu",
                   PF_RING_SETTINGS, settings.size);
  if (claim != NULL)
    status = open_target(claim->path, &target, &ring->fd, error);
  else
    status = pf_temporary_file(&ring->fd, error);
  if (status == PF_OK)
    status = map_all(ring, settings, sync, error);
  if (status == PF_OK && claim != NULL) /* the program may leave its folder */
    status = pf_target_absolute(claim->path, &ring->path, error);
  if (status == PF_OK && claim != NULL)
    status = commit(ring, &target, claim, sync, error); /* it can be found */
  if (status != PF_OK)
    pf_ring_close(ring, false);
  pf_output_close(&target);
  return status;
}


void pf_ring_start (pf_ring *ring) {
  pf_store_release(&ring->header->closed, 0);
}


pf_status pf_ring_sync (const pf_ring *ring, pf_error *error) {
  if (ring->path == NULL || ring->header->is_synced == 0 ||
      os_sync_shared(ring->header, PF_RING_PAGE))
    return PF_OK;
  return pf_fail_by_system(error, "the ring cannot be synchronised", errno);
}


void pf_ring_close (pf_ring *ring, bool remove) {
  if (remove && ring->path != NULL)
    os_remove(ring->path);
  if (ring->header != NULL)
    os_unshare(ring->header, (size_t)journal_at(ring));
  if (pf_load_acquire_bytes(&ring->journal) != NULL)
    os_unshare(pf_load_acquire_bytes(&ring->journal),
               (size_t)ring->journal_capacity);
  for (pf_ring_map *map = ring->maps, *next; map != NULL; map = next) {
    next = map->next;
    os_unshare(map->at, (size_t)map->size);
    free(map);
  }
  if (ring->fd >= 0)
    os_close(ring->fd);
  free(ring->path);
  *ring = (pf_ring){.fd = -1};
}


/* Load a consistent copy: load it again if another one was published
   meanwhile. */
static void load_snapshot (const pf_snapshot *snapshot,
                           uint64_t numbers[PF_SNAPSHOT_NUMBERS]) {
  uint64_t version = pf_load_acquire(&snapshot->version), before;
  do {
    before = version;
    for (int i = 0; i < PF_SNAPSHOT_NUMBERS; i++)
      numbers[i] = pf_load_acquire(&snapshot->numbers[version & 1][i]);
    version = pf_load_acquire(&snapshot->version);
  } while (version != before);
}


/* Publish other numbers, before all that is written later. */
static void store_snapshot (pf_snapshot *snapshot,
                            const uint64_t numbers[PF_SNAPSHOT_NUMBERS]) {
  const uint64_t next = pf_load_relaxed(&snapshot->version) + 1;
  for (int i = 0; i < PF_SNAPSHOT_NUMBERS; i++)
    pf_store_release(&snapshot->numbers[next & 1][i], numbers[i]);
  pf_exchange_acq_rel(&snapshot->version, next);
}


pf_checkpoint pf_ring_checkpoint (const pf_ring_header *header) {
  uint64_t n[PF_SNAPSHOT_NUMBERS];
  load_snapshot(&header->checkpoint, n);
  pf_checkpoint checkpoint = {
      .tail = n[0], .consumed = n[1], .lost = n[2], .count = n[3]};
  memcpy(checkpoint.lengths, n + 4, sizeof checkpoint.lengths);
  return checkpoint;
}


void pf_ring_set_checkpoint (pf_ring_header *header,
                             const pf_checkpoint *checkpoint) {
  uint64_t n[PF_SNAPSHOT_NUMBERS] = {checkpoint->tail, checkpoint->consumed,
                                     checkpoint->lost, checkpoint->count};
  memcpy(n + 4, checkpoint->lengths, sizeof checkpoint->lengths);
  store_snapshot(&header->checkpoint, n);
}


pf_oldest pf_ring_oldest (const pf_ring_header *header) {
  uint64_t n[PF_SNAPSHOT_NUMBERS];
  load_snapshot(&header->oldest, n);
  return (pf_oldest){n[0], n[1]};
}


static void set_oldest (pf_ring *ring, uint64_t at, uint64_t before) {
  const uint64_t n[PF_SNAPSHOT_NUMBERS] = {at, before};
  ring->oldest = (pf_oldest){at, before};
  store_snapshot(&ring->header->oldest, n);
}


void pf_ring_release_all (pf_ring *ring, const pf_checkpoint *checkpoint) {
  pf_ring_set_checkpoint(ring->header, checkpoint);
  set_oldest(ring, checkpoint->tail, ring->count);
  ring->limit = 0;
}


static uint64_t segment_size (const pf_ring *ring) {
  return (ring->mask + 1) / PF_RING_SEGMENTS;
}


/* The end of the span that a position is in. No record crosses the end of a
   span: a segment in overwrite mode, else all slots. */
static uint64_t end_of_span (const pf_ring *ring, uint64_t position) {
  const uint64_t size =
      ring->mode == PF_RING_OVERWRITE ? segment_size(ring) : ring->mask + 1;
  return (position | (size - 1)) + 1;
}


bool pf_ring_can_hold (const pf_ring *ring, size_t words) {
  const uint64_t most = ring->mode == PF_RING_OVERWRITE ? segment_size(ring)
                                                        : (ring->mask + 1) / 4;
  return words < most / 8;
}


/* The position at which free space ends: the size of the slots after the first
   record that must stay. Set *half to the position at which the consumer is to
   be woken (UINT64_MAX: nowhere, in overwrite mode). */
static uint64_t end_of_space (const pf_ring *ring, uint64_t *half) {
  const uint64_t size = ring->mask + 1;
  *half = UINT64_MAX;
  if (ring->mode == PF_RING_OVERWRITE)
    return ring->oldest.at + size;
  const uint64_t tail = pf_ring_checkpoint(ring->header).tail;
  *half = tail + size / 2;
  return tail + size;
}


/* The ring is full: wait, discard a segment, or count the record as dropped.
   True when there may be space now. */
static bool free_space (pf_ring *ring) {
  switch (ring->mode) {
    case PF_RING_BLOCK: return ring->callbacks.wait(ring->callbacks.context);
    case PF_RING_OVERWRITE: {
      /* Discard the segment with the oldest record. This is published before
         anything is written over it. */
      const uint64_t next = end_of_span(ring, ring->oldest.at);
      const uint64_t segment = (next & ring->mask) / segment_size(ring);
      set_oldest(ring, next, ring->count_before[segment]);
      return true;
    }
    default:
      pf_store_relaxed(&ring->header->dropped, ++ring->dropped);
      ring->callbacks.wake(ring->callbacks.context);
      return false;
  }
}


uint64_t *pf_ring_reserve_slow (pf_ring *ring, size_t words) {
  const uint64_t need = 8 * (uint64_t)words + 8;
  if (!pf_ring_can_hold(ring, words))
    return NULL;
  for (;;) {
    const uint64_t span_end = end_of_span(ring, ring->head);
    const bool crosses = ring->head + need > span_end;
    const uint64_t end = (crosses ? span_end : ring->head) + need;
    uint64_t half;
    const uint64_t space_end = end_of_space(ring, &half);
    if (end <= space_end) {
      if (crosses) {
        /* Move the head to the end of its span, with a filler if there is space
           left. */
        const uint64_t filler =
            (span_end - ring->head) / 8 | (uint64_t)PF_RING_FILLER << 32;
        if (span_end > ring->head)
          memcpy(ring->slots + (ring->head & ring->mask), &filler,
                 sizeof filler);
        ring->head = span_end;
      }
      /* Set the limit of the fast path, after a record up to `end` was
         reserved: the end of the span or of the free space, but first the
         position at which the consumer is to be woken. */
      ring->limit = span_end < space_end ? span_end : space_end;
      if (ring->head >= half)
        ring->callbacks.wake(ring->callbacks.context);
      else if (half < ring->limit)
        ring->limit = half < end ? end : half;
      /* The words of the record at the head. Store the count of records before
         a segment when the segment begins. */
      const uint64_t place = ring->head & ring->mask;
      if ((place & (segment_size(ring) - 1)) == 0)
        ring->count_before[place / segment_size(ring)] = ring->count;
      return (uint64_t *)(void *)(ring->slots + place) + 1;
    }
    if (!free_space(ring))
      return NULL;
  }
}


/* Replace the mapping of the journal by a larger one, doubled until `wanted`
   bytes fit. The old mapping stays, since the consumer may be reading it. */
static pf_status grow_journal (pf_ring *ring, uint64_t wanted,
                               pf_error *error) {
  uint64_t capacity = ring->journal_capacity;
  uint8_t *journal = NULL;
  while (capacity < wanted)
    capacity *= 2;
  pf_ring_map *const old = malloc(sizeof *old);
  if (old == NULL)
    return pf_no_memory(error);
  const pf_status status =
      map_part(ring, journal_at(ring), capacity, &journal, error);
  if (status != PF_OK) {
    free(old);
    return status;
  }
  *old = (pf_ring_map){ring->maps, pf_load_acquire_bytes(&ring->journal),
                       ring->journal_capacity};
  ring->maps = old;
  pf_store_release_bytes(&ring->journal, journal);
  ring->journal_capacity = capacity;
  return PF_OK;
}


pf_status pf_ring_journal_append (pf_ring *ring, uint32_t kind, pf_bytes text,
                                  pf_error *error) {
  const uint64_t size = 8 + (text.size + 7) / 8 * 8;
  if (size > ring->journal_capacity - ring->journal_used) {
    const pf_status status =
        grow_journal(ring, ring->journal_used + size, error);
    if (status != PF_OK)
      return status;
  }
  uint8_t *const at =
      pf_load_acquire_bytes(&ring->journal) + ring->journal_used;
  const uint64_t first = text.size | (uint64_t)kind << 32;
  memcpy(at, &first, sizeof first);
  if (text.size > 0)
    memcpy(at + 8, text.at, text.size);
  ring->journal_used += size;
  pf_store_release(&ring->header->journal, ring->journal_used);
  return PF_OK;
}
