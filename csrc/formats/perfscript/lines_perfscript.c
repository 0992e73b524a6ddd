/*
** lines_perfscript.c - the parser of lines. A line that cannot be read is
** damage and is left out, a sample with its frames; the samples around it stay.
**
** Used by rows_perfscript.c and open_perfscript.c. Nothing is allocated; all
** texts are borrowed from the file.
*/

#include "formats/perfscript/perfscript.h"

/* {====== Numbers and words ====== */

/* Whether a word is a time: "19.212345:". */
static bool is_time (pf_bytes word) {
  const size_t whole = pf_count_digits(word, 10);
  if (whole == 0 || whole + 2 >= word.size || word.at[whole] != '.')
    return false;
  const size_t part = pf_count_digits(pf_text_after(word, whole + 1), 10);
  return part > 0 && whole + part + 2 == word.size &&
         word.at[word.size - 1] == ':';
}


/* Sets the time of a header from such a word; digits below 1 ns are left out.
 */
static void set_time (perfscript_header *h, pf_bytes word) {
  const size_t whole = pf_count_digits(word, 10);
  uint64_t seconds = 0, ns = 0;
  for (size_t i = 0; i < 9; i++) {
    const size_t at = whole + 1 + i;
    const unsigned digit = at < word.size - 1 ? word.at[at] - '0' : 0;
    ns = ns * 10 + digit;
  }
  h->has_time = true;
  h->is_late = pf_parse_uint((pf_bytes){word.at, whole}, 10, &seconds) < 0 ||
               seconds >= INT64_MAX / 1000000000;
  h->time = h->is_late ? 0 : (int64_t)(seconds * 1000000000 + ns);
}


/* }====== */

/* {====== Headers of samples ====== */

/* Takes the numbers "71/73" or "73" from a word. */
static bool take_ids (perfscript_header *h, pf_bytes word) {
  const uint8_t *const slash =
      word.size > 0 ? memchr(word.at, '/', word.size) : NULL;
  const size_t size = slash == NULL ? 0 : (size_t)(slash - word.at);
  const pf_bytes tid = slash == NULL ? word : pf_text_after(word, size + 1);
  if (!pf_parse_int(tid, &h->tid) ||
      (slash != NULL && !pf_parse_int((pf_bytes){word.at, size}, &h->pid)))
    return false;
  h->has_tid = true;
  h->has_pid = slash != NULL;
  return true;
}


/* Takes "[003]". */
static bool take_cpu (perfscript_header *h, pf_bytes word) {
  h->has_cpu = word.size > 2 && word.at[0] == '[' &&
               word.at[word.size - 1] == ']' &&
               pf_parse_int((pf_bytes){word.at + 1, word.size - 2}, &h->cpu);
  return h->has_cpu;
}


/* Returns whether a text ends in a number or a CPU. */
static bool ends_in_number (pf_bytes text) {
  perfscript_header h = {.cpu = 0};
  pf_bytes word;
  return pf_last_word(&text, &word) &&
         (take_cpu(&h, word) || take_ids(&h, word));
}


/* Whether a word is the field misc: letters such as K, U, Sp. */
static bool is_misc (pf_bytes word) {
  for (size_t i = 0; i < word.size; i++)
    if (memchr("KUHGgMESp", word.at[i], 9) == NULL)
      return false;
  return word.size > 0 && word.size <= 4;
}


/* Splits what stands in front of the time: comm, pid/tid, [cpu], misc. Comm is
   anything, so the words are taken from the end. */
static void set_lane (perfscript_header *h, pf_bytes text) {
  pf_bytes word, rest = text;
  if (pf_last_word(&rest, &word) && is_misc(word) && ends_in_number(rest))
    text = rest;
  rest = text;
  if (pf_last_word(&rest, &word) && take_cpu(h, word))
    text = rest;
  h->lane = pf_trim(text);
  rest = text;
  const bool has_ids = pf_last_word(&rest, &word) && take_ids(h, word);
  h->comm = pf_trim(has_ids ? rest : text);
}


/* Whether a word begins a field that perf prints after a frame: branches
   FROM/TO/P/-/-/0, instructions, registers. */
static bool ends_frame (pf_bytes word) {
  for (size_t i = 0; i + 6 < word.size; i++)
    if (word.at[i] == '/' && memchr("PM-", word.at[i + 1], 3) != NULL &&
        word.at[i + 2] == '/' && memchr("X-", word.at[i + 3], 2) != NULL &&
        word.at[i + 4] == '/' && memchr("A-", word.at[i + 5], 2) != NULL)
      return true;
  return pf_begins_with(word, "insn:") || pf_begins_with(word, "ilen:") ||
         pf_begins_with(word, "ABI:");
}


