/*
** areas_table.c - the reader of table areas: the rows of the mapping in their
** order. Without a mapping a binary timeline is scanned, and areas are listed
** in the order of their first events, since readers in threads add them in any
** order. A Text1 file without a mapping lists none, whatever has been read.
** Opened by open_winidea.c for lua/checked_reader.c, which calls `close`; that
** frees the order of the areas.
*/

#include <stdlib.h>

#include "formats/winidea/text1.h"
#include "model/base/memory.h"
#include "model/rows/batch.h"
#include "model/rows/abilities.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

typedef struct areas_reader {
  pf_reader reader;
  pf_trace *trace;
  uint32_t row;
  uint32_t *order; /* entries by first event; NULL: order of the list */
  uint32_t norder;
} areas_reader;


/* The handle of the states of a variable: that of its row, or of the states
   that events have added for it; WINIDEA_NO_HANDLE: it has none. */
static uint32_t states_of (const winidea_areas *areas,
                           const winidea_entry *entry) {
  const uint32_t handle = entry->handle + WINIDEA_KIND_STEP;
  const winidea_handle_info *const info =
      winidea_has_writes(entry->handle) ? winidea_find_handle(areas, handle)
                                        : NULL;
  const bool has_states =
      entry->states == WINIDEA_NO_HANDLE && info != NULL &&
      info->entry != WINIDEA_NO_ENTRY &&
      areas->list[info->entry].parent == (uint32_t)(entry - areas->list);
  return has_states ? handle : entry->states;
}


static void put_entry (const winidea_file *file, const winidea_entry *entry,
                       const pf_batch *batch, size_t row) {
  pf_column *const c = batch->columns;
  const int64_t line = winidea_line_of(entry);
  pf_put_id(&c[AREAS_area], row, entry->area);
  pf_put_int(&c[AREAS_handle], row, entry->handle, true);
  pf_put_int(&c[AREAS_value], row, entry->value, entry->has_value);
  pf_put_id(&c[AREAS_name], row, entry->name);
  pf_put_id(&c[AREAS_class], row, file->classes[winidea_kind(entry->handle)]);
  pf_put_id(&c[AREAS_parent], row,
            entry->parent == WINIDEA_NO_ENTRY
                ? PF_NO_AREA
                : file->areas.list[entry->parent].area);
  pf_put_id(&c[AREAS_file], row, entry->file);
  pf_put_int(&c[AREAS_line], row, line, line != 0);
  pf_put_id(&c[AREAS_type], row, entry->type);
  pf_put_id(&c[AREAS_unit], row, entry->unit);
  pf_put_id(&c[AREAS_path], row, entry->path);
  const uint32_t states = states_of(&file->areas, entry);
  pf_put_int(&c[AREAS_states], row, states, states != WINIDEA_NO_HANDLE);
}


static pf_status areas_next (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  areas_reader *const self = (areas_reader *)(void *)reader;
  winidea_file *const file = self->trace->state;
  (void)error;
  pf_batch_clear(batch);
  pthread_mutex_lock(&file->mutex);
  const winidea_areas *const areas = &file->areas;
  const uint32_t count = self->order != NULL ? self->norder : areas->count;
  for (; batch->rows < PF_BATCH_ROWS && self->row < count; self->row++) {
    const uint32_t entry =
        self->order == NULL ? self->row : self->order[self->row];
    if (self->order != NULL || areas->list[entry].is_mapped)
      put_entry(file, &areas->list[entry], batch, batch->rows++);
  }
  pthread_mutex_unlock(&file->mutex);
  return pf_batch_status(batch, PF_END);
}


static pf_status areas_seek (pf_reader *reader, uint64_t row, pf_error *error) {
  areas_reader *const self = (areas_reader *)(void *)reader;
  (void)error;
  self->row = row < UINT32_MAX ? (uint32_t)row : UINT32_MAX;
  return PF_OK;
}


