/*
** index.c - reads what samples refer to: strings, sample types, functions and
** locations. A first scan of the file counts all fields and records where they
** are; later scans of these ranges fill the arrays. Called by open_pprof.c. The
** pprof_file owns the arrays; pprof_index_close frees them.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pprof/header_pprof.h"
#include "formats/pprof/pprof.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/symbols.h"

/* Maximum lines of a location. A sample may refer to a location with one byte,
   so without a limit a small file could expand to huge stacks; no compiler
   inlines so deep. */
#define MAX_LINES 256

#define MAX_UNIT 63 /* bytes of a unit in a help text */


/* Count the fields of a message that have this number. */
static uint64_t count_fields (pf_bytes message, uint64_t number) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  uint64_t count = 0;
  while (pprof_next_field(&c, &field))
    count += field.number == number && field.wire == PPROF_BYTES;
  return count;
}


typedef struct counts {
  uint64_t strings, functions, locations, frames;
} counts;


static void count_field (pprof_file *file, const pprof_field *field,
                         counts *n) {
  file->nfields++;
  if (field->wire != PPROF_BYTES)
    return;
  switch (field->number) {
    case PPROF_SAMPLE:
      file->nsamples++;
      file->nlabels += count_fields(field->bytes, 3);
      break;
    case PPROF_LOCATION: {
      const uint64_t lines = count_fields(field->bytes, 4);
      n->locations++;
      n->frames += lines == 0 ? 1 : lines;
      break;
    }
    case PPROF_FUNCTION: n->functions++; break;
    case PPROF_STRING: n->strings++; break;
    default: break;
  }
}


/* Add a field other than a sample to the ranges. Fields of one number have
   ranges of their own as long as there are few ranges. */
static void add_to_ranges (pprof_file *file, const pprof_field *field,
                           size_t end) {
  const uint32_t bit = PPROF_BIT(field->number);
  pprof_range *const last =
      &file->ranges[file->nranges == 0 ? 0 : file->nranges - 1];
  const bool is_next =
      last->to == field->at &&
      (last->fields == bit || file->nranges > PPROF_MAX_RANGES / 2);
  if (is_next || file->nranges == PPROF_MAX_RANGES) {
    last->to = end;
    last->fields |= bit;
  }
  else
    file->ranges[file->nranges++] = (pprof_range){field->at, end, bit};
}


/* Count all fields, and record the ranges of those other than samples. */
static pf_status count_all (pf_trace *trace, pprof_file *file, counts *n,
                            pf_error *error) {
  pf_cursor c = pf_cursor_over(file->bytes, false);
  pprof_field field;
  while (pprof_next_field(&c, &field)) {
    count_field(file, &field, n);
    if (field.number != PPROF_SAMPLE)
      add_to_ranges(file, &field, c.at);
  }
  file->readable = (pf_bytes){file->bytes.at, c.at};
  if (c.at == file->bytes.size)
    return PF_OK;
  return pf_warn(trace, PF_DAMAGE, "pprof-truncated", PF_ETRUNCATED, c.at,
                 error, "no field can be read from here on, %zu bytes are left",
                 pf_left(&c));
}


pf_status pprof_string (pf_trace *trace, uint64_t number, uint64_t offset,
                        pf_bytes *text, pf_error *error) {
  const pprof_file *const file = trace->state;
  *text = (pf_bytes){NULL, 0};
  if (number < file->nstrings) {
    *text = file->strings[number];
    return PF_OK;
  }
  return pf_warn(trace, PF_DAMAGE, "pprof-no-string", PF_EFORMAT, offset, error,
                 "string %llu does not exist, there are %u",
                 (unsigned long long)number, file->nstrings);
}


pf_status pprof_check_end (pf_trace *trace, bool is_end, uint64_t offset,
                           pf_error *error) {
  if (is_end)
    return PF_OK;
  return pf_warn(trace, PF_DAMAGE, "pprof-bad-field", PF_EFORMAT, offset, error,
                 "a field or number in the message cannot be read");
}


