/*
** sheet.c - the way out, third part: the header of version 0.07.
**
** What came keeps its order and its bytes, but for what the sheet has
** otherwise: the version, the earliest epoch, what the option `header` says.
*/

#include <stdarg.h>
#include <stdio.h>

#include "bytes/sink.h"
#include "formats/dcpi/encode.h"


/* {====== Lines ====== */

bool dcpi_is_plain (pf_bytes text) {
  for (size_t i = 0; i < text.size; i++)
    if (text.at[i] < 0x20 && text.at[i] != '\t')
      return false;
  return text.size > 0;
}


void dcpi_put_bytes (const dcpi_output *out, pf_bytes text) {
  (void)pf_sink_put(out->sink, text.at, text.size);
}


/* At most 127 bytes of text; names go through put_bytes. */
void dcpi_put_words (const dcpi_output *out, const char *format, ...) {
  char text[128];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  (void)pf_sink_put(out->sink, text, (size_t)size);
}


static void put_line (const dcpi_output *out, const char *word,
                      pf_bytes value) {
  dcpi_put_words(out, "%s ", word);
  dcpi_put_bytes(out, value);
  dcpi_put_words(out, "\n");
}


/* A line as it came, when that is known and fit to be written. */
static bool put_as_it_came (const dcpi_output *out, const dcpi_fact *fact) {
  const pf_bytes line = dcpi_name(out, fact->line);
  if (fact->line == PF_NO_NAME || !dcpi_is_plain(line))
    return false;
  dcpi_put_bytes(out, line);
  dcpi_put_words(out, "\n");
  return true;
}


/* Whether a fact states a number of the sheet. */
static bool states (const dcpi_output *out, const dcpi_fact *fact,
                    unsigned base, uint64_t number) {
  uint64_t stated;
  return dcpi_number(dcpi_name(out, fact->value), base, &stated) == PF_OK &&
         stated == number;
}


/* Whether a fact says what the sheet does, in the words of version 0. */
static bool is_as_sheet (const dcpi_output *out, const dcpi_fact *fact,
                         dcpi_word word) {
  const dcpi_sheet *const sheet = out->sheet;
  switch (word) {
    case DCPI_VERSION:
      return dcpi_equals(dcpi_name(out, fact->value), "pdb-0.07");
    case DCPI_EVENT: return fact->value == sheet->events[0].name;
    case DCPI_PERIOD: return states(out, fact, 10, sheet->events[0].period);
    case DCPI_TSTART: return states(out, fact, 16, sheet->start);
    case DCPI_TSIZE: return states(out, fact, 10, sheet->size);
    default: return fact->value == sheet->values[word];
  }
}


/* A line of version 0 as the sheet has it. */
static void put_from_sheet (const dcpi_output *out, dcpi_word word) {
  const dcpi_sheet *const sheet = out->sheet;
  const char *const text = dcpi_rules[word].word;
  switch (word) {
    case DCPI_VERSION: dcpi_put_words(out, "version pdb-0.07\n"); break;
    case DCPI_EVENT:
      put_line(out, text, dcpi_name(out, sheet->events[0].name));
      break;
    case DCPI_PERIOD:
      dcpi_put_words(out, "period %llu\n",
                     (unsigned long long)sheet->events[0].period);
      break;
    case DCPI_TSTART:
      dcpi_put_words(out, "tstart %012llx\n", (unsigned long long)sheet->start);
      break;
    case DCPI_TSIZE:
      dcpi_put_words(out, "tsize %llu\n", (unsigned long long)sheet->size);
      break;
    default: put_line(out, text, dcpi_name(out, sheet->values[word])); break;
  }
}

/* }====== */


/* {====== The header of version 0.07 ====== */

static bool is_every (const dcpi_fact *fact) {
  return fact->profile == DCPI_EVERY;
}


/* Whether the same fact is written before this one. Those of the option
   `header` are written last. */
bool dcpi_came_before (const dcpi_output *out, size_t number) {
  const dcpi_fact *const facts = out->writer->facts;
  const dcpi_fact *const fact = &facts[number];
  for (size_t i = 0; i < out->writer->nfacts; i++) {
    const bool is_before =
        is_every(&facts[i]) == is_every(fact) ? i < number : is_every(fact);
    if (is_before && facts[i].word == fact->word &&
        facts[i].value == fact->value)
      return true;
  }
  return false;
}


