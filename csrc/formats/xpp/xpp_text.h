/*
** xpp_text.h - rows of delimited text, as the DELDBE of Xbase++ writes them: fields
** between separators, texts in double quotes that may hold separators and line
** ends, a quote in a text written twice, records that end in CR LF or LF.
*/

#ifndef xpp_text_h
#define xpp_text_h

#include "profio.h"

#define XPP_MAX_CELLS 2038 /* as many as a table of Xbase++ has fields */

/* A field of a row, as it stands between its quotes. */
typedef struct xpp_cell {
  pf_bytes text;
  bool is_quoted;
  bool is_doubled; /* there are quotes written twice in it */
} xpp_cell;

/* A row. */
typedef struct xpp_row {
  uint64_t at, end; /* its bytes, the line end included */
  size_t cells;     /* how many there are, also beyond the capacity for them */
  bool has_end;     /* of line */
  bool is_open;     /* a quote is not closed before the bytes end: its cell
                        is read as if it were not quoted */
  bool has_stray_quote; /* a quote inside of a text that is written once */
} xpp_row;

/* How rows are taken apart. */
typedef struct xpp_scanner {
  uint8_t separator;
  uint64_t unclosed; /* a quote from this byte on is never closed; UINT64_MAX:
                        not known. So a text is searched for its end once */
} xpp_scanner;

static inline bool xpp_is_line_end (uint8_t c) {
  return c == '\r' || c == '\n';
}

/*
** Take the row that run_starts at `at` (before the end of the bytes) apart into at
** most `capacity` cells. A row of one empty cell is a blank line.
*/
xpp_row xpp_scan_row (xpp_scanner *scanner, pf_bytes bytes, uint64_t at,
                      xpp_cell *cells, size_t capacity);

/* Write a cell's text without its duplicate quotes into `out`, which has capacity
   for cell->text.size bytes; how many. */
size_t xpp_unquote (const xpp_cell *cell, uint8_t *out);

/*
** Find the separator of some text: the one of , ; TAB | that parts its first
** rows into the same number of cells, the most; 0 when none does. `only`
** leaves no choice (0: it does).
*/
uint8_t xpp_detect_separator (pf_bytes head, bool is_whole, uint8_t only,
                              size_t *columns);

#endif
