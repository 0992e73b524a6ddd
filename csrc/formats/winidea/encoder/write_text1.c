/*
** write_text1.c - writes Text1: a header line for each section, and
** rows in the formats of the options.
**
** Nothing can be quoted in these rows. A row with texts, or without separators,
** is therefore split again, and refused if the fields differ.
*/

#include <math.h>
#include <stdio.h>

#include "formats/winidea/encoder/encode_winidea.h"
#include "formats/winidea/text1.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define NUMBER_SIZE 32

/* The fields of a row, by macro. */
typedef struct fields {
  pf_bytes of[MACROS];
  char numbers[MACROS][NUMBER_SIZE]; /* memory for numbers */
} fields;


static void set_text (fields *f, winidea_macro macro, size_t size) {
  f->of[macro] = (pf_bytes){(const uint8_t *)f->numbers[macro], size};
}


/* Sets at least `digits` hexadecimal digits in upper case. */
static void set_hexadecimal (fields *f, winidea_macro macro, uint64_t value,
                             int digits) {
  const int size = snprintf(f->numbers[macro], NUMBER_SIZE, "%0*llX", digits,
                            (unsigned long long)value);
  set_text(f, macro, (size_t)size);
}


static void set_decimal (fields *f, winidea_macro macro, int64_t value) {
  const int size =
      snprintf(f->numbers[macro], NUMBER_SIZE, "%lld", (long long)value);
  set_text(f, macro, (size_t)size);
}


/* The value of an event: 8 or 16 hexadecimal digits. */
static void set_bits (fields *f, int64_t value) {
  const uint64_t bits = (uint64_t)value;
  set_hexadecimal(f, MACRO_VALUE, bits, bits > UINT32_MAX ? 16 : 8);
}


/* The value of an area: decimal, unless that has 8 or 16 digits, which would be
   read as hexadecimal. */
static void set_value (fields *f, int64_t value) {
  set_decimal(f, MACRO_VALUE, value);
  const size_t size = f->of[MACRO_VALUE].size;
  if (size == 8 || size == 16)
    set_bits(f, value);
}


/* Sets a name from a column; a missing one is empty. */
static void set_name (const winidea_writer *self, fields *f,
                      winidea_macro macro, const pf_batch *batch, size_t column,
                      size_t row) {
  f->of[macro] = pf_name(self->dictionary, pf_id_at(batch, column, row));
}


/* Returns false when out of memory. */
static bool append (winidea_writer *self, pf_bytes bytes) {
  if (!pf_grow(&self->row, &self->capacity, self->used + bytes.size))
    return false;
  if (bytes.size > 0)
    memcpy(self->row + self->used, bytes.at, bytes.size);
  self->used += bytes.size;
  return true;
}


/* Returns true if splitting the row gives the same fields. */
static bool reads_back (const winidea_rowformat *format, pf_bytes row,
                        const fields *f) {
  winidea_fields back;
  if (row.size == 0 || winidea_header_kind(NULL, row) != WINIDEA_SECTIONS ||
      memchr(row.at, '\n', row.size) != NULL || row.at[row.size - 1] == '\r' ||
      !winidea_split(format, row, &back))
    return false;
  for (unsigned i = 0; i < format->count; i++) {
    const unsigned macro = format->macros[i];
    if (pf_text_compare(f->of[macro], back.of[macro]) != 0)
      return false;
  }
  return true;
}


/* Writes the header of a section unless its rows continue the current one. */
static pf_status put_section (winidea_writer *self, unsigned format,
                              const char *class, uint32_t context) {
  static const char *const headers[WINIDEA_FORMATS] = {
      "* INFO ",       "* CONTEXTS ", "* HANDLE(",
      "* STATISTICS(", "* TIMELINE ", "* HANDLE("};
  if (self->format == format && self->class == class &&
      self->context == context)
    return PF_OK;
  const pf_bytes name = context == PF_NO_NAME
                            ? (pf_bytes){NULL, 0}
                            : pf_name(self->dictionary, context);
  if (name.size > 0 && (memchr(name.at, '\n', name.size) != NULL ||
                        memchr(name.at, '\r', name.size) != NULL))
    return pf_refuse(self->error, "the name of a context has a line end");
  if (format == WINIDEA_TIMELINE) /* reading it finishes the areas before it */
    self->function = WINIDEA_NO_HANDLE;
  self->format = format;
  self->class = class;
  self->context = context;
  (void)pf_sink_put(self->sink, headers[format], strlen(headers[format]));
  if (class != NULL) {
    (void)pf_sink_put(self->sink, class, strlen(class));
    (void)pf_sink_put(self->sink, ") ", 2);
  }
  if (context != PF_NO_NAME) {
    (void)pf_sink_put(self->sink, "CONTEXT(", 8);
    (void)pf_sink_put(self->sink, name.at, name.size);
    (void)pf_sink_put(self->sink, ") ", 2);
  }
  const pf_bytes text = self->texts[format];
  (void)pf_sink_put(self->sink, text.at, text.size);
  (void)pf_sink_put(self->sink, self->line_end, strlen(self->line_end));
  return PF_OK;
}


