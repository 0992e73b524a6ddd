/*
** write_table.c - writes entries as records of a table: columns with a role
** go to the field of the role, the others unchanged to their field.
*/

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dbf/encode_dbf.h"
#include "formats/xpp/encoder/write_xpp.h"
#include "model/rows/put_values.h"
#include "model/dictionary/names.h"
#include "model/base/wide.h"

#define MOST_OPTIONS 8


/* The column of a role in `out`, or NULL. */
static pf_column *role_column (const xpp_writer *self, xpp_role role) {
  const size_t column = self->roles.field[role];
  return column == XPP_NO_FIELD ? NULL : &self->out.columns[column];
}


/* Converts the time of an entry, given by its number, from ns to whole ms;
   inexact times are refused, or rounded and counted. The reader takes negative
   numbers in a field of 32 bits for late times, so they are refused, too. */
static pf_status whole_ms (xpp_writer *self, unsigned long long entry,
                           int64_t time, int64_t *ms, pf_error *error) {
  const int64_t rest = time % XPP_NS_PER_MS;
  *ms = time / XPP_NS_PER_MS;
  if (rest != 0 && !self->round)
    return pf_refuse(error,
                     "entry %llu: the file stores whole milliseconds, not %lld "
                     "ns: round = true rounds them",
                     entry, (long long)time);
  self->rounded += rest != 0;
  *ms += rest >= XPP_NS_PER_MS / 2 ? 1 : rest < -XPP_NS_PER_MS / 2 ? -1 : 0;
  if (*ms >= 0 || !self->is_clock)
    return PF_OK;
  return pf_refuse(error,
                   "entry %llu: a time of %lld ms in the binary field would be "
                   "read as %lld ms: layout = text-fields writes it",
                   entry, (long long)*ms, (long long)(*ms + XPP_CLOCK_RANGE));
}


/* Converts the time of an entry, given by its number, from ns to ms with a
   fraction. A time that a double cannot represent is refused, or rounded and
   counted. */
static pf_status put_ms (xpp_writer *self, unsigned long long entry, int64_t ns,
                         double *ms, pf_error *error) {
  *ms = pf_ratio(ns, XPP_NS_PER_MS);
  if (llround(*ms * XPP_NS_PER_MS) == ns)
    return PF_OK;
  if (!self->round)
    return pf_refuse(error,
                     "entry %llu: the field stores milliseconds as a double, "
                     "which cannot represent %lld ns: round = true rounds them",
                     entry, (long long)ns);
  self->rounded++;
  return PF_OK;
}


static pf_status put_numbers (xpp_writer *self, xpp_role role,
                              const pf_batch *batch, size_t first, size_t count,
                              pf_error *error) {
  pf_column *const to = role_column(self, role);
  pf_status status = PF_OK;
  for (size_t i = 0; to != NULL && i < count && status == PF_OK; i++) {
    const bool has_value = pf_has_value(batch, role, first + i);
    const unsigned long long entry = self->encoder.count + i + 1;
    int64_t value = has_value ? batch->columns[role].ints[first + i] : 0;
    if (!has_value && self->can_be_empty[role])
      pf_set_missing(to, i); /* else the field is 0 */
    if (role == XPP_TIME && to->type == PF_NUM) {
      status = put_ms(self, entry, value, &to->nums[i], error);
      continue;
    }
    if (role == XPP_TIME) {
      status = whole_ms(self, entry, value, &value, error);
      if (value > INT32_MAX && value < XPP_CLOCK_RANGE && self->is_clock)
        value -= XPP_CLOCK_RANGE; /* as a signed number of 32 bits */
    }
    if (to->type == PF_INT)
      to->ints[i] = value;
    else
      to->nums[i] = (double)value;
  }
  return status;
}


static pf_bytes name_at (const xpp_writer *self, const pf_batch *batch,
                         size_t column, size_t row) {
  if (!pf_has_value(batch, column, row))
    return (pf_bytes){NULL, 0};
  return pf_name(self->dictionary, batch->columns[column].ids[row]);
}


