/*
** text_timeline.c - the reader of the timeline of a main file, Text1 or XML. It
** converts rows to records of a binary timeline, version 1.1, and decodes these
** slice by slice.
**
** The value of an event is hexadecimal if it has 8 or 16 digits, else decimal
** (the vendor's page says hexadecimal, its example has 8 digits); option
** timeline_base. An empty value is missing, not 0.
**
** Opened by open_winidea.c for lua/checked_reader.c, which calls `close`; that
** frees the area cache, the parser of XML and the reader of the binary
** timeline, if there are such.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/winidea/decode.h"
#include "formats/winidea/text1.h"
#include "formats/winidea/text_timeline.h"
#include "model/base/switches.h"
#include "model/dictionary/names.h"
#include "model/rows/table_reader.h"

/* Parses up to 16 hexadecimal digits. Returns the position after them. */
static const uint8_t *take_hexadecimal (const uint8_t *p, const uint8_t *end,
                                        uint64_t *number) {
  static const uint8_t digits[256] = {
      ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
      ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['A'] = 11, ['B'] = 12,
      ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16, ['a'] = 11, ['b'] = 12,
      ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16};
  const uint8_t *const last = end - p > 16 ? p + 16 : end;
  uint64_t n = 0;
  for (; p < last && digits[*p] != 0; p++)
    n = n << 4 | (uint64_t)(digits[*p] - 1);
  *number = n;
  return p;
}


/* Parses up to 18 decimal digits, which cannot overflow. */
static const uint8_t *take_decimal (const uint8_t *p, const uint8_t *end,
                                    int64_t *number) {
  const uint8_t *const last = end - p > 18 ? p + 18 : end;
  int64_t n = 0;
  for (; p < last && (unsigned)(*p - '0') < 10; p++)
    n = n * 10 + (*p - '0');
  *number = n;
  return p;
}


/* The type of an event, or -1. */
static int type_of (uint8_t letter) {
  switch (pf_upper(letter)) {
    case 'X': return 0;
    case 'S': return 1;
    case 'R': return 2;
    case 'E': return WINIDEA_ENTER;
    case 'W': return WINIDEA_WRITE;
    default: return -1;
  }
}


/* The core of a row of XML; -1: unknown. Returns false if there is none. */
static bool read_core (pf_bytes text, unsigned *core) {
  int64_t number = -1;
  if (text.size > 0 && (!winidea_read_decimal(text, &number) || number < -1 ||
                        number > WINIDEA_NO_CORE))
    return false;
  *core = number < 0 ? WINIDEA_NO_CORE : (unsigned)number;
  return true;
}


/* The value is an integer, or a number with a point or an exponent, inf or
   nan. */
bool winidea_read_event (const winidea_timeline *self,
                         const winidea_fields *fields, winidea_event *r) {
  const pf_bytes event = pf_trim(fields->of[MACRO_EVENT]);
  const pf_bytes text = pf_trim(fields->of[MACRO_VALUE]);
  const int type = event.size == 1 ? type_of(event.at[0]) : -1;
  r->type = (unsigned)type;
  r->context = fields->of[MACRO_CONTEXT];
  r->data = 0;
  r->kind = text.size == 0 ? WINIDEA_DATA_NONE : WINIDEA_DATA_INTEGER;
  if (type < 0 || !read_core(fields->core, &r->core) ||
      !winidea_read_handle_of(fields, MACRO_HANDLE, &r->handle) ||
      !winidea_read_time(fields, &r->time))
    return false;
  if (text.size == 0)
    return true;
  if (winidea_read_value(text, self->base, &r->data)) {
    if (winidea_has_all_bits(text, self->base))
      r->kind = WINIDEA_DATA_BITS;
    return true;
  }
  double number;
  r->kind = WINIDEA_DATA_DOUBLE;
  if (!pf_parse_double(text, &number))
    return false;
  memcpy(&r->data, &number, sizeof number);
  return true;
}


