/*
** header_dcpi.c - checks the lines of a header and stores their values.
**
** A binary file has, in any order and each exactly once:
**
**   version   pdb-<major>.<minor>     the major number decides what follows
**   image     hexadecimal digits      14 of a time, then 6: more than a number
**                                     of 64 bits has
**   epoch     digits of a time        see header_line.c
**   platform  text                    the machine
**   event     text                    the event that was counted
**   period    digits                  events per sample
**   tstart    hexadecimal digits      first address of the code, without 0x
**   tsize     digits                  bytes of code, in decimal
**   cpuspeed  digits                  MHz below 1,000,000, else hertz
**
** and optionally cpuamask, cpuimplv, cpucount, path, and words of later tools:
** name and label are used, the others are rows of the table header and nothing
** else. "samples" and blanks end the header. dcpicat's text begins with name,
** image, label, path, epoch, platform, text_start and text_size (both with 0x),
** and one line for each event; label and path may be absent. Sources:
** dcpiformat(4), which lists the required words, and dcpicat(1). The unit of
** cpuspeed is not documented.
**
** dcpi_take_line and dcpi_check_header are called by parser_dcpi.c, the
** look-ups in a finished header by the readers and open_dcpi.c. Nothing is
** allocated: values are slices of the source.
*/

#include <stdio.h>

#include "formats/dcpi/dcpi.h"
#include "model/dictionary/names.h"

#define MHZ 1000000 /* hertz; a smaller cpuspeed is in MHz */


/* Returns the last component of a path without leading blanks (a header cannot
   hold them): the name that dcpicat prints for an image. */
static pf_bytes base_name (pf_bytes path) {
  size_t start = path.size;
  while (start > 0 && path.at[start - 1] != '/')
    start--;
  while (start < path.size && dcpi_is_blank(path.at[start]))
    start++;
  return (pf_bytes){path.at + start, path.size - start};
}


pf_bytes dcpi_name_of (const dcpi_header *header) {
  const pf_bytes name = header->values[DCPI_NAME];
  const pf_bytes path = header->values[DCPI_PATH];
  if (name.at != NULL || path.at == NULL)
    return name;
  const pf_bytes last = base_name(path);
  return last.size > 0 ? last : path;
}


uint64_t dcpi_clock (const dcpi_header *header) {
  const uint64_t speed =
      dcpi_has(header, DCPI_CPUSPEED) ? header->numbers[DCPI_CPUSPEED] : 0;
  return speed < MHZ ? speed * MHZ : speed;
}


static pf_status bad_value (dcpi_parser *parser, const dcpi_line *line,
                            const char *wanted) {
  const pf_bytes value = line->value;
  return dcpi_damage(parser, "dcpi-bad-value", line->offset,
                     "%s: %s expected, found \"%.*s\"",
                     dcpi_rules[line->id].word, wanted, PF_SHOWN(value, 40));
}


static pf_status take_number (dcpi_parser *parser, const dcpi_line *line,
                              unsigned base) {
  const dcpi_word word = line->id;
  pf_bytes digits = line->value;
  pf_status status = PF_OK;
  /* dcpicat prints the prefix; in a binary header it is reported */
  if (base == 16 && dcpi_cut_prefix(&digits) &&
      parser->file->dialect == DCPI_PDB)
    status =
        dcpi_damage(parser, "dcpi-hex-prefix", line->offset,
                    "%s: digits without 0x expected", dcpi_rules[word].word);
  if (status < 0)
    return status;
  const pf_status parsed =
      pf_parse_uint(digits, base, &parser->header.numbers[word]);
  if (parsed == PF_EFORMAT)
    return bad_value(parser, line,
                     base == 16 ? "hexadecimal digits" : "digits");
  if (parsed == PF_ELIMIT)
    return dcpi_damage(parser, "dcpi-value-too-large", line->offset,
                       "%s: a number below 2^64 expected",
                       dcpi_rules[word].word);
  parser->header.valid_words |= UINT32_C(1) << word;
  return PF_OK;
}


/* Parse pdb-<major>.<minor>. Returns false for another form. A number that is
   too large becomes UINT64_MAX, an unknown version. */
