/*
** header_write.c - the encoder, step 4 for binary files: writes the header
** of version 0.07.
**
** Lines keep their order and their bytes, except those whose values the merged
** header replaces: version, epoch, event, code range, the option `header`.
*/

#include <stdarg.h>
#include <stdio.h>

#include "bytes/sink.h"
#include "formats/dcpi/encode_dcpi.h"


/* {====== Lines ====== */

bool dcpi_is_printable (pf_bytes text) {
  for (size_t i = 0; i < text.size; i++)
    if (text.at[i] < 0x20 && text.at[i] != '\t')
      return false;
  return text.size > 0;
}


void dcpi_put_bytes (const dcpi_output *out, pf_bytes text) {
  (void)pf_sink_put(out->sink, text.at, text.size);
}


/* Writes at most 127 bytes. Use dcpi_put_bytes for texts of the dictionary. */
void dcpi_put_format (const dcpi_output *out, const char *format, ...) {
  char text[128];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  (void)pf_sink_put(out->sink, text, (size_t)size);
}


static void put_line (const dcpi_output *out, const char *word,
                      pf_bytes value) {
  dcpi_put_format(out, "%s ", word);
  dcpi_put_bytes(out, value);
  dcpi_put_format(out, "\n");
}


/* Write the original line, if it is known and printable. */
static bool put_original (const dcpi_output *out, const dcpi_field *field) {
  const pf_bytes line = dcpi_name(out, field->line);
  if (field->line == PF_NO_NAME || !dcpi_is_printable(line))
    return false;
  dcpi_put_bytes(out, line);
  dcpi_put_format(out, "\n");
  return true;
}


/* Whether the value of a line is this number. */
static bool has_value (const dcpi_output *out, const dcpi_field *field,
                       unsigned base, uint64_t number) {
  uint64_t stated;
  return dcpi_number(dcpi_name(out, field->value), base, &stated) == PF_OK &&
         stated == number;
}


/* Whether the value of a line equals that of the merged header in version
   0.07. */
static bool matches_header (const dcpi_output *out, const dcpi_field *field,
                            dcpi_word word) {
  const dcpi_output_header *const header = out->header;
  switch (word) {
    case DCPI_VERSION:
      return dcpi_equals(dcpi_name(out, field->value), "pdb-0.07");
    case DCPI_EVENT: return field->value == header->events[0].name;
    case DCPI_PERIOD:
      return has_value(out, field, 10, header->events[0].period);
    case DCPI_TSTART: return has_value(out, field, 16, header->start);
    case DCPI_TSIZE: return has_value(out, field, 10, header->size);
    default: return field->value == header->values[word];
  }
}


/* Write a line with the value of the merged header. */
static void put_merged (const dcpi_output *out, dcpi_word word) {
  const dcpi_output_header *const header = out->header;
  const char *const text = dcpi_rules[word].word;
  switch (word) {
    case DCPI_VERSION: dcpi_put_format(out, "version pdb-0.07\n"); break;
    case DCPI_EVENT:
      put_line(out, text, dcpi_name(out, header->events[0].name));
      break;
    case DCPI_PERIOD:
      dcpi_put_format(out, "period %llu\n",
                      (unsigned long long)header->events[0].period);
      break;
    case DCPI_TSTART:
      dcpi_put_format(out, "tstart %012llx\n",
                      (unsigned long long)header->start);
      break;
    case DCPI_TSIZE:
      dcpi_put_format(out, "tsize %llu\n", (unsigned long long)header->size);
      break;
    default: put_line(out, text, dcpi_name(out, header->values[word])); break;
  }
}

/* }====== */


/* {====== The header of version 0.07 ====== */

static bool is_for_all (const dcpi_field *field) {
  return field->profile == DCPI_ALL_PROFILES;
}


/* Lines of the option `header` are written last. */
bool dcpi_is_duplicate (const dcpi_output *out, size_t number) {
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
bool dcpi_is_overridden (const dcpi_output *out, const dcpi_field *field) {
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
      dcpi_is_duplicate(out, number) || dcpi_is_overridden(out, field))
    return;
  if (word == DCPI_NAME && dcpi_is_stated(out, DCPI_PATH)) {
    /* readers derive the name from the last component of the path */
    const pf_bytes last =
        dcpi_base_name(dcpi_name(out, out->header->values[DCPI_PATH]));
    if (value.size == last.size && memcmp(value.at, last.at, last.size) == 0)
      return;
  }
  if (put_original(out, field))
    return;
  dcpi_put_bytes(out, dcpi_name(out, field->word));
  dcpi_put_format(out, " ");
  dcpi_put_bytes(out, value);
  dcpi_put_format(out, "\n");
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


/* Lines of the option `header` come after the others; required lines that are
   missing follow. */
void dcpi_put_header (const dcpi_output *out) {
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
  dcpi_put_format(out, "samples");
  (void)pf_sink_fill(out->sink, ' ', (3 - out->sink->written % 4) % 4);
  dcpi_put_format(out, "\n");
}

/* }====== */