static void areas_close (pf_reader *reader) {
  areas_reader *const self = (areas_reader *)(void *)reader;
  free(self->order);
  free(self);
}


/* Areas in the order of their first events. */
typedef struct area_order {
  uint32_t *areas;
  bool *seen; /* by area: it is in the list */
  uint32_t count;
  size_t capacity, nseen;
} area_order;


static pf_status scan_timeline (pf_trace *trace, area_order *s,
                                pf_error *error) {
  static const bool wanted[TIMELINE_COLUMNS] = {[TIMELINE_area] = true};
  const pf_table timeline = {"timeline", winidea_timeline_fields,
                             TIMELINE_COLUMNS, -1, NULL};
  pf_reader *reader;
  pf_batch batch;
  pf_status status = winidea_open_bin(trace, &timeline, &reader, error);
  if (status != PF_OK)
    return status;
  if (pf_batch_open(&batch, reader->fields, reader->nfields, wanted) != PF_OK)
    status = pf_no_memory(error);
  while (status == PF_MORE) {
    status = reader->next(reader, &batch, error);
    const pf_column *const areas = &batch.columns[TIMELINE_area];
    for (size_t i = 0; i < batch.rows && status == PF_MORE; i++) {
      const uint32_t area = areas->ids[i];
      if (pf_is_missing(areas, i) || (area < s->nseen && s->seen[area]))
        continue;
      if (!pf_grow(&s->areas, &s->capacity, (size_t)s->count + 1) ||
          !pf_grow_filled(&s->seen, &s->nseen, (size_t)area + 1, 0)) {
        status = pf_no_memory(error);
        break;
      }
      s->seen[area] = true;
      s->areas[s->count++] = area;
    }
  }
  pf_batch_close(&batch);
  reader->close(reader);
  return status < 0 ? status : PF_OK;
}


/* Converts areas to entries, with the mutex. A variable without events of its
   own is placed before the first of its states. */
static pf_status order_entries (areas_reader *self, const area_order *s,
                                pf_error *error) {
  const winidea_file *const file = self->trace->state;
  const winidea_areas *const areas = &file->areas;
  uint32_t *const of = calloc(s->nseen + 1, sizeof *of);
  bool *const added = calloc(areas->count + 1, sizeof *added);
  self->order = malloc((areas->count + 1) * sizeof *self->order);
  const bool has_memory = of != NULL && added != NULL && self->order != NULL;
  for (uint32_t i = 0; has_memory && i < areas->count; i++)
    if (areas->list[i].area < s->nseen)
      of[areas->list[i].area] = i;
  for (uint32_t i = 0; has_memory && i < 2 * s->count; i++) {
    const uint32_t child = of[s->areas[i / 2]];
    const uint32_t entry = i % 2 == 0 ? areas->list[child].parent : child;
    if (entry == WINIDEA_NO_ENTRY || added[entry])
      continue;
    added[entry] = true;
    self->order[self->norder++] = entry;
  }
  free(of);
  free(added);
  return has_memory ? PF_OK : pf_no_memory(error);
}


pf_status winidea_open_areas (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  static const pf_abilities abilities = {.seek = areas_seek};
  winidea_file *const file = trace->state;
  pf_status status = PF_OK;
  area_order s = {.count = 0};
  areas_reader *const self =
      pf_reader_new(sizeof *self, trace, table, areas_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = areas_close;
  self->reader.can = &abilities;
  self->trace = trace;
  pthread_mutex_lock(&file->mutex);
  if (file->text != NULL)
    status = winidea_scan_all(trace, error);
  pthread_mutex_unlock(&file->mutex);
  if (status >= 0 && file->areas.mapped == 0 && file->timeline != NULL) {
    status = scan_timeline(trace, &s, error);
    pthread_mutex_lock(&file->mutex);
    if (status == PF_OK)
      status = order_entries(self, &s, error);
    pthread_mutex_unlock(&file->mutex);
    free(s.areas);
    free(s.seen);
  }
  return pf_reader_opened(&self->reader, status, reader);
}
