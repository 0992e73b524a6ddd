/*
** gnu.c - GNU gmon.out, version 1 (and 0), and output of ld.so.
**
** A is the width of an address, 4 or 8; all numbers are in the byte order of
** the machine that was profiled. Nothing is padded and nothing is aligned.
**
**   header           OFFSET  SIZE  FIELD
**                         0     4  "gmon"
**                         4     4  version: 1 (0 in very old files)
**                         8    12  spare; some writers leave garbage
**
** Records follow in any order and number, each after one byte of tag:
**
**   0 histogram           1     A  lowest address
**                       1+A     A  highest address, exclusive
**                      1+2A     4  number of bins
**                      5+2A     4  rate in hertz; 0: counts are ticks
**                      9+2A    15  dimension, NUL padded, maybe without NUL
**                     24+2A     1  its abbreviation
**                     25+2A    2n  bins (or 8n, see below)
**
**   1 arc                 1     A  from: a place in the caller, often rounded
**                       1+A     A  to: a place in the callee
**                      1+2A     4  count (or 8)
**
**   2 basic blocks        1     4  number of blocks (glibc on 64 bits: 8)
**                         5   2An  pairs of an address and a count of A bytes
**
** With the option counter_bits = 64 the counts of bins and arcs have 8 bytes.
** No other program writes or reads such files; they hold sums that are too
** large for the usual ones.
**
** Sources: the glibc manual and source, and files of 16 machines. The purpose
** of the spare bytes is not known.
**
** Output of ld.so for LD_PROFILE=lib.so, read by sprof, is similar, but has
** tags of 4 bytes and one table of arcs. The histogram has link-time addresses.
** Addresses of arcs are relative to the text segment, which begins at `low` of
** the histogram; from = 0 is a call from outside the library. Table `arcs` has
** link-time addresses, table `raw` the stated ones.
**
**   OFFSET    SIZE  FIELD
**        0       4  "gmon"
**        4       4  version: 0x1ffff
**        8      12  spare
**       20       4  tag 0
**       24   24+2A  histogram header, and bins
**        q       4  tag 1
**      q+4       4  number of arcs in use
**      q+8  (2A+4)  arcs: from, to, count of 4 bytes; the table has space for
**                   many more, and the file contains all of it
**
** Sources: ld.so, and files that glibc 2.36 wrote. Called by parser_gmon.c.
*/

#include "formats/gmon/gmon.h"

enum {
  TAG_HISTOGRAM,
  TAG_ARC,
  TAG_BLOCKS
};


/* Whether a text is one or more printable bytes, padded with NULs. */
static bool is_padded_text (const uint8_t *text, size_t size) {
  size_t i = 0;
  while (i < size && text[i] >= 0x20 && text[i] < 0x7f)
    i++;
  if (i == 0)
    return false;
  while (i < size && text[i] == 0)
    i++;
  return i == size;
}


/* Bytes of a histogram header without its tag. */
static uint64_t header_size (const gmon_layout *layout) {
  return 2 * (uint64_t)layout->width + 24;
}


/* Whether a histogram header, which must exist, is plausible: printable
   dimension and abbreviation, rate below 2^29. */
static bool is_plausible_header (const gmon_layout *layout,
                                 const uint8_t *header) {
  const uint8_t *const tail = header + 2 * layout->width;
  const uint8_t abbreviation = tail[8 + GMON_DIMENSION];
  return pf_load32(tail + 4, layout->big) < GMON_RATE_LIMIT &&
         is_padded_text(tail + 8, GMON_DIMENSION) && abbreviation >= 0x20 &&
         abbreviation < 0x7f;
}


static pf_status report_odd (gmon_parser *parser, const gmon_segment *segment) {
  return gmon_report(
      parser, PF_DAMAGE, "gmon-odd-histogram", PF_EFORMAT, segment->offset,
      "a dimension in letters and a rate below 2^29 expected, found rate %u",
      (unsigned)segment->rate);
}


