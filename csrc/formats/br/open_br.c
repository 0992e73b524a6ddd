/*
** open_br.c - the format br: line profiles of Business Rules! BASIC. The file
** has no header; opening pre-scans its first megabyte (prescan.c).
*/

#include <stdlib.h>

#include "formats/br/br.h"


/* State of the scan for the score. */
typedef struct scan {
  bool is_mapped[256]; /* by the low byte of the number */
  bool in_group, has_group;
  bool
      has_odd_name; /* the name of a module is empty or has control characters */
} scan;


/* Returns true if a record is allowed after those before it. */
static bool is_allowed (scan *s, const br_record *record) {
  switch (record->type) {
    case BR_MODULE:
      s->is_mapped[record->module & 0xff] = true;
      s->has_odd_name |= record->name.size == 0;
      for (size_t i = 0; i < record->name.size; i++)
        s->has_odd_name |=
            record->name.at[i] < 0x20 || record->name.at[i] == 0x7f;
      return true;
    case BR_LINE:
      if (s->in_group || !s->is_mapped[record->module & 0xff])
        return false;
      return s->in_group = true;
    case BR_END:
      if (!s->in_group)
        return false;
      s->in_group = false;
      return s->has_group = true;
    default: return s->in_group;
  }
}


/* There is no magic number: the file must be valid from the first byte on, map
   a module and contain a complete group of it. With odd names, as those of Lua
   chunks, it must be valid to the end of `head`. */
static int score (pf_bytes head, uint64_t size) {
  scan s = {.in_group = false};
  br_record record;
  uint64_t at = 0;
  if (head.size == 0 || head.at[0] != BR_MODULE)
    return 0;
  while (at < head.size) {
    const br_result found = br_record_at(head, at, &record);
    if (found == BR_TRUNCATED) /* at the end of `head` or of the file */
      return s.has_group && (!s.has_odd_name || size > head.size) ? 60 : 0;
    if (found == BR_INVALID || !is_allowed(&s, &record))
      return s.has_group && !s.has_odd_name ? 20 : 0;
    at += record.size;
  }
  if (!s.has_group)
    return 0;
  return size > head.size || !s.in_group ? 70 : 60;
}


/* Refuses a file whose first byte is not a record type. Warns if the length of
   the first name exceeds the file in big-endian order, but not in little-endian
   order. */
static pf_status check_start (pf_trace *trace, pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  br_record record;
  if (bytes.size == 0)
    return PF_OK;
  const br_result found = br_record_at(bytes, 0, &record);
  if (found == BR_INVALID)
    return pf_fail(error, PF_EFORMAT, 0,
                   "a record of type 1 or 3 to 9 expected, found %d",
                   bytes.at[0]);
  if (found != BR_TRUNCATED || record.type != BR_MODULE || bytes.size < 5 ||
      pf_load16(bytes.at + 3, false) > bytes.size - 5)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "br-little-endian", PF_EFORMAT, 3, error,
                 "the length of the first name is %u, or %u in little-endian "
                 "order, which would fit: numbers are read as big-endian",
                 pf_load16(bytes.at + 3, true), pf_load16(bytes.at + 3, false));
}


/* Opens the charset, which is zeroed, that option code_page names, and states
   it in a fact. The names of a recording are always UTF-8, so the option is
   ignored for them. PF_EUNSUPPORTED for an unknown code page. */
static pf_status open_charset (pf_charset *charset, pf_trace *trace,
                               pf_error *error) {
  pf_bytes name, recorder;
  if (!pf_option_text(trace, "code_page", &name))
    return PF_OK;
  const pf_status status = pf_charset_open_given(charset, name, error);
  if (status != PF_OK)
    return status;
  if (br_recorded_by(trace, &recorder))
    memset(charset, 0, sizeof *charset);
  if (charset->kind != PF_TEXT_AS_BYTES)
    pf_info_text(trace, "code_page", pf_bytes_of(charset->name));
  return PF_OK;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  br_file *const file = calloc(1, sizeof *file);
  trace->state = file;
  if (file == NULL)
    return pf_no_memory(error);
  memcpy(file->tables, br_tables, sizeof br_tables);
  trace->tables = file->tables;
  trace->ntables = BR_TABLES;
  pf_status status = check_start(trace, error);
  if (status == PF_OK)
    status = open_charset(&file->charset, trace, error);
  if (status == PF_OK)
    status = br_prescan(trace, &file->interp, &file->tables[0].rows, error);
  return status;
}


static void close_trace (pf_trace *trace) {
  free(trace->state);
  trace->state = NULL;
}


const pf_format pf_format_br = {
    .name = "br",
    .score = score,
    .open = open_trace,
    .close = close_trace,
    .written = br_tables,
    .nwritten = BR_WRITTEN,
    .encoder = br_encoder,
};
