/*
** merge.h - merges profiles without loss. Used by encode_pprof.c.
**
** Functions, mappings and locations are interned; values of samples with equal
** locations and labels are added. The rules are those of Go's pprof
** (profile/merge.go). Call pprof_merged_new, pprof_merged_add once,
** pprof_merged_write, pprof_merged_free.
**
** In this header an entry number is an index + 1, and 0 stands for none.
**
** The caller owns the pprof_merged. The pprof_translation of each file exists
** only during pprof_merged_add. Traces are borrowed during that call.
*/

#ifndef merge_h
#define merge_h

#include "formats/pprof/header_pprof.h"
#include "formats/pprof/pprof.h"
#include "model/base/intern_table.h"

/* A merged location. Its lines are lines[first .. first + nlines - 1]. */
typedef struct pprof_merged_location {
  uint64_t address;
  uint32_t mapping; /* entry number */
  uint32_t first, nlines;
  uint32_t area; /* of its innermost line, for sorting */
  bool is_folded;
} pprof_merged_location;

/*
** A sample is a record of words: number of locations, number of labels, the
** locations (entry numbers, leaf first), then LABEL_WORDS for each label.
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
  LABEL_LOW, /* the number, 64 bits */
  LABEL_HIGH,
  LABEL_WORDS
};

/* A sample in a block. */
typedef struct pprof_sample {
  const uint32_t *record;
  int64_t *values; /* ntypes of them */
} pprof_sample;

/* An append-only array of samples. It owns its arrays. */
typedef struct pprof_block {
  uint32_t *words;
  size_t nwords, word_capacity;
  size_t *records; /* by sample: index of its first word */
  size_t record_capacity;
  int64_t *values; /* ntypes for each sample */
  size_t value_capacity;
  uint32_t count;
  bool has_overflowed; /* a value was limited to the range of int64_t */
} pprof_block;

/* A mapping of the merged profile. Mappings are equal if they have the same
   size, offset and build id, or else file name. */
typedef struct pprof_merged_mapping {
  uint64_t pages, offset, file;
  pprof_mapping first; /* of the equal ones */
} pprof_merged_mapping;

/* The merged profile. Functions, mappings and locations have entry numbers. */
typedef struct pprof_merged {
  pf_dictionary *dictionary; /* borrowed */
  pprof_header header;
  pprof_value_type *types; /* names in the dictionary */
  size_t ntypes;
  size_t nfiles;
  bool has_mappings; /* some file has one */

  pprof_merged_mapping *mappings;
  pprof_function_message *functions;
  pprof_merged_location *locations;
  pprof_line *lines;
  size_t mapping_capacity, function_capacity, location_capacity, line_capacity;
  uint32_t nlines;
  pf_intern_table mapping_set, function_set, location_set; /* hash tables; they
                                                          hold the counts of
                                                          the arrays */

  pprof_sample *samples; /* in output order; their records are in the blocks */
  uint32_t nsamples;
  bool is_sorted;       /* all files are sorted as profio exports them */
  pprof_block *blocks;  /* sorted files: those of the files before, then those
                           of each file of a group */
  pprof_block unsorted; /* else the samples of all files, each once */
  bool has_overflowed;
} pprof_merged;

/* A mapping of a file. */
typedef struct pprof_file_mapping {
  pprof_mapping stated;
  uint32_t merged; /* entry number in the merged profile, 0: not merged yet */
} pprof_file_mapping;

/* A file, and the mapping from its entries to those of the merged profile. */
typedef struct pprof_translation {
  pf_trace *trace;
  const pprof_file *file; /* of the trace */
  uint32_t *functions;    /* entry numbers by index in the file */
  pprof_file_mapping *mappings;
  size_t mapping_capacity;
  uint32_t nmappings;
  pf_intern_table mapping_ids; /* hash table of the ids of `mappings` */
  uint32_t
      *locations;   /* entry numbers by index in the file, 0: not merged yet */
  size_t *types;    /* index in the file by merged type */
  int64_t *factors; /* factors of the values by merged type */
} pprof_translation;

pprof_merged *pprof_merged_new (pf_dictionary *dictionary);
void pprof_merged_free (pprof_merged *merged);

/* Merge traces of the format pprof that share the dictionary of `merged`.
   Returns PF_EUNSUPPORTED if they share no sample type, have different period
   types, or a sum exceeds 64 bits; PF_ENOMEM, PF_ELIMIT; in a strict trace the
   failure for damage. */
pf_status pprof_merged_add (pprof_merged *merged, pf_trace *const *traces,
                            size_t count, pf_error *error);

/* Write the profile without compression. The time, duration and period of
   `given` replace the merged ones, unless they are 0. Returns PF_ENOMEM or the
   failure of the sink. */
pf_status pprof_merged_write (pprof_merged *merged, const pprof_header *given,
                              pf_sink *sink, pf_error *error);


#define PPROF_GROUP 32 /* sorted files that are read before they are merged */

/* Functions of merge*.c */

/* Read the functions and mappings of a file, and allocate the arrays. Clear
   is_sorted if profio does not write such functions. */
pf_status pprof_read_tables (pprof_merged *merged,
                             pprof_translation *translation, pf_error *error);
void pprof_translation_close (pprof_translation *translation);

/* Returns the entry number of a mapping, added if it is new; 0 if out of
   memory. */
uint32_t pprof_intern_mapping (pprof_merged *merged,
                               const pprof_mapping *mapping);

/* Returns the merged entry number of location `number` (an index in the file),
   which is added at the first call; 0 if out of memory. */
uint32_t pprof_merge_location (pprof_merged *merged,
                               pprof_translation *translation, uint32_t number);

/* Clear is_sorted if the locations of a file are not as profio writes them.
   PF_ENOMEM. */
pf_status pprof_check_locations (pprof_merged *merged,
                                 pprof_translation *translation,
                                 pf_error *error);

/* Read the samples of sorted files and merge them. If a file is not sorted,
   clear merged->is_sorted and undo the merge of locations. */
pf_status pprof_merge_sorted (pprof_merged *merged,
                              pprof_translation *translations, pf_error *error);

/* Add the samples of all files in input order. */
pf_status pprof_merge_unsorted (pprof_merged *merged,
                                pprof_translation *translations,
                                pf_error *error);

/* Reserve space for a sample of so many words. Returns false if out of
   memory. */
bool pprof_block_reserve (pprof_block *block, size_t words, size_t ntypes);
void pprof_block_close (pprof_block *block);

/* Add the values of a sample of the file to those of a sample in the block.
   Missing values count as 0. */
void pprof_block_add (pprof_block *block, uint32_t sample, size_t ntypes,
                      const pprof_translation *translation,
                      const pprof_values *values);

/* Append a sample of the block to merged->samples, which must have space. */
void pprof_append_sample (pprof_merged *merged, const pprof_block *block,
                          uint32_t sample);

#endif
