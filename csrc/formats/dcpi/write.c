/*
** write.c - the way out, last third: the sheet and the counts as a file of
** version 0.07 (header.c and chunk.c have its tables) or as dcpicat's text
** (text.c).
**
** First everything is compared with what the dialect can hold, then the
** bytes are written. A gap of one address without samples is bridged by a
** count of 0, which takes 4 bytes where a new chunk would take 8.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes/sink.h"
#include "formats/dcpi/encode.h"

/* Where the bytes go, and what they are made of. The sink keeps its first
   failure: it is looked at once, at the end. */
typedef struct output {
  dcpi_writer *writer;
  dcpi_sheet *sheet;
  pf_sink *sink;
  pf_error *error;
} output;


static pf_bytes text_of (const output *out, uint32_t name) {
  return pf_name(out->writer->dictionary, name);
}


static bool is_stated (const output *out, dcpi_word word) {
  return out->sheet->values[word] != PF_NO_NAME;
}


/* {====== Rows ====== */

static int compare_rows (const void *left, const void *right) {
  const dcpi_row *const a = left, *const b = right;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}


/* Put the rows in order, unless they are: those of one file mostly are. */
static void sort_rows (dcpi_writer *writer) {
  for (size_t i = 1; i < writer->nrows; i++)
    if (compare_rows(&writer->rows[i - 1], &writer->rows[i]) > 0) {
      qsort(writer->rows, writer->nrows, sizeof *writer->rows, compare_rows);
      return;
    }
}


static pf_status too_many (const output *out, const dcpi_row *row) {
  return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "the counts of address 0x%llx add up to more than the file "
                 "can hold",
                 (unsigned long long)row->address);
}


/* Add up rows of one address and event, and drop those without samples. The
   sums of the events are those of the rows. */
static pf_status add_rows (const output *out) {
  dcpi_writer *const writer = out->writer;
  const uint64_t most = writer->dialect == DCPI_PDB ? UINT32_MAX : INT64_MAX;
  size_t kept = 0;
  for (size_t i = 0; i < writer->nrows; i++) {
    const dcpi_row row = writer->rows[i];
    dcpi_row *const last = kept > 0 ? &writer->rows[kept - 1] : NULL;
    uint64_t *const total = &out->sheet->events[row.event].total;
    if (row.count > most || row.count > most - *total)
      return too_many(out, &row);
    *total += row.count;
    if (row.count > 0 && last != NULL && compare_rows(last, &row) == 0)
      last->count += row.count;
    else if (row.count > 0)
      writer->rows[kept++] = row;
  }
  writer->nrows = kept;
  return PF_OK;
}


/* Where the code is, when nobody said so: where the samples are. */
static void find_range (const output *out) {
  const dcpi_writer *const writer = out->writer;
  dcpi_sheet *const sheet = out->sheet;
  const size_t n = writer->nrows;
  if (!is_stated(out, DCPI_TSTART) && !is_stated(out, DCPI_TEXT_START) && n > 0)
    sheet->start = writer->rows[0].address;
  if (!is_stated(out, DCPI_TSIZE) && !is_stated(out, DCPI_TEXT_SIZE) && n > 0)
    sheet->size = writer->rows[n - 1].address - sheet->start + DCPI_STEP;
}


static pf_status check_row (const output *out, const dcpi_row *row) {
  const dcpi_sheet *const sheet = out->sheet;
  const uint64_t offset = row->address - sheet->start;
  if (row->address < sheet->start || offset >= sheet->size)
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "address 0x%llx is outside of the code, 0x%llx and %llu "
                   "bytes from there",
                   (unsigned long long)row->address,
                   (unsigned long long)sheet->start,
                   (unsigned long long)sheet->size);
  if (out->writer->dialect == DCPI_PDB &&
      (offset > UINT32_MAX || offset % DCPI_STEP != 0))
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "address 0x%llx is %llu bytes into the code: a multiple of "
                   "%d below 2^32 expected",
                   (unsigned long long)row->address, (unsigned long long)offset,
                   DCPI_STEP);
  return PF_OK;
}


static pf_status check_rows (const output *out) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < out->writer->nrows && status == PF_OK; i++)
    status = check_row(out, &out->writer->rows[i]);
  return status;
}

/* }====== */


/* {====== What must be stated ====== */

