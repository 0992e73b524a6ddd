/*
** parse_chrome.c - reads the events of a file one after the other. An event
** that cannot be read is damage; reading goes on at the next one.
**
** Used by all readers of tables and by the scan of lanes_chrome.c. The texts of
** an event are borrowed from the source.
*/

#include "formats/chrome/chrome.h"

pf_status chrome_warn (const chrome_parser *self, pf_note_kind kind,
                       const char *code, size_t at, const char *what,
                       pf_error *error) {
  const pf_bytes text = pf_line_from(self->bytes, at);
  if (self->is_quiet)
    return PF_OK;
  return pf_warn(self->trace, kind, code, PF_EFORMAT, at, error, "%s%s%.*s",
                 what, text.size > 0 ? ": " : "", PF_SHOWN(text, 60));
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
  if (i < t.size || i == 0 || whole > INT64_MAX / 1000 - 1) /* not usual */
    return pf_parse_scaled(t, 3, &time->ns, &time->ps) == PF_OK;
  static const unsigned powers[] = {1, 10, 100, 1000};
  *time =
      (chrome_time){(int64_t)(whole * 1000 + thousandths * powers[left]), 0};
  return true;
}


/* Reads the object at `p`. NULL: it is not one. *is_valid: it is an event, or
   an empty object. */
static const uint8_t *read_event (pf_json_shape *shape, const uint8_t *p,
                                  const uint8_t *end, chrome_event *event,
                                  bool *is_valid) {
  static const char *const names[] = {"name", "cat", "pid", "tid", "id",
                                      "args", "ph",  "ts",  "dur", "id2"};
  static const pf_json_wanted wanted = {names, CHROME_TEXTS - 1};
  pf_json *const texts = event->texts;
  bool is_empty;
  p = pf_json_members(shape, &wanted, p, end, texts, &is_empty);
  if (p == NULL)
    return NULL;
  const pf_json *const phase = &texts[CHROME_PHASE];
  if (phase->kind == PF_JSON_STRING && phase->text.size > 0)
    event->phase = phase->text.at[0];
  event->has_ts = texts[CHROME_TS].kind != PF_JSON_NONE &&
                  read_time(&texts[CHROME_TS], &event->ts);
  event->has_dur = texts[CHROME_DUR].kind != PF_JSON_NONE &&
                   read_time(&texts[CHROME_DUR], &event->dur) &&
                   event->dur.ns >= 0;
  if (texts[CHROME_ID].kind == PF_JSON_NONE)
    texts[CHROME_ID] = texts[CHROME_ID2];
  const bool has_time = event->has_ts || !chrome_has_items(event->phase);
  const bool is_whole = event->has_dur || event->phase != 'X';
  *is_valid = is_empty || (has_time && is_whole && event->phase != 0);
  return p;
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
             ? chrome_warn(self, PF_DAMAGE, "chrome-truncated",
                           (size_t)(p - bytes.at), "the file ends in an event",
                           error)
             : chrome_warn(
                   self, PF_DAMAGE, "chrome-syntax", (size_t)(p - bytes.at),
                   "not a JSON object with a comma or ] after it", error);
}


/* The end of the file in place of an event. */
static pf_status end_events (chrome_parser *self, const uint8_t *p,
                             pf_error *error) {
  const pf_bytes bytes = self->bytes;
  const bool is_cut = p == bytes.at + bytes.size && !self->is_truncated;
  self->at = (size_t)(p - bytes.at); /* it stays there */
  const pf_status status =
      is_cut ? chrome_warn(self, PF_NOTE, "chrome-cut", bytes.size,
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
  const pf_status status = chrome_warn(
      self, PF_DAMAGE, "chrome-event", event->at,
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
  return chrome_warn(self, PF_DAMAGE, "chrome-event",
                     (size_t)(p - self->bytes.at), "not an object", error);
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
