/*
** bin.c - the readers of a binary timeline: little-endian, no header, records
** of one size.
**
**   OFFSET SIZE  FIELD
**        0    4  HANDLE of the area
**        4    4  version 1.1: FLAGS, bits 0 to 3 the type, bits 4 to 11 the core
**                (0xff: unknown); version 1.0: EVENT, bits 24 to 27 the type
**        8    8  DATA: what was written to a variable or input, as a whole
**                number or, of areas of type F64, as a double; else 0
**       16    8  TIME, signed, ns
**
**   type 0 exit, 1 suspend, 2 resume, 3 enter, 4 write (only in version 1.1)
**
** From the vendor's pages on the Text1 and XML exports; that there is no header
** is concluded from them. An older programming interface has types 1 and 2 the
** other way round: option swap_suspend_resume. Records of 20 bytes, with DATA
** of 4, are not documented: option record_size. What DATA is for events of
** states is not documented: the state with that value is taken, else the only
** state of the handle.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/winidea/winidea.h"
#include "model/batch.h"
#include "model/names.h"

#define BAD_EVENT PF_NO_NAME

typedef struct bin_reader {
  pf_reader reader;
  pf_trace *trace;
  winidea_file *file;
  uint64_t row;         /* the next one */
  int64_t last;         /* its time must not be before this */
  unsigned shift;       /* of the type in a word */
  uint32_t unused;      /* bits of a word that are 0 */
  uint32_t events[256]; /* by kind and type: the word, or BAD_EVENT */
  uint32_t lanes[256];  /* by core: the word, once it was met */
  winidea_places places;
  const int *columns; /* where the reader's schema has which column */

  /* of the stretch at hand */
  bool has_stated;  /* some are states: their values are in stated[] */
  bool has_no_area; /* some are of no area */
  uint32_t *areas;  /* the column's, or where nobody looks */
  uint32_t unasked[PF_BATCH_ROWS];
  int64_t stated[PF_BATCH_ROWS];
  uint8_t readings[PF_BATCH_ROWS]; /* winidea_reading */
} bin_reader;

/* What readers decode, wherever their schemas have it. */
enum {
  OF_TIME,
  OF_EVENT,
  OF_HANDLE,
  OF_CORE,
  OF_VALUE,
  OF_NUMBER,
  OF_AREA,
  OF_LANE,
  OF_CONTEXT,
  OF_COLUMNS
};

static const int of_timeline[OF_COLUMNS] = {
    TIMELINE_TIME,   TIMELINE_EVENT,  TIMELINE_HANDLE, TIMELINE_CORE,
    TIMELINE_VALUE,  TIMELINE_NUMBER, TIMELINE_AREA,   -1,
    TIMELINE_CONTEXT};
static const int of_events[OF_COLUMNS] = {EVENTS_TIME, EVENTS_EVENT, -1,
                                          -1,          EVENTS_VALUE, -1,
                                          EVENTS_AREA, EVENTS_LANE,  -1};

/* A stretch of records, all of them there. */
typedef struct stretch {
  const uint8_t *at;
  size_t count;
  size_t size; /* of a record */
} stretch;


/* The column to fill with something, or NULL. */
static pf_column *wanted (const bin_reader *self, const pf_batch *batch,
                          int what) {
  const int column = self->columns[what];
  if (column < 0 || batch->columns[column].data == NULL)
    return NULL;
  return &batch->columns[column];
}


static uint64_t offset_of (const bin_reader *self, size_t row) {
  return (self->row + row) * self->file->layout.size;
}


/* {====== Oddities ====== */

/* Say where a time is before the one before it. */
static pf_status report_falls (const bin_reader *self, const int64_t *times,
                               size_t count, pf_error *error) {
  int64_t last = self->last;
  pf_status status = PF_OK;
  pthread_mutex_lock(&self->file->mutex);
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    if (times[i] < last)
      status = pf_warn(self->trace, PF_DAMAGE, "winidea-time-falls", PF_EFORMAT,
                       offset_of(self, i) + self->file->layout.size - 8, error,
                       "a time of %lld or later expected, found %lld",
                       (long long)last, (long long)times[i]);
    last = times[i];
  }
  pthread_mutex_unlock(&self->file->mutex);
  return status;
}


static pf_status report_word (const bin_reader *self, size_t row, uint32_t word,
                              bool is_known, pf_error *error) {
  if (is_known && (word & self->unused) == 0)
    return PF_OK;
  return pf_warn(self->trace, PF_DAMAGE,
                 is_known ? "winidea-odd-flags" : "winidea-bad-event",
                 PF_EFORMAT, offset_of(self, row) + 4, error,
                 is_known ? "flags without bits of 0x%x expected, found 0x%08x"
                          : "an event of type 0 to 4 expected (mask 0x%x of "
                            "unused bits), found 0x%08x",
                 (unsigned)self->unused, (unsigned)word);
}


