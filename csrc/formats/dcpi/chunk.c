/*
** chunk.c - segments of the binary form, major version 0. All numbers are
** unsigned, 32 bits, little-endian and not aligned.
**
**   chunk   OFFSET  SIZE  FIELD
**                0     4  offset of the first address from tstart
**                4     4  number of counts
**                8    4n  samples of each address; addresses are 4 apart,
**                         or as the option insn_size states
**
**   footer       0     4  number of addresses that have samples
**                4     4  sum of all samples
**
** Chunks are sorted by offset and do not overlap. Neither the number of chunks
** nor their total size is stated: the footer is the last 8 bytes. Source:
** dcpiformat(4). It does not say whether an offset counts bytes (assumed here)
** or instructions, and what changed between versions 0.06 and 0.07.
**
** Called by parser_dcpi.c. Copies no counts: a segment has their offset.
*/

#include "formats/dcpi/dcpi.h"

/* From this number of counts on, their bytes need more than 32 bits: it is
   damaged, not truncated. */
#define DAMAGED_NUMBER 0x40000000u


static void add_counts (const uint8_t *at, uint64_t count, bool big,
                        uint64_t *addresses, uint64_t *samples) {
  uint64_t filled = 0, sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint32_t value = pf_load32(at + 4 * i, big);
    sum += value;
    filled += value != 0;
  }
  *addresses += filled;
  *samples += sum;
}


/* Whether the 8 bytes at `at` are a footer that matches the sums so far plus
   `more` counts at `counts_at`. */
static bool is_footer (const dcpi_parser *parser, uint64_t at,
                       uint64_t counts_at, uint64_t more) {
  uint64_t addresses = parser->addresses, samples = parser->samples;
  add_counts(parser->bytes.at + counts_at, more, parser->file->big, &addresses,
             &samples);
  return dcpi_load(parser, at) == (uint32_t)addresses &&
         dcpi_load(parser, at + 4) == (uint32_t)samples;
}


/* Whether the file was copied in text mode: each line feed of the body follows
   a carriage return, and without them its size is a multiple of 4. */
static bool is_text_copy (const dcpi_parser *parser) {
  const uint8_t *const body = parser->bytes.at + parser->header.size;
  const size_t size = parser->bytes.size - (size_t)parser->header.size;
  size_t pairs = 0;
  for (const uint8_t *at = body;
       (at = memchr(at, '\n', size - (size_t)(at - body))) != NULL; at++) {
    if (at == body || at[-1] != '\r')
      return false;
    pairs++;
  }
  return pairs > 0 && (size - pairs) % 4 == 0;
}


static pf_status report_text_copy (dcpi_parser *parser) {
  return dcpi_damage(
      parser, "dcpi-text-mode", parser->header.size,
      "each line feed after the header follows a carriage return: the file was "
      "copied in text mode, and the counts from here on are damaged");
}


/* Whether the head of the next chunk is plausible in the other byte order. */
static bool fits_swapped (const dcpi_parser *parser) {
  const uint8_t *const head = parser->bytes.at + parser->at;
  const uint64_t offset = pf_load32(head, !parser->file->big);
  const uint64_t number = pf_load32(head + 4, !parser->file->big);
  const uint64_t max_counts = (dcpi_left(parser) - DCPI_CHUNK_HEAD) / 4;
  return number > 0 && number <= max_counts &&
         (!dcpi_has(&parser->header, DCPI_TSIZE) ||
          offset < parser->header.numbers[DCPI_TSIZE]);
}


static pf_status bad_sum (dcpi_parser *parser, const char *code, uint64_t at,
                          const char *what, uint32_t stated, uint64_t counted) {
  return dcpi_damage(parser, code, at,
                     "the footer states %u %s, counted were %llu: the file may "
                     "be truncated, or have bytes after its end",
                     (unsigned)stated, what, (unsigned long long)counted);
}


