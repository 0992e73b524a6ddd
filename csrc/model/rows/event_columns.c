/*
** event_columns.c - names of columns that differ.
*/

#include "model/rows/event_columns.h"

#include <stdio.h>
#include <string.h>

#include "bytes/text.h"


static bool is_taken (const pf_event_columns *self, const char *name,
                      const pf_table *tables, size_t ntables) {
  for (size_t i = 0; i < self->count; i++)
    if (strcmp(self->list[i].name, name) == 0)
      return true;
  for (size_t i = 0; i < ntables; i++)
    if (pf_field_index(tables[i].fields, tables[i].nfields, name) <
        tables[i].nfields)
      return true;
  return false;
}


static void make_plain (char *text) {
  for (; *text != '\0'; text++) {
    const uint8_t c = pf_upper((uint8_t)*text);
    if ((c < '0' || c > '9') && (c < 'A' || c > 'Z'))
      *text = '_';
  }
}


pf_event_column *pf_event_columns_add (pf_event_columns *self, pf_bytes name,
                                       bool is_plain, const pf_table *tables,
                                       size_t ntables) {
  if (self->count == PF_EVENT_COLUMNS)
    return NULL;
  pf_event_column *const column = &self->list[self->count];
  const size_t size = name.size < 48 ? name.size : 48;
  snprintf(column->name, sizeof column->name, "%.*s", PF_SHOWN(name, 48));
  if (is_plain)
    make_plain(column->name);
  for (size_t n = self->count + 1;
       is_taken(self, column->name, tables, ntables); n++)
    snprintf(column->name + size, sizeof column->name - size, "_%zu", n);
  self->count++;
  return column;
}


void pf_event_columns_fields (const pf_event_columns *self, pf_field *fields) {
  for (size_t i = 0; i < self->count; i++)
    fields[i] = (pf_field){self->list[i].name, PF_INT, self->list[i].help};
}
