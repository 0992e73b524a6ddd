/*
** checked_reader.c - parts that are closed between uses (trace_part.h), and
** readers of their tables. These check before each batch that the part is open,
** and after it that its sources could be read.
**
** The functions are methods of parts, which trace_part.c registers and
** lua/profio/internal calls. A checked reader owns the reader of the format,
** closes it, and uses the part until then; its userdata pins the part.
*/

#include <string.h>
#include <stdlib.h>

#include "lua/trace_part.h"
#include "model/rows/table_reader.h"
#include "lua/arguments.h"

static bool is_asleep (const l_part *p) {
  return p->tables != NULL && p->trace.tables == p->tables;
}


static void fall_asleep (l_part *p) {
  pf_trace_close(&p->trace);
  for (size_t i = 0; i < p->trace.nsources; i++) {
    l_source_sleep(p->owners[i]);
    p->sources[i].bytes = p->owners[i]->bytes;
  }
  p->trace.tables = p->tables;
}


/* Opens the trace again. The facts and warnings that the format adds are those
   of the first time, and are freed. */
static pf_status wake (l_part *p, pf_error *error) {
  const size_t ntables = p->trace.ntables;
  pf_status status = PF_OK;
  for (size_t i = 0; i < p->trace.nsources && status == PF_OK; i++) {
    status = l_source_wake(p->owners[i], error);
    p->sources[i].bytes = p->owners[i]->bytes;
  }
  pf_notes *const notes = p->trace.notes;
  if (status == PF_OK && (p->trace.notes = pf_notes_new()) == NULL)
    status = pf_no_memory(error);
  if (status == PF_OK) {
    p->trace.tables = NULL;
    p->trace.ntables = 0;
    status = pf_trace_open(&p->trace, error);
  }
  if (p->trace.notes != notes)
    pf_notes_free(p->trace.notes);
  p->trace.notes = notes;
  if (status != PF_OK) {
    fall_asleep(p);
    p->trace.ntables = ntables;
  }
  return status;
}


/* Uses a part, which wakes; each use ends with l_part_release, after which it
   may fall asleep. Failures are those of opening its sources and its trace, and
   PF_EIO if a file has changed since it was opened first. */
static pf_status use_part (l_part *part, pf_error *error) {
  pthread_mutex_lock(&part->lock);
  const pf_status status = is_asleep(part) ? wake(part, error) : PF_OK;
  part->uses += status == PF_OK;
  pthread_mutex_unlock(&part->lock);
  return status;
}


void l_part_release (l_part *part) {
  pthread_mutex_lock(&part->lock);
  if (--part->uses == 0 && part->sleeps && part->open)
    fall_asleep(part);
  pthread_mutex_unlock(&part->lock);
}


int l_part_sleep (lua_State *L) {
  l_part *const p = l_part_check(L, 1);
  const size_t count = p->trace.ntables;
  bool can_sleep = !p->sleeps;
  for (size_t i = 0; i < p->trace.nsources; i++)
    can_sleep = can_sleep && l_source_can_sleep(p->owners[i]);
  if (can_sleep) {
    p->tables = calloc(count + 1, sizeof *p->tables);
    if (p->tables == NULL)
      l_no_memory(L);
    for (size_t i = 0; i < count; i++)
      p->tables[i] = (pf_table){.name = p->trace.tables[i].name,
                                .rows = p->trace.tables[i].rows};
    p->sleeps = true;
    p->uses++;
    l_part_release(p);
  }
  lua_pushboolean(L, p->sleeps);
  return 1;
}


l_part *l_part_use_check (lua_State *L, int arg) {
  l_part *const p = l_part_check(L, arg);
  pf_error error;
  if (use_part(p, &error) != PF_OK)
    l_throw(L, &error, lua_absindex(L, arg));
  return p;
}


/* A decoder's reader that checks before each batch that the part is open, and
   after it that its sources could be read. */