/* Returns true if one of the words of the flags is `deleted`. */
static bool has_deleted (pf_bytes flags) {
  static const char word[] = "deleted";
  const size_t size = sizeof word - 1;
  for (size_t at = 0; flags.size >= size && at <= flags.size - size; at++)
    if (memcmp(flags.at + at, word, size) == 0 &&
        (at == 0 || flags.at[at - 1] == ' ') &&
        (at + size == flags.size || flags.at[at + size] == ' '))
      return true;
  return false;
}


pf_status xpp_put_records (xpp_writer *self, const pf_batch *batch, size_t from,
                           size_t to, pf_sink *sink, pf_error *error) {
  static const xpp_role numbers[] = {XPP_THREAD, XPP_TIME, XPP_LINE};
  static const xpp_role names[] = {XPP_OP, XPP_CALL};
  const pf_column *const columns = batch->columns;
  const size_t count = to - from;
  pf_batch_clear(&self->out);
  pf_status status = PF_OK;
  for (size_t i = 0; i < 3 && status == PF_OK; i++)
    status = put_numbers(self, numbers[i], batch, from, count, error);
  if (status != PF_OK)
    return status;
  for (size_t n = 0; n < 2; n++)
    for (size_t i = 0; i < count; i++)
      role_column(self, names[n])->bytes[i] =
          name_at(self, batch, names[n], from + i);
  if (role_column(self, XPP_PARAMS) != NULL)
    pf_put_values(role_column(self, XPP_PARAMS), &columns[ENTRIES_PARAMS], from,
                  count);
  for (size_t i = ENTRIES_COLUMNS; i < self->table.nfields; i++)
    pf_put_values(&self->out.columns[self->extras[i - ENTRIES_COLUMNS]],
                  &columns[i], from, count);
  pf_column *const deleted = &self->out.columns[self->out.ncolumns - 1];
  for (size_t i = 0; i < count; i++)
    deleted->bools[i] =
        has_deleted(name_at(self, batch, ENTRIES_FLAGS, from + i));
  self->out.rows = count;
  status = self->inner->put(self->inner, 0, &self->out, sink, error);
  self->encoder.count = self->inner->count;
  return status;
}


static pf_status no_role (pf_error *error, const char *role, const char *why) {
  return pf_refuse(error, "fields: %s for %s", why, role);
}


/* Finds the fields of the roles by names, or by the option map. Refuses fields
   whose type cannot hold their role. */
static pf_status find_roles (xpp_writer *self, const pf_trace *opts,
                             pf_error *error) {
  const pf_field *const columns = self->data->fields;
  const size_t count = self->data->nfields - 1; /* without `deleted` */
  pf_bytes map = {NULL, 0};
  pf_status status = PF_OK;
  self->roles = (xpp_roles)XPP_NO_ROLES;
  xpp_candidate *const fields = calloc(count + 1, sizeof *fields);
  if (fields == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < count; i++)
    fields[i].name = pf_bytes_of(columns[i].name);
  if (pf_option_text(opts, "map", &map))
    status = xpp_map_option(fields, count, map, &self->roles, error);
  if (status == PF_OK)
    xpp_map_roles(fields, count, &self->roles);
  free(fields);
  if (status == PF_OK && !xpp_is_mapped(&self->roles))
    status = no_role(error, "op and call", "fields expected");
  for (size_t i = 0; i < XPP_ROLES && status == PF_OK; i++) {
    if (self->roles.field[i] == XPP_NO_FIELD)
      continue;
    const pf_type type = columns[self->roles.field[i]].type;
    const bool is_text = xpp_needs_text((xpp_role)i);
    if (is_text ? type != PF_BYTES : type != PF_INT && type != PF_NUM)
      status = no_role(error, xpp_role_names[i],
                       is_text ? "a field of text expected"
                               : "a field of numbers expected");
  }
  return status;
}


