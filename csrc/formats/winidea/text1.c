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

#define MAX_HEADER 8192 /* bytes of a header line */


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


/* The length of a keyword at the start of a text, or 0. */
static size_t match (pf_bytes text, const char *keyword) {
  size_t i = 0;
  for (; keyword[i] != '\0'; i++)
    if (i >= text.size || pf_upper(text.at[i]) != (uint8_t)keyword[i])
      return 0;
  return i;
}


static pf_bytes after (pf_bytes text, size_t size) {
  return (pf_bytes){text.at + size, text.size - size};
}


/* The kind of the keyword after `* `, and the text after it; WINIDEA_SECTIONS
   if there is none. */
static winidea_section_kind keyword_of (pf_bytes line, pf_bytes *rest) {
  static const char *const keywords[WINIDEA_SECTIONS] = {
      "INFO", "CONTEXTS", "HANDLE(", "STATISTICS(", "TIMELINE"};
  winidea_section_kind kind = WINIDEA_SECTIONS;
  if (line.size < 3 || line.at[0] != '*' || line.at[1] != ' ')
    return kind;
  const pf_bytes text = after(line, 2);
  for (int i = 0; i < WINIDEA_SECTIONS; i++) {
    const size_t size = match(text, keywords[i]);
    if (size == 0)
      continue;
    *rest = after(text, size);
    kind = (winidea_section_kind)i;
  }
  return kind;
}


winidea_section_kind winidea_header_kind (pf_bytes line) {
  pf_bytes rest;
  const winidea_section_kind kind = keyword_of(line, &rest);
  if (kind == WINIDEA_SECTIONS)
    return kind;
  /* a keyword without a bracket is followed by a blank or nothing */
  const bool is_ended = kind == WINIDEA_HANDLE || kind == WINIDEA_STATISTICS ||
                        rest.size == 0 || rest.at[0] == ' ' ||
                        rest.at[0] == '\t';
  const bool is_header =
      is_ended && (rest.size == 0 || memchr(rest.at, '%', rest.size) != NULL ||
                   rest.at[rest.size - 1] == ')');
  return is_header ? kind : WINIDEA_SECTIONS;
}


/* Splits off the context of a header ` CONTEXT(name) %...`. A name may contain
   brackets: it ends at the last bracket before a format with HANDLE, else at
   the last bracket. */
static pf_bytes split_context (pf_bytes *rest) {
  const pf_bytes text = winidea_trim(*rest);
  const size_t start = match(text, "CONTEXT(");
  if (start == 0)
    return (pf_bytes){NULL, 0};
  winidea_rowformat format;
  const uint8_t *handle = NULL; /* the last macro HANDLE */
  if (winidea_compile(&format, text))
    for (unsigned i = 0; i < format.count; i++)
      if (format.macros[i] == MACRO_HANDLE)
        handle = format.literals[i].at + format.literals[i].size;
  size_t end = 0;
  for (size_t i = text.size; i-- > start;) {
    if (text.at[i] != ')')
      continue;
    end = end == 0 ? i : end;
    if (handle != NULL && text.at + i < handle && text.at[i + 1] == ' ' &&
        text.at[i + 2] == '%') {
      end = i;
      break;
    }
  }
  if (end == 0)
    return (pf_bytes){NULL, 0};
  *rest = after(text, end + 1);
  return (pf_bytes){text.at + start, end - start};
}


bool winidea_has_required_macros (const winidea_rowformat *format,
                                  winidea_section_kind kind) {
  switch (kind) {
    case WINIDEA_INFO: return format->count > 0;
    case WINIDEA_TIMELINE:
      return winidea_has_macro(format, MACRO_HANDLE) &&
             winidea_has_macro(format, MACRO_EVENT) &&
             winidea_has_macro(format, MACRO_TIME);
    default: return winidea_has_macro(format, MACRO_HANDLE);
  }
}


/* Splits a header: its kind, context (`at` is NULL if it has none) and row
   format. Returns true if the format is valid for the kind. */
