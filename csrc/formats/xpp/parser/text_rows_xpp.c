/*
** text_rows_xpp.c - scans rows of delimited text.
**
** A quote ends a text only before a separator, a line end or the end of the
** bytes. So most texts whose quotes were not doubled can be read, too.
*/

#include <string.h>

#include "formats/xpp/parser/text_rows_xpp.h"


/* Returns true if a cell may end at `at`. */
static bool is_border (pf_bytes bytes, uint64_t at, uint8_t separator) {
  return at >= bytes.size || bytes.at[at] == separator ||
         xpp_is_line_end(bytes.at[at]);
}


static uint64_t scan_unquoted (const xpp_scanner *scanner, pf_bytes bytes,
                               uint64_t at, xpp_cell *cell) {
  const uint64_t first = at;
  while (!is_border(bytes, at, scanner->separator))
    at++;
  *cell = (xpp_cell){{bytes.at + first, (size_t)(at - first)}, false, false};
  return at;
}


/* The position of the closing quote of the text at `at`, or bytes.size. */
static uint64_t closing_quote (const xpp_scanner *scanner, pf_bytes bytes,
                               uint64_t at, xpp_cell *cell, bool *has_stray) {
  while (at < bytes.size) {
    const uint8_t *const quote =
        memchr(bytes.at + at, '"', bytes.size - (size_t)at);
    if (quote == NULL)
      break;
    const uint64_t found = (uint64_t)(quote - bytes.at);
    if (is_border(bytes, found + 1, scanner->separator))
      return found;
    const bool is_doubled = bytes.at[found + 1] == '"';
    cell->is_doubled |= is_doubled;
    *has_stray |= !is_doubled;
    at = found + 1 + is_doubled;
  }
  return bytes.size;
}


/* Returns the end of the cell that begins with the quote at `at`. */
static uint64_t scan_quoted (xpp_scanner *scanner, pf_bytes bytes, uint64_t at,
                             xpp_cell *cell, xpp_row *row) {
  bool has_stray = false;
  const uint64_t end =
      at >= scanner->unclosed
          ? bytes.size
          : closing_quote(scanner, bytes, at + 1, cell, &has_stray);
  if (end == bytes.size) {
    row->is_unclosed = true;
    if (at < scanner->unclosed)
      scanner->unclosed = at;
    return scan_unquoted(scanner, bytes, at, cell);
  }
  row->has_stray_quote |= has_stray;
  cell->text = (pf_bytes){bytes.at + at + 1, (size_t)(end - at - 1)};
  cell->is_quoted = true;
  return end + 1;
}


xpp_row xpp_scan_row (xpp_scanner *scanner, pf_bytes bytes, uint64_t at,
                      xpp_cell *cells, size_t capacity) {
  xpp_row row = {.at = at};
  for (;;) {
    xpp_cell cell = {{NULL, 0}, false, false};
    const bool is_quoted = at < bytes.size && bytes.at[at] == '"';
    at = is_quoted ? scan_quoted(scanner, bytes, at, &cell, &row)
                   : scan_unquoted(scanner, bytes, at, &cell);
    if (row.cells < capacity)
      cells[row.cells] = cell;
    row.cells++;
    if (at >= bytes.size || bytes.at[at] != scanner->separator)
      break;
    at++;
  }
  row.has_end = at < bytes.size;
  row.end = at + row.has_end; /* CR LF, LF or CR */
  if (row.end < bytes.size && bytes.at[at] == '\r' && bytes.at[at + 1] == '\n')
    row.end++;
  return row;
}


size_t xpp_unquote (const xpp_cell *cell, uint8_t *out) {
  size_t used = 0;
  for (size_t i = 0; i < cell->text.size; i++) {
    const uint8_t c = cell->text.at[i];
    out[used++] = c;
    if (c == '"' && i + 1 < cell->text.size && cell->text.at[i + 1] == '"')
      i++;
  }
  return used;
}


/* The number of cells of the first row, if 90 % of the rows have it; else 0. */
static size_t columns_with (pf_bytes head, bool is_complete,
                            uint8_t separator) {
  xpp_scanner scanner = {separator, UINT64_MAX};
  size_t columns = 0, rows = 0, same = 0;
  for (uint64_t at = 0; at < head.size && rows < XPP_EXAMINED_ROWS;) {
    const xpp_row row = xpp_scan_row(&scanner, head, at, NULL, 0);
    const bool is_cut = row.end == head.size && (!is_complete || !row.has_end);
    at = row.end;
    if (row.cells < 2 || (is_cut && rows > 0))
      continue;
    if (rows++ == 0)
      columns = row.cells;
    same += row.cells == columns;
  }
  return rows > 0 && same * 10 >= rows * 9 && columns <= XPP_MAX_CELLS ? columns
                                                                       : 0;
}


uint8_t xpp_detect_separator (pf_bytes head, bool is_complete, uint8_t only,
                              size_t *columns) {
  static const char separators[] = ",;\t|";
  uint8_t best = 0;
  *columns = 0;
  for (size_t i = 0; separators[i] != '\0'; i++) {
    const uint8_t separator = only != 0 ? only : (uint8_t)separators[i];
    const size_t found = columns_with(head, is_complete, separator);
    if (found <= *columns)
      continue;
    *columns = found;
    best = separator;
  }
  return best;
}


pf_status xpp_separator_option (const pf_trace *trace, uint8_t *separator,
                                pf_error *error) {
  pf_bytes text;
  if (!pf_option_text(trace, "separator", &text) || text.size == 0)
    return PF_OK;
  const bool is_tab = pf_option_is(trace, "separator", "tab");
  if (is_tab || (text.size == 1 && text.at[0] != '\0' &&
                 strchr("\"\r\n+-.0123456789", text.at[0]) == NULL)) {
    *separator = is_tab ? '\t' : text.at[0];
    return PF_OK;
  }
  return pf_refuse(error,
                   "separator: tab or one character that is in no number and "
                   "no quote expected, found \"%.*s\"",
                   PF_SHOWN(text, 40));
}
