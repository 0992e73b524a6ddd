/*
** encode_dcpi.h - state of the encoder, shared by its two files.
**
** encode_dcpi.c collects rows and header lines, each with the id of a profile.
** A file has one header: encode_dcpi.c merges those of the profiles, or fails
** if they do not fit together (see there). write_dcpi.c writes the bytes.
**
** dcpi_encoder is called through pf_format_dcpi by lua/writer and model/writer,
** which own the dcpi_writer and call its `close`. That frees the three arrays;
** the dictionary is borrowed and must live as long.
*/

#ifndef encode_dcpi_h
#define encode_dcpi_h

#include "formats/dcpi/dcpi.h"
#include "model/dictionary/names.h"
#include "model/writer/encoder.h"

/* A count. `event` is a name in the dictionary, after resolve_event an index of
   dcpi_writer.events. */
typedef struct dcpi_row {
  uint64_t address, count;
  uint32_t profile; /* index in dcpi_writer.profiles */
  uint32_t event;
} dcpi_row;

/* A header line. The texts are names in the dictionary. */
typedef struct dcpi_field {
  uint32_t profile; /* index in dcpi_writer.profiles, or DCPI_ALL_PROFILES */
  uint32_t word, value;
  uint32_t line; /* the original line; PF_NO_NAME: of word and value */
} dcpi_field;

#define DCPI_ALL_PROFILES UINT32_MAX /* a line of the option `header` */

/* A profile, and the texts that its rows and header lines state. */
typedef struct dcpi_profile {
  bool has_id;
  int64_t id;
  bool has_period; /* its own lines state the period of its event */
  uint32_t names[SAMPLES_COLUMNS]; /* by column; PF_NO_NAME: not stated yet */
  uint32_t values[DCPI_WORDS];     /* by word, set by collect_values */
} dcpi_profile;

/* An event of the file. The name is in the dictionary. */
typedef struct dcpi_output_event {
  uint32_t name;
  uint64_t period, fraction, total;
} dcpi_output_event;

typedef struct dcpi_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  dcpi_dialect dialect;
  dcpi_row *rows; /* owned, as are `fields` and `profiles` */
  size_t nrows, rows_capacity;
  dcpi_field *fields;
  size_t nfields, fields_capacity;
  dcpi_profile *profiles;
  size_t nprofiles, profiles_capacity;
  /* The merged header of the file. */
  uint32_t values[DCPI_WORDS];    /* names, or PF_NO_NAME; not for events */
  uint64_t epoch;                 /* of the earliest profile; see dcpi_epoch */
  uint64_t code_start, code_size; /* address range of the code, in bytes */
  dcpi_output_event events[DCPI_MAX_EVENTS];
  size_t nevents;

  pf_error *error; /* during `put` and `finish` */
  pf_sink *sink;   /* during `finish`; it keeps its first failure, which is
                      checked once, at the end */
} dcpi_writer;

static inline pf_bytes dcpi_name (const dcpi_writer *self, uint32_t name) {
  return pf_name(self->dictionary, name);
}

static inline bool dcpi_is_stated (const dcpi_writer *self, dcpi_word word) {
  return self->values[word] != PF_NO_NAME;
}


/* Returns the word of a header line. */
static inline dcpi_word dcpi_field_word (const dcpi_writer *self,
                                         const dcpi_field *field) {
  return dcpi_word_of(dcpi_name(self, field->word));
}

/* Write the file with the merged header. Returns PF_EUNSUPPORTED, before any
   byte is written, if the dialect cannot hold the contents; PF_EIO or PF_ENOMEM
   of the sink. */
pf_status dcpi_write (dcpi_writer *self);

#endif
