/*
** parse_chrome.c - reads the events of a file one after the other. An event
** that cannot be read is damage; reading goes on at the next one.
**
** Used by all readers of tables and by the scan of lanes_chrome.c. The texts of
** an event are borrowed from the source.
*/

#include "formats/chrome/chrome.h"
#include "model/base/switches.h"

static pf_status warn (const chrome_parser *self, pf_note_kind kind,
                       const char *code, size_t at, const char *what,
                       pf_error *error) {
  const pf_bytes rest = pf_text_after(self->bytes, at);
  const pf_bytes text = {rest.at, pf_line_end(rest, 0)};
  if (self->is_quiet)
    return PF_OK;
  return pf_warn(
      self->trace, kind, code, kind == PF_NOTE ? PF_ETRUNCATED : PF_EFORMAT, at,
      error, "%s%s%.*s", what, text.size > 0 ? ": " : "", PF_SHOWN(text, 60));
}


/* {====== Members ====== */

/* Sets a time in microseconds; some writers quote numbers. */
static bool read_time (const pf_json *value, chrome_time *time) {
  const pf_bytes t = value->text;
  uint64_t whole = 0;
  unsigned thousandths = 0;
  size_t i = 0, left = 3;
  for (; i < t.size && i < 16 && (unsigned)(t.at[i] - '0') < 10; i++)
    whole = whole * 10 + (unsigned)(t.at[i] - '0');
  const bool has_point = i > 0 && i < t.size && t.at[i] == '.';
  for (i += has_point;
       has_point && left > 0 && i < t.size && (unsigned)(t.at[i] - '0') < 10;
       i++, left--)
    thousandths = thousandths * 10 + (unsigned)(t.at[i] - '0');
  if (i < t.size || i == 0) /* fast path for usual numbers fails */
    return pf_parse_scaled(t, 3, &time->ns, &time->ps) == PF_OK;
  static const unsigned powers[] = {1, 10, 100, 1000};
  *time =
      (chrome_time){(int64_t)(whole * 1000 + thousandths * powers[left]), 0};
  return true;
}


/* The member of an event that a key stands for. */
static chrome_member member_of (pf_bytes key) {
  static const char *const names[] = {"ph",   "name", "cat", "pid", "tid",
                                      "args", "id",   "id2", "ts",  "dur"};
  static const chrome_member members[] = {
      CHROME_PHASE, CHROME_NAME, CHROME_CATEGORY, CHROME_PID, CHROME_TID,
      CHROME_ARGS,  CHROME_ID,   CHROME_ID,       CHROME_TS,  CHROME_DUR};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (pf_bytes_equal(key, pf_bytes_of(names[i])))
      return members[i];
  return CHROME_OTHER;
}


/* Sets a member of an event. False: its value cannot be read. */
static inline bool set_member (chrome_event *event, chrome_member member,
                               const pf_json *value) {
  switch (member) {
    case CHROME_PHASE:
      event->phase = value->text.size > 0 ? value->text.at[0] : 0;
      return event->phase != 0 && value->kind == PF_JSON_STRING;
    case CHROME_TS:
      event->has_ts = read_time(value, &event->ts);
      return event->has_ts;
    case CHROME_DUR:
      event->has_dur = read_time(value, &event->dur) && event->dur.ns >= 0;
      return event->has_dur;
    default: /* one by one: a copy of all would wait for their stores */
      event->texts[member].text.at = value->text.at;
      event->texts[member].text.size = value->text.size;
      event->texts[member].kind = value->kind;
      event->texts[member].has_escapes = value->has_escapes;
      return true;
  }
}


/* Remembers what stands between two values, from the end of the one to the
   begin of the other. */
static void learn (chrome_shape *shape, const uint8_t *from,
                   const pf_json *value, chrome_member member) {
  const size_t size = (size_t)(value->text.at - from);
  if (shape->count == CHROME_GAPS || size > sizeof(uint64_t[2])) {
    shape->count = CHROME_GAPS + 1; /* none is known */
    return;
  }
  chrome_gap *const gap = &shape->gaps[shape->count++];
  uint8_t bytes[16] = {0}, mask[16] = {0};
  memcpy(bytes, from, size);
  memset(mask, 0xFF, size);
  for (size_t i = 0; i < 2; i++) {
    gap->words[i] = pf_load64le(bytes + 8 * i);
    gap->masks[i] = pf_load64le(mask + 8 * i);
  }
  gap->size = (uint8_t)size;
  gap->kind = value->kind;
  gap->member = member;
}


