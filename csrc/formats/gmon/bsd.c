/*
** bsd.c - gmon.out as the BSDs, MinGW, Cygwin and many small systems write
** it. A is the width of an address; numbers are in the order of the machine.
**
**   4.4BSD header    OFFSET  SIZE  FIELD
**                         0     A  lowest address
**                         A     A  highest address, exclusive
**                        2A     4  ncnt: bytes of this header and the bins
**                      2A+4     4  signature 0x51879
**                      2A+8     4  rate in hertz
**                     2A+12     4  FreeBSD: bits of a bin, negative when they
**                                  are signed, 0 for 16; elsewhere garbage
**                     2A+16     8  spare, often garbage
**
**   old BSD header       0 2A+4  only the first three of these; on OSF/1
**                                 followed by 4 bytes of padding
**
** The bins follow the header up to ncnt, 2 bytes each unless FreeBSD states
** another size (PSP and PS Vita use 4 and do not state it). The arcs follow up
** to the end of the file:
**
**   arc                  0     A  from
**                        A     A  to
**                       2A     A  count; on 64-bit Windows 4 bytes of count
**                                 and 4 of garbage
**
** Sources: NetBSD, FreeBSD, mingw-w64, the PSP SDK, and files of four writers.
** Old BSD files do not state their rate. Called by parser_gmon.c; apple.c,
** counters.c and detect_gmon.c decode headers with it.
*/

#include "formats/gmon/gmon.h"

/* gmon_parser.state: what follows */
enum {
  HISTOGRAM,
  ARCS
};


gmon_bsd gmon_bsd_header (const gmon_layout *layout, const uint8_t *at) {
  const unsigned width = layout->width;
  const uint8_t *const tail = at + 2 * width;
  gmon_bsd header = {.low = gmon_address(layout, at),
                     .high = gmon_address(layout, at + width),
                     .ncnt = pf_load32(tail, layout->big),
                     .rate = GMON_BSD_RATE};
  if (layout->header_size >= 2 * width + 24) {
    header.signature = pf_load32(tail + 4, layout->big);
    header.rate = pf_load32(tail + 8, layout->big);
    header.counter = (int32_t)pf_load32(tail + 12, layout->big);
  }
  return header;
}


uint64_t gmon_read_bsd (const gmon_parser *parser, gmon_segment *segment,
                        unsigned tag, uint64_t available) {
  const gmon_layout *const layout = parser->layout;
  const gmon_bsd header = gmon_bsd_header(layout, gmon_here(parser) + tag);
  const uint64_t stated =
      header.ncnt < layout->header_size ? 0 : header.ncnt - layout->header_size;
  segment->low = header.low;
  segment->high = header.high;
  segment->rate = header.rate;
  segment->abbreviation = 's';
  segment->items_at = parser->at + tag + layout->header_size;
  segment->stride = layout->counter;
  segment->declared = stated / layout->counter;
  segment->count = (stated < available ? stated : available) / layout->counter;
  return stated;
}


static pf_status take_histogram (gmon_parser *parser, gmon_segment *segment) {
  const gmon_layout *const layout = parser->layout;
  if (gmon_left(parser) < layout->header_size)
    return gmon_truncated(parser, segment, "a header", layout->header_size);
  const uint64_t available = gmon_left(parser) - layout->header_size;
  const uint64_t stated = gmon_read_bsd(parser, segment, 0, available);
  if (stated <= available)
    gmon_take_segment(parser, segment, GMON_HISTOGRAM,
                      layout->header_size + stated);
  else
    gmon_take_rest(parser, segment, GMON_HISTOGRAM, GMON_TRUNCATED);
  pf_status status = PF_OK;
  if (stated % layout->counter != 0)
    status = gmon_report(parser, PF_DAMAGE, "gmon-odd-bins", PF_EFORMAT,
                         segment->offset,
                         "%llu bytes of bins are not a multiple of %u bytes",
                         (unsigned long long)stated, layout->counter);
  return status < 0 ? status : gmon_check_histogram(parser, segment);
}


pf_status gmon_parse_bsd (gmon_parser *parser, gmon_segment *segment) {
  if (parser->state == HISTOGRAM) {
    parser->state = ARCS;
    return take_histogram(parser, segment);
  }
  segment->stride = gmon_bsd_arc(parser->layout);
  segment->count_width = parser->layout->arc_count;
  if (gmon_left(parser) < segment->stride)
    return gmon_truncated(parser, segment, "an arc", segment->stride);
  gmon_take_arcs(parser, segment, gmon_left(parser));
  return PF_OK;
}