/* Say which words are odd; events that are none are missing. */
static pf_status report_words (const bin_reader *self, stretch records,
                               pf_column *column, pf_error *error) {
  pf_status status = PF_OK;
  pthread_mutex_lock(&self->file->mutex);
  for (size_t i = 0; i < records.count && status == PF_OK; i++) {
    const bool is_known = column->ids[i] != BAD_EVENT;
    status =
        report_word(self, i, pf_load32le(records.at + i * records.size + 4),
                    is_known, error);
    if (!is_known)
      pf_set_missing(column, i);
  }
  pthread_mutex_unlock(&self->file->mutex);
  return status;
}

/* }====== */


/* {====== Columns ====== */

static pf_status fill_times (bin_reader *self, stretch records,
                             pf_column *column, pf_error *error) {
  int64_t *const times = column->ints;
  const uint8_t *const at = records.at + records.size - 8;
  int64_t last = self->last;
  bool falls = false;
  for (size_t i = 0; i < records.count; i++)
    times[i] = (int64_t)pf_load64le(at + i * records.size);
  for (size_t i = 0; i < records.count; i++) {
    falls |= times[i] < last;
    last = times[i];
  }
  return falls ? report_falls(self, times, records.count, error) : PF_OK;
}


static pf_status fill_events (const bin_reader *self, stretch records,
                              pf_column *column, pf_error *error) {
  uint32_t *const ids = column->ids;
  const unsigned shift = self->shift;
  uint32_t odd = 0, bad = 0;
  for (size_t i = 0; i < records.count; i++) {
    const uint8_t *const record = records.at + i * records.size;
    const uint32_t kind = pf_load32le(record) >> 28;
    const uint32_t word = pf_load32le(record + 4);
    ids[i] = self->events[kind << 4 | (word >> shift & 15)];
    odd |= word & self->unused;
    bad |= ids[i] == BAD_EVENT;
  }
  return odd == 0 && bad == 0 ? PF_OK
                              : report_words(self, records, column, error);
}


static void fill_handles (stretch records, pf_column *column) {
  for (size_t i = 0; i < records.count; i++)
    column->addrs[i] = pf_load32le(records.at + i * records.size);
}


static unsigned core_of (const bin_reader *self, const uint8_t *record) {
  return self->file->layout.version == WINIDEA_1_0
             ? WINIDEA_NO_CORE
             : pf_load32le(record + 4) >> 4 & 0xff;
}


static void fill_cores (const bin_reader *self, stretch records,
                        pf_column *column) {
  for (size_t i = 0; i < records.count; i++) {
    const unsigned core = core_of(self, records.at + i * records.size);
    column->ints[i] = core == WINIDEA_NO_CORE ? -1 : (int64_t)core;
  }
}


/* The lane of a core that has not been met yet. */
static pf_status meet_lane (bin_reader *self, unsigned core, pf_error *error) {
  uint32_t *const lane = &self->file->lanes[core];
  char text[16] = "core ?";
  if (core != WINIDEA_NO_CORE)
    snprintf(text, sizeof text, "core %u", core);
  pthread_mutex_lock(&self->file->mutex);
  if (*lane == PF_NO_NAME)
    *lane = pf_intern_text(self->trace->dictionary, text);
  self->lanes[core] = *lane;
  pthread_mutex_unlock(&self->file->mutex);
  return self->lanes[core] == PF_NO_NAME ? winidea_no_memory(error) : PF_OK;
}


static pf_status fill_lanes (bin_reader *self, stretch records,
                             pf_column *column, pf_error *error) {
  for (size_t i = 0; i < records.count; i++) {
    const unsigned core = core_of(self, records.at + i * records.size);
    if (self->lanes[core] == PF_NO_NAME) {
      const pf_status status = meet_lane(self, core, error);
      if (status < 0)
        return status;
    }
    column->ids[i] = self->lanes[core];
  }
  return PF_OK;
}


static void fill_nothing (pf_column *column, size_t count) {
  memset(column->data, 0, count * pf_type_size(column->type));
  memset(column->missing, 0xff, (count + 63) / 64 * sizeof *column->missing);
  column->has_missing = true;
}

/* }====== */


/* {====== Areas and values ====== */

static int64_t data_of (const uint8_t *record, size_t size) {
  return size == 20 ? (int64_t)pf_load32le(record + 8)
                    : (int64_t)pf_load64le(record + 8);
}