/* Reads the object at `p`. NULL: it is not one. *is_valid: its members can be
   read. */
static const uint8_t *read_any (chrome_shape *shape, const uint8_t *p,
                                const uint8_t *end, chrome_event *event,
                                bool *is_valid) {
  const uint8_t *before = p;
  pf_json key, value;
  bool has;
  shape->count = 0;
  p = pf_json_begin(p, end, '{', &has);
  while (p != NULL && has) {
    p = pf_json_key(p, end, &key);
    if (p == NULL || (p = pf_json_value(p, end, &value)) == NULL)
      return NULL;
    const chrome_member member = member_of(key.text);
    *is_valid &= set_member(event, member, &value);
    if (shape->count <= CHROME_GAPS)
      learn(shape, before, &value, member);
    before = value.text.at + value.text.size;
    p = pf_json_more(p, end, '}', &has);
  }
  return p;
}


/* The end of a value that begins at `p` and has no escapes; NULL: it has some
   or is of another kind. */
static inline const uint8_t *end_of (pf_json_kind kind, const uint8_t *p,
                                     const uint8_t *end) {
  const uint8_t *const begin = p;
  if (kind == PF_JSON_STRING) {
    p = pf_json_plain(p, end);
    return p < end && *p == '"' ? p : NULL;
  }
  if (kind == PF_JSON_OBJECT || kind == PF_JSON_ARRAY)
    return *p == '{' || *p == '[' ? pf_json_nested(p, end) : NULL;
  while (p < end && ((unsigned)(*p - '0') < 10 || *p == '.'))
    p++;
  return p == begin ? NULL : p;
}


/* Fast path: reads an event whose keys and blanks are those of the one before.
   NULL: it has others. */
static const uint8_t *read_alike (const chrome_shape *shape, const uint8_t *p,
                                  const uint8_t *end, chrome_event *event,
                                  bool *is_valid) {
  pf_json value = {.kind = PF_JSON_NONE};
  if (!PF_FAST(SHAPES) || shape->count == 0 || shape->count > CHROME_GAPS)
    return NULL;
  for (size_t i = 0; i < shape->count; i++) {
    const chrome_gap *const gap = &shape->gaps[i];
    if (end - p < 16 ||
        (((pf_load64le(p) ^ gap->words[0]) & gap->masks[0]) |
         ((pf_load64le(p + 8) ^ gap->words[1]) & gap->masks[1])) != 0)
      return NULL;
    value.text.at = p + gap->size;
    value.kind = gap->kind;
    p = end_of(gap->kind, value.text.at, end);
    if (p == NULL)
      return NULL;
    value.text.size = (size_t)(p - value.text.at);
    *is_valid &= set_member(event, gap->member, &value);
  }
  p = pf_json_blanks(p + (value.kind == PF_JSON_STRING), end);
  return p < end && *p == '}' ? p + 1 : NULL;
}


/* Reads the object at `p`. NULL: it is not one. *is_valid: it is an event, or
   an empty object. */
static const uint8_t *read_event (chrome_shape *shape, const uint8_t *p,
                                  const uint8_t *end, chrome_event *event,
                                  bool *is_valid) {
  const size_t at = event->at;
  *is_valid = true;
  const uint8_t *after = read_alike(shape, p, end, event, is_valid);
  if (after == NULL) {
    *event = (chrome_event){.at = at};
    *is_valid = true;
    after = read_any(shape, p, end, event, is_valid);
  }
  const bool has_time = (event->has_ts || !chrome_has_items(event->phase)) &&
                        (event->has_dur || event->phase != 'X');
  *is_valid &= has_time && (event->phase != 0 || shape->count == 0);
  return after;
}


/* }====== */

/* {====== Events ====== */

/* The position of what looks like the begin of the next event: after } and a
   comma; or the end. */
static const uint8_t *next_event (const uint8_t *p, const uint8_t *end) {
  while ((p = memchr(p, '}', (size_t)(end - p))) != NULL) {
    const uint8_t *q = pf_json_blanks(++p, end);
    if (q == end || *q != ',')
      continue;
    q = pf_json_blanks(q + 1, end);
    if (q < end && *q == '{')
      return q;
  }
  return end;
}


/* Takes what is no event at `p`, or what follows one: reading goes on at the
   next one. */
