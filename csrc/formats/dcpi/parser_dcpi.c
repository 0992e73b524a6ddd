/*
** parser_dcpi.c - the parser: segments of the header, and the functions that
** the dialects share. open_dcpi.c and the readers own a dcpi_parser. Nothing is
** allocated.
*/

#include "formats/dcpi/dcpi.h"


dcpi_parser dcpi_new_parser (const dcpi_file *file, pf_trace *trace,
                             pf_error *error) {
  return (dcpi_parser){.file = file,
                       .trace = trace,
                       .error = error,
                       .bytes = trace->sources[0].bytes};
}


void dcpi_take_segment (dcpi_parser *parser, dcpi_segment *segment,
                        dcpi_kind kind, uint64_t size) {
  segment->kind = kind;
  segment->offset = parser->at;
  segment->size = size;
  parser->at += size;
}


void dcpi_take_rest (dcpi_parser *parser, dcpi_segment *segment) {
  dcpi_take_segment(parser, segment, DCPI_REST, dcpi_left(parser));
  parser->has_ended = true;
}


static pf_status check_bytes (dcpi_parser *parser, const dcpi_line *line) {
  const uint64_t end = line->offset + line->size - 1;
  uint64_t at = line->offset;
  while (at < end &&
         (parser->bytes.at[at] >= 0x20 || parser->bytes.at[at] == '\t'))
    at++;
  if (at == end)
    return PF_OK;
  if (at + 1 == end && parser->bytes.at[at] == '\r')
    return dcpi_damage(parser, "dcpi-carriage-return", at,
                       "a line feed alone expected at the end of a header "
                       "line, found CR LF");
  return dcpi_damage(parser, "dcpi-control-byte", at,
                     "printable text expected in the header, found byte 0x%02x",
                     parser->bytes.at[at]);
}


static pf_status parse_header (dcpi_parser *parser, dcpi_segment *segment) {
  const bool is_text = parser->file->dialect == DCPI_CAT;
  const uint64_t at = parser->at;
  const bool is_whole = dcpi_split_line(parser->bytes, at, &segment->line);
  if (is_text && (dcpi_left(parser) == 0 || dcpi_has_address(&segment->line)))
    return dcpi_check_header(parser);
  if (!is_whole) {
    dcpi_take_rest(parser, segment);
    return dcpi_report(parser, PF_DAMAGE, "dcpi-truncated", PF_ETRUNCATED, at,
                       "the file ends inside a line of its header");
  }
  dcpi_take_segment(parser, segment, DCPI_LINE, segment->line.size);
  const pf_status status = check_bytes(parser, &segment->line);
  if (status < 0)
    return status;
  if (!is_text && dcpi_is_terminator(&segment->line))
    return dcpi_check_header(parser);
  return dcpi_take_line(parser, &segment->line);
}


pf_status dcpi_next_segment (dcpi_parser *parser, dcpi_segment *segment) {
  const uint64_t at = parser->at;
  pf_status status = PF_OK;
  *segment = (dcpi_segment){.kind = DCPI_REST};
  if (!parser->in_body && !parser->has_ended)
    status = parse_header(parser, segment);
  if (status == PF_OK && parser->at == at && !parser->has_ended)
    status = parser->file->dialect == DCPI_PDB
                 ? dcpi_parse_chunk(parser, segment)
                 : dcpi_parse_counts(parser, segment);
  if (status == PF_OK && parser->at == at && dcpi_left(parser) > 0)
    dcpi_take_rest(parser, segment);
  if (status < 0)
    return status;
  return parser->at == at ? PF_END : PF_MORE;
}