/* Sets the frame of a sample in one line. perf prints numbers right-aligned in
   columns of 16 bytes: the fields addr and weight, then the address of the
   frame, symbol and module, then phys_addr. So it begins at the last column
   that has something after it. Text that begins otherwise has no frame. */
static void set_frame (perfscript_header *h, pf_bytes after) {
  size_t start = SIZE_MAX;  /* of the address, */
  size_t stop = 0, end = 0; /* its end and that of the word before */
  size_t last = after.size;
  pf_bytes rest = after, word;
  while (last == after.size && pf_next_word(&rest, &word)) {
    const size_t at = (size_t)(word.at - after.at);
    const bool is_hex =
        pf_count_digits(word, 16) == word.size && word.size <= 16;
    const bool is_column = is_hex && at + word.size - end >= 17;
    const bool is_long = is_hex && word.size >= 6 && end == 0 &&
                         rest.size > 0 && rest.at[rest.size - 1] == ')';
    if (end == 0 && !is_column && !is_long)
      return;
    if (ends_frame(word) ||
        (is_column && end > stop && pf_trim(rest).size == 0))
      last = at;
    else if (is_column || is_long) {
      start = at;
      stop = at + word.size;
    }
    end = at + word.size;
  }
  if (start != SIZE_MAX)
    h->frame = pf_trim((pf_bytes){after.at + start, last - start});
}


/* Takes what follows the time: period, event, detail. */
static void set_event (perfscript_header *h, pf_bytes text) {
  pf_bytes word, rest = text;
  int64_t period = 0;
  h->is_record = pf_begins_with(pf_trim(text), "PERF_RECORD_");
  h->detail = pf_trim(text);
  if (h->is_record || !pf_next_word(&rest, &word))
    return;
  const bool has_period = pf_parse_int(word, &period) && period >= 0;
  if (has_period && !pf_next_word(&rest, &word))
    word = (pf_bytes){NULL, 0};
  if (word.size < 2 || word.at[word.size - 1] != ':')
    return;
  h->has_event = true;
  h->event = (pf_bytes){word.at, word.size - 1};
  h->has_period = has_period;
  h->period = has_period ? period : 0;
  h->detail = pf_trim(rest);
  set_frame(h, pf_text_after(text, (size_t)(word.at - text.at) + word.size));
  if (h->frame.size == h->detail.size)
    h->detail = (pf_bytes){NULL, 0};
}


/* Splits a line without a time at its event: a period is there if the event
   follows two numbers. */
static void set_at_event (perfscript_header *h, pf_bytes text, size_t at) {
  pf_bytes before = {text.at, at}, word;
  pf_bytes shorter = before;
  int64_t period = 0;
  if (pf_last_word(&shorter, &word) && pf_parse_int(word, &period) &&
      ends_in_number(shorter))
    before = shorter;
  set_lane(h, before);
  set_event(h, pf_text_after(text, before.size));
}


perfscript_header perfscript_parse_header (pf_bytes text) {
  perfscript_header h = {.has_time = false};
  pf_bytes rest = text, word, before = {NULL, 0};
  int64_t number;
  for (; pf_next_word(&rest, &word); before = word) {
    const size_t at = (size_t)(word.at - text.at);
    if (word.at[word.size - 1] == ':' && is_time(word)) {
      set_time(&h, word);
      set_lane(&h, (pf_bytes){text.at, at});
      set_event(&h, pf_text_after(text, at + word.size));
      return h;
    }
    if (word.size > 1 && word.at[word.size - 1] == ':' &&
        ends_in_number(before)) {
      set_at_event(&h, text, at);
      return h;
    }
    if (pf_begins_with(word, "PERF_RECORD_") && pf_parse_int(before, &number)) {
      h.is_record = true;
      return h;
    }
  }
  set_lane(&h, text);
  return h;
}


/* }====== */

/* {====== Frames ====== */

bool perfscript_is_frame (pf_bytes text) {
  size_t front = 0;
  while (front < text.size && pf_is_blank(text.at[front]))
    front++;
  const size_t digits = pf_count_digits(pf_text_after(text, front), 16);
  const size_t end = front + digits;
  return front > 0 && digits > 0 && digits <= 16 &&
         (end == text.size || text.at[end] == ' ');
}