static bool split_header (pf_bytes line, winidea_section_kind *kind,
                          pf_bytes *context, pf_bytes *text) {
  winidea_rowformat format;
  pf_bytes rest = {NULL, 0};
  *kind = keyword_of(line, &rest);
  *context = (pf_bytes){NULL, 0};
  if ((*kind == WINIDEA_HANDLE || *kind == WINIDEA_STATISTICS) &&
      rest.size > 0) { /* skip the class between brackets */
    const uint8_t *const end = memchr(rest.at, ')', rest.size);
    rest = after(rest, end == NULL ? rest.size : (size_t)(end - rest.at) + 1);
  }
  if (*kind == WINIDEA_STATISTICS && line.size <= MAX_HEADER)
    *context = split_context(&rest);
  if (rest.size > 0 && rest.at[0] == ' ')
    rest = after(rest, 1);
  *text = rest;
  return line.size <= MAX_HEADER && winidea_compile(&format, rest) &&
         winidea_has_required_macros(&format, *kind);
}


/* Parses a header into a section. The first format of a kind becomes a fact;
   an invalid one causes a warning. */
static pf_status read_header (pf_trace *trace, pf_bytes line, uint64_t offset,
                              winidea_section *section, pf_error *error) {
  winidea_file *const file = trace->state;
  pf_bytes context;
  section->header = offset;
  section->context = PF_NO_NAME;
  section->is_readable =
      split_header(line, &section->kind, &context, &section->format);
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


/* The position of the next header from `at` on, or the size of the text. */
static uint64_t find_header (pf_bytes text, uint64_t at) {
  while (at < text.size) {
    const uint8_t *const star =
        memchr(text.at + at, '*', text.size - (size_t)at);
    if (star == NULL)
      break;
    at = (uint64_t)(star - text.at);
    const bool starts = at == 0 || star[-1] == '\n' ||
                        (at == 3 && text.at[0] == 0xef); /* byte order mark */
    uint64_t next;
    if (starts && winidea_is_header(winidea_line(text, at, &next)))
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
                            ? find_header(text, file->scanned)
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


bool winidea_has_sections (pf_bytes head) {
  return find_header(head, 0) < head.size;
}


/* The text must begin with a header and contain one with a valid format; lists
   with stars and texts about the format do not. */
int winidea_score_text (pf_bytes head) {
  const bool has_mark = head.size > 3 && head.at[0] == 0xef;
  uint64_t next = has_mark ? 3 : 0;
  while (next < head.size && memchr(" \t\r\n", head.at[next], 4) != NULL)
    next++;
  if (find_header(head, next) != next)
    return 0;
  for (uint64_t at = next; at < head.size; at = find_header(head, next)) {
    winidea_section_kind kind;
    pf_bytes context, format;
    if (split_header(winidea_line(head, at, &next), &kind, &context, &format))
      return 95;
  }
  return 0;
}


winidea_base winidea_base_option (const pf_trace *trace, const char *name) {
  if (pf_option_is(trace, name, "10"))
    return WINIDEA_DECIMAL;
  return pf_option_is(trace, name, "16") ? WINIDEA_HEXADECIMAL
                                         : WINIDEA_BASE_AUTO;
}


pf_status winidea_bad_row (pf_trace *trace, uint64_t offset, pf_bytes row,
                           winidea_section_kind kind, pf_error *error) {
  static const char *const expected[] = {
      [WINIDEA_INFO] = "a fact as the header says",
      [WINIDEA_CONTEXTS] = "a context as the header says",
      [WINIDEA_HANDLE] = "an area as the header says",
      [WINIDEA_STATISTICS] = "statistics as the header says",
      [WINIDEA_TIMELINE] = "an event as the header says",
      [WINIDEA_SECTIONS] = "an area with a handle"};
  return pf_warn(trace, PF_DAMAGE, "winidea-bad-row", PF_EFORMAT, offset, error,
                 "%s expected, found %.*s", expected[kind], PF_SHOWN(row, 80));
}
