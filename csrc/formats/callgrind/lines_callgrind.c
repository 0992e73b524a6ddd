/*
** lines_callgrind.c - the parser of lines. A line that cannot be read is damage
** and is left out; the position and the names of the lines around it stay.
**
** Used by rows_callgrind.c and open_callgrind.c. The parser owns the tables of
** names; the rest is borrowed.
*/

#include "formats/callgrind/callgrind.h"

#include <stdlib.h>

#include "model/base/memory.h"

enum {
  OBJECTS,
  FILES,
  FUNCTIONS
};


/* {====== Numbers ======

   Functions return the position after what they have read, or NULL. */

static bool ends_line (const uint8_t *p, const uint8_t *end) {
  return p == end || *p == '\n' ||
         (*p == '\r' && (p + 1 == end || p[1] == '\n'));
}


static bool ends_word (const uint8_t *p, const uint8_t *end) {
  return ends_line(p, end) || *p == ' ' || *p == '\t';
}


static const uint8_t *skip_blanks (const uint8_t *p, const uint8_t *end) {
  while (p < end && (*p == ' ' || *p == '\t'))
    p++;
  return p;
}


/* A number below 2^64 of digits of a base. */
static const uint8_t *take_digits (const uint8_t *p, const uint8_t *end,
                                   unsigned base, uint64_t *number) {
  const uint8_t *const begin = p;
  while (p < end && pf_digit(*p) < base)
    p++;
  const pf_bytes digits = {begin, (size_t)(p - begin)};
  return pf_parse_uint(digits, base, number) == PF_OK ? p : NULL;
}


/* A decimal or 0x-hexadecimal number. */
static const uint8_t *take_number (const uint8_t *p, const uint8_t *end,
                                   uint64_t *number) {
  const bool is_hex = end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x';
  return is_hex ? take_digits(p + 2, end, 16, number)
                : take_digits(p, end, 10, number);
}


/* A position: a number, one relative to `before`, or `*`, which is `before`. */
static const uint8_t *take_position (const uint8_t *p, const uint8_t *end,
                                     uint64_t before, uint64_t *position) {
  uint64_t number;
  if (p < end && *p == '*') {
    *position = before;
    return p + 1;
  }
  const uint8_t sign = p < end ? *p : 0;
  const bool is_relative = sign == '+' || sign == '-';
  p = take_number(is_relative ? p + 1 : p, end, &number);
  if (p == NULL)
    return NULL;
  *position = !is_relative  ? number
              : sign == '+' ? before + number
                            : before - number;
  return p;
}


/* The positions at the begin of a line; they become the parser's. */
static const uint8_t *take_positions (callgrind_parser *self, const uint8_t *p,
                                      const uint8_t *end) {
  uint64_t instr = self->instr, line = (uint64_t)self->line;
  if (self->has_instr)
    p = take_position(p, end, instr, &instr);
  if (p != NULL && self->has_line)
    p = take_position(skip_blanks(p, end), end, line, &line);
  if (p == NULL || line > INT64_MAX || !ends_word(p, end))
    return NULL;
  self->instr = instr;
  self->line = (int64_t)line;
  return p;
}


/* The count of an event; "." is 0. */
static const uint8_t *take_cost (const uint8_t *p, const uint8_t *end,
                                 uint64_t factor, int64_t *cost) {
  const bool is_negative = *p == '-';
  uint64_t number = 0;
  if (*p == '.')
    p++;
  else
    p = take_digits(is_negative ? p + 1 : p, end, 10, &number);
  if (p == NULL || !ends_word(p, end) ||
      (factor != 1 && __builtin_mul_overflow(number, factor, &number)) ||
      number > INT64_MAX)
    return NULL;
  *cost = is_negative ? -(int64_t)number : (int64_t)number;
  return p;
}


/* The counts up to the end of a line into `costs`; those that are missing are
   0. Returns that position; NULL if one cannot be read or there are too many.
   */
static const uint8_t *take_costs (const callgrind_file *file, const uint8_t *p,
                                  const uint8_t *end, int64_t *costs) {
  size_t n = 0;
  for (p = skip_blanks(p, end); !ends_line(p, end); p = skip_blanks(p, end)) {
    if (n == file->events.count)
      return NULL;
    p = take_cost(p, end, file->factors[n], &costs[n]);
    if (p == NULL)
      return NULL;
    n++;
  }
  for (; n < file->events.count; n++)
    costs[n] = 0;
  return p;
}


/* Fast path for most lines, which have a line feed: a line number, perhaps with
   a sign, and counts of up to 18 digits with a blank in front of each. Returns
   the position of the line feed; NULL: the general path is needed, and nothing
   has changed but `costs`. */
