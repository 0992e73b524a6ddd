/*
** lines_btf.c - the parser of lines. A line that cannot be read is damage and
** is left out. A text that names something in a line is an entity; it is looked
** up in a cache by its bytes, so that most lines need no name of the
** dictionary.
**
** Used by open_btf.c, tasks_btf.c and rows_btf.c. The parser owns the entities
** and their index; the rest is borrowed.
*/

#include <stdlib.h>

#include "formats/btf/format_btf.h"
#include "model/base/memory.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))


pf_status btf_warn (pf_trace *trace, pf_note_kind kind, const char *code,
                    const btf_line *line, const char *what, pf_error *error) {
  return pf_warn(trace, kind, code, PF_EFORMAT, line->at, error, "%s: %.*s",
                 what, PF_SHOWN(line->text, 80));
}


/* {====== Fields ====== */

bool btf_read_num (pf_bytes text, double *number) {
  const bool has_sign = text.size > 1 && (*text.at == '-' || *text.at == '+');
  const size_t at = has_sign ? 1 : 0;
  return text.size > at && (pf_digit(text.at[at]) < 10 || text.at[at] == '.') &&
         pf_parse_double(text, number);
}


size_t btf_split (pf_bytes text, pf_bytes fields[BTF_FIELDS]) {
  const uint8_t *p = text.at;
  const uint8_t *const end = p + text.size;
  size_t n = 0;
  for (; n < BTF_FIELDS; n++) {
    const uint8_t *const begin = p;
    while (p < end && (*p != ',' || n + 1 == BTF_FIELDS))
      p++;
    fields[n] = pf_trim((pf_bytes){begin, (size_t)(p - begin)});
    if (p == end)
      return n + 1;
    p++;
  }
  return n;
}


btf_type btf_type_of (pf_bytes text) {
  static const char *const others[] = {
      "STI",       "SEM", "C",  "SCHED", "EVENT", "SYS",     "SIM",
      "Processor", "ECU", "IB", "M",     "OS",    "SPINLOCK"};
  if (text.size == 1)
    switch (text.at[0]) {
      case 'T': return BTF_TYPE_T;
      case 'I': return BTF_TYPE_I;
      case 'R': return BTF_TYPE_R;
      default: break;
    }
  if (pf_bytes_equal(text, pf_bytes_of("SIG")))
    return BTF_TYPE_SIG;
  if (pf_bytes_equal(text, pf_bytes_of("ISR")))
    return BTF_TYPE_I;
  for (size_t i = 0; i < COUNT(others); i++)
    if (pf_bytes_equal(text, pf_bytes_of(others[i])))
      return BTF_TYPE_OTHER;
  return BTF_TYPE_UNKNOWN;
}


unsigned btf_word_of (pf_bytes text) {
  static const char *const words[BTF_NO_WORD] = {"activate",
                                                 "start",
                                                 "preempt",
                                                 "resume",
                                                 "terminate",
                                                 "poll",
                                                 "run",
                                                 "park",
                                                 "poll_parking",
                                                 "release_parking",
                                                 "wait",
                                                 "release",
                                                 "suspend",
                                                 "read",
                                                 "write",
                                                 "mtalimitexceeded",
                                                 "boundedmigration",
                                                 "phasemigration",
                                                 "fullmigration",
                                                 "enforcedmigration",
                                                 "interrupt_suspended"};
  size_t i = 0;
  while (i < BTF_NO_WORD && !pf_bytes_alike(text, pf_bytes_of(words[i])))
    i++;
  return (unsigned)i;
}


/* }====== */

/* {====== Entities ====== */

/* Replace a number that stands for a name. */
static pf_bytes mapped (const btf_parser *self, size_t kind, pf_bytes text) {
  uint64_t number;
  if (self->file->mapped[kind].count == 0 ||
      pf_parse_uint(text, 10, &number) != PF_OK)
    return text;
  const uint32_t id = pf_id_table_find(&self->file->mapped[kind], number);
  return id == PF_NO_ID
             ? text
             : pf_name(self->trace->dictionary, self->file->names[kind][id]);
}


/* Restore a name that profio has written: %XX is a byte, and %:N at the end a
   number, which *number is set to. `text` becomes the name, in parser->text.
   Returns what is left of it, %:N. */
