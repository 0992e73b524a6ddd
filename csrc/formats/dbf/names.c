/*
** names.c - the names of fields: in UTF-8 and none twice, so that each is a
** column that can be asked for. None is empty: a descriptor begins with one.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/dbf/parts.h"

#define MOST_BYTES  32                    /* of a name in a descriptor */
#define MOST_SUFFIX 8                     /* _2046 and more */
#define NAME_ROOM   (5 * MOST_BYTES + 24) /* converted, with a suffix */


/* The bytes of a name: up to the first NUL, without blanks at the end. */
static pf_bytes stored_name (pf_bytes bytes, uint64_t at, size_t most) {
  pf_bytes name = {bytes.at + at, 0};
  while (name.size < most && name.at[name.size] != 0)
    name.size++;
  while (name.size > 0 && name.at[name.size - 1] == ' ')
    name.size--;
  return name;
}


/* Write a name as UTF-8 with a NUL behind it. */
static void put_name (dbf_converter *converter, pf_bytes name, char *out) {
  size_t size = name.size;
  if (dbf_is_plain(converter->charset, name))
    memcpy(out, name.at, size);
  else
    size = dbf_convert(converter, name, (uint8_t *)out);
  const size_t most = NAME_ROOM - MOST_SUFFIX - 1;
  out[size < most ? size : most] = '\0';
}


/* Whether a name is one of ours, or of a field before number `count`. */
static bool is_taken (const dbf_file *file, size_t count, const char *name) {
  if (strcmp(name, "record") == 0 || strcmp(name, "deleted") == 0)
    return true;
  for (size_t i = 0; i < count; i++)
    if (strcmp(file->fields[i].name, name) == 0)
      return true;
  return false;
}


/* Make a name that is taken another one: NAME_2, NAME_3, ... */
static void make_different (const dbf_file *file, size_t number, char *name) {
  char *const end = name + strlen(name);
  for (unsigned n = 2; is_taken(file, number, name); n++)
    snprintf(end, MOST_SUFFIX, "_%u", n);
}


/* Name one field; a name that is taken becomes another, with a note. */
static pf_status name_field (pf_trace *trace, dbf_file *file, size_t number,
                             dbf_converter *converter, pf_error *error) {
  dbf_field *const field = &file->fields[number];
  char *const name = file->names + number * NAME_ROOM;
  const pf_bytes stored = stored_name(trace->sources[0].bytes, field->described,
                                      dbf_shape_of(file->version)->name);
  put_name(converter, stored, name);
  field->name = name;
  if (!is_taken(file, number, name))
    return PF_OK;
  make_different(file, number, name);
  return pf_warn(trace, PF_NOTE, "dbf-field-name", PF_EFORMAT, field->described,
                 error, "field %zu has a name that is taken: it is called %s",
                 number + 1, name);
}


pf_status dbf_name_fields (pf_trace *trace, dbf_file *file, pf_error *error) {
  dbf_converter converter;
  file->names = calloc(file->nfields + 1, NAME_ROOM);
  if (file->names == NULL)
    return dbf_no_memory(error);
  pf_status status = dbf_converter_open(&converter, &file->charset);
  if (status != PF_OK)
    return pf_fail(error, status, PF_NO_OFFSET, "the code page %s is gone",
                   file->charset.name);
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++)
    status = name_field(trace, file, i, &converter, error);
  dbf_converter_close(&converter);
  return status;
}


size_t dbf_field_named (const dbf_file *file, const char *name) {
  size_t i = 0;
  while (i < file->nfields && strcasecmp(file->fields[i].name, name) != 0)
    i++;
  return i;
}
