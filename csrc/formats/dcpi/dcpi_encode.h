/*
** dcpi_encode.h - what encode.c (rows in), gather.c (one header of fields), header.c
** and write.c (bytes out) share.
**
** Rows and header lines come with the number of their profile. A file holds
** one profile, so all that come must fit one: the same image on the same
** machine; epochs may report_conflict, and in dcpicat's text events.
*/

#ifndef dcpi_encode_h
#define dcpi_encode_h

#include "formats/dcpi/dcpi.h"
#include "model/names.h"

/* A count. `event` is a name, and at the end the number of an event. */
typedef struct dcpi_row {
  uint64_t address, count;
  uint32_t profile; /* number in the writer's list */
  uint32_t event;
} dcpi_row;

/* A header line; names in the dictionary. */
typedef struct dcpi_field {
  uint32_t profile; /* number in the writer's list, or DCPI_ALL_PROFILES */
  uint32_t word, value;
  uint32_t line; /* all of it, or PF_NO_NAME: to be made of the two */
} dcpi_field;

#define DCPI_ALL_PROFILES UINT32_MAX /* the option `header`: for all profiles */

/* A profile that rows or lines belong to, and what its rows say of it. */
typedef struct dcpi_profile {
  bool has_id;
  int64_t id;
  uint32_t names[SAMPLES_COLUMNS]; /* of the columns of names, or PF_NO_NAME */
} dcpi_profile;

typedef struct dcpi_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  dcpi_dialect dialect;
  dcpi_row *rows;
  size_t nrows, rows_capacity;
  dcpi_field *fields;
  size_t nfields, fields_capacity;
  dcpi_profile *profiles;
  size_t nprofiles, profiles_capacity;
} dcpi_writer;

/* An event as it is written; the name is in the dictionary. */
typedef struct dcpi_output_event {
  uint32_t name;
  uint64_t period, fraction, total;
} dcpi_output_event;

/* What is written above the counts. */
typedef struct dcpi_output_header {
  uint32_t values[DCPI_WORDS]; /* names, or PF_NO_NAME; not of events */
  uint64_t epoch;              /* of the earliest profile */
  uint64_t start, size;        /* of the code */
  dcpi_output_event events[DCPI_MAX_EVENTS];
  size_t nevents;
} dcpi_output_header;

/* Where the bytes go, and what they are made of. The sink keeps its first
   failure: it is looked at once, at the end. */
typedef struct dcpi_output {
  dcpi_writer *writer;
  dcpi_output_header *header;
  pf_sink *sink;
  pf_error *error;
} dcpi_output;

static inline pf_bytes dcpi_name (const dcpi_output *out, uint32_t name) {
  return pf_name(out->writer->dictionary, name);
}

static inline bool dcpi_is_stated (const dcpi_output *out, dcpi_word word) {
  return out->header->values[word] != PF_NO_NAME;
}

pf_status dcpi_no_memory (pf_error *error);

/* The word a field begins with. */
dcpi_word dcpi_field_word (const dcpi_writer *writer, const dcpi_field *field);

/* Bring what all profiles say together; PF_EUNSUPPORTED in words when they
   are not one. The rows get the numbers of their events. */
pf_status dcpi_merge_headers (dcpi_writer *writer, dcpi_output_header *header,
                              pf_error *error);

/* header.c: put bytes, and at most 127 bytes of text as printf makes it. */
void dcpi_put_bytes (const dcpi_output *out, pf_bytes text);
void dcpi_put_format (const dcpi_output *out, const char *format, ...)
    PF_PRINTF(2, 3);

/* Whether a text has bytes, and none that a line cannot hold. */
bool dcpi_is_printable (pf_bytes text);

/* Whether the same field is written before field `number`. */
bool dcpi_is_duplicate (const dcpi_output *out, size_t number);

/* Whether the option `header` has another line of this field's word. */
bool dcpi_is_overridden (const dcpi_output *out, const dcpi_field *field);

/* Put the header of version 0.07: the lines that came, in their order, then
   what is required beside them. */
void dcpi_put_header (const dcpi_output *out);

/* Write what has been put. PF_EUNSUPPORTED, before a byte is written, when
   the dialect cannot hold it. */
pf_status dcpi_write (dcpi_writer *writer, pf_sink *sink, pf_error *error);

#endif
