/*
** write_dcpi.c - the encoder, step 2: sorts and checks the rows and writes a
** file of version 0.07 (layout in header_dcpi.c and chunk.c) or dcpicat's text
** (dcpicat.c).
**
** Header lines of version 0.07 keep their order and their bytes, except those
** whose values the merged header replaces: version, epoch, event, period, code
** range, the option `header`. Damaged lines, whose word or value is empty, are
** left out.
**
** encode_dcpi.c calls dcpi_write and owns the rows. All checks precede the
** first byte. A gap of one address without samples is written as a count of 0,
** which takes 4 bytes; a new chunk would take 8.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes/sink.h"
#include "formats/dcpi/encode_dcpi.h"


/* Whether a text is not empty and has no control byte except tabs. */
static bool is_printable (pf_bytes text) {
  for (size_t i = 0; i < text.size; i++)
    if (text.at[i] < 0x20 && text.at[i] != '\t')
      return false;
  return text.size > 0;
}


/* Whether a text can be read back as a value: it must not begin with blanks. */
static bool is_value (pf_bytes text) {
  return is_printable(text) && !dcpi_is_blank(text.at[0]);
}


static void put_bytes (const dcpi_writer *self, pf_bytes text) {
  (void)pf_sink_put(self->sink, text.at, text.size);
}


/* Writes at most 127 bytes. Use put_bytes for texts of the dictionary. */
static PF_PRINTF(2, 3) void put_format(const dcpi_writer *self,
                                       const char *format, ...) {
  char text[128];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  (void)pf_sink_put(self->sink, text, (size_t)size);
}


/* Write a word, blanks and a value; dcpicat aligns the values. */
static void put_line (const dcpi_writer *self, pf_bytes word, pf_bytes value) {
  const bool is_aligned = self->dialect == DCPI_CAT && word.size < 16;
  put_bytes(self, word);
  (void)pf_sink_fill(self->sink, ' ', is_aligned ? 17 - word.size : 1);
  put_bytes(self, value);
  put_format(self, "\n");
}


/* Write the original line, if it is known and printable. */
static bool put_original (const dcpi_writer *self, const dcpi_field *field) {
  const pf_bytes line = dcpi_name(self, field->line);
  if (field->line == PF_NO_NAME || !is_printable(line))
    return false;
  put_bytes(self, line);
  put_format(self, "\n");
  return true;
}


/* Whether the value of a line equals that of the merged header in version
   0.07. */
static bool matches_header (const dcpi_writer *self, const dcpi_field *field,
                            dcpi_word word) {
  const pf_bytes text = dcpi_name(self, field->value);
  const unsigned base = word == DCPI_TSTART ? 16 : 10;
  uint64_t number = 0;
  if (word == DCPI_VERSION)
    return dcpi_equals(text, "pdb-0.07");
  if (word == DCPI_EVENT)
    return field->value == self->events[0].name;
  if (word != DCPI_PERIOD && word != DCPI_TSTART && word != DCPI_TSIZE)
    return field->value == self->values[word];
  return dcpi_number(text, base, &number) == PF_OK &&
         number == (word == DCPI_PERIOD   ? self->events[0].period
                    : word == DCPI_TSTART ? self->code_start
                                          : self->code_size);
}


/* Write a line with the value of the merged header. */
static void put_merged (const dcpi_writer *self, dcpi_word word) {
  const pf_bytes text = pf_bytes_of(dcpi_rules[word].word);
  switch (word) {
    case DCPI_VERSION: put_format(self, "version pdb-0.07\n"); break;
    case DCPI_EVENT:
      put_line(self, text, dcpi_name(self, self->events[0].name));
      break;
    case DCPI_PERIOD:
      put_format(self, "period %llu\n",
                 (unsigned long long)self->events[0].period);
      break;
    case DCPI_TSTART:
      put_format(self, "tstart %012llx\n",
                 (unsigned long long)self->code_start);
      break;
    case DCPI_TSIZE:
      put_format(self, "tsize %llu\n", (unsigned long long)self->code_size);
      break;
    default: put_line(self, text, dcpi_name(self, self->values[word])); break;
  }
}


static bool is_for_all (const dcpi_field *field) {
  return field->profile == DCPI_ALL_PROFILES;
}


/* Whether line `number` is left out: an equal line is written before it, or the
   option `header`, whose lines are written last, has another one of its
   word. */
