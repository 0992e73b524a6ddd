/*
** items.c - the parser: the sequence of segments, and the rows of text.
** records.c parses the records of tables.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/xpp/parser/items.h"
#include "model/base/memory.h"

#define FEWEST_DIGITS 6 /* of a packet number */

const char *const xpp_item_names[XPP_ITEM_KINDS] = {
    [XPP_HEADER] = "header", [XPP_ENTRY] = "entry", [XPP_DELETED] = "deleted",
    [XPP_BLANK] = "blank",   [XPP_END] = "end",     [XPP_REST] = "rest"};


/* Packets are files of their own, so messages give their number. */
pf_status xpp_parser_warn (xpp_parser *parser, pf_note_kind kind,
                           const char *code, pf_status status,
                           const char *format, ...) {
  const xpp_segment *const segment = &parser->file->segments[parser->segment];
  char message[180], prefix[40] = "";
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (segment->source > 0)
    (void)snprintf(prefix, sizeof prefix,
                   "packet %06llu: ", (unsigned long long)segment->number);
  return pf_warn(parser->trace, kind, code, status, parser->at, parser->error,
                 "%s%s", prefix, message);
}


pf_status xpp_parser_take (xpp_parser *parser, xpp_item_kind kind,
                           uint64_t size, xpp_item *item) {
  *item = (xpp_item){.kind = kind,
                     .source = parser->file->segments[parser->segment].source,
                     .offset = parser->at,
                     .size = size,
                     .count = 1,
                     .has_gap = parser->has_gap};
  parser->at += size;
  if (kind != XPP_ENTRY)
    return PF_MORE;
  parser->has_gap = false;
  parser->has_rows = true;
  return PF_MORE;
}


bool xpp_are_names (const xpp_cell *cells, size_t count) {
  bool has[XPP_ROLES] = {false};
  for (size_t i = 0; i < count; i++) {
    const xpp_role role = xpp_role_of(xpp_trim(cells[i].text), false);
    if (role != XPP_ROLES)
      has[role] = true;
  }
  return has[XPP_OP] && has[XPP_CALL];
}


/* Takes a row that has too few or too many cells. One that the end of the file
   cuts becomes an item of kind XPP_REST. */
static pf_status take_uneven_row (xpp_parser *parser, xpp_item *item) {
  const xpp_row *const row = &parser->row;
  const size_t expected = parser->file->nfields;
  const bool is_cut = !row->has_end && row->cells < expected;
  const pf_status status = xpp_parser_warn(
      parser, PF_DAMAGE, is_cut ? "xpp-partial-row" : "xpp-columns",
      is_cut ? PF_ETRUNCATED : PF_EFORMAT,
      "a row of %zu fields expected, found %zu%s", expected, row->cells,
      is_cut ? " before the end of the file" : "");
  if (status != PF_OK)
    return status;
  return xpp_parser_take(parser, is_cut ? XPP_REST : XPP_ENTRY,
                         row->end - row->at, item);
}


static pf_status next_row (xpp_parser *parser, pf_bytes bytes, xpp_item *item) {
  const xpp_file *const file = parser->file;
  parser->row = xpp_scan_row(&parser->scanner, bytes, parser->at, parser->cells,
                             file->nfields);
  const xpp_row *const row = &parser->row;
  const uint64_t size = row->end - row->at;
  const size_t cells = row->cells < file->nfields ? row->cells : file->nfields;
  if (file->is_live && !row->has_end) {
    parser->scanner.unclosed = UINT64_MAX;
    return PF_AGAIN; /* incomplete until its line end is written */
  }
  if (row->cells == 1 && size > 0 && xpp_is_line_end(bytes.at[row->at]))
    return xpp_parser_take(parser, XPP_BLANK, size, item);
  if (file->has_names && !parser->has_rows &&
      xpp_are_names(parser->cells, cells))
    return xpp_parser_take(parser, XPP_HEADER, size, item);
  pf_status status = PF_OK;
  if (row->is_unclosed)
    status = xpp_parser_warn(parser, PF_DAMAGE, "xpp-open-quote", PF_EFORMAT,
                             "a closing quote expected, found none: the "
                             "opening one is read as a character");
  else if (row->has_stray_quote)
    status = xpp_parser_warn(parser, PF_NOTE, "xpp-odd-quote", PF_EFORMAT,
                             "a quote inside a text is not doubled");
  if (status != PF_OK)
    return status;
  if (row->cells != file->nfields)
    return take_uneven_row(parser, item);
  return xpp_parser_take(parser, XPP_ENTRY, size, item);
}


/* Takes a row, or all adjacent end marks. End marks normally follow the rows;
   in packets that were concatenated they also stand between rows. */
static pf_status next_of_text (xpp_parser *parser, pf_bytes bytes,
                               xpp_item *item) {
  if (bytes.at[parser->at] == 0x1A) {
    size_t size = 1;
    while (parser->at + size < bytes.size &&
           bytes.at[parser->at + size] == 0x1A)
      size++;
    const pf_status status =
        parser->at + 1 == bytes.size
            ? PF_OK
            : xpp_parser_warn(parser, PF_NOTE, "xpp-stray-end", PF_EFORMAT,
                              "an end mark stands between rows");
    return status != PF_OK ? status
                           : xpp_parser_take(parser, XPP_END, size, item);
  }
  if (bytes.at[bytes.size - 1] == 0x1A)
    bytes.size--;
  return next_row(parser, bytes, item);
}