/* Parse a histogram after a tag of `tag` bytes. */
static pf_status take_histogram (gmon_parser *parser, gmon_segment *segment,
                                 unsigned tag) {
  const gmon_layout *const layout = parser->layout;
  const uint64_t size = tag + header_size(layout);
  if (gmon_left(parser) < size)
    return gmon_truncated(parser, segment, "a histogram header", size);
  const uint8_t *const header = gmon_here(parser) + tag;
  const uint8_t *const tail = header + 2 * layout->width;
  const bool is_plausible = is_plausible_header(layout, header);
  if (!is_plausible && layout->is_strict) {
    gmon_take_rest(parser, segment, GMON_REST, GMON_INVALID);
    return PF_OK;
  }
  segment->low = gmon_address(layout, header);
  segment->high = gmon_address(layout, header + layout->width);
  segment->declared = pf_load32(tail, layout->big);
  segment->rate = pf_load32(tail + 4, layout->big);
  segment->dimension.at = tail + 8;
  segment->dimension.size = strnlen((const char *)tail + 8, GMON_DIMENSION);
  segment->abbreviation = tail[8 + GMON_DIMENSION];
  segment->items_at = parser->at + size;
  segment->stride = layout->counter;
  const uint64_t available = (gmon_left(parser) - size) / layout->counter;
  segment->count =
      segment->declared < available ? segment->declared : available;
  if (segment->count == segment->declared)
    gmon_take_segment(parser, segment, GMON_HISTOGRAM,
                      size + layout->counter * segment->count);
  else
    gmon_take_rest(parser, segment, GMON_HISTOGRAM, GMON_TRUNCATED);
  const pf_status status = is_plausible ? PF_OK : report_odd(parser, segment);
  return status < 0 ? status : gmon_check_histogram(parser, segment);
}


/* Take consecutive arcs, up to GMON_MAX_ARCS. */
static pf_status take_arcs (gmon_parser *parser, gmon_segment *segment) {
  const unsigned width = parser->layout->arc_count;
  const uint64_t size = 1 + 2 * (uint64_t)parser->layout->width + width;
  const uint8_t *at = gmon_here(parser);
  const uint64_t maximum = gmon_left(parser) / size;
  uint64_t count = 0;
  while (count < maximum && count < GMON_MAX_ARCS && *at == TAG_ARC) {
    count++;
    at += size;
  }
  if (count == 0)
    return gmon_truncated(parser, segment, "an arc", size);
  segment->items_at = parser->at + 1;
  segment->stride = size;
  segment->count = segment->declared = count;
  segment->count_width = width;
  gmon_take_segment(parser, segment, GMON_ARCS, count * size);
  return PF_OK;
}


/* Whether the file ends at `at` or a record may begin there: a tag, and for a
   histogram a plausible header. */
static bool is_record_at (const gmon_parser *parser, uint64_t at) {
  const gmon_layout *const layout = parser->layout;
  if (at >= parser->bytes.size)
    return at == parser->bytes.size;
  const uint8_t *const tag = parser->bytes.at + at;
  if (*tag != TAG_HISTOGRAM)
    return *tag <= TAG_BLOCKS;
  return parser->bytes.size - at > header_size(layout) &&
         is_plausible_header(layout, tag + 1);
}


/*
** Whether the number of blocks takes 8 bytes, as glibc writes it on 64 bits;
** gprof reads 4. The upper half of the long form is 0. The short form is
** preferred if a record follows it. The 5 bytes of tag and number must exist.
*/
static bool has_wide_count (const gmon_parser *parser) {
  const gmon_layout *const layout = parser->layout;
  const uint8_t *const at = gmon_here(parser) + 1;
  const uint64_t left = gmon_left(parser);
  if (layout->width != 8 || left < 9)
    return false;
  const uint64_t narrow = 5 + 16 * (uint64_t)pf_load32(at, layout->big);
  const uint64_t count = pf_load64(at, layout->big);
  if (count > UINT32_MAX || is_record_at(parser, parser->at + narrow))
    return false;
  const uint64_t wide = 9 + 16 * count;
  return wide > left || is_record_at(parser, parser->at + wide);
}


static pf_status take_blocks (gmon_parser *parser, gmon_segment *segment) {
  const gmon_layout *const layout = parser->layout;
  const uint64_t left = gmon_left(parser);
  pf_status status = PF_OK;
  if (left < 5)
    return gmon_truncated(parser, segment, "a number of basic blocks", 5);
  const bool is_wide = has_wide_count(parser);
  const uint64_t header = is_wide ? 9 : 5;
  segment->stride = 2 * (uint64_t)layout->width;
  segment->items_at = parser->at + header;
  segment->declared =
      pf_load(gmon_here(parser) + 1, is_wide ? 8 : 4, layout->big);
  const uint64_t maximum = (left - header) / segment->stride;
  const bool is_truncated = segment->declared > maximum;
  segment->count = is_truncated ? maximum : segment->declared;
  if (is_truncated)
    gmon_take_rest(parser, segment, GMON_BLOCKS, GMON_TRUNCATED);
  else
    gmon_take_segment(parser, segment, GMON_BLOCKS,
                      header + segment->count * segment->stride);
  if (is_wide)
    status = gmon_report(parser, PF_NOTE, "gmon-wide-block-number", PF_EFORMAT,
                         segment->offset,
                         "the number of basic blocks takes 8 bytes, as glibc "
                         "writes it; gprof reads 4");
  if (status < 0 || !is_truncated)
    return status;
  return gmon_report(
      parser, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, segment->offset,
      "%llu basic blocks are stated, the file ends after %llu of them",
      (unsigned long long)segment->declared,
      (unsigned long long)segment->count);
}