static bool is_left_out (const dcpi_writer *self, size_t number) {
  const dcpi_field *const field = &self->fields[number];
  for (size_t i = 0; i < self->nfields; i++) {
    const dcpi_field *const other = &self->fields[i];
    const bool is_before =
        is_for_all(other) == is_for_all(field) ? i < number : is_for_all(field);
    const bool is_override = is_for_all(other) && !is_for_all(field);
    if (other->word == field->word &&
        (is_override || (is_before && other->value == field->value)))
      return true;
  }
  return false;
}


/* Write line `number` unless its word has been written; `written` has a bit for
   each word. Paths, and words that version 0 does not define, may be
   repeated. */
static void put_field (const dcpi_writer *self, size_t number,
                       uint32_t *written) {
  const dcpi_field *const field = &self->fields[number];
  const pf_bytes text = dcpi_name(self, field->word);
  const pf_bytes value = dcpi_name(self, field->value);
  const dcpi_word stated = dcpi_word_of(text);
  /* dcpicat has other words for the code range */
  const dcpi_word word = stated == DCPI_TEXT_START  ? DCPI_TSTART
                         : stated == DCPI_TEXT_SIZE ? DCPI_TSIZE
                                                    : stated;
  const bool is_new = word < DCPI_WORDS && (*written >> word & 1) == 0;
  if (dcpi_equals(text, "samples"))
    return;
  if (word < DCPI_WORDS)
    *written |= UINT32_C(1) << word;
  if (word < DCPI_PATH) {
    if (is_new && (stated != word || !matches_header(self, field, word) ||
                   !put_original(self, field)))
      put_merged(self, word);
    return;
  }
  if (text.size == 0 || value.size == 0 || is_left_out(self, number))
    return;
  /* readers derive the name from the last component of the path */
  const pf_bytes path = dcpi_name(self, self->values[DCPI_PATH]);
  if (word == DCPI_NAME && dcpi_is_stated(self, DCPI_PATH) &&
      pf_text_compare(value, dcpi_base_name(path)) == 0)
    return;
  if (!put_original(self, field))
    put_line(self, text, value);
}


/* Write the header of version 0.07: the collected lines in their order, then
   those of the option `header`, then required lines that are missing. */
static void put_header (const dcpi_writer *self) {
  uint32_t written = 0;
  if (!dcpi_is_stated(self, DCPI_VERSION)) {
    put_merged(self, DCPI_VERSION);
    written = UINT32_C(1) << DCPI_VERSION;
  }
  for (int every = 0; every <= 1; every++)
    for (size_t i = 0; i < self->nfields; i++)
      if (is_for_all(&self->fields[i]) == (every != 0))
        put_field(self, i, &written);
  for (dcpi_word word = DCPI_VERSION; word <= DCPI_CPUSPEED; word++)
    if ((written >> word & 1) == 0)
      put_merged(self, word);
  for (dcpi_word word = DCPI_NAME; word <= DCPI_LABEL; word++)
    if ((written >> word & 1) == 0 && dcpi_is_stated(self, word))
      put_merged(self, word);
  put_format(self, "samples");
  (void)pf_sink_fill(self->sink, ' ', (3 - self->sink->written % 4) % 4);
  put_format(self, "\n");
}


static int compare_rows (const void *left, const void *right) {
  const dcpi_row *const a = left, *const b = right;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}


/* Add up rows of one address and event, remove those without samples, and set
   the totals of the events. */
static pf_status add_rows (dcpi_writer *self) {
  const uint64_t maximum = self->dialect == DCPI_PDB ? UINT32_MAX : INT64_MAX;
  size_t kept = 0;
  for (size_t i = 0; i < self->nrows; i++) {
    const dcpi_row row = self->rows[i];
    dcpi_row *const last = kept > 0 ? &self->rows[kept - 1] : NULL;
    uint64_t *const total = &self->events[row.event].total;
    if (row.count > maximum || row.count > maximum - *total)
      return pf_refuse(self->error,
                       "the counts of address 0x%llx add up to more than the "
                       "file can hold",
                       (unsigned long long)row.address);
    *total += row.count;
    if (row.count > 0 && last != NULL && compare_rows(last, &row) == 0)
      last->count += row.count;
    else if (row.count > 0)
      self->rows[kept++] = row;
  }
  self->nrows = kept;
  return PF_OK;
}


