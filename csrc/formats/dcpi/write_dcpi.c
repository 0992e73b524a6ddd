/*
** write_dcpi.c - the encoder, steps 3 and 4: sorts and checks the rows and
** writes a file of version 0.07 (layout in header_dcpi.c and chunk.c) or
** dcpicat's text (dcpicat.c).
**
** Header lines of version 0.07 keep their order and their bytes, except those
** whose values the merged header replaces: version, epoch, event, code range,
** the option `header`.
**
** All checks precede the first byte. A gap of one address without samples is
** written as a count of 0, which takes 4 bytes; a new chunk would take 8.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes/sink.h"
#include "formats/dcpi/encode_dcpi.h"

/* {====== Lines ====== */

/* Whether a text is not empty and has no control byte except tabs. */
static bool is_printable (pf_bytes text) {
  for (size_t i = 0; i < text.size; i++)
    if (text.at[i] < 0x20 && text.at[i] != '\t')
      return false;
  return text.size > 0;
}


static void put_bytes (const dcpi_output *out, pf_bytes text) {
  (void)pf_sink_put(out->sink, text.at, text.size);
}


/* Writes at most 127 bytes. Use put_bytes for texts of the dictionary. */
static PF_PRINTF(2, 3) void put_format(const dcpi_output *out,
                                       const char *format, ...) {
  char text[128];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  (void)pf_sink_put(out->sink, text, (size_t)size);
}


static void put_line (const dcpi_output *out, pf_bytes word, pf_bytes value) {
  put_bytes(out, word);
  put_format(out, " ");
  put_bytes(out, value);
  put_format(out, "\n");
}


/* Write the original line, if it is known and printable. */
static bool put_original (const dcpi_output *out, const dcpi_field *field) {
  const pf_bytes line = dcpi_name(out, field->line);
  if (field->line == PF_NO_NAME || !is_printable(line))
    return false;
  put_bytes(out, line);
  put_format(out, "\n");
  return true;
}


/* Whether the value of a line equals that of the merged header in version
   0.07. */
static bool matches_header (const dcpi_output *out, const dcpi_field *field,
                            dcpi_word word) {
  const dcpi_output_header *const header = out->header;
  const pf_bytes text = dcpi_name(out, field->value);
  const unsigned base = word == DCPI_TSTART ? 16 : 10;
  uint64_t number = 0;
  if (word == DCPI_VERSION)
    return dcpi_equals(text, "pdb-0.07");
  if (word == DCPI_EVENT)
    return field->value == header->events[0].name;
  if (word != DCPI_PERIOD && word != DCPI_TSTART && word != DCPI_TSIZE)
    return field->value == header->values[word];
  return dcpi_number(text, base, &number) == PF_OK &&
         number == (word == DCPI_PERIOD   ? header->events[0].period
                    : word == DCPI_TSTART ? header->start
                                          : header->size);
}


/* Write a line with the value of the merged header. */
static void put_merged (const dcpi_output *out, dcpi_word word) {
  const dcpi_output_header *const header = out->header;
  const pf_bytes text = pf_bytes_of(dcpi_rules[word].word);
  switch (word) {
    case DCPI_VERSION: put_format(out, "version pdb-0.07\n"); break;
    case DCPI_EVENT:
      put_line(out, text, dcpi_name(out, header->events[0].name));
      break;
    case DCPI_PERIOD:
      put_format(out, "period %llu\n",
                 (unsigned long long)header->events[0].period);
      break;
    case DCPI_TSTART:
      put_format(out, "tstart %012llx\n", (unsigned long long)header->start);
      break;
    case DCPI_TSIZE:
      put_format(out, "tsize %llu\n", (unsigned long long)header->size);
      break;
    default: put_line(out, text, dcpi_name(out, header->values[word])); break;
  }
}

/* }====== */


/* {====== The header of version 0.07 ====== */

static bool is_for_all (const dcpi_field *field) {
  return field->profile == DCPI_ALL_PROFILES;
}


/* Whether an equal header line is written before line `number`. Lines of the
   option `header` are written last. */
static bool is_duplicate (const dcpi_output *out, size_t number) {
  const dcpi_field *const fields = out->writer->fields;
  const dcpi_field *const field = &fields[number];
  for (size_t i = 0; i < out->writer->nfields; i++) {
    const bool is_before = is_for_all(&fields[i]) == is_for_all(field)
                               ? i < number
                               : is_for_all(field);
    if (is_before && fields[i].word == field->word &&
        fields[i].value == field->value)
      return true;
  }
  return false;
}


