/*
** names.c - the names of fields: in UTF-8 and none twice, so that each is a
** column that can be asked for. None is empty: a descriptor begins with one.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/dbf/parts.h"
#include "model/interned.h"
#include "model/names.h"

#define MOST_BYTES  32                    /* of a name in a descriptor */
#define OWN_NAMES   2                     /* record, deleted */
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
static void put_name (pf_converter *converter, pf_bytes name, char *out) {
  size_t size = name.size;
  if (pf_is_plain(converter->charset, name))
    memcpy(out, name.at, size);
  else
    size = pf_convert(converter, name, (uint8_t *)out);
  const size_t most = NAME_ROOM - MOST_SUFFIX - 1;
  out[size < most ? size : most] = '\0';
}


/* Names by their hashes: number i is field i. Names that profio gives stand
   behind those of the fields. */
typedef struct taken {
  const char *names; /* NAME_ROOM bytes each */
  pf_interned index;
  unsigned *tried; /* by field: the last number behind a name like its own */
} taken;

/* Search key for is_same: a name, and the set of names to search. */
typedef struct wanted {
  const taken *names;
  const char *name;
} wanted;


static uint64_t hash_of (const taken *t, const char *name) {
  uint64_t hash = t->index.seed;
  for (; *name != '\0'; name++)
    hash = pf_mix(hash, (uint8_t)*name);
  return hash;
}


static bool is_same (const void *context, uint32_t number) {
  const wanted *const w = context;
  return strcmp(w->names->names + (size_t)number * NAME_ROOM, w->name) == 0;
}


/* The number of the name that is the same, or PF_NOT_INTERNED. */
static uint32_t find_name (const taken *t, const char *name) {
  const wanted w = {t, name};
  return pf_interned_find(&t->index, hash_of(t, name), is_same, &w);
}


/* Make a name that field `other` has another one: NAME_2, NAME_3, ... */
static void make_different (taken *t, uint32_t other, char *name) {
  char *const end = name + strlen(name);
  unsigned *const n = &t->tried[other];
  do
    snprintf(end, MOST_SUFFIX, "_%u", ++*n + 1);
  while (find_name(t, name) != PF_NOT_INTERNED);
}


/* Name one field; a name that is taken becomes another, with a note. There is
   room for it in the index. */
static pf_status name_field (pf_trace *trace, dbf_file *file, size_t number,
                             taken *names, pf_converter *converter,
                             pf_error *error) {
  dbf_field *const field = &file->fields[number];
  char *const name = file->names + number * NAME_ROOM;
  const pf_bytes stored = stored_name(trace->sources[0].bytes, field->described,
                                      dbf_shape_of(file->version)->name);
  put_name(converter, stored, name);
  field->name = name;
  const uint32_t other = find_name(names, name);
  if (other != PF_NOT_INTERNED)
    make_different(names, other, name);
  pf_interned_put(&names->index, hash_of(names, name), (uint32_t)number);
  if (other == PF_NOT_INTERNED)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "dbf-field-name", PF_EFORMAT, field->described,
                 error, "field %zu has a name that is taken: it is called %s",
                 number + 1, name);
}


/* The columns that profio adds have names, too. */
static bool take_own_names (dbf_file *file, taken *names) {
  static const char *const own[] = {"record", "deleted"};
  for (size_t i = 0; i < OWN_NAMES; i++) {
    const size_t number = file->nfields + i;
    if (!pf_interned_reserve(&names->index))
      return false;
    snprintf(file->names + number * NAME_ROOM, NAME_ROOM, "%s", own[i]);
    pf_interned_put(&names->index, hash_of(names, own[i]), (uint32_t)number);
  }
  return true;
}


static pf_status name_all (pf_trace *trace, dbf_file *file, taken *names,
                           pf_error *error) {
  pf_converter converter;
  pf_status status = pf_converter_open(&converter, &file->charset);
  if (status != PF_OK)
    return pf_fail(error, status, PF_NO_OFFSET, "the code page %s is gone",
                   file->charset.name);
  if (!take_own_names(file, names))
    status = dbf_no_memory(error);
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++)
    status = pf_interned_reserve(&names->index)
                 ? name_field(trace, file, i, names, &converter, error)
                 : dbf_no_memory(error);
  pf_converter_close(&converter);
  return status;
}


pf_status dbf_name_fields (pf_trace *trace, dbf_file *file, pf_error *error) {
  const size_t count = file->nfields + OWN_NAMES;
  file->names = calloc(count, NAME_ROOM);
  taken names = {.names = file->names,
                 .index.seed = trace->dictionary->seed,
                 .tried = calloc(count, sizeof(unsigned))};
  const pf_status status = file->names == NULL || names.tried == NULL
                               ? dbf_no_memory(error)
                               : name_all(trace, file, &names, error);
  pf_interned_free(&names.index);
  free(names.tried);
  return status;
}


size_t dbf_field_named (const dbf_file *file, const char *name) {
  size_t i = 0;
  while (i < file->nfields && strcasecmp(file->fields[i].name, name) != 0)
    i++;
  return i;
}