static pf_status check_row (const dcpi_writer *self, const dcpi_row *row) {
  const uint64_t offset = row->address - self->code_start;
  if (row->address < self->code_start || offset >= self->code_size)
    return pf_refuse(self->error,
                     "address 0x%llx is outside of the code, 0x%llx and %llu "
                     "bytes from there",
                     (unsigned long long)row->address,
                     (unsigned long long)self->code_start,
                     (unsigned long long)self->code_size);
  if (self->dialect == DCPI_PDB &&
      (offset > UINT32_MAX || offset % DCPI_INSN_SIZE != 0))
    return pf_refuse(self->error,
                     "address 0x%llx is %llu bytes into the code: a multiple "
                     "of %d below 2^32 expected",
                     (unsigned long long)row->address,
                     (unsigned long long)offset, DCPI_INSN_SIZE);
  return PF_OK;
}


/* Check that all required values are stated, and the number of events. */
static pf_status check_stated (const dcpi_writer *self) {
  static const dcpi_word needed[] = {DCPI_IMAGE, DCPI_EPOCH, DCPI_PLATFORM,
                                     DCPI_CPUSPEED};
  const bool is_binary = self->dialect == DCPI_PDB;
  char list[80] = "";
  size_t used = 0;
  for (size_t i = 0; i < (is_binary ? 4 : 3); i++)
    if (!dcpi_is_stated(self, needed[i]))
      used += (size_t)snprintf(list + used, sizeof list - used, " %s",
                               dcpi_rules[needed[i]].word);
  if (self->nevents == 0)
    used += (size_t)snprintf(list + used, sizeof list - used, " event");
  if (used > 0)
    return pf_refuse(self->error, "the file must state%s: give it in header",
                     list);
  if (!is_binary || self->nevents == 1)
    return PF_OK;
  return pf_refuse(self->error,
                   "a 0.07 file holds one event, here are %zu: write dcpicat's "
                   "text, or open only one of them",
                   self->nevents);
}


/* Check the lines that put_field or put_text write as they are given. Lines
   without a word or a value are left out. */
static pf_status check_fields (const dcpi_writer *self) {
  for (size_t i = 0; i < self->nfields; i++) {
    const pf_bytes word = dcpi_name(self, self->fields[i].word);
    const pf_bytes value = dcpi_name(self, self->fields[i].value);
    const dcpi_word id = dcpi_word_of(word);
    bool is_good = is_value(value) && is_printable(word);
    for (size_t at = 0; at < word.size; at++)
      is_good = is_good && !dcpi_is_blank(word.at[at]);
    const bool is_written =
        id == DCPI_PATH || (id > DCPI_PATH && self->dialect == DCPI_PDB &&
                            !dcpi_equals(word, "samples"));
    if (is_written && !is_good && word.size > 0 && value.size > 0)
      return pf_refuse(self->error,
                       "a header line of \"%.*s\" cannot be written as "
                       "\"%.*s\"",
                       PF_SHOWN(word, 40), PF_SHOWN(value, 40));
  }
  return PF_OK;
}


static pf_status check_values (const dcpi_writer *self) {
  for (dcpi_word word = DCPI_IMAGE; word < DCPI_WORDS; word++) {
    if (!dcpi_is_stated(self, word) || word == DCPI_EVENT)
      continue;
    const pf_bytes text = dcpi_name(self, self->values[word]);
    bool is_good = true;
    uint64_t number;
    switch (dcpi_rules[word].syntax) {
      case DCPI_DECIMAL:
        is_good = dcpi_number(text, 10, &number) == PF_OK;
        break;
      case DCPI_HEX_DIGITS:
        is_good = dcpi_number(text, 16, &number) != PF_EFORMAT;
        break;
      case DCPI_HEX: {
        pf_bytes digits = text;
        (void)dcpi_cut_prefix(&digits);
        is_good =
            word != DCPI_CPUAMASK || dcpi_number(digits, 16, &number) == PF_OK;
        break;
      }
      case DCPI_TEXT: is_good = is_value(text); break;
      default: break;
    }
    if (!is_good)
      return pf_refuse(self->error, "%s cannot be written as \"%.*s\"",
                       dcpi_rules[word].word, PF_SHOWN(text, 40));
  }
  for (size_t i = 0; i < self->nevents; i++)
    if (!is_printable(dcpi_name(self, self->events[i].name)))
      return pf_refuse(self->error,
                       "an event without a name, or with control bytes in it");
  return PF_OK;
}


static void put_number (const dcpi_writer *self, uint64_t value) {
  (void)pf_sink_uint(self->sink, 4, false, value);
}


