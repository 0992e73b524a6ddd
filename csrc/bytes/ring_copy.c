/*
** ring_copy.c - what a ring in a file holds at one moment, also while its
** writer goes on.
**
** The records are copied first and then it is asked how far the consumer had
** come, and what had been overwritten, by the end of that: records behind both
** were whole when they were copied.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes/ring.h"


static pf_status refuse (pf_error *error, const char *words) {
  return pf_fail(error, PF_EFORMAT, 0, "%s", words);
}


/* Whether a header makes sense in a file of so many bytes. PF_END: it does not
   matter, since the file is complete without the ring. */
static pf_status check_header (const pf_ring_header *header, uint64_t size,
                               pf_error *error) {
  if (size < PF_RING_PAGE ||
      memcmp(header->magic, PF_RING_MAGIC, sizeof header->magic) != 0)
    return refuse(error, "no ring of a writer");
  if (header->version != PF_RING_VERSION || header->mode > PF_RING_OVERWRITE)
    return refuse(error, "the ring of another version of profio");
  if (pf_observe(&header->closed) != 0)
    return PF_END;
  if (header->size < PF_RING_LEAST || header->size > PF_RING_MOST ||
      (header->size & (header->size - 1)) != 0 ||
      header->size > size - PF_RING_PAGE ||
      header->settings_size > PF_RING_SETTINGS)
    return refuse(error, "the header of the ring is broken");
  return PF_OK;
}


void pf_ring_boot (char boot[PF_RING_BOOT]) {
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  memset(boot, 0, PF_RING_BOOT);
  if (fd < 0)
    return;
  if (read(fd, boot, PF_RING_BOOT - 1) < 0)
    boot[0] = '\0';
  close(fd);
}


/* Copy the slots between two positions to the same places. */
static void copy_slots (uint8_t *to, const uint8_t *from, uint64_t mask,
                        uint64_t at, uint64_t end) {
  while (at < end) {
    const uint64_t place = at & mask;
    const uint64_t lap = mask + 1 - place;
    const uint64_t size = end - at < lap ? end - at : lap;
    memcpy(to + place, from + place, (size_t)size);
    at += size;
  }
}


/* Where records begin and end, nowhere further apart than the slots; and how
   many are lost: dropped, or before the oldest and not taken. */
static pf_status set_records (pf_ring_copy *copy, uint64_t head,
                              pf_oldest oldest, uint64_t dropped,
                              pf_error *error) {
  const pf_checkpoint *const c = &copy->checkpoint;
  uint64_t at = c->tail;
  copy->lost = c->lost + dropped;
  if (copy->mode == PF_RING_OVERWRITE && oldest.at > at) {
    at = oldest.at;
    copy->lost = oldest.before - c->taken + dropped;
  }
  if (head < at || (copy->is_restarted && copy->is_synced))
    head = at; /* they have been taken since, or the disk may not have them */
  if (head - at > copy->size || ((head | at) & 7) != 0)
    return refuse(error, "the positions of the ring are broken");
  copy->records.at = at;
  copy->records.end = head;
  return PF_OK;
}


static pf_status copy_all (pf_bytes file, pf_ring_copy *copy, pf_error *error) {
  const pf_ring_header *const from =
      (const pf_ring_header *)(const void *)file.at;
  const uint64_t mask = copy->size - 1;
  const uint64_t head = pf_observe(&from->head);
  const uint64_t used = pf_observe(&from->journal);
  const uint64_t room = file.size - PF_RING_PAGE - copy->size;
  const uint64_t before = pf_ring_checkpoint(from).tail;
  const uint64_t earliest = head > mask ? head - mask - 1 : 0;
  if (used > room)
    return refuse(error, "the journal of the ring is broken");
  copy->memory = calloc(1, (size_t)(mask + 1 + used));
  if (copy->memory == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  const uint8_t *const slots = file.at + PF_RING_PAGE;
  copy_slots(copy->memory, slots, mask, before > earliest ? before : earliest,
             head);
  memcpy(copy->memory + mask + 1, slots + mask + 1, (size_t)used);
  copy->records = (pf_ring_walk){.bytes = copy->memory, .mask = mask};
  copy->journal = (pf_ring_walk){
      .bytes = copy->memory + mask + 1, .mask = UINT64_MAX, .end = used};
  pf_have_looked();
  copy->checkpoint = pf_ring_checkpoint(from);
  return set_records(copy, head, pf_ring_oldest(from),
                     pf_observe(&from->dropped), error);
}


pf_status pf_ring_parse (pf_bytes file, pf_ring_copy *copy, pf_error *error) {
  *copy = (pf_ring_copy){.memory = NULL};
  if (file.size < PF_RING_PAGE)
    return refuse(error, "no ring of a writer");
  const pf_ring_header *const header =
      (const pf_ring_header *)(const void *)file.at;
  pf_status status = check_header(header, file.size, error);
  copy->is_closed = status == PF_END;
  if (status != PF_OK)
    return status < 0 ? status : PF_OK;
  char boot[PF_RING_BOOT];
  pf_ring_boot(boot);
  copy->is_restarted = boot[0] != '\0' && header->boot[0] != '\0' &&
                       memcmp(boot, header->boot, sizeof boot) != 0;
  copy->is_synced = header->is_synced != 0;
  copy->mode = (pf_ring_mode)header->mode;
  copy->size = header->size;
  copy->settings_size = (size_t)header->settings_size;
  memcpy(copy->settings, header->settings, copy->settings_size);
  status = copy_all(file, copy, error);
  if (status != PF_OK)
    pf_ring_copy_close(copy);
  return status;
}


/* Parse an open file. The writer may have let it grow since it was mapped: its
   journal is then beyond what was seen, and it is mapped again. */
static pf_status parse_open (int fd, pf_ring_copy *copy, pf_error *error) {
  struct stat stat;
  if (fstat(fd, &stat) != 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  if (stat.st_size < (off_t)PF_RING_PAGE)
    return refuse(error, "no ring of a writer");
  const size_t size = (size_t)stat.st_size;
  void *const memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  const pf_status status = pf_ring_parse((pf_bytes){memory, size}, copy, error);
  munmap(memory, size);
  return status;
}


pf_status pf_ring_read (const char *path, pf_ring_copy *copy, pf_error *error) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  *copy = (pf_ring_copy){.memory = NULL};
  if (fd < 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  const bool is_alive = flock(fd, LOCK_SH | LOCK_NB) != 0;
  (void)flock(fd, LOCK_UN); /* a writer that begins must not find it locked */
  pf_status status = PF_EFORMAT;
  for (int i = 0; i < 3 && status == PF_EFORMAT; i++)
    status = parse_open(fd, copy, error);
  copy->is_alive = is_alive;
  close(fd);
  return status;
}


void pf_ring_copy_close (pf_ring_copy *copy) {
  free(copy->memory);
  copy->memory = NULL;
}
