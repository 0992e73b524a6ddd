/*
** open_dcpi.c - the format dcpi: profiles of DIGITAL's Continuous Profiling
** Infrastructure, as its daemon writes them or as dcpicat prints them.
**
** Opening reads the header and the segments that begin in the first
** DCPI_PRESCAN bytes of the body; a chunk is read as a whole. So all damage of
** a small file is known after opening; in a large file the readers report it.
** lua/trace_part.c and checked_reader.c call it through pf_format_dcpi; the
** trace owns the dcpi_file.
*/

#include <stdio.h>

#include "formats/dcpi/dcpi.h"
#include "model/dictionary/names.h"

/* Number of rows that the pre-scan found. */
typedef struct prescan {
  int64_t rows[DCPI_TABLES];
  bool is_whole; /* the pre-scan reached the end of the file */
} prescan;


/* Properties of the first lines of a file. */
typedef struct head_stats {
  uint32_t words;     /* bit per word of a header */
  size_t lines;       /* lines before the end of the header */
  size_t valid;       /* lines with a known word and a value of its syntax */
  size_t leading;     /* how many of these precede all other lines */
  bool has_version;   /* a line "version pdb-..." */
  bool has_end;       /* a line "samples" */
  bool has_addresses; /* a line that begins with 0x */
  bool is_text;       /* no line has control bytes */
} head_stats;


/* Whether a line has a known word and a value of its syntax. */
static bool is_valid_line (const dcpi_line *line) {
  pf_bytes value = line->value;
  uint64_t number;
  if (line->id == DCPI_WORDS || value.size == 0)
    return false;
  switch (dcpi_rules[line->id].syntax) {
    case DCPI_TEXT: return true;
    case DCPI_PDB_VERSION: return pf_begins_with(value, "pdb-");
    case DCPI_DECIMAL:
    case DCPI_TIME: return pf_parse_uint(value, 10, &number) != PF_EFORMAT;
    default:
      (void)dcpi_cut_prefix(&value);
      return pf_parse_uint(value, 16, &number) != PF_EFORMAT;
  }
}


static head_stats scan_head (pf_bytes head) {
  head_stats found = {.is_text = true};
  dcpi_line line;
  for (uint64_t at = 0; dcpi_split_line(head, at, &line); at += line.size) {
    for (uint64_t i = at; i + 1 < at + line.size; i++)
      found.is_text &=
          head.at[i] >= 0x20 || head.at[i] == '\t' || head.at[i] == '\r';
    found.has_end = dcpi_is_terminator(&line);
    found.has_addresses = dcpi_has_address(&line);
    if (!found.is_text || found.has_end || found.has_addresses)
      break;
    const bool fits = is_valid_line(&line);
    found.leading += fits && found.leading == found.lines;
    found.valid += fits;
    found.lines++;
    if (line.id < DCPI_WORDS)
      found.words |= UINT32_C(1) << line.id;
    found.has_version |= line.id == DCPI_VERSION && fits;
  }
  return found;
}


#define MIN_LEADING  5 /* so many valid lines make a header */
#define BIT(word)    (UINT32_C(1) << DCPI_##word)
#define BINARY_WORDS (BIT(TSTART) | BIT(TSIZE) | BIT(CPUSPEED) | BIT(PERIOD))
#define TEXT_WORDS   (BIT(NAME) | BIT(TEXT_START) | BIT(TEXT_SIZE))
#define COMMON_WORDS (BIT(IMAGE) | BIT(EPOCH) | BIT(PLATFORM) | BIT(EVENT))


static bool is_cat (const head_stats *found) {
  return !found->has_end && !found->has_version &&
         (found->words & TEXT_WORDS) != 0;
}


static int score (pf_bytes head, uint64_t size) {
  const head_stats found = scan_head(head);
  const int common = __builtin_popcount(found.words & COMMON_WORDS);
  (void)size;
  /* A header begins with valid lines, or three of four lines are valid; a text
     about such files mentions the words too. */
  if (found.leading < MIN_LEADING && found.valid * 4 < found.lines * 3)
    return 0;
  if (found.has_version)
    return found.is_text || common > 0 ? 95 : 60;
  if (is_cat(&found) && found.has_addresses)
    return common == 0 ? 0 : 95;
  if (is_cat(&found))
    return common < 3 ? 0 : 20 * common;
  if (found.has_end &&
      common + __builtin_popcount(found.words & BINARY_WORDS) >= 3)
    return 60;
  return 0;
}