/* The packet number at the end of a path; 0: none, as in the main file. */
static uint64_t number_of (const char *path) {
  const size_t size = strlen(path);
  size_t first = size;
  uint64_t number = 0;
  while (first > 0 && path[first - 1] >= '0' && path[first - 1] <= '9')
    first--;
  if (first == 0 || path[first - 1] != '.' || size - first < FEWEST_DIGITS ||
      size - first > 18)
    return 0;
  for (size_t i = first; i < size; i++)
    number = number * 10 + (uint64_t)(path[i] - '0');
  return number;
}


/* Returns true if the main file was rebuilt from its packets up to this one:
   its rows are those of the packets before and then those of this one. */
static bool is_in_main (const pf_trace *trace, xpp_file *file, pf_bytes packet,
                        uint64_t number) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint64_t start = file->is_text ? 0 : file->dbf->start;
  const uint64_t at = start + file->repeated;
  if (packet.size == 0 || bytes.size < at || packet.size > bytes.size - at ||
      memcmp(bytes.at + at, packet.at, packet.size) != 0)
    return false;
  file->repeated += packet.size;
  file->last_repeated = number;
  return true;
}


/* Adds a segment, unless it repeats rows: it has the number or the content of the
   last one, or is part of the main file. */
static pf_status add_segment (pf_trace *trace, xpp_file *file, size_t source,
                              pf_error *error) {
  const pf_source *const from = &trace->sources[source];
  xpp_segment next = {source, number_of(from->path), false};
  if (!pf_grow(&file->segments, &file->segments_capacity, file->nsegments + 1))
    return pf_no_memory(error);
  if (file->nsegments > 0) {
    const xpp_segment *const last = &file->segments[file->nsegments - 1];
    const pf_bytes bytes = trace->sources[last->source].bytes;
    const bool is_repeated =
        last->source == 0
            ? is_in_main(trace, file, from->bytes, next.number)
            : next.number <= last->number ||
                  (bytes.size > 0 && bytes.size == from->bytes.size &&
                   memcmp(bytes.at, from->bytes.at, bytes.size) == 0);
    if (is_repeated)
      return pf_warn(
          trace, PF_DAMAGE, "xpp-packet-double", PF_EFORMAT, PF_NO_OFFSET,
          error, "%.120s: the packet repeats rows and is left out", from->path);
    const uint64_t expected =
        1 + (last->number > file->last_repeated ? last->number
                                                : file->last_repeated);
    next.has_gap = next.number != expected;
    const pf_status status = !next.has_gap
                                 ? PF_OK
                                 : pf_warn(trace, PF_DAMAGE, "xpp-packet-gap",
                                           PF_EFORMAT, PF_NO_OFFSET, error,
                                           "packet %06llu expected, found "
                                           "%06llu: the rows between are lost",
                                           (unsigned long long)expected,
                                           (unsigned long long)next.number);
    if (status != PF_OK)
      return status;
  }
  file->segments[file->nsegments++] = next;
  return PF_OK;
}


pf_status xpp_find_segments (pf_trace *trace, xpp_file *file, pf_error *error) {
  pf_status status = PF_OK;
  for (; file->nsources < trace->nsources && status == PF_OK;
       file->nsources++) {
    const pf_source *const from = &trace->sources[file->nsources];
    if (file->nsources == 0 || strcmp(from->role, "packet") == 0)
      status = add_segment(trace, file, file->nsources, error);
  }
  return status;
}


pf_status xpp_parser_next (xpp_parser *parser, size_t max_rows, xpp_item *item,
                           pf_error *error) {
  xpp_file *const file = parser->file;
  parser->error = error;
  for (;;) {
    const xpp_segment *const segment = &file->segments[parser->segment];
    const pf_bytes bytes = xpp_source(parser, segment->source);
    if (!parser->is_begun) {
      parser->is_begun = true;
      parser->has_rows = false;
      parser->has_gap |= segment->has_gap;
      parser->scanner = (xpp_scanner){file->separator, UINT64_MAX};
    }
    pf_status status = PF_AGAIN;
    if (parser->at < bytes.size)
      status = file->is_text ? next_of_text(parser, bytes, item)
                             : xpp_next_record(parser, bytes, max_rows, item);
    if (status == PF_AGAIN && file->is_live)
      status = xpp_find_segments(parser->trace, file, error) == PF_OK
                   ? PF_AGAIN
                   : error->status;
    if (status != PF_AGAIN)
      return status;
    if (parser->segment + 1 >= file->nsegments)
      return file->is_live ? PF_AGAIN : PF_END;
    parser->segment++;
    parser->at = 0;
    parser->is_begun = false;
  }
}


pf_status xpp_parser_open (xpp_parser *parser, pf_trace *trace) {
  xpp_file *const file = trace->state;
  *parser = (xpp_parser){.trace = trace, .file = file};
  parser->cells = calloc(file->nfields + 1, sizeof *parser->cells);
  return parser->cells == NULL ? PF_ENOMEM : PF_OK;
}


void xpp_parser_close (xpp_parser *parser) {
  free(parser->cells);
}
