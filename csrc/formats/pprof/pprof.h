/*
** pprof.h - what the files of the format pprof share: profile.proto, the
** profile of Go's tools, gzipped or plain.
**
** A protocol buffer: fields in a row, each a varint tag (field number * 8 +
** wire type) and a value: a varint (wire type 0), 8 bytes (1), a varint length
** and so many bytes (2), or 4 bytes (5). Varints have 7 bits a byte, the low
** ones first. Repeated numbers may be packed into one value of wire type 2.
**
**   FIELD  Profile             FIELD  Sample            FIELD  Location
**   1      sample_type *       1      location_id *     1      id
**   2      sample *            2      value *           2      mapping_id
**   3      mapping *           3      label *           3      address
**   4      location *                                   4      line *
**   5      function *          FIELD  Label             5      is_folded
**   6      string_table *      1      key
**   7      drop_frames         2      str               FIELD  Line
**   8      keep_frames         3      num               1      function_id
**   9      time_nanos          4      num_unit          2      line
**   10     duration_nanos                               3      column
**   11     period_type         FIELD  Mapping
**   12     period              1      id                FIELD  Function
**   13     comment *           2      memory_start      1      id
**   14     default_sample_type 3      memory_limit      2      name
**   15     doc_url             4      file_offset       3      system_name
**                              5      filename          4      filename
**   ValueType: 1 type, 2 unit  6      build_id          5      start_line
**
** Texts are numbers into string_table, whose first entry is empty. A sample's
** locations stand leaf first; a location's lines stand innermost first (the
** others are those it was inlined into). Ids are any numbers but 0.
**
**   wire.h      fields and varints
**   messages.c  small messages as structs
**   open.c      the format: score, header attributes, tables
**   index.c     strings, functions and locations by number, found once
**   samples.c   the readers of samples and of weights
**   gather.c    samples straight into contexts
**   labels.c    the reader of labels
**   raw.c       the reader of fields as they stand
**   put.c       fields, messages and the string table of a file that is written
**   head.c      what a profile states beside its samples; units
**   encode.c    rows or readable traces in
**   merged*.c   readable traces merged without a loss
**   write.c     contexts as a profile
*/

#ifndef pprof_h
#define pprof_h

#include "formats/pprof/pprof_messages.h"
#include "model/batch.h"
#include "model/stacks.h"
#include "model/trace.h"

#define PPROF_MAX_TYPES 4096 /* sample types; more get a warning */

/* A kind of value that each sample has. */
typedef struct pprof_type {
  uint32_t name, unit; /* names */
  int64_t scale;       /* nanoseconds in one of it; 1 for what is no time */
  char column[64];     /* the name of its column */
  char help[96];
} pprof_type;

/* A location: its frames in frames[first .. first + count - 1], the innermost
   first. */
typedef struct pprof_location {
  uint64_t id;
  uint64_t address;
  uint32_t first, count;
} pprof_location;

typedef struct pprof_function {
  uint64_t id;
  uint32_t name, file; /* names */
  int64_t start_line;
} pprof_function;

/* Things of the file by their id. */
typedef struct pprof_ids {
  uint32_t *slots; /* numbers, or UINT32_MAX: free */
  uint32_t mask;
  uint64_t seed; /* of the hashes: files cannot know it */
} pprof_ids;

/* Bytes from .. to-1 of the file. */
typedef struct pprof_range {
  size_t from, to;
} pprof_range;

#define PPROF_MAX_RANGES 64

typedef struct pprof_file {
  pf_bytes bytes;
  pf_bytes readable; /* up to where fields can be read */
  pprof_range
      ranges[PPROF_MAX_RANGES]; /* where fields stand that are no samples;
                                     the last one may hold some of these */
  size_t nranges;
  pf_bytes *strings;
  uint32_t nstrings;
  pprof_type types[PPROF_MAX_TYPES];
  size_t ntypes;
  bool has_too_many_types; /* there are more types than PPROF_MAX_TYPES */
  pprof_function *functions;
  uint32_t nfunctions;
  pprof_ids function_ids;
  pprof_location *locations;
  uint32_t nlocations;
  pprof_ids location_ids;
  uint32_t *direct; /* locations by id, where ids are small; or UINT32_MAX */
  size_t ndirect;
  uint32_t *frames; /* areas */
  uint32_t nframes;
  uint64_t nsamples, nfields, nlabels;
  pf_field fields[PPROF_MAX_TYPES + 1]; /* of table samples */
  pf_table tables[4];
} pprof_file;