static const uint8_t *take_fast (callgrind_parser *self, const uint8_t *p) {
  const uint8_t sign = *p;
  const bool is_relative = sign == '+' || sign == '-';
  int64_t numbers[1 + PF_EVENT_COLUMNS];
  size_t n = 0;
  for (p += is_relative; n <= self->file->events.count; p++) {
    const uint8_t *const begin = p;
    int64_t value = 0;
    for (unsigned digit; (digit = (unsigned)(*p - '0')) < 10; p++)
      value = (int64_t)((uint64_t)value * 10 + digit);
    if (p == begin || p - begin > 18)
      return NULL;
    numbers[n++] = value;
    if (*p != ' ')
      break;
  }
  const bool is_below = sign == '-' && numbers[0] > self->line;
  if (*p != '\n' || is_below || numbers[0] > INT32_MAX)
    return NULL;
  self->line = !is_relative  ? numbers[0]
               : sign == '+' ? self->line + numbers[0]
                             : self->line - numbers[0];
  memcpy(self->costs, numbers + 1, (n - 1) * sizeof *numbers);
  memset(self->costs + n - 1, 0,
         (self->file->events.count - (n - 1)) * sizeof *numbers);
  return p;
}


/* }====== */

static pf_status warn (const callgrind_parser *self, const callgrind_line *line,
                       const char *code, const char *what, pf_error *error) {
  return pf_warn(self->trace, PF_DAMAGE, code, PF_EFORMAT, line->at, error,
                 "%s: %.*s", what, PF_SHOWN(line->text, 60));
}


/* {====== Names ====== */

/* Sets *name to the id that a number stands for. `text` has the number and,
   where it is used for the first time, the name. */
