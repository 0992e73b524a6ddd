/*
** open_pprof.c - the format pprof: score, info and tables.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pprof/pprof.h"

static const pf_field label_fields[] = {
    {"sample", PF_INT, "index of the sample, from 0"},
    {"key", PF_NAME, "key of the label"},
    {"text", PF_NAME, "value, if it is text"},
    {"number", PF_INT, "value, if it is a number"},
    {"unit", PF_NAME, "unit of the number"},
};

static const pf_field raw_fields[] = {
    {"offset", PF_INT, "offset in the decompressed file"},
    {"size", PF_INT, "bytes"},
    {"kind", PF_NAME, "sample, location, function, string, ... or rest"},
    {"value", PF_INT, "value of a number field"},
    {"bytes", PF_BYTES, "bytes of the field"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))


/* {====== Score ====== */

/* Returns the wire type of a field of Profile, 8 for unknown fields. */
static unsigned wire_of (uint64_t number) {
  static const uint8_t wires[] = {8, 2, 2, 2, 2, 2, 2, 0,
                                  0, 0, 0, 2, 0, 0, 0, 0};
  return number < COUNT(wires) ? wires[number] : 8;
}


/* Whether a message is a ValueType: fields 1 and 2, both varints. */
static bool is_value_type (pf_bytes message) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  while (pprof_next_field(&c, &field))
    if (field.number > 2 || field.wire != PPROF_VARINT)
      return false;
  return pf_left(&c) == 0;
}


/* Whether a field of Profile has the right wire type. Comments may be
   packed. */
static bool is_expected (const pprof_field *field) {
  return field->wire == wire_of(field->number) ||
         (field->number == 13 && field->wire == PPROF_BYTES);
}


/* Properties of the first fields of a file, for detection. */
typedef struct head_stats {
  size_t types, parts, samples;
  size_t misfits;       /* samples whose number of values is not that of the
                           types */
  size_t strings;       /* entries of the string table */
  bool begins_empty;    /* the first string is "", as the format requires */
  uint64_t min_strings; /* entries that the types refer to */
} head_stats;


/* Returns the number of values of a sample, SIZE_MAX if the message is not
   one. */
static size_t values_of (pf_bytes sample) {
  pf_cursor c = pf_cursor_over(sample, false);
  pprof_field field;
  size_t count = 0;
  while (pprof_next_field(&c, &field)) {
    const bool is_number = field.wire == PPROF_VARINT && field.number <= 2;
    if (field.number > 3 || !(is_number || field.wire == PPROF_BYTES))
      return SIZE_MAX;
    if (field.number != 2)
      continue;
    pf_cursor numbers = pprof_numbers(&field);
    uint64_t value;
    for (count += is_number; pprof_varint(&numbers, &value);)
      count++;
  }
  return pf_left(&c) == 0 ? count : SIZE_MAX;
}


/* Add a sample type, whose strings must be in the table. */
static void scan_type (head_stats *s, pf_bytes type) {
  pf_cursor c = pf_cursor_over(type, false);
  pprof_field field;
  s->types++;
  while (pprof_next_field(&c, &field))
    if (field.value >= s->min_strings)
      s->min_strings = field.value + 1;
}


/* Add a field. Returns false if a profile cannot contain it. */
static bool scan_field (head_stats *s, const pprof_field *field) {
  if (!is_expected(field))
    return false;
  s->parts++;
  switch (field->number) {
    case 1:
      if (!is_value_type(field->bytes))
        return false;
      scan_type(s, field->bytes);
      return true;
    case 2:
      s->samples++;
      s->misfits += values_of(field->bytes) != s->types;
      return true;
    case 6:
      s->begins_empty |= s->strings == 0 && field->bytes.size == 0;
      s->strings++;
      return true;
    default: return true;
  }
}


/* Whether a field of Profile begins at the cursor. */
static bool is_field_start (pf_cursor c) {
  uint64_t tag;
  return pprof_varint(&c, &tag) && wire_of(tag >> 3) == (tag & 7);
}


/* Other messages may use the same field numbers and wire types. So samples must
   have a value for each type, and the string table must begin with "" and
   contain the names of the types. */