static bool parse_version (dcpi_header *header, pf_bytes text) {
  if (!pf_begins_with(text, "pdb-"))
    return false;
  const uint8_t *const dot = memchr(text.at, '.', text.size);
  if (dot == NULL)
    return false;
  const pf_bytes major = {text.at + 4, (size_t)(dot - text.at) - 4};
  const pf_bytes minor = {dot + 1, text.size - (size_t)(dot - text.at) - 1};
  const pf_status first = pf_parse_uint(major, 10, &header->major);
  const pf_status second = pf_parse_uint(minor, 10, &header->minor);
  if (first == PF_ELIMIT)
    header->major = UINT64_MAX;
  if (second == PF_ELIMIT)
    header->minor = UINT64_MAX;
  return first != PF_EFORMAT && second != PF_EFORMAT;
}


static pf_status take_value (dcpi_parser *parser, const dcpi_line *line) {
  dcpi_header *const header = &parser->header;
  const pf_bytes value = line->value;
  uint64_t number;
  switch (dcpi_rules[line->id].syntax) {
    case DCPI_DECIMAL: return take_number(parser, line, 10);
    case DCPI_HEX: return take_number(parser, line, 16);
    case DCPI_HEX_DIGITS: /* the number is not needed */
      if (pf_parse_uint(value, 16, &number) == PF_EFORMAT)
        return bad_value(parser, line, "hexadecimal digits");
      break;
    case DCPI_TIME:
      header->numbers[DCPI_EPOCH] = dcpi_epoch(value); /* the only time */
      if (header->numbers[DCPI_EPOCH] == 0)
        return dcpi_damage(parser, "dcpi-bad-epoch", line->offset,
                           "a time as YYMMDDHHMM, YYYYMMDDHHMM or "
                           "YYYYMMDDHHMMSS expected, found \"%.*s\"",
                           PF_SHOWN(value, 40));
      break;
    case DCPI_PDB_VERSION:
      if (parse_version(header, value))
        break;
      header->major = header->minor = 0;
      return dcpi_damage(parser, "dcpi-bad-version", line->offset,
                         "pdb-<major>.<minor> expected, found \"%.*s\": read "
                         "as pdb-0.07",
                         PF_SHOWN(value, 40));
    default:
      if (value.size == 0) /* a text without bytes states nothing */
        return PF_OK;
  }
  header->valid_words |= UINT32_C(1) << line->id;
  return PF_OK;
}


static pf_status take_event (dcpi_parser *parser, const dcpi_line *line) {
  dcpi_header *const header = &parser->header;
  if (header->nevents == DCPI_MAX_EVENTS) {
    header->skipped_events++;
    return dcpi_report(
        parser, PF_DAMAGE, "dcpi-too-many-events", PF_ELIMIT, line->offset,
        "at most %d events expected: the counts of this one are not read",
        DCPI_MAX_EVENTS);
  }
  dcpi_event *const event = &header->events[header->nevents];
  *event = (dcpi_event){.offset = line->offset};
  header->values[DCPI_EVENT] = line->value; /* for check_missing */
  header->nevents++; /* a damaged event line has counts, too */
  if (dcpi_read_event(line->value, event))
    return PF_OK;
  return dcpi_damage(parser, "dcpi-bad-value", line->offset,
                     "event: a sum and name:period:fraction expected, found "
                     "\"%.*s\"",
                     PF_SHOWN(line->value, 40));
}


