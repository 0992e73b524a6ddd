/*
** items.h - the parser of a trace: it splits all segments into items
** (header, rows, blank lines, end marks, damaged bytes), in the order of the
** file. Every byte belongs to exactly one item.
**
** Call xpp_parser_open once, xpp_parser_next until it returns PF_END or a
** failure, then xpp_parser_close. Used by fill_rows.c; open_xpp.c finds the
** segments, fields.c and detect_xpp.c recognise a row of names.
**
** The trace is borrowed until then. An xpp_item holds offsets, the cells of a
** row point into the source.
*/

#ifndef items_h
#define items_h

#include "formats/xpp/xpp.h"

typedef enum xpp_item_kind {
  XPP_HEADER,  /* of a table; in text the row of names */
  XPP_ENTRY,   /* one row of text, or `count` records */
  XPP_DELETED, /* `count` records that are marked as deleted */
  XPP_BLANK,   /* an empty line */
  XPP_END,     /* an end mark, 0x1A */
  XPP_REST,    /* bytes that are not a complete row */
  XPP_ITEM_KINDS
} xpp_item_kind;

extern const char *const xpp_item_names[XPP_ITEM_KINDS];

typedef struct xpp_item {
  xpp_item_kind kind;
  size_t source;         /* index in trace->sources */
  uint64_t offset, size; /* its bytes; of a sequence of records, one record */
  size_t count;          /* number of consecutive records */
  bool has_gap;          /* rows before it are lost */
} xpp_item;

typedef struct xpp_parser {
  pf_trace *trace;
  xpp_file *file;
  pf_error *error; /* borrowed for the current call */
  size_t segment;
  uint64_t at;   /* byte of the source at which the next item begins */
  bool has_gap;  /* rows before the next row are lost */
  bool is_begun; /* the current segment is initialised */
  bool has_rows; /* the current segment has contained a row */
  xpp_scanner scanner;
  xpp_cell *cells; /* of the last row of text; nfields of them */
  xpp_row row;
} xpp_parser;

/* Sets the parser to the first byte of the trace. Returns PF_OK or PF_ENOMEM;
   call xpp_parser_close in both cases. */
pf_status xpp_parser_open (xpp_parser *parser, pf_trace *trace);
void xpp_parser_close (xpp_parser *parser);

/*
** Parses the next item; it has at most `max_rows` records. Returns PF_MORE;
** PF_END after the last item; a failure. In a live trace PF_AGAIN at the end,
** and before a row that is not complete yet.
*/
pf_status xpp_parser_next (xpp_parser *parser, size_t max_rows, xpp_item *item,
                           pf_error *error);

/* The bytes of a source as they are now (a live source grows). */
static inline pf_bytes xpp_source (const xpp_parser *parser, size_t source) {
  return parser->trace->sources[source].bytes;
}


/* Returns true if the cells contain the names of the fields op and call. */
bool xpp_are_names (const xpp_cell *cells, size_t count);

/* Appends a segment to file->segments for each new source with rows: the main
   file, then the sources of the role "packet" in the order of their numbers;
   called again when a live trace has more sources. Packets that repeat rows are
   left out. Returns PF_OK, PF_ENOMEM or, in a strict trace, the failure for the
   first gap or repetition. */
pf_status xpp_find_segments (pf_trace *trace, xpp_file *file, pf_error *error);

#endif
