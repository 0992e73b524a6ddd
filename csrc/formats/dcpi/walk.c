/*
** walk.c - the walk over a file: from part to part, and what is odd on the
** way.
*/

#include <stdarg.h>
#include <stdio.h>

#include "formats/dcpi/dcpi.h"


dcpi_walk dcpi_walk_over (const dcpi_file *file, pf_trace *trace,
                          pf_error *error) {
  return (dcpi_walk){.file = file,
                     .trace = trace,
                     .error = error,
                     .bytes = trace->sources[0].bytes};
}


pf_status dcpi_report (dcpi_walk *walk, pf_note_kind kind, const char *code,
                       pf_status status, uint64_t offset, const char *format,
                       ...) {
  char words[232];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  return pf_warn(walk->trace, kind, code, status, offset, walk->error, "%s",
                 words);
}


void dcpi_take_part (dcpi_walk *walk, dcpi_part *part, dcpi_kind kind,
                     uint64_t size) {
  part->kind = kind;
  part->offset = walk->at;
  part->size = size;
  walk->at += size;
}


void dcpi_take_rest (dcpi_walk *walk, dcpi_part *part) {
  dcpi_take_part(walk, part, DCPI_REST, dcpi_left(walk));
  walk->has_ended = true;
}


/* {====== The header ====== */

/* The header is whole, its last line behind. */
static pf_status enter_body (dcpi_walk *walk) {
  walk->in_body = true;
  walk->header.size = walk->at;
  const pf_status status = dcpi_check_header(walk);
  if (walk->file->dialect == DCPI_PDB && walk->header.major != 0)
    walk->has_ended = true;
  return status;
}


/* A line that has no end: it was there when the file was opened. */
static pf_status cut_header (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t at = walk->at;
  dcpi_take_rest(walk, part);
  return dcpi_report(walk, PF_DAMAGE, "dcpi-truncated", PF_ETRUNCATED, at,
                     "the file ends inside a line of its header");
}


/* dcpicat's header ends where a line begins with an address. */
static bool begins_counts (const dcpi_line *line) {
  return line->word.size > 2 && line->word.at[0] == '0' &&
         (line->word.at[1] | 0x20) == 'x';
}


static pf_status header_part (dcpi_walk *walk, dcpi_part *part) {
  const bool is_text = walk->file->dialect == DCPI_CAT;
  if (is_text && dcpi_left(walk) == 0)
    return enter_body(walk);
  if (!dcpi_cut_line(walk->bytes, walk->at, &part->line)) {
    if (!is_text || dcpi_left(walk) == 0)
      return cut_header(walk, part);
    dcpi_cut_rest(walk->bytes, walk->at, &part->line);
    return begins_counts(&part->line) ? enter_body(walk)
                                      : cut_header(walk, part);
  }
  if (is_text && begins_counts(&part->line))
    return enter_body(walk);
  dcpi_take_part(walk, part, DCPI_LINE, part->line.size);
  const pf_status status = dcpi_check_bytes(walk, &part->line);
  if (status < 0)
    return status;
  if (!is_text && dcpi_is_terminator(&part->line))
    return enter_body(walk);
  return dcpi_take_line(walk, &part->line);
}

/* }====== */


pf_status dcpi_next_part (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t at = walk->at;
  pf_status status = PF_OK;
  *part = (dcpi_part){.kind = DCPI_REST};
  if (!walk->in_body && !walk->has_ended)
    status = header_part(walk, part);
  if (status == PF_OK && walk->at == at && !walk->has_ended)
    status = walk->file->dialect == DCPI_PDB ? dcpi_chunk_part(walk, part)
                                             : dcpi_text_part(walk, part);
  if (status == PF_OK && walk->at == at && dcpi_left(walk) > 0)
    dcpi_take_rest(walk, part);
  if (status < 0)
    return status;
  return walk->at == at ? PF_END : PF_MORE;
}