/* Set the info entries of all words whose values are numbers. */
static void set_numbers (pf_trace *trace, const dcpi_header *header) {
  for (dcpi_word word = DCPI_VERSION; word < DCPI_WORDS; word++) {
    const dcpi_rule *const rule = &dcpi_rules[word];
    const uint64_t number = header->numbers[word];
    if (!dcpi_has(header, word) ||
        (rule->syntax != DCPI_DECIMAL && rule->syntax != DCPI_HEX))
      continue;
    if (rule->syntax == DCPI_HEX && word != DCPI_TEXT_SIZE)
      pf_info_addr(trace, rule->word, number);
    else if (number <= INT64_MAX)
      pf_info_int(trace, rule->word, (int64_t)number);
  }
}


static void set_texts (pf_trace *trace, const dcpi_header *header) {
  static const dcpi_word words[] = {DCPI_VERSION, DCPI_IMAGE, DCPI_NAME,
                                    DCPI_LABEL,   DCPI_PATH,  DCPI_EPOCH,
                                    DCPI_PLATFORM};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const dcpi_word word = words[i];
    const pf_bytes value =
        word == DCPI_NAME ? dcpi_name_of(header) : header->values[word];
    if (value.at != NULL)
      pf_info_text(trace, dcpi_rules[word].word, value);
    if (word == DCPI_PATH && header->npaths > 1)
      pf_info_int(trace, "paths", (int64_t)header->npaths);
    if (word == DCPI_EPOCH && dcpi_has(header, DCPI_EPOCH)) {
      const uint64_t time = header->numbers[DCPI_EPOCH];
      char text[32];
      snprintf(text, sizeof text, "%04u-%02u-%02u %02u:%02u:%02u",
               (unsigned)(time / 10000000000),
               (unsigned)(time / 100000000 % 100),
               (unsigned)(time / 1000000 % 100), (unsigned)(time / 10000 % 100),
               (unsigned)(time / 100 % 100), (unsigned)(time % 100));
      pf_info_text(trace, "epoch_utc", pf_bytes_of(text));
    }
  }
}


/* Set the number of events, name and period of the only one, and the sums that
   the file states: that of all samples only if all its parts can be read. */
static void set_events (pf_trace *trace, const dcpi_parser *parser) {
  const dcpi_header *const header = &parser->header;
  uint64_t samples = 0;
  bool is_known = header->skipped_events == 0;
  pf_info_int(trace, "events", (int64_t)header->nevents);
  if (header->nevents == 1) {
    const dcpi_event *const event = &header->events[0];
    pf_info_text(trace, "event", event->name);
    if (event->period > 0 && event->period <= INT64_MAX)
      pf_info_int(trace, "period", (int64_t)event->period);
  }
  for (size_t i = 0; i < header->nevents; i++) {
    const dcpi_event *const event = &header->events[i];
    is_known =
        is_known && event->has_stated && event->stated <= INT64_MAX - samples;
    samples += is_known ? event->stated : 0;
  }
  if (parser->file->dialect == DCPI_PDB) {
    if (header->major != 0 ||
        parser->bytes.size - header->size < DCPI_FOOTER_SIZE)
      return;
    is_known = true;
    samples = dcpi_load(parser, parser->bytes.size - 4);
    pf_info_int(trace, "addresses", dcpi_load(parser, parser->bytes.size - 8));
  }
  if (is_known)
    pf_info_int(trace, "samples", (int64_t)samples);
}


static void set_info (pf_trace *trace, const dcpi_parser *parser,
                      const prescan *counted) {
  const dcpi_header *const header = &parser->header;
  const dcpi_file *const file = parser->file;
  const pf_bytes version = header->values[DCPI_VERSION];
  const bool has_version = dcpi_has(header, DCPI_VERSION);
  pf_info_text(trace, "dialect",
               file->dialect == DCPI_CAT ? pf_bytes_of("dcpicat")
               : has_version ? (pf_bytes){version.at + 4, version.size - 4}
                             : pf_bytes_of("0.07"));
  if (file->dialect == DCPI_PDB)
    pf_info_text(trace, "byte_order",
                 pf_bytes_of(file->big ? "big" : "little"));
  pf_info_int(trace, "address_size", 8);
  if (counted->is_whole)
    pf_info_int(trace, "records", counted->rows[TABLE_SAMPLES]);
  set_texts(trace, header);
  set_numbers(trace, header);
  set_events(trace, parser);
  if (dcpi_clock(header) != 0 && dcpi_clock(header) <= INT64_MAX)
    pf_info_int(trace, "clock", (int64_t)dcpi_clock(header));
  if (has_version && header->major == 0 && header->minor != 7)
    pf_info_text(
        trace, "notes",
        pf_bytes_of(
            "read as version 0.07: the differences are not documented"));
}


/* Parse the header and the segments that begin in the first DCPI_PRESCAN bytes
   of the body, and count rows. */
