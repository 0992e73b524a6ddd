/*
** decode_plain.c - the columns from which calls are made, in one look at each
** record: what decode.c does column by column, where nothing is odd and all
** areas and cores have been met.
*/

#include "formats/winidea/decode.h"

#define KIND_BITS 28
#define AHEAD     192 /* records that are on their way from memory */


/* Whether the columns wanted are time, event, area and lane. */
static bool is_plain (const winidea_decoder *self, const pf_batch *batch) {
  const unsigned plain =
      1u << OF_TIME | 1u << OF_EVENT | 1u << OF_AREA | 1u << OF_LANE;
  unsigned wanted = 0;
  for (int what = 0; what < OF_COLUMNS; what++)
    if (winidea_wanted(self, batch, what) != NULL)
      wanted |= 1u << what;
  return wanted == plain && !self->tracks && !self->has_contexts;
}


/* The columns to fill. */
typedef struct plain {
  int64_t *times;
  uint32_t *events, *areas, *lanes;
} plain;


/* Fill `count` rows from records of a size and version, which are constants
   where it is called; false: there is something that must be looked at more
   closely. */
static inline __attribute__((always_inline)) bool fill (
    const winidea_decoder *self, const uint8_t *at, size_t count,
    const plain *to, size_t size, bool is_old) {
  const winidea_level *const levels = self->places.levels;
  const uint32_t unused = self->unused;
  const unsigned shift = is_old ? 24 : 0;
  const plain p = *to;
  int64_t last = self->last;
  for (size_t i = 0; i < count; i++, at += size) {
    if (i + AHEAD < count)
      __builtin_prefetch(at + AHEAD * size);
    const uint32_t handle = pf_load32le(at), word = pf_load32le(at + 4);
    const int64_t time = (int64_t)pf_load64le(at + size - 8);
    const uint32_t kind = handle >> KIND_BITS;
    const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
    if ((word & unused) != 0 || time < last || index >= levels[kind].size)
      return false;
    const uint32_t area = levels[kind].areas[index];
    const uint32_t event = self->events[kind << 4 | (word >> shift & 15)];
    const uint32_t lane =
        self->lanes[is_old ? WINIDEA_NO_CORE : word >> 4 & 0xff];
    if (area == PF_NO_AREA || event == PF_NO_NAME || lane == PF_NO_NAME)
      return false;
    p.times[i] = last = time;
    p.events[i] = event;
    p.areas[i] = area;
    p.lanes[i] = lane;
  }
  return true;
}


bool winidea_decode_plain (const winidea_decoder *self, winidea_stretch records,
                           const pf_batch *batch) {
  if (!is_plain(self, batch))
    return false;
  const plain p = {winidea_wanted(self, batch, OF_TIME)->ints,
                   winidea_wanted(self, batch, OF_EVENT)->ids,
                   winidea_wanted(self, batch, OF_AREA)->ids,
                   winidea_wanted(self, batch, OF_LANE)->ids};
  const uint8_t *const at = records.at;
  const size_t count = records.count;
  if (self->layout.version == WINIDEA_1_0)
    return fill(self, at, count, &p, records.size, true);
  return records.size == 24 ? fill(self, at, count, &p, 24, false)
                            : fill(self, at, count, &p, records.size, false);
}