/* General path: splits a row of any format. */
static bool read_any (const winidea_timeline *self, pf_bytes line,
                      winidea_event *r) {
  winidea_fields fields;
  return winidea_split(&self->section.format, line, &fields) &&
         winidea_read_event(self, &fields, r);
}


/* Fast path for a field. Returns the position after it, or NULL. */
static const uint8_t *take_field (const winidea_timeline *self, unsigned macro,
                                  const uint8_t *p, const uint8_t *end,
                                  winidea_event *r) {
  const uint8_t *stop;
  uint64_t bits;
  switch (macro) {
    case MACRO_HANDLE:
      stop = take_hexadecimal(p, end, &bits);
      r->handle = (uint32_t)bits;
      return stop == p || bits > UINT32_MAX ? NULL : stop;
    case MACRO_EVENT: {
      const int type = p < end ? type_of(*p) : -1;
      r->type = (unsigned)type;
      return type < 0 ? NULL : p + 1;
    }
    case MACRO_TIME:
      stop = take_decimal(p, end, &r->time);
      return stop == p ? NULL : stop;
    case MACRO_VALUE: {
      stop = take_hexadecimal(p, end, &bits);
      const bool is_hexadecimal =
          self->base == WINIDEA_HEXADECIMAL ||
          (self->base == WINIDEA_BASE_AUTO && stop - p == 8);
      r->kind = stop == p ? WINIDEA_DATA_NONE : WINIDEA_DATA_INTEGER;
      r->data = (int64_t)bits;
      if (stop - p == 16)
        return NULL;
      if (stop == p || is_hexadecimal)
        return stop;
      return take_decimal(p, end, &r->data) == stop ? stop : NULL;
    }
    default: return NULL;
  }
}


/* Skips a literal, which usually has one byte or none; NULL if it is not
   there. */
static inline const uint8_t *take_literal (pf_bytes literal, const uint8_t *p,
                                           const uint8_t *end) {
  if (literal.size == 0)
    return p;
  if (p == end || literal.at[0] != *p)
    return NULL;
  if (literal.size > 1 && (literal.size > (size_t)(end - p) ||
                           memcmp(p, literal.at, literal.size) != 0))
    return NULL;
  return p + literal.size;
}


/* Fast path for a row of numbers in common forms. Returns the start of the next
   line, or NULL if the general path is needed. */
static const uint8_t *take_fast (const winidea_timeline *self, const uint8_t *p,
                                 winidea_event *r) {
  const winidea_rowformat *const f = &self->section.format;
  const uint8_t *const end = self->end;
  for (unsigned i = 0; i < f->count; i++) {
    p = take_literal(f->literals[i], p, end);
    if (p != NULL)
      p = take_field(self, f->macros[i], p, end, r);
    if (p == NULL)
      return NULL;
  }
  p = take_literal(f->literals[f->count], p, end);
  if (p == NULL)
    return NULL;
  p += p < end && *p == '\r';
  if (p == end)
    return p;
  return *p == '\n' ? p + 1 : NULL;
}


static uint64_t offset_of (const winidea_timeline *self, const uint8_t *p) {
  return (uint64_t)(p - self->decoder.file->text->bytes.at);
}