static pf_status check_footer (dcpi_parser *parser,
                               const dcpi_segment *footer) {
  const uint64_t max_counts = (footer->offset - parser->header.size) / 4;
  const bool is_equal = (uint32_t)parser->samples == footer->words[1];
  pf_status status = PF_OK;
  if (footer->words[0] > max_counts)
    return dcpi_damage(
        parser, "dcpi-footer-impossible", footer->offset,
        "the footer states %u addresses with samples, the file can hold %llu",
        (unsigned)footer->words[0], (unsigned long long)max_counts);
  if ((parser->addresses != footer->words[0] || !is_equal) &&
      is_text_copy(parser))
    return report_text_copy(parser);
  if (parser->addresses != footer->words[0])
    status =
        bad_sum(parser, "dcpi-footer-addresses", footer->offset,
                "addresses with samples", footer->words[0], parser->addresses);
  if (status < 0 || parser->samples == footer->words[1])
    return status;
  if (!is_equal)
    return bad_sum(parser, "dcpi-footer-samples", footer->offset + 4, "samples",
                   footer->words[1], parser->samples);
  return dcpi_report(
      parser, PF_NOTE, "dcpi-sum-wrapped", PF_EFORMAT, footer->offset + 4,
      "%llu samples were counted: the footer states the sum modulo 2^32",
      (unsigned long long)parser->samples);
}


static void take_footer (dcpi_parser *parser, dcpi_segment *segment) {
  segment->words[0] = dcpi_load(parser, parser->at);
  segment->words[1] = dcpi_load(parser, parser->at + 4);
  dcpi_take_segment(parser, segment, DCPI_FOOTER, DCPI_FOOTER_SIZE);
  parser->has_ended = true;
}


/* Note, once per trace, that offsets may count instructions. `status` is that
   of the report before. */
static pf_status hint_unit_if (dcpi_parser *parser, pf_status status,
                               bool is_likely) {
  if (status < 0 || !is_likely || parser->file->by_insn)
    return status;
  return dcpi_report(parser, PF_NOTE, "dcpi-offset-unit", PF_EFORMAT,
                     parser->header.size,
                     "the offsets may count instructions, not bytes: pass "
                     "offset_unit = \"insn\" then");
}


/* Compare the start of a chunk with the chunk before it. */
static pf_status check_order (dcpi_parser *parser, const dcpi_segment *segment,
                              uint64_t start) {
  const uint64_t step = parser->file->step;
  if (!parser->has_last || start >= parser->last_end)
    return PF_OK;
  if (start <= parser->last)
    return dcpi_damage(parser, "dcpi-chunk-order", segment->offset,
                       "an offset above %llu expected, found %llu",
                       (unsigned long long)parser->last,
                       (unsigned long long)start);
  const bool fits_as_insns =
      start - parser->last >= (parser->last_end - parser->last) / step;
  return hint_unit_if(parser,
                      dcpi_damage(parser, "dcpi-chunk-overlap", segment->offset,
                                  "an offset of at least %llu expected, where "
                                  "the last chunk ends, found %llu",
                                  (unsigned long long)parser->last_end,
                                  (unsigned long long)start),
                      fits_as_insns);
}


/* Compare the addresses of a chunk with 2^64 and with tsize. */
static pf_status check_range (dcpi_parser *parser, const dcpi_segment *segment,
                              uint64_t start, uint64_t end) {
  const dcpi_header *const header = &parser->header;
  const uint64_t size = header->numbers[DCPI_TSIZE];
  if (header->numbers[DCPI_TSTART] > UINT64_MAX - end)
    return dcpi_damage(parser, "dcpi-address-wrap", segment->offset,
                       "addresses below 2^64 expected, a chunk goes %llu "
                       "bytes beyond tstart",
                       (unsigned long long)end);
  if (!dcpi_has(header, DCPI_TSIZE) || end <= size)
    return PF_OK;
  return hint_unit_if(parser,
                      dcpi_damage(parser, "dcpi-beyond-text", segment->offset,
                                  "a chunk within the %llu bytes of tsize "
                                  "expected, it ends at %llu",
                                  (unsigned long long)size,
                                  (unsigned long long)end),
                      start + segment->words[1] <= size);
}


/* Read a chunk of `count` counts that covers `size` bytes of the file, and
   check it against the one before and the image. */
