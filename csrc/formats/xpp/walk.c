/*
** walk.c - the walk: from packet to packet, and the rows of text. records.c
** has those of tables.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/xpp/walk.h"

const char *const xpp_piece_names[XPP_PIECES] = {
    [XPP_HEADER] = "header", [XPP_ENTRY] = "entry", [XPP_DELETED] = "deleted",
    [XPP_BLANK] = "blank",   [XPP_END] = "end",     [XPP_REST] = "rest"};


/* {====== What both forms use ====== */

/* Where the walk is, for people: packets are files of their own. */
static const char *place_of (const xpp_walk *walk, char *text, size_t size) {
  const xpp_segment *const segment = &walk->file->segments[walk->segment];
  text[0] = '\0';
  if (segment->source > 0)
    (void)snprintf(text, size,
                   "packet %06llu: ", (unsigned long long)segment->number);
  return text;
}


pf_status xpp_walk_warn (xpp_walk *walk, pf_note_kind kind, const char *code,
                         pf_status status, const char *format, ...) {
  char words[180], place[40];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  return pf_warn(walk->trace, kind, code, status, walk->at, walk->error, "%s%s",
                 place_of(walk, place, sizeof place), words);
}


pf_status xpp_walk_take (xpp_walk *walk, xpp_piece_kind kind, uint64_t size,
                         xpp_piece *piece) {
  *piece = (xpp_piece){.kind = kind,
                       .source = walk->file->segments[walk->segment].source,
                       .offset = walk->at,
                       .size = size,
                       .count = 1,
                       .has_gap = walk->has_gap};
  walk->at += size;
  if (kind != XPP_ENTRY)
    return PF_MORE;
  walk->has_gap = false;
  walk->has_rows = true;
  return PF_MORE;
}

/* }====== */


/* {====== Rows of text ====== */

bool xpp_are_names (const xpp_cell *cells, size_t count) {
  bool has[XPP_ROLES] = {false};
  for (size_t i = 0; i < count; i++) {
    const xpp_role role = xpp_role_of(xpp_trim(cells[i].text), false);
    if (role != XPP_ROLES)
      has[role] = true;
  }
  return has[XPP_OP] && has[XPP_CALL];
}


/* The row is one that was cut, or has more or fewer fields than the others. */
static pf_status take_odd_row (xpp_walk *walk, xpp_piece *piece) {
  const xpp_row *const row = &walk->row;
  const size_t expected = walk->file->nfields;
  const bool is_cut = !row->has_end && row->cells < expected;
  const pf_status status =
      xpp_walk_warn(walk, PF_DAMAGE, is_cut ? "xpp-partial-row" : "xpp-columns",
                    is_cut ? PF_ETRUNCATED : PF_EFORMAT,
                    "a row of %zu fields expected, found %zu%s", expected,
                    row->cells, is_cut ? " before the end of the file" : "");
  if (status != PF_OK)
    return status;
  return xpp_walk_take(walk, is_cut ? XPP_REST : XPP_ENTRY, row->end - row->at,
                       piece);
}


/* Say what is odd about quotes. */
static pf_status check_quotes (xpp_walk *walk) {
  if (walk->row.is_open)
    return xpp_walk_warn(walk, PF_DAMAGE, "xpp-open-quote", PF_EFORMAT,
                         "a quote expected that ends a text, found none: it "
                         "is taken as a character");
  if (walk->row.has_odd_quote)
    return xpp_walk_warn(walk, PF_NOTE, "xpp-odd-quote", PF_EFORMAT,
                         "a quote inside a text is not written twice");
  return PF_OK;
}


/* A live trace waits for the end of the line. */
static bool is_unfinished (xpp_walk *walk) {
  if (!walk->file->is_live || walk->row.has_end)
    return false;
  walk->scanner.unclosed = UINT64_MAX;
  return true;
}