/* The text without "+0x24" at its end. */
static pf_bytes without_offset (pf_bytes text) {
  size_t at = text.size;
  while (at > 0 && pf_digit(text.at[at - 1]) < 16)
    at--;
  const bool has_offset = at > 2 && at < text.size && text.at[at - 1] == 'x' &&
                          text.at[at - 2] == '0' && text.at[at - 3] == '+';
  return has_offset ? (pf_bytes){text.at, at - 3} : text;
}


/* The position of the parenthesis that the last byte, which is one, closes;
   SIZE_MAX if none has a blank in front. Symbols and paths have parentheses,
   too, mostly in pairs. */
static size_t module_start (pf_bytes text) {
  size_t depth = 0, last = SIZE_MAX;
  for (size_t i = text.size; i > 0; i--) {
    const uint8_t c = text.at[i - 1];
    const bool is_start = c == '(' && (i == 1 || text.at[i - 2] == ' ');
    depth += c == ')';
    if (is_start && i > 1) {
      /* The blank after an offset is certainly the end of a symbol. */
      const pf_bytes symbol = {text.at, i - 2};
      if (without_offset(symbol).size < symbol.size)
        return i - 1;
    }
    if (is_start && last == SIZE_MAX && depth == 1)
      last = i - 1;
    if (c == '(' && depth > 0 && --depth == 0 && last == SIZE_MAX)
      return SIZE_MAX; /* of the symbol: f(int) */
  }
  return last;
}


bool perfscript_parse_frame (pf_bytes text, perfscript_frame *frame) {
  pf_bytes addr;
  *frame = (perfscript_frame){.addr = 0};
  text = pf_trim(text);
  if (!pf_next_word(&text, &addr) ||
      pf_parse_uint(addr, 16, &frame->addr) != PF_OK)
    return false;
  text = pf_trim(text);
  frame->symbol = text;
  if (text.size > 0 && text.at[text.size - 1] == ')') {
    const size_t at = module_start(text);
    if (at != SIZE_MAX) {
      frame->symbol = pf_trim((pf_bytes){text.at, at});
      frame->module =
          without_offset((pf_bytes){text.at + at + 1, text.size - at - 2});
    }
  }
  if (pf_bytes_equal(frame->module, pf_bytes_of("inlined")))
    frame->module = (pf_bytes){NULL, 0};
  frame->symbol = without_offset(frame->symbol);
  return true;
}


/* }====== */

/* {====== Lines ====== */

bool perfscript_is_comment (pf_bytes text) {
  return text.size > 0 && text.at[0] == '#' &&
         (text.size == 1 || text.at[1] == ' ');
}


static pf_status warn (const perfscript_parser *self,
                       const perfscript_line *line, pf_note_kind kind,
                       const char *code, const char *what, pf_error *error) {
  return pf_warn(self->trace, kind, code, PF_EFORMAT, line->at, error,
                 "%s: %.*s", what, PF_SHOWN(pf_trim(line->text), 60));
}


static pf_status take_rest (perfscript_parser *self, perfscript_line *line,
                            pf_error *error) {
  line->kind = PERFSCRIPT_REST;
  if (self->is_skipped)
    return PF_OK;
  return self->is_open ? warn(self, line, PF_NOTE, "perfscript-left-out",
                              "lines of further fields are not read", error)
                       : warn(self, line, PF_DAMAGE, "perfscript-line",
                              "not a line of the format", error);
}


static pf_status take_frame (perfscript_parser *self, perfscript_line *line,
                             pf_error *error) {
  line->kind = self->is_skipped ? PERFSCRIPT_REST : PERFSCRIPT_FRAME;
  if (self->is_open || self->is_skipped)
    return PF_OK;
  line->is_first = !self->file->has_headers;
  self->is_open = line->is_first;
  self->is_skipped = !line->is_first;
  if (line->is_first)
    return PF_OK;
  line->kind = PERFSCRIPT_REST;
  return warn(self, line, PF_DAMAGE, "perfscript-line",
              "no line of a sample is in front of its stack", error);
}


/* Takes the header that has been parsed: it must have what the first one of the
   file has. A line with neither time nor event is one in front of a frame. */
