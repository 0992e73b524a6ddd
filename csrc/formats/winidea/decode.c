/*
** decode.c - decodes slices of records to the wanted columns. Rows of a Text1
** timeline are converted to such records first. Used by bin_timeline.c and
** text_timeline.c, whose readers own the decoders.
*/

#include <stdio.h>

#include "formats/winidea/decode.h"
#include "model/base/switches.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"

#define BAD_EVENT PF_NO_NAME


const int winidea_timeline_columns[COLS] = {
    TIMELINE_time,   TIMELINE_event,  TIMELINE_handle, TIMELINE_core,
    TIMELINE_value,  TIMELINE_number, TIMELINE_area,   -1,
    TIMELINE_context};
const int winidea_events_columns[COLS] = {
    EVENTS_time,   EVENTS_event, -1,          EVENTS_core, EVENTS_value,
    EVENTS_number, EVENTS_area,  EVENTS_lane, -1};


/* The byte at which a row of the slice begins. */
static uint64_t offset_of (const winidea_decoder *self, size_t row) {
  return self->offsets != NULL ? self->offsets[row]
                               : self->offset + row * self->layout.size;
}


/* Fills the times, and warns about each that is less than the one before. */
static pf_status fill_times (winidea_decoder *self, winidea_slice records,
                             pf_column *column, pf_error *error) {
  const unsigned offset = self->offsets == NULL ? self->layout.size - 8 : 0;
  int64_t *const times = column->ints;
  const uint8_t *const at = records.at + records.size - 8;
  int64_t last = self->last;
  bool decreases = false;
  pf_status status = PF_OK;
  for (size_t i = 0; i < records.count; i++) {
    const int64_t time = (int64_t)pf_load64le(at + i * records.size);
    decreases |= time < last;
    times[i] = last = time;
  }
  if (!decreases)
    return PF_OK;
  last = self->last;
  pthread_mutex_lock(&self->file->mutex);
  for (size_t i = 0; i < records.count && status == PF_OK; i++) {
    if (times[i] < last)
      status = pf_warn(self->trace, PF_DAMAGE, "winidea-time-falls", PF_EFORMAT,
                       offset_of(self, i) + offset, error,
                       "a time of %lld or later expected, found %lld",
                       (long long)last, (long long)times[i]);
    last = times[i];
  }
  pthread_mutex_unlock(&self->file->mutex);
  return status;
}


/* Fills the events, and warns about invalid second words; unknown events
   become missing. */
static pf_status fill_events (const winidea_decoder *self,
                              winidea_slice records, pf_column *column,
                              pf_error *error) {
  uint32_t *const ids = column->ids;
  const unsigned shift = self->shift;
  uint32_t invalid = 0, bad = 0;
  pf_status status = PF_OK;
  for (size_t i = 0; i < records.count; i++) {
    const uint8_t *const record = records.at + i * records.size;
    const uint32_t kind = pf_load32le(record) >> 28;
    const uint32_t word = pf_load32le(record + 4);
    ids[i] = self->events[kind << 4 | (word >> shift & 15)];
    invalid |= word & self->unused;
    bad |= ids[i] == BAD_EVENT;
  }
  if (invalid == 0 && bad == 0)
    return PF_OK;
  pthread_mutex_lock(&self->file->mutex);
  for (size_t i = 0; i < records.count && status == PF_OK; i++) {
    const uint32_t word = pf_load32le(records.at + i * records.size + 4);
    const bool is_known = ids[i] != BAD_EVENT;
    if (!is_known)
      pf_set_missing(column, i);
    if (is_known && (word & self->unused) == 0)
      continue;
    status =
        pf_warn(self->trace, PF_DAMAGE,
                is_known ? "winidea-odd-flags" : "winidea-bad-event",
                PF_EFORMAT, offset_of(self, i) + 4, error,
                is_known ? "flags without bits of 0x%x expected, found 0x%08x"
                         : "an event of type 0 to 4 expected (mask 0x%x of "
                           "unused bits), found 0x%08x",
                (unsigned)self->unused, (unsigned)word);
  }
  pthread_mutex_unlock(&self->file->mutex);
  return status;
}


/* Fills lanes with the context or, if it is not known, the core. */
static pf_status fill_lanes (winidea_decoder *self, winidea_slice records,
                             pf_column *column, pf_error *error) {
  for (size_t i = 0; i < records.count; i++) {
    const unsigned core =
        winidea_known_core(self, records.at + i * records.size);
    uint32_t *const lane = &self->file->lanes[core];
    if (self->lanes[core] == PF_NO_NAME) { /* its first event */
      char text[16] = "core ?";
      if (core != WINIDEA_NO_CORE)
        snprintf(text, sizeof text, "core %u", core);
      pthread_mutex_lock(&self->file->mutex);
      if (*lane == PF_NO_NAME)
        *lane = pf_intern_text(self->trace->dictionary, text);
      self->lanes[core] = *lane;
      pthread_mutex_unlock(&self->file->mutex);
    }
    if (self->lanes[core] == PF_NO_NAME)
      return pf_no_memory(error);
    column->ids[i] = self->lanes[core];
  }
  for (size_t i = 0; self->has_contexts && i < records.count; i++)
    if (self->contexts[i] != PF_NO_NAME)
      column->ids[i] = self->contexts[i];
  return PF_OK;
}