static pf_bytes unescape (btf_parser *self, pf_bytes *text, uint32_t *number) {
  uint64_t value;
  size_t size = 0;
  pf_bytes rest = {NULL, 0};
  for (size_t i = 0; i < text->size; i++) {
    const uint8_t *const at = text->at + i;
    const size_t left = text->size - i;
    if (*at == '%' && left > 2 && at[1] == ':' &&
        pf_parse_uint(pf_text_after(*text, i + 2), 10, &value) == PF_OK &&
        value <= UINT32_MAX) {
      *number = (uint32_t)value;
      rest = (pf_bytes){at, left};
      break;
    }
    const bool is_code =
        *at == '%' && left > 2 && pf_digit(at[1]) < 16 && pf_digit(at[2]) < 16;
    self->text[size++] =
        is_code ? (uint8_t)(pf_digit(at[1]) << 4 | pf_digit(at[2])) : *at;
    i += is_code ? 2 : 0;
  }
  *text = (pf_bytes){self->text, size};
  return rest;
}


static bool set_names (btf_parser *self, btf_entity *entity, pf_bytes text) {
  pf_dictionary *const dictionary = self->trace->dictionary;
  text = mapped(self, 0, text);
  entity->number = 0;
  if (!self->file->is_escaped) {
    entity->name = entity->unique = pf_intern(dictionary, text);
    return entity->name != PF_NO_NAME;
  }
  if (!pf_grow(&self->text, &self->text_capacity, text.size + 1))
    return false;
  const pf_bytes rest = unescape(self, &text, &entity->number);
  entity->name = pf_intern(dictionary, text);
  if (rest.size > 0)
    memmove(self->text + text.size, rest.at, rest.size);
  text.size += rest.size;
  entity->unique = pf_intern(dictionary, text);
  return entity->name != PF_NO_NAME && entity->unique != PF_NO_NAME;
}


/* Set the number in which the name of an entity ends. */
static void set_end (btf_entity *entity, pf_bytes name) {
  size_t at = name.size;
  while (at > 0 && name.size - at < 18 && pf_digit(name.at[at - 1]) < 10)
    at--;
  entity->has_end = pf_parse_int(pf_text_after(name, at), &entity->end);
}


/* Add the entity of a text, unless another text has the same name. */
static pf_status add_entity (btf_parser *self, pf_bytes text, uint32_t *id,
                             pf_error *error) {
  pf_dictionary *const dictionary = self->trace->dictionary;
  btf_entity new = {.task = PF_NO_TASK};
  memset(new.areas, 0xff, sizeof new.areas);
  if (!set_names(self, &new, text) ||
      !pf_grow_filled(&self->by_name, &self->by_name_capacity,
                      (size_t) new.unique + 1, 0xff) ||
      !pf_grow(&self->entities, &self->capacity, self->nentities + 1))
    return pf_no_memory(error);
  *id = self->by_name[new.unique];
  if (*id != PF_NO_ID)
    return PF_OK;
  new.word = (uint8_t)btf_word_of(pf_name(dictionary, new.unique));
  set_end(&new, pf_name(dictionary, new.name));
  *id = self->by_name[new.unique] = (uint32_t)self->nentities;
  self->entities[self->nentities++] = new;
  return PF_OK;
}


static pf_status find_entity (btf_parser *self, pf_bytes text, uint32_t *id,
                              pf_error *error) {
  pf_text_slot *slot;
  pf_status status = PF_OK;
  if (!pf_text_cached(&self->known, text, &slot)) {
    status = add_entity(self, text, id, error);
    if (status == PF_OK)
      *slot = (pf_text_slot){text, *id};
  }
  else
    *id = slot->value;
  return status;
}


void btf_parser_free (btf_parser *self) {
  free(self->entities);
  free(self->by_name);
  free(self->text);
}


/* }====== */

/* {====== Lines ====== */

/* Set the time of a line, in ns. */
static pf_status set_time (btf_parser *self, btf_line *line, pf_bytes text,
                           pf_error *error) {
  const int64_t factor = (int64_t)self->file->factor;
  const int64_t divisor = (int64_t)self->file->divisor;
  int64_t time;
  if (!pf_parse_int(text, &time) ||
      __builtin_mul_overflow(time, factor, &time)) {
    line->kind = BTF_LINE_REST;
    return btf_warn(self->trace, PF_DAMAGE, "btf-time", line,
                    "the time is no whole number, or too large", error);
  }
  const bool is_rounded = divisor > 1 && time % divisor != 0;
  line->time = time / divisor - (time < 0 && is_rounded);
  const bool falls = self->has_begun && line->time < self->last;
  const bool is_first = is_rounded && !self->has_rounded;
  self->last = line->time;
  self->has_begun = true;
  self->has_rounded |= is_rounded;
  pf_status status = PF_OK;
  if (is_first)
    status = btf_warn(self->trace, PF_NOTE, "btf-ps", line,
                      "times in ps are rounded down to ns", error);
  if (status == PF_OK && falls)
    status =
        btf_warn(self->trace, PF_DAMAGE, "btf-time-falls", line,
                 "the time is earlier than that of the event before", error);
  return status;
}


