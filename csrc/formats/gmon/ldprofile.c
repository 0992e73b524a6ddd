/*
** ldprofile.c - output of ld.so for LD_PROFILE=lib.so, read by sprof.
**
** Like GNU gmon.out (gnu.c), but with tags of 4 bytes and one table of
** arcs. The histogram has link-time addresses. Addresses of arcs are relative
** to the text segment, which begins at `low` of the histogram; from = 0 is a
** call from outside the library. Table `arcs` has link-time addresses, table
** `raw` the stated ones.
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
** Sources: ld.so, and files that glibc 2.36 wrote.
*/

#include "formats/gmon/gmon.h"

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
      status = gmon_gnu_histogram(parser, segment, 4);
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