/* Writes a row in a format, after the header of its section if needed. */
static pf_status put_row (winidea_writer *self, unsigned number,
                          const char *class, uint32_t context,
                          const fields *f) {
  const winidea_rowformat *const format = &self->formats[number];
  bool has_memory = true;
  const pf_status status = put_section(self, number, class, context);
  if (status < 0)
    return status;
  self->used = 0;
  for (unsigned i = 0; i <= format->count && has_memory; i++)
    has_memory = append(self, format->literals[i]) &&
                 (i == format->count || append(self, f->of[format->macros[i]]));
  const pf_bytes row = {self->row, self->used};
  if (has_memory && self->needs_check[number] && !reads_back(format, row, f))
    return pf_refuse(self->error,
                     "this row could not be read back in its format: %.*s",
                     PF_SHOWN(row, 120));
  if (!has_memory || !append(self, pf_bytes_of(self->line_end)))
    return pf_no_memory(self->error);
  (void)pf_sink_put(self->sink, self->row, self->used);
  /* flushing reports failures */
  return PF_OK;
}


/* The class of the section for a kind of area. */
static const char *class_of (uint32_t handle) {
  switch (winidea_kind(handle)) {
    case WINIDEA_FUNCTION:
    case WINIDEA_LINE: return "Functions";
    case WINIDEA_AUX:
    case WINIDEA_AUX_STATE: return "AUX";
    default: return "Data";
  }
}


pf_status winidea_write_info (winidea_writer *self) {
  fields f = {.of = {{NULL, 0}}};
  if (!self->is_text || self->total_time < 0)
    return PF_OK;
  set_decimal(&f, MACRO_TOTAL_TIME, self->total_time);
  self->total_time = -1;
  return put_row(self, WINIDEA_INFO, NULL, PF_NO_NAME, &f);
}


pf_status winidea_write_context (winidea_writer *self, const pf_batch *batch,
                                 size_t row) {
  fields f = {.of = {{NULL, 0}}};
  if (!pf_has_value(batch, CONTEXTS_handle, row) ||
      batch->columns[CONTEXTS_handle].addrs[row] > UINT32_MAX)
    return pf_refuse(self->error, "a row of contexts has no handle of 32 bits");
  const uint64_t handle = batch->columns[CONTEXTS_handle].addrs[row];
  set_text(&f, MACRO_HANDLE,
           (size_t)snprintf(f.numbers[MACRO_HANDLE], NUMBER_SIZE, "0x%llX",
                            (unsigned long long)handle));
  set_name(self, &f, MACRO_NAME, batch, CONTEXTS_name, row);
  return put_row(self, WINIDEA_CONTEXTS, NULL, PF_NO_NAME, &f);
}


/* Writes the row of an area with the parent `parent` (or PF_NO_AREA); the
   caller has set its other fields. If a reader would derive another parent, the
   row goes to a section that states parents. A parent without a handle gets
   one, and so a row of its own. */
static pf_status put_area (winidea_writer *self, fields *f, uint32_t handle,
                           uint32_t parent) {
  const pf_area *const above =
      parent == PF_NO_AREA ? NULL : pf_area_at(self->dictionary, parent);
  uint32_t of = WINIDEA_NO_HANDLE; /* of the parent */
  pf_status status = PF_OK;
  if (above != NULL && above->has_handle)
    of = (uint32_t)above->handle;
  else if (above != NULL && !winidea_is_root(handle))
    status = winidea_area_handle(self, parent, &of);
  if (status < 0)
    return status;
  const char *const class = class_of(handle);
  const uint32_t read = /* the parent that a reader derives */
      winidea_is_state(handle)               ? handle - WINIDEA_KIND_STEP
      : winidea_kind(handle) == WINIDEA_LINE ? self->function
                                             : WINIDEA_NO_HANDLE;
  const bool names_parent =
      self->has_parent_format && of != read &&
      !winidea_has_macro(&self->formats[WINIDEA_HANDLE], MACRO_PARENT);
  set_hexadecimal(f, MACRO_HANDLE, handle, 8);
  f->of[MACRO_CLASS] = pf_bytes_of(class);
  if (above != NULL)
    f->of[MACRO_PARENT_NAME] = pf_name(self->dictionary, above->name);
  if (of != WINIDEA_NO_HANDLE)
    set_hexadecimal(f, MACRO_PARENT, of, 8);
  status = put_row(self, names_parent ? WINIDEA_PARENT_FORMAT : WINIDEA_HANDLE,
                   class, PF_NO_NAME, f);
  if (status == PF_OK && winidea_kind(handle) == WINIDEA_FUNCTION)
    self->function = handle;
  return status;
}


