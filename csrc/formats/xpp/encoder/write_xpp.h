/*
** write_xpp.h - the encoder of entries: as a table, through the encoder of the
** format dbf, or as text. write_xpp.c calls the functions of write_table.c.
**
** xpp_encoder is called through pf_format_xpp by lua/writer and model/writer,
** which own the xpp_writer and call its `close`. The dictionary is borrowed and
** must live as long.
*/

#ifndef write_xpp_h
#define write_xpp_h

#include "bytes/sink.h"
#include "formats/xpp/xpp.h"
#include "model/writer/encoder.h"

typedef struct xpp_writer xpp_writer;

struct xpp_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  pf_table table;   /* entries: our columns, then those of unknown fields */
  pf_field *schema; /* owned; columns of `table` */
  bool round;       /* round times to whole ms */
  uint64_t rounded; /* number of times that were rounded */
  int64_t time;     /* time of the last entry that has one, ns */

  pf_encoder *inner;            /* owned; encoder of the table, NULL for text */
  const pf_table *data;         /* table that `inner` takes */
  xpp_roles roles;              /* by column of `data` */
  bool can_be_empty[XPP_ROLES]; /* the field of the role can be missing */
  bool is_clock;                /* the field of the time has 32 bits */
  size_t *extras;               /* owned; columns for unknown fields */
  pf_batch out;                 /* rows for `inner` */

  uint8_t separator;  /* text only */
  bool has_names;     /* text only: write a row of names first */
  bool has_doc_names; /* use the field names of the documents */
  bool begun;         /* the header, or the row of names, has been written */

  uint64_t flush_every; /* flush after so many entries; 0: never */
  uint64_t since_flush; /* entries since the last flush */
  bool in_packets;      /* each flush begins a new packet */
  int64_t mode;         /* OPERATIONMODE for the PRI file */
  int64_t symbol_size;
};

/* The name of the field of a role. */
const char *xpp_field_name (const xpp_writer *writer, size_t role);

/* Table entries without unknown fields, for pf_format.written. */
extern const pf_table xpp_written[1];

pf_status xpp_encoder (const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error);

/* write_table.c: passes the rows from..to-1 to the encoder of tables. */
pf_status xpp_put_records (xpp_writer *writer, const pf_batch *batch,
                           size_t from, size_t to, pf_sink *sink,
                           pf_error *error);

/* write_table.c: creates `inner` and the schema from the options. */
pf_status xpp_begin_table (xpp_writer *writer, const pf_trace *opts,
                           pf_error *error);

#endif
