/*
** encode_fields.c - parses the option `fields`: NAME TYPE, NAME TYPE(SIZE) or
** NAME TYPE(SIZE,DECIMALS), optionally with `null`, separated by commas. Called
** by encode_dbf.c; the dbf_writer owns the arrays.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dbf/encode_dbf.h"
#include "model/dictionary/names.h"

#define MAX_FIELDS 255 /* limit of FoxPro */
#define MAX_RECORD 65535

/* A type that can be written. */
typedef struct writable {
  char type;
  bool visual;     /* Visual FoxPro only */
  uint8_t size;    /* fixed size; 0: stated by the field */
  uint8_t maximum; /* maximum of a stated size */
  pf_type column;
} writable;

static const writable types[] = {
    {'C', false, 0, 254, PF_BYTES}, {'N', false, 0, 20, PF_INT},
    {'F', false, 0, 20, PF_NUM},    {'L', false, 1, 0, PF_BOOL},
    {'D', false, 8, 0, PF_BYTES},   {'M', false, 4, 0, PF_BYTES},
    {'I', true, 4, 0, PF_INT},      {'B', true, 8, 0, PF_NUM},
    {'Y', true, 8, 0, PF_NUM},      {'T', true, 8, 0, PF_BYTES},
    {'V', true, 0, 254, PF_BYTES},  {'Q', true, 0, 254, PF_BYTES},
};

#define TYPES (sizeof types / sizeof types[0])


/* A position in the text. */
typedef struct scanner {
  const uint8_t *at, *end;
} scanner;


static void skip_blanks (scanner *s) {
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t'))
    s->at++;
}


/* Skip blanks and the character `c`. Returns false if it does not follow. */
static bool accept (scanner *s, char c) {
  skip_blanks(s);
  if (s->at == s->end || *s->at != (uint8_t)c)
    return false;
  s->at++;
  return true;
}


/* Skip blanks. Returns the bytes before the next one, comma or parenthesis. */
static pf_bytes parse_word (scanner *s) {
  skip_blanks(s);
  pf_bytes word = {s->at, 0};
  while (s->at < s->end && strchr(" \t\n,()", *s->at) == NULL)
    s->at++;
  word.size = (size_t)(s->at - word.at);
  return word;
}


static bool parse_number (scanner *s, uint8_t *number) {
  const pf_bytes word = parse_word(s);
  int64_t integer = 0;
  double ignored;
  if (word.size == 0 || dbf_parse_digits(word.at, word.size, &integer,
                                         &ignored) != DBF_DIGITS_INT)
    return false;
  *number = (uint8_t)integer;
  return integer >= 0 && integer <= 255;
}


static pf_status reject (const dbf_output_field *field, const char *what,
                         pf_error *error) {
  return pf_refuse(error, "field %s: %s", field->name, what);
}


static const writable *writable_of (const dbf_writer *self, char type) {
  for (size_t i = 0; i < TYPES; i++)
    if (types[i].type == type && (self->visual || !types[i].visual))
      return &types[i];
  return NULL;
}


/* Check a field, and set the defaults of its type. */
static pf_status check_field (const dbf_writer *self, dbf_output_field *field,
                              pf_error *error) {
  const writable *const type = writable_of(self, field->type);
  if (type == NULL)
    return reject(field, "its type cannot be written in this dialect", error);
  if (field->size == 0)
    field->size = type->size;
  if (field->type == 'M' && !self->visual)
    field->size = 10;
  else if (type->size != 0 && field->size != type->size)
    return reject(field, "its type has another size", error);
  if (field->size == 0 || (type->size == 0 && field->size > type->maximum))
    return reject(field, "a size from 1 to the maximum of its type expected",
                  error);
  if (field->decimals > 0 && (field->type == 'N' || field->type == 'F') &&
      field->decimals >= field->size)
    return reject(field, "it has more decimals than its size allows", error);
  if (field->decimals > 0 && strchr("CVQ", field->type) != NULL)
    return reject(field, "its type has no decimals", error);
  if (field->nullable && !self->visual)
    return reject(field, "null needs Visual FoxPro", error);
  return PF_OK;
}


/* Whether a name can have 1 to 10 bytes in some code page, has neither blanks
   nor control bytes, and does not begin with a digit. */
static bool is_name (pf_bytes name) {
  if (name.size == 0 || name.size > DBF_MAX_UTF8 ||
      (name.at[0] >= '0' && name.at[0] <= '9'))
    return false;
  for (size_t i = 0; i < name.size; i++)
    if (name.at[i] < 0x21 || name.at[i] == 0x7F)
      return false;
  return true;
}


