/*
** wire.h - reads the fields of a protocol buffer, and the small messages of a
** profile, which put.h writes. Used by all files of the format. Source: the
** protocol buffers encoding specification. Nothing is allocated: fields point
** into the bytes.
*/

#ifndef wire_h
#define wire_h

#include <string.h>

#include "bytes/cursor.h"

typedef enum pprof_wire {
  PPROF_VARINT = 0,
  PPROF_FIXED64 = 1,
  PPROF_BYTES = 2,
  PPROF_FIXED32 = 5
} pprof_wire;

/* Field numbers of Profile. */
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

/* A field. `at` is the offset of its tag in the slice of the cursor. */
typedef struct pprof_field {
  uint64_t number;
  unsigned wire;
  uint64_t value; /* wire types 0, 1 and 5 */
  pf_bytes bytes; /* wire type 2 */
  size_t at;
} pprof_field;


/* wire.c: read the next field, whatever its type and size. Returns false at the
   end, and at an invalid field without moving the cursor. */
bool pprof_next_long_field (pf_cursor *c, pprof_field *field);

/* The same. Most fields are read without a call: they have bytes, with a tag
   and a size of one byte each. Numbers and long fields are read through copies,
   so that the caller's variables can be in registers. */
static inline bool pprof_next_field (pf_cursor *c, pprof_field *field) {
  const size_t left = pf_left(c);
  if (left == 0)
    return false;
  const uint8_t *const from = c->bytes.at + c->at;
  if (left == 1 || (from[0] & 0x87) != PPROF_BYTES || from[0] < 8 ||
      from[1] >= 0x80 || from[1] > left - 2) {
    pf_cursor at = *c;
    pprof_field other;
    const bool ok = pprof_next_long_field(&at, &other);
    *c = at;
    *field = other;
    return ok;
  }
  *field =
      (pprof_field){from[0] >> 3, PPROF_BYTES, 0, {from + 2, from[1]}, c->at};
  c->at += 2 + (size_t)from[1];
  return true;
}


/* The values of a repeated number field, which may be packed into one field. */
typedef struct pprof_numbers {
  pf_cursor packed;
  uint64_t single;
  bool has_single;
} pprof_numbers;


static inline pprof_numbers pprof_numbers_of (const pprof_field *field) {
  const bool is_packed = field->wire == PPROF_BYTES;
  return (pprof_numbers){{field->bytes, 0, false}, field->value, !is_packed};
}


/* Get the next value. Returns false at the end and at an invalid varint; there
   pprof_numbers_end returns false. */
static inline bool pprof_next_number (pprof_numbers *numbers, uint64_t *value) {
  if (!numbers->has_single)
    return pf_take_varint(&numbers->packed, value);
  numbers->has_single = false;
  *value = numbers->single;
  return true;
}


/* Whether all bytes of the field have been read. */
static inline bool pprof_numbers_end (const pprof_numbers *numbers) {
  return pf_left(&numbers->packed) == 0;
}


/* Small messages: the members, all of 64 bits, are the fields 1, 2, ... Strings
   are indexes into the string table of the file, or names in the dictionary
   where the merge and the writer say so. */

typedef struct pprof_value_type {
  uint64_t type, unit; /* strings */
} pprof_value_type;

typedef struct pprof_mapping {
  uint64_t id;
  uint64_t start, limit, offset; /* addresses; offset in the file */
  uint64_t file, build_id;       /* strings */
  uint64_t has[4]; /* functions, file names, line numbers, inlined frames */
} pprof_mapping;

typedef struct pprof_function_message {
  uint64_t id;
  uint64_t name, system_name, file; /* strings */
  int64_t start_line;
} pprof_function_message;

typedef struct pprof_line {
  uint64_t function; /* id */
  int64_t line, column;
} pprof_line;

typedef struct pprof_label {
  uint64_t key, text; /* strings; text 0: `number` is the value */
  int64_t number;
  uint64_t unit; /* string */
} pprof_label;

/* Read a small message into a struct of `size` bytes. If a field repeats, the
   last one counts; missing fields are 0, unknown ones are skipped. Reading ends
   at an invalid field; false is returned then. */
static inline bool pprof_read_message (pf_bytes bytes, void *message,
                                       size_t size) {
  pf_cursor c = pf_cursor_over(bytes, false);
  pprof_field field;
  memset(message, 0, size);
  while (pprof_next_field(&c, &field))
    if (field.number <= size / 8 && field.wire != PPROF_BYTES)
      memcpy((uint8_t *)message + 8 * (field.number - 1), &field.value, 8);
  return pf_left(&c) == 0;
}

#endif
