/*
** entries.c - reads the records and the journal entries of a ring. The file
** may be damaged: each size is compared with the bytes that are left.
*/

#include <string.h>

#include "bytes/ring/ring.h"


static uint64_t word_at (const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
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
    const uint64_t first = left < 8 ? 0 : word_at(at);
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
  while (n < end && word_at(at + n * size) == first)
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
  const uint64_t first = left < 8 ? 0 : word_at(at);
  const uint64_t size = first & UINT32_MAX;
  if (left < 8 || size > left - 8 || (size + 7) / 8 > (left - 8) / 8)
    return broken(cursor, "the journal", error);
  *kind = (uint32_t)(first >> 32);
  *text = (pf_bytes){at + 8, (size_t)size};
  cursor->at += 8 + (size + 7) / 8 * 8;
  return PF_MORE;
}
