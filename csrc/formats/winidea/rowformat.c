/*
** rowformat.c - compiles row formats and splits rows.
**
**   %HANDLE%,%NAME%,%VALUE%     macros between per cent signs, the rest literal
**
** Blanks within a macro are ignored (the vendor's page has one after a dot). A
** per cent sign that does not begin a macro is literal.
*/

#include <string.h>

#include "bytes/text.h"
#include "formats/winidea/rowformat.h"

#define NUMBER_LENGTH 40 /* numbers are shorter */
#define MAX_WORD      32 /* the names of macros are shorter */

static const char *const names[MACROS] = {"HANDLE",        "HANDLE.PARENT",
                                          "HANDLE.STATE",  "VALUE",
                                          "VALUE.TYPE",    "EVENT",
                                          "TIME",          "TOTAL_TIME",
                                          "COUNT",         "T.NET",
                                          "T.NET.MIN",     "T.NET.MAX",
                                          "T.NET.AVG",     "T.GROSS",
                                          "T.GROSS.MIN",   "T.GROSS.MAX",
                                          "T.GROSS.AVG",   "T.CALL",
                                          "T.CALL.MIN",    "T.CALL.MAX",
                                          "T.CALL.AVG",    "T.PERIOD",
                                          "T.PERIOD.MIN",  "T.PERIOD.MAX",
                                          "T.PERIOD.AVG",  "T.OUTSIDE",
                                          "T.OUTSIDE.MIN", "T.OUTSIDE.MAX",
                                          "T.OUTSIDE.AVG", "NAME",
                                          "NAME.PARENT",   "VALUE.UNIT",
                                          "FILE",          "PATH",
                                          "CONTEXT",       "CLASS",
                                          "FORMAT",        ""};


static bool is_free (winidea_macro macro) {
  return macro >= MACRO_NAME;
}


/* Finds the macro between two per cent signs; MACRO_UNKNOWN for another word.
   Blanks after the first byte are ignored. Returns false if the text is not a
   word. */
static bool find_macro (pf_bytes text, winidea_macro *macro) {
  char word[MAX_WORD + 1];
  size_t size = 0;
  if (text.size == 0 || text.size > MAX_WORD || text.at[0] == ' ')
    return false;
  for (size_t i = 0; i < text.size; i++) {
    const uint8_t c = pf_upper(text.at[i]);
    if (c != ' ' && c != '_' && c != '.' && (c < 'A' || c > 'Z'))
      return false;
    word[size] = (char)c;
    size += c != ' ';
  }
  word[size] = '\0';
  *macro = MACRO_HANDLE;
  while (*macro < MACRO_UNKNOWN && strcmp(word, names[*macro]) != 0)
    (*macro)++;
  return true;
}


/* A name without the first `T.` of times. */
static const char *without_t (const char *name) {
  return name[0] == 'T' && name[1] == '.' ? name + 2 : name;
}


winidea_macro winidea_find_macro (const char *name) {
  const char *const wanted = without_t(name);
  int macro = MACRO_HANDLE;
  for (; macro < MACRO_UNKNOWN; macro++) {
    const char *const known = without_t(names[macro]);
    if (*known == *wanted && strcmp(known, wanted) == 0)
      break;
  }
  return (winidea_macro)macro;
}


bool winidea_compile (winidea_rowformat *format, pf_bytes text) {
  size_t literal = 0; /* start of the current literal */
  format->count = 0;
  for (size_t i = 0; i < text.size; i++) {
    winidea_macro macro;
    const uint8_t *const end =
        text.at[i] == '%' && i + 1 < text.size
            ? memchr(text.at + i + 1, '%', text.size - i - 1)
            : NULL;
    if (end == NULL)
      continue;
    const pf_bytes word = {text.at + i + 1, (size_t)(end - text.at) - i - 1};
    if (!find_macro(word, &macro))
      continue;
    if (format->count == WINIDEA_MAX_MACROS)
      return false;
    format->literals[format->count] =
        (pf_bytes){text.at + literal, i - literal};
    format->macros[format->count++] = (uint8_t)macro;
    i += word.size + 1;
    literal = i + 1;
  }
  format->literals[format->count] =
      (pf_bytes){text.at + literal, text.size - literal};
  return true;
}


bool winidea_has_macro (const winidea_rowformat *format, winidea_macro macro) {
  return memchr(format->macros, macro, format->count) != NULL;
}