static pf_status numbered (callgrind_parser *self, callgrind_names *of,
                           pf_bytes text, const callgrind_line *line,
                           uint32_t *name, pf_error *error) {
  uint64_t number;
  uint32_t id;
  const uint8_t *const end = text.at + text.size;
  const uint8_t *const stop = take_digits(text.at + 1, end, 10, &number);
  const pf_bytes rest =
      stop == NULL ? text : pf_text_after(text, (size_t)(stop - text.at));
  if (stop == NULL || rest.size == 0 || rest.at[0] != ')') {
    *name = pf_intern(self->trace->dictionary, text);
    return *name == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
  }
  const pf_bytes given = pf_trim(pf_text_after(rest, 1));
  if (given.size == 0) {
    id = pf_id_table_find(&of->numbers, number);
    *name = id == PF_NO_ID ? PF_NO_NAME : of->names[id];
    return id == PF_NO_ID
               ? warn(self, line, "callgrind-no-name",
                      "no line before has the name of this number", error)
               : PF_OK;
  }
  if (pf_id_table_words(&of->numbers, &number, 1, &id) != PF_OK ||
      !pf_grow(&of->names, &of->capacity, (size_t)id + 1))
    return pf_no_memory(error);
  of->names[id] = *name = pf_intern(self->trace->dictionary, given);
  return *name == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* Sets the name that a line NAME=VALUE states; `jump` of names that only count
   for their number. */
static pf_status set_name (callgrind_parser *self, const char *key, size_t size,
                           pf_bytes value, const callgrind_line *line,
                           pf_error *error) {
  const bool is_called = key[0] == 'c', is_jump = key[0] == 'j';
  const char *const of = key + size - 2; /* ob, fl, fi, fe or fn */
  const size_t kind = of[0] == 'o' ? OBJECTS : of[1] == 'n' ? FUNCTIONS : FILES;
  uint32_t name = PF_NO_NAME;
  pf_status status = PF_OK;
  if (value.size > 2 && value.at[0] == '(')
    status = numbered(self, &self->of[kind], value, line, &name, error);
  else
    name = pf_intern(self->trace->dictionary, value);
  if (status != PF_OK || is_jump)
    return status;
  callgrind_function *const f = is_called ? &self->called : &self->function;
  uint32_t *const names[] = {&f->object, &f->file, &f->name};
  *names[kind] = name;
  return PF_OK;
}


/* }====== */

/* {====== Parts ====== */

/* Adds the sums that the summary of a part states. */
static void end_part (callgrind_parser *self) {
  const size_t nevents = self->file->events.count;
  self->lacks_summary |= !self->has_summary;
  for (size_t i = 0; i < nevents; i++)
    self->has_overflow |= __builtin_add_overflow(self->stated[i], self->part[i],
                                                 &self->stated[i]);
  self->has_summary = false;
}


/* Compares the sums with those of the summaries: a file that is cut lacks
   lines, and the last one may lack digits. */
static pf_status check_sums (callgrind_parser *self, pf_error *error) {
  const callgrind_file *const file = self->file;
  const size_t size = file->bytes.size;
  pf_status status = PF_OK;
  if (size > 0 && file->bytes.at[size - 1] != '\n')
    status = pf_warn(self->trace, PF_NOTE, "callgrind-last-line", PF_ETRUNCATED,
                     size, error,
                     "the last line has no line feed: its numbers "
                     "may be cut off");
  if (status < 0)
    return status;
  end_part(self);
  if (self->lacks_summary || self->has_overflow)
    return PF_OK;
  for (size_t i = 0; i < file->events.count; i++)
    if (self->stated[i] != self->counted[i])
      return pf_warn(self->trace, file->is_estimate ? PF_NOTE : PF_DAMAGE,
                     "callgrind-sums", PF_ETRUNCATED, PF_NO_OFFSET, error,
                     "the lines have %lld of %s, the summary of the file "
                     "states %lld",
                     (long long)self->counted[i], file->events.list[i].name,
                     (long long)self->stated[i]);
  return PF_OK;
}


static pf_status take_header (callgrind_parser *self,
                              const callgrind_line *line, pf_bytes name,
                              pf_bytes value, pf_error *error) {
  if (pf_bytes_equal(name, pf_bytes_of("positions"))) {
    self->has_line = self->has_instr = self->is_simple = false;
    for (pf_bytes word; pf_next_word(&value, &word);) {
      self->has_line |= pf_bytes_equal(word, pf_bytes_of("line"));
      self->has_instr |=
          word.size > 4 || pf_bytes_equal(word, pf_bytes_of("addr"));
    }
    self->is_simple =
        self->has_line && !self->has_instr && !self->file->has_units;
    return PF_OK;
  }
  if (pf_bytes_equal(name, pf_bytes_of("part")) && self->has_summary)
    end_part(self);
  if (pf_bytes_equal(name, pf_bytes_of("events"))) {
    self->is_selected = pf_bytes_equal(value, self->file->names);
    return self->is_selected
               ? PF_OK
               : warn(self, line, "callgrind-events",
                      "a part with other events is left out", error);
  }
  if (self->is_selected && (pf_bytes_equal(name, pf_bytes_of("summary")) ||
                            pf_bytes_equal(name, pf_bytes_of("totals")))) {
    const uint8_t *const end = value.at + value.size;
    self->has_summary = value.size > 0 && take_costs(self->file, value.at, end,
                                                     self->part) != NULL;
    if (!self->has_summary)
      return warn(self, line, "callgrind-line", "sums cannot be read", error);
  }
  return PF_OK;
}


/* }====== */

/* {====== Lines ====== */

/* Sets the text of a line, which ends at `end`. */
static void set_text (const callgrind_parser *self, callgrind_line *line,
                      size_t end) {
  const pf_bytes bytes = self->file->bytes;
  size_t size = end - line->at;
  line->size = size + (end < bytes.size);
  if (size > 0 && bytes.at[end - 1] == '\r')
    size--;
  line->text = (pf_bytes){bytes.at + line->at, size};
}


/* Sets the function and the number of the calls whose cost a line has; what is
   not stated of the function is as of the caller. */
static void end_call (callgrind_parser *self, callgrind_line *line) {
  line->called = self->called;
  if (line->called.object == PF_NO_NAME)
    line->called.object = self->function.object;
  if (line->called.file == PF_NO_NAME)
    line->called.file = self->function.file;
  line->calls = self->calls;
  self->called = CALLGRIND_NO_FUNCTION;
  self->is_call = false;
}


/* Reads the line up to where it ends, which is found on the way: these lines
   are most of a file. */
static pf_status take_cost_line (callgrind_parser *self, callgrind_line *line,
                                 pf_error *error) {
  const pf_bytes bytes = self->file->bytes;
  const uint8_t *const begin = bytes.at + line->at;
  const uint8_t *const end = bytes.at + bytes.size;
  const bool is_skipped = self->is_skipped;
  const bool is_fast = self->is_simple && line->at < self->file->last_feed;
  const uint8_t *p = is_fast ? take_fast(self, begin) : NULL;
  line->kind = self->is_call ? CALLGRIND_INCLUSIVE : CALLGRIND_COST;
  self->is_skipped = false;
  if (p == NULL) {
    p = take_positions(self, begin, end);
    if (p != NULL)
      p = take_costs(self->file, p, end, self->costs);
  }
  if (p == NULL || self->function.name == PF_NO_NAME) {
    set_text(self, line, pf_line_end(bytes, line->at));
    line->kind = CALLGRIND_REST;
    return warn(self, line, "callgrind-line",
                "not a position and counts of a function", error);
  }
  set_text(self, line, (size_t)(p - bytes.at) + (p < end && *p == '\r'));
  if (line->kind == CALLGRIND_INCLUSIVE)
    end_call(self, line);
  if (!self->is_selected)
    line->kind = CALLGRIND_BLANK;
  if (is_skipped)
    line->kind = CALLGRIND_REST;
  if (line->kind == CALLGRIND_COST)
    for (size_t i = 0; i < self->file->events.count; i++)
      self->has_overflow |= __builtin_add_overflow(
          self->counted[i], self->costs[i], &self->counted[i]);
  return PF_OK;
}


static pf_status take_calls (callgrind_parser *self, callgrind_line *line,
                             pf_bytes value, pf_error *error) {
  uint64_t count;
  const uint8_t *const end = value.at + value.size;
  const uint8_t *const p = take_digits(value.at, end, 10, &count);
  line->kind = CALLGRIND_CALLS;
  if (p == NULL || count > INT64_MAX || self->called.name == PF_NO_NAME) {
    line->kind = CALLGRIND_REST;
    self->is_skipped = true;
    return warn(self, line, "callgrind-line",
                "not the number of calls of a function", error);
  }
  self->is_call = true;
  self->calls = (int64_t)count;
  self->calls_at = line->at;
  return PF_OK;
}


/* The keys of names with their lengths: a list for take_key. */
static bool is_name_key (const uint8_t *key, size_t size) {
  static const char keys[] = "ob= fl= fi= fe= fn= cob=cfi=cfl=cfn=jfi=jfn=job=";
  for (size_t i = 0; i + 4 <= sizeof keys - 1; i += 4)
    if (size == (keys[i + 2] == '=' ? 2u : 3u) &&
        memcmp(keys + i, key, size) == 0)
      return true;
  return false;
}


/* A line KEY=VALUE. */
static pf_status take_key (callgrind_parser *self, callgrind_line *line,
                           size_t size, pf_error *error) {
  const pf_bytes text = line->text;
  const pf_bytes key = {text.at, size};
  const pf_bytes value = pf_trim(pf_text_after(text, size + 1));
  if (is_name_key(key.at, size)) {
    line->kind = CALLGRIND_NAME;
    return set_name(self, (const char *)key.at, size, value, line, error);
  }
  if (pf_bytes_equal(key, pf_bytes_of("calls")))
    return take_calls(self, line, value, error);
  if (pf_bytes_equal(key, pf_bytes_of("jump")) ||
      pf_bytes_equal(key, pf_bytes_of("jcnd"))) {
    line->kind = CALLGRIND_JUMP;
    return PF_OK;
  }
  line->kind = CALLGRIND_REST;
  return warn(self, line, "callgrind-line", "not a line of the format", error);
}


static pf_status take_text (callgrind_parser *self, callgrind_line *line,
                            pf_error *error) {
  pf_bytes name, value;
  size_t size = 0;
  while (size < line->text.size && size < 6 && line->text.at[size] >= 'a' &&
         line->text.at[size] <= 'z')
    size++;
  if (size > 1 && size < line->text.size && line->text.at[size] == '=')
    return take_key(self, line, size, error);
  if (callgrind_split_header(line->text, &name, &value)) {
    line->kind = CALLGRIND_HEADER;
    return take_header(self, line, name, value, error);
  }
  line->kind = CALLGRIND_REST;
  return warn(self, line, "callgrind-line", "not a line of the format", error);
}


/* After calls=, a line with the cost must follow. */
static pf_status check_call (callgrind_parser *self, const callgrind_line *line,
                             pf_error *error) {
  const callgrind_line calls = {.at = (size_t)self->calls_at,
                                .text = pf_bytes_of("")};
  const bool is_waiting = self->is_call && line->at != self->calls_at;
  if (!is_waiting || line->kind == CALLGRIND_BLANK)
    return PF_OK;
  self->is_call = false;
  return warn(self, &calls, "callgrind-line",
              "no line with the cost of the calls follows", error);
}


pf_status callgrind_next (callgrind_parser *self, callgrind_line *line,
                          pf_error *error) {
  const pf_bytes bytes = self->file->bytes;
  if (self->at == bytes.size) {
    const pf_status status = check_sums(self, error);
    return status < 0 ? status : PF_END;
  }
  *line = (callgrind_line){.kind = CALLGRIND_BLANK, .at = self->at};
  const uint8_t first = bytes.at[self->at];
  const bool is_cost = (unsigned)(first - '0') < 10 || first == '+' ||
                       first == '-' || first == '*';
  pf_status status = PF_OK;
  if (is_cost)
    status = take_cost_line(self, line, error);
  else {
    set_text(self, line, pf_line_end(bytes, self->at));
    self->is_skipped = false;
    if (first != '#' && pf_trim(line->text).size > 0)
      status = take_text(self, line, error);
  }
  self->at += line->size;
  if (status == PF_OK)
    status = check_call(self, line, error);
  return status == PF_OK ? PF_MORE : status;
}


/* }====== */
