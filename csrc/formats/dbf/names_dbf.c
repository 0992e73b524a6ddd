/*
** names_dbf.c - the names of fields: UTF-8, unique, not empty, so that each is
** the name of a column.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/dbf/internal.h"
#include "model/base/intern_table.h"
#include "model/dictionary/names.h"

#define MAX_BYTES     32                   /* of a name in a descriptor */
#define ADDED_COLUMNS 2                    /* record, deleted */
#define MAX_SUFFIX    8                    /* _2046 or longer */
#define NAME_SIZE     (5 * MAX_BYTES + 24) /* in UTF-8 with a suffix */


/* Returns the bytes of a name up to the first NUL, without blanks at the
   end. */
static pf_bytes stored_name (pf_bytes bytes, uint64_t at, size_t maximum) {
  pf_bytes name = {bytes.at + at, 0};
  while (name.size < maximum && name.at[name.size] != 0)
    name.size++;
  while (name.size > 0 && name.at[name.size - 1] == ' ')
    name.size--;
  return name;
}


/* Write a name as UTF-8 with a NUL at its end. */
static void put_name (pf_converter *converter, pf_bytes name, char *out) {
  size_t size = name.size;
  if (pf_is_same_in_utf8(converter->charset, name))
    memcpy(out, name.at, size);
  else
    size = pf_convert(converter, name, (uint8_t *)out);
  const size_t maximum = NAME_SIZE - MAX_SUFFIX - 1;
  out[size < maximum ? size : maximum] = '\0';
}


/* Hash table of names. Index i is field i; the columns that profio adds
   follow. */
typedef struct name_set {
  const char *names; /* NAME_SIZE bytes each */
  pf_intern_table index;
  unsigned *last_suffix; /* by field: last suffix tried, less 1 */
} name_set;

/* Search key for is_same: a name, and the set of names to search. */
typedef struct name_key {
  const name_set *names;
  const char *name;
} name_key;


static uint64_t hash_of (const name_set *t, const char *name) {
  uint64_t hash = t->index.seed;
  for (; *name != '\0'; name++)
    hash = pf_mix(hash, (uint8_t)*name);
  return hash;
}


static bool is_same (const void *context, uint32_t number) {
  const name_key *const w = context;
  return strcmp(w->names->names + (size_t)number * NAME_SIZE, w->name) == 0;
}


/* Returns the index of a name, or PF_NOT_INTERNED. */
static uint32_t find_name (const name_set *t, const char *name) {
  const name_key w = {t, name};
  return pf_intern_table_find(&t->index, hash_of(t, name), is_same, &w);
}


/* Name a field. A name in use gets a suffix, with a note. The hash table must
   have space. */
static pf_status name_field (pf_trace *trace, dbf_file *file, size_t number,
                             name_set *names, pf_converter *converter,
                             pf_error *error) {
  dbf_field *const field = &file->fields[number];
  char *const name = file->names + number * NAME_SIZE;
  const pf_bytes stored =
      stored_name(trace->sources[0].bytes, field->descriptor_at,
                  dbf_layout_of(file->version)->name);
  put_name(converter, stored, name);
  field->name = name;
  const uint32_t other = find_name(names, name);
  if (other != PF_NOT_INTERNED) { /* NAME_2, NAME_3, ... */
    char *const end = name + strlen(name);
    do
      snprintf(end, MAX_SUFFIX, "_%u", ++names->last_suffix[other] + 1);
    while (find_name(names, name) != PF_NOT_INTERNED);
  }
  pf_intern_table_put(&names->index, hash_of(names, name), (uint32_t)number);
  if (other == PF_NOT_INTERNED)
    return PF_OK;
  return pf_warn(
      trace, PF_NOTE, "dbf-field-name", PF_EFORMAT, field->descriptor_at, error,
      "the name of field %zu is in use: it is called %s", number + 1, name);
}


static pf_status name_all (pf_trace *trace, dbf_file *file, name_set *names,
                           pf_error *error) {
  pf_converter converter;
  pf_status status = pf_converter_open(&converter, &file->charset);
  if (status != PF_OK)
    return pf_fail(error, status, PF_NO_OFFSET,
                   "the code page %s is no longer available",
                   file->charset.name);
  for (size_t i = 0; i < ADDED_COLUMNS && status == PF_OK; i++) {
    char *const name = file->names + (file->nfields + i) * NAME_SIZE;
    snprintf(name, NAME_SIZE, "%s", i == 0 ? "record" : "deleted");
    if (pf_intern_table_reserve(&names->index))
      pf_intern_table_put(&names->index, hash_of(names, name),
                          (uint32_t)(file->nfields + i));
    else
      status = pf_no_memory(error);
  }
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++)
    status = pf_intern_table_reserve(&names->index)
                 ? name_field(trace, file, i, names, &converter, error)
                 : pf_no_memory(error);
  pf_converter_close(&converter);
  return status;
}


pf_status dbf_name_fields (pf_trace *trace, dbf_file *file, pf_error *error) {
  const size_t count = file->nfields + ADDED_COLUMNS;
  file->names = calloc(count, NAME_SIZE);
  name_set names = {.names = file->names,
                    .index.seed = trace->dictionary->seed,
                    .last_suffix = calloc(count, sizeof(unsigned))};
  const pf_status status = file->names == NULL || names.last_suffix == NULL
                               ? pf_no_memory(error)
                               : name_all(trace, file, &names, error);
  pf_intern_table_free(&names.index);
  free(names.last_suffix);
  return status;
}


size_t dbf_field_named (const dbf_file *file, const char *name) {
  size_t i = 0;
  while (i < file->nfields && strcasecmp(file->fields[i].name, name) != 0)
    i++;
  return i;
}
