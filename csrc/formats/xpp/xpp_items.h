/*
** xpp_items.h - from row to row through all packets of a trace, and what stands
** between the rows: every byte belongs to one item.
*/

#ifndef xpp_items_h
#define xpp_items_h

#include "formats/xpp/xpp.h"

typedef enum xpp_item_kind {
  XPP_HEADER,  /* of a table; the row of names of text */
  XPP_ENTRY,   /* records or a row */
  XPP_DELETED, /* records that are marked as deleted */
  XPP_BLANK,   /* an empty line */
  XPP_END,     /* an end mark, 0x1A */
  XPP_REST,    /* bytes that are no whole row */
  XPP_ITEM_KINDS
} xpp_item_kind;

extern const char *const xpp_item_names[XPP_ITEM_KINDS];

typedef struct xpp_item {
  xpp_item_kind kind;
  size_t source;         /* of the trace */
  uint64_t offset, size; /* its bytes, of one record where there are more */
  size_t count;          /* records that follow each other */
  bool has_gap;          /* rows before it are lost */
} xpp_item;

typedef struct xpp_parser {
  pf_trace *trace;
  xpp_file *file;
  pf_error *error; /* of the call that is under way */
  size_t segment;
  uint64_t at;   /* in its source */
  bool has_gap;  /* rows before the next one are lost */
  bool is_begun; /* the segment is */
  bool has_rows; /* the segment had one */
  xpp_scanner scanner;
  xpp_cell *cells; /* of the row that was met last: room for nfields */
  xpp_row row;
} xpp_parser;

/* Begin at the first byte of the trace. PF_OK or PF_ENOMEM. */
pf_status xpp_parser_open (xpp_parser *parser, pf_trace *trace);
void xpp_parser_close (xpp_parser *parser);

/*
** The next item, of at most `most` records. PF_END behind the last one; in a
** live trace PF_AGAIN, also before a row that has not been written in full.
*/
pf_status xpp_parser_next (xpp_parser *parser, size_t most, xpp_item *item,
                           pf_error *error);

/* Whether it is in the middle of the records of a table, with none lost before
   it. */
static inline bool xpp_parser_in_records (const xpp_parser *parser) {
  return parser->is_begun && parser->has_rows && !parser->has_gap &&
         !parser->file->is_text;
}

/* The bytes of a item's source as they are now. */
static inline pf_bytes xpp_source (const xpp_parser *parser, size_t source) {
  return parser->trace->sources[source].bytes;
}


/* xpp_records.c and here: the next item of one form. The walk is before the end
   of its bytes. */
pf_status xpp_next_record (xpp_parser *parser, pf_bytes bytes, size_t most,
                           xpp_item *item);

/* Letters of operations. They alternate at random: a comparison with one of
   them would be foreseen badly. */
extern const bool xpp_is_op[256];

/* Make the next `size` bytes the item and go past; PF_MORE. */
pf_status xpp_parser_take (xpp_parser *parser, xpp_item_kind kind,
                           uint64_t size, xpp_item *item);

/* Say what is odd at the walk's place. Answers what pf_warn does. */
pf_status xpp_parser_warn (xpp_parser *parser, pf_note_kind kind,
                           const char *code, pf_status status,
                           const char *format, ...) PF_PRINTF(5, 6);

/* Whether the cells are names of fields. */
bool xpp_are_names (const xpp_cell *cells, size_t count);

/* xpp_packets.c: find the stretches of rows of the trace's sources. Called again
   when a live trace has got more of them. PF_OK, PF_ENOMEM, or in a strict
   trace the first gap. */
pf_status xpp_find_segments (pf_trace *trace, xpp_file *file, pf_error *error);

#endif
