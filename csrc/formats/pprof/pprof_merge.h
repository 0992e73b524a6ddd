/*
** pprof_merge.h - profiles merged without a loss: what they refer to is interned,
** samples of equal locations and labels are added up. The rules are those of
** Go's pprof (profile/merge.go).
*/

#ifndef pprof_merged_h
#define pprof_merged_h

#include "formats/pprof/pprof_header.h"
#include "formats/pprof/pprof.h"
#include "model/interned.h"

/* A place in the program: its lines are lines[first .. first + nlines - 1]. */
typedef struct pprof_merged_location {
  uint64_t address;
  uint32_t mapping; /* from 1; 0: none */
  uint32_t first, nlines;
  uint32_t area; /* of its innermost line, for the order */
  bool is_folded;
} pprof_merged_location;

/*
** A sample is some words: how many locations, how many labels, the locations
** (the leaf first), then of each label LABEL_WORDS.
*/
enum {
  RECORD_LOCATIONS,
  RECORD_LABELS,
  RECORD_HEADER
};

enum {
  LABEL_KEY,
  LABEL_TEXT,
  LABEL_UNIT,
  LABEL_LOW, /* the number */
  LABEL_HIGH,
  LABEL_WORDS
};

/* A sample where it stands in a block. */
typedef struct pprof_sample {
  const uint32_t *record;
  int64_t *values; /* as many as there are types */
} pprof_sample;

/* Samples one after the other. */
typedef struct pprof_block {
  uint32_t *words;
  size_t nwords, word_capacity;
  size_t *records; /* by sample: where its words begin */
  size_t record_capacity;
  int64_t *values; /* ntypes for each sample */
  size_t value_capacity;
  uint32_t count;
  bool has_overflowed; /* a value was cut at the end of int64_t */
} pprof_block;

/* Numbers of functions, mappings and locations begin at 1 in the structs that
   refer to them, and are places in these arrays plus 1. */
typedef struct pprof_merged {
  pf_dictionary *dictionary; /* borrowed */
  pprof_header header;
  pprof_value_type *types; /* names */
  size_t ntypes;
  size_t nfiles;
  bool has_mappings; /* some file states one */

  pprof_mapping *mappings;
  pprof_function_message *functions;
  pprof_merged_location *locations;
  pprof_line *lines;
  size_t mapping_capacity, function_capacity, location_capacity, line_capacity;
  uint32_t nlines;
  pf_interned mapping_set, function_set, location_set; /* with the counts */

  pprof_sample *samples; /* in the order in which they are written */
  uint32_t nsamples;
  bool is_sorted;       /* all files are as profio exports them */
  pprof_block *blocks;  /* of files in order: the samples of each, */
  pprof_block unsorted; /* else those of all files, each once */
  bool has_overflowed;
} pprof_merged;

/* An id of a file, and the index that it stands for: that of an array of the
   file, or that of an entry of the merged profile. */
typedef struct pprof_id {
  uint64_t id;
  uint32_t number; /* from 1 */
} pprof_id;

typedef struct pprof_id_map {
  pprof_id *entries;
  size_t capacity;
  pf_interned set;
} pprof_id_map;

/* Translation between the entries of one file (functions, mappings, locations,
   sample types) and those of the merged profile. */
typedef struct pprof_translation {
  pprof_id_map function_ids; /* merged functions */
  pprof_id_map mapping_ids;  /* places in `mappings`, plus 1 */
  pprof_mapping *mappings;   /* of the file, with the numbers of the merged ones
                                in place of ids, or 0: not met so far */
  size_t mapping_capacity;
  uint32_t nmappings;
  pf_bytes *messages; /* of its locations, by number in the file */
  uint32_t
      *locations; /* by that number: the merged one, or 0: not met so far */
  uint32_t nlocations;
  size_t *types;    /* by merged type: the file's */
  int64_t *factors; /* what its values are multiplied by */
} pprof_translation;

pprof_merged *pprof_merged_new (pf_dictionary *dictionary);
void pprof_merged_free (pprof_merged *merged);

/* Add all of some traces of pprof, which have the dictionary of `merged`. Called
   once. PF_EUNSUPPORTED when they have no sample type in common. */
pf_status pprof_merged_add (pprof_merged *merged, pf_trace *const *traces,
                            size_t count, pf_error *error);

/* Write it, not packed. Facts that `given` states replace the merged ones. */
pf_status pprof_merged_write (pprof_merged *merged, const pprof_header *given,
                              pf_sink *sink, pf_error *error);


/* Shared by the files behind this header. */

/* Set merged->types and the header from all traces, and the types of each. */
pf_status pprof_merge_headers (pprof_merged *merged, pf_trace *const *traces,
                               size_t count, pprof_translation *translations,
                               pf_error *error);

/* Read the functions, mappings and locations of a file. */
pf_status pprof_read_tables (pprof_merged *merged, pf_trace *trace,
                             pprof_translation *translation, pf_error *error);
void pprof_translation_close (pprof_translation *translation);

/* The number of an id; 0: it is not known. */
uint32_t pprof_find_id (const pprof_id_map *map, uint64_t id);

/* The merged number, from 1, of a mapping; 0 when out of memory. Mappings of one
   size, offset and build id, or else name, are one. */
uint32_t pprof_intern_mapping (pprof_merged *merged,
                               const pprof_mapping *mapping);

/* Have the mappings that no sample refers to as well. */
pf_status pprof_merge_unused_mappings (pprof_merged *merged,
                                       pprof_translation *translation,
                                       pf_error *error);

/* The merged number of location `number` of a file, which is met now; 0 when out
   of memory. */
uint32_t pprof_merge_location (pprof_merged *merged, const pf_trace *trace,
                               pprof_translation *translation, uint32_t number);

/* Set merged->is_sorted to false where the locations of a file are not as
   profio writes them. */
pf_status pprof_check_locations (pprof_merged *merged, pf_trace *trace,
                                 pprof_translation *translation,
                                 pf_error *error);

/* Read the samples of all files that are in order, and merge them so; sets
   is_sorted to false, and has met nothing then, where they are not. */
pf_status pprof_merge_sorted (pprof_merged *merged, pf_trace *const *traces,
                              pprof_translation *translations, pf_error *error);

/* Add the samples of files one after the other, in the order in which they are
   met. */
pf_status pprof_merge_unsorted (pprof_merged *merged, pf_trace *const *traces,
                                pprof_translation *translations,
                                pf_error *error);

/* Have capacity for one more sample of so many words. False when out of memory. */
bool pprof_block_reserve (pprof_block *block, size_t words, size_t ntypes);
void pprof_block_close (pprof_block *block);

/* Add the values of a sample that was read to those it has in the block. */
void pprof_block_add (pprof_block *block, uint32_t sample, size_t ntypes,
                      const pprof_translation *translation,
                      const pprof_values *values);

/* Add a sample of the block to merged->samples, for which there is capacity. */
void pprof_append_sample (pprof_merged *merged, const pprof_block *block,
                          uint32_t sample);

#endif
