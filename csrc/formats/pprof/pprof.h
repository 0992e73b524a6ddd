/*
** pprof.h - types and functions that the readers of the format pprof share:
** profile.proto, the profile of Go's tools, gzipped or plain. Other code uses
** pf_format_pprof and write_pprof.h.
**
** A protocol buffer is a sequence of fields. A field is a varint tag (field
** number * 8 + wire type) and a value: a varint (wire type 0), 8 bytes (1), a
** varint length and so many bytes (2), or 4 bytes (5). A varint has 7 bits in
** each byte, the low ones first. Repeated numbers may be packed into one value
** of wire type 2.
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
** Strings are indexes into string_table, whose first entry is "". The locations
** of a sample are listed leaf first, the lines of a location innermost first
** (the others are its inlined callers). Ids are arbitrary numbers except 0.
**
** At open pprof_index reads the strings, sample types, functions and locations
** into a pprof_file, which the trace owns (pf_trace.state) until
** pprof_index_close. Readers then scan the samples. Warnings of damage have
** codes "pprof-...".
**
**   wire.h, wire.c     fields
**   open_pprof.c       the format: score, info, tables
**   index.c            strings, types, functions and locations, read once
**   address_names.c    names of addresses, by the symbols of an executable
**   samples_pprof.c    reads the samples one by one
**   rows_pprof.c       the readers of the tables
**   stacks_pprof.c     the bulk read of stacks
**   put.c              writes fields, messages and the string table
**   header_pprof.c     attributes of a profile; units
**   encode_pprof.c     the encoder: rows or whole traces
**   merge*.c           merges whole traces without loss
**   write_pprof.c      writes contexts as a profile
*/

#ifndef pprof_h
#define pprof_h

#include "formats/pprof/wire.h"
#include "model/base/id_table.h"
#include "model/rows/batch.h"
#include "model/dictionary/stacks.h"
#include "model/rows/abilities.h"
#include "model/rows/trace.h"

#define PPROF_MAX_TYPES 4096 /* more sample types give a warning */

/* A sample type: the meaning of one value of each sample. */
typedef struct pprof_type {
  uint32_t name, unit; /* names in the dictionary */
  int64_t scale;       /* nanoseconds per unit of time; 1 for other units */
  char column[64];     /* name of its column in table samples */
  char help[96];
} pprof_type;

/* A location. Its frames are pprof_file.frames[first .. first + count - 1], the
   innermost first. */
typedef struct pprof_location {
  pf_bytes message;
  uint32_t first, count;
} pprof_location;

typedef struct pprof_function {
  uint32_t name, file; /* names in the dictionary */
  int64_t start_line;
} pprof_function;

/* The ids of messages of one kind, numbered in the order of the file. Ids that
   count up from 1, as those of most files do, are not in the table. */
typedef struct pprof_ids {
  uint32_t nfirst;    /* ids 1 .. nfirst have the numbers 0 .. nfirst - 1 */
  pf_id_table others; /* number minus nfirst, by id */
} pprof_ids;

/* Returns the number of an id, or PF_NO_ID. */
static inline uint32_t pprof_find_id (const pprof_ids *ids, uint64_t id) {
  if (id - 1 < ids->nfirst)
    return (uint32_t)(id - 1);
  const uint32_t other = pf_id_table_find(&ids->others, id);
  return other == PF_NO_ID ? PF_NO_ID : ids->nfirst + other;
}

/* The bytes `from` .. `to` - 1 of the file. `fields`: PPROF_BIT of each field
   that is in them. */
typedef struct pprof_range {
  size_t from, to;
  uint32_t fields;
} pprof_range;

#define PPROF_MAX_RANGES  64
#define PPROF_BIT(number) ((uint32_t)1 << ((number) < 31 ? (number) : 31))

/* The fields of a profile that are neither its samples nor its tables. */
#define PPROF_HEADER                                       \
  (~(PPROF_BIT(PPROF_SAMPLE) | PPROF_BIT(PPROF_LOCATION) | \
     PPROF_BIT(PPROF_FUNCTION) | PPROF_BIT(PPROF_STRING)))

