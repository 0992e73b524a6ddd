/*
** decode_fast.c - the fast path: fills common sets of columns in one pass over
** the records. It returns false at the first
** record that needs the general path (decode.c): a decreasing time, an
** invalid word, or an area or core that is not in the cache.
*/

#include "formats/winidea/decode.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define KIND_BITS        28
#define PREFETCH_RECORDS 192 /* distance of the prefetch */

/* Sets of columns. */
enum {
  TIMES = 1 << COL_TIME,
  EVENTS = 1 << COL_EVENT,
  VALUES = 1 << COL_VALUE,
  AREAS = 1 << COL_AREA,
  LANES = 1 << COL_LANE
};

/* The columns to fill, and the state of the pass. */
typedef struct fast_columns {
  int64_t *times, *values;
  uint32_t *events, *areas, *lanes;
  int64_t last;     /* time of the record before */
  uint64_t present; /* values: a bit for each of 64 rows */
} fast_columns;


/* Fills the event and the lane, if wanted. */
static ALWAYS_INLINE bool fill_word (const winidea_decoder *self, uint32_t kind,
                                     uint32_t word, size_t row, unsigned what,
                                     fast_columns *p) {
  const bool has_core = self->layout.version == WINIDEA_1_1;
  if ((what & EVENTS) != 0) {
    const uint32_t event = self->events[kind << 4 | (word >> self->shift & 15)];
    if ((word & self->unused) != 0 || event == PF_NO_NAME)
      return false;
    p->events[row] = event;
  }
  if ((what & LANES) != 0) {
    const uint32_t lane =
        self->lanes[has_core ? word >> 4 & 0xff : WINIDEA_NO_CORE];
    if (lane == PF_NO_NAME)
      return false;
    p->lanes[row] = lane;
  }
  return true;
}


/* Fills one row. Returns false if it needs the general path. */
static ALWAYS_INLINE bool fill_row (const winidea_decoder *self,
                                    const uint8_t *at, size_t row,
                                    unsigned what, size_t size,
                                    fast_columns *p) {
  const uint32_t handle = pf_load32le(at);
  const uint32_t kind = handle >> KIND_BITS;
  const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
  const winidea_handle_array *const array = &self->cache.arrays[kind];
  if (index >= array->size || array->areas[index] == PF_NO_AREA)
    return false;
  p->areas[row] = array->areas[index];
  if ((what & TIMES) != 0) {
    const int64_t time = (int64_t)pf_load64le(at + size - 8);
    if (time < p->last)
      return false;
    p->times[row] = p->last = time;
  }
  if ((what & VALUES) != 0) { /* 0 without a value */
    const int64_t mask = winidea_mask(array->value_kinds[index]);
    p->values[row] = winidea_data(at, size) & mask;
    p->present = p->present >> 1 | ((uint64_t)mask & UINT64_C(1) << 63);
  }
  return (what & (EVENTS | LANES)) == 0 ||
         fill_word(self, kind, pf_load32le(at + 4), row, what, p);
}


/* Fills all rows, 64 at a time because of the bitmap of missing values. */
static ALWAYS_INLINE bool fill (const winidea_decoder *self,
                                winidea_slice records,
                                const fast_columns *columns, unsigned what,
                                size_t size, pf_column *values) {
  fast_columns p = *columns;
  uint64_t any = 0;
  for (size_t first = 0; first < records.count; first += 64) {
    const size_t left = records.count - first;
    const size_t end = first + (left < 64 ? left : 64);
    p.present = 0;
    for (size_t row = first; row < end; row++) {
      const uint8_t *const at = records.at + row * size;
      if (row + PREFETCH_RECORDS < records.count)
        __builtin_prefetch(at + PREFETCH_RECORDS * size);
      if (!fill_row(self, at, row, what, size, &p))
        return false;
    }
    if ((what & VALUES) != 0) {
      values->missing[first / 64] = ~p.present >> (64 - (end - first));
      any |= values->missing[first / 64];
    }
  }
  if ((what & VALUES) != 0)
    values->has_missing = any != 0;
  return true;
}


/* Each set has a loop of its own, and one for the usual record size. */
#define FILL(set)                                         \
  case set:                                               \
    return records.size == 24                             \
               ? fill(self, records, &p, set, 24, values) \
               : fill(self, records, &p, set, records.size, values);


bool winidea_decode_fast (const winidea_decoder *self, winidea_slice records,
                          const pf_batch *batch) {
  static const pf_column nothing = {.data = NULL};
  pf_column *const values = winidea_wanted(self, batch, COL_VALUE);
  const pf_column *of[COLS];
  unsigned wanted = 0;
  for (int what = 0; what < COLS; what++) {
    const pf_column *const column = winidea_wanted(self, batch, what);
    wanted |= (unsigned)(column != NULL) << what;
    of[what] = column == NULL ? &nothing : column;
  }
  const fast_columns p = {of[COL_TIME]->ints,
                          of[COL_VALUE]->ints,
                          of[COL_EVENT]->ids,
                          of[COL_AREA]->ids,
                          of[COL_LANE]->ids,
                          self->last,
                          0};
  if (self->tracks_contexts || self->has_contexts ||
      (values != NULL && self->kinds != NULL))
    return false;
  switch (wanted) {
    FILL(TIMES | AREAS)
    FILL(VALUES | AREAS)
    FILL(TIMES | EVENTS | AREAS | LANES)
    default: return false;
  }
}
