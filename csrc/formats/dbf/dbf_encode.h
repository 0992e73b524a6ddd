/*
** dbf_encode.h - tables on their way into a file.
*/

#ifndef dbf_encode_h
#define dbf_encode_h

#include "bytes/sink.h"
#include "formats/dbf/dbf_internal.h"

/* A field to be written. */
typedef struct dbf_output_field {
  char name[11]; /* ends with NUL */
  char type;
  bool nullable;
  uint8_t size, decimals;
  uint32_t offset;    /* in the record */
  int32_t null_bit;   /* in the null flags, or -1 */
  int32_t length_bit; /* the same, of V and Q */
  size_t column;      /* in the table */
} dbf_output_field;

typedef struct dbf_writer {
  pf_encoder encoder;
  dbf_output_field *fields;
  size_t nfields;
  pf_field *schema; /* of table `data`: the fields, then `deleted` */
  char (*exact_names)[24];
  size_t ncolumns;
  pf_table table;
  uint8_t *record; /* the one that is being made */
  uint32_t record_size;
  uint32_t null_flags, null_bytes; /* where they are in it, how many */
  uint64_t count;                  /* records so far */
  bool begun;                      /* the header is written */
  bool visual;                     /* Visual FoxPro, else FoxPro 2 and dBASE */
  bool round;                      /* what does not fit exactly is rounded */
  bool has_memos;                  /* some field is one */
  uint8_t mark;                    /* of the code page */
  uint8_t date[3];
  pf_charset charset;
  pf_converter to_page;
  dbf_arena text;      /* of the current batch, in the code page */
  uint32_t memo_block; /* bytes of a block */
  uint64_t next_block; /* the first free one */
} dbf_writer;

/* encode_fields.c: "NAME C(20), AGE N(3) null, PRICE N(8,2), NOTE M" becomes
   the fields and the schema. */
pf_status dbf_parse_fields (dbf_writer *writer, pf_bytes text, pf_error *error);

/* encode_value.c: put the value of a field into the record. */
pf_status dbf_put_value (dbf_writer *writer, const dbf_output_field *field,
                         const pf_batch *batch, size_t row, pf_sink *sink,
                         pf_error *error);

/* Text of UTF-8 in the code page of the file, valid until the next batch. */
pf_status dbf_to_page (dbf_writer *writer, const dbf_output_field *field,
                       pf_bytes text, pf_bytes *out, pf_error *error);

/* encode_memo.c: append a block to the memo file; its number. */
pf_status dbf_put_memo (dbf_writer *writer, const dbf_output_field *field,
                        pf_bytes value, bool is_text, pf_sink *sink,
                        uint32_t *block, pf_error *error);

/* The header of the memo file is made right. */
pf_status dbf_end_memos (dbf_writer *writer, pf_sink *sink, pf_error *error);

#endif
