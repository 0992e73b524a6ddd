/*
** put.c - fields and messages: each begins with its size, which is added up
** before.
*/

#include "formats/pprof/put.h"

#include <stdlib.h>
#include <string.h>

#include "model/memory.h"


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
  put_varint(sink, (uint64_t)number << 3); /* the wire type of numbers is 0 */
  put_varint(sink, value);
}


/* {====== Texts ====== */

/* Have room for the number of a name, and for one more name. */
static bool reserve (pprof_texts *t, uint32_t name) {
  const size_t before = t->room;
  void *numbers = t->numbers, *names = t->names;
  const bool ok =
      pf_array_widen(&numbers, &t->room, (size_t)name + 1,
                     sizeof *t->numbers) &&
      pf_array_widen(&names, &t->names_room, t->count + 1, sizeof *t->names);
  t->numbers = numbers;
  t->names = names;
  if (t->room > before)
    memset(t->numbers + before, 0, (t->room - before) * sizeof *t->numbers);
  return ok;
}


uint64_t pprof_text_number (pprof_texts *t, uint32_t name) {
  if (name == PF_NO_NAME || pf_name(t->dictionary, name).size == 0)
    return 0;
  if (name < t->room && t->numbers[name] != 0)
    return t->numbers[name];
  if (!reserve(t, name)) {
    t->failed = true;
    return 0;
  }
  t->names[t->count++] = name;
  return t->numbers[name] = (uint32_t)t->count;
}


static void put_text (pf_sink *sink, pf_bytes text) {
  pprof_put_message(sink, PPROF_STRING, text.size);
  (void)pf_sink_put(sink, text.at, text.size);
}


void pprof_put_texts (const pprof_texts *t, pf_sink *sink) {
  put_text(sink, (pf_bytes){(const uint8_t *)"", 0});
  for (size_t i = 0; i < t->count; i++)
    put_text(sink, pf_name(t->dictionary, t->names[i]));
}


void pprof_texts_close (pprof_texts *t) {
  free(t->numbers);
  free(t->names);
}

/* }====== */


/* A message of numbers, in fields 1, 2, ... */
static void put_numbers (pf_sink *sink, unsigned number, const uint64_t *values,
                         size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++)
    size += pprof_number_size(values[i]);
  pprof_put_message(sink, number, size);
  for (size_t i = 0; i < count; i++)
    pprof_put_number(sink, (unsigned)i + 1, values[i]);
}


void pprof_put_value_type (pf_sink *sink, pprof_texts *texts, unsigned number,
                           const pprof_value_type *type) {
  uint64_t values[2];
  values[0] = pprof_text_number(texts, (uint32_t)type->type);
  values[1] = pprof_text_number(texts, (uint32_t)type->unit);
  put_numbers(sink, number, values, 2);
}


void pprof_put_mapping (pf_sink *sink, pprof_texts *texts,
                        const pprof_mapping *m) {
  uint64_t values[10] = {m->id, m->start, m->limit, m->offset};
  values[4] = pprof_text_number(texts, (uint32_t)m->file);
  values[5] = pprof_text_number(texts, (uint32_t)m->build_id);
  for (size_t i = 0; i < 4; i++)
    values[6 + i] = m->has[i];
  put_numbers(sink, PPROF_MAPPING, values, 10);
}


void pprof_put_function (pf_sink *sink, pprof_texts *texts,
                         const pprof_function_message *f) {
  uint64_t values[5] = {f->id};
  values[1] = pprof_text_number(texts, (uint32_t)f->name);
  values[2] = pprof_text_number(texts, (uint32_t)f->system_name);
  values[3] = pprof_text_number(texts, (uint32_t)f->file);
  values[4] = (uint64_t)f->start_line;
  put_numbers(sink, PPROF_FUNCTION, values, 5);
}


static size_t line_size (const pprof_line *line) {
  return pprof_number_size(line->function) +
         pprof_number_size((uint64_t)line->line) +
         pprof_number_size((uint64_t)line->column);
}


void pprof_put_location (pf_sink *sink, const pprof_place *place) {
  size_t size =
      pprof_number_size(place->id) + pprof_number_size(place->mapping) +
      pprof_number_size(place->address) + pprof_number_size(place->is_folded);
  for (size_t i = 0; i < place->nlines; i++) {
    const size_t inner = line_size(&place->lines[i]);
    size += 1 + pprof_varint_size(inner) + inner;
  }
  pprof_put_message(sink, PPROF_LOCATION, size);
  pprof_put_number(sink, 1, place->id);
  pprof_put_number(sink, 2, place->mapping);
  pprof_put_number(sink, 3, place->address);
  for (size_t i = 0; i < place->nlines; i++) {
    pprof_put_message(sink, 4, line_size(&place->lines[i]));
    pprof_put_number(sink, 1, place->lines[i].function);
    pprof_put_number(sink, 2, (uint64_t)place->lines[i].line);
    pprof_put_number(sink, 3, (uint64_t)place->lines[i].column);
  }
  pprof_put_number(sink, 5, place->is_folded);
}
