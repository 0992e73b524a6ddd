/*
** header_pprof.c - attributes of a profile, and units.
*/

#include "formats/pprof/header_pprof.h"

#include <ctype.h>
#include <string.h>


/* Units are compared in lower case, without the s of longer names. */
#define MAX_UNIT_NAME 16 /* maximum bytes of a unit */

static const struct {
  const char *name;
  pprof_unit unit;
} units[] = {
    {"b", {PPROF_BYTES_FAMILY, 1}},
    {"byte", {PPROF_BYTES_FAMILY, 1}},
    {"kb", {PPROF_BYTES_FAMILY, 1 << 10}},
    {"kbyte", {PPROF_BYTES_FAMILY, 1 << 10}},
    {"kilobyte", {PPROF_BYTES_FAMILY, 1 << 10}},
    {"mb", {PPROF_BYTES_FAMILY, 1 << 20}},
    {"mbyte", {PPROF_BYTES_FAMILY, 1 << 20}},
    {"megabyte", {PPROF_BYTES_FAMILY, 1 << 20}},
    {"gb", {PPROF_BYTES_FAMILY, 1 << 30}},
    {"gbyte", {PPROF_BYTES_FAMILY, 1 << 30}},
    {"gigabyte", {PPROF_BYTES_FAMILY, 1 << 30}},
    {"tb", {PPROF_BYTES_FAMILY, (int64_t)1 << 40}},
    {"tbyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 40}},
    {"terabyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 40}},
    {"pb", {PPROF_BYTES_FAMILY, (int64_t)1 << 50}},
    {"pbyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 50}},
    {"petabyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 50}},
    {"ns", {PPROF_TIME_FAMILY, 1}},
    {"nanosecond", {PPROF_TIME_FAMILY, 1}},
    {"us", {PPROF_TIME_FAMILY, 1000}},
    {"microsecond", {PPROF_TIME_FAMILY, 1000}},
    {"ms", {PPROF_TIME_FAMILY, 1000000}},
    {"millisecond", {PPROF_TIME_FAMILY, 1000000}},
    {"s", {PPROF_TIME_FAMILY, 1000000000}},
    {"sec", {PPROF_TIME_FAMILY, 1000000000}},
    {"second", {PPROF_TIME_FAMILY, 1000000000}},
    {"hr", {PPROF_TIME_FAMILY, 3600000000000}},
    {"hour", {PPROF_TIME_FAMILY, 3600000000000}},
};


pprof_unit pprof_unit_of (pf_bytes name) {
  char text[MAX_UNIT_NAME + 1] = "";
  size_t size = name.size;
  if (size > 2 && (name.at[size - 1] == 's' || name.at[size - 1] == 'S'))
    size--;
  for (size_t i = 0; i < size && size <= MAX_UNIT_NAME; i++)
    text[i] = (char)tolower(name.at[i]);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(text, units[i].name) == 0)
      return units[i].unit;
  return (pprof_unit){PPROF_NO_FAMILY, 1};
}


void pprof_header_open (pprof_header *header) {
  *header = (pprof_header){.period_type = {PF_NO_NAME, PF_NO_NAME},
                           .default_type = PF_NO_NAME,
                           .doc_url = PF_NO_NAME,
                           .drop_frames = PF_NO_NAME,
                           .keep_frames = PF_NO_NAME};
  pf_id_table_init(&header->comments);
}


void pprof_header_close (pprof_header *header) {
  pf_id_table_free(&header->comments);
  pprof_header_open(header);
}


bool pprof_header_comment (pprof_header *header, uint32_t comment) {
  const uint64_t word = comment;
  uint32_t id;
  return pf_id_table_words(&header->comments, &word, 1, &id) == PF_OK;
}


/* Keep the longer period, in the finer of both units. */
static void merge_period (pprof_header *header, const pprof_header *more,
                          const pf_dictionary *d) {
  if (header->period_type.type == PF_NO_NAME) {
    header->period_type = more->period_type;
    header->period =
        more->period > header->period ? more->period : header->period;
    return;
  }
  const pprof_unit a =
      pprof_unit_of(pf_name(d, (uint32_t)header->period_type.unit));
  const pprof_unit b =
      pprof_unit_of(pf_name(d, (uint32_t)more->period_type.unit));
  const bool convert = a.family == b.family && a.family != PPROF_NO_FAMILY;
  int64_t period = more->period;
  if (convert && b.size < a.size) {
    header->period_type.unit = more->period_type.unit;
    if (__builtin_mul_overflow(header->period, a.size / b.size,
                               &header->period))
      header->period = INT64_MAX;
  }
  else if (convert && __builtin_mul_overflow(period, b.size / a.size, &period))
    period = INT64_MAX;
  header->period = period > header->period ? period : header->period;
}


static void keep_first (uint32_t *name, uint32_t more) {
  if (*name == PF_NO_NAME)
    *name = more;
}


bool pprof_header_merge (pprof_header *header, const pprof_header *more,
                         bool is_first, const pf_dictionary *dictionary) {
  bool ok = true;
  if (more->time_nanos != 0 &&
      (header->time_nanos == 0 || more->time_nanos < header->time_nanos))
    header->time_nanos = more->time_nanos;
  if (__builtin_add_overflow(header->duration_nanos, more->duration_nanos,
                             &header->duration_nanos))
    header->duration_nanos = INT64_MAX;
  merge_period(header, more, dictionary);
  keep_first(&header->default_type, more->default_type);
  keep_first(&header->doc_url, more->doc_url);
  if (is_first) {
    header->drop_frames = more->drop_frames;
    header->keep_frames = more->keep_frames;
  }
  for (size_t i = 0; ok && i < more->comments.count; i++)
    ok = pprof_header_comment(header, (uint32_t)more->comments.words[i]);
  return ok;
}


void pprof_put_header (pf_sink *sink, pprof_strings *strings,
                       const pprof_header *header) {
  pprof_put_number(sink, PPROF_DROP_FRAMES,
                   pprof_string_index(strings, header->drop_frames));
  pprof_put_number(sink, PPROF_KEEP_FRAMES,
                   pprof_string_index(strings, header->keep_frames));
  pprof_put_number(sink, PPROF_TIME_NANOS, (uint64_t)header->time_nanos);
  pprof_put_number(sink, PPROF_DURATION_NANOS,
                   (uint64_t)header->duration_nanos);
  if (header->period_type.type != PF_NO_NAME ||
      header->period_type.unit != PF_NO_NAME)
    pprof_put_record(sink, strings, PPROF_PERIOD_TYPE, &header->period_type);
  pprof_put_number(sink, PPROF_PERIOD, (uint64_t)header->period);
  for (size_t i = 0; i < header->comments.count; i++)
    pprof_put_number(
        sink, PPROF_COMMENT,
        pprof_string_index(strings, (uint32_t)header->comments.words[i]));
  pprof_put_number(sink, PPROF_DEFAULT_TYPE,
                   pprof_string_index(strings, header->default_type));
  pprof_put_number(sink, PPROF_DOC_URL,
                   pprof_string_index(strings, header->doc_url));
}
