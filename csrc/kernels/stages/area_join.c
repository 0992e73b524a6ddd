/*
** area_join.c - looks up areas by id and copies their parts into columns.
*/

#include <string.h>

#include "kernels/stages/stages.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

enum {
  CLASS,
  HANDLE,
  VALUE,
  PARENT,
  FILE_NAME,
  LINE,
  PARTS
};

static const pf_field part_fields[PARTS] = {
    {"class", PF_NAME, "function, line, variable, state, ..."},
    {"handle", PF_HANDLE, "the vendor's number of the area"},
    {"value", PF_INT, "distinguishes areas with the same handle"},
    {"parent", PF_AREA, "the area it belongs to"},
    {"file", PF_NAME, "the source file it begins in"},
    {"line", PF_INT, "the line it begins at"},
};

typedef struct area_join_reader {
  pf_reader reader;
  size_t area;
  size_t places[PARTS]; /* columns of the parts; SIZE_MAX: not added */
  pf_field fields[];
} area_join_reader;


/* The part of an area as the 64 bits of a column; false: there is none. */
static bool part_of (const pf_area *area, size_t part, uint64_t *bits) {
  switch (part) {
    case CLASS: *bits = area->class; return area->class != PF_NO_NAME;
    case HANDLE: *bits = area->handle; return area->has_handle;
    case VALUE: *bits = (uint64_t)area->value; return area->has_value;
    case PARENT: *bits = area->parent; return area->parent != PF_NO_AREA;
    case FILE_NAME: *bits = area->file; return area->file != PF_NO_NAME;
    default: *bits = (uint64_t)area->line; return area->line != 0;
  }
}


static pf_status area_join_next (pf_reader *self, pf_batch *batch,
                                 pf_error *error) {
  area_join_reader *const j = (area_join_reader *)(void *)self;
  const pf_status status = self->input->next(self->input, batch, error);
  if (status != PF_MORE)
    return status;
  for (size_t part = 0; part < PARTS; part++)
    if (j->places[part] != SIZE_MAX &&
        batch->columns[j->places[part]].data != NULL) {
      const pf_column *const areas = &batch->columns[j->area];
      pf_column *const column = &batch->columns[j->places[part]];
      const bool is_wide = pf_type_size(column->type) == sizeof(uint64_t);
      for (size_t i = 0; i < batch->rows; i++) {
        uint64_t bits;
        if (areas->type != PF_AREA || pf_is_missing(areas, i) ||
            !part_of(pf_area_at(self->dictionary, areas->ids[i]), part, &bits))
          pf_put_none(column, i, 1);
        else if (is_wide)
          column->addrs[i] = bits;
        else
          column->ids[i] = (uint32_t)bits;
      }
    }
  return PF_MORE;
}


static void area_join_want (pf_reader *self, bool *wanted) {
  area_join_reader *const j = (area_join_reader *)(void *)self;
  for (size_t part = 0; part < PARTS; part++)
    if (j->places[part] != SIZE_MAX && wanted[j->places[part]])
      wanted[j->area] = true;
  pf_stage_want(self, wanted);
}


pf_status pf_area_join_open (pf_reader *input, size_t area, pf_reader **reader,
                             pf_error *error) {
  const pf_type type = input->fields[area].type;
  const size_t known = input->nfields;
  if (type != PF_AREA && type != PF_NAME)
    return pf_refuse(error, "column \"%s\" holds no areas",
                     input->fields[area].name);
  area_join_reader *const j =
      pf_stage_new(sizeof *j + (known + PARTS) * sizeof(pf_field), input,
                   area_join_next, error);
  if (j == NULL)
    return PF_ENOMEM;
  j->reader.fields = j->fields;
  j->reader.want = area_join_want;
  j->area = area;
  memcpy(j->fields, input->fields, known * sizeof *j->fields);
  for (size_t part = 0; part < PARTS; part++) {
    j->places[part] = SIZE_MAX;
    if (pf_field_index(j->fields, known, part_fields[part].name) < known)
      continue;
    j->places[part] = j->reader.nfields;
    j->fields[j->reader.nfields++] = part_fields[part];
  }
  pf_stage_pass_seek(&j->reader);
  *reader = &j->reader;
  return PF_OK;
}
