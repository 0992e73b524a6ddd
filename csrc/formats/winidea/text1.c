/*
** text1.c - scans the sections of a Text1 file.
**
** A section is a header line and rows. The header states the format:
**
**   * INFO %TOTAL_TIME%
**   * CONTEXTS %NAME%,%HANDLE%
**   * HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%     also (Data), (AUX)
**   * STATISTICS(Functions) CONTEXT(a task) %HANDLE%,%VALUE%,%COUNT%,%T.NET%
**   * TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%
**
** From the vendor's page on the Text1 export. Lines end with LF or CR LF, and a
** byte order mark may come first. Any section may be missing. Nothing is
** quoted: a row may begin with `* ` if it begins with the text of a source
** line, so a line is a header only if it parses as one.
*/


#include "formats/winidea/text1.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"


const char *const winidea_format_names[WINIDEA_SECTIONS] = {
    "info_format", "contexts_format", "handle_format", "statistics_format",
    "timeline_format"};


pf_bytes winidea_line (pf_bytes text, uint64_t at, uint64_t *next) {
  const uint8_t *const start = text.at + at;
  const size_t left = text.size - (size_t)at;
  const uint8_t *const end = left == 0 ? NULL : memchr(start, '\n', left);
  size_t size = end == NULL ? left : (size_t)(end - start);
  *next = at + size + (end != NULL);
  while (size > 0 && start[size - 1] == '\r')
    size--;
  return (pf_bytes){start, size};
}


/* Parses a header into a section. The first format of a kind becomes a fact;
   an invalid one causes a warning. */
static pf_status read_header (pf_trace *trace, pf_bytes line, uint64_t offset,
                              winidea_section *section, pf_error *error) {
  winidea_file *const file = trace->state;
  pf_bytes context;
  section->header = offset;
  section->context = PF_NO_NAME;
  section->is_readable = winidea_split_header(
      &file->headers, line, &section->kind, &context, &section->format);
  if (context.at != NULL) {
    section->context = winidea_context_of(trace, context);
    if (section->context == PF_NO_NAME)
      return pf_no_memory(error);
  }
  if (section->is_readable) {
    if (!file->has_format[section->kind])
      pf_info_text(trace, winidea_format_names[section->kind], section->format);
    file->has_format[section->kind] = true;
    return PF_OK;
  }
  const pf_bytes found = section->format;
  return pf_warn(
      trace, PF_DAMAGE, "winidea-bad-header", PF_EFORMAT, offset, error,
      "a format of at most %d macros with HANDLE (of a timeline also "
      "EVENT and TIME) expected, found %.*s",
      WINIDEA_MAX_MACROS, (int)(found.size < 60 ? found.size : 60),
      (const char *)(found.size == 0 ? line.at : found.at));
}


/* As find_header where not all headers begin with a star. */
static uint64_t find_changed_header (const winidea_headers *headers,
                                     pf_bytes text, uint64_t at) {
  for (uint64_t next; at < text.size; at = next)
    if (winidea_header_kind(headers, winidea_line(text, at, &next)) !=
        WINIDEA_SECTIONS)
      return at;
  return text.size;
}


/* The position of the next header from `at` on, or the size of the text. */
static uint64_t find_header (const winidea_headers *headers, pf_bytes text,
                             uint64_t at) {
  if (winidea_may_be_changed(headers))
    return find_changed_header(headers, text, at);
  while (at < text.size) {
    const uint8_t *const star =
        memchr(text.at + at, '*', text.size - (size_t)at);
    if (star == NULL)
      break;
    at = (uint64_t)(star - text.at);
    const bool starts = at == 0 || star[-1] == '\n' ||
                        (at == 3 && text.at[0] == 0xef); /* byte order mark */
    uint64_t next;
    if (starts && winidea_header_kind(headers, winidea_line(text, at, &next)) !=
                      WINIDEA_SECTIONS)
      return at;
    at++;
  }
  return text.size;
}


/* Ends the last section at `end` and parses its rows. With `is_open` the
   section continues, and only its rows so far are parsed. */
static pf_status end_section (pf_trace *trace, uint64_t end, bool is_open,
                              pf_error *error) {
  winidea_file *const file = trace->state;
  if (file->nsections == 0)
    return PF_OK;
  winidea_section *const section = &file->sections[file->nsections - 1];
  if (section->end != WINIDEA_OPEN)
    return PF_OK;
  section->end = end;
  const pf_status status = winidea_parse_section(trace, section, error);
  section->parsed = end;
  if (is_open)
    section->end = WINIDEA_OPEN;
  return status;
}


/* Finds sections up to and including the next TIMELINE. PF_OK, PF_END at the
   end of the text (in a live trace, for now), or a failure. */