static pf_status name_of (pf_trace *trace, uint64_t number, uint64_t offset,
                          uint32_t *name, pf_error *error) {
  pf_bytes text;
  const pf_status status = pprof_string(trace, number, offset, &text, error);
  if (status != PF_OK)
    return status;
  *name = pf_intern(trace->dictionary, text);
  return *name == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


pf_status pprof_name_or_none (pf_trace *trace, uint64_t number, uint64_t offset,
                              uint32_t *name, pf_error *error) {
  *name = PF_NO_NAME;
  return number == 0 ? PF_OK : name_of(trace, number, offset, name, error);
}


static pf_status find_strings (pf_trace *trace, pprof_file *file,
                               pf_error *error) {
  pprof_meta_cursor meta = {.wanted = PPROF_BIT(PPROF_STRING)};
  pprof_field field;
  while (pprof_next_meta(file, &meta, &field))
    if (field.number == PPROF_STRING && field.wire == PPROF_BYTES)
      file->strings[file->nstrings++] = field.bytes;
  if (file->nstrings > 0 && file->strings[0].size > 0)
    return pf_warn(trace, PF_DAMAGE, "pprof-first-string", PF_EFORMAT,
                   (uint64_t)(file->strings[0].at - file->bytes.at), error,
                   "the first string is not empty");
  return PF_OK;
}


/* Give the number `count` to the id of a message, and increment `count`. A
   warning if the id is 0 or is used already: the message is left out. */
static pf_status add_id (pf_trace *trace, pprof_ids *ids, uint64_t id,
                         const char *what, const pprof_field *message,
                         uint32_t *count, pf_error *error) {
  uint32_t number;
  if (id == 0 || pprof_find_id(ids, id) != PF_NO_ID)
    return pf_warn(trace, PF_DAMAGE, "pprof-bad-id", PF_EFORMAT, message->at,
                   error, "a %s has the id %llu, which is %s", what,
                   (unsigned long long)id, id == 0 ? "none" : "taken");
  if (id == (uint64_t)*count + 1 && *count == ids->nfirst)
    ids->nfirst++;
  else if (pf_id_table_words(&ids->others, &id, 1, &number) != PF_OK)
    return pf_no_memory(error);
  ++*count;
  return PF_OK;
}


static pf_status add_function (pf_trace *trace, pprof_file *file,
                               const pprof_field *message, pf_error *error) {
  pprof_function_message m;
  const bool is_end = pprof_read_message(message->bytes, &m, sizeof m);
  pprof_function *const f = &file->functions[file->nfunctions];
  *f = (pprof_function){.start_line = m.start_line};
  pf_status status = pprof_check_end(trace, is_end, message->at, error);
  if (status == PF_OK)
    status = name_of(trace, m.name, message->at, &f->name, error);
  if (status == PF_OK)
    status = pprof_name_or_none(trace, m.file, message->at, &f->file, error);
  if (status == PF_OK)
    status = add_id(trace, &file->function_ids, m.id, "function", message,
                    &file->nfunctions, error);
  return status;
}


static bool is_taken (const pprof_file *file, const char *name) {
  for (size_t i = 0; i < file->ntypes; i++)
    if (strcmp(file->types[i].column, name) == 0)
      return true;
  return strcmp(name, "stack") == 0 || name[0] == '\0';
}


/* Derive the name of a column from that of the type: other bytes than letters
   and digits become "_". A name in use gets the type's number as suffix. */
static void name_column (const pprof_file *file, pprof_type *type,
                         pf_bytes name) {
  const size_t capacity = sizeof type->column - 8;
  const size_t size = name.size < capacity ? name.size : capacity;
  /* cppcheck-suppress knownConditionTrueFalse ; the name may be empty */
  for (size_t i = 0; i < size; i++) {
    const uint8_t byte = name.at[i];
    const bool plain = (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9');
    type->column[i] = plain ? (char)byte : '_';
  }
  type->column[size] = '\0';
  for (size_t n = file->ntypes + 1; is_taken(file, type->column); n++)
    snprintf(type->column + size, 8, "_%u", (unsigned)(n % 100000));
}


static pf_status add_type (pf_trace *trace, pprof_file *file,
                           const pprof_field *message, pf_error *error) {
  pprof_value_type stated;
  pf_bytes name, unit;
  const bool is_end =
      pprof_read_message(message->bytes, &stated, sizeof stated);
  if (++file->nstated_types > PPROF_MAX_TYPES + 1) /* reported before */
    return PF_OK;
  if (file->nstated_types > PPROF_MAX_TYPES)
    return pf_warn(trace, PF_DAMAGE, "pprof-many-types", PF_EUNSUPPORTED,
                   message->at, error, "only %d sample types are read",
                   PPROF_MAX_TYPES);
  pf_status status = pprof_check_end(trace, is_end, message->at, error);
  if (status == PF_OK)
    status = pprof_string(trace, stated.type, message->at, &name, error);
  if (status == PF_OK)
    status = pprof_string(trace, stated.unit, message->at, &unit, error);
  if (status != PF_OK)
    return status;
  if (!pf_grow(&file->types, &file->type_capacity, file->ntypes + 1))
    return pf_no_memory(error);
  pprof_type *const type = &file->types[file->ntypes];
  const pprof_unit size = pprof_unit_of(unit);
  const bool is_time = size.family == PPROF_TIME_FAMILY;
  type->scale = is_time ? size.size : 1;
  file->has_scaled_types |= type->scale != 1;
  type->name = pf_intern(trace->dictionary, name);
  type->unit = is_time ? pf_intern_text(trace->dictionary, "ns")
                       : pf_intern(trace->dictionary, unit);
  if (type->name == PF_NO_NAME || type->unit == PF_NO_NAME)
    return pf_no_memory(error);
  name_column(file, type, name);
  const pf_bytes shown = pf_name(trace->dictionary, type->unit);
  snprintf(type->help, sizeof type->help, "value of the sample, in %.*s",
           PF_SHOWN(shown, MAX_UNIT));
  file->ntypes++;
  return PF_OK;
}


/* Add the frame of an area whose name was interned. */
static pf_status add_frame (pf_trace *trace, pprof_file *file,
                            const pf_area *area, pf_error *error) {
  const uint32_t frame = pf_area_add(trace->dictionary, area);
  if (frame == PF_NO_AREA || area->name == PF_NO_NAME)
    return pf_no_memory(error);
  file->frames[file->nframes++] = frame;
  return PF_OK;
}


static pf_status add_line (pf_trace *trace, pprof_file *file, pf_bytes message,
                           uint64_t offset, pf_error *error) {
  pprof_line stated;
  pf_area area = PF_AREA_NONE;
  const bool is_end = pprof_read_message(message, &stated, sizeof stated);
  pf_status status = pprof_check_end(trace, is_end, offset, error);
  const uint32_t number = pprof_find_id(&file->function_ids, stated.function);
  if (number != PF_NO_ID) {
    const pprof_function *const f = &file->functions[number];
    area.name = f->name;
    area.file = f->file;
    area.line = stated.line != 0 ? stated.line : f->start_line;
  }
  else {
    if (status == PF_OK)
      status = pf_warn(trace, PF_DAMAGE, "pprof-no-function", PF_EFORMAT,
                       offset, error, "there is no function %llu",
                       (unsigned long long)stated.function);
    area.name = pf_intern_text(trace->dictionary, "(unknown function)");
  }
  const pf_status added = add_frame(trace, file, &area, error);
  return added != PF_OK ? added : status;
}


/* Add the frame of a location without lines: its name is the address, unless
   the symbols of an executable have one. */
static pf_status add_address (pf_trace *trace, pprof_file *file,
                              uint64_t mapping, uint64_t address,
                              pf_error *error) {
  char text[24];
  pf_area area = PF_AREA_NONE;
  file->has_bare_locations = true;
  pprof_name_address(trace, file, mapping, address, &area);
  snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
  if (area.name == PF_NO_NAME)
    area.name = pf_intern_text(trace->dictionary, text);
  return add_frame(trace, file, &area, error);
}


/* Add a location with a frame for each line, or else one for its address. */
static pf_status add_location (pf_trace *trace, pprof_file *file,
                               const pprof_field *message, pf_error *error) {
  pf_cursor c = pf_cursor_over(message->bytes, false);
  pprof_field field;
  pprof_location *const l = &file->locations[file->nlocations];
  uint64_t id = 0, mapping = 0, address = 0;
  pf_status status = PF_OK;
  *l = (pprof_location){.message = message->bytes, .first = file->nframes};
  while (status == PF_OK && pprof_next_field(&c, &field)) {
    if (field.number == 1)
      id = field.value;
    else if (field.number == 2)
      mapping = field.value;
    else if (field.number == 3)
      address = field.value;
    else if (field.number != 4 || field.wire != PPROF_BYTES)
      continue;
    else if (file->nframes - l->first < MAX_LINES)
      status = add_line(trace, file, field.bytes, message->at, error);
    else
      status = pf_warn(
          trace, PF_DAMAGE, "pprof-many-lines", PF_ELIMIT, message->at, error,
          "at most %d lines of a location expected: the others are left out",
          MAX_LINES);
  }
  if (status == PF_OK)
    status = pprof_check_end(trace, pf_left(&c) == 0, message->at, error);
  file->naddresses += address != 0 && file->nframes > l->first;
  if (status == PF_OK && file->nframes == l->first)
    status = add_address(trace, file, mapping, address, error);
  l->count = file->nframes - l->first;
  if (status == PF_OK)
    status = add_id(trace, &file->location_ids, id, "location", message,
                    &file->nlocations, error);
  return status;
}


/* Call `add` for each message with a field number. */
static pf_status fill (pf_trace *trace, pprof_file *file, uint64_t number,
                       pf_status (*add)(pf_trace *, pprof_file *,
                                        const pprof_field *, pf_error *),
                       pf_error *error) {
  pprof_meta_cursor meta = {.wanted = PPROF_BIT(number)};
  pprof_field field;
  pf_status status = PF_OK;
  while (status == PF_OK && pprof_next_meta(file, &meta, &field))
    if (field.number == number && field.wire == PPROF_BYTES)
      status = add(trace, file, &field, error);
  return status;
}


pf_status pprof_index (pf_trace *trace, pprof_file *file, pf_error *error) {
  counts n = {0, 0, 0, 0};
  pf_id_table_init(&file->function_ids.others);
  pf_id_table_init(&file->location_ids.others);
  pf_status status = count_all(trace, file, &n, error);
  if (status != PF_OK)
    return status;
  if (n.strings >= UINT32_MAX || n.functions >= UINT32_MAX ||
      n.frames >= UINT32_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "more than 2^32 - 2 strings, functions or frames");
  file->strings = calloc((size_t)n.strings + 1, sizeof *file->strings);
  file->functions = calloc((size_t)n.functions + 1, sizeof *file->functions);
  file->locations = calloc((size_t)n.locations + 1, sizeof *file->locations);
  file->frames = calloc((size_t)n.frames + 1, sizeof *file->frames);
  if (file->strings == NULL || file->functions == NULL ||
      file->locations == NULL || file->frames == NULL)
    return pf_no_memory(error);
  status = find_strings(trace, file, error);
  if (status == PF_OK)
    status = fill(trace, file, PPROF_SAMPLE_TYPE, add_type, error);
  if (status == PF_OK)
    status = fill(trace, file, PPROF_FUNCTION, add_function, error);
  if (status == PF_OK && trace->symbols != NULL) {
    status = fill(trace, file, PPROF_MAPPING, pprof_add_mapping, error);
    if (status == PF_OK && pf_symbols_read_lines(trace->symbols) != PF_OK)
      status = pf_no_memory(error);
  }
  if (status == PF_OK)
    status = fill(trace, file, PPROF_LOCATION, add_location, error);
  if (status == PF_OK)
    status = pprof_note_names(trace, file, error);
  return status;
}


void pprof_index_close (pprof_file *file) {
  free(file->strings);
  free(file->types);
  free(file->fields);
  free(file->functions);
  free(file->locations);
  free(file->frames);
  free(file->mappings);
  pf_id_table_free(&file->function_ids.others);
  pf_id_table_free(&file->location_ids.others);
}
