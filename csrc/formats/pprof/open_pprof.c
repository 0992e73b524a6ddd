/*
** open_pprof.c - the format pprof: score, info and tables. lua/trace_part.c and
** checked_reader.c call it through pf_format_pprof; the trace owns the
** pprof_file; `close` frees its arrays.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/pprof/pprof.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))


/* Returns the wire type of a field of Profile, 8 for unknown fields. */
static unsigned wire_of (uint64_t number) {
  static const uint8_t wires[] = {8, 2, 2, 2, 2, 2, 2, 0,
                                  0, 0, 0, 2, 0, 0, 0, 0};
  return number < COUNT(wires) ? wires[number] : 8;
}


/* Properties of the first fields of a file, for detection. */
typedef struct head_stats {
  size_t types, parts, samples;
  size_t misfits;       /* samples with another number of values */
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
    pprof_numbers numbers = pprof_numbers_of(&field);
    for (uint64_t value; pprof_next_number(&numbers, &value);)
      count++;
  }
  return pf_left(&c) == 0 ? count : SIZE_MAX;
}


/* Add a field. Returns false if a profile cannot contain it: its wire type is
   wrong (comments may be packed), or its type is no ValueType. */
static bool scan_field (head_stats *s, const pprof_field *field) {
  if (field->wire != wire_of(field->number) &&
      !(field->number == PPROF_COMMENT && field->wire == PPROF_BYTES))
    return false;
  s->parts++;
  if (field->number == PPROF_SAMPLE) {
    s->samples++;
    s->misfits += values_of(field->bytes) != s->types;
  }
  else if (field->number == PPROF_STRING) {
    s->begins_empty |= s->strings == 0 && field->bytes.size == 0;
    s->strings++;
  }
  else if (field->number == PPROF_SAMPLE_TYPE) {
    pf_cursor c = pf_cursor_over(field->bytes, false);
    pprof_field name;
    for (s->types++; pprof_next_field(&c, &name);) {
      if (name.number > 2 || name.wire != PPROF_VARINT)
        return false;
      if (name.value >= s->min_strings) /* must be in the table */
        s->min_strings = name.value + 1;
    }
    return pf_left(&c) == 0;
  }
  return true;
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
  uint64_t tag;
  pf_cursor next = c; /* a field of Profile may begin at the cut */
  s.parts +=
      is_cut && pf_take_varint(&next, &tag) && wire_of(tag >> 3) == (tag & 7);
  const bool ends_well = pf_left(&c) == 0;
  if (s.types == 0 || s.misfits * 2 > s.samples ||
      (!is_cut && ends_well && s.strings < s.min_strings))
    return 0;
  if (s.samples == 0 && !s.begins_empty && !(is_cut && s.parts > s.types))
    return 0;
  return (ends_well || is_cut) && (s.begins_empty || s.strings == 0) ? 80 : 40;
}


static pf_status set_text (pf_trace *trace, const char *name, uint64_t number,
                           uint64_t offset, pf_error *error) {
  pf_bytes text;
  const pf_status status = pprof_string(trace, number, offset, &text, error);
  if (status == PF_OK && text.size > 0)
    pf_info_more(trace, name, text);
  return status;
}


static pf_status get_strings (pf_trace *trace, const pprof_field *message,
                              uint64_t first, uint64_t second, pf_bytes *texts,
                              pf_error *error) {
  const pf_status status =
      pprof_string(trace, first, message->at, &texts[0], error);
  return status == PF_OK
             ? pprof_string(trace, second, message->at, &texts[1], error)
             : status;
}


/* Set two info entries from a ValueType: its type and its unit. */
static pf_status set_type (pf_trace *trace, const pprof_field *message,
                           const char *name, const char *unit,
                           pf_error *error) {
  pf_bytes texts[2];
  pprof_value_type type;
  const bool is_end = pprof_read_message(message->bytes, &type, sizeof type);
  pf_status status = pprof_check_end(trace, is_end, message->at, error);
  if (status == PF_OK)
    status = get_strings(trace, message, type.type, type.unit, texts, error);
  if (status != PF_OK)
    return status;
  pf_info_more(trace, name, texts[0]);
  pf_info_more(trace, unit, texts[1]);
  return PF_OK;
}


/* Set an info entry from a mapping: "0x400000-0x4c7000 0x0 /bin/cat 9f1c",
   without unknown parts. */
static pf_status set_mapping (pf_trace *trace, const pprof_field *message,
                              pf_error *error) {
  pprof_mapping m;
  pf_bytes texts[2];
  char text[512];
  const bool is_end = pprof_read_message(message->bytes, &m, sizeof m);
  pf_status status = pprof_check_end(trace, is_end, message->at, error);
  if (status == PF_OK)
    status = get_strings(trace, message, m.file, m.build_id, texts, error);
  if (status != PF_OK)
    return status;
  const int size =
      snprintf(text, sizeof text, "0x%llx-0x%llx 0x%llx%s%.*s%s%.*s",
               (unsigned long long)m.start, (unsigned long long)m.limit,
               (unsigned long long)m.offset, texts[0].size > 0 ? " " : "",
               PF_SHOWN(texts[0], 256), texts[1].size > 0 ? " " : "",
               PF_SHOWN(texts[1], 128));
  pf_info_more(trace, "mapping",
               (pf_bytes){(const uint8_t *)text, (size_t)size});
  return PF_OK;
}