/* Builds the schema: our columns, then the fields without a role. */
static pf_status build_schema (xpp_writer *self, pf_error *error) {
  const size_t count = self->data->nfields;
  self->schema = calloc(ENTRIES_COLUMNS + count, sizeof *self->schema);
  self->extras = calloc(count + 1, sizeof *self->extras);
  if (self->schema == NULL || self->extras == NULL)
    return pf_no_memory(error);
  memcpy(self->schema, xpp_written[0].fields,
         ENTRIES_COLUMNS * sizeof *self->schema);
  for (size_t i = 0; i + 1 < count; i++) {
    if (xpp_role_of_field(&self->roles, i) != XPP_ROLES)
      continue;
    self->extras[self->table.nfields - ENTRIES_COLUMNS] = i;
    self->schema[self->table.nfields++] = self->data->fields[i];
  }
  self->table.fields = self->schema;
  return PF_OK;
}


/* Creates an encoder of tables with these fields and our options. */
static pf_status open_table (xpp_writer *self, const pf_trace *opts,
                             pf_bytes fields, pf_error *error) {
  static const char *const passed[] = {"code_page", "changed", "round", "cpg"};
  pf_option options[MOST_OPTIONS] = {{"fields", true, 0, fields}};
  size_t count = 1;
  if (pf_option_is(opts, "layout", "text-fields"))
    options[count++] =
        (pf_option){"dialect", true, 0, {(const uint8_t *)"foxpro2", 7}};
  for (size_t i = 0; i < opts->noptions; i++)
    for (size_t p = 0; p < sizeof passed / sizeof passed[0]; p++)
      if (strcmp(opts->options[i].name, passed[p]) == 0 && count < MOST_OPTIONS)
        options[count++] = opts->options[i];
  return dbf_encoder(options, count, self->dictionary, &self->inner, error);
}


/* Creates an encoder with the fields that the profiler's documents suggest, or
   with all fields as text (option layout), with or without the field of the
   parameters (option params). */
static pf_status open_default (xpp_writer *self, const pf_trace *opts,
                               pf_error *error) {
  static const char *const types[2][XPP_ROLES] = {
      {"I", "I", "C(1)", "C", "I", "M"},
      {"N(4)", "N(10)", "C(1)", "C", "N(7)", "M"}};
  const bool is_text = pf_option_is(opts, "layout", "text-fields");
  const size_t count =
      pf_option_int(opts, "params", 1) != 0 ? XPP_ROLES : XPP_PARAMS;
  char text[160];
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    size += (size_t)snprintf(text + size, sizeof text - size, "%s%s %s",
                             i > 0 ? ", " : "", xpp_field_name(self, i),
                             types[is_text][i]);
    if (i == XPP_CALL)
      size += (size_t)snprintf(text + size, sizeof text - size, "(%lld)",
                               (long long)self->symbol_size);
  }
  if (self->symbol_size < 1 || self->symbol_size > 254)
    return pf_refuse(error, "symbol_size: 1 to 254 expected, found %lld",
                     (long long)self->symbol_size);
  return open_table(self, opts, (pf_bytes){(const uint8_t *)text, size}, error);
}


pf_status xpp_begin_table (xpp_writer *self, const pf_trace *opts,
                           pf_error *error) {
  pf_bytes fields;
  pf_status status = pf_option_text(opts, "fields", &fields) && fields.size > 0
                         ? open_table(self, opts, fields, error)
                         : open_default(self, opts, error);
  if (status != PF_OK)
    return status;
  self->data = &self->inner->tables[0];
  status = find_roles(self, opts, error);
  if (status != PF_OK)
    return status;
  if (pf_batch_open(&self->out, self->data->fields, self->data->nfields,
                    NULL) != PF_OK)
    return pf_no_memory(error);
  const dbf_writer *const writer = (const dbf_writer *)(void *)self->inner;
  for (size_t i = 0; i < XPP_ROLES; i++)
    for (size_t f = 0; f < writer->nfields; f++) {
      const char type = writer->fields[f].type;
      if (writer->fields[f].column != self->roles.field[i])
        continue;
      self->can_be_empty[i] =
          writer->fields[f].nullable || strchr("IBY", type) == NULL;
      self->is_clock |= i == XPP_TIME && type == 'I';
    }
  return build_schema(self, error);
}
