/*
** batch.c - the memory of batches: one block each, divided into the columns.
*/

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/dictionary/names.h"
#include "model/rows/batch.h"

#define MISSING_WORDS (PF_BATCH_ROWS / 64)


size_t pf_type_size (pf_type type) {
  switch (type) {
    case PF_BOOL: return sizeof(uint8_t);
    case PF_NAME:
    case PF_AREA:
    case PF_STACK: return sizeof(uint32_t);
    case PF_BYTES: return sizeof(pf_bytes);
    default: return sizeof(int64_t);
  }
}


const char *pf_type_name (pf_type type) {
  static const char *const names[] = {"int",  "num",   "addr",  "bool",  "name",
                                      "area", "stack", "bytes", "handle"};
  return names[type];
}


size_t pf_field_index (const pf_field *fields, size_t nfields,
                       const char *name) {
  size_t i = 0;
  while (i < nfields && strcmp(fields[i].name, name) != 0)
    i++;
  return i;
}


_Static_assert(PF_BATCH_ROWS % 64 == 0, "bitmaps have whole words");
_Static_assert(PF_BATCH_ROWS <= UINT16_MAX, "rows are numbers of 16 bits");


/* Returns the bytes of one column with its bitmap, a multiple of 64. */
static size_t column_size (pf_type type) {
  return PF_BATCH_ROWS * pf_type_size(type) + MISSING_WORDS * sizeof(uint64_t);
}


const char pf_remainder_help[] = "what rounding left over, for sums";


const char pf_file_help[] = "the file it is from";


const char pf_any_type_help[] = "of any type: no row has a value";


static bool is_letter (char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}


pf_bytes pf_unit_of (const pf_field *field) {
  static const char *const known[] = {"time",  "start", "stop",  "self",
                                      "total", "net",   "gross", "spent"};
  const char *const help = field->help == NULL ? "" : field->help;
  const char *const begin = strchr(help, '[');
  const char *const end = begin == NULL ? NULL : strchr(begin, ']');
  const pf_bytes none = {(const uint8_t *)help, 0}, time = pf_bytes_of("ns");
  if (field->type != PF_INT && field->type != PF_NUM)
    return none;
  if (end != NULL && end[1] == '\0')
    return (pf_bytes){(const uint8_t *)begin + 1, (size_t)(end - begin) - 1};
  for (const char *at = help; (at = strstr(at, "ns")) != NULL; at += 2)
    if ((at == help || !is_letter(at[-1])) && !is_letter(at[2]))
      return time;
  for (size_t i = 0; *help == '\0' && i < sizeof known / sizeof *known; i++)
    if (strcmp(field->name, known[i]) == 0)
      return time;
  return none;
}


bool pf_is_time (const pf_field *field) {
  const pf_bytes unit = pf_unit_of(field);
  return unit.size == 2 && memcmp(unit.at, "ns", 2) == 0;
}


bool pf_is_date (const pf_field *field) {
  return field->type == PF_INT && field->help != NULL &&
         strstr(field->help, "ns since 1970") != NULL;
}


void pf_help_of_weight (char *help, size_t size, const char *text,
                        const char *metric, const char *unit) {
  const bool counts = strcmp(unit, "count") == 0 || strcmp(unit, "events") == 0;
  const char *const shown = counts ? metric : unit;
  snprintf(help, size,
           *shown == '\0'            ? "%s"
           : strcmp(unit, "ns") == 0 ? "%s, in %s"
                                     : "%s [%s]",
           text, shown);
}


size_t pf_remainder_of (const pf_field *fields, size_t nfields, size_t column) {
  for (size_t i = 0; i < nfields; i++)
    if (pf_is_hidden(&fields[i]) &&
        strcmp(fields[i].name + 1, fields[column].name) == 0)
      return i;
  return SIZE_MAX;
}