/* A descent along the fields that are no samples: { 0 } to begin with. */
typedef struct pprof_meta_cursor {
  pf_cursor at;
  size_t run; /* the next one */
} pprof_meta_cursor;

/* The next field of it; some samples may be among them. */
static inline bool pprof_next_meta (const pprof_file *file,
                                    pprof_meta_cursor *meta,
                                    pprof_field *field) {
  while (!pprof_next_field(&meta->at, field)) {
    if (meta->run == file->nranges)
      return false;
    const pprof_range *const run = &file->ranges[meta->run++];
    meta->at = pf_cursor_over((pf_bytes){file->readable.at, run->to}, false);
    meta->at.at = run->from;
  }
  return true;
}

/* As pprof_find_location, for any id. */
uint32_t pprof_hash_location (const pprof_file *file, uint64_t id);

/* Find everything but the samples; PF_OK also for a damaged file, what can be
   read of it is known then. */
pf_status pprof_index (pf_trace *trace, pprof_file *file, pf_error *error);
void pprof_index_close (pprof_file *file);

/* A text of the file: one that is not there is empty, and a warning. */
pf_status pprof_string (pf_trace *trace, const pprof_file *file,
                        uint64_t number, uint64_t offset, pf_bytes *text,
                        pf_error *error);

/* The number of the location of an id, or UINT32_MAX. */
static inline uint32_t pprof_find_location (const pprof_file *file,
                                            uint64_t id) {
  return id < file->ndirect ? file->direct[id] : pprof_hash_location(file, id);
}


/* The values of a sample, as the file states them. */
typedef struct pprof_values {
  size_t count; /* as many as there are, also beyond the array */
  int64_t at[PPROF_MAX_TYPES];
} pprof_values;

/* Add those of a field. */
void pprof_read_values (pprof_values *values, const pprof_field *field);

/* Warn when they are not as many as there are types. */
pf_status pprof_check_values (pf_trace *trace, const pprof_file *file,
                              const pprof_values *values, size_t offset,
                              pf_error *error);

/* The value of a type in its unit; false: it is not there, or too large. */
bool pprof_value (const pprof_file *file, const pprof_values *values,
                  size_t type, int64_t *value);

/* The locations of a sample, leaf first: { 0 } to begin with, free(ids) at the
   end. False when out of memory. */
typedef struct pprof_id_list {
  uint64_t *ids;
  size_t count, capacity;
} pprof_id_list;

bool pprof_list_ids (pprof_id_list *list, pf_bytes message);

/* Warn of a location that is not there. */
pf_status pprof_warn_no_location (pf_trace *trace, uint64_t id, size_t offset,
                                  pf_error *error);

/* What reader->gather of table weights (no metrics wanted) and of table samples
   does. */
pf_status pprof_read_stacks (pf_trace *trace, const pf_gathering *to,
                             pf_error *error);

pf_status pprof_open_samples (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
pf_status pprof_open_weights (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
pf_status pprof_open_labels (pf_trace *trace, const pf_table *table,
                             pf_reader **reader, pf_error *error);
pf_status pprof_open_raw (pf_trace *trace, const pf_table *table,
                          pf_reader **reader, pf_error *error);

/* The schema of weights, which is also what is written: a row for each value
   of each sample. */
enum {
  WEIGHTS_STACK,
  WEIGHTS_METRIC,
  WEIGHTS_UNIT,
  WEIGHTS_WEIGHT,
  WEIGHTS_COLUMNS
};
extern const pf_field pprof_weights_fields[WEIGHTS_COLUMNS];

pf_status pprof_encoder (const pf_option *options, size_t noptions,
                         pf_dictionary *dictionary, pf_encoder **encoder,
                         pf_error *error);

#endif