static int score (pf_bytes head, uint64_t size) {
  pf_cursor c = pf_cursor_over(head, false);
  pprof_field field;
  head_stats s = {.types = 0};
  while (pprof_next_field(&c, &field))
    if (!scan_field(&s, &field))
      return 0;
  const bool is_cut = head.size < size;
  s.parts += is_cut && is_field_start(c);
  const bool ends_well = pf_left(&c) == 0;
  if (s.types == 0 || s.misfits * 2 > s.samples ||
      (!is_cut && ends_well && s.strings < s.min_strings))
    return 0;
  if (s.samples == 0 && !s.begins_empty && !(is_cut && s.parts > s.types))
    return 0;
  return (ends_well || is_cut) && (s.begins_empty || s.strings == 0) ? 80 : 40;
}

/* }====== */


/* {====== Info ====== */

static pf_status set_text (pf_trace *trace, const pprof_file *file,
                           const char *name, uint64_t number, uint64_t offset,
                           pf_error *error) {
  pf_bytes text;
  const pf_status status =
      pprof_string(trace, file, number, offset, &text, error);
  if (status == PF_OK && text.size > 0)
    pf_info_more(trace, name, text);
  return status;
}


/* Set the comments of one field, which may be packed. */
static pf_status set_comments (pf_trace *trace, const pprof_file *file,
                               const pprof_field *field, pf_error *error) {
  pf_cursor c = pprof_numbers(field);
  uint64_t number = field->value;
  pf_status status = PF_OK;
  while (status == PF_OK &&
         (field->wire != PPROF_BYTES || pprof_varint(&c, &number))) {
    status = set_text(trace, file, "comment", number, field->at, error);
    if (field->wire != PPROF_BYTES)
      break;
  }
  return status;
}


/* Set two info entries from a ValueType: its type and its unit. */
static pf_status set_type (pf_trace *trace, const pprof_file *file,
                           const pprof_field *message, const char *name,
                           const char *unit, pf_error *error) {
  pf_bytes strings[2];
  pprof_value_type type;
  pprof_read_value_type(message->bytes, &type);
  pf_status status =
      pprof_string(trace, file, type.type, message->at, &strings[0], error);
  if (status == PF_OK)
    status =
        pprof_string(trace, file, type.unit, message->at, &strings[1], error);
  if (status != PF_OK)
    return status;
  pf_info_more(trace, name, strings[0]);
  pf_info_more(trace, unit, strings[1]);
  return PF_OK;
}


/* Set an info entry from a mapping: "0x400000-0x4c7000 0x0 /bin/cat 9f1c",
   without unknown parts. */
static pf_status set_mapping (pf_trace *trace, const pprof_file *file,
                              const pprof_field *message, pf_error *error) {
  pprof_mapping m;
  pf_bytes name, build_id;
  char text[512];
  pprof_read_mapping(message->bytes, &m);
  pf_status status =
      pprof_string(trace, file, m.file, message->at, &name, error);
  if (status == PF_OK)
    status =
        pprof_string(trace, file, m.build_id, message->at, &build_id, error);
  if (status != PF_OK)
    return status;
  const int size =
      snprintf(text, sizeof text, "0x%llx-0x%llx 0x%llx%s%.*s%s%.*s",
               (unsigned long long)m.start, (unsigned long long)m.limit,
               (unsigned long long)m.offset, name.size > 0 ? " " : "",
               (int)(name.size < 256 ? name.size : 256), (const char *)name.at,
               build_id.size > 0 ? " " : "",
               (int)(build_id.size < 128 ? build_id.size : 128),
               (const char *)build_id.at);
  pf_info_more(trace, "mapping",
               (pf_bytes){(const uint8_t *)text, (size_t)size});
  return PF_OK;
}


