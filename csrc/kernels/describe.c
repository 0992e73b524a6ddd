/*
** describe.c - looks up areas by number and copies their parts.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/describe.h"

enum {
  CLASS,
  HANDLE,
  VALUE,
  PARENT,
  FILE_NAME,
  LINE,
  PARTS
};

static const pf_field parts[PARTS] = {
    {"class", PF_NAME, "function, line, variable, state, ...", false},
    {"handle", PF_HANDLE, "the vendor's number of the area", false},
    {"value", PF_INT, "what tells areas of one handle apart", false},
    {"parent", PF_AREA, "the area it belongs to", false},
    {"file", PF_NAME, "the source file it begins in", false},
    {"line", PF_INT, "the line it begins at", false},
};

typedef struct describe_reader {
  pf_reader reader;
  pf_reader *input;
  size_t area;
  size_t places[PARTS]; /* columns of the parts; SIZE_MAX: not added */
  pf_field fields[];
} describe_reader;


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


static void fill (const pf_dictionary *dictionary, const pf_column *areas,
                  pf_column *column, size_t part, size_t rows) {
  const bool is_wide = pf_type_size(column->type) == sizeof(uint64_t);
  for (size_t i = 0; i < rows; i++) {
    uint64_t bits = 0;
    if (areas->type != PF_AREA || pf_is_missing(areas, i) ||
        !part_of(pf_area_at(dictionary, areas->ids[i]), part, &bits)) {
      pf_set_missing(column, i);
      bits = 0;
    }
    if (is_wide)
      column->addrs[i] = bits;
    else
      column->ids[i] = (uint32_t)bits;
  }
}


static pf_status describe_next (pf_reader *self, pf_batch *batch,
                                pf_error *error) {
  describe_reader *const d = (describe_reader *)(void *)self;
  const pf_status status = d->input->next(d->input, batch, error);
  if (status != PF_MORE)
    return status;
  for (size_t part = 0; part < PARTS; part++)
    if (d->places[part] != SIZE_MAX &&
        batch->columns[d->places[part]].data != NULL)
      fill(self->dictionary, &batch->columns[d->area],
           &batch->columns[d->places[part]], part, batch->rows);
  return PF_MORE;
}


static void describe_want (pf_reader *self, bool *wanted) {
  describe_reader *const d = (describe_reader *)(void *)self;
  for (size_t part = 0; part < PARTS; part++)
    if (d->places[part] != SIZE_MAX && wanted[d->places[part]])
      wanted[d->area] = true;
  if (d->input->want != NULL)
    d->input->want(d->input, wanted);
}


static pf_status describe_seek (pf_reader *self, uint64_t row,
                                pf_error *error) {
  describe_reader *const d = (describe_reader *)(void *)self;
  return d->input->seek(d->input, row, error);
}


static void describe_close (pf_reader *self) {
  free(self);
}


/* Add the fields of the parts that the input has not. */
static size_t add_fields (describe_reader *d) {
  const size_t known = d->input->nfields;
  size_t count = known;
  if (known > 0)
    memcpy(d->fields, d->input->fields, known * sizeof *d->fields);
  for (size_t part = 0; part < PARTS; part++) {
    d->places[part] = SIZE_MAX;
    if (pf_field_index(d->fields, known, parts[part].name) < known)
      continue;
    d->places[part] = count;
    d->fields[count++] = parts[part];
  }
  return count;
}


pf_status pf_describe_open (pf_reader *input, size_t area, pf_reader **reader,
                            pf_error *error) {
  const pf_type type = input->fields[area].type;
  if (type != PF_AREA && type != PF_NAME)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "column \"%s\" holds no areas", input->fields[area].name);
  describe_reader *const d =
      calloc(1, sizeof *d + (input->nfields + PARTS) * sizeof(pf_field));
  if (d == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  d->input = input;
  d->area = area;
  d->reader = (pf_reader){.fields = d->fields,
                          .nfields = add_fields(d),
                          .dictionary = input->dictionary,
                          .next = describe_next,
                          .want = describe_want,
                          .seek = input->seek != NULL ? describe_seek : NULL,
                          .close = describe_close};
  *reader = &d->reader;
  return PF_OK;
}