/* A mapping, read only if there are symbols. */
typedef struct pprof_stated_mapping {
  uint64_t id, start, limit, offset;
  bool is_program; /* of the executable whose symbols the trace has */
} pprof_stated_mapping;

typedef struct pprof_file {
  pf_bytes bytes;    /* of the source, borrowed */
  pf_bytes readable; /* the bytes up to the last complete field */
  /* Ranges of fields other than samples; the last one may contain samples. */
  pprof_range ranges[PPROF_MAX_RANGES];
  size_t nranges;
  pf_bytes *strings; /* owned, as are all arrays; the texts are in `bytes` */
  uint32_t nstrings;
  pprof_type *types;
  size_t ntypes, type_capacity;
  bool has_scaled_types; /* there are times in other units than ns */
  size_t nstated_types;  /* with those after the first PPROF_MAX_TYPES */
  pprof_function *functions;
  uint32_t nfunctions;
  pprof_ids function_ids; /* numbers are indexes of `functions` */
  pprof_location *locations;
  uint32_t nlocations;
  uint32_t naddresses;    /* of locations with lines, which are their frames */
  pprof_ids location_ids; /* numbers are indexes of `locations` */
  uint32_t *frames;       /* areas of the dictionary */
  uint32_t nframes;
  uint64_t nsamples, nfields, nlabels;
  /* Of address_names.c: */
  pprof_stated_mapping *mappings;
  size_t nmappings, mapping_capacity;
  bool has_bare_locations;   /* some have no lines */
  bool has_program;          /* a mapping is that of the executable */
  pf_bytes other_mapping;    /* path of the first one that is not */
  uint64_t nnamed, nunnamed; /* addresses of the executable */
  pf_field *fields;          /* schema of table samples; set at the end */
  pf_table tables[4];
} pprof_file;


/* An iterator over the fields other than samples; { wanted } starts it. */
typedef struct pprof_meta_cursor {
  uint32_t wanted; /* PPROF_BIT of the wanted fields, or PPROF_HEADER */
  pf_cursor at;
  size_t next_range; /* index of the next range */
} pprof_meta_cursor;

/* Read the next field of the ranges that contain wanted fields. The caller
   skips the other fields of these ranges. Returns false at the end. */
static inline bool pprof_next_meta (const pprof_file *file,
                                    pprof_meta_cursor *meta,
                                    pprof_field *field) {
  while (!pprof_next_field(&meta->at, field)) {
    if (meta->next_range == file->nranges)
      return false;
    const pprof_range *const range = &file->ranges[meta->next_range++];
    if ((range->fields & meta->wanted) == 0)
      continue;
    meta->at = pf_cursor_over((pf_bytes){file->readable.at, range->to}, false);
    meta->at.at = range->from;
  }
  return true;
}

/* Read the strings, sample types, functions and locations, and count the
   samples. Returns PF_OK also for a damaged file, with what could be read,
   unless the option `strict` is set; PF_ENOMEM or PF_ELIMIT. Call
   pprof_index_close in any case. */
pf_status pprof_index (pf_trace *trace, pprof_file *file, pf_error *error);
void pprof_index_close (pprof_file *file);

/* Get a string of trace->state by its index. An unknown index gives "" and a
   warning, which is the failure of a strict trace. */
pf_status pprof_string (pf_trace *trace, uint64_t number, uint64_t offset,
                        pf_bytes *text, pf_error *error);

/* The same as a name of the dictionary; PF_NO_NAME for string 0. PF_ENOMEM. */
pf_status pprof_name_or_none (pf_trace *trace, uint64_t number, uint64_t offset,
                              uint32_t *name, pf_error *error);

/* address_names.c: adds a mapping. PF_ENOMEM, or the failure of a warning. */
pf_status pprof_add_mapping (pf_trace *trace, pprof_file *file,
                             const pprof_field *message, pf_error *error);

