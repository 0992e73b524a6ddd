/*
** lag.c - adds the value of the row before, or after, among those with equal
** keys. Values of rows after need all rows first, which are kept.
*/

#include <string.h>

#include "kernels/stages/kept_cells.h"
#include "kernels/stages/kept_rows.h"
#include "kernels/stages/stages.h"
#include "model/base/memory.h"
#include "model/rows/table_reader.h"

typedef struct lag_reader {
  pf_reader reader;
  pf_field *fields;
  char *name;
  size_t column;
  bool is_next;
  size_t *by; /* the columns of the keys */
  size_t nkeys;
  pf_keys *keys;
  pf_cell *cells; /* of the row before by group, or of the row after by row */
  size_t capacity;
  pf_dictionary *texts; /* of cells */
  pf_kept_rows kept;
  uint64_t *latest; /* by group: 1 + its last row of those kept, or 0 */
  size_t latest_capacity;
  size_t seen, at; /* rows kept, and returned */
} lag_reader;


/* Let a cell be the value of a row. */
static pf_status take (lag_reader *g, size_t cell, const pf_batch *batch,
                       size_t row, pf_error *error) {
  return pf_grow_filled(&g->cells, &g->capacity, cell + 1, 0) &&
                 pf_cell_take(&g->cells[cell], &batch->columns[g->column], row,
                              g->texts)
             ? PF_OK
             : pf_no_memory(error);
}


/* Set the cells of the rows before those of a batch. */
static pf_status see_rows (void *context, const pf_batch *rows,
                           const pf_batch *wanted, pf_error *error) {
  lag_reader *const g = context;
  uint32_t groups[PF_BATCH_ROWS];
  pf_status status = pf_keys_find(g->keys, rows, groups, error);
  (void)wanted;
  if (status == PF_OK && !pf_grow_filled(&g->latest, &g->latest_capacity,
                                         pf_keys_count(g->keys), 0))
    return pf_no_memory(error);
  for (size_t row = 0; row < rows->rows && status == PF_OK; row++) {
    uint64_t *const latest = &g->latest[groups[row]];
    if (*latest != 0)
      status = take(g, (size_t)(*latest - 1), rows, row, error);
    *latest = ++g->seen;
  }
  return status;
}


/* Put the value of the row before or after; this row is before the next. */
static pf_status put_row (lag_reader *g, pf_batch *batch, size_t row,
                          uint32_t group, pf_error *error) {
  static const pf_cell none = {.has = false};
  const size_t cell = g->is_next ? g->at : group;
  pf_cell_put(cell < g->capacity ? &g->cells[cell] : &none,
              &batch->columns[g->reader.input->nfields], row, g->texts);
  g->at++;
  return g->is_next ? PF_OK : take(g, group, batch, row, error);
}


/* The rows that follow in a live file are numbered from 0 again. */
static void forget_rows (lag_reader *g) {
  g->seen = g->at = 0;
  if (g->cells != NULL)
    memset(g->cells, 0, g->capacity * sizeof *g->cells);
  if (g->latest != NULL)
    memset(g->latest, 0, g->latest_capacity * sizeof *g->latest);
}


static pf_status lag_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  lag_reader *const g = (lag_reader *)(void *)self;
  uint32_t groups[PF_BATCH_ROWS];
  pf_status status = g->is_next ? pf_kept_rows_next(&g->kept, self->input,
                                                    batch, see_rows, g, error)
                                : self->input->next(self->input, batch, error);
  if (status == PF_AGAIN && g->is_next)
    forget_rows(g);
  if (status != PF_MORE)
    return status;
  status = pf_keys_find(g->keys, batch, groups, error);
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    status = put_row(g, batch, row, groups[row], error);
  return status == PF_OK ? PF_MORE : status;
}


static void lag_want (pf_reader *self, bool *wanted) {
  const lag_reader *const g = (const lag_reader *)(const void *)self;
  if (wanted[self->input->nfields])
    wanted[g->column] = true;
  for (size_t i = 0; i < g->nkeys; i++)
    wanted[g->by[i]] = true;
  pf_stage_want(self, wanted);
}


static void lag_close (pf_reader *self) {
  lag_reader *const g = (lag_reader *)(void *)self;
  pf_kept_rows_drop(&g->kept);
  pf_keys_close(g->keys);
  pf_dictionary_free(g->texts);
  free(g->latest);
  free(g->cells);
  free(g->name);
  free(g->by);
  free(g->fields);
  free(g);
}


pf_status pf_lag_open (pf_reader *input, const char *name, size_t column,
                       bool is_next, const pf_key *keys, size_t nkeys,
                       pf_reader **reader, pf_error *error) {
  lag_reader *const g = pf_stage_new(sizeof *g, input, lag_next, error);
  if (g == NULL)
    return PF_ENOMEM;
  g->reader.want = lag_want;
  g->reader.close = lag_close;
  g->column = column;
  g->is_next = is_next;
  g->fields = pf_stage_fields(&g->reader, 1);
  g->name = malloc(strlen(name) + 1);
  g->by = calloc(nkeys + 1, sizeof *g->by);
  g->texts = pf_dictionary_new();
  if (g->fields == NULL || g->name == NULL || g->by == NULL ||
      g->texts == NULL || pf_keys_open(keys, nkeys, &g->keys) != PF_OK)
    return pf_reader_opened(&g->reader, pf_no_memory(error), reader);
  memcpy(g->name, name, strlen(name) + 1);
  for (; g->nkeys < nkeys; g->nkeys++)
    g->by[g->nkeys] = keys[g->nkeys].column;
  pf_field *const field = &g->fields[input->nfields];
  *field = input->fields[column];
  field->name = g->name;
  if (pf_is_file(field))
    field->help = NULL; /* it is not that of this row */
  return pf_reader_opened(&g->reader, PF_OK, reader);
}
