/*
** pprof_put.h - fields and messages of a profile that is written, and its string
** table: names of the dictionary get indexes there when they are first asked
** for. The sink keeps failures.
*/

#ifndef pprof_put_h
#define pprof_put_h

#include "bytes/sink.h"
#include "formats/pprof/pprof_messages.h"
#include "model/names.h"

/* Fields of Profile. */
enum {
  PPROF_SAMPLE_TYPE = 1,
  PPROF_SAMPLE = 2,
  PPROF_MAPPING = 3,
  PPROF_LOCATION = 4,
  PPROF_FUNCTION = 5,
  PPROF_STRING = 6,
  PPROF_DROP_FRAMES = 7,
  PPROF_KEEP_FRAMES = 8,
  PPROF_TIME_NANOS = 9,
  PPROF_DURATION_NANOS = 10,
  PPROF_PERIOD_TYPE = 11,
  PPROF_PERIOD = 12,
  PPROF_COMMENT = 13,
  PPROF_DEFAULT_TYPE = 14,
  PPROF_DOC_URL = 15
};

#define PPROF_VARINT_SIZE 10 /* bytes of a number, at maximum */

static inline size_t pprof_varint_size (uint64_t value) {
  const size_t bits = 64 - (size_t)__builtin_clzll(value | 1);
  return (bits + 6) / 7;
}


/* Write a number at `to`; returns the message after it. */
static inline uint8_t *pprof_write_varint (uint8_t *to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    *to++ = (uint8_t)(value | 0x80);
  *to++ = (uint8_t)value;
  return to;
}


/* Write the tag and the size of a message, whose field number is below 16;
   returns the message after them, which is at maximum 1 + PPROF_VARINT_SIZE bytes
   further. */
static inline uint8_t *pprof_write_message (uint8_t *to, unsigned number,
                                            size_t size) {
  *to++ = (uint8_t)(number << 3 | PPROF_BYTES);
  return pprof_write_varint(to, size);
}


/* The tag and the size of a message. */
void pprof_put_message (pf_sink *sink, unsigned number, size_t size);

/* A number, left out when it is 0, as protocol buffers do. */
void pprof_put_number (pf_sink *sink, unsigned number, uint64_t value);

/* Bytes that such a number takes, with its tag. */
static inline size_t pprof_number_size (uint64_t value) {
  return value == 0 ? 0 : 1 + pprof_varint_size(value); /* tags below 16 */
}


typedef struct pprof_strings {
  pf_dictionary *dictionary; /* borrowed */
  uint32_t *indexes;         /* by name: its number, or 0 */
  size_t capacity;
  uint32_t *names; /* by number, from 1: the name */
  size_t count, names_capacity;
  bool failed; /* memory was short: what is written is not to be used */
} pprof_strings;

/* The number of a name; 0 of PF_NO_NAME and of the empty text. */
uint64_t pprof_string_index (pprof_strings *strings, uint32_t name);

/* Write all of them. */
void pprof_put_strings (const pprof_strings *strings, pf_sink *sink);

void pprof_strings_close (pprof_strings *strings);


void pprof_put_value_type (pf_sink *sink, pprof_strings *strings,
                           unsigned number, const pprof_value_type *type);
void pprof_put_mapping (pf_sink *sink, pprof_strings *strings,
                        const pprof_mapping *mapping);
void pprof_put_function (pf_sink *sink, pprof_strings *strings,
                         const pprof_function_message *function);

/* A message in the program. Its lines are called `functions` by their id. */
typedef struct pprof_location_message {
  uint64_t id, mapping, address;
  bool is_folded;
  const pprof_line *lines; /* the innermost first */
  size_t nlines;
} pprof_location_message;

void pprof_put_location (pf_sink *sink, const pprof_location_message *message);

#endif
