/*
** headers.c - the headers of sections. The usual one is `* KEYWORD`, perhaps
** more, and the format of the rows. The export dialog can change the whole
** line: then the format in it shows what it begins, or an option states the
** format.
*/

#include "formats/winidea/text1.h"

#define MAX_HEADER 8192 /* bytes of a header line */

static const char *const keywords[WINIDEA_SECTIONS] = {
    "INFO", "CONTEXTS", "HANDLE(", "STATISTICS(", "TIMELINE"};


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


/* The kind of the section that a usual header begins: `* KEYWORD`. */
static winidea_section_kind usual_kind (pf_bytes line) {
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
  const pf_bytes text = pf_trim(*rest);
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


/* The position of a word in a text, in any case, or the size of the text. */
static size_t find_word (pf_bytes text, const char *word) {
  size_t at = 0;
  while (at < text.size && match(after(text, at), word) == 0)
    at++;
  return at;
}


/* Whether a line states nothing but the keyword of a section: [TIMELINE]. */
static bool is_bare (pf_bytes line, winidea_section_kind kind) {
  char word[16];
  size_t size = strlen(keywords[kind]);
  memcpy(word, keywords[kind], size + 1);
  if (word[size - 1] == '(')
    word[--size] = '\0';
  const size_t at = find_word(line, word);
  size_t letters = 0;
  for (size_t i = 0; i < line.size; i++)
    letters += (pf_upper(line.at[i]) >= 'A' && pf_upper(line.at[i]) <= 'Z') ||
               pf_digit(line.at[i]) < 10;
  return at < line.size && letters == size;
}


/* The kind of section whose rows have the macros of a format. */
static winidea_section_kind kind_of_macros (const winidea_rowformat *format,
                                            pf_bytes title) {
  bool has_sums = false;
  for (unsigned i = 0; i < format->count; i++) {
    if (format->macros[i] == MACRO_UNKNOWN)
      return WINIDEA_SECTIONS;
    has_sums |=
        format->macros[i] >= MACRO_COUNT && format->macros[i] < MACRO_NAME;
  }
  if (winidea_has_macro(format, MACRO_TOTAL_TIME))
    return WINIDEA_INFO;
  if (format->count < 2 || !winidea_has_macro(format, MACRO_HANDLE))
    return WINIDEA_SECTIONS;
  if (winidea_has_required_macros(format, WINIDEA_TIMELINE))
    return WINIDEA_TIMELINE;
  if (has_sums)
    return WINIDEA_STATISTICS;
  return find_word(title, "CONTEXT") < title.size ? WINIDEA_CONTEXTS
                                                  : WINIDEA_HANDLE;
}


/* The kind of a changed header, and its format: one that an option states, at
   the end of the line or for a bare keyword; or the macros in the line. */
static winidea_section_kind changed_kind (const winidea_headers *headers,
                                          pf_bytes line, pf_bytes *format) {
  winidea_rowformat compiled;
  for (int i = WINIDEA_SECTIONS; i-- > 0;) {
    const winidea_section_kind kind = (winidea_section_kind)i;
    *format = headers->formats[i];
    if (format->size == 0)
      continue;
    const bool ends =
        line.size >= format->size && memcmp(line.at + line.size - format->size,
                                            format->at, format->size) == 0;
    if (ends || is_bare(line, kind))
      return kind;
  }
  *format = (pf_bytes){NULL, 0};
  if (!headers->is_changed || line.size > MAX_HEADER ||
      memchr(line.at, '%', line.size) == NULL ||
      !winidea_compile(&compiled, line))
    return WINIDEA_SECTIONS;
  *format = after(line, compiled.literals[0].size);
  return kind_of_macros(&compiled, compiled.literals[0]);
}


winidea_section_kind winidea_header_kind (const winidea_headers *headers,
                                          pf_bytes line) {
  pf_bytes format;
  const winidea_section_kind kind = usual_kind(line);
  return kind == WINIDEA_SECTIONS && line.size > 0 &&
                 winidea_may_be_changed(headers)
             ? changed_kind(headers, line, &format)
             : kind;
}


bool winidea_may_be_changed (const winidea_headers *headers) {
  bool may = headers != NULL && headers->is_changed;
  for (int i = 0; headers != NULL && i < WINIDEA_SECTIONS; i++)
    may |= headers->formats[i].size > 0;
  return may;
}


/* Splits a usual header, whose kind is known. */
static void split_usual (pf_bytes line, winidea_section_kind kind,
                         pf_bytes *context, pf_bytes *format) {
  pf_bytes rest = {NULL, 0};
  (void)keyword_of(line, &rest);
  if ((kind == WINIDEA_HANDLE || kind == WINIDEA_STATISTICS) &&
      rest.size > 0) { /* skip the class between brackets */
    const uint8_t *const end = memchr(rest.at, ')', rest.size);
    rest = after(rest, end == NULL ? rest.size : (size_t)(end - rest.at) + 1);
  }
  if (kind == WINIDEA_STATISTICS && line.size <= MAX_HEADER)
    *context = split_context(&rest);
  if (rest.size > 0 && rest.at[0] == ' ')
    rest = after(rest, 1);
  *format = rest;
}


bool winidea_split_header (const winidea_headers *headers, pf_bytes line,
                           winidea_section_kind *kind, pf_bytes *context,
                           pf_bytes *format) {
  winidea_rowformat compiled;
  *context = (pf_bytes){NULL, 0};
  *kind = usual_kind(line);
  if (*kind != WINIDEA_SECTIONS) {
    split_usual(line, *kind, context, format);
    if (headers->formats[*kind].size > 0)
      *format = headers->formats[*kind];
  }
  else {
    *kind = changed_kind(headers, line, format);
    pf_bytes rest = after(line, find_word(line, "CONTEXT("));
    if (*kind == WINIDEA_STATISTICS && line.size <= MAX_HEADER)
      *context = split_context(&rest);
  }
  return line.size <= MAX_HEADER && winidea_compile(&compiled, *format) &&
         winidea_has_required_macros(&compiled, *kind);
}