static pf_status find_sections (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  const pf_bytes text = winidea_complete_lines(file, file->text->bytes);
  while (!file->is_scanned) {
    const uint64_t at = file->scanned < text.size
                            ? find_header(&file->headers, text, file->scanned)
                            : text.size;
    const bool is_over = at == text.size;
    pf_status status = end_section(trace, at, is_over && file->is_live, error);
    file->is_scanned = is_over && !file->is_live;
    if (is_over && file->scanned < at)
      file->scanned = at;
    if (status < 0 || is_over)
      return status < 0 ? status : PF_END;
    if (!pf_grow(&file->sections, &file->capacity, file->nsections + 1))
      return pf_no_memory(error);
    winidea_section *const section = &file->sections[file->nsections];
    const pf_bytes line = winidea_line(file->text->bytes, at, &section->rows);
    status = read_header(trace, line, at, section, error);
    section->end = WINIDEA_OPEN;
    section->parsed = section->rows;
    file->scanned = section->rows;
    if (status < 0)
      return status;
    file->nsections++;
    if (section->kind == WINIDEA_TIMELINE)
      return PF_OK;
  }
  return PF_END;
}


pf_status winidea_scan (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  const pf_status found = find_sections(trace, error);
  const pf_status status =
      found < 0 ? found : winidea_finish_areas(trace, error);
  if (found == PF_OK) /* at a TIMELINE */
    file->areas.before = WINIDEA_NO_PARENTS;
  return status < 0 ? status : found;
}


pf_status winidea_scan_all (pf_trace *trace, pf_error *error) {
  const winidea_file *const file = trace->state;
  pf_status status = file->is_scanned ? PF_END : PF_OK;
  while (status == PF_OK)
    status = winidea_scan(trace, error);
  return status < 0 ? status : PF_OK;
}


void winidea_scan_from (winidea_file *file, size_t section, uint64_t end) {
  pthread_mutex_lock(&file->mutex);
  if (section + 1 == file->nsections && file->scanned < end)
    file->scanned = end;
  pthread_mutex_unlock(&file->mutex);
}


pf_status winidea_next_section (pf_trace *trace, winidea_section_kind kind,
                                winidea_section_cursor *cursor,
                                pf_error *error) {
  winidea_file *const file = trace->state;
  pf_status status = PF_OK;
  bool found;
  pthread_mutex_lock(&file->mutex);
  for (;;) {
    while (cursor->next < file->nsections &&
           file->sections[cursor->next].kind != kind)
      cursor->next++;
    found = cursor->next < file->nsections;
    if (found || file->is_scanned || status != PF_OK)
      break;
    status = winidea_scan(trace, error);
  }
  if (found)
    cursor->now = file->sections[cursor->next++];
  pthread_mutex_unlock(&file->mutex);
  if (found && cursor->now.is_readable)
    (void)winidea_compile(&cursor->format, cursor->now.format);
  if (status < 0)
    return status;
  return found ? PF_OK : PF_END;
}


bool winidea_has_sections (const winidea_headers *headers, pf_bytes head) {
  return find_header(headers, head, 0) < head.size;
}


/* The score of a head whose first line is a header of these, which is one with
   a format. */
static int score_of (const winidea_headers *headers, pf_bytes head,
                     uint64_t start, int score) {
  uint64_t next;
  if (find_header(headers, head, start) != start)
    return 0;
  for (uint64_t at = start; at < head.size;
       at = find_header(headers, head, next)) {
    winidea_section_kind kind;
    pf_bytes context, format;
    if (winidea_split_header(headers, winidea_line(head, at, &next), &kind,
                             &context, &format))
      return score;
  }
  return 0;
}


int winidea_score_text (pf_bytes head) {
  static const winidea_headers usual = {.is_changed = false};
  static const winidea_headers changed = {.is_changed = true};
  uint64_t start = head.size >= 3 && head.at[0] == 0xef ? 3 : 0;
  while (start < head.size && memchr(" \t\r\n", head.at[start], 4) != NULL)
    start++;
  const int score = score_of(&usual, head, start, 95);
  return score > 0 ? score : score_of(&changed, head, start, 70);
}


winidea_base winidea_base_option (const pf_trace *trace, const char *name) {
  if (pf_option_is(trace, name, "10"))
    return WINIDEA_DECIMAL;
  return pf_option_is(trace, name, "16") ? WINIDEA_HEXADECIMAL
                                         : WINIDEA_BASE_AUTO;
}


pf_status winidea_ambiguous_row (pf_trace *trace, uint64_t offset, pf_bytes row,
                                 pf_error *error) {
  return pf_warn(trace, PF_NOTE, "winidea-ambiguous-row", PF_EFORMAT, offset,
                 error,
                 "adjacent texts can be split in more than one way: %.*s",
                 PF_SHOWN(row, 80));
}


pf_status winidea_bad_row (pf_trace *trace, uint64_t offset, pf_bytes row,
                           winidea_section_kind kind, pf_error *error) {
  static const char *const expected[] = {
      [WINIDEA_INFO] = "a fact as the header says",
      [WINIDEA_CONTEXTS] = "a context as the header says",
      [WINIDEA_HANDLE] = "an area as the header says",
      [WINIDEA_STATISTICS] = "statistics as the header says",
      [WINIDEA_TIMELINE] = "an event as the header says"};
  return pf_warn(trace, PF_DAMAGE, "winidea-bad-row", PF_EFORMAT, offset, error,
                 "%s expected, found %.*s", expected[kind], PF_SHOWN(row, 80));
}