static void put_binary (const dcpi_writer *self) {
  const dcpi_row *const rows = self->rows;
  const size_t nrows = self->nrows;
  put_header(self);
  for (size_t first = 0, end; first < nrows; first = end) {
    const uint64_t start = rows[first].address;
    for (end = first + 1; end < nrows; end++)
      if (rows[end].address - rows[end - 1].address > 2 * DCPI_INSN_SIZE)
        break;
    put_number(self, start - self->code_start);
    put_number(self, (rows[end - 1].address - start) / DCPI_INSN_SIZE + 1);
    for (size_t i = first; i < end; i++) {
      if (i > first && rows[i].address - rows[i - 1].address > DCPI_INSN_SIZE)
        put_number(self, 0);
      put_number(self, rows[i].count);
    }
  }
  put_number(self, nrows);
  put_number(self, self->events[0].total);
}


/* Write a line for each address, with a count for each event. */
static void put_counts (const dcpi_writer *self) {
  const dcpi_row *row = self->rows; /* NULL when there are none */
  const dcpi_row *const end = row == NULL ? NULL : row + self->nrows;
  while (row < end) {
    const uint64_t address = row->address;
    put_format(self, "0x%012llx", (unsigned long long)address);
    for (uint32_t i = 0; i < self->nevents; i++) {
      const bool is_there =
          row < end && row->address == address && row->event == i;
      put_format(self, " %7llu",
                 (unsigned long long)(is_there ? row->count : 0));
      row += is_there;
    }
    put_format(self, "\n");
  }
}


static void put_text (const dcpi_writer *self) {
  /* The name of the image is the line `name`, else the last component of the
     path, else the identifier. */
  pf_bytes name = dcpi_name(self, self->values[DCPI_NAME]);
  if (!dcpi_is_stated(self, DCPI_NAME))
    name = dcpi_base_name(dcpi_name(self, self->values[DCPI_PATH]));
  if (name.size == 0)
    name = dcpi_name(self, self->values[DCPI_IMAGE]);
  put_line(self, pf_bytes_of("name"), name);
  put_merged(self, DCPI_IMAGE);
  if (dcpi_is_stated(self, DCPI_LABEL))
    put_merged(self, DCPI_LABEL);
  for (size_t i = 0; i < self->nfields; i++)
    if (dcpi_field_word(self, &self->fields[i]) == DCPI_PATH &&
        !is_left_out(self, i))
      put_line(self, pf_bytes_of("path"),
               dcpi_name(self, self->fields[i].value));
  put_merged(self, DCPI_EPOCH);
  put_merged(self, DCPI_PLATFORM);
  put_format(self, "text_start       0x%012llx\n",
             (unsigned long long)self->code_start);
  put_format(self, "text_size        0x%012llx\n",
             (unsigned long long)self->code_size);
  for (size_t i = 0; i < self->nevents; i++) {
    const dcpi_output_event *const event = &self->events[i];
    put_format(self, "event            %llu ",
               (unsigned long long)event->total);
    put_bytes(self, dcpi_name(self, event->name));
    put_format(self, ":%llu:%llu\n", (unsigned long long)event->period,
               (unsigned long long)event->fraction);
  }
  put_counts(self);
}


pf_status dcpi_write (dcpi_writer *self) {
  pf_status status = check_stated(self);
  if (status == PF_OK)
    status = check_values(self);
  if (status == PF_OK)
    status = check_fields(self);
  if (status < 0)
    return status;
  size_t sorted = 1; /* the rows of a single file are mostly sorted */
  while (sorted < self->nrows &&
         compare_rows(&self->rows[sorted - 1], &self->rows[sorted]) <= 0)
    sorted++;
  if (sorted < self->nrows)
    qsort(self->rows, self->nrows, sizeof *self->rows, compare_rows);
  status = add_rows(self);
  /* if no header states the code range, that of the samples */
  if (!dcpi_is_stated(self, DCPI_TSTART) &&
      !dcpi_is_stated(self, DCPI_TEXT_START) && self->nrows > 0)
    self->code_start = self->rows[0].address;
  if (!dcpi_is_stated(self, DCPI_TSIZE) &&
      !dcpi_is_stated(self, DCPI_TEXT_SIZE) && self->nrows > 0)
    self->code_size =
        self->rows[self->nrows - 1].address - self->code_start + DCPI_INSN_SIZE;
  for (size_t i = 0; i < self->nrows && status == PF_OK; i++)
    status = check_row(self, &self->rows[i]);
  if (status < 0)
    return status;
  if (self->dialect == DCPI_PDB)
    put_binary(self);
  else
    put_text(self);
  return pf_sink_flush(self->sink, self->error);
}
