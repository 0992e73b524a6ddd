/*
** ring_read.c - from record to record of a ring, from entry to entry of its
** journal. They may come from a file that anybody wrote: each size is compared
** with what is there.
*/

#include <string.h>

#include "bytes/ring.h"


static uint64_t word_at (const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}


static pf_status broken (const pf_ring_walk *walk, const char *what,
                         pf_error *error) {
  return pf_fail(error, PF_EFORMAT, walk->at, "%s of the ring is broken", what);
}


/* Bytes from the position on that lie in one piece. */
static uint64_t bytes_here (const pf_ring_walk *walk) {
  const uint64_t left = walk->end - walk->at;
  if (walk->mask == UINT64_MAX)
    return left;
  const uint64_t lap = walk->mask + 1 - (walk->at & walk->mask);
  return left < lap ? left : lap;
}


pf_status pf_ring_next (pf_ring_walk *walk, pf_ring_record *record,
                        pf_error *error) {
  while (walk->at < walk->end) {
    const uint64_t left = bytes_here(walk);
    const uint8_t *const at = walk->bytes + (walk->at & walk->mask);
    const uint64_t first = left < 8 ? 0 : word_at(at);
    const uint64_t words = first & UINT32_MAX;
    if (words == 0 || words > left / 8)
      return broken(walk, "a record", error);
    walk->at += 8 * words;
    record->tag = (uint32_t)(first >> 32);
    if (record->tag == PF_RING_FILLER)
      continue;
    record->words = at + 8;
    record->count = (size_t)words - 1;
    return PF_MORE;
  }
  return PF_END;
}


size_t pf_ring_more (pf_ring_walk *walk, const pf_ring_record *record,
                     size_t most) {
  const uint64_t size = 8 * ((uint64_t)record->count + 1);
  const uint64_t first = size / 8 | (uint64_t)record->tag << 32;
  const uint8_t *const at = walk->bytes + (walk->at & walk->mask);
  size_t n = 0;
  if (walk->at == walk->end || at != record->words + 8 * record->count)
    return 0; /* the end, or a new lap */
  const uint64_t left = bytes_here(walk) / size;
  const size_t end = left < most ? (size_t)left : most;
  while (n < end && word_at(at + n * size) == first)
    n++;
  walk->at += n * size;
  return n;
}


pf_status pf_ring_entry (pf_ring_walk *walk, uint32_t *kind, pf_bytes *text,
                         pf_error *error) {
  const uint64_t left = walk->end - walk->at;
  if (left == 0)
    return PF_END;
  const uint8_t *const at = walk->bytes + walk->at;
  const uint64_t first = left < 8 ? 0 : word_at(at);
  const uint64_t size = first & UINT32_MAX;
  if (left < 8 || size > left - 8 || (size + 7) / 8 > (left - 8) / 8)
    return broken(walk, "the journal", error);
  *kind = (uint32_t)(first >> 32);
  *text = (pf_bytes){at + 8, (size_t)size};
  walk->at += 8 + (size + 7) / 8 * 8;
  return PF_MORE;
}
