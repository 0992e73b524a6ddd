/*
** xpp.h - what the files of the format xpp share.
**
** A trace of the Alaska Xbase++ profiler (PRF) is a table of entries: a
** FoxPro table (FOXDBE, read by formats/dbf) or delimited text (DELDBE). Where
** the profiler wrote packets, the trace is the header packet TEST.PRF and the
** rows of TEST.PRF.000001, 000002 ... behind each other.
**
**   xpp_open.c     the format: score, open, header facts, tables
**   xpp_detect.c   how sure we are, from the first bytes
**   xpp_fields.c   the fields of a trace and their roles (xpp_roles.c)
**   xpp_packets.c  the stretches of rows: which bytes of which source
**   xpp_items.c     from row to row of either form, with what is between them
**   xpp_text.c     rows of delimited text
**   xpp_rows.c     rows of either form as columns of their own fields
**   xpp_entries.c  table entries: the roles in profio's units
**   xpp_fast.c xpp_readahead.c  the same where there is nothing to be minded, ahead
**   xpp_raw.c      table raw: all bytes, and the fields as the file states them
**   xpp_structure.c    table structure: the roles of the fields
**   xpp_settings.c the PRI file
**   xpp_write.c xpp_write_table.c xpp_write_text.c    the way out
*/

#ifndef xpp_h
#define xpp_h

#include "formats/dbf/dbf.h"
#include "formats/xpp/xpp_roles.h"
#include "formats/xpp/xpp_text.h"
#include "model/trace.h"
#include "profio.h"

/* A stretch of rows: the payload of a source. */
typedef struct xpp_segment {
  size_t source;   /* of the trace */
  uint64_t number; /* of the packet; 0: the header packet */
  bool has_gap;    /* packets before it are missing */
} xpp_segment;

/* The state of an opened trace. */
typedef struct xpp_file {
  bool is_text;
  bool is_live;       /* more rows may come: what is cut is waited for */
  bool is_unfiltered; /* its calls have both letters of a pair */
  dbf_file *dbf;      /* of a table; else NULL */
  uint32_t op_offset; /* where a record has its letter; 0: not known */
  pf_bytes settings;  /* the PRI file; empty: there is none */

  uint8_t separator;  /* of text */
  bool has_names;     /* its first row names the fields */
  pf_charset charset; /* of text; tables say theirs */

  pf_field *fields; /* as the file has them: what xpp_rows.c yields */
  size_t nfields;
  xpp_roles roles;
  char *names; /* what the names of text fields point into */

  xpp_segment *segments;
  size_t nsegments;
  size_t npackets; /* sources that are packets, left out or not */
  size_t nsources; /* of the trace that have been looked at */
  bool is_rebuilt; /* the rows of the packets stand in the first file too */

  pf_field *entries; /* columns of that table: ours, then unknown fields */
  size_t nentries;
  size_t *extras; /* the fields of the unknown ones */
  pf_field *raw;  /* columns of that table */
  size_t nraw;
  size_t *shown;                    /* their fields */
  struct xpp_readahead *readaheads; /* of the readers that decode ahead */
  pf_table tables[4];
} xpp_file;

#define XPP_NS_PER_MS   1000000
#define XPP_CLOCK_RANGE ((int64_t)1 << 32) /* ms; then it starts again */

/* The columns of table entries; unknown fields stand behind them. */
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

/* The columns of table raw that stand before and behind the fields. */
enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_PACKET,
  RAW_FIELDS
};

/* xpp_entries.c, xpp_raw.c: set the schema of their table, and open it. */
pf_status xpp_entries_schema (xpp_file *file, pf_error *error);
pf_status xpp_raw_schema (xpp_file *file, pf_error *error);
pf_status xpp_open_entries (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);
pf_status xpp_open_raw (pf_trace *trace, const pf_table *table,
                        pf_reader **reader, pf_error *error);

static inline pf_status xpp_no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}

#endif