/* Whether the option `header` has another line of this field's word. */
static bool is_overridden (const dcpi_output *out, const dcpi_field *field) {
  const dcpi_writer *const writer = out->writer;
  for (size_t i = 0; i < writer->nfields && !is_for_all(field); i++)
    if (is_for_all(&writer->fields[i]) && writer->fields[i].word == field->word)
      return true;
  return false;
}


/* Write a line that may occur several times: a path, or a word that version 0
   does not define. */
static void put_repeatable (const dcpi_output *out, size_t number,
                            dcpi_word word) {
  const dcpi_field *const field = &out->writer->fields[number];
  const pf_bytes value = dcpi_name(out, field->value);
  if (dcpi_name(out, field->word).size == 0 || value.size == 0 ||
      is_duplicate(out, number) || is_overridden(out, field))
    return;
  if (word == DCPI_NAME && dcpi_is_stated(out, DCPI_PATH)) {
    /* readers derive the name from the last component of the path */
    const pf_bytes last =
        dcpi_base_name(dcpi_name(out, out->header->values[DCPI_PATH]));
    if (value.size == last.size && memcmp(value.at, last.at, last.size) == 0)
      return;
  }
  if (!put_original(out, field))
    put_line(out, dcpi_name(out, field->word), value);
}


/* Write line `number` unless its word has been written; `written` has a bit for
   each word. */
static void put_field (const dcpi_output *out, size_t number,
                       uint32_t *written) {
  const dcpi_field *const field = &out->writer->fields[number];
  const dcpi_word stated = dcpi_field_word(out->writer, field);
  /* dcpicat has other words for the code range */
  const dcpi_word word = stated == DCPI_TEXT_START  ? DCPI_TSTART
                         : stated == DCPI_TEXT_SIZE ? DCPI_TSIZE
                                                    : stated;
  if (dcpi_equals(dcpi_name(out, field->word), "samples"))
    return;
  const bool is_new = word < DCPI_WORDS && (*written >> word & 1) == 0;
  if (word < DCPI_WORDS)
    *written |= UINT32_C(1) << word;
  if (word >= DCPI_PATH) {
    put_repeatable(out, number, word);
    return;
  }
  if (!is_new)
    return;
  if (stated == word && matches_header(out, field, word) &&
      put_original(out, field))
    return;
  put_merged(out, word);
}


/* Write the header of version 0.07: the collected lines in their order, then
   those of the option `header`, then required lines that are missing. */
static void put_header (const dcpi_output *out) {
  const dcpi_writer *const writer = out->writer;
  uint32_t written = 0;
  const bool has_version =
      writer->nfields > 0 && dcpi_is_stated(out, DCPI_VERSION);
  if (!has_version) {
    put_merged(out, DCPI_VERSION);
    written = UINT32_C(1) << DCPI_VERSION;
  }
  for (int every = 0; every <= 1; every++)
    for (size_t i = 0; i < writer->nfields; i++)
      if (is_for_all(&writer->fields[i]) == (every != 0))
        put_field(out, i, &written);
  for (dcpi_word word = DCPI_VERSION; word <= DCPI_CPUSPEED; word++)
    if ((written >> word & 1) == 0)
      put_merged(out, word);
  for (dcpi_word word = DCPI_NAME; word <= DCPI_LABEL; word++)
    if ((written >> word & 1) == 0 && dcpi_is_stated(out, word))
      put_merged(out, word);
  put_format(out, "samples");
  (void)pf_sink_fill(out->sink, ' ', (3 - out->sink->written % 4) % 4);
  put_format(out, "\n");
}

/* }====== */


/* {====== Rows ====== */

static int compare_rows (const void *left, const void *right) {
  const dcpi_row *const a = left, *const b = right;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}


/* Add up rows of one address and event, remove those without samples, and set
   the totals of the events. */
static pf_status add_rows (const dcpi_output *out) {
  dcpi_writer *const writer = out->writer;
  const uint64_t maximum = writer->dialect == DCPI_PDB ? UINT32_MAX : INT64_MAX;
  size_t kept = 0;
  for (size_t i = 0; i < writer->nrows; i++) {
    const dcpi_row row = writer->rows[i];
    dcpi_row *const last = kept > 0 ? &writer->rows[kept - 1] : NULL;
    uint64_t *const total = &out->header->events[row.event].total;
    if (row.count > maximum || row.count > maximum - *total)
      return pf_refuse(out->error,
                       "the counts of address 0x%llx add up to more than the "
                       "file can hold",
                       (unsigned long long)row.address);
    *total += row.count;
    if (row.count > 0 && last != NULL && compare_rows(last, &row) == 0)
      last->count += row.count;
    else if (row.count > 0)
      writer->rows[kept++] = row;
  }
  writer->nrows = kept;
  return PF_OK;
}


