/*
** copy.c - reads the records and the journal entries of a ring, and copies a
** ring in a file, also while its writer goes on. The file may be damaged: each
** size is compared with the bytes that are left.
**
** The records are copied first; then the checkpoint and the oldest record are
** loaded. Records that follow both of these had not been overwritten when they
** were copied.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/ring/ring.h"
#include "os/os.h"


static pf_status refuse (pf_error *error, const char *message) {
  return pf_fail(error, PF_EFORMAT, 0, "%s", message);
}


/* Check the header of a ring in a file of `size` bytes. PF_END: the ring is
   closed, and the header is not checked further. */
static pf_status check_header (const pf_ring_header *header, bool is_closed,
                               uint64_t size, pf_error *error) {
  if (memcmp(header->magic, PF_RING_MAGIC, sizeof header->magic) != 0)
    return refuse(error, "no ring of a writer");
  if (header->version == (uint32_t)PF_RING_VERSION << 24) /* below 256 */
    return refuse(error, "the ring of a machine of the other byte order: open "
                         "the recording on such a machine");
  if (header->version != PF_RING_VERSION || header->mode > PF_RING_OVERWRITE)
    return refuse(error, "the ring of another version of profio");
  if (is_closed)
    return PF_END;
  if (header->size < PF_RING_MIN || header->size > PF_RING_MAX ||
      (header->size & (header->size - 1)) != 0 ||
      header->size > size - PF_RING_PAGE ||
      header->settings_size > PF_RING_SETTINGS)
    return refuse(error, "the header of the ring is broken");
  return PF_OK;
}


/* Copy the slots between two positions, to the same offsets. */
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


/* Set the range of records, which is no longer than the slots, and the count of
   lost ones: dropped, or overwritten before they were consumed. PF_EFORMAT. */
static pf_status set_records (pf_ring_copy *copy, uint64_t head,
                              pf_oldest oldest, uint64_t dropped,
                              pf_error *error) {
  const pf_checkpoint *const c = &copy->checkpoint;
  uint64_t at = c->tail;
  copy->lost = c->lost + dropped;
  if (copy->mode == PF_RING_OVERWRITE && oldest.at > at) {
    at = oldest.at;
    copy->lost = oldest.before - c->consumed + dropped;
  }
  if (head < at || (copy->is_restarted && copy->is_synced))
    head = at; /* all consumed meanwhile, or not reliably on the disk */
  if (head - at > copy->size || ((head | at) & 7) != 0)
    return refuse(error, "the positions of the ring are broken");
  copy->records.at = at;
  copy->records.end = head;
  return PF_OK;
}


/* Copy slots and journal, and set everything that depends on positions.
   PF_EFORMAT, PF_ENOMEM. */
static pf_status copy_all (pf_bytes file, pf_ring_copy *copy, pf_error *error) {
  const pf_ring_header *const from =
      (const pf_ring_header *)(const void *)file.at;
  const uint64_t mask = copy->size - 1;
  const uint64_t head = pf_load_acquire(&from->head);
  const uint64_t used = pf_load_acquire(&from->journal);
  const uint64_t capacity = file.size - PF_RING_PAGE - copy->size;
  const uint64_t before = pf_ring_checkpoint(from).tail;
  const uint64_t earliest = head > mask ? head - mask - 1 : 0;
  if (used > capacity)
    return refuse(error, "the journal of the ring is broken");
  copy->memory = calloc(1, (size_t)(mask + 1 + used));
  if (copy->memory == NULL)
    return pf_no_memory(error);
  const uint8_t *const slots = file.at + PF_RING_PAGE;
  copy_slots(copy->memory, slots, mask, before > earliest ? before : earliest,
             head);
  memcpy(copy->memory + mask + 1, slots + mask + 1, (size_t)used);
  copy->records = (pf_ring_cursor){.bytes = copy->memory, .mask = mask};
  copy->journal = (pf_ring_cursor){
      .bytes = copy->memory + mask + 1, .mask = UINT64_MAX, .end = used};
  pf_fence_acquire();
  copy->checkpoint = pf_ring_checkpoint(from);
  return set_records(copy, head, pf_ring_oldest(from),
                     pf_load_acquire(&from->dropped), error);
}


pf_status pf_ring_parse (pf_bytes file, pf_ring_copy *copy, pf_error *error) {
  *copy = (pf_ring_copy){.memory = NULL};
  if (file.size < PF_RING_PAGE)
    return refuse(error, "no ring of a writer");
  const pf_ring_header *const shared =
      (const pf_ring_header *)(const void *)file.at;
  /* Check a copy: another process may change the file after the check. */
  pf_ring_header header;
  const bool is_closed = pf_load_acquire(&shared->closed) != 0;
  memcpy(&header, file.at, offsetof(pf_ring_header, head));
  pf_status status = check_header(&header, is_closed, file.size, error);
  copy->is_closed = status == PF_END;
  if (status != PF_OK)
    return status < 0 ? status : PF_OK;
  char boot[OS_BOOT_ID_SIZE];
  os_boot_id(boot);
  copy->is_restarted = boot[0] != '\0' && header.boot[0] != '\0' &&
                       memcmp(boot, header.boot, sizeof boot) != 0;
  copy->is_synced = header.is_synced != 0;
  copy->mode = (pf_ring_mode)header.mode;
  copy->size = header.size;
  copy->settings_size = (size_t)header.settings_size;
  memcpy(copy->settings, header.settings, copy->settings_size);
  status = copy_all(file, copy, error);
  if (status != PF_OK)
    pf_ring_copy_close(copy);
  return status;
}