/* Whether the option `header` has another line of this fact's word. */
bool dcpi_is_replaced (const dcpi_output *out, const dcpi_fact *fact) {
  const dcpi_writer *const writer = out->writer;
  for (size_t i = 0; i < writer->nfacts && !is_every(fact); i++)
    if (is_every(&writer->facts[i]) && writer->facts[i].word == fact->word)
      return true;
  return false;
}


/* The word of version 0 for the same thing. */
static dcpi_word translated (dcpi_word word) {
  return word == DCPI_TEXT_START  ? DCPI_TSTART
         : word == DCPI_TEXT_SIZE ? DCPI_TSIZE
                                  : word;
}


/* The name that dcpicat prints is the last one of the path. */
static bool is_in_path (const dcpi_output *out, const dcpi_fact *fact) {
  if (!dcpi_is_stated(out, DCPI_PATH))
    return false;
  const pf_bytes name = dcpi_name(out, fact->value);
  const pf_bytes last =
      dcpi_base_name(dcpi_name(out, out->sheet->values[DCPI_PATH]));
  return name.size == last.size && memcmp(name.at, last.at, name.size) == 0;
}


/* A line that may stand there several times: a path, or one of a word that
   version 0 does not know. */
static void put_other (const dcpi_output *out, size_t number, dcpi_word word) {
  const dcpi_fact *const fact = &out->writer->facts[number];
  const pf_bytes value = dcpi_name(out, fact->value);
  if (dcpi_name(out, fact->word).size == 0 || value.size == 0 ||
      dcpi_came_before(out, number) || dcpi_is_replaced(out, fact) ||
      (word == DCPI_NAME && is_in_path(out, fact)))
    return;
  if (put_as_it_came(out, fact))
    return;
  dcpi_put_bytes(out, dcpi_name(out, fact->word));
  dcpi_put_words(out, " ");
  dcpi_put_bytes(out, value);
  dcpi_put_words(out, "\n");
}


/* One fact, where it is new; `written` has a bit for each word. */
static void put_fact (const dcpi_output *out, size_t number,
                      uint32_t *written) {
  const dcpi_fact *const fact = &out->writer->facts[number];
  const dcpi_word stated = dcpi_fact_word(out->writer, fact);
  const dcpi_word word = translated(stated);
  if (dcpi_equals(dcpi_name(out, fact->word), "samples"))
    return;
  const bool is_new = word < DCPI_WORDS && (*written >> word & 1) == 0;
  if (word < DCPI_WORDS)
    *written |= UINT32_C(1) << word;
  if (word >= DCPI_PATH) {
    put_other(out, number, word);
    return;
  }
  if (!is_new)
    return;
  if (stated == word && is_as_sheet(out, fact, word) &&
      put_as_it_came(out, fact))
    return;
  put_from_sheet(out, word);
}


/* The lines that came, in their order, then what is required beside them. */
void dcpi_put_header (const dcpi_output *out) {
  const dcpi_writer *const writer = out->writer;
  uint32_t written = 0;
  const bool has_version =
      writer->nfacts > 0 && dcpi_is_stated(out, DCPI_VERSION);
  if (!has_version) {
    put_from_sheet(out, DCPI_VERSION);
    written = UINT32_C(1) << DCPI_VERSION;
  }
  for (int every = 0; every <= 1; every++)
    for (size_t i = 0; i < writer->nfacts; i++)
      if (is_every(&writer->facts[i]) == (every != 0))
        put_fact(out, i, &written);
  for (dcpi_word word = DCPI_VERSION; word <= DCPI_CPUSPEED; word++)
    if ((written >> word & 1) == 0)
      put_from_sheet(out, word);
  for (dcpi_word word = DCPI_NAME; word <= DCPI_LABEL; word++)
    if ((written >> word & 1) == 0 && dcpi_is_stated(out, word))
      put_from_sheet(out, word);
  dcpi_put_words(out, "samples");
  (void)pf_sink_fill(out->sink, ' ', (3 - out->sink->written % 4) % 4);
  dcpi_put_words(out, "\n");
}

/* }====== */
