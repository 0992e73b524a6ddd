/*
** names_dbf.c - the names of fields, in UTF-8 and unique with case, so that each
** is the name of a column.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dbf/internal.h"
#include "model/dictionary/names.h"

#define MAX_BYTES  32                   /* of a name in a descriptor */
#define MAX_SUFFIX 8                    /* _2046 or longer */
#define NAME_SIZE  (5 * MAX_BYTES + 24) /* in UTF-8 with a suffix */

/* The columns that profio adds. Their names are the first ones in file->names,
   those of the fields follow. */
static const char *const added[] = {"record", "deleted"};

#define ADDED (sizeof added / sizeof *added)


/* Name a field: the bytes up to the first NUL, without blanks at the end. A name
   in use gets a suffix, with a note. suffixes[id] is the number of suffixes
   tried for the name `id`; the first one is _2. */
static pf_status name_field (pf_trace *trace, dbf_file *file, size_t number,
                             unsigned *suffixes, pf_converter *converter,
                             pf_error *error) {
  dbf_field *const field = &file->fields[number];
  const size_t maximum = dbf_layout_of(file->version)->name;
  pf_bytes stored = {trace->sources[0].bytes.at + field->descriptor_at, 0};
  char name[NAME_SIZE];
  while (stored.size < maximum && stored.at[stored.size] != 0)
    stored.size++;
  while (stored.size > 0 && stored.at[stored.size - 1] == ' ')
    stored.size--;
  size_t size = stored.size;
  if (pf_is_same_in_utf8(converter->charset, stored))
    memcpy(name, stored.at, size);
  else
    size = pf_convert(converter, stored, (uint8_t *)name);
  const size_t most = NAME_SIZE - MAX_SUFFIX - 1;
  name[size < most ? size : most] = '\0';
  const uint32_t other = pf_find_name(file->names, pf_bytes_of(name));
  char *const end = name + strlen(name);
  while (pf_find_name(file->names, pf_bytes_of(name)) != PF_NO_NAME)
    snprintf(end, MAX_SUFFIX, "_%u", ++suffixes[other] + 1); /* _2, _3, ... */
  const uint32_t id = pf_intern_text(file->names, name);
  if (id == PF_NO_NAME)
    return pf_no_memory(error);
  field->name = (const char *)pf_name(file->names, id).at;
  if (other == PF_NO_NAME)
    return PF_OK;
  return pf_warn(
      trace, PF_NOTE, "dbf-field-name", PF_EFORMAT, field->descriptor_at, error,
      "the name of field %zu is in use: it is called %s", number + 1, name);
}


pf_status dbf_converter_open (pf_converter *converter, const dbf_file *file,
                              pf_error *error) {
  const pf_status status = pf_converter_open(converter, &file->charset);
  if (status == PF_OK)
    return PF_OK;
  return pf_fail(error, status, PF_NO_OFFSET,
                 "the code page %s is no longer available", file->charset.name);
}


pf_status dbf_name_fields (pf_trace *trace, dbf_file *file, pf_error *error) {
  unsigned *const suffixes = calloc(file->nfields + ADDED, sizeof *suffixes);
  pf_converter converter;
  pf_status status = dbf_converter_open(&converter, file, error);
  file->names = pf_dictionary_new();
  if (status == PF_OK && (suffixes == NULL || file->names == NULL))
    status = pf_no_memory(error);
  if (status == PF_OK) {
    uint32_t ids[ADDED]; /* only that the names are in use counts */
    status = pf_intern_texts(file->names, added, ADDED, ids, error);
  }
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++)
    status = name_field(trace, file, i, suffixes, &converter, error);
  pf_converter_close(&converter);
  free(suffixes);
  return status;
}