static pf_status next_row (xpp_walk *walk, pf_bytes bytes, xpp_piece *piece) {
  const xpp_file *const file = walk->file;
  walk->row =
      xpp_scan_row(&walk->scanner, bytes, walk->at, walk->cells, file->nfields);
  const xpp_row *const row = &walk->row;
  const uint64_t size = row->end - row->at;
  const size_t cells = row->cells < file->nfields ? row->cells : file->nfields;
  if (is_unfinished(walk))
    return PF_AGAIN;
  if (row->cells == 1 && size > 0 && xpp_is_line_end(bytes.at[row->at]))
    return xpp_walk_take(walk, XPP_BLANK, size, piece);
  if (file->has_names && !walk->has_rows && xpp_are_names(walk->cells, cells))
    return xpp_walk_take(walk, XPP_HEADER, size, piece);
  const pf_status status = check_quotes(walk);
  if (status != PF_OK)
    return status;
  if (row->cells != file->nfields)
    return take_odd_row(walk, piece);
  return xpp_walk_take(walk, XPP_ENTRY, size, piece);
}


/* Takes all end marks that stand together. They may stand behind the rows; where packets were copied together
   also between them. */
static pf_status next_of_text (xpp_walk *walk, pf_bytes bytes,
                               xpp_piece *piece) {
  if (bytes.at[walk->at] == 0x1A) {
    size_t size = 1;
    while (walk->at + size < bytes.size && bytes.at[walk->at + size] == 0x1A)
      size++;
    const pf_status status =
        walk->at + 1 == bytes.size
            ? PF_OK
            : xpp_walk_warn(walk, PF_NOTE, "xpp-stray-end", PF_EFORMAT,
                            "an end mark stands between rows");
    return status != PF_OK ? status : xpp_walk_take(walk, XPP_END, size, piece);
  }
  if (bytes.at[bytes.size - 1] == 0x1A)
    bytes.size--;
  return next_row(walk, bytes, piece);
}

/* }====== */


/* {====== From packet to packet ====== */

/* The next segment, when there is one. */
static bool next_segment (xpp_walk *walk) {
  if (walk->segment + 1 >= walk->file->nsegments)
    return false;
  walk->segment++;
  walk->at = 0;
  walk->is_begun = false;
  return true;
}


static void begin_segment (xpp_walk *walk) {
  if (walk->is_begun)
    return;
  walk->is_begun = true;
  walk->has_rows = false;
  walk->has_gap |= walk->file->segments[walk->segment].has_gap;
  walk->scanner = (xpp_scanner){walk->file->separator, UINT64_MAX};
}


pf_status xpp_walk_next (xpp_walk *walk, size_t most, xpp_piece *piece,
                         pf_error *error) {
  xpp_file *const file = walk->file;
  walk->error = error;
  for (;;) {
    begin_segment(walk);
    const size_t source = file->segments[walk->segment].source;
    const pf_bytes bytes = xpp_source(walk, source);
    pf_status status = PF_AGAIN;
    if (walk->at < bytes.size)
      status = file->is_text ? next_of_text(walk, bytes, piece)
                             : xpp_next_record(walk, bytes, most, piece);
    if (status == PF_AGAIN && file->is_live)
      status = xpp_find_segments(walk->trace, file, error) == PF_OK
                   ? PF_AGAIN
                   : error->status;
    if (status != PF_AGAIN)
      return status;
    if (!next_segment(walk))
      return file->is_live ? PF_AGAIN : PF_END;
  }
}


pf_status xpp_walk_open (xpp_walk *walk, pf_trace *trace) {
  xpp_file *const file = trace->state;
  *walk = (xpp_walk){.trace = trace, .file = file};
  walk->cells = calloc(file->nfields + 1, sizeof *walk->cells);
  return walk->cells == NULL ? PF_ENOMEM : PF_OK;
}


void xpp_walk_close (xpp_walk *walk) {
  free(walk->cells);
}

/* }====== */
