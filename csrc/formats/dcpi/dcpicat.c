/*
** dcpicat.c - segments of dcpicat's text. After the header (header_dcpi.c)
** follows a line for each address that has samples, in ascending order:
**
**   0x00012006cbb8      29      27
**
** with one count for each event, in the order of the event lines of the header:
**
**   event            470352 cycles:63488:10000
**
** These hold the sum of the counts, the name (which may contain colons), the
** period, and the fraction of the time during which the event was counted, in
** 1/10000. Source: dcpicat(1).
**
** Called by parser_dcpi.c; dcpi_read_event by header_dcpi.c.
** Nothing is allocated.
*/

#include "formats/dcpi/dcpi.h"


/* Remove the last colon and the number after it from `text`. False if there is
   no such number below 2^64. */
static bool cut_number (pf_bytes *text, uint64_t *number) {
  size_t colon = text->size;
  while (colon > 0 && text->at[colon - 1] != ':')
    colon--;
  if (colon == 0)
    return false;
  const pf_bytes digits = {text->at + colon, text->size - colon};
  if (pf_parse_uint(digits, 10, number) != PF_OK)
    return false;
  text->size = colon - 1;
  return true;
}


bool dcpi_read_event (pf_bytes text, dcpi_event *event) {
  pf_bytes total;
  uint64_t period, fraction;
  event->name = text;
  event->has_stated = pf_next_word(&text, &total) &&
                      pf_parse_uint(total, 10, &event->stated) == PF_OK;
  if (!event->has_stated)
    return false;
  while (text.size > 0 && dcpi_is_blank(*text.at)) {
    text.at++;
    text.size--;
  }
  event->name = text;
  if (!cut_number(&text, &fraction) || !cut_number(&text, &period) ||
      text.size == 0)
    return false;
  event->name = text;
  event->period = period;
  event->fraction = fraction;
  event->has_rate = true;
  return true;
}


/* Report events whose counts do not add up to the stated sum. */
static pf_status check_events (dcpi_parser *parser) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < parser->header.nevents && status == PF_OK; i++) {
    const dcpi_event *const event = &parser->header.events[i];
    if (!event->has_stated || event->stated == event->counted)
      continue;
    status = dcpi_damage(parser, "dcpi-event-sum", event->offset,
                         "%.*s: %llu samples are stated, counted were %llu",
                         PF_SHOWN(event->name, 40),
                         (unsigned long long)event->stated,
                         (unsigned long long)event->counted);
  }
  return status;
}


/* Parse the counts of a line, one for each event, and check them. One that
   cannot be read is missing. */
static pf_status take_counts (dcpi_parser *parser,
                              const dcpi_segment *segment) {
  const size_t events = parser->header.nevents;
  const size_t expected = events + parser->header.skipped_events;
  pf_bytes text = segment->line.value, word;
  size_t count = 0;
  bool is_good = true;
  pf_status status = PF_OK;
  memset(parser->counts, 0xff, sizeof parser->counts); /* missing */
  for (; pf_next_word(&text, &word); count++)
    if (count < events)
      is_good &= pf_parse_uint(word, 10, &parser->counts[count]) == PF_OK;
  is_good &= count == expected;
  if (!is_good)
    status =
        dcpi_damage(parser, "dcpi-bad-counts", segment->offset,
                    "an address and %zu counts below 2^64 expected", expected);
  for (size_t i = 0; i < events; i++) {
    if (parser->counts[i] != UINT64_MAX)
      parser->header.events[i].counted += parser->counts[i];
    if (status == PF_OK && is_good && parser->counts[i] > INT64_MAX)
      status = dcpi_damage(parser, "dcpi-count-too-large", segment->offset,
                           "counts below 2^63 expected, found %llu: shown as "
                           "missing",
                           (unsigned long long)parser->counts[i]);
  }
  return status;
}


/* Compare an address with the one before and with the range of the code. */
static pf_status check_address (dcpi_parser *parser,
                                const dcpi_segment *segment) {
  const dcpi_header *const header = &parser->header;
  const uint64_t start = header->numbers[DCPI_TEXT_START];
  const bool is_later = !parser->has_last || segment->address > parser->last;
  const unsigned long long last = parser->last;
  parser->has_last = true;
  parser->last = segment->address;
  if (!is_later)
    return dcpi_damage(parser, "dcpi-address-order", segment->offset,
                       "an address above 0x%llx expected, found 0x%llx", last,
                       (unsigned long long)segment->address);
  if (!dcpi_has(header, DCPI_TEXT_START) || !dcpi_has(header, DCPI_TEXT_SIZE) ||
      (segment->address >= start &&
       segment->address - start < header->numbers[DCPI_TEXT_SIZE]))
    return PF_OK;
  return dcpi_damage(parser, "dcpi-beyond-text", segment->offset,
                     "an address within text_size bytes from text_start "
                     "expected, found 0x%llx",
                     (unsigned long long)segment->address);
}


pf_status dcpi_parse_counts (dcpi_parser *parser, dcpi_segment *segment) {
  const uint64_t at = parser->at;
  if (dcpi_left(parser) == 0) {
    parser->has_ended = true;
    return check_events(parser);
  }
  if (!dcpi_split_line(parser->bytes, at, &segment->line)) {
    dcpi_take_rest(parser, segment);
    parser->has_ended = false; /* dcpi_take_rest has set it; but the next call
                                  has to check the sums */
    return dcpi_report(parser, PF_DAMAGE, "dcpi-truncated", PF_ETRUNCATED, at,
                       "the file ends inside a line");
  }
  pf_bytes digits = segment->line.word;
  if (!dcpi_cut_prefix(&digits) ||
      pf_parse_uint(digits, 16, &segment->address) != PF_OK) {
    dcpi_take_segment(parser, segment, DCPI_REST, segment->line.size);
    return dcpi_damage(parser, "dcpi-bad-line", at,
                       "an address and counts expected in a line");
  }
  dcpi_take_segment(parser, segment, DCPI_COUNTS, segment->line.size);
  const pf_status status = check_address(parser, segment);
  return status < 0 ? status : take_counts(parser, segment);
}