/* What stands in the slots for a handle and what was written, or NULL. */
static const winidea_place *find_slot (const winidea_places *places,
                                       uint32_t handle, int64_t data) {
  if (places->slots == NULL)
    return NULL;
  for (uint32_t i = winidea_slot(places, handle, data);;
       i = (i + 1) & places->mask) {
    const winidea_place *const place = &places->slots[i];
    if (place->reading == WINIDEA_UNSEEN)
      return NULL;
    if (place->handle == handle && place->data == data)
      return place;
  }
}


/* Row `row` is of an area that the levels do not know: states never are there,
   others when they have been met. */
static pf_status locate (bin_reader *self, const uint8_t *record, size_t size,
                         size_t row, pf_error *error) {
  const uint32_t handle = pf_load32le(record);
  const bool is_state = winidea_is_state(handle);
  const int64_t data = is_state ? data_of(record, size) : 0;
  const winidea_place *place = find_slot(&self->places, handle, data);
  winidea_place met;
  if (place == NULL) {
    const pf_status status =
        winidea_meet(&self->places, handle, data, &met, error);
    if (status < 0)
      return status;
    place = &met;
  }
  self->areas[row] = place->area;
  self->readings[row] = place->reading;
  self->stated[row] = place->value;
  self->has_stated |= is_state;
  self->has_no_area |= place->area == PF_NO_AREA;
  return PF_OK;
}


/* The areas of a stretch, and how the values of each are read. */
static pf_status find_areas (bin_reader *self, stretch records,
                             pf_error *error) {
  const winidea_level *const levels = self->places.levels;
  uint32_t *const areas = self->areas;
  uint8_t *const readings = self->readings;
  self->has_stated = self->has_no_area = false;
  for (size_t i = 0; i < records.count; i++) {
    const uint8_t *const record = records.at + i * records.size;
    const uint32_t handle = pf_load32le(record);
    const winidea_level *const level = &levels[winidea_kind(handle)];
    const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
    if (index < level->size && level->readings[index] != WINIDEA_UNSEEN) {
      areas[i] = level->areas[index];
      readings[i] = level->readings[index];
      continue;
    }
    const pf_status status = locate(self, record, records.size, i, error);
    if (status < 0)
      return status;
  }
  return PF_OK;
}


static void mark_no_area (pf_column *column, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (column->ids[i] == PF_NO_AREA)
      pf_set_missing(column, i);
}


/* Fill up to 64 values; answers the bits of those that are missing. */
static uint64_t fill_word (const uint8_t *readings, stretch records,
                           int64_t *values) {
  static const uint64_t masks[WINIDEA_READINGS] = {
      [WINIDEA_INTEGER] = UINT64_MAX, [WINIDEA_STATED] = UINT64_MAX};
  uint64_t missing = 0;
  for (size_t i = 0; i < records.count; i++) {
    const uint64_t mask = masks[readings[i]];
    values[i] =
        data_of(records.at + i * records.size, records.size) & (int64_t)mask;
    missing |= (~mask & 1) << i;
  }
  return missing;
}


static void fill_values (const bin_reader *self, stretch records,
                         pf_column *column) {
  uint64_t any = 0;
  for (size_t i = 0; i < records.count; i += 64) {
    const size_t left = records.count - i;
    const stretch word = {records.at + i * records.size, left < 64 ? left : 64,
                          records.size};
    const uint64_t missing =
        fill_word(self->readings + i, word, column->ints + i);
    column->missing[i / 64] = missing;
    any |= missing;
  }
  column->has_missing = any != 0;
  for (size_t i = 0; self->has_stated && i < records.count; i++)
    if (self->readings[i] == WINIDEA_STATED)
      column->ints[i] = self->stated[i];
}


static double as_double (int64_t data) {
  double number;
  memcpy(&number, &data, sizeof number);
  return number;
}


static void fill_numbers (const bin_reader *self, stretch records,
                          pf_column *column) {
  for (size_t i = 0; i < records.count; i++) {
    const int64_t data = data_of(records.at + i * records.size, records.size);
    column->nums[i] = 0;
    switch (self->readings[i]) {
      case WINIDEA_INTEGER: column->nums[i] = (double)data; break;
      case WINIDEA_STATED: column->nums[i] = (double)self->stated[i]; break;
      case WINIDEA_DOUBLE: column->nums[i] = as_double(data); break;
      default: pf_set_missing(column, i);
    }
  }
}

/* }====== */


/* {====== The reader ====== */

