/*
** put.c - writes fields and messages. The size of a message precedes it,
** so it is computed first.
*/

#include "formats/pprof/put.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"


static void put_varint (pf_sink *sink, uint64_t value) {
  uint8_t bytes[PF_VARINT_SIZE];
  const uint8_t *const end = pf_save_varint(bytes, value);
  (void)pf_sink_put(sink, bytes, (size_t)(end - bytes));
}


/* Write tag and size of a message. */
static void put_message (pf_sink *sink, unsigned number, size_t size) {
  put_varint(sink, (uint64_t)number << 3 | PPROF_BYTES);
  put_varint(sink, size);
}


void pprof_put_number (pf_sink *sink, unsigned number, uint64_t value) {
  if (value == 0)
    return;
  put_varint(sink, (uint64_t)number << 3); /* wire type 0: varint */
  put_varint(sink, value);
}


uint64_t pprof_string_index (pprof_strings *t, uint32_t name) {
  if (name == PF_NO_NAME || pf_name(t->dictionary, name).size == 0)
    return 0;
  if (name < t->capacity && t->indexes[name] != 0)
    return t->indexes[name];
  if (!pf_grow_filled(&t->indexes, &t->capacity, (size_t)name + 1, 0) ||
      !pf_grow(&t->names, &t->names_capacity, t->count + 1)) {
    t->failed = true;
    return 0;
  }
  t->names[t->count++] = name;
  return t->indexes[name] = (uint32_t)t->count;
}


void pprof_put_strings (const pprof_strings *t, pf_sink *sink) {
  put_message(sink, PPROF_STRING, 0);
  for (size_t i = 0; i < t->count; i++) {
    const pf_bytes text = pf_name(t->dictionary, t->names[i]);
    put_message(sink, PPROF_STRING, text.size);
    (void)pf_sink_put(sink, text.at, text.size);
  }
}


void pprof_strings_close (pprof_strings *t) {
  free(t->indexes);
  free(t->names);
}


size_t pprof_numbers_size (const uint64_t *values, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++)
    size += pprof_number_size(values[i]);
  return size;
}


void pprof_put_numbers (pf_sink *sink, unsigned number, const uint64_t *values,
                        size_t count) {
  put_message(sink, number, pprof_numbers_size(values, count));
  for (size_t i = 0; i < count; i++)
    pprof_put_number(sink, (unsigned)i + 1, values[i]);
}


void pprof_put_record (pf_sink *sink, pprof_strings *strings, unsigned number,
                       const void *message) {
  static const struct {
    size_t count;
    unsigned texts; /* a bit for each member that is a name */
  } members[] = {[PPROF_SAMPLE_TYPE] = {2, 0x3},
                 [PPROF_PERIOD_TYPE] = {2, 0x3},
                 [PPROF_MAPPING] = {10, 0x30},
                 [PPROF_FUNCTION] = {5, 0xe}};
  const size_t count = members[number].count;
  uint64_t values[10];
  memcpy(values, message, count * sizeof *values);
  for (size_t i = 0; i < count; i++)
    if ((members[number].texts >> i & 1) != 0)
      values[i] = pprof_string_index(strings, (uint32_t)values[i]);
  pprof_put_numbers(sink, number, values, count);
}


void pprof_put_location (pf_sink *sink, const pprof_location_message *message) {
  uint64_t line[3];
  const uint64_t values[3] = {message->id, message->mapping, message->address};
  size_t size =
      pprof_numbers_size(values, 3) + pprof_number_size(message->is_folded);
  for (size_t i = 0; i < message->nlines; i++) {
    memcpy(line, &message->lines[i], sizeof line);
    const size_t inner = pprof_numbers_size(line, 3);
    size += 1 + pprof_varint_size(inner) + inner;
  }
  put_message(sink, PPROF_LOCATION, size);
  for (unsigned i = 0; i < 3; i++)
    pprof_put_number(sink, i + 1, values[i]);
  for (size_t i = 0; i < message->nlines; i++) {
    memcpy(line, &message->lines[i], sizeof line);
    pprof_put_numbers(sink, 4, line, 3);
  }
  pprof_put_number(sink, 5, message->is_folded);
}


/* Write tag and size of a message to memory; the field number is below 16.
   Returns the end, at most 1 + PF_VARINT_SIZE bytes further. */
static uint8_t *write_message (uint8_t *to, unsigned number, size_t size) {
  *to++ = (uint8_t)(number << 3 | PPROF_BYTES);
  return pf_save_varint(to, size);
}


void pprof_put_sample (pf_sink *sink, pf_bytes ids, pf_bytes values,
                       size_t rest) {
  uint8_t header[3 * (1 + PF_VARINT_SIZE)];
  const size_t id_field =
      ids.size == 0 ? 0 : 1 + pprof_varint_size(ids.size) + ids.size;
  uint8_t *at = write_message(header, PPROF_SAMPLE,
                              id_field + 1 + pprof_varint_size(values.size) +
                                  values.size + rest);
  if (ids.size > 0) {
    at = write_message(at, 1, ids.size);
    (void)pf_sink_put(sink, header, (size_t)(at - header));
    (void)pf_sink_put(sink, ids.at, ids.size);
    at = header;
  }
  at = write_message(at, 2, values.size);
  (void)pf_sink_put(sink, header, (size_t)(at - header));
  (void)pf_sink_put(sink, values.at, values.size);
}