pf_status winidea_put_event (winidea_timeline *self, size_t n, uint64_t offset,
                             const winidea_event *r, pf_error *error) {
  uint8_t *const at = self->records + n * WINIDEA_RECORD;
  pf_save32le(at, r->handle);
  pf_save32le(at + 4, r->core << 4 | r->type);
  pf_save64le(at + 8, (uint64_t)r->data);
  pf_save64le(at + 16, (uint64_t)r->time);
  self->offsets[n] = offset;
  self->kinds[n] = r->kind;
  if (r->context.at == NULL)
    return PF_OK;
  uint32_t *const context = &self->decoder.contexts[n];
  *context = PF_NO_NAME;
  if (r->context.size == 0)
    return PF_OK;
  if (pf_text_compare(r->context, self->context) != 0) {
    self->context = r->context;
    pthread_mutex_lock(&self->decoder.file->mutex);
    self->context_name = winidea_context_of(self->decoder.trace, r->context);
    pthread_mutex_unlock(&self->decoder.file->mutex);
  }
  *context = self->context_name;
  self->decoder.tracker.has_any = true;
  return *context == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* General path for a line: a row, blank, invalid, or the next header. */
static pf_status read_line (winidea_timeline *self, size_t *n,
                            pf_error *error) {
  const uint8_t *const start = self->at;
  const pf_bytes text = {start, (size_t)(self->end - start)};
  uint64_t next;
  const pf_bytes line = winidea_line(text, 0, &next);
  winidea_event r = {.core = WINIDEA_NO_CORE};
  if (line.size > 0 && winidea_header_kind(&self->decoder.file->headers,
                                           line) != WINIDEA_SECTIONS) {
    self->end = start;
    self->is_open = false;
    return PF_OK;
  }
  self->at = start + next;
  if (line.size == 0)
    return PF_OK;
  if (read_any(self, line, &r))
    return winidea_put_event(self, (*n)++, offset_of(self, start), &r, error);
  pthread_mutex_lock(&self->decoder.file->mutex);
  const pf_status status =
      winidea_bad_row(self->decoder.trace, offset_of(self, start), line,
                      WINIDEA_TIMELINE, error);
  pthread_mutex_unlock(&self->decoder.file->mutex);
  return status;
}


/* Parses rows from self->at on; *n is the number of records. */
static pf_status read_rows (winidea_timeline *self, size_t *n,
                            pf_error *error) {
  self->context = (pf_bytes){NULL, 0}; /* the text may have moved */
  while (*n < PF_BATCH_ROWS && self->at < self->end) {
    winidea_event r = {.kind = WINIDEA_DATA_NONE, .core = WINIDEA_NO_CORE};
    const uint8_t *const start = self->at;
    const uint8_t *const next =
        PF_FAST(ROWS) && self->is_separated ? take_fast(self, start, &r) : NULL;
    pf_status status;
    if (next != NULL) {
      self->at = next;
      status =
          winidea_put_event(self, (*n)++, offset_of(self, start), &r, error);
    }
    else
      status = read_line(self, n, error);
    if (status < 0)
      return status;
  }
  return PF_OK;
}


/* Extends a live section to the last complete line, or advances to the next
   timeline section. PF_OK, PF_AGAIN, PF_END or a failure. */
static pf_status next_rows (winidea_timeline *self, pf_error *error) {
  winidea_decoder *const decoder = &self->decoder;
  const pf_bytes text =
      winidea_complete_lines(decoder->file, decoder->file->text->bytes);
  if (self->is_open) {
    self->end = text.at + text.size;
    return self->at == self->end ? PF_AGAIN : PF_OK;
  }
  if (self->at != NULL)
    winidea_scan_from(decoder->file, self->section.next - 1,
                      offset_of(self, self->at));
  const pf_status status = winidea_next_section(
      decoder->trace, WINIDEA_TIMELINE, &self->section, error);
  if (status != PF_OK)
    return status;
  self->at = text.at + self->section.now.rows;
  self->is_open =
      decoder->file->is_live && self->section.now.end == WINIDEA_OPEN;
  self->end =
      text.at + (self->section.now.end == WINIDEA_OPEN ? text.size
                                                       : self->section.now.end);
  if (!self->section.now.is_readable) { /* its end is not known */
    self->at = self->end = NULL;
    self->is_open = false;
  }
  self->is_separated = winidea_is_separated(&self->section.format);
  decoder->last = INT64_MIN;
  decoder->has_contexts =
      decoder->tracks_contexts ||
      winidea_has_macro(&self->section.format, MACRO_CONTEXT);
  return PF_OK;
}


/* Decodes the event "end" after the last row, if the file states it. PF_MORE,
   PF_END or a failure. */
static pf_status next_end (winidea_timeline *self, pf_batch *batch,
                           pf_error *error) {
  winidea_decoder *const decoder = &self->decoder;
  if (self->is_ended || !self->has_last ||
      decoder->columns != winidea_events_columns)
    return PF_END;
  self->is_ended = true;
  if (decoder->has_contexts && !decoder->tracker.has_any) {
    const pf_status status = winidea_note_untracked(decoder->trace, error);
    if (status < 0)
      return status;
  }
  const int64_t end = winidea_recording_end(decoder->file, self->first);
  if (end <= (int64_t)pf_load64le(self->last + WINIDEA_RECORD - 8))
    return PF_END;
  batch->rows = 1;
  const pf_status status = winidea_decode_end(
      decoder, self->last, self->last_context, end, batch, error);
  return status < 0 ? status : PF_MORE;
}


/* Reads the next rows. PF_OK, PF_AGAIN, PF_END or a failure. */
static pf_status next_slice (winidea_timeline *self, size_t *n,
                             pf_error *error) {
  if (self->decoder.file->xml != NULL)
    return winidea_read_xml_rows(self, n, error);
  const pf_status status =
      self->at == self->end ? next_rows(self, error) : PF_OK;
  return status == PF_OK ? read_rows(self, n, error) : status;
}


static pf_status timeline_next (pf_reader *reader, pf_batch *batch,
                                pf_error *error) {
  winidea_timeline *const self = (winidea_timeline *)(void *)reader;
  winidea_decoder *const decoder = &self->decoder;
  size_t n = 0;
  pf_batch_clear(batch);
  pf_status status = winidea_update_live(decoder->trace, error);
  if (status < 0)
    return status;
  if (decoder->file->timeline != NULL) { /* created after the main file */
    status = self->binary != NULL
                 ? PF_OK
                 : winidea_open_bin(decoder->trace, self->table, &self->binary,
                                    error);
    return status < 0 ? status : self->binary->next(self->binary, batch, error);
  }
  if (decoder->file->is_live)
    winidea_cache_refresh(&decoder->cache);
  while (n == 0) {
    status = next_slice(self, &n, error);
    if (status == PF_END)
      return decoder->file->is_live ? PF_AGAIN : next_end(self, batch, error);
    if (status != PF_OK)
      return status;
  }
  const winidea_slice slice = {self->records, n, WINIDEA_RECORD};
  status = winidea_decode(decoder, slice, batch, error);
  if (status < 0)
    return status;
  if (!self->has_last)
    self->first = (int64_t)pf_load64le(self->records + WINIDEA_RECORD - 8);
  self->has_last = true;
  memcpy(self->last, self->records + (n - 1) * WINIDEA_RECORD, WINIDEA_RECORD);
  self->last_context =
      decoder->has_contexts ? decoder->contexts[n - 1] : PF_NO_NAME;
  batch->rows = n;
  return PF_MORE;
}


static void timeline_close (pf_reader *reader) {
  winidea_timeline *const self = (winidea_timeline *)(void *)reader;
  if (self->binary != NULL)
    self->binary->close(self->binary);
  winidea_xml_free(self->xml);
  winidea_decoder_free(&self->decoder);
  free(self);
}


pf_status winidea_open_timeline (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error) {
  static const winidea_layout layout = {WINIDEA_1_1, WINIDEA_RECORD, false};
  winidea_timeline *const self =
      pf_reader_new(sizeof *self, trace, table, timeline_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = timeline_close;
  self->table = table;
  winidea_decoder_init(&self->decoder, trace, &layout, table);
  self->decoder.offsets = self->offsets;
  self->decoder.kinds = self->kinds;
  self->base = winidea_base_option(trace, "timeline_base");
  *reader = &self->reader;
  return PF_OK;
}