/* Fill the columns that come from areas. */
static pf_status fill_places (bin_reader *self, stretch records,
                              const pf_batch *batch, pf_error *error) {
  pf_column *const areas = wanted(self, batch, OF_AREA);
  pf_column *const values = wanted(self, batch, OF_VALUE);
  pf_column *const numbers = wanted(self, batch, OF_NUMBER);
  if (areas == NULL && values == NULL && numbers == NULL)
    return PF_OK;
  self->areas = areas != NULL ? areas->ids : self->unasked;
  const pf_status status = find_areas(self, records, error);
  if (status < 0)
    return status;
  if (areas != NULL && self->has_no_area)
    mark_no_area(areas, records.count);
  if (values != NULL)
    fill_values(self, records, values);
  if (numbers != NULL)
    fill_numbers(self, records, numbers);
  return PF_OK;
}


static pf_status fill (bin_reader *self, stretch records, const pf_batch *batch,
                       pf_error *error) {
  pf_status status = PF_OK;
  pf_column *column;
  if ((column = wanted(self, batch, OF_TIME)) != NULL)
    status = fill_times(self, records, column, error);
  if (status == PF_OK && (column = wanted(self, batch, OF_EVENT)) != NULL)
    status = fill_events(self, records, column, error);
  if (status == PF_OK)
    status = fill_places(self, records, batch, error);
  if (status == PF_OK && (column = wanted(self, batch, OF_LANE)) != NULL)
    status = fill_lanes(self, records, column, error);
  if ((column = wanted(self, batch, OF_HANDLE)) != NULL)
    fill_handles(records, column);
  if ((column = wanted(self, batch, OF_CORE)) != NULL)
    fill_cores(self, records, column);
  if ((column = wanted(self, batch, OF_CONTEXT)) != NULL)
    fill_nothing(column, records.count);
  return status;
}


static int64_t time_at (const bin_reader *self, uint64_t row) {
  const size_t size = self->file->layout.size;
  return (int64_t)pf_load64le(self->file->timeline->bytes.at + row * size +
                              size - 8);
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  bin_reader *const self = (bin_reader *)(void *)reader;
  const uint64_t records = winidea_records(self->file);
  const size_t size = self->file->layout.size;
  pf_batch_clear(batch);
  if (self->row >= records)
    return PF_END;
  const uint64_t left = records - self->row;
  const stretch run = {self->file->timeline->bytes.at + self->row * size,
                       left < PF_BATCH_ROWS ? (size_t)left : PF_BATCH_ROWS,
                       size};
  const pf_status status = fill(self, run, batch, error);
  if (status < 0)
    return status;
  batch->rows = run.count;
  self->row += run.count;
  self->last = time_at(self, self->row - 1);
  return PF_MORE;
}


static pf_status seek (pf_reader *reader, uint64_t row, pf_error *error) {
  bin_reader *const self = (bin_reader *)(void *)reader;
  const uint64_t records = winidea_records(self->file);
  (void)error;
  self->row = row < records ? row : records;
  self->last = self->row > 0 ? time_at(self, self->row - 1) : INT64_MIN;
  return PF_OK;
}


static void close_reader (pf_reader *reader) {
  bin_reader *const self = (bin_reader *)(void *)reader;
  winidea_places_free(&self->places);
  free(self);
}


/* The words for events by kind and type. */
static void set_events (bin_reader *self) {
  const winidea_file *const file = self->file;
  for (uint32_t kind = 0; kind < WINIDEA_KINDS; kind++)
    for (uint32_t type = 0; type < 16; type++) {
      uint32_t is = type;
      if (winidea_is_written(kind << 28))
        is = WINIDEA_WRITE;
      else if (file->layout.is_swapped && (type == 1 || type == 2))
        is = 3 - type;
      self->events[kind << 4 | type] =
          is < WINIDEA_EVENTS ? file->events[is] : BAD_EVENT;
    }
}


static pf_status open_reader (pf_trace *trace, const pf_table *table,
                              const int *columns, pf_reader **reader,
                              pf_error *error) {
  bin_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return winidea_no_memory(error);
  self->reader = (pf_reader){.fields = table->fields,
                             .nfields = table->nfields,
                             .dictionary = trace->dictionary,
                             .next = next,
                             .seek = seek,
                             .close = close_reader};
  self->trace = trace;
  self->file = trace->state;
  self->places.trace = trace;
  self->places.file = self->file;
  self->last = INT64_MIN;
  self->columns = columns;
  const bool is_old = self->file->layout.version == WINIDEA_1_0;
  self->shift = is_old ? 24 : 0;
  self->unused = is_old ? ~0x0f000000u : ~0xfffu;
  set_events(self);
  memset(self->lanes, 0xff, sizeof self->lanes); /* PF_NO_NAME */
  *reader = &self->reader;
  return PF_OK;
}


pf_status winidea_open_timeline (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error) {
  const bool is_events = table->fields == winidea_events_fields;
  return open_reader(trace, table, is_events ? of_events : of_timeline, reader,
                     error);
}

/* }====== */
