/*
** json.h - scans JSON texts (RFC 8259) in place: no tree is built, and nothing
** is copied or allocated. Depth is bounded; the bytes of nested values are
** passed over by their brackets and strings alone.
**
** Functions take a position and the end of the text, and return the position
** after what they have read, or NULL if the text is not JSON there. Used by the
** formats chrome and cpuprofile.
*/

#ifndef json_h
#define json_h

#include "bytes/cursor.h"

#define PF_JSON_DEPTH 128 /* levels of nested values that are read */

typedef enum pf_json_kind {
  PF_JSON_NONE, /* none was read yet */
  PF_JSON_STRING,
  PF_JSON_NUMBER, /* its bytes are checked where it is parsed */
  PF_JSON_WORD,   /* true, false, null, also NaN and the like */
  PF_JSON_ARRAY,
  PF_JSON_OBJECT
} pf_json_kind;

/* A value; `text` is borrowed: of a string the bytes between its quotes, with
   escapes; of all others all bytes. */
typedef struct pf_json {
  pf_bytes text;
  pf_json_kind kind;
  bool has_escapes;
} pf_json;

/* The position of the first byte that is not white space. */
static inline const uint8_t *pf_json_blanks (const uint8_t *p,
                                             const uint8_t *end) {
  while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
    p++;
  return p;
}

/* The position of the first quote, backslash or control character. */
static inline const uint8_t *pf_json_plain (const uint8_t *p,
                                            const uint8_t *end) {
  const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
  for (; end - p >= 8; p += 8) {
    const uint64_t word = pf_load64le(p);
    const uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
    const uint64_t found =
        (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
         ((word - ones * ' ') & ~word)) &
        tops;
    if (found != 0) /* its lowest bit is right, bits above it may not be */
      return p + __builtin_ctzll(found) / 8;
  }
  while (p < end && *p != '"' && *p != '\\' && *p >= ' ')
    p++;
  return p;
}

/* Reads a string whose quote is at `p`. */
static inline const uint8_t *pf_json_string (const uint8_t *p,
                                             const uint8_t *end,
                                             pf_json *value) {
  const uint8_t *const begin = p + 1;
  value->kind = PF_JSON_STRING;
  value->has_escapes = false;
  for (p = pf_json_plain(begin, end); p < end && *p == '\\';) {
    value->has_escapes = true;
    if (end - p < 2)
      return NULL;
    p = pf_json_plain(p + 2, end);
  }
  if (p == end || *p != '"')
    return NULL;
  value->text = (pf_bytes){begin, (size_t)(p - begin)};
  return p + 1;
}

/* The position of the next quote or bracket, or the end. */
const uint8_t *pf_json_mark (const uint8_t *p, const uint8_t *end);

/* Passes over the array or object whose bracket is at `p`. */
const uint8_t *pf_json_nested (const uint8_t *p, const uint8_t *end);

/* Reads any value; `p` is at its first byte. */
static inline const uint8_t *pf_json_value (const uint8_t *p,
                                            const uint8_t *end,
                                            pf_json *value) {
  const uint8_t *const begin = p;
  if (p == end)
    return NULL;
  if (*p == '"')
    return pf_json_string(p, end, value);
  value->has_escapes = false;
  if (*p == '{' || *p == '[') {
    value->kind = *p == '{' ? PF_JSON_OBJECT : PF_JSON_ARRAY;
    p = pf_json_nested(p, end);
    if (p == NULL)
      return NULL;
  }
  else {
    value->kind =
        *p == '-' || (unsigned)(*p - '0') < 10 ? PF_JSON_NUMBER : PF_JSON_WORD;
    while (p < end && ((unsigned)(*p - '0') < 10 || *p == '.' || *p == '-' ||
                       *p == '+' || (unsigned)((*p | 0x20) - 'a') < 26))
      p++;
  }
  value->text = (pf_bytes){begin, (size_t)(p - begin)};
  return p == begin ? NULL : p;
}

/* Reads the key of a member and its colon; returns the position of its value.
 */
static inline const uint8_t *pf_json_key (const uint8_t *p, const uint8_t *end,
                                          pf_json *key) {
  if (p == end || *p != '"' || (p = pf_json_string(p, end, key)) == NULL)
    return NULL;
  p = pf_json_blanks(p, end);
  return p == end || *p != ':' ? NULL : pf_json_blanks(p + 1, end);
}

/* Reads what follows a value: a comma, after which *has is true and the next
   value or key begins at the result; or the bracket `close`. */
static inline const uint8_t *pf_json_more (const uint8_t *p, const uint8_t *end,
                                           uint8_t close, bool *has) {
  *has = false;
  p = pf_json_blanks(p, end);
  if (p == end || (*p != ',' && *p != close))
    return NULL;
  *has = *p == ',';
  return *has ? pf_json_blanks(p + 1, end) : p + 1;
}

/* Reads the bracket `open` of an object or array: *has is true if it is not
   empty, and the first value or key begins at the result. */
static inline const uint8_t *pf_json_begin (const uint8_t *p,
                                            const uint8_t *end, uint8_t open,
                                            bool *has) {
  *has = false;
  if (p == end || *p != open)
    return NULL;
  p = pf_json_blanks(p + 1, end);
  *has = p < end && *p != open + 2; /* ] and } are two after [ and { */
  return p == end || *has ? p : p + 1;
}

/* Takes the next element of an array; `p` is at its bracket, or behind an
   element. NULL also if there is none. */
static inline const uint8_t *pf_json_element (const uint8_t *p,
                                              const uint8_t *end,
                                              pf_json *value) {
  bool has;
  p = p < end && *p == '[' ? pf_json_begin(p, end, '[', &has)
                           : pf_json_more(p, end, ']', &has);
  return p == NULL || !has ? NULL : pf_json_value(p, end, value);
}

/* Takes the next member of an object in the same way. */
static inline const uint8_t *pf_json_next (const uint8_t *p, const uint8_t *end,
                                           pf_json *key, pf_json *value) {
  bool has;
  p = p < end && *p == '{' ? pf_json_begin(p, end, '{', &has)
                           : pf_json_more(p, end, '}', &has);
  if (p == NULL || !has || (p = pf_json_key(p, end, key)) == NULL)
    return NULL;
  return pf_json_value(p, end, value);
}

/* Finds a member of an object, the whole bytes of which are `object`. */
bool pf_json_member (pf_bytes object, pf_bytes name, pf_json *value);

/* Writes the text of a string without its escapes into `out`, which has
   capacity for as many bytes as the text has. Returns the size. A half of a
   surrogate pair becomes U+FFFD; an unknown escape stays as it is. */
size_t pf_json_unescape (pf_bytes text, uint8_t *out);

/*
** Parses a decimal number, with fraction and exponent, times 10^`digits`: the
** result is *whole, and *thousandths of it, which are 0 to 999; for numbers
** below 0 both are negative. Parts of a thousandth are dropped, and so are
** digits after the 19th. PF_EFORMAT: no number; PF_ELIMIT: too large.
*/
pf_status pf_parse_scaled (pf_bytes text, unsigned digits, int64_t *whole,
                           int *thousandths);

#endif