pf_status gmon_parse_gnu (gmon_parser *parser, gmon_segment *segment) {
  if (parser->at == 0 && gmon_left(parser) < GMON_GNU_HEADER)
    return gmon_truncated(parser, segment, "a header", GMON_GNU_HEADER);
  if (parser->at == 0) {
    gmon_take_segment(parser, segment, GMON_HEADER, GMON_GNU_HEADER);
    return PF_OK;
  }
  const unsigned tag = *gmon_here(parser);
  switch (tag) {
    case TAG_HISTOGRAM: return take_histogram(parser, segment, 1);
    case TAG_ARC: return take_arcs(parser, segment);
    case TAG_BLOCKS:
      if (parser->layout->version != 0)
        return take_blocks(parser, segment);
      /* of version 0: names as text, numbers of the machine's width */
      gmon_take_rest(parser, segment, GMON_REST, GMON_INVALID);
      return gmon_report(parser, PF_DAMAGE, "gmon-old-blocks", PF_EUNSUPPORTED,
                         segment->offset,
                         "basic blocks of version 0 cannot be read: %llu bytes "
                         "are left",
                         (unsigned long long)segment->size);
    default:
      gmon_take_rest(parser, segment, GMON_REST, GMON_INVALID);
      return gmon_report(
          parser, PF_DAMAGE, "gmon-bad-tag", PF_EFORMAT, segment->offset,
          "tag 0, 1 or 2 expected, found %u; %llu bytes are left", tag,
          (unsigned long long)segment->size);
  }
}


/* gmon_parser.state: what follows */
enum {
  HEADER,
  HISTOGRAM,
  ARCS_HEADER,
  ARCS,
  UNUSED
};


/* Whether the next 4 bytes are `tag`; if not, parsing ends with a warning. */
static bool has_tag (gmon_parser *parser, gmon_segment *segment, uint32_t tag,
                     pf_status *status) {
  *status = PF_OK;
  if (gmon_left(parser) < 4) {
    *status = gmon_truncated(parser, segment, "a tag", 4);
    return false;
  }
  const uint32_t found = pf_load32(gmon_here(parser), parser->layout->big);
  if (found == tag)
    return true;
  gmon_take_rest(parser, segment, GMON_REST, GMON_INVALID);
  *status = gmon_report(parser, PF_DAMAGE, "gmon-bad-tag", PF_EFORMAT,
                        segment->offset, "tag %u of 4 bytes expected, found %u",
                        (unsigned)tag, (unsigned)found);
  return false;
}


static pf_status take_arcs_header (gmon_parser *parser, gmon_segment *segment) {
  const uint64_t arc = 2 * (uint64_t)parser->layout->width + 4;
  pf_status status;
  parser->state = UNUSED;
  if (!has_tag(parser, segment, 1, &status))
    return status;
  if (gmon_left(parser) < 8)
    return gmon_truncated(parser, segment, "a number of arcs", 8);
  const uint64_t stated = pf_load32(gmon_here(parser) + 4, parser->layout->big);
  gmon_take_segment(parser, segment, GMON_HEADER, 8);
  const uint64_t maximum = gmon_left(parser) / arc;
  parser->table_left = (stated < maximum ? stated : maximum) * arc;
  parser->state = parser->table_left > 0 ? ARCS : UNUSED;
  if (stated <= maximum)
    return PF_OK;
  parser->end = GMON_TRUNCATED;
  return gmon_report(parser, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED,
                     segment->offset,
                     "%llu arcs are stated, the file ends after %llu of them",
                     (unsigned long long)stated, (unsigned long long)maximum);
}


pf_status gmon_parse_ld (gmon_parser *parser, gmon_segment *segment) {
  pf_status status;
  switch (parser->state) {
    case HEADER:
      if (gmon_left(parser) < GMON_GNU_HEADER)
        return gmon_truncated(parser, segment, "a header", GMON_GNU_HEADER);
      parser->state = HISTOGRAM;
      gmon_take_segment(parser, segment, GMON_HEADER, GMON_GNU_HEADER);
      return PF_OK;
    case HISTOGRAM:
      parser->state = ARCS_HEADER;
      if (!has_tag(parser, segment, 0, &status))
        return status;
      status = take_histogram(parser, segment, 4);
      parser->base = segment->low;
      return status;
    case ARCS_HEADER: return take_arcs_header(parser, segment);
    case ARCS:
      segment->stride = 2 * (uint64_t)parser->layout->width + 4;
      segment->count_width = 4;
      segment->base = parser->base;
      return gmon_take_table(parser, segment, UNUSED);
    default:
      gmon_take_rest(parser, segment, GMON_REST, parser->end);
      return PF_OK;
  }
}
