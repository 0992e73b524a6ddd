/*
** text1.c - scans the sections of a Text1 file.
**
** A section is a header line and rows. The header states the format of the
** rows:
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

#include <stdlib.h>

#include "formats/winidea/text1.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define MAX_HEADER 8192 /* bytes of a header line */

static const char *const keywords[WINIDEA_SECTIONS] = {
    "INFO", "CONTEXTS", "HANDLE(", "STATISTICS(", "TIMELINE"};


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


/* {====== Headers ====== */

static uint8_t upper (uint8_t c) {
  return c >= 'a' && c <= 'z' ? (uint8_t)(c - 'a' + 'A') : c;
}


/* The length of a keyword at the start of a text, or 0. */
static size_t match (pf_bytes text, const char *keyword) {
  size_t i = 0;
  for (; keyword[i] != '\0'; i++)
    if (i >= text.size || upper(text.at[i]) != (uint8_t)keyword[i])
      return 0;
  return i;
}


static pf_bytes after (pf_bytes text, size_t size) {
  return (pf_bytes){text.at + size, text.size - size};
}


/* The kind of the keyword after `* `, and the text after it; WINIDEA_SECTIONS
   if there is none. */
static winidea_section_kind keyword_of (pf_bytes line, pf_bytes *rest) {
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


/* A keyword without a bracket must be followed by a blank or nothing. */
static bool is_ended (winidea_section_kind kind, pf_bytes rest) {
  return kind == WINIDEA_HANDLE || kind == WINIDEA_STATISTICS ||
         rest.size == 0 || rest.at[0] == ' ' || rest.at[0] == '\t';
}


bool winidea_is_header (pf_bytes line) {
  pf_bytes rest;
  const winidea_section_kind kind = keyword_of(line, &rest);
  return kind != WINIDEA_SECTIONS && is_ended(kind, rest) &&
         (rest.size == 0 || memchr(rest.at, '%', rest.size) != NULL ||
          rest.at[rest.size - 1] == ')');
}


winidea_section_kind winidea_kind_of_header (pf_bytes line) {
  pf_bytes rest;
  return keyword_of(line, &rest);
}


/* Splits off the class between the brackets of HANDLE() and STATISTICS(). */
static pf_bytes split_class (pf_bytes *rest) {
  const uint8_t *const end =
      rest->size == 0 ? NULL : memchr(rest->at, ')', rest->size);
  const size_t size = end == NULL ? rest->size : (size_t)(end - rest->at);
  const pf_bytes class = {rest->at, size};
  *rest = after(*rest, size + (end != NULL));
  return class;
}


/* The start of the last macro HANDLE of a text, or NULL. */
static const uint8_t *last_handle (pf_bytes text) {
  winidea_rowformat format;
  if (!winidea_compile(&format, text))
    return NULL;
  for (unsigned i = format.count; i-- > 0;)
    if (format.macros[i] == MACRO_HANDLE)
      return format.literals[i].at + format.literals[i].size;
  return NULL;
}


/* Splits off the context of a header ` CONTEXT(name) %...`. A name may contain
   brackets: it ends at the last bracket before a format with HANDLE, else at
   the last bracket. */
static pf_bytes split_context (pf_bytes *rest) {
  const pf_bytes text = winidea_trim(*rest);
  const size_t start = match(text, "CONTEXT(");
  if (start == 0)
    return (pf_bytes){NULL, 0};
  const uint8_t *const handle = last_handle(text);
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


/* The format of the first section of each kind becomes a fact. */
static void set_fact (pf_trace *trace, const winidea_section *section) {
  static const char *const names[WINIDEA_SECTIONS] = {
      "info_format", "contexts_format", "handle_format", "statistics_format",
      "timeline_format"};
  winidea_file *const file = trace->state;
  if (!file->has_format[section->kind])
    pf_info_text(trace, names[section->kind], section->format);
  file->has_format[section->kind] = true;
}


/* Parses a header into a section. */
static pf_status read_header (pf_trace *trace, pf_bytes line, uint64_t offset,
                              winidea_section *section, pf_error *error) {
  pf_bytes rest = {NULL, 0};
  section->kind = keyword_of(line, &rest);
  section->header = offset;
  section->context = PF_NO_NAME;
  pf_bytes context = {NULL, 0};
  if (section->kind == WINIDEA_HANDLE || section->kind == WINIDEA_STATISTICS)
    split_class(&rest);
  if (section->kind == WINIDEA_STATISTICS && line.size <= MAX_HEADER)
    context = split_context(&rest);
  if (context.at != NULL) {
    section->context = pf_intern(trace->dictionary, context);
    if (section->context == PF_NO_NAME)
      return pf_no_memory(error);
  }
  if (rest.size > 0 && rest.at[0] == ' ')
    rest = after(rest, 1);
  winidea_rowformat format;
  section->format = rest;
  section->is_readable = line.size <= MAX_HEADER &&
                         winidea_compile(&format, rest) &&
                         winidea_has_required_macros(&format, section->kind);
  if (section->is_readable) {
    set_fact(trace, section);
    return PF_OK;
  }
  return pf_warn(
      trace, PF_DAMAGE, "winidea-bad-header", PF_EFORMAT, offset, error,
      "a format of at most %d macros with HANDLE (of a timeline also "
      "EVENT and TIME) expected, found %.*s",
      WINIDEA_MAX_MACROS, (int)(rest.size < 60 ? rest.size : 60),
      (const char *)(rest.size == 0 ? line.at : rest.at));
}

/* }====== */


/* {====== Scanning ====== */

/* The position of the next header from `at` on, or the size of the text. */
static uint64_t find_header (pf_bytes text, uint64_t at) {
  while (at < text.size) {
    const uint8_t *const star =
        memchr(text.at + at, '*', text.size - (size_t)at);
    if (star == NULL)
      break;
    at = (uint64_t)(star - text.at);
    const bool starts = at == 0 || star[-1] == '\n' ||
                        (at == 3 && text.at[0] == 0xef); /* after the byte order
                                                            mark */
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


static pf_status add_section (pf_trace *trace, uint64_t at, pf_error *error) {
  winidea_file *const file = trace->state;
  if (!pf_grow(&file->sections, &file->capacity, file->nsections + 1))
    return pf_no_memory(error);
  winidea_section *const section = &file->sections[file->nsections];
  const pf_bytes line = winidea_line(file->text->bytes, at, &section->rows);
  const pf_status status = read_header(trace, line, at, section, error);
  section->end = WINIDEA_OPEN;
  section->parsed = section->rows;
  file->scanned = section->rows;
  file->nsections += status >= 0;
  return status;
}


/* Finds sections up to and including the next TIMELINE. PF_OK, PF_END at the
   end of the text (in a live trace, for now), or a failure. */
static pf_status find_sections (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  const pf_bytes text = winidea_complete_lines(file);
  while (!file->is_scanned) {
    const uint64_t at = file->scanned < text.size
                            ? find_header(text, file->scanned)
                            : text.size;
    const bool is_over = at == text.size;
    pf_status status = end_section(trace, at, is_over && file->is_live, error);
    file->is_scanned = is_over && !file->is_live;
    if (is_over && file->scanned < at)
      file->scanned = at;
    if (status == PF_OK && !is_over)
      status = add_section(trace, at, error);
    if (status < 0 || is_over)
      return status < 0 ? status : PF_END;
    if (file->sections[file->nsections - 1].kind == WINIDEA_TIMELINE)
      return PF_OK;
  }
  return PF_END;
}


pf_status winidea_scan (pf_trace *trace, pf_error *error) {
  const pf_status found = find_sections(trace, error);
  const pf_status status =
      found < 0 ? found : winidea_finish_areas(trace, error);
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
                                size_t *from, winidea_section *section,
                                winidea_rowformat *format, bool *found,
                                pf_error *error) {
  winidea_file *const file = trace->state;
  pf_status status = PF_OK;
  *found = false;
  pthread_mutex_lock(&file->mutex);
  for (;;) {
    while (*from < file->nsections && file->sections[*from].kind != kind)
      ++*from;
    *found = *from < file->nsections;
    if (*found || file->is_scanned || status != PF_OK)
      break;
    status = winidea_scan(trace, error);
  }
  if (*found)
    *section = file->sections[(*from)++];
  pthread_mutex_unlock(&file->mutex);
  if (*found && section->is_readable)
    (void)winidea_compile(format, section->format);
  return status < 0 ? status : PF_OK;
}

/* }====== */


bool winidea_has_sections (pf_bytes head) {
  return find_header(head, 0) < head.size;
}


/* The row format in a header line. */
static pf_bytes format_of (pf_bytes line, winidea_section_kind *kind) {
  pf_bytes rest = {NULL, 0};
  *kind = keyword_of(line, &rest);
  if (*kind == WINIDEA_HANDLE || *kind == WINIDEA_STATISTICS)
    split_class(&rest);
  if (*kind == WINIDEA_STATISTICS)
    split_context(&rest);
  return rest;
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
    winidea_rowformat format;
    winidea_section_kind kind;
    const pf_bytes line = winidea_line(head, at, &next);
    if (line.size <= MAX_HEADER &&
        winidea_compile(&format, format_of(line, &kind)) &&
        winidea_has_required_macros(&format, kind))
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
                           const char *what, pf_error *error) {
  return pf_warn(trace, PF_DAMAGE, "winidea-bad-row", PF_EFORMAT, offset, error,
                 "%s expected, found %.*s", what,
                 (int)(row.size < 80 ? row.size : 80), (const char *)row.at);
}
