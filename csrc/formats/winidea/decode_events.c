/*
** decode_events.c - decodes binary records to event words (event_words.h),
** without columns of names. Called by bin_timeline.c. Only to->lane_id may
** allocate memory.
*/

#include "formats/winidea/decode.h"
#include "model/base/switches.h"


/* Decodes records of `size` bytes to event words. `lanes`: by core, the lane as
   in words, or WINIDEA_BAD_WORD. Returns false at the first record that needs
   the general path. */
WINIDEA_ALWAYS_INLINE bool decode_words (winidea_decoder *self,
                                         winidea_slice records, size_t size,
                                         bool has_core, const uint64_t *lanes,
                                         const pf_event_target *to) {
  const winidea_handle_array *const arrays = self->cache.arrays;
  const winidea_handle_array functions = arrays[0];
  const uint64_t *const kinds = self->event_kinds;
  const unsigned shift = has_core ? 0 : 24;
  const uint32_t unused = has_core ? WINIDEA_UNUSED_1_1 : WINIDEA_UNUSED_1_0;
  int64_t *const times = to->times;
  uint64_t *const words = to->words;
  const uint8_t *at = records.at;
  int64_t last = self->last;
  for (size_t row = 0; row < records.count; row++, at += size) {
    /* past the end, too */
    __builtin_prefetch((const void *)((uintptr_t)at + WINIDEA_AHEAD * size), 0,
                       0);
    const uint32_t handle = pf_load32le(at), word = pf_load32le(at + 4);
    const int64_t time = (int64_t)pf_load64le(at + size - 8);
    uint32_t kind = 0, area;
    if ((word & unused) != 0 || time < last)
      return false;
    if (handle < functions.size)
      area = functions.areas[handle];
    else {
      const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
      kind = winidea_kind(handle);
      if (index >= arrays[kind].size)
        return false;
      area = arrays[kind].areas[index];
    }
    const uint64_t event = kinds[kind << 4 | (word >> shift & 15)] |
                           lanes[has_core ? word >> 4 : WINIDEA_NO_CORE] |
                           pf_event_word(0, 0, area);
    if (event >= WINIDEA_BAD_WORD)
      return false;
    times[row] = last = time;
    words[row] = event;
  }
  return true;
}


bool winidea_decode_events (winidea_decoder *self, winidea_slice records,
                            const pf_event_target *to) {
  uint64_t lanes[256];
  if (self->tracks_contexts || self->has_contexts || !PF_FAST(RECORDS))
    return false;
  for (size_t core = 0; core < 256; core++) {
    const uint32_t name = self->lanes[core];
    const uint32_t id =
        name == PF_NO_NAME ? PF_NO_ID : to->lane_id(to->context, name);
    lanes[core] = id == PF_NO_ID ? WINIDEA_BAD_WORD : pf_event_word(0, id, 0);
  }
  bool done;
  if (self->layout.version == WINIDEA_1_0)
    done = decode_words(self, records, records.size, false, lanes, to);
  else if (records.size == 24)
    done = decode_words(self, records, 24, true, lanes, to);
  else
    done = decode_words(self, records, records.size, true, lanes, to);
  if (done && records.count > 0)
    self->last = to->times[records.count - 1];
  return done;
}
