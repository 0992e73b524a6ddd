/*
** xpp_write.h - entries on their way into a file: a table, through the encoder of
** the format dbf, or text.
*/

#ifndef xpp_write_h
#define xpp_write_h

#include "bytes/sink.h"
#include "formats/xpp/xpp.h"

typedef struct xpp_writer xpp_writer;

struct xpp_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  pf_table table;   /* entries: our columns, then those of unknown fields */
  pf_field *schema; /* of it */
  bool round;       /* times that are no whole ms are rounded */
  uint64_t rounded; /* how many were */
  bool has_time;    /* some entry that was written has one: */
  int64_t time;     /* of the last, as it will be read */

  pf_encoder *inner;            /* of tables; NULL: text */
  const pf_table *data;         /* what that takes */
  size_t column_of[XPP_ROLES];  /* its column of each role, or XPP_NO_FIELD */
  bool can_be_empty[XPP_ROLES]; /* its field can be left out */
  bool is_clock;                /* that of the time is one of 32 bits */
  size_t *extras;               /* its columns behind ours in the schema */
  pf_batch out;                 /* rows for it */

  uint8_t separator;  /* of text */
  bool has_names;     /* a row of names run_starts it */
  bool has_doc_names; /* fields are called as in the documents */
  bool begun;

  uint64_t flush_every; /* entries from flush to flush; 0: never */
  uint64_t since_flush; /* entries since the last one */
  uint64_t count;       /* entries */
  bool in_packets;      /* each goes into a file of its own */
  int64_t mode;         /* OPERATIONMODE of the settings beside it */
  int64_t symbol_size;
};

/* How the fields of the roles are called. */
const char *xpp_field_name (const xpp_writer *writer, size_t role);

/* Whether the options ask for delimited text. */
bool xpp_writes_text (const pf_trace *asked);

/* The written table with no unknown fields, for pf_format.written. */
extern const pf_table xpp_written[1];

pf_status xpp_encoder (const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error);

/* The time of a row in ms; PF_EUNSUPPORTED when it is none and is not to be
   rounded. */
pf_status xpp_whole_ms (xpp_writer *writer, int64_t time, int64_t *ms,
                        pf_error *error);

/* xpp_write_table.c: give rows from..to-1 to the encoder of tables. */
pf_status xpp_put_records (xpp_writer *writer, const pf_batch *batch,
                           size_t from, size_t to, pf_sink *sink,
                           pf_error *error);

/* xpp_write_table.c: make the encoder and the schema, as the options say. */
pf_status xpp_begin_table (xpp_writer *writer, const pf_option *options,
                           size_t noptions, pf_error *error);

/* xpp_write_text.c: append a row as text; a row of names. */
pf_status xpp_put_text (xpp_writer *writer, const pf_batch *batch, size_t row,
                        pf_sink *sink);
void xpp_put_names (const xpp_writer *writer, pf_sink *sink);

#endif