/* Convert the name to the code page, in which readers expect it. */
static pf_status convert_name (dbf_writer *self, dbf_output_field *field,
                               pf_error *error) {
  uint8_t out[PF_CONVERTED_MAX(sizeof field->name)];
  const pf_bytes name = pf_bytes_of(field->name);
  size_t size = name.size;
  if (pf_is_same_in_utf8(&self->charset, name))
    memcpy(out, name.at, size);
  else if (!pf_convert_back(&self->to_page, name, out, &size))
    return reject(field, "a character of its name is not in the code page",
                  error);
  if (size > DBF_MAX_NAME)
    return reject(field, "its name has more than 10 bytes in the code page",
                  error);
  memcpy(field->written, out, size);
  return PF_OK;
}


static pf_status parse_field (dbf_writer *self, scanner *s,
                              dbf_output_field *field, pf_error *error) {
  const pf_bytes name = parse_word(s);
  const pf_bytes type = parse_word(s);
  *field = (dbf_output_field){.null_bit = -1, .length_bit = -1};
  if (!is_name(name) || type.size != 1)
    return pf_refuse(
        error,
        "fields: NAME TYPE(SIZE) expected, with a name of up to 10 "
        "bytes, found '%.*s %.*s'",
        (int)(name.size < 40 ? name.size : 40), (const char *)name.at,
        (int)(type.size < 40 ? type.size : 40), (const char *)type.at);
  memcpy(field->name, name.at, name.size);
  field->type = (char)type.at[0];
  const pf_status converted = convert_name(self, field, error);
  if (converted != PF_OK)
    return converted;
  if (accept(s, '(') &&
      (!parse_number(s, &field->size) ||
       (accept(s, ',') && !parse_number(s, &field->decimals)) ||
       !accept(s, ')')))
    return reject(field, "(SIZE) or (SIZE,DECIMALS) expected", error);
  const scanner before = *s;
  const pf_bytes word = parse_word(s);
  field->nullable = word.size == 4 && (memcmp(word.at, "null", 4) == 0 ||
                                       memcmp(word.at, "NULL", 4) == 0);
  if (!field->nullable)
    *s = before;
  return check_field(self, field, error);
}


/* Whether a name is used by another field or reserved for an added column. */
static bool is_name_used (const dbf_writer *self,
                          const dbf_output_field *field) {
  const size_t size = strlen(field->name);
  const bool is_exact =
      size > 6 && strcmp(field->name + size - 6, "_exact") == 0;
  for (size_t i = 0; i < self->nfields; i++)
    if (strcmp(self->fields[i].written, field->written) == 0)
      return true;
  return is_exact || strcmp(field->name, "deleted") == 0 ||
         strcmp(field->name, "record") == 0;
}


/* Add a field to the record, and its columns to the schema: one, and for a
   currency a second one for the exact text. */
static void add_field (dbf_writer *self, dbf_output_field *field,
                       uint32_t *bits) {
  const bool is_num = field->type == 'N' && field->decimals > 0;
  field->offset = self->record_size;
  self->record_size += field->size;
  if (field->type == 'V' || field->type == 'Q')
    field->length_bit = (int32_t)(*bits)++;
  if (field->nullable)
    field->null_bit = (int32_t)(*bits)++;
  self->has_memos = self->has_memos || field->type == 'M';
  self->nfields++;
  field->column = self->ncolumns;
  self->schema[self->ncolumns++] = (pf_field){
      field->name, is_num ? PF_NUM : writable_of(self, field->type)->column,
      NULL};
  if (field->type != 'Y')
    return;
  snprintf(field->exact_name, sizeof field->exact_name, "%s_exact",
           field->name);
  self->schema[self->ncolumns++] =
      (pf_field){field->exact_name, PF_BYTES, NULL};
}


pf_status dbf_parse_fields (dbf_writer *self, pf_bytes text, pf_error *error) {
  scanner s = {text.at, text.at + text.size};
  uint32_t bits = 0;
  dbf_output_field *field;
  self->fields = calloc(MAX_FIELDS, sizeof *self->fields);
  self->schema = calloc(2 * MAX_FIELDS + 1, sizeof *self->schema);
  if (self->fields == NULL || self->schema == NULL)
    return pf_no_memory(error);
  self->record_size = 1;
  do {
    field = &self->fields[self->nfields];
    if (self->nfields == MAX_FIELDS)
      return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                     "a table has at most %d fields", MAX_FIELDS);
    const pf_status status = parse_field(self, &s, field, error);
    if (status != PF_OK)
      return status;
    if (is_name_used(self, field))
      return reject(field, "its name is in use", error);
    add_field(self, field, &bits);
  } while (accept(&s, ','));
  skip_blanks(&s);
  if (s.at < s.end)
    return reject(field, "a comma expected after it", error);
  self->null_flags = self->record_size;
  self->null_bytes = (bits + 7) / 8;
  self->record_size += self->null_bytes;
  if (self->record_size > MAX_RECORD)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a record of %u bytes: at most %d are written",
                   self->record_size, MAX_RECORD);
  self->schema[self->ncolumns++] = (pf_field){"deleted", PF_BOOL, NULL};
  self->record = malloc(self->record_size);
  return self->record == NULL ? pf_no_memory(error) : PF_OK;
}