/* The words without which there is no file. */
static size_t list_unstated (const output *out, char *list, size_t room) {
  static const dcpi_word needed[] = {DCPI_IMAGE, DCPI_EPOCH, DCPI_PLATFORM,
                                     DCPI_CPUSPEED};
  const size_t count = out->writer->dialect == DCPI_PDB ? 4 : 3;
  size_t used = 0;
  for (size_t i = 0; i < count; i++)
    if (!is_stated(out, needed[i]))
      used += (size_t)snprintf(list + used, room - used, " %s",
                               dcpi_rules[needed[i]].word);
  if (out->sheet->nevents == 0)
    used += (size_t)snprintf(list + used, room - used, " event");
  return used;
}


static pf_status check_stated (const output *out) {
  char list[80] = "";
  if (list_unstated(out, list, sizeof list) > 0)
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "the file must state%s: give it in header", list);
  if (out->writer->dialect == DCPI_CAT || out->sheet->nevents == 1)
    return PF_OK;
  return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "a 0.07 file holds one event, here are %zu: write dcpicat's "
                 "text, or open only one of them",
                 out->sheet->nevents);
}


static bool is_plain (pf_bytes text) {
  for (size_t i = 0; i < text.size; i++)
    if (text.at[i] < 0x20 && text.at[i] != '\t')
      return false;
  return text.size > 0;
}


/* Whether a value has the form its word wants. */
static bool is_of_shape (const output *out, dcpi_word word) {
  const pf_bytes text = text_of(out, out->sheet->values[word]);
  uint64_t number;
  switch (dcpi_rules[word].shape) {
    case DCPI_DECIMAL: return dcpi_number(text, 10, &number) == PF_OK;
    case DCPI_DIGITS: return dcpi_number(text, 16, &number) != PF_EFORMAT;
    case DCPI_TEXT: return is_plain(text) && !dcpi_is_blank(text.at[0]);
    default: return true;
  }
}


static pf_status check_values (const output *out) {
  for (dcpi_word word = DCPI_IMAGE; word < DCPI_WORDS; word++) {
    if (!is_stated(out, word) || word == DCPI_EVENT || is_of_shape(out, word))
      continue;
    const pf_bytes text = text_of(out, out->sheet->values[word]);
    return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "%s cannot be written as \"%.*s\"", dcpi_rules[word].word,
                   (int)(text.size < 40 ? text.size : 40),
                   (const char *)text.at);
  }
  for (size_t i = 0; i < out->sheet->nevents; i++)
    if (!is_plain(text_of(out, out->sheet->events[i].name)))
      return pf_fail(out->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                     "an event without a name, or one of odd bytes");
  return PF_OK;
}

/* }====== */


/* {====== Lines ====== */

static void put_bytes (const output *out, pf_bytes text) {
  (void)pf_sink_put(out->sink, text.at, text.size);
}


static void put_words (const output *out, const char *format, ...)
    PF_PRINTF(2, 3);

/* At most 127 bytes of text; names go through put_bytes. */
static void put_words (const output *out, const char *format, ...) {
  char text[128];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  (void)pf_sink_put(out->sink, text, (size_t)size);
}


static void put_line (const output *out, const char *word, pf_bytes value) {
  put_words(out, "%s ", word);
  put_bytes(out, value);
  put_words(out, "\n");
}


/* A line as it came, when that is known and fit to be written. */
static bool put_as_it_came (const output *out, const dcpi_fact *fact) {
  const pf_bytes line = text_of(out, fact->line);
  if (fact->line == PF_NO_NAME || !is_plain(line))
    return false;
  put_bytes(out, line);
  put_words(out, "\n");
  return true;
}


/* Whether a fact states a number of the sheet. */
static bool states (const output *out, const dcpi_fact *fact, unsigned base,
                    uint64_t number) {
  uint64_t stated;
  return dcpi_number(text_of(out, fact->value), base, &stated) == PF_OK &&
         stated == number;
}


/* Whether a fact says what the sheet does, in the words of version 0. */
static bool is_as_sheet (const output *out, const dcpi_fact *fact,
                         dcpi_word word) {
  const dcpi_sheet *const sheet = out->sheet;
  switch (word) {
    case DCPI_VERSION:
      return dcpi_equals(text_of(out, fact->value), "pdb-0.07");
    case DCPI_EVENT: return fact->value == sheet->events[0].name;
    case DCPI_PERIOD: return states(out, fact, 10, sheet->events[0].period);
    case DCPI_TSTART: return states(out, fact, 16, sheet->start);
    case DCPI_TSIZE: return states(out, fact, 10, sheet->size);
    default: return fact->value == sheet->values[word];
  }
}