/* Set the info entry of one field. */
static pf_status set_info_field (pf_trace *trace, const pprof_file *file,
                                 const pprof_field *field, pf_error *error) {
  const int64_t value = (int64_t)field->value;
  if (field->number == 13)
    return set_comments(trace, file, field, error);
  if (field->wire == PPROF_BYTES && field->number == 1)
    return set_type(trace, file, field, "sample_type", "sample_unit", error);
  if (field->wire == PPROF_BYTES && field->number == 3)
    return set_mapping(trace, file, field, error);
  if (field->wire == PPROF_BYTES && field->number == 11)
    return set_type(trace, file, field, "period_type", "period_unit", error);
  switch (field->wire == PPROF_VARINT ? field->number : 0) {
    case 7:
      return set_text(trace, file, "drop_frames", field->value, field->at,
                      error);
    case 8:
      return set_text(trace, file, "keep_frames", field->value, field->at,
                      error);
    case 9: pf_info_int(trace, "time_nanos", value); break;
    case 10: pf_info_int(trace, "duration_nanos", value); break;
    case 12: pf_info_int(trace, "period", value); break;
    case 14:
      return set_text(trace, file, "default_sample_type", field->value,
                      field->at, error);
    case 15:
      return set_text(trace, file, "doc_url", field->value, field->at, error);
    default: break;
  }
  return PF_OK;
}


static pf_status set_info (pf_trace *trace, const pprof_file *file,
                           pf_error *error) {
  pprof_meta_cursor meta = {0};
  pprof_field field;
  size_t types = 0;
  pf_status status = PF_OK;
  pf_info_int(trace, "records", (int64_t)file->nsamples);
  pf_info_int(trace, "sample_types", (int64_t)file->ntypes);
  pf_info_int(trace, "locations", file->nlocations);
  pf_info_int(trace, "functions", file->nfunctions);
  while (status == PF_OK && pprof_next_meta(file, &meta, &field)) {
    const bool is_type = field.wire == PPROF_BYTES && field.number == 1;
    types += is_type;
    if (!is_type || types <= file->ntypes) /* a warning reports the others */
      status = set_info_field(trace, file, &field, error);
  }
  return status;
}

/* }====== */


/* {====== Tables ====== */

static void set_tables (pprof_file *file) {
  file->fields[0] = (pf_field){"stack", PF_STACK, "call stack of the sample"};
  for (size_t t = 0; t < file->ntypes; t++)
    file->fields[t + 1] =
        (pf_field){file->types[t].column, PF_INT, file->types[t].help};
  file->tables[0] = (pf_table){"samples", file->fields, file->ntypes + 1,
                               (int64_t)file->nsamples, pprof_open_samples};
  file->tables[1] = (pf_table){"weights", pprof_weights_fields, WEIGHTS_COLUMNS,
                               -1, pprof_open_weights};
  file->tables[2] = (pf_table){"labels", label_fields, COUNT(label_fields),
                               (int64_t)file->nlabels, pprof_open_labels};
  const bool has_rest = file->readable.size < file->bytes.size;
  file->tables[3] =
      (pf_table){"raw", raw_fields, COUNT(raw_fields),
                 (int64_t)file->nfields + has_rest, pprof_open_raw};
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  pprof_file *const file = calloc(1, sizeof *file);
  if (file == NULL)
    return pf_no_memory(error);
  trace->state = file;
  file->bytes = trace->sources[0].bytes;
  pf_status status = pprof_index(trace, file, error);
  if (status == PF_OK && file->nfields == 0)
    status =
        pf_fail(error, PF_EFORMAT, 0, "no field of a profile can be read here");
  if (status == PF_OK)
    status = set_info(trace, file, error);
  if (status != PF_OK)
    return status;
  set_tables(file);
  trace->tables = file->tables;
  trace->ntables = COUNT(file->tables);
  return PF_OK;
}


static void close_trace (pf_trace *trace) {
  pprof_index_close(trace->state);
  free(trace->state);
}


static const pf_table written[] = {
    {"weights", pprof_weights_fields, WEIGHTS_COLUMNS, -1, NULL},
};

const pf_format pf_format_pprof = {.name = "pprof",
                                   .score = score,
                                   .open = open_trace,
                                   .close = close_trace,
                                   .written = written,
                                   .nwritten = COUNT(written),
                                   .encoder = pprof_encoder};

/* }====== */