/* Sets name, file and line of the frame of an address if the symbols of the
   trace have a function there. `mapping`: the id of its mapping, or 0. */
void pprof_name_address (pf_trace *trace, pprof_file *file, uint64_t mapping,
                         uint64_t address, pf_area *area);

/* Notes why addresses have no names. */
pf_status pprof_note_names (pf_trace *trace, const pprof_file *file,
                            pf_error *error);

/* Unless a message was read to its end, warn that it has bytes that are no
   field or number. `offset` is that of the field of Profile with the message,
   which has one such warning. */
pf_status pprof_check_end (pf_trace *trace, bool is_end, uint64_t offset,
                           pf_error *error);


/* The values of a sample as stated; free `at` at the end. */
typedef struct pprof_values {
  size_t count; /* may exceed PPROF_MAX_TYPES, the most that are in `at` */
  size_t capacity;
  int64_t *at;
  bool is_damaged; /* the sample has bytes that are no field or number */
} pprof_values;

/* Append the values of a field, packed or single; sets is_damaged at an invalid
   number. False if out of memory. */
bool pprof_read_values (pprof_values *values, const pprof_field *field);

/* Warn if the sample is damaged, or if the number of values differs from the
   number of stated sample types. */
pf_status pprof_check_values (pf_trace *trace, const pprof_file *file,
                              const pprof_values *values, size_t offset,
                              pf_error *error);

/* Get a value, times in nanoseconds. Returns false if it is missing or does not
   fit into 64 bits. */
bool pprof_value (const pprof_file *file, const pprof_values *values,
                  size_t type, int64_t *value);

/* Warn of an unknown location id. */
pf_status pprof_warn_no_location (pf_trace *trace, uint64_t id, size_t offset,
                                  pf_error *error);

/* The samples of a file. Set `trace`, `file` and `at`; close them at the
   end. */
typedef struct pprof_samples {
  pf_trace *trace;
  const pprof_file *file;
  pf_cursor at;
  pprof_values values; /* of the sample, as are its frames: */
  uint32_t *frames;    /* indexes in file->frames, outermost first */
  size_t depth, frame_capacity;
  size_t same;   /* at least so many outer frames are those of the previous
                    sample */
  uint64_t *ids; /* scratch: locations of the sample, leaf first, without the
                    outer ones that the previous sample has too */
  size_t nids, id_capacity;
  pf_bytes packed; /* ids of the sample, if the next one may share them */
  uint32_t
      *depths; /* by number of outer locations: how many frames they have */
  size_t ndepths, depths_capacity; /* ndepths: outer locations in `depths` */
} pprof_samples;

/* Read the next sample. Returns PF_MORE, PF_END, or a failure. */
pf_status pprof_next_sample (pprof_samples *samples, pf_error *error);
void pprof_samples_close (pprof_samples *samples);

/* Bulk read of the stacks of table weights (no columns given) or table samples:
   pf_abilities.read_stacks. */
pf_status pprof_read_stacks (pf_trace *trace, const pf_stack_target *to,
                             pf_error *error);

/* Open a reader of table samples or weights. */
pf_status pprof_open_samples (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
extern const pf_table pprof_labels_table, pprof_raw_table; /* rows is not set */

/* The schema of table weights, which the encoder accepts: one row for each
   value of each sample. */
#define WEIGHTS_LIST(X, T)                                \
  X(T, stack, STACK, "call stack of the sample")          \
  X(T, metric, NAME, "name of the metric")                \
  X(T, unit, NAME, "unit of the weight; times are in ns") \
  X(T, weight, INT, "value in that unit")
PF_COLUMN_INDEXES(WEIGHTS);
extern const pf_field pprof_weights_fields[WEIGHTS_COLUMNS];

pf_status pprof_encoder (const pf_option *options, size_t noptions,
                         pf_dictionary *dictionary, pf_encoder **encoder,
                         pf_error *error);

#endif