static pf_status take_chunk (dcpi_parser *parser, dcpi_segment *segment,
                             uint64_t count, uint64_t size) {
  const uint64_t step = parser->file->step;
  const uint64_t unit = parser->file->by_insn ? step : 1;
  const uint64_t start = segment->words[0] * unit;
  const uint64_t end = start + step * segment->words[1];
  segment->counts_at = parser->at + DCPI_CHUNK_HEAD;
  segment->count = count;
  dcpi_take_segment(parser, segment, DCPI_CHUNK, size);
  if (!parser->reader_counts)
    add_counts(parser->bytes.at + segment->counts_at, count, parser->file->big,
               &parser->addresses, &parser->samples);
  pf_status status = check_order(parser, segment, start);
  if (status == PF_OK)
    status = check_range(parser, segment, start, end);
  if (status == PF_OK && start % step != 0)
    status = hint_unit_if(
        parser,
        dcpi_damage(parser, "dcpi-unaligned", segment->offset,
                    "an offset that is a multiple of %llu expected, found %u",
                    (unsigned long long)step, (unsigned)segment->words[0]),
        true);
  segment->address = parser->header.numbers[DCPI_TSTART] + start;
  parser->has_last = true;
  parser->last = start;
  parser->last_end = end;
  return status;
}


/* Whether the rest of the file can hold this chunk and a footer. */
static bool fits (const dcpi_parser *parser, const dcpi_segment *segment) {
  const uint64_t minimum = DCPI_CHUNK_HEAD + DCPI_FOOTER_SIZE;
  const uint64_t left = dcpi_left(parser);
  return left >= minimum && segment->words[1] <= (left - minimum) / 4;
}


static pf_status complete_chunk (dcpi_parser *parser, dcpi_segment *segment) {
  return take_chunk(parser, segment, segment->words[1],
                    DCPI_CHUNK_HEAD + 4 * (uint64_t)segment->words[1]);
}


/* The stated number of counts is impossible: report the likely cause. */
static pf_status reject_chunk (dcpi_parser *parser, dcpi_segment *segment) {
  const uint64_t at = parser->at, left = dcpi_left(parser);
  const bool is_other = fits_swapped(parser);
  dcpi_take_rest(parser, segment);
  if (is_text_copy(parser))
    return report_text_copy(parser);
  if (is_other)
    return dcpi_damage(parser, "dcpi-byte-order", at,
                       "a chunk of %u counts does not fit, but it does in the "
                       "other byte order: pass byte_order = \"big\"",
                       (unsigned)segment->words[1]);
  return dcpi_damage(parser, "dcpi-number-too-large", at,
                     "a chunk of at most %llu counts expected, found %u",
                     (unsigned long long)((left - DCPI_CHUNK_HEAD) / 4),
                     (unsigned)segment->words[1]);
}


/* The chunk extends beyond the end of the file: read the counts that exist. */
static pf_status truncated_chunk (dcpi_parser *parser, dcpi_segment *segment) {
  const uint64_t at = parser->at;
  const uint64_t count = (dcpi_left(parser) - DCPI_CHUNK_HEAD) / 4;
  const pf_status status =
      take_chunk(parser, segment, count, dcpi_left(parser));
  parser->has_ended = true;
  if (status < 0)
    return status;
  return dcpi_report(parser, PF_DAMAGE, "dcpi-truncated", PF_ETRUNCATED, at,
                     "%u counts and a footer expected, the file ends after "
                     "%llu counts",
                     (unsigned)segment->words[1], (unsigned long long)count);
}