/* Fills the values, 64 at a time because of the bitmap of missing ones. */
static void fill_values (const winidea_decoder *self, winidea_slice records,
                         pf_column *column) {
  uint64_t any = 0;
  for (size_t first = 0; first < records.count; first += 64) {
    const size_t left = records.count - first;
    const size_t count = left < 64 ? left : 64;
    uint64_t missing = 0;
    for (size_t i = 0; i < count; i++) {
      const uint8_t value_kind = self->value_kinds[first + i];
      const bool is_none =
          value_kind != WINIDEA_INTEGER && value_kind != WINIDEA_STATE_VALUE;
      const int64_t data =
          winidea_data(records.at + (first + i) * records.size, records.size);
      column->ints[first + i] = data & ((int64_t)is_none - 1);
      missing |= (uint64_t)is_none << i;
    }
    column->missing[first / 64] = missing;
    any |= missing;
  }
  column->has_missing = any != 0;
  for (size_t i = 0; self->has_state_values && i < records.count; i++)
    if (self->value_kinds[i] == WINIDEA_STATE_VALUE)
      column->ints[i] = self->state_values[i];
}


static void fill_numbers (const winidea_decoder *self, winidea_slice records,
                          pf_column *column) {
  for (size_t i = 0; i < records.count; i++) {
    const uint8_t kind = self->value_kinds[i];
    const int64_t data =
        kind == WINIDEA_STATE_VALUE
            ? self->state_values[i]
            : winidea_data(records.at + i * records.size, records.size);
    const bool is_double = kind == WINIDEA_DOUBLE;
    const bool has_value =
        is_double || kind == WINIDEA_INTEGER || kind == WINIDEA_STATE_VALUE;
    double number = has_value ? (double)data : 0;
    if (is_double &&
        (self->kinds == NULL || self->kinds[i] != WINIDEA_DATA_INTEGER))
      memcpy(&number, &data, sizeof data);
    pf_put_num(column, i, number, has_value);
  }
}


/* Fills the columns that depend on areas. */
static pf_status fill_area_columns (winidea_decoder *self,
                                    winidea_slice records,
                                    const pf_batch *batch, pf_error *error) {
  pf_column *const areas = winidea_wanted(self, batch, COL_AREA);
  pf_column *const values = winidea_wanted(self, batch, COL_VALUE);
  pf_column *const numbers = winidea_wanted(self, batch, COL_NUMBER);
  if (areas == NULL && values == NULL && numbers == NULL &&
      !self->tracks_contexts)
    return PF_OK;
  self->areas = areas != NULL ? areas->ids : self->hidden_areas;
  const pf_status status = winidea_find_areas(self, records, error);
  if (status < 0)
    return status;
  for (size_t i = 0;
       areas != NULL && self->has_missing_areas && i < records.count; i++)
    if (areas->ids[i] == PF_NO_AREA)
      pf_set_missing(areas, i);
  if (values != NULL)
    fill_values(self, records, values);
  if (numbers != NULL)
    fill_numbers(self, records, numbers);
  return self->tracks_contexts ? winidea_track_contexts(self, records, error)
                               : PF_OK;
}


/* The general path: fills the wanted columns one after the other. */
static pf_status fill_columns (winidea_decoder *self, winidea_slice records,
                               const pf_batch *batch, pf_error *error) {
  pf_status status = PF_OK;
  pf_column *column;
  if ((column = winidea_wanted(self, batch, COL_TIME)) != NULL)
    status = fill_times(self, records, column, error);
  if (status == PF_OK &&
      (column = winidea_wanted(self, batch, COL_EVENT)) != NULL)
    status = fill_events(self, records, column, error);
  if (status == PF_OK)
    status = fill_area_columns(self, records, batch, error);
  if (status == PF_OK &&
      (column = winidea_wanted(self, batch, COL_LANE)) != NULL)
    status = fill_lanes(self, records, column, error);
  column = winidea_wanted(self, batch, COL_CONTEXT);
  if (column != NULL && !self->has_contexts)
    pf_put_none(column, 0, records.count);
  for (size_t i = 0; column != NULL && self->has_contexts && i < records.count;
       i++)
    pf_put_id(column, i, self->contexts[i]);
  column = winidea_wanted(self, batch, COL_HANDLE);
  for (size_t i = 0; column != NULL && i < records.count; i++)
    column->addrs[i] = pf_load32le(records.at + i * records.size);
  column = winidea_wanted(self, batch, COL_CORE);
  for (size_t i = 0; column != NULL && i < records.count; i++) {
    const unsigned core = winidea_core_of(self, records.at + i * records.size);
    column->ints[i] = core == WINIDEA_NO_CORE ? -1 : (int64_t)core;
  }
  return status;
}


/* Sets of columns. */
enum {
  TIMES = 1 << COL_TIME,
  VALUES = 1 << COL_VALUE,
  AREAS = 1 << COL_AREA
};