typedef struct checked {
  pf_reader reader;
  pf_abilities abilities;
  pf_reader *input;   /* NULL: not open yet */
  uint64_t rows_left; /* rows still to be returned; UINT64_MAX: no limit */
  l_part *part;       /* pinned by the userdata, like the name */
  const char *table;  /* the name of the table */
  size_t omitted;     /* column of omit_zeros, or SIZE_MAX */
  bool lends_fields;  /* the part is in use until `close`, for the fields */
} checked;


static bool is_closed (const checked *w, pf_error *error) {
  if (!w->part->open)
    (void)pf_fail(error, PF_EIO, PF_NO_OFFSET, "trace is closed");
  return !w->part->open;
}


/* Returns the status of a read from the sources, or a failure if they could not
   be read; a failure gets the label of the part. */
static pf_status result (const checked *w, pf_status status, pf_error *error) {
  for (size_t i = 0; i < w->part->trace.nsources; i++)
    if (l_source_faulted(w->part->owners[i]))
      status = pf_fail(error, PF_EIO, PF_NO_OFFSET, PF_MAP_LOST);
  if (status < PF_OK)
    error->label = w->part->label;
  return status;
}


static const pf_table *table_named (const l_part *p, const char *name) {
  for (size_t i = 0; i < p->trace.ntables; i++)
    if (strcmp(p->trace.tables[i].name, name) == 0)
      return &p->trace.tables[i];
  return NULL;
}


/* Checks that the part is open, and opens the decoder's reader if it is not
   open yet. False: `error` says why. */
static bool open_input (checked *w, pf_error *error) {
  if (is_closed(w, error) || w->input != NULL)
    return w->part->open;
  pf_status status = use_part(w->part, error);
  if (status == PF_OK) {
    const pf_table *const table = table_named(w->part, w->table);
    status = table->open(&w->part->trace, table, &w->input, error);
    if (status != PF_OK) {
      w->input = NULL;
      l_part_release(w->part);
    }
  }
  if (status != PF_OK)
    (void)result(w, status, error);
  else if (w->omitted != SIZE_MAX)
    w->input->can->omit_zeros(w->input, w->omitted);
  return w->input != NULL;
}


static void close_input (checked *w) {
  if (w->input == NULL)
    return;
  w->input->close(w->input);
  w->input = NULL;
  l_part_release(w->part);
}


static pf_status checked_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  checked *const w = (checked *)(void *)self;
  if (!open_input(w, error))
    return error->status;
  if (w->rows_left == 0) {
    pf_batch_clear(batch);
    return PF_END;
  }
  const pf_status status = w->input->next(w->input, batch, error);
  if (batch->rows > w->rows_left)
    batch->rows = (size_t)w->rows_left;
  w->rows_left -= w->rows_left == UINT64_MAX ? 0 : batch->rows;
  return result(w, status, error);
}


static pf_status checked_next_events (pf_reader *self,
                                      const pf_event_target *to, size_t *rows,
                                      pf_error *error) {
  checked *const w = (checked *)(void *)self;
  if (!open_input(w, error))
    return error->status;
  *rows = 0;
  return result(w, w->input->can->next_events(w->input, to, rows, error),
                error);
}


/* Closes the decoder's reader at the end, so that the part may fall asleep. */
static pf_status checked_read_stacks (pf_reader *self,
                                      const pf_stack_target *to,
                                      pf_error *error) {
  checked *const w = (checked *)(void *)self;
  if (!open_input(w, error))
    return error->status;
  pf_status status = w->input->can->read_stacks(w->input, to, error);
  status = result(w, status, error);
  close_input(w);
  return status;
}


static pf_status checked_seek (pf_reader *self, uint64_t row, pf_error *error) {
  checked *const w = (checked *)(void *)self;
  return open_input(w, error)
             ? result(w, w->input->can->seek(w->input, row, error), error)
             : error->status;
}


static void checked_omit_zeros (pf_reader *self, size_t column) {
  checked *const w = (checked *)(void *)self;
  w->omitted = column;
  if (w->input != NULL)
    w->input->can->omit_zeros(w->input, column);
}