static pf_status skip_damage (chrome_parser *self, const uint8_t *p,
                              bool is_event, pf_error *error) {
  const pf_bytes bytes = self->bytes;
  const uint8_t *const end = bytes.at + bytes.size;
  const uint8_t *next = pf_json_blanks(p, end);
  if (is_event || next == end || *next != '{') /* else a comma is missing */
    next = next_event(p, end);
  self->at = (size_t)(next - bytes.at);
  self->is_truncated = next == end;
  return next == end
             ? warn(self, PF_DAMAGE, "chrome-truncated", (size_t)(p - bytes.at),
                    "the file ends in an event", error)
             : warn(self, PF_DAMAGE, "chrome-syntax", (size_t)(p - bytes.at),
                    "not a JSON object with a comma or ] after it", error);
}


/* The end of the file in place of an event. */
static pf_status end_events (chrome_parser *self, const uint8_t *p,
                             pf_error *error) {
  const pf_bytes bytes = self->bytes;
  const bool is_cut = p == bytes.at + bytes.size && !self->is_truncated;
  self->at = (size_t)(p - bytes.at); /* it stays there */
  const pf_status status =
      is_cut ? warn(self, PF_NOTE, "chrome-cut", bytes.size,
                    "the file ends before the end of its events", error)
             : PF_OK;
  return status < 0 ? status : PF_END;
}


/* Reads the event at `p`. PF_MORE: there is one; PF_AGAIN: go on at `at`. */
static pf_status take_event (chrome_parser *self, const uint8_t *p,
                             chrome_event *event, pf_error *error) {
  const pf_bytes bytes = self->bytes;
  const uint8_t *const end = bytes.at + bytes.size;
  bool is_valid, has;
  *event = (chrome_event){.at = (size_t)(p - bytes.at)};
  const uint8_t *after = read_event(&self->shape, p, end, event, &is_valid);
  if (after == NULL) {
    const pf_status status = skip_damage(self, p, true, error);
    return status < 0 ? status : PF_AGAIN;
  }
  event->size = (size_t)(after - p);
  p = pf_json_more(after, end, ']', &has);
  if (p == NULL && pf_json_blanks(after, end) < end) {
    const pf_status status = skip_damage(self, after, false, error);
    if (status < 0)
      return status;
  }
  else /* at a bracket, it stays there */
    self->at = p == NULL ? bytes.size : (size_t)(p - bytes.at) - !has;
  if (is_valid)
    return event->phase != 0 ? PF_MORE : PF_AGAIN;
  const pf_status status =
      warn(self, PF_DAMAGE, "chrome-event", event->at,
           "not an event with ph, and ts and dur in microseconds", error);
  return status < 0 ? status : PF_AGAIN;
}


/* Takes a value that is no object. */
static pf_status skip_value (chrome_parser *self, const uint8_t *p,
                             pf_error *error) {
  const uint8_t *const end = self->bytes.at + self->bytes.size;
  pf_json value;
  bool has;
  const uint8_t *after = pf_json_value(p, end, &value);
  if (after == NULL || (after = pf_json_more(after, end, ']', &has)) == NULL)
    return skip_damage(self, p, true, error);
  self->at = (size_t)(after - self->bytes.at) - !has;
  return warn(self, PF_DAMAGE, "chrome-event", (size_t)(p - self->bytes.at),
              "not an object", error);
}


pf_status chrome_next (chrome_parser *self, chrome_event *event,
                       pf_error *error) {
  const pf_bytes bytes = self->bytes;
  const uint8_t *const end = bytes.at + bytes.size;
  pf_status status;
  do {
    const uint8_t *const p = pf_json_blanks(bytes.at + self->at, end);
    if (p == end || *p == ']')
      return end_events(self, p, error);
    if (*p == '{')
      status = take_event(self, p, event, error);
    else {
      status = skip_value(self, p, error);
      status = status == PF_OK ? PF_AGAIN : status;
    }
  } while (status == PF_AGAIN);
  return status;
}


/* }====== */

/* Adds two times, and rounds to ns. */
static bool add (int64_t origin, chrome_time a, chrome_time b, int64_t *sum) {
  const int ps = a.ps + b.ps;
  const int rounded = ps >= 0 ? (ps + 500) / 1000 : (ps - 500) / 1000;
  return !__builtin_add_overflow(a.ns, b.ns, sum) &&
         !__builtin_add_overflow(*sum, origin, sum) &&
         !__builtin_add_overflow(*sum, rounded, sum);
}


bool chrome_interval (const chrome_event *event, int64_t origin, int64_t *start,
                      int64_t *end) {
  const chrome_time none = {0, 0};
  return event->has_ts && add(origin, event->ts, none, start) &&
         add(origin, event->ts, event->has_dur ? event->dur : none, end);
}
