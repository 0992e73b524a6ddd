/*
** decode_plain.c - the columns from which calls are made, in one look at each
** record: what decode.c does column by column, where nothing is odd and all
** areas and cores have been met.
*/

#include "formats/winidea/decode.h"

#define KIND_BITS 28
#define AHEAD     48 /* records that are fetched */


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


/* The columns at hand, and how a record becomes a row of them. */
typedef struct plain {
  int64_t *times;
  uint32_t *events, *areas, *lanes;
  unsigned shift;   /* of the type in a word */
  uint32_t no_core; /* bits that the core has in any case */
} plain;


/* Fill `count` rows from records of a size; false: there is something that
   must be looked at more closely. */
static inline bool fill (const winidea_decoder *self, const uint8_t *at,
                         size_t count, size_t size, const plain *to) {
  const winidea_level *const levels = self->places.levels;
  const plain p = *to;
  int64_t last = self->last;
  uint32_t odd = 0, falls = 0;
  for (size_t i = 0; i < count; i++, at += size) {
    if (count - i > AHEAD)
      __builtin_prefetch(at + AHEAD * size);
    const uint32_t handle = pf_load32le(at), word = pf_load32le(at + 4);
    const int64_t time = (int64_t)pf_load64le(at + size - 8);
    const uint32_t kind = handle >> KIND_BITS;
    const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
    if (index >= levels[kind].size)
      return false;
    const uint32_t area = levels[kind].areas[index];
    const uint32_t event = self->events[kind << 4 | (word >> p.shift & 15)];
    const uint32_t lane = self->lanes[(word >> 4 & 0xff) | p.no_core];
    if (area == PF_NO_AREA || event == PF_NO_NAME || lane == PF_NO_NAME)
      return false;
    odd |= word;
    falls |= time < last;
    last = time;
    p.times[i] = time;
    p.events[i] = event;
    p.areas[i] = area;
    p.lanes[i] = lane;
  }
  return (odd & self->unused) == 0 && falls == 0;
}


bool winidea_decode_plain (const winidea_decoder *self, winidea_stretch records,
                           const pf_batch *batch) {
  if (!is_plain(self, batch))
    return false;
  const bool is_old = self->layout.version == WINIDEA_1_0;
  const plain p = {winidea_wanted(self, batch, OF_TIME)->ints,
                   winidea_wanted(self, batch, OF_EVENT)->ids,
                   winidea_wanted(self, batch, OF_AREA)->ids,
                   winidea_wanted(self, batch, OF_LANE)->ids,
                   self->shift,
                   is_old ? WINIDEA_NO_CORE : 0};
  return records.size == 24
             ? fill(self, records.at, records.count, 24, &p)
             : fill(self, records.at, records.count, records.size, &p);
}
