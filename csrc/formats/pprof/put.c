/*
** put.c - writes fields and messages. The size of a message precedes it,
** so it is computed first.
*/

#include "formats/pprof/put.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"


static void put_varint (pf_sink *sink, uint64_t value) {
  uint8_t bytes[PPROF_VARINT_SIZE];
  const uint8_t *const end = pprof_write_varint(bytes, value);
  (void)pf_sink_put(sink, bytes, (size_t)(end - bytes));
}


void pprof_put_message (pf_sink *sink, unsigned number, size_t size) {
  put_varint(sink, (uint64_t)number << 3 | PPROF_BYTES);
  put_varint(sink, size);
}


void pprof_put_number (pf_sink *sink, unsigned number, uint64_t value) {
  if (value == 0)
    return;
  put_varint(sink, (uint64_t)number << 3); /* wire type 0: varint */
  put_varint(sink, value);
}


/* {====== String table ====== */

/* Reserve space for the index of a name and for one more string. */
static bool reserve (pprof_strings *t, uint32_t name) {
  return pf_grow_filled(&t->indexes, &t->capacity, (size_t)name + 1, 0) &&
         pf_grow(&t->names, &t->names_capacity, t->count + 1);
}


uint64_t pprof_string_index (pprof_strings *t, uint32_t name) {
  if (name == PF_NO_NAME || pf_name(t->dictionary, name).size == 0)
    return 0;
  if (name < t->capacity && t->indexes[name] != 0)
    return t->indexes[name];
  if (!reserve(t, name)) {
    t->failed = true;
    return 0;
  }
  t->names[t->count++] = name;
  return t->indexes[name] = (uint32_t)t->count;
}


static void put_text (pf_sink *sink, pf_bytes text) {
  pprof_put_message(sink, PPROF_STRING, text.size);
  (void)pf_sink_put(sink, text.at, text.size);
}


void pprof_put_strings (const pprof_strings *t, pf_sink *sink) {
  put_text(sink, (pf_bytes){(const uint8_t *)"", 0});
  for (size_t i = 0; i < t->count; i++)
    put_text(sink, pf_name(t->dictionary, t->names[i]));
}


void pprof_strings_close (pprof_strings *t) {
  free(t->indexes);
  free(t->names);
}

/* }====== */


/* Write a message whose fields 1, 2, ... are numbers. */
static void put_numbers (pf_sink *sink, unsigned number, const uint64_t *values,
                         size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++)
    size += pprof_number_size(values[i]);
  pprof_put_message(sink, number, size);
  for (size_t i = 0; i < count; i++)
    pprof_put_number(sink, (unsigned)i + 1, values[i]);
}


void pprof_put_value_type (pf_sink *sink, pprof_strings *strings,
                           unsigned number, const pprof_value_type *type) {
  uint64_t values[2];
  values[0] = pprof_string_index(strings, (uint32_t)type->type);
  values[1] = pprof_string_index(strings, (uint32_t)type->unit);
  put_numbers(sink, number, values, 2);
}


void pprof_put_mapping (pf_sink *sink, pprof_strings *strings,
                        const pprof_mapping *m) {
  uint64_t values[10] = {m->id, m->start, m->limit, m->offset};
  values[4] = pprof_string_index(strings, (uint32_t)m->file);
  values[5] = pprof_string_index(strings, (uint32_t)m->build_id);
  for (size_t i = 0; i < 4; i++)
    values[6 + i] = m->has[i];
  put_numbers(sink, PPROF_MAPPING, values, 10);
}


void pprof_put_function (pf_sink *sink, pprof_strings *strings,
                         const pprof_function_message *f) {
  uint64_t values[5] = {f->id};
  values[1] = pprof_string_index(strings, (uint32_t)f->name);
  values[2] = pprof_string_index(strings, (uint32_t)f->system_name);
  values[3] = pprof_string_index(strings, (uint32_t)f->file);
  values[4] = (uint64_t)f->start_line;
  put_numbers(sink, PPROF_FUNCTION, values, 5);
}


static size_t line_size (const pprof_line *line) {
  return pprof_number_size(line->function) +
         pprof_number_size((uint64_t)line->line) +
         pprof_number_size((uint64_t)line->column);
}


void pprof_put_location (pf_sink *sink, const pprof_location_message *message) {
  size_t size = pprof_number_size(message->id) +
                pprof_number_size(message->mapping) +
                pprof_number_size(message->address) +
                pprof_number_size(message->is_folded);
  for (size_t i = 0; i < message->nlines; i++) {
    const size_t inner = line_size(&message->lines[i]);
    size += 1 + pprof_varint_size(inner) + inner;
  }
  pprof_put_message(sink, PPROF_LOCATION, size);
  pprof_put_number(sink, 1, message->id);
  pprof_put_number(sink, 2, message->mapping);
  pprof_put_number(sink, 3, message->address);
  for (size_t i = 0; i < message->nlines; i++) {
    pprof_put_message(sink, 4, line_size(&message->lines[i]));
    pprof_put_number(sink, 1, message->lines[i].function);
    pprof_put_number(sink, 2, (uint64_t)message->lines[i].line);
    pprof_put_number(sink, 3, (uint64_t)message->lines[i].column);
  }
  pprof_put_number(sink, 5, message->is_folded);
}