/* A line of version 0 as the sheet has it. */
static void put_from_sheet (const output *out, dcpi_word word) {
  const dcpi_sheet *const sheet = out->sheet;
  const char *const text = dcpi_rules[word].word;
  switch (word) {
    case DCPI_VERSION: put_words(out, "version pdb-0.07\n"); break;
    case DCPI_EVENT:
      put_line(out, text, text_of(out, sheet->events[0].name));
      break;
    case DCPI_PERIOD:
      put_words(out, "period %llu\n",
                (unsigned long long)sheet->events[0].period);
      break;
    case DCPI_TSTART:
      put_words(out, "tstart %012llx\n", (unsigned long long)sheet->start);
      break;
    case DCPI_TSIZE:
      put_words(out, "tsize %llu\n", (unsigned long long)sheet->size);
      break;
    default: put_line(out, text, text_of(out, sheet->values[word])); break;
  }
}

/* }====== */


/* {====== The header of version 0.07 ====== */

static bool is_every (const dcpi_fact *fact) {
  return fact->profile == DCPI_EVERY;
}


/* Whether the same fact is written before this one. Those of the option
   `header` are written last. */
static bool came_before (const output *out, size_t number) {
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
static bool is_replaced (const output *out, const dcpi_fact *fact) {
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
static bool is_in_path (const output *out, const dcpi_fact *fact) {
  if (!is_stated(out, DCPI_PATH))
    return false;
  const pf_bytes name = text_of(out, fact->value);
  const pf_bytes last =
      dcpi_base_name(text_of(out, out->sheet->values[DCPI_PATH]));
  return name.size == last.size && memcmp(name.at, last.at, name.size) == 0;
}


/* A line that may stand there several times: a path, or one of a word that
   version 0 does not know. */
static void put_other (const output *out, size_t number, dcpi_word word) {
  const dcpi_fact *const fact = &out->writer->facts[number];
  if (came_before(out, number) || is_replaced(out, fact) ||
      (word == DCPI_NAME && is_in_path(out, fact)))
    return;
  if (put_as_it_came(out, fact))
    return;
  const pf_bytes value = text_of(out, fact->value);
  put_bytes(out, text_of(out, fact->word));
  put_words(out, " ");
  put_bytes(out, value);
  put_words(out, "\n");
}


/* One fact, where it is new; `written` has a bit for each word. */
static void put_fact (const output *out, size_t number, uint32_t *written) {
  const dcpi_fact *const fact = &out->writer->facts[number];
  const dcpi_word stated = dcpi_fact_word(out->writer, fact);
  const dcpi_word word = translated(stated);
  if (dcpi_equals(text_of(out, fact->word), "samples"))
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
static void put_header (const output *out) {
  const dcpi_writer *const writer = out->writer;
  uint32_t written = 0;
  const bool has_version = writer->nfacts > 0 && is_stated(out, DCPI_VERSION);
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
    if ((written >> word & 1) == 0 && is_stated(out, word))
      put_from_sheet(out, word);
  put_words(out, "samples");
  (void)pf_sink_fill(out->sink, ' ', (3 - out->sink->written % 4) % 4);
  put_words(out, "\n");
}

/* }====== */


/* {====== Chunks ====== */

static void put_number (const output *out, uint64_t value) {
  (void)pf_sink_uint(out->sink, 4, false, value);
}


/* The number of the first row behind the chunk that begins with row `first`. */
static size_t end_of_chunk (const dcpi_writer *writer, size_t first) {
  const dcpi_row *const rows = writer->rows;
  size_t end = first + 1;
  while (end < writer->nrows &&
         rows[end].address - rows[end - 1].address <= 2 * DCPI_STEP)
    end++;
  return end;
}


static void put_chunk (const output *out, size_t first, size_t end) {
  const dcpi_row *const rows = out->writer->rows;
  const uint64_t start = rows[first].address;
  put_number(out, start - out->sheet->start);
  put_number(out, (rows[end - 1].address - start) / DCPI_STEP + 1);
  for (size_t i = first; i < end; i++) {
    if (i > first && rows[i].address - rows[i - 1].address > DCPI_STEP)
      put_number(out, 0);
    put_number(out, rows[i].count);
  }
}


static void put_binary (const output *out) {
  const dcpi_writer *const writer = out->writer;
  put_header(out);
  for (size_t first = 0, end; first < writer->nrows; first = end) {
    end = end_of_chunk(writer, first);
    put_chunk(out, first, end);
  }
  put_number(out, writer->nrows);
  put_number(out, out->sheet->events[0].total);
}

/* }====== */


/* {====== dcpicat's text ====== */

static void put_aligned (const output *out, const char *word, pf_bytes value) {
  put_words(out, "%-16s ", word);
  put_bytes(out, value);
  put_words(out, "\n");
}


static void put_value (const output *out, dcpi_word word) {
  if (is_stated(out, word))
    put_aligned(out, dcpi_rules[word].word,
                text_of(out, out->sheet->values[word]));
}


/* dcpicat begins with a name: that of the image, of its path, or else the
   identifier. */
static void put_name (const output *out) {
  const uint32_t *const values = out->sheet->values;
  pf_bytes name = text_of(out, values[DCPI_NAME]);
  if (values[DCPI_NAME] == PF_NO_NAME && is_stated(out, DCPI_PATH))
    name = dcpi_base_name(text_of(out, values[DCPI_PATH]));
  if (name.size == 0)
    name = text_of(out, values[DCPI_IMAGE]);
  put_aligned(out, "name", name);
}


static void put_paths (const output *out) {
  const dcpi_writer *const writer = out->writer;
  for (size_t i = 0; i < writer->nfacts; i++)
    if (dcpi_fact_word(writer, &writer->facts[i]) == DCPI_PATH &&
        !came_before(out, i) && !is_replaced(out, &writer->facts[i]))
      put_aligned(out, "path", text_of(out, writer->facts[i].value));
}


static void put_event (const output *out, const dcpi_column *event) {
  put_words(out, "%-16s %llu ", "event", (unsigned long long)event->total);
  put_bytes(out, text_of(out, event->name));
  put_words(out, ":%llu:%llu\n", (unsigned long long)event->period,
            (unsigned long long)event->fraction);
}


/* The counts of one address; answers the number of the first row behind. */
static size_t put_counts (const output *out, size_t row) {
  const dcpi_writer *const writer = out->writer;
  const uint64_t address = writer->rows[row].address;
  put_words(out, "0x%012llx", (unsigned long long)address);
  for (uint32_t i = 0; i < out->sheet->nevents; i++) {
    const bool is_there = row < writer->nrows &&
                          writer->rows[row].address == address &&
                          writer->rows[row].event == i;
    put_words(out, " %7llu",
              (unsigned long long)(is_there ? writer->rows[row].count : 0));
    row += is_there;
  }
  put_words(out, "\n");
  return row;
}


static void put_text (const output *out) {
  const dcpi_sheet *const sheet = out->sheet;
  put_name(out);
  put_value(out, DCPI_IMAGE);
  put_value(out, DCPI_LABEL);
  put_paths(out);
  put_value(out, DCPI_EPOCH);
  put_value(out, DCPI_PLATFORM);
  put_words(out, "%-16s 0x%012llx\n", "text_start",
            (unsigned long long)sheet->start);
  put_words(out, "%-16s 0x%012llx\n", "text_size",
            (unsigned long long)sheet->size);
  for (size_t i = 0; i < sheet->nevents; i++)
    put_event(out, &sheet->events[i]);
  for (size_t row = 0; row < out->writer->nrows;)
    row = put_counts(out, row);
}

/* }====== */


pf_status dcpi_write (dcpi_writer *writer, pf_sink *sink, pf_error *error) {
  dcpi_sheet sheet;
  const output out = {writer, &sheet, sink, error};
  pf_status status = dcpi_gather(writer, &sheet, error);
  if (status == PF_OK)
    status = check_stated(&out);
  if (status == PF_OK)
    status = check_values(&out);
  if (status < 0)
    return status;
  sort_rows(writer);
  status = add_rows(&out);
  if (status < 0)
    return status;
  find_range(&out);
  status = check_rows(&out);
  if (status < 0)
    return status;
  if (writer->dialect == DCPI_PDB)
    put_binary(&out);
  else
    put_text(&out);
  return pf_sink_flush(sink, error);
}
