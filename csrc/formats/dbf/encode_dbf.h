/*
** encode_dbf.h - state and functions of the encoder, shared by encode_*.c.
** xpp/encoder looks up the fields of the dbf_writer that it opened.
**
** Call dbf_parse_fields first, then dbf_put_value for each field of a record,
** dbf_end_memos at each flush.
**
** dbf_encoder is called through pf_format_dbf by lua/writer and model/writer,
** and by xpp/encoder; they own the dbf_writer. Its `close` frees all members.
*/

#ifndef encode_dbf_h
#define encode_dbf_h

#include "bytes/sink.h"
#include "formats/dbf/internal.h"
#include "model/writer/encoder.h"

#define DBF_MAX_NAME 10                 /* bytes of a name in a file */
#define DBF_MAX_UTF8 (5 * DBF_MAX_NAME) /* bytes of the same name in UTF-8 */

/* A field that is written. */
typedef struct dbf_output_field {
  char name[DBF_MAX_UTF8 + 1];    /* in UTF-8; ends with NUL */
  char written[DBF_MAX_NAME + 1]; /* the same in the code page */
  char exact_name[DBF_MAX_UTF8 + sizeof "_exact"]; /* of a currency: the column
                                                      of its exact text */
  char type;
  bool nullable;
  uint8_t size, decimals;
  uint32_t offset;    /* in the record */
  int32_t null_bit;   /* index of its bit in the null flags, or -1 */
  int32_t length_bit; /* index of its length bit (V and Q), or -1 */
  size_t column;      /* index in the table */
} dbf_output_field;

typedef struct dbf_writer {
  pf_encoder encoder;
  dbf_output_field *fields;
  size_t nfields;
  pf_field *schema; /* of table `data`: the fields, then `deleted` */
  size_t ncolumns;
  pf_table table;
  uint8_t *record; /* the current record */
  uint32_t record_size;
  uint32_t null_flags, null_bytes; /* offset and size in a record */
  bool begun;                      /* the header has been written */
  bool visual;                     /* Visual FoxPro; else FoxPro 2, dBASE III */
  bool round;                      /* option: round inexact numbers */
  bool has_memos;                  /* there is a memo field */
  uint8_t mark;                    /* of the code page */
  uint8_t date[3];
  pf_charset charset;
  pf_converter to_page;
  dbf_arena text;      /* converted text of the current batch */
  uint32_t memo_block; /* bytes of a block */
  uint64_t next_block; /* index of the next free block, 0: no memo file yet */
} dbf_writer;

/* encode_fields.c: parse "NAME C(20), AGE N(3) null, PRICE N(8,2), NOTE M"
   into fields and schema. Returns PF_EUNSUPPORTED, PF_ELIMIT or PF_ENOMEM. */
pf_status dbf_parse_fields (dbf_writer *writer, pf_bytes text, pf_error *error);

/* encode_value.c: encode a value into writer->record, and write a memo. Returns
   PF_EUNSUPPORTED if the field cannot hold it, PF_ELIMIT if the memo file would
   be too large, PF_EIO or PF_ENOMEM. */
pf_status dbf_put_value (dbf_writer *writer, const dbf_output_field *field,
                         const pf_batch *batch, size_t row, pf_sink *sink,
                         pf_error *error);

/* encode_value.c: update the header of the memo file. PF_EIO or PF_ENOMEM. */
pf_status dbf_end_memos (dbf_writer *writer, pf_sink *sink, pf_error *error);

#endif