pf_status dcpi_take_line (dcpi_parser *parser, const dcpi_line *line) {
  dcpi_header *const header = &parser->header;
  const dcpi_dialect dialect = parser->file->dialect;
  const bool is_line = line->word.size > 0 && line->rest.size > 0;
  pf_status status = PF_OK;
  if (line->word.size > DCPI_MAX_WORD)
    status = dcpi_damage(parser, "dcpi-long-word", line->offset,
                         "a word of at most %d bytes expected, found %zu",
                         DCPI_MAX_WORD, line->word.size);
  else if (!is_line)
    status = dcpi_damage(parser, "dcpi-bad-line", line->offset,
                         "a word, blanks and a value expected");
  else if (dialect == DCPI_PDB &&
           pf_bytes_equal(line->word, pf_bytes_of("samples")))
    status = dcpi_damage(parser, "dcpi-odd-terminator", line->offset,
                         "only blanks expected after \"samples\": the line is "
                         "taken as one of an unknown word");
  if (status < 0 || !is_line || line->id == DCPI_WORDS ||
      dcpi_rules[line->id].role[dialect] == DCPI_FOREIGN)
    return status;
  if (line->id == DCPI_EVENT && dialect == DCPI_CAT)
    return take_event(parser, line);
  if (line->id == DCPI_PATH)
    header->npaths++;
  if (header->values[line->id].at == NULL) {
    header->values[line->id] = line->value;
    return take_value(parser, line);
  }
  if (line->id > DCPI_CPUSPEED) /* may occur more than once, as paths may */
    return PF_OK;
  return dcpi_damage(
      parser, "dcpi-duplicate-line", line->offset,
      "one line %s expected, here is another: the first one is used",
      dcpi_rules[line->id].word);
}


/* Report the required words that have no line. Those of a binary file are words
   0 to DCPI_CPUSPEED; check_version reports 0. */
static pf_status check_missing (dcpi_parser *parser) {
  static const dcpi_word of_text[] = {
      DCPI_NAME,       DCPI_IMAGE,     DCPI_EPOCH, DCPI_PLATFORM,
      DCPI_TEXT_START, DCPI_TEXT_SIZE, DCPI_EVENT};
  const bool is_binary = parser->file->dialect == DCPI_PDB;
  const size_t count =
      is_binary ? (size_t)DCPI_CPUSPEED : sizeof of_text / sizeof of_text[0];
  char list[160];
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    const dcpi_word word = is_binary ? (dcpi_word)(i + 1) : of_text[i];
    if (parser->header.values[word].at == NULL && used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, " %s",
                               dcpi_rules[word].word);
  }
  if (used == 0)
    return PF_OK;
  return dcpi_damage(parser, "dcpi-missing-line", parser->at,
                     "required lines are missing before here:%s", list);
}


/* Report a missing, unsupported or unknown version of a binary file. */
static pf_status check_version (dcpi_parser *parser) {
  const dcpi_header *const header = &parser->header;
  const pf_bytes version = header->values[DCPI_VERSION];
  if (version.at == NULL)
    return dcpi_damage(parser, "dcpi-bad-version", parser->at,
                       "a line \"version pdb-0.07\" expected before here, "
                       "found none: read as pdb-0.07");
  if (header->major != 0)
    return dcpi_report(parser, PF_DAMAGE, "dcpi-unsupported-major",
                       PF_EUNSUPPORTED, parser->header.size,
                       "data of major version 0 expected, found %.*s, whose "
                       "layout is not published: the samples are not read; "
                       "print them with dcpicat and open its text",
                       PF_SHOWN(version, 40));
  if (header->minor == 6 || header->minor == 7)
    return PF_OK;
  return dcpi_report(
      parser, PF_NOTE, "dcpi-other-minor", PF_EUNSUPPORTED, parser->header.size,
      "version pdb-0.06 or pdb-0.07 expected, found %.*s: read as pdb-0.07",
      PF_SHOWN(version, 40));
}


pf_status dcpi_check_header (dcpi_parser *parser) {
  dcpi_header *const header = &parser->header;
  pf_status status = check_missing(parser);
  parser->in_body = true;
  header->size = parser->at;
  parser->has_ended |= parser->file->dialect == DCPI_PDB && header->major != 0;
  if (!dcpi_has(header, DCPI_CPUSPEED) && parser->file->cpuspeed != 0) {
    header->numbers[DCPI_CPUSPEED] = parser->file->cpuspeed; /* the option */
    header->valid_words |= UINT32_C(1) << DCPI_CPUSPEED;
  }
  if (status < 0 || parser->file->dialect == DCPI_CAT)
    return status;
  status = check_version(parser);
  if (header->values[DCPI_EVENT].at != NULL) { /* the only event */
    header->nevents = 1;
    header->events[0] = (dcpi_event){
        .name = header->values[DCPI_EVENT],
        .period =
            dcpi_has(header, DCPI_PERIOD) ? header->numbers[DCPI_PERIOD] : 0,
        .fraction = DCPI_FULL_TIME,
        .has_rate = true};
  }
  return status;
}