pf_status winidea_write_area (winidea_writer *self, const pf_batch *batch,
                              size_t row) {
  fields f = {.of = {{NULL, 0}}};
  uint32_t handle = 0;
  pf_status status =
      winidea_row_handle(self, batch, AREAS_handle, AREAS_area, row, &handle);
  if (status < 0)
    return status;
  if (pf_has_value(batch, AREAS_value, row))
    set_value(&f, batch->columns[AREAS_value].ints[row]);
  if (pf_has_value(batch, AREAS_states, row))
    set_hexadecimal(&f, MACRO_STATE, batch->columns[AREAS_states].addrs[row],
                    8);
  set_name(self, &f, MACRO_NAME, batch, AREAS_name, row);
  set_name(self, &f, MACRO_FILE, batch, AREAS_file, row);
  set_name(self, &f, MACRO_TYPE, batch, AREAS_type, row);
  set_name(self, &f, MACRO_UNIT, batch, AREAS_unit, row);
  set_name(self, &f, MACRO_PATH, batch, AREAS_path, row);
  return put_area(self, &f, handle, pf_id_at(batch, AREAS_parent, row));
}


pf_status winidea_write_statistics (winidea_writer *self, const pf_batch *batch,
                                    size_t row) {
  fields f = {.of = {{NULL, 0}}};
  uint32_t handle = 0, context = PF_NO_NAME;
  pf_status status = winidea_row_handle(self, batch, STATISTICS_HANDLE,
                                        STATISTICS_AREA, row, &handle);
  if (status < 0)
    return status;
  set_hexadecimal(&f, MACRO_HANDLE, handle, 8);
  if (pf_has_value(batch, STATISTICS_VALUE, row))
    set_value(&f, batch->columns[STATISTICS_VALUE].ints[row]);
  for (unsigned i = 0; i < STATISTICS_COLUMNS - STATISTICS_COUNT; i++)
    if (pf_has_value(batch, STATISTICS_COUNT + i, row))
      set_decimal(&f, (winidea_macro)(MACRO_COUNT + i),
                  batch->columns[STATISTICS_COUNT + i].ints[row]);
  set_name(self, &f, MACRO_NAME, batch, STATISTICS_NAME, row);
  set_name(self, &f, MACRO_CONTEXT, batch, STATISTICS_CONTEXT, row);
  if (pf_has_value(batch, STATISTICS_CONTEXT, row) &&
      !winidea_has_macro(&self->formats[WINIDEA_STATISTICS], MACRO_CONTEXT))
    context = batch->columns[STATISTICS_CONTEXT].ids[row];
  const char *const class = class_of(handle);
  f.of[MACRO_CLASS] = pf_bytes_of(class);
  return put_row(self, WINIDEA_STATISTICS, class, context, &f);
}


pf_status winidea_write_event (winidea_writer *self,
                               const winidea_event *event) {
  static const char letters[WINIDEA_EVENTS] = {'X', 'S', 'R', 'E', 'W'};
  fields f = {.of = {{NULL, 0}}};
  set_hexadecimal(&f, MACRO_HANDLE, event->handle, 8);
  f.of[MACRO_EVENT] = (pf_bytes){(const uint8_t *)&letters[event->type], 1};
  if (event->is_double) { /* all digits, with a point, an exponent or a word */
    char *const text = f.numbers[MACRO_VALUE];
    double number;
    memcpy(&number, &event->data, sizeof number);
    int size = snprintf(text, 28, "%.17g", number);
    char *const comma = strchr(text, ','); /* the point of some locales */
    if (comma != NULL)
      *comma = '.';
    if (isfinite(number) && strpbrk(text, ".e") == NULL)
      size += snprintf(text + size, 4, ".0");
    set_text(&f, MACRO_VALUE, (size_t)size);
  }
  else if (event->has_value)
    set_bits(&f, event->data);
  set_decimal(&f, MACRO_TIME, event->time);
  f.of[MACRO_CONTEXT] = pf_name(self->dictionary, event->context);
  return put_row(self, WINIDEA_TIMELINE, NULL, PF_NO_NAME, &f);
}


/* Returns the name of an area as its row has it: a state "VARIABLE=STATE" has
   no variable in its own name. */
static pf_bytes own_name (const winidea_writer *self, const pf_area *area,
                          uint32_t handle) {
  pf_bytes name = pf_name(self->dictionary, area->name);
  if (!winidea_is_state(handle) || area->parent == PF_NO_AREA)
    return name;
  const pf_bytes of =
      pf_name(self->dictionary, pf_area_name(self->dictionary, area->parent));
  if (of.size > 0 && name.size > of.size && name.at[of.size] == '=' &&
      memcmp(name.at, of.at, of.size) == 0) {
    name.at += of.size + 1;
    name.size -= of.size + 1;
  }
  return name;
}


pf_status winidea_write_assigned (winidea_writer *self) {
  for (; self->nassigned_written < self->nassigned; self->nassigned_written++) {
    const uint32_t number = self->assigned[self->nassigned_written];
    const pf_area *const area = pf_area_at(self->dictionary, number);
    fields f = {.of = {{NULL, 0}}};
    f.of[MACRO_NAME] = own_name(self, area, self->handles[number]);
    f.of[MACRO_FILE] = pf_name(self->dictionary, area->file);
    if (area->has_value || area->line != 0)
      set_value(&f, area->has_value ? area->value : area->line);
    const pf_status status =
        put_area(self, &f, self->handles[number], area->parent);
    if (status < 0)
      return status;
  }
  return PF_OK;
}