/* Set the instance that a field states; it may be empty. */
static pf_status set_instance (btf_parser *self, const btf_line *line,
                               pf_bytes text, int64_t *instance, bool *has,
                               pf_error *error) {
  *instance = 0;
  *has = pf_parse_int(text, instance);
  return *has || text.size == 0
             ? PF_OK
             : btf_warn(self->trace, PF_DAMAGE, "btf-instance", line,
                        "the number of an instance is no whole number", error);
}


static pf_status check_words (btf_parser *self, const btf_line *line,
                              pf_error *error) {
  const unsigned word = self->entities[line->event].word;
  static const uint32_t task = (1u << PF_TASK_WORDS) - 1;
  static const uint32_t of[] = {
      [BTF_TYPE_T] = task,
      [BTF_TYPE_I] = task,
      [BTF_TYPE_R] = 1u << PF_TASK_START | 1u << PF_TASK_TERMINATE |
                     1u << PF_TASK_SUSPEND | 1u << PF_TASK_RESUME,
      [BTF_TYPE_SIG] = 1u << BTF_READ | 1u << BTF_WRITE};
  if (line->type == BTF_TYPE_UNKNOWN)
    return btf_warn(self->trace, PF_NOTE, "btf-type", line,
                    "an unknown type of target", error);
  const bool is_notified =
      line->type <= BTF_TYPE_I && word >= BTF_NOTIFIED && word < BTF_NO_WORD;
  if (line->type == BTF_TYPE_OTHER || is_notified ||
      (of[line->type] >> word & 1) != 0)
    return PF_OK;
  return btf_warn(self->trace, PF_DAMAGE, "btf-event", line,
                  "an unknown event of this type", error);
}


static pf_status take_event (btf_parser *self, btf_line *line,
                             pf_error *error) {
  pf_bytes fields[BTF_FIELDS];
  const size_t count = btf_split(line->text, fields);
  if (count + 1 < BTF_FIELDS || fields[6].size == 0) {
    line->kind = BTF_LINE_REST;
    return line->size == line->text.size
               ? btf_warn(self->trace, PF_DAMAGE, "btf-last-line", line,
                          "the file ends in a line", error)
               : btf_warn(self->trace, PF_DAMAGE, "btf-line", line,
                          "not the seven or eight fields of an event", error);
  }
  line->kind = BTF_LINE_EVENT;
  pf_status status = set_time(self, line, fields[0], error);
  if (status != PF_OK || line->kind != BTF_LINE_EVENT)
    return status;
  line->type_text = mapped(self, 1, fields[3]);
  line->type = btf_type_of(line->type_text);
  line->has_note = count == BTF_FIELDS && fields[7].size > 0;
  line->note = line->has_note ? fields[7] : (pf_bytes){NULL, 0};
  status = find_entity(self, fields[1], &line->source, error);
  if (status == PF_OK)
    status = find_entity(self, fields[4], &line->target, error);
  if (status == PF_OK)
    status = find_entity(self, fields[6], &line->event, error);
  if (status == PF_OK)
    status = set_instance(self, line, fields[2], &line->source_instance,
                          &line->has_source_instance, error);
  if (status == PF_OK)
    status = set_instance(self, line, fields[5], &line->target_instance,
                          &line->has_target_instance, error);
  return status == PF_OK ? check_words(self, line, error) : status;
}


/* Add a note if the last line has no end: it may be cut off inside its last
   word or number. */
static pf_status check_end (btf_parser *self, const btf_line *line,
                            pf_error *error) {
  return line->kind == BTF_LINE_EVENT && line->size == line->text.size
             ? pf_warn(self->trace, PF_NOTE, "btf-last-line", PF_ETRUNCATED,
                       line->at, error,
                       "the last line has no line feed and may be cut off: "
                       "%.*s",
                       PF_SHOWN(line->text, 80))
             : PF_OK;
}


pf_status btf_next_line (btf_parser *self, btf_line *line, pf_error *error) {
  const pf_bytes bytes = self->file->bytes;
  if (self->at == bytes.size)
    return PF_END;
  *line = (btf_line){.kind = BTF_LINE_BLANK, .at = self->at};
  line->text = pf_line_at(bytes, self->at, &line->size);
  self->at += line->size;
  pf_status status = PF_OK;
  if (pf_trim(line->text).size == 0)
    return PF_MORE;
  const uint8_t *const p = line->text.at;
  if (*p == '#') {
    const bool is_key =
        line->text.size > 1 && p[1] != ' ' && p[1] != '#' && p[1] != '\t';
    line->kind = is_key ? BTF_LINE_HEADER : BTF_LINE_COMMENT;
  }
  else
    status = take_event(self, line, error);
  if (status == PF_OK && self->at == bytes.size)
    status = check_end(self, line, error);
  return status == PF_OK ? PF_MORE : status;
}


/* }====== */
