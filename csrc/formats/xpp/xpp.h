/*
** xpp.h - the state of an opened xpp trace, shared by the files of this format.
**
** A trace of the Alaska Xbase++ profiler (PRF) is a table of entries: a FoxPro
** table (FOXDBE, decoded by formats/dbf) or delimited text (DELDBE). If the
** profiler wrote packets, the trace is the header packet TEST.PRF, followed by
** the rows of TEST.PRF.000001, 000002 ... in the order of their numbers. Times
** are milliseconds in the file and nanoseconds in profio.
**
**   open_xpp.c       the format: score, open, header facts, tables
**   detect_xpp.c     detection from the first bytes
**   fields.c         the fields of a trace
**   roles.c          the roles of the fields
**   parser/          items.c: the segments (the rows of each packet), and their
**                    items in order: header, rows, deleted rows, end marks and
**                    damage; text_rows_xpp.c: scanner for rows of delimited
**                    text; fill_rows.c: items decoded into columns of the
**                    file's own fields
**   entries_xpp.c    table entries: the fields with a role, in profio's units
**   name_cache.c     the ids of names by the bytes of a field
**   times.c          the rules for times of entries
**   raw_xpp.c        table raw: all bytes, and the fields as stated; table
**                    structure: the roles of the fields
**   settings.c       the settings of the PRI file, which Lua parses
**   encoder/         write_xpp.c; write_table.c: as records of a table
**   operations/      stages that turn entries into enters and leaves, and back
**
** lua/trace_part.c and checked_reader.c open and close a trace through
** pf_format_xpp. The trace owns the xpp_file, and `close` of open_xpp.c frees
** its arrays; all other files borrow it.
*/

#ifndef xpp_h
#define xpp_h

#include "formats/dbf/dbf.h"
#include "formats/xpp/roles.h"
#include "formats/xpp/parser/text_rows_xpp.h"
#include "model/rows/trace.h"
#include "profio.h"

/* A segment: the rows of one source, which is the main file or a packet. */
typedef struct xpp_segment {
  size_t source;   /* index in trace->sources */
  uint64_t number; /* number of the packet; 0: the main file */
  bool has_gap;    /* packets before it are missing */
} xpp_segment;

/* The state of an opened trace (trace->state), which the trace owns. */
typedef struct xpp_file {
  bool is_text;
  bool is_live;       /* the file may grow: the last row may be incomplete */
  bool is_unfiltered; /* not filtered: calls have i and I, or O and o */
  dbf_file *dbf;      /* owned; the decoder of the table, NULL for text */
  uint32_t op_offset; /* offset of the operation in a record; 0: not known */
  pf_bytes settings;  /* of the PRI file: see settings.c; or empty */

  uint8_t separator;  /* text only: between the cells */
  bool has_names;     /* text only: the first row names the fields */
  pf_charset charset; /* code page of text; a table has its own in `dbf` */

  pf_field *fields; /* as the file has them: the columns of xpp_rows */
  size_t nfields;
  xpp_roles roles;
  char *names; /* text only: memory of the names in `fields` */

  xpp_segment *segments;
  size_t nsegments, segments_capacity;
  size_t nsources; /* sources that xpp_find_segments has examined */
  size_t repeated; /* bytes of rows of the main file that are packets, too */
  uint64_t last_repeated; /* number of the last of these packets; 0: none */

  pf_field *entries; /* columns of table entries: ours, then unknown fields */
  size_t nentries;
  size_t *extras; /* of unknown fields in `entries`: index in `fields` */
  pf_field *raw;  /* columns of table raw */
  size_t nraw;
  size_t *shown; /* of fields in `raw`: index in `fields` */
  pf_table tables[4];
} xpp_file;

#define XPP_NS_PER_MS   1000000
#define XPP_CLOCK_RANGE ((int64_t)1 << 32) /* ms: the clock has 32 bits */

/* The columns of table entries. Fields without a role follow them. */
enum {
  ENTRIES_THREAD,
  ENTRIES_TIME,
  ENTRIES_OP,
  ENTRIES_CALL,
  ENTRIES_LINE,
  ENTRIES_PARAMS,
  ENTRIES_FLAGS,
  ENTRIES_COLUMNS
};

/* The columns of table raw. The fields follow them, then a column of all
   bytes. */
enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_PACKET,
  RAW_FIELDS
};

/* Returns true for the field of null flags, which is no column. */
static inline bool xpp_is_hidden (const xpp_file *file, size_t field) {
  return !file->is_text && file->dbf->fields[field].kind == DBF_NULL_FLAGS;
}

/* entries_xpp.c, raw_xpp.c: build the schema of the table (PF_OK or PF_ENOMEM),
   and open a reader of it, for pf_table.open. */
pf_status xpp_entries_schema (xpp_file *file, pf_error *error);
pf_status xpp_raw_schema (xpp_file *file, pf_error *error);
pf_status xpp_open_entries (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);
pf_status xpp_open_raw (pf_trace *trace, const pf_table *table,
                        pf_reader **reader, pf_error *error);

/*
** fields.c, called by open_xpp.c before and after xpp_find_segments (items.h).
** Sets file->fields, nfields, is_text, and for text the separator, the code
** page and has_names, for a table file->dbf. Returns PF_EFORMAT if the trace
** contains neither a table nor rows of text; PF_EUNSUPPORTED for the options
** separator and code_page; PF_ENOMEM; failures of dbf_open.
*/
pf_status xpp_find_fields (pf_trace *trace, xpp_file *file, pf_error *error);

/* Sets file->roles by the names of the fields and by the values of the first
   rows, or as the option map says; also file->is_unfiltered, and
   file->op_offset if the first four rows have operations. Needs the segments.
   PF_EFORMAT for the option map; PF_ENOMEM; failures of decoding. */
pf_status xpp_find_roles (pf_trace *trace, xpp_file *file, pf_error *error);

/* raw_xpp.c: table structure, a row for each field. */
extern const pf_table xpp_structure_table;

/* Bits of OPERATIONMODE in the PRI file. */
#define XPP_MODE_TRACE   1
#define XPP_MODE_FLUSH   1024
#define XPP_MODE_PACKETS 2048

/* settings.c: returns true if the settings say that the trace has no field of a
   role; sets header facts from the settings. */
bool xpp_settings_lack (pf_bytes settings, xpp_role role);
void xpp_settings_info (pf_trace *trace, pf_bytes settings);

extern const pf_table xpp_settings_table;

/* detect_xpp.c: whether there are no control characters except those of text;
   the confidence, 0 to 100, that a file of `size` bytes which begins with
   `head` is a trace as text (if it is text), or as a table. */
bool xpp_is_text (pf_bytes head);
int xpp_text_score (pf_bytes head, uint64_t size);
int xpp_table_score (pf_bytes head, uint64_t size);

#endif