/* The columns to fill, and the state of the loop. */
typedef struct fast_columns {
  int64_t *times, *values;
  uint32_t *areas;
  int64_t last;     /* time of the record before */
  uint64_t present; /* values: a bit for each of 64 rows */
} fast_columns;


/* Fills one row. Returns false if it needs the general path. */
WINIDEA_ALWAYS_INLINE bool fill_row (const winidea_decoder *self,
                                     const uint8_t *at, size_t row,
                                     unsigned what, size_t size,
                                     fast_columns *p) {
  const uint32_t handle = pf_load32le(at);
  const uint32_t kind = winidea_kind(handle);
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
  return true;
}


/* Fills all rows, 64 at a time because of the bitmap of missing values. */
WINIDEA_ALWAYS_INLINE bool fill (const winidea_decoder *self,
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
      if (row + WINIDEA_AHEAD < records.count)
        __builtin_prefetch(at + WINIDEA_AHEAD * size);
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


/* The fast path: fills common sets of columns in one loop over the records.
   Returns false at the first record that needs the general path: a decreasing
   time, or an area that is not in the cache; and if there are contexts, values
   of a Text1 timeline or other columns. */
static bool decode_fast (const winidea_decoder *self, winidea_slice records,
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
  const fast_columns p = {of[COL_TIME]->ints, of[COL_VALUE]->ints,
                          of[COL_AREA]->ids, self->last, 0};
  if (self->tracks_contexts || self->has_contexts ||
      (values != NULL && self->kinds != NULL))
    return false;
  switch (wanted) {
    FILL(TIMES | AREAS)
    FILL(VALUES | AREAS)
    default: return false;
  }
}


pf_status winidea_decode (winidea_decoder *self, winidea_slice records,
                          const pf_batch *batch, pf_error *error) {
  const bool is_filled = PF_FAST(RECORDS) && decode_fast(self, records, batch);
  const pf_status status =
      is_filled ? PF_OK : fill_columns(self, records, batch, error);
  if (records.count > 0)
    self->last =
        (int64_t)pf_load64le(records.at + records.count * records.size - 8);
  return status;
}


pf_status winidea_decode_end (winidea_decoder *self, const uint8_t *last,
                              uint32_t context, int64_t time,
                              const pf_batch *batch, pf_error *error) {
  const winidea_slice record = {last, 1, self->layout.size};
  pf_column *const lanes = winidea_wanted(self, batch, COL_LANE);
  pf_column *column;
  for (int what = 0; what < COLS; what++)
    if ((column = winidea_wanted(self, batch, what)) != NULL &&
        what != COL_TIME && what != COL_EVENT && what != COL_LANE)
      pf_put_none(column, 0, 1);
  if ((column = winidea_wanted(self, batch, COL_TIME)) != NULL)
    column->ints[0] = time;
  if ((column = winidea_wanted(self, batch, COL_EVENT)) != NULL)
    column->ids[0] = self->file->end_id;
  self->contexts[0] = context;
  if (self->tracks_contexts)
    self->contexts[0] = self->tracker.lanes[winidea_known_core(self, last)];
  return lanes == NULL ? PF_OK : fill_lanes(self, record, lanes, error);
}


void winidea_decoder_init (winidea_decoder *self, pf_trace *trace,
                           const winidea_layout *layout,
                           const pf_table *table) {
  const bool is_old = layout->version == WINIDEA_1_0;
  self->trace = trace;
  self->file = trace->state;
  self->layout = *layout;
  self->columns = table->fields == winidea_events_fields
                      ? winidea_events_columns
                      : winidea_timeline_columns;
  self->last = INT64_MIN;
  self->shift = is_old ? 24 : 0;
  self->unused = is_old ? WINIDEA_UNUSED_1_0 : WINIDEA_UNUSED_1_1;
  self->cache.trace = trace;
  self->cache.file = self->file;
  self->cache.derives_states = self->columns == winidea_events_columns;
  self->tracks_contexts = self->has_contexts =
      self->file->contexts.nswitches > 0;
  for (uint32_t i = 0; i < 256; i++) { /* kind of area << 4 | type */
    const uint32_t type = i & 15;
    const bool is_swapped = layout->is_swapped && (type == 1 || type == 2);
    const bool is_write =
        winidea_has_writes(i >> 4 << 28) && (is_old || type < WINIDEA_EVENTS);
    const uint32_t is = is_write ? WINIDEA_WRITE : is_swapped ? 3 - type : type;
    self->events[i] = is < WINIDEA_EVENTS ? self->file->events[is] : BAD_EVENT;
    self->event_kinds[i] =
        is < WINIDEA_EVENTS ? pf_event_word(is, 0, 0) : WINIDEA_BAD_WORD;
  }
  memset(self->lanes, 0xff, sizeof self->lanes); /* PF_NO_NAME */
  winidea_tracker_init(&self->tracker);
}


void winidea_decoder_free (winidea_decoder *self) {
  winidea_cache_free(&self->cache);
  winidea_tracker_free(&self->tracker);
}