static pf_status take_sample (perfscript_parser *self, perfscript_line *line,
                              pf_error *error) {
  const perfscript_file *const file = self->file;
  perfscript_header *const h = &line->header;
  const size_t after = line->at + line->size;
  const bool has_stack =
      after < file->bytes.size && file->bytes.at[after] == '\t';
  if (h->is_record) {
    line->kind = PERFSCRIPT_RECORD;
    self->is_open = self->is_skipped = false;
    return PF_OK;
  }
  const bool is_sample =
      h->has_time || (h->has_event && h->has_tid) ||
      (has_stack && (h->has_tid || !pf_is_blank(*line->text.at)));
  if (!is_sample)
    return take_rest(self, line, error);
  self->is_skipped =
      (file->has_time && !h->has_time) || (file->has_tid && !h->has_tid);
  self->is_open = !self->is_skipped;
  self->is_bare = !pf_is_blank(*line->text.at) && h->comm.size > 0 &&
                  h->detail.size == 0 && h->frame.size == 0;
  line->kind = self->is_open ? PERFSCRIPT_SAMPLE : PERFSCRIPT_REST;
  if (self->is_skipped)
    return warn(self, line, PF_DAMAGE, "perfscript-line",
                "a sample lacks the time or the thread that others have",
                error);
  return !h->is_late ? PF_OK
                     : warn(self, line, PF_DAMAGE, "perfscript-time",
                            "the time does not fit into 64 bits in ns", error);
}


/* A line that begins with blanks: of a sample in one line, a frame, or its
   source line. */
static pf_status take_indented (perfscript_parser *self, perfscript_line *line,
                                bool had_frame, pf_error *error) {
  const bool is_frame = perfscript_is_frame(line->text);
  if (line->text.at[0] == '\t')
    return is_frame ? take_frame(self, line, error)
                    : take_rest(self, line, error);
  line->header = perfscript_parse_header(line->text);
  const perfscript_header *const h = &line->header;
  const bool is_number = !self->is_open && h->comm.size == 0;
  if (h->is_record ||
      (h->has_tid && (h->has_time || h->has_event || is_number)))
    return take_sample(self, line, error);
  if (is_frame)
    return take_frame(self, line, error);
  if (!had_frame || !pf_begins_with(line->text, "  "))
    return take_rest(self, line, error);
  const pf_status status = take_rest(self, line, error);
  line->kind = PERFSCRIPT_SOURCE;
  return status;
}


/* The last stack must end in an empty line. */
static pf_status check_end (perfscript_parser *self, pf_error *error) {
  if (!self->is_open || (!self->has_frames && !self->is_bare))
    return PF_OK;
  self->is_open = false;
  return pf_warn(self->trace, PF_NOTE, "perfscript-no-end", PF_ETRUNCATED,
                 self->at, error,
                 "no empty line is after the last sample: "
                 "its outer functions may be cut off");
}


/* The last line, if it has no line feed. The sample before it is complete if
   the line would begin another one. */
static pf_status take_cut (perfscript_parser *self, perfscript_line *line,
                           pf_error *error) {
  const uint8_t first = line->text.size > 0 ? *line->text.at : '\n';
  line->kind = PERFSCRIPT_REST;
  self->is_cut =
      self->is_open && (first == '\t' || (first == ' ' && self->has_frames));
  self->is_open = false;
  return warn(self, line, PF_DAMAGE, "perfscript-truncated",
              "the file ends inside a line; its sample is left out", error);
}


pf_status perfscript_next (perfscript_parser *self, perfscript_line *line,
                           pf_error *error) {
  const pf_bytes bytes = self->file->bytes;
  if (self->at == bytes.size) {
    const pf_status status = check_end(self, error);
    return status < 0 ? status : PF_END;
  }
  line->kind = PERFSCRIPT_BLANK;
  line->at = self->at;
  line->is_first = false;
  line->text = pf_line_at(bytes, self->at, &line->size);
  self->at += line->size;
  const bool had_frame = self->has_frames;
  const uint8_t first = line->text.size > 0 ? line->text.at[0] : '\n';
  pf_status status = PF_OK;
  if (perfscript_is_comment(line->text))
    line->kind = PERFSCRIPT_COMMENT;
  else if (self->at == bytes.size && bytes.at[bytes.size - 1] != '\n')
    status = take_cut(self, line, error);
  else if (pf_trim(line->text).size == 0)
    self->is_open = self->is_skipped = false;
  else if (pf_is_blank(first))
    status = take_indented(self, line, had_frame, error);
  else {
    line->header = perfscript_parse_header(line->text);
    status = take_sample(self, line, error);
  }
  self->has_frames =
      line->kind == PERFSCRIPT_FRAME || line->kind == PERFSCRIPT_SOURCE;
  self->is_bare &= line->kind == PERFSCRIPT_SAMPLE;
  return status == PF_OK ? PF_MORE : status;
}


/* }====== */