static void checked_close (pf_reader *self) {
  checked *const w = (checked *)(void *)self;
  close_input(w);
  if (w->lends_fields)
    l_part_release(w->part);
  free(self);
}


/* Returns a reader of a table of a part (both borrowed), which is not open yet
   and has no fields; NULL when out of memory. */
static checked *new_checked (l_part *part, const char *table, pf_error *error) {
  checked *const w = pf_reader_of(sizeof *w, NULL, 0, part->trace.dictionary,
                                  checked_next, error);
  if (w == NULL)
    return NULL;
  w->reader.close = checked_close;
  w->reader.can = &w->abilities;
  w->part = part;
  w->table = table;
  w->rows_left = UINT64_MAX;
  w->omitted = SIZE_MAX;
  return w;
}


/* Opens a reader: its part lends the fields, its table offers the abilities. */
static pf_status open_checked (checked *w, pf_error *error) {
  const pf_status status = use_part(w->part, error);
  if (status != PF_OK)
    return status;
  w->lends_fields = true;
  const pf_table *const table = table_named(w->part, w->table);
  if (table == NULL)
    return pf_refuse(error, "no table '%s'", w->table);
  w->reader.fields = table->fields;
  w->reader.nfields = table->nfields;
  if (!open_input(w, error))
    return error->status;
  const pf_abilities *const can = pf_can(w->input);
  if (can->seek != NULL)
    w->abilities.seek = checked_seek;
  if (can->read_stacks != NULL)
    w->abilities.read_stacks = checked_read_stacks;
  if (can->next_events != NULL)
    w->abilities.next_events = checked_next_events;
  if (can->omit_zeros != NULL)
    w->abilities.omit_zeros = checked_omit_zeros;
  return PF_OK;
}


pf_status l_part_open_table (l_part *part, const char *table,
                             pf_reader **reader, pf_error *error) {
  checked *const w = new_checked(part, table, error);
  const pf_status status = w == NULL ? PF_ENOMEM : open_checked(w, error);
  if (status != PF_OK && w != NULL)
    checked_close(&w->reader);
  else if (status == PF_OK)
    *reader = &w->reader;
  return status;
}


int l_part_reader (lua_State *L) {
  l_part *const p = l_part_check(L, 1);
  const char *const name = luaL_checkstring(L, 2);
  const lua_Integer from = luaL_optinteger(L, 3, -1);
  const lua_Integer count = from < 0 ? 0 : luaL_checkinteger(L, 4);
  pf_error error;
  lua_settop(L, 4);
  if (table_named(p, name) == NULL)
    return luaL_error(L, "no table '%s'", name);
  l_reader *const r = l_reader_new(L); /* at 5 */
  r->open = &p->open;
  lua_getiuservalue(L, 1, 2);
  lua_setiuservalue(L, -2, 2);
  if (l_part_open_table(p, name, &r->reader, &error) != PF_OK)
    return l_failure_of(L, &error, 1);
  checked *const w = (checked *)(void *)r->reader;
  if (from < 0)
    return 1;
  if (w->abilities.seek == NULL)
    return luaL_argerror(L, 3, "the readers of this table cannot seek");
  if (checked_seek(&w->reader, (uint64_t)from, &error) != PF_OK)
    return l_throw(L, &error, 5);
  w->rows_left = (uint64_t)count;
  w->reader.can = NULL; /* a bulk read would return all rows */
  return 1;
}


pf_status l_part_reader_like (void *part, const pf_reader *other,
                              pf_reader **reader, pf_error *error) {
  const checked *const like = (const checked *)(const void *)other;
  checked *const w = new_checked(part, like->table, error);
  if (w == NULL)
    return PF_ENOMEM;
  w->reader.fields = other->fields;
  w->reader.nfields = other->nfields;
  w->abilities = like->abilities;
  *reader = &w->reader;
  return PF_OK;
}


bool l_part_is_reader (const pf_reader *reader) {
  return reader->next == checked_next;
}