bool winidea_has_text (const winidea_rowformat *format) {
  bool has_text = false;
  for (unsigned i = 0; i < format->count; i++)
    has_text |= is_free((winidea_macro)format->macros[i]);
  return has_text;
}


static bool is_of_number (uint8_t c) {
  const uint8_t u = pf_upper(c);
  return (c >= '0' && c <= '9') || (u >= 'A' && u <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}


bool winidea_is_separated (const winidea_rowformat *format) {
  bool is_separated = true;
  for (unsigned i = 1; i < format->count && is_separated; i++) {
    const pf_bytes literal = format->literals[i];
    is_separated = format->macros[i - 1] == MACRO_EVENT && literal.size == 0;
    for (size_t k = 0; k < literal.size; k++)
      is_separated |= !is_of_number(literal.at[k]);
  }
  return is_separated;
}


static bool has_prefix (pf_bytes text) {
  return text.size > 2 && text.at[0] == '0' && pf_upper(text.at[1]) == 'X';
}


/* The part of a row that is not split yet. */
typedef struct slice {
  const uint8_t *at, *end;
} slice;


static size_t left_of (const slice *r) {
  return (size_t)(r->end - r->at);
}


static bool begins (const slice *r, pf_bytes literal) {
  return literal.size <= left_of(r) &&
         memcmp(r->at, literal.at, literal.size) == 0;
}


/* The first occurrence of a literal, which is not empty, or NULL. */
static const uint8_t *find_first (const slice *r, pf_bytes literal) {
  slice s = *r;
  while (literal.size <= left_of(&s)) {
    const uint8_t *const p =
        memchr(s.at, literal.at[0], left_of(&s) - literal.size + 1);
    if (p == NULL)
      return NULL;
    s.at = p;
    if (begins(&s, literal))
      return p;
    s.at++;
  }
  return NULL;
}


/* The last occurrence of a literal, which is not empty, or NULL. */
static const uint8_t *find_last (const slice *r, pf_bytes literal) {
  if (literal.size > left_of(r))
    return NULL;
  for (size_t i = left_of(r) - literal.size + 1; i-- > 0;)
    if (memcmp(r->at + i, literal.at, literal.size) == 0)
      return r->at + i;
  return NULL;
}


static bool is_digit_of (winidea_macro macro, uint8_t c) {
  const uint8_t u = pf_upper(c);
  if (c >= '0' && c <= '9')
    return true;
  switch (macro) {
    case MACRO_EVENT: return u >= 'A' && u <= 'Z';
    case MACRO_TYPE: return u == 'I' || u == 'F';
    case MACRO_HANDLE:
    case MACRO_PARENT:
    case MACRO_STATE: return u >= 'A' && u <= 'F';
    case MACRO_VALUE:
      return u == 'X' || (u >= 'A' && u <= 'F') || c == '-' || c == '+' ||
             c == '.';
    default: return c == '-' || c == '+' || c == '.';
  }
}


/* The length of a number without a literal after it. Handles have at most 8
   digits and may begin with 0x. */
static size_t count_digits (winidea_macro macro, const slice *r) {
  size_t n = 0, max = macro == MACRO_EVENT ? 1 : NUMBER_LENGTH;
  if (macro <= MACRO_STATE) {
    n = has_prefix((pf_bytes){r->at, left_of(r)}) ? 2 : 0;
    max = n + 8;
  }
  while (n < max && n < left_of(r) && is_digit_of(macro, r->at[n]))
    n++;
  return n;
}


/* The length of a number at the end of the slice. */
static size_t digits_before (winidea_macro macro, const slice *r) {
  const size_t max = macro == MACRO_EVENT ? 1 : NUMBER_LENGTH;
  size_t n = 0;
  while (n < max && n < left_of(r) && is_digit_of(macro, r->end[-1 - (int)n]))
    n++;
  return n;
}


/* Takes the numbers before the first free text. Returns their count, or
   SIZE_MAX if the row does not match. */
static size_t take_left (const winidea_rowformat *f, slice *r,
                         winidea_fields *fields) {
  size_t i = 0;
  if (!begins(r, f->literals[0]))
    return SIZE_MAX;
  r->at += f->literals[0].size;
  for (; i < f->count && !is_free((winidea_macro)f->macros[i]); i++) {
    const winidea_macro macro = (winidea_macro)f->macros[i];
    const pf_bytes literal = f->literals[i + 1];
    const bool is_last = i + 1 == f->count;
    const uint8_t *stop = literal.size > 0 ? find_first(r, literal)
                          : is_last        ? r->end
                                           : r->at + count_digits(macro, r);
    if (stop == NULL)
      return SIZE_MAX;
    fields->of[macro] = (pf_bytes){r->at, (size_t)(stop - r->at)};
    r->at = stop + literal.size;
  }
  return i;
}


/* Takes the numbers after the last free text, which exists. Returns its index,
   or SIZE_MAX if the row does not match. */
static size_t take_right (const winidea_rowformat *f, slice *r,
                          winidea_fields *fields) {
  size_t i = f->count - 1;
  const pf_bytes tail = f->literals[f->count];
  const slice end = {r->end - (tail.size <= left_of(r) ? tail.size : 0),
                     r->end};
  if (!begins(&end, tail))
    return SIZE_MAX;
  r->end -= tail.size;
  for (; !is_free((winidea_macro)f->macros[i]); i--) {
    const winidea_macro macro = (winidea_macro)f->macros[i];
    const pf_bytes literal = f->literals[i];
    const uint8_t *const start = literal.size > 0
                                     ? find_last(r, literal)
                                     : r->end - digits_before(macro, r);
    if (start == NULL)
      return SIZE_MAX;
    const uint8_t *const text = start + literal.size;
    fields->of[macro] = (pf_bytes){text, (size_t)(r->end - text)};
    r->end = start;
  }
  return i;
}


/* {====== Free texts, and what stands between them ====== */

#define MOST_TRIES 10000 /* separators of a row */

/* The search for the splits of a row whose fields are all valid. With
   `is_strict` no number but VALUE is empty, and FILE and PATH are paths. */
typedef struct search {
  const winidea_rowformat *format;
  size_t to; /* the last free text */
  bool is_strict;
  unsigned tries, found; /* splits */
  winidea_fields now;    /* the fields that are tried */
  winidea_fields *chosen;
} search;


static bool is_path (pf_bytes text) {
  const uint8_t *const t = text.at;
  return text.size == 0 || t[0] == '/' || t[0] == '\\' || t[0] == '.' ||
         (text.size > 2 && t[1] == ':' && (t[2] == '\\' || t[2] == '/'));
}


static bool is_valid (const search *s, winidea_macro macro, pf_bytes text) {
  if (macro == MACRO_FILE || macro == MACRO_PATH)
    return !s->is_strict || is_path(text);
  if (is_free(macro))
    return true;
  const slice digits = {text.at, text.at + text.size};
  const bool may_be_empty =
      macro == MACRO_VALUE || (!s->is_strict && macro != MACRO_HANDLE);
  return count_digits(macro, &digits) == text.size &&
         (text.size > 0 || may_be_empty);
}


static void split_rest (search *s, size_t i, slice r);


/* Takes a text for field i and splits what follows the literal after it. */
static void take_field (search *s, size_t i, slice r, const uint8_t *stop) {
  const winidea_macro macro = (winidea_macro)s->format->macros[i];
  const pf_bytes text = {r.at, (size_t)(stop - r.at)};
  if (!is_valid(s, macro, text))
    return;
  s->now.of[macro] = text;
  if (i == s->to) { /* of several splits: the first strict one, or the last */
    s->found += s->found < 2;
    if (!s->is_strict || s->found == 1)
      memcpy(s->chosen->of, s->now.of, sizeof s->now.of);
    return;
  }
  r.at = stop + s->format->literals[i + 1].size;
  split_rest(s, i + 1, r);
}


/* Tries the splits of the slice into the fields from i on: a number ends before
   the next literal, a free text before any one. */
static void split_rest (search *s, size_t i, slice r) {
  const winidea_macro macro = (winidea_macro)s->format->macros[i];
  const pf_bytes literal = s->format->literals[i + 1];
  if (i == s->to)
    take_field(s, i, r, r.end);
  else if (literal.size == 0)
    take_field(s, i, r, is_free(macro) ? r.at : r.at + count_digits(macro, &r));
  else {
    slice rest = r;
    for (const uint8_t *p; (p = find_first(&rest, literal)) != NULL;
         rest.at = p + 1) {
      if (s->tries++ >= MOST_TRIES)
        return;
      take_field(s, i, r, p);
      if (!is_free(macro) || (s->is_strict && s->found > 1))
        return;
    }
  }
}


/* Splits the slice into the fields from free text `from` to free text `to`. */
static bool take_middle (const winidea_rowformat *f, size_t from, size_t to,
                         slice r, winidea_fields *fields) {
  search s = {.format = f, .to = to, .is_strict = true, .chosen = fields};
  memcpy(s.now.of, fields->of, sizeof s.now.of);
  split_rest(&s, from, r);
  if (s.found == 0) {
    s.is_strict = false;
    s.tries = 0;
    split_rest(&s, from, r);
  }
  fields->is_ambiguous = s.found > 1 || s.tries > MOST_TRIES;
  return s.found > 0;
}

/* }====== */


bool winidea_split (const winidea_rowformat *format, pf_bytes row,
                    winidea_fields *fields) {
  slice r = {row.at, row.at + row.size};
  memset(fields, 0, sizeof *fields);
  const size_t first = take_left(format, &r, fields);
  if (first == SIZE_MAX)
    return false;
  if (first == format->count)
    return left_of(&r) == 0;
  const size_t last = take_right(format, &r, fields);
  return last != SIZE_MAX && r.at <= r.end &&
         take_middle(format, first, last, r, fields);
}


static bool read_hexadecimal (pf_bytes text, uint64_t *number) {
  const pf_bytes digits = pf_text_after(text, has_prefix(text) ? 2 : 0);
  return digits.size <= 16 && pf_parse_uint(digits, 16, number) == PF_OK;
}


bool winidea_read_handle (pf_bytes text, uint32_t *handle) {
  uint64_t number;
  if (!read_hexadecimal(pf_trim(text), &number) || number > UINT32_MAX)
    return false;
  *handle = (uint32_t)number;
  return true;
}


bool winidea_read_decimal (pf_bytes text, int64_t *number) {
  text = pf_trim(text);
  const bool is_negative = text.size > 0 && text.at[0] == '-';
  const bool is_signed = text.size > 0 && (is_negative || text.at[0] == '+');
  const pf_bytes digits = pf_text_after(text, is_signed);
  uint64_t sum = 0;
  if (pf_parse_uint(digits, 10, &sum) != PF_OK ||
      sum > (uint64_t)INT64_MAX + is_negative)
    return false;
  *number = (int64_t)(is_negative ? 0 - sum : sum);
  return true;
}


bool winidea_read_value (pf_bytes text, winidea_base base, int64_t *value) {
  uint64_t bits;
  text = pf_trim(text);
  const bool is_hexadecimal =
      base == WINIDEA_HEXADECIMAL || has_prefix(text) ||
      (base == WINIDEA_BASE_AUTO && (text.size == 8 || text.size == 16));
  if (is_hexadecimal && read_hexadecimal(text, &bits)) {
    *value = (int64_t)bits;
    return true;
  }
  if (winidea_read_decimal(text, value))
    return true;
  if (base == WINIDEA_DECIMAL || !read_hexadecimal(text, &bits))
    return false;
  *value = (int64_t)bits;
  return true;
}


bool winidea_read_handle_of (const winidea_fields *fields, winidea_macro macro,
                             uint32_t *handle) {
  const pf_bytes text = fields->of[macro];
  int64_t number;
  if (!fields->is_xml)
    return winidea_read_handle(text, handle);
  if (!winidea_read_value(text, WINIDEA_BASE_AUTO, &number) || number < 0 ||
      number > UINT32_MAX)
    return false;
  *handle = (uint32_t)number;
  return true;
}


bool winidea_read_time (const winidea_fields *fields, int64_t *time) {
  const pf_bytes text = pf_trim(fields->of[MACRO_TIME]);
  return winidea_read_decimal(text, time) ||
         (fields->is_xml && has_prefix(text) &&
          winidea_read_value(text, WINIDEA_HEXADECIMAL, time));
}


bool winidea_has_all_bits (pf_bytes text, winidea_base base) {
  const size_t start = has_prefix(text) ? 2 : 0;
  uint64_t bits;
  return text.size == start + 16 && (start > 0 || base != WINIDEA_DECIMAL) &&
         read_hexadecimal(text, &bits);
}