static pf_status check_row (const dcpi_output *out, const dcpi_row *row) {
  const dcpi_output_header *const header = out->header;
  const uint64_t offset = row->address - header->start;
  if (row->address < header->start || offset >= header->size)
    return pf_refuse(out->error,
                     "address 0x%llx is outside of the code, 0x%llx and %llu "
                     "bytes from there",
                     (unsigned long long)row->address,
                     (unsigned long long)header->start,
                     (unsigned long long)header->size);
  if (out->writer->dialect == DCPI_PDB &&
      (offset > UINT32_MAX || offset % DCPI_INSN_SIZE != 0))
    return pf_refuse(
        out->error,
        "address 0x%llx is %llu bytes into the code: a multiple of "
        "%d below 2^32 expected",
        (unsigned long long)row->address, (unsigned long long)offset,
        DCPI_INSN_SIZE);
  return PF_OK;
}

/* }====== */


/* {====== Required values ====== */


/* Check that all required values are stated, and the number of events. */
static pf_status check_stated (const dcpi_output *out) {
  static const dcpi_word needed[] = {DCPI_IMAGE, DCPI_EPOCH, DCPI_PLATFORM,
                                     DCPI_CPUSPEED};
  const bool is_binary = out->writer->dialect == DCPI_PDB;
  char list[80] = "";
  size_t used = 0;
  for (size_t i = 0; i < (is_binary ? 4 : 3); i++)
    if (!dcpi_is_stated(out, needed[i]))
      used += (size_t)snprintf(list + used, sizeof list - used, " %s",
                               dcpi_rules[needed[i]].word);
  if (out->header->nevents == 0)
    used += (size_t)snprintf(list + used, sizeof list - used, " event");
  if (used > 0)
    return pf_refuse(out->error, "the file must state%s: give it in header",
                     list);
  if (!is_binary || out->header->nevents == 1)
    return PF_OK;
  return pf_refuse(out->error,
                   "a 0.07 file holds one event, here are %zu: write dcpicat's "
                   "text, or open only one of them",
                   out->header->nevents);
}


/* Check that values have the syntax of their words. */
static pf_status check_values (const dcpi_output *out) {
  for (dcpi_word word = DCPI_IMAGE; word < DCPI_WORDS; word++) {
    if (!dcpi_is_stated(out, word) || word == DCPI_EVENT)
      continue;
    const pf_bytes text = dcpi_name(out, out->header->values[word]);
    bool is_good = true;
    uint64_t number;
    switch (dcpi_rules[word].syntax) {
      case DCPI_DECIMAL:
        is_good = dcpi_number(text, 10, &number) == PF_OK;
        break;
      case DCPI_HEX_DIGITS:
        is_good = dcpi_number(text, 16, &number) != PF_EFORMAT;
        break;
      case DCPI_TEXT:
        is_good = is_printable(text) && !dcpi_is_blank(text.at[0]);
        break;
      default: break;
    }
    if (!is_good)
      return pf_refuse(out->error, "%s cannot be written as \"%.*s\"",
                       dcpi_rules[word].word, PF_SHOWN(text, 40));
  }
  for (size_t i = 0; i < out->header->nevents; i++)
    if (!is_printable(dcpi_name(out, out->header->events[i].name)))
      return pf_refuse(out->error,
                       "an event without a name, or with control bytes in it");
  return PF_OK;
}

/* }====== */


/* {====== Chunks ====== */

static void put_number (const dcpi_output *out, uint64_t value) {
  (void)pf_sink_uint(out->sink, 4, false, value);
}


static void put_binary (const dcpi_output *out) {
  const dcpi_row *const rows = out->writer->rows;
  const size_t nrows = out->writer->nrows;
  put_header(out);
  for (size_t first = 0, end; first < nrows; first = end) {
    const uint64_t start = rows[first].address;
    for (end = first + 1; end < nrows; end++)
      if (rows[end].address - rows[end - 1].address > 2 * DCPI_INSN_SIZE)
        break;
    put_number(out, start - out->header->start);
    put_number(out, (rows[end - 1].address - start) / DCPI_INSN_SIZE + 1);
    for (size_t i = first; i < end; i++) {
      if (i > first && rows[i].address - rows[i - 1].address > DCPI_INSN_SIZE)
        put_number(out, 0);
      put_number(out, rows[i].count);
    }
  }
  put_number(out, nrows);
  put_number(out, out->header->events[0].total);
}

/* }====== */


/* {====== Text of dcpicat ====== */

