/*
** put.h - writes the fields, messages and string table of a profile. Used
** by write_pprof.c, header_pprof.c and merge_write.c.
**
** A pprof_strings with only the dictionary set is empty. Names get an index at
** their first use; pprof_put_strings writes the table after all other fields;
** pprof_strings_close frees it. The sink keeps its first failure.
*/

#ifndef put_h
#define put_h

#include "bytes/sink.h"
#include "formats/pprof/wire.h"
#include "model/dictionary/names.h"

static inline size_t pprof_varint_size (uint64_t value) {
  const size_t bits = 64 - (size_t)__builtin_clzll(value | 1);
  return (bits + 6) / 7;
}


/* Write a number field; 0 is omitted, as protocol buffers do. */
void pprof_put_number (pf_sink *sink, unsigned number, uint64_t value);

/* Returns the size of a number field with its tag. */
static inline size_t pprof_number_size (uint64_t value) {
  return value == 0 ? 0 : 1 + pprof_varint_size(value); /* 1-byte tags */
}

/* Write a message whose fields 1, 2, ... are numbers; return the size of these
   fields. */
void pprof_put_numbers (pf_sink *sink, unsigned number, const uint64_t *values,
                        size_t count);
size_t pprof_numbers_size (const uint64_t *values, size_t count);


typedef struct pprof_strings {
  pf_dictionary *dictionary; /* borrowed */
  uint32_t *indexes;         /* string index by name, 0: none yet */
  size_t capacity;
  uint32_t *names; /* name by string index - 1 */
  size_t count, names_capacity;
  bool failed; /* out of memory: the output is not usable */
} pprof_strings;

/* Returns the string index of a name, assigned at the first call; 0 for
   PF_NO_NAME, the empty text, and if out of memory. */
uint64_t pprof_string_index (pprof_strings *strings, uint32_t name);

/* Write the string table. */
void pprof_put_strings (const pprof_strings *strings, pf_sink *sink);

void pprof_strings_close (pprof_strings *strings);


/* Write a ValueType, Mapping or Function (wire.h) as field `number` of Profile;
   its strings are names. */
void pprof_put_record (pf_sink *sink, pprof_strings *strings, unsigned number,
                       const void *message);

/* Write a sample with its location ids and values, which are packed. Its size
   includes `rest` bytes of labels, which the caller writes next. */
void pprof_put_sample (pf_sink *sink, pf_bytes ids, pf_bytes values,
                       size_t rest);

/* A Location. Its lines refer to functions by id. */
typedef struct pprof_location_message {
  uint64_t id, mapping, address;
  bool is_folded;
  const pprof_line *lines; /* innermost first */
  size_t nlines;
} pprof_location_message;

void pprof_put_location (pf_sink *sink, const pprof_location_message *message);

#endif