static pf_status set_info_field (pf_trace *trace, const pprof_field *field,
                                 pf_error *error) {
  static const struct {
    const char *name;
    bool is_text; /* the number of a string */
  } entries[] = {
      [PPROF_DROP_FRAMES] = {"drop_frames", true},
      [PPROF_KEEP_FRAMES] = {"keep_frames", true},
      [PPROF_TIME_NANOS] = {"time_nanos", false},
      [PPROF_DURATION_NANOS] = {"duration_nanos", false},
      [PPROF_PERIOD] = {"period", false},
      [PPROF_DEFAULT_TYPE] = {"default_sample_type", true},
      [PPROF_DOC_URL] = {"doc_url", true},
  };
  if (field->number == PPROF_COMMENT) {
    pprof_numbers numbers = pprof_numbers_of(field);
    pf_status status = PF_OK;
    for (uint64_t n; status == PF_OK && pprof_next_number(&numbers, &n);)
      status = set_text(trace, "comment", n, field->at, error);
    return status == PF_OK ? pprof_check_end(trace, pprof_numbers_end(&numbers),
                                             field->at, error)
                           : status;
  }
  if (field->wire == PPROF_BYTES && field->number == PPROF_SAMPLE_TYPE)
    return set_type(trace, field, "sample_type", "sample_unit", error);
  if (field->wire == PPROF_BYTES && field->number == PPROF_MAPPING)
    return set_mapping(trace, field, error);
  if (field->wire == PPROF_BYTES && field->number == PPROF_PERIOD_TYPE)
    return set_type(trace, field, "period_type", "period_unit", error);
  if (field->wire != PPROF_VARINT || field->number >= COUNT(entries) ||
      entries[field->number].name == NULL)
    return PF_OK;
  const char *const name = entries[field->number].name;
  if (entries[field->number].is_text)
    return set_text(trace, name, field->value, field->at, error);
  pf_info_int(trace, name, (int64_t)field->value);
  return PF_OK;
}


static pf_status set_info (pf_trace *trace, const pprof_file *file,
                           pf_error *error) {
  pprof_meta_cursor meta = {.wanted = PPROF_HEADER};
  pprof_field field;
  size_t types = 0;
  pf_status status = PF_OK;
  pf_info_int(trace, "records", (int64_t)file->nsamples);
  pf_info_int(trace, "sample_types", (int64_t)file->ntypes);
  pf_info_int(trace, "locations", file->nlocations);
  pf_info_int(trace, "functions", file->nfunctions);
  if (file->naddresses > 0)
    pf_info_int(trace, "addresses", file->naddresses);
  while (status == PF_OK && pprof_next_meta(file, &meta, &field)) {
    const bool is_type = field.wire == PPROF_BYTES && field.number == 1;
    types += is_type;
    if (!is_type || types <= file->ntypes) /* a warning reports the others */
      status = set_info_field(trace, &field, error);
  }
  return status;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  pprof_file *const file = trace->state;
  file->bytes = trace->sources[0].bytes;
  pf_status status = pprof_index(trace, file, error);
  if (status == PF_OK && file->nfields == 0)
    status =
        pf_fail(error, PF_EFORMAT, 0, "no field of a profile can be read here");
  if (status == PF_OK)
    status = set_info(trace, file, error);
  if (status != PF_OK)
    return status;
  file->fields = calloc(file->ntypes + 1, sizeof *file->fields);
  if (file->fields == NULL)
    return pf_no_memory(error);
  file->fields[0] = (pf_field){"stack", PF_STACK, "call stack of the sample"};
  for (size_t t = 0; t < file->ntypes; t++)
    file->fields[t + 1] =
        (pf_field){file->types[t].column, PF_INT, file->types[t].help};
  const bool has_rest = file->readable.size < file->bytes.size;
  file->tables[0] = (pf_table){"samples", file->fields, file->ntypes + 1,
                               (int64_t)file->nsamples, pprof_open_samples};
  file->tables[1] = (pf_table){"weights", pprof_weights_fields, WEIGHTS_COLUMNS,
                               -1, pprof_open_samples};
  file->tables[2] = pprof_labels_table;
  file->tables[2].rows = (int64_t)file->nlabels;
  file->tables[3] = pprof_raw_table;
  file->tables[3].rows = (int64_t)file->nfields + has_rest;
  trace->tables = file->tables;
  trace->ntables = COUNT(file->tables);
  return PF_OK;
}


static void close_trace (pf_trace *trace) {
  pprof_index_close(trace->state);
}


static const pf_table written[] = {
    {"weights", pprof_weights_fields, WEIGHTS_COLUMNS, -1, NULL},
};

const pf_format pf_format_pprof = {.name = "pprof",
                                   .score = score,
                                   .open = open_trace,
                                   .close = close_trace,
                                   .state_size = sizeof(pprof_file),
                                   .written = written,
                                   .nwritten = COUNT(written),
                                   .encoder = pprof_encoder};
