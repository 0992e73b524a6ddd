/*
** apple.c - gmon.out of macOS and NeXTSTEP: sections after a magic number,
** one or more for each loaded image. A is the width of an address.
**
**   OFFSET  SIZE  FIELD
**        0     4  magic: 0xbeefbabe (A = 4) or 0xbeefbabf (A = 8), in the
**                 byte order of the machine
**        4     *  sections:
**        0     4    type
**        4     4    size of the contents
**        8  size    contents by type:
**     1 samples        a 4.4BSD header (bsd.c) and its bins
**     2 raw arcs       from A, to A, count 4 (A = 8: and 4 of padding)
**     3 ordered arcs   from A, to A, count 4, order of the first call 4
**     4, 5 images      number 4, then an address A and a name that ends in
**                      NUL for each
**
** Sources: cctools, Libc, and one file of bash for PowerPC. It is not known
** whether type 5 differs from 4 in more than the meaning of the address (header
** of the image instead of its slide). Called by parser_gmon.c.
*/

#include "formats/gmon/gmon.h"

enum {
  SAMPLES = 1,
  RAW_ARCS,
  ORDERED_ARCS,
  IMAGES,
  IMAGES_2
};


/* Parse a section of samples. Its size and the stated number limit the bins. */
static pf_status take_samples (gmon_parser *parser, gmon_segment *segment,
                               uint64_t size) {
  const gmon_layout *const layout = parser->layout;
  if (size < layout->header_size) {
    gmon_take_segment(parser, segment, GMON_UNKNOWN, 8 + size);
    return gmon_report(parser, PF_DAMAGE, "gmon-bad-piece", PF_EFORMAT,
                       segment->offset,
                       "samples of %u bytes or more expected, found %llu",
                       layout->header_size, (unsigned long long)size);
  }
  (void)gmon_read_bsd(parser, segment, 8, size - layout->header_size);
  gmon_take_segment(parser, segment, GMON_HISTOGRAM, 8 + size);
  return gmon_check_histogram(parser, segment);
}


/* Parse arcs of the current table. Bytes after its last whole arc become a
   segment GMON_UNKNOWN, reported unless the truncation of the file has been. */
static pf_status take_arcs (gmon_parser *parser, gmon_segment *segment) {
  const unsigned width = parser->layout->width;
  segment->has_order = parser->state == ORDERED_ARCS;
  segment->stride = 2 * width + (width == 8 || segment->has_order ? 8 : 4);
  segment->count_width = 4;
  if (parser->table_left >= segment->stride ||
      parser->table_left > gmon_left(parser))
    return gmon_take_table(parser, segment, 0);
  gmon_take_segment(parser, segment, GMON_UNKNOWN, parser->table_left);
  parser->table_left = parser->state = 0;
  if (parser->end == GMON_TRUNCATED)
    return PF_OK;
  return gmon_report(parser, PF_DAMAGE, "gmon-bad-piece", PF_EFORMAT,
                     segment->offset, "arcs of %llu bytes expected, found %llu",
                     (unsigned long long)segment->stride,
                     (unsigned long long)segment->size);
}


static pf_status take_section (gmon_parser *parser, gmon_segment *segment) {
  const bool big = parser->layout->big;
  if (gmon_left(parser) < 8)
    return gmon_truncated(parser, segment, "the head of a section", 8);
  const uint32_t type = pf_load32(gmon_here(parser), big);
  uint64_t size = pf_load32(gmon_here(parser) + 4, big);
  if (size > gmon_left(parser) - 8) {
    const uint64_t stated = size;
    size = gmon_left(parser) - 8;
    parser->end = GMON_TRUNCATED;
    const pf_status status = gmon_report(
        parser, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, parser->at,
        "a section of %llu bytes is stated, the file ends after %llu of them",
        (unsigned long long)stated, (unsigned long long)size);
    if (status < 0)
      return status;
  }
  switch (type) {
    case SAMPLES: return take_samples(parser, segment, size);
    case RAW_ARCS:
    case ORDERED_ARCS: /* the arcs are the following segments */
      gmon_take_segment(parser, segment, GMON_HEADER, 8);
      parser->state = size > 0 ? type : 0;
      parser->table_left = size;
      return PF_OK;
    case IMAGES:
    case IMAGES_2:
      if (size >= 4)
        segment->count = pf_load32(gmon_here(parser) + 8, big);
      segment->declared = segment->count;
      segment->items_at = parser->at + 12;
      gmon_take_segment(parser, segment, size < 4 ? GMON_UNKNOWN : GMON_IMAGES,
                        8 + size);
      return PF_OK;
    default: break;
  }
  gmon_take_segment(parser, segment, GMON_UNKNOWN, 8 + size);
  return gmon_report(
      parser, PF_DAMAGE, "gmon-bad-piece", PF_EFORMAT, segment->offset,
      "a section of type 1 to 5 expected, found type %u", (unsigned)type);
}


pf_status gmon_parse_apple (gmon_parser *parser, gmon_segment *segment) {
  if (parser->at == 0 && gmon_left(parser) < 4)
    return gmon_truncated(parser, segment, "a magic number", 4);
  if (parser->at == 0) {
    gmon_take_segment(parser, segment, GMON_HEADER, 4);
    return PF_OK;
  }
  if (parser->state == 0)
    return take_section(parser, segment);
  return take_arcs(parser, segment);
}