/* Handle a chunk that does not fit before a footer. */
static pf_status bad_chunk (dcpi_parser *parser, dcpi_segment *segment) {
  const uint64_t at = parser->at;
  const uint64_t minimum = DCPI_CHUNK_HEAD + DCPI_FOOTER_SIZE;
  const uint64_t body =
      dcpi_left(parser) > minimum ? dcpi_left(parser) - minimum : 0;
  if (body > 0 && body % 4 == 0 &&
      is_footer(parser, parser->bytes.size - DCPI_FOOTER_SIZE,
                at + DCPI_CHUNK_HEAD, body / 4)) {
    /* The number is wrong, but the footer matches the counts before it. */
    const uint32_t stated = segment->words[1];
    segment->words[1] = (uint32_t)(body / 4);
    const pf_status status = complete_chunk(parser, segment);
    segment->words[1] = stated;
    if (status < 0)
      return status;
    return dcpi_damage(
        parser, "dcpi-wrong-number", at,
        "a chunk of %u counts does not fit; by the footer it has %llu",
        (unsigned)stated, (unsigned long long)(body / 4));
  }
  if (segment->words[1] <= (dcpi_left(parser) - DCPI_CHUNK_HEAD) / 4)
    return complete_chunk(parser, segment); /* only the footer is truncated */
  if (segment->words[1] >= DAMAGED_NUMBER || fits_swapped(parser) ||
      is_text_copy(parser))
    return reject_chunk(parser, segment);
  return truncated_chunk(parser, segment);
}


/* Read a chunk head, of which at least 8 bytes exist, and decide what it is. */
static pf_status take_chunk_or_footer (dcpi_parser *parser,
                                       dcpi_segment *segment) {
  const uint64_t left = dcpi_left(parser);
  segment->words[0] = dcpi_load(parser, parser->at);
  segment->words[1] = dcpi_load(parser, parser->at + 4);
  const bool is_chunk =
      !parser->has_last || (segment->words[1] > 0 && fits(parser, segment) &&
                            segment->words[0] > parser->last);
  if (!is_chunk && is_footer(parser, parser->at, parser->at, 0)) {
    take_footer(parser, segment);
    return dcpi_damage(parser, "dcpi-trailing-bytes", parser->at,
                       "%llu bytes follow the footer",
                       (unsigned long long)dcpi_left(parser));
  }
  if (left < DCPI_CHUNK_HEAD + 4 ||
      (left < DCPI_CHUNK_HEAD + DCPI_FOOTER_SIZE &&
       is_footer(parser, parser->bytes.size - DCPI_FOOTER_SIZE, parser->at,
                 0))) {
    /* too few bytes for a chunk before the footer */
    const uint64_t at = parser->at, stray = left - DCPI_FOOTER_SIZE;
    dcpi_take_segment(parser, segment, DCPI_REST, stray);
    if (is_text_copy(parser))
      return report_text_copy(parser);
    return dcpi_report(parser, PF_DAMAGE, "dcpi-stray-bytes", PF_ETRUNCATED, at,
                       "a chunk or the footer expected, found %llu bytes and "
                       "then the last 8",
                       (unsigned long long)stray);
  }
  if (segment->words[1] > 0)
    return fits(parser, segment) ? complete_chunk(parser, segment)
                                 : bad_chunk(parser, segment);
  segment->counts_at = parser->at + DCPI_CHUNK_HEAD;
  dcpi_take_segment(parser, segment, DCPI_CHUNK, DCPI_CHUNK_HEAD);
  return dcpi_damage(parser, "dcpi-empty-chunk", segment->offset,
                     "a chunk of 1 count or more expected, found one of 0");
}


pf_status dcpi_parse_chunk (dcpi_parser *parser, dcpi_segment *segment) {
  const uint64_t at = parser->at, left = dcpi_left(parser);
  if (left > DCPI_FOOTER_SIZE)
    return take_chunk_or_footer(parser, segment);
  if (left == DCPI_FOOTER_SIZE) {
    take_footer(parser, segment);
    return check_footer(parser, segment);
  }
  dcpi_take_rest(parser, segment);
  if (at == parser->header.size)
    return dcpi_report(
        parser, PF_DAMAGE, "dcpi-no-footer", PF_ETRUNCATED, at,
        "at least a footer of 8 bytes expected after the header, found %llu",
        (unsigned long long)left);
  return dcpi_report(parser, PF_DAMAGE, "dcpi-truncated-footer", PF_ETRUNCATED,
                     at, "a footer of 8 bytes expected, found %llu",
                     (unsigned long long)left);
}