pf_status pf_batch_open (pf_batch *batch, const pf_field *fields,
                         size_t nfields, const bool *wanted) {
  size_t size = nfields * sizeof(pf_column);
  for (size_t i = 0; i < nfields; i++)
    if (wanted == NULL || wanted[i])
      size += column_size(fields[i].type);
  uint8_t *const memory = calloc(1, size == 0 ? 1 : size);
  *batch = (pf_batch){0, 0, NULL};
  if (memory == NULL)
    return PF_ENOMEM;
  batch->columns = (pf_column *)(void *)memory;
  batch->ncolumns = nfields;
  uint8_t *at = memory + nfields * sizeof(pf_column);
  for (size_t i = 0; i < nfields; i++) {
    pf_column *const column = &batch->columns[i];
    column->type = fields[i].type;
    if (wanted != NULL && !wanted[i])
      continue;
    column->missing = (uint64_t *)(void *)at;
    column->data = at + MISSING_WORDS * sizeof(uint64_t);
    at += column_size(column->type);
  }
  return PF_OK;
}


pf_status pf_batch_like (pf_batch *batch, const pf_field *fields,
                         size_t nfields, const pf_batch *model) {
  bool *const wanted = malloc((nfields + 1) * sizeof *wanted);
  if (wanted == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < nfields; i++)
    wanted[i] = model->columns[i].data != NULL;
  const pf_status status = pf_batch_open(batch, fields, nfields, wanted);
  free(wanted);
  return status;
}


pf_status pf_batch_for (pf_batch *batch, pf_reader *reader, bool *wanted) {
  if (reader->want != NULL)
    reader->want(reader, wanted);
  return pf_batch_open(batch, reader->fields, reader->nfields, wanted);
}


void pf_batch_close (pf_batch *batch) {
  free(batch->columns);
  *batch = (pf_batch){0, 0, NULL};
}


void pf_set_missing (pf_column *column, size_t row) {
  if (!column->has_missing) {
    memset(column->missing, 0, MISSING_WORDS * sizeof(uint64_t));
    column->has_missing = true;
  }
  column->missing[row >> 6] |= (uint64_t)1 << (row & 63);
}


bool pf_has_values (const pf_column *column, size_t rows) {
  const uint64_t *const missing = column->missing;
  if (!column->has_missing)
    return rows > 0;
  for (size_t i = 0; i < rows / 64; i++)
    if (missing[i] != UINT64_MAX)
      return true;
  const uint64_t rest = ((uint64_t)1 << (rows & 63)) - 1;
  return rest != 0 && (missing[rows / 64] & rest) != rest;
}


/* Copies the values of the listed rows. */
#define COPY_ROWS(type)              \
  for (size_t i = 0; i < count; i++) \
    ((type *)to)[i] = ((const type *)column->data)[rows[i]];

void pf_copy_values (const pf_column *column, const uint16_t *rows,
                     size_t count, void *to) {
  switch (pf_type_size(column->type)) {
    case 1: COPY_ROWS(uint8_t) break;
    case 4: COPY_ROWS(uint32_t) break;
    case 8: COPY_ROWS(uint64_t) break;
    default: COPY_ROWS(pf_bytes)
  }
}


void pf_batch_keep (pf_batch *batch, const uint16_t *keep, size_t count) {
  for (size_t i = 0; i < count; i++)
    assert(keep[i] < batch->rows && (i == 0 || keep[i - 1] < keep[i]));
  if (count == batch->rows)
    return;
  for (size_t i = 0; i < batch->ncolumns; i++) {
    pf_column *const column = &batch->columns[i];
    if (column->data == NULL)
      continue;
    pf_copy_values(column, keep, count, column->data);
    if (!column->has_missing)
      continue;
    uint64_t kept[MISSING_WORDS] = {0};
    column->has_missing = false;
    for (size_t row = 0; row < count; row++)
      if ((column->missing[keep[row] >> 6] >> (keep[row] & 63) & 1) != 0) {
        kept[row >> 6] |= (uint64_t)1 << (row & 63);
        column->has_missing = true;
      }
    memcpy(column->missing, kept, sizeof kept);
  }
  batch->rows = count;
}
