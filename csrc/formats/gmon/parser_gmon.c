/*
** parser_gmon.c - the parser: dispatch to the dialects, the functions by which
** they take segments, and warnings that they share. The dialects compare each
** length with the bytes that are left before they read. Used by the files that
** open, detect, read and add up; a gmon_parser owns nothing.
*/

#include <stdarg.h>
#include <stdio.h>

#include "formats/gmon/gmon.h"


gmon_parser gmon_new_parser (const gmon_layout *layout, pf_bytes bytes,
                             pf_trace *trace, pf_error *error) {
  return (gmon_parser){.layout = layout,
                       .bytes = bytes,
                       .end = GMON_COMPLETE,
                       .trace = trace,
                       .error = error};
}


pf_status gmon_next_segment (gmon_parser *parser, gmon_segment *segment) {
  if (gmon_left(parser) == 0)
    return PF_END;
  *segment = (gmon_segment){.offset = parser->at};
  switch (parser->layout->dialect) {
    case GMON_GNU: return gmon_parse_gnu(parser, segment);
    case GMON_APPLE: return gmon_parse_apple(parser, segment);
    case GMON_LD: return gmon_parse_ld(parser, segment);
    default: return gmon_parse_bsd(parser, segment);
  }
}


pf_status gmon_report (gmon_parser *parser, pf_note_kind kind, const char *code,
                       pf_status status, uint64_t offset, const char *format,
                       ...) {
  char words[200];
  va_list arguments;
  if (parser->trace == NULL)
    return PF_OK;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  return pf_warn(parser->trace, kind, code, status, offset, parser->error, "%s",
                 words);
}


void gmon_take_segment (gmon_parser *parser, gmon_segment *segment,
                        gmon_kind kind, uint64_t size) {
  segment->kind = kind;
  segment->size = size;
  parser->at += size;
  parser->valid_end = parser->at;
}


void gmon_take_arcs (gmon_parser *parser, gmon_segment *segment,
                     uint64_t available) {
  const uint64_t maximum = available / segment->stride;
  segment->items_at = parser->at;
  segment->count = segment->declared =
      maximum < GMON_MAX_ARCS ? maximum : GMON_MAX_ARCS;
  gmon_take_segment(parser, segment, GMON_ARCS,
                    segment->count * segment->stride);
}


pf_status gmon_take_table (gmon_parser *parser, gmon_segment *segment,
                           unsigned next) {
  if (parser->table_left > gmon_left(parser)) /* the file has become shorter */
    return gmon_truncated(parser, segment, "a table of arcs",
                          parser->table_left);
  gmon_take_arcs(parser, segment, parser->table_left);
  parser->table_left -= segment->size;
  if (parser->table_left == 0)
    parser->state = next;
  return PF_OK;
}


void gmon_take_rest (gmon_parser *parser, gmon_segment *segment, gmon_kind kind,
                     gmon_end end) {
  const uint64_t valid_end = parser->valid_end;
  gmon_take_segment(parser, segment, kind, gmon_left(parser));
  parser->valid_end = valid_end;
  parser->end = end;
}


pf_status gmon_truncated (gmon_parser *parser, gmon_segment *segment,
                          const char *what, uint64_t needed) {
  const uint64_t left = gmon_left(parser);
  gmon_take_rest(parser, segment, GMON_REST, GMON_TRUNCATED);
  return gmon_report(
      parser, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, segment->offset,
      "%s of %llu bytes expected, the file ends after %llu", what,
      (unsigned long long)needed, (unsigned long long)left);
}


pf_status gmon_check_histogram (gmon_parser *parser,
                                const gmon_segment *segment) {
  pf_status status = PF_OK;
  if (segment->high < segment->low)
    status = gmon_report(
        parser, PF_DAMAGE, "gmon-reversed-range", PF_EFORMAT, segment->offset,
        "the histogram ends at 0x%llx, below its start 0x%llx: "
        "its bins have no addresses",
        (unsigned long long)segment->high, (unsigned long long)segment->low);
  else if (gmon_rate(parser->layout, segment) == 0)
    status = gmon_report(parser, PF_NOTE, "gmon-no-rate", PF_EFORMAT,
                         segment->offset,
                         "the sampling rate is 0: counts are ticks and have no "
                         "seconds; give one with rate = N");
  if (status < 0)
    return status;
  if (segment->count < segment->declared)
    return gmon_report(
        parser, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, segment->offset,
        "the histogram states %llu bins, the file ends after %llu of them",
        (unsigned long long)segment->declared,
        (unsigned long long)segment->count);
  if (segment->declared == 0)
    return gmon_report(parser, PF_NOTE, "gmon-no-bins", PF_EFORMAT,
                       segment->offset, "the histogram has no bins");
  return PF_OK;
}