static void put_aligned (const dcpi_output *out, const char *word,
                         pf_bytes value) {
  put_format(out, "%-16s ", word);
  put_bytes(out, value);
  put_format(out, "\n");
}


static void put_value (const dcpi_output *out, dcpi_word word) {
  if (dcpi_is_stated(out, word))
    put_aligned(out, dcpi_rules[word].word,
                dcpi_name(out, out->header->values[word]));
}


/* Write a line for each address, with a count for each event. */
static void put_counts (const dcpi_output *out) {
  const dcpi_row *row = out->writer->rows; /* NULL when there are none */
  const dcpi_row *const end = row == NULL ? NULL : row + out->writer->nrows;
  while (row < end) {
    const uint64_t address = row->address;
    put_format(out, "0x%012llx", (unsigned long long)address);
    for (uint32_t i = 0; i < out->header->nevents; i++) {
      const bool is_there =
          row < end && row->address == address && row->event == i;
      put_format(out, " %7llu",
                 (unsigned long long)(is_there ? row->count : 0));
      row += is_there;
    }
    put_format(out, "\n");
  }
}


static void put_text (const dcpi_output *out) {
  const dcpi_output_header *const header = out->header;
  const dcpi_writer *const writer = out->writer;
  /* The name of the image is the line `name`, else the last component of the
     path, else the identifier. */
  pf_bytes name = dcpi_name(out, header->values[DCPI_NAME]);
  if (!dcpi_is_stated(out, DCPI_NAME) && dcpi_is_stated(out, DCPI_PATH))
    name = dcpi_base_name(dcpi_name(out, header->values[DCPI_PATH]));
  put_aligned(out, "name",
              name.size > 0 ? name
                            : dcpi_name(out, header->values[DCPI_IMAGE]));
  put_value(out, DCPI_IMAGE);
  put_value(out, DCPI_LABEL);
  for (size_t i = 0; i < writer->nfields; i++)
    if (dcpi_field_word(writer, &writer->fields[i]) == DCPI_PATH &&
        !is_duplicate(out, i) && !is_overridden(out, &writer->fields[i]))
      put_aligned(out, "path", dcpi_name(out, writer->fields[i].value));
  put_value(out, DCPI_EPOCH);
  put_value(out, DCPI_PLATFORM);
  put_format(out, "%-16s 0x%012llx\n", "text_start",
             (unsigned long long)header->start);
  put_format(out, "%-16s 0x%012llx\n", "text_size",
             (unsigned long long)header->size);
  for (size_t i = 0; i < header->nevents; i++) {
    const dcpi_output_event *const event = &header->events[i];
    put_format(out, "%-16s %llu ", "event", (unsigned long long)event->total);
    put_bytes(out, dcpi_name(out, event->name));
    put_format(out, ":%llu:%llu\n", (unsigned long long)event->period,
               (unsigned long long)event->fraction);
  }
  put_counts(out);
}

/* }====== */


pf_status dcpi_write (dcpi_writer *writer, pf_sink *sink, pf_error *error) {
  dcpi_output_header header;
  const dcpi_output out = {writer, &header, sink, error};
  pf_status status = dcpi_merge_headers(writer, &header, error);
  if (status == PF_OK)
    status = check_stated(&out);
  if (status == PF_OK)
    status = check_values(&out);
  if (status < 0)
    return status;
  size_t sorted = 1; /* the rows of a single file are mostly sorted */
  while (sorted < writer->nrows &&
         compare_rows(&writer->rows[sorted - 1], &writer->rows[sorted]) <= 0)
    sorted++;
  if (sorted < writer->nrows)
    qsort(writer->rows, writer->nrows, sizeof *writer->rows, compare_rows);
  status = add_rows(&out);
  if (status < 0)
    return status;
  /* if no header states the code range, that of the samples */
  const dcpi_row *const rows = writer->rows;
  if (!dcpi_is_stated(&out, DCPI_TSTART) &&
      !dcpi_is_stated(&out, DCPI_TEXT_START) && writer->nrows > 0)
    header.start = rows[0].address;
  if (!dcpi_is_stated(&out, DCPI_TSIZE) &&
      !dcpi_is_stated(&out, DCPI_TEXT_SIZE) && writer->nrows > 0)
    header.size =
        rows[writer->nrows - 1].address - header.start + DCPI_INSN_SIZE;
  for (size_t i = 0; i < writer->nrows && status == PF_OK; i++)
    status = check_row(&out, &writer->rows[i]);
  if (status < 0)
    return status;
  if (writer->dialect == DCPI_PDB)
    put_binary(&out);
  else
    put_text(&out);
  return pf_sink_flush(sink, error);
}