/* Map and parse an open file. If the journal has grown beyond the mapping, this
   fails with PF_EFORMAT and the caller tries again. */
static pf_status parse_open (int fd, pf_ring_copy *copy, pf_error *error) {
  os_state found;
  if (!os_state_of_open(fd, &found))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  if (found.size < PF_RING_PAGE)
    return refuse(error, "no ring of a writer");
  const size_t size = (size_t)found.size;
  void *const memory = os_share(fd, 0, size, false);
  if (memory == NULL)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  const pf_status status = pf_ring_parse((pf_bytes){memory, size}, copy, error);
  os_unshare(memory, size);
  return status;
}


/* Whether a writer holds the lock of an open ring. */
static bool is_locked (int fd) {
  const bool is = !os_lock(fd, OS_SHARED);
  (void)os_lock(fd, OS_UNLOCKED); /* a new writer must be able to lock it */
  return is;
}


pf_status pf_ring_read (const char *path, const pf_named_rule *rule,
                        pf_ring_copy *copy, pf_error *error) {
  static const pf_named_rule any = {.max_size = UINT64_MAX};
  int fd = -1;
  *copy = (pf_ring_copy){.memory = NULL};
  pf_status status =
      pf_named_open(path, rule == NULL ? &any : rule, &fd, error);
  if (status != PF_OK)
    return status;
  const bool is_alive = is_locked(fd);
  status = PF_EFORMAT;
  for (int i = 0; i < 3 && status == PF_EFORMAT; i++)
    status = parse_open(fd, copy, error);
  copy->is_alive = is_alive;
  os_close(fd);
  return status;
}


pf_status pf_ring_look (const char *path, const pf_named_rule *rule,
                        pf_ring_state *state, pf_error *error) {
  os_state found;
  int fd = -1;
  *state = (pf_ring_state){.is_open = false};
  const pf_status status = pf_named_open(path, rule, &fd, error);
  if (status != PF_OK)
    return status;
  state->is_alive = is_locked(fd);
  const pf_ring_header *const header =
      os_state_of_open(fd, &found) && found.size >= PF_RING_PAGE
          ? os_share(fd, 0, PF_RING_PAGE, false)
          : NULL;
  os_close(fd);
  if (header == NULL)
    return PF_OK;
  state->is_open =
      memcmp(header->magic, PF_RING_MAGIC, sizeof header->magic) == 0 &&
      pf_load_acquire(&header->closed) == 0;
  state->head = pf_load_acquire(&header->head);
  os_unshare((void *)(uintptr_t)header, PF_RING_PAGE);
  return PF_OK;
}


void pf_ring_copy_close (pf_ring_copy *copy) {
  free(copy->memory);
  copy->memory = NULL;
}


static pf_status broken (const pf_ring_cursor *cursor, const char *what,
                         pf_error *error) {
  return pf_fail(error, PF_EFORMAT, cursor->at, "%s of the ring is broken",
                 what);
}


/* Bytes that are left up to the end of the range or of the slots. */
static uint64_t bytes_here (const pf_ring_cursor *cursor) {
  const uint64_t left = cursor->end - cursor->at;
  if (cursor->mask == UINT64_MAX)
    return left;
  const uint64_t lap = cursor->mask + 1 - (cursor->at & cursor->mask);
  return left < lap ? left : lap;
}


pf_status pf_ring_next (pf_ring_cursor *cursor, pf_ring_record *record,
                        pf_error *error) {
  while (cursor->at < cursor->end) {
    const uint64_t left = bytes_here(cursor);
    const uint8_t *const at = cursor->bytes + (cursor->at & cursor->mask);
    const uint64_t first = left < 8 ? 0 : pf_ring_word(at);
    const uint64_t words = first & UINT32_MAX;
    if (words == 0 || words > left / 8)
      return broken(cursor, "a record", error);
    cursor->at += 8 * words;
    record->tag = (uint32_t)(first >> 32);
    if (record->tag == PF_RING_FILLER)
      continue;
    record->words = at + 8;
    record->count = (size_t)words - 1;
    return PF_MORE;
  }
  return PF_END;
}


size_t pf_ring_next_alike (pf_ring_cursor *cursor, const pf_ring_record *record,
                           size_t max_count) {
  const uint64_t size = 8 * ((uint64_t)record->count + 1);
  const uint64_t first = size / 8 | (uint64_t)record->tag << 32;
  const uint8_t *const at = cursor->bytes + (cursor->at & cursor->mask);
  size_t n = 0;
  if (cursor->at == cursor->end || at != record->words + 8 * record->count)
    return 0; /* the end, or a new lap */
  const uint64_t left = bytes_here(cursor) / size;
  const size_t end = left < max_count ? (size_t)left : max_count;
  while (n < end && pf_ring_word(at + n * size) == first)
    n++;
  cursor->at += n * size;
  return n;
}


pf_status pf_ring_journal_next (pf_ring_cursor *cursor, uint32_t *kind,
                                pf_bytes *text, pf_error *error) {
  const uint64_t left = cursor->end - cursor->at;
  if (left == 0)
    return PF_END;
  const uint8_t *const at = cursor->bytes + cursor->at;
  const uint64_t first = left < 8 ? 0 : pf_ring_word(at);
  const uint64_t size = first & UINT32_MAX;
  if (left < 8 || size > left - 8 || (size + 7) / 8 > (left - 8) / 8)
    return broken(cursor, "the journal", error);
  *kind = (uint32_t)(first >> 32);
  *text = (pf_bytes){at + 8, (size_t)size};
  cursor->at += 8 + (size + 7) / 8 * 8;
  return PF_MORE;
}
