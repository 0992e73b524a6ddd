/*
** text_rows_xpp.h - scans rows of delimited text as the DELDBE of Xbase++
** writes them: cells between separators; texts in double quotes, which may
** contain separators and line ends; a quote in a text is doubled; records end
** with CR LF or LF. Used by items.c, fields.c, detect_xpp.c and write_xpp.c.
**
** Allocates nothing: the caller passes the array of cells.
*/

#ifndef text_rows_xpp_h
#define text_rows_xpp_h

#include "model/rows/trace.h"

#define XPP_MAX_CELLS     2038 /* the maximum number of fields of a table */
#define XPP_EXAMINED_ROWS 64   /* first rows from which a form is detected */

/* A cell of a row, without its quotes; it points into the scanned bytes. */
typedef struct xpp_cell {
  pf_bytes text;
  bool is_quoted;
  bool is_doubled; /* contains doubled quotes */
} xpp_cell;

/* A row. */
typedef struct xpp_row {
  uint64_t at, end;     /* its bytes, with the line end */
  size_t cells;         /* number of cells, also beyond the capacity */
  bool has_end;         /* it ends with a line end */
  bool is_unclosed;     /* a quote is not closed; its cell is unquoted */
  bool has_stray_quote; /* a text contains a quote that is not doubled */
} xpp_row;

/* The state of the scanner. Begin with unclosed = UINT64_MAX. */
typedef struct xpp_scanner {
  uint8_t separator;
  uint64_t unclosed; /* a quote from this byte on is never closed; UINT64_MAX:
                        not known. So the rest is searched only once */
} xpp_scanner;

static inline bool xpp_is_line_end (uint8_t c) {
  return c == '\r' || c == '\n';
}

/*
** Scans the row that begins at `at` (before the end of the bytes) and stores at
** most `capacity` cells. A row of one empty cell is a blank line.
*/
xpp_row xpp_scan_row (xpp_scanner *scanner, pf_bytes bytes, uint64_t at,
                      xpp_cell *cells, size_t capacity);

/* Writes the text of a cell with single instead of doubled quotes; `out` has at
   least cell->text.size bytes. Returns the number written. */
size_t xpp_unquote (const xpp_cell *cell, uint8_t *out);

/*
** Finds the separator: the one of , ; TAB | that splits at least 90 % of the
** first rows into the same, largest number of cells (*columns). Returns 0 if
** none does. `only`: the one to try, or 0. `is_complete`: `head` is the whole
** file.
*/
uint8_t xpp_detect_separator (pf_bytes head, bool is_complete, uint8_t only,
                              size_t *columns);

/* Sets *separator to that of the option `separator`, of reading or writing, if
   it is given: "tab", or one character that is in no number and no quote.
   PF_EUNSUPPORTED for another text. */
pf_status xpp_separator_option (const pf_trace *trace, uint8_t *separator,
                                pf_error *error);

#endif