static pf_status prescan_file (dcpi_parser *parser, prescan *counted) {
  const dcpi_header *const header = &parser->header;
  int64_t *const rows = counted->rows;
  dcpi_segment segment;
  pf_status status = PF_OK;
  while (status == PF_OK &&
         (!parser->in_body || parser->at - header->size < DCPI_PRESCAN)) {
    status = dcpi_next_segment(parser, &segment);
    if (status != PF_MORE)
      break;
    rows[TABLE_RAW]++;
    rows[TABLE_HEADER] += segment.kind == DCPI_LINE;
    if (segment.kind == DCPI_CHUNK)
      rows[TABLE_SAMPLES] = parser->file->zeros
                                ? rows[TABLE_SAMPLES] + (int64_t)segment.count
                                : (int64_t)parser->addresses;
    for (size_t i = 0; segment.kind == DCPI_COUNTS && i < header->nevents; i++)
      rows[TABLE_SAMPLES] += parser->file->zeros || parser->counts[i] != 0;
  }
  counted->is_whole = status == PF_END;
  rows[TABLE_PROFILES] = (int64_t)header->nevents;
  return status < 0 ? status : PF_OK;
}


static pf_status read_options (const pf_trace *trace, dcpi_file *file,
                               pf_error *error) {
  const int64_t step = pf_option_int(trace, "insn_size", DCPI_INSN_SIZE);
  const int64_t limit = pf_option_int(trace, "header_limit", DCPI_HEADER_LIMIT);
  const int64_t speed = pf_option_int(trace, "cpuspeed", 0);
  if (step < 1 || step > 16)
    return pf_refuse(error, "insn_size 1 to 16 expected, found %lld",
                     (long long)step);
  if (limit < 1)
    return pf_refuse(error, "header_limit above 0 expected, found %lld",
                     (long long)limit);
  if (speed < 0)
    return pf_refuse(error, "cpuspeed of 0 or more expected, found %lld",
                     (long long)speed);
  file->step = (uint64_t)step;
  file->cpuspeed = (uint64_t)speed;
  file->limit = (uint64_t)limit;
  file->big = pf_option_is(trace, "byte_order", "big");
  file->by_insn = pf_option_is(trace, "offset_unit", "insn");
  file->zeros = pf_option_int(trace, "zeros", 0) != 0;
  return PF_OK;
}


/* Detect the dialect, and check that the last line of a binary header begins
   within the limit. PF_EFORMAT, or PF_ETRUNCATED if the file ends before it. */
static pf_status find_dialect (const pf_trace *trace, dcpi_file *file,
                               pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const pf_bytes head = {
      bytes.at, bytes.size < file->limit ? bytes.size : (size_t)file->limit};
  const head_stats found = scan_head(head);
  dcpi_line line;
  uint64_t at = 0;
  if (bytes.size == 0)
    return pf_fail(error, PF_EFORMAT, 0,
                   "a header expected, the file is empty");
  if (pf_option_is(trace, "dialect", "dcpicat") ||
      (!pf_option_is(trace, "dialect", "pdb") && is_cat(&found))) {
    file->dialect = DCPI_CAT;
    return PF_OK;
  }
  for (; at < file->limit && dcpi_split_line(bytes, at, &line); at += line.size)
    if (dcpi_is_terminator(&line))
      return PF_OK;
  if (bytes.size > file->limit)
    return pf_fail(error, PF_EFORMAT, at,
                   "a line \"samples\" expected in the first %llu bytes, "
                   "found none (header_limit allows more)",
                   (unsigned long long)file->limit);
  return pf_fail(error, PF_ETRUNCATED, at,
                 "a line \"samples\" expected at the end of the header, the "
                 "file ends without one");
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  dcpi_file *const file = trace->state;
  prescan counted = {.is_whole = false};
  pf_status status = read_options(trace, file, error);
  if (status == PF_OK)
    status = find_dialect(trace, file, error);
  if (status < 0)
    return status;
  dcpi_parser parser = dcpi_new_parser(file, trace, error);
  status = prescan_file(&parser, &counted);
  if (status < 0)
    return status;
  set_info(trace, &parser, &counted);
  memcpy(file->tables, dcpi_tables, sizeof dcpi_tables);
  for (int i = 0; i < DCPI_TABLES; i++)
    if (counted.is_whole || i == TABLE_PROFILES || i == TABLE_HEADER)
      file->tables[i].rows = counted.rows[i];
  trace->tables = file->tables;
  trace->ntables = DCPI_TABLES;
  return PF_OK;
}


const pf_format pf_format_dcpi = {
    .name = "dcpi",
    .score = score,
    .open = open_trace,
    .state_size = sizeof(dcpi_file),
    .written = dcpi_written,
    .nwritten = WRITTEN_TABLES,
};
