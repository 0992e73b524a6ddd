/*
** interning.c - ids of frames and stacks in a store (see interning.h).
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "store/cells.h"
#include "store/interning.h"

#define MOST_STACKS ((uint32_t)1 << 23) /* known; about 60 bytes each */


/* {====== Life ====== */

void pf_interning_free (pf_interning *i) {
  if (i->dictionary != NULL)
    pf_dictionary_free(i->dictionary);
  free(i->frames);
  free(i->stacks);
  *i = (pf_interning){.dictionary = NULL};
}


pf_status pf_data_version (pf_database *d, int64_t *version, pf_error *error) {
  pf_statement *s;
  pf_status status =
      pf_statement_take(d, pf_bytes_of("PRAGMA data_version"), &s, NULL, error);
  if (status != PF_OK)
    return status;
  status = pf_statement_step(d, s, error);
  if (status == PF_MORE)
    *version = sqlite3_column_int64(s->handle, 0);
  pf_statement_end(s);
  return status < 0 ? status : PF_OK;
}


pf_status pf_interning_begin (pf_interning *i, pf_database *d,
                              pf_error *error) {
  int64_t version = 0;
  const pf_status status = pf_data_version(d, &version, error);
  if (status != PF_OK)
    return status;
  if (i->dictionary != NULL && d->dictionary_changes == i->changes &&
      version == i->data_version &&
      pf_stacks_count(i->dictionary) < MOST_STACKS)
    return PF_OK;
  pf_interning_free(i);
  i->changes = d->dictionary_changes;
  i->database = d;
  i->data_version = version;
  i->dictionary = pf_dictionary_new();
  return i->dictionary == NULL ? pf_no_memory(error) : PF_OK;
}


/* Commands that add to the tables make ids invalid, except these here. */
void pf_interning_end (pf_interning *i) {
  i->changes = i->database->dictionary_changes;
}

/* }====== */


/* {====== Rows of the dictionary ====== */

/* The SQL of a table. Both commands have the hash as parameter 1, and then the
   same contents. */
typedef struct table {
  const char *name, *find, *add;
} table;

static const table frames = {
    "frames",
    "SELECT id, name = ?2 AND file IS ?3 AND line IS ?4 FROM frames"
    " WHERE hash = ?1",
    "INSERT INTO frames(hash, name, file, line) VALUES(?1, ?2, ?3, ?4)"};

static const table stacks = {
    "stacks",
    "SELECT id, parent = ?2 AND frame = ?3 FROM stacks WHERE hash = ?1",
    "INSERT INTO stacks(hash, parent, frame) VALUES(?1, ?2, ?3)"};

/* Contents of a row: a frame if `area` is not NULL, else a stack. */
typedef struct contents {
  pf_hash hash;
  const pf_dictionary *dictionary;
  const pf_area *area;
  uint32_t parent, frame; /* ids in the store */
} contents;


static int bind_text (sqlite3_stmt *s, int parameter, pf_bytes text) {
  return sqlite3_bind_blob64(s, parameter, text.at, text.size, SQLITE_STATIC);
}


static int bind_area (sqlite3_stmt *s, const contents *c) {
  int result = bind_text(s, 2, pf_name(c->dictionary, c->area->name));
  if (result == SQLITE_OK && c->area->file != PF_NO_NAME)
    result = bind_text(s, 3, pf_name(c->dictionary, c->area->file));
  if (result == SQLITE_OK && c->area->line != 0)
    result = sqlite3_bind_int64(s, 4, c->area->line);
  return result;
}


/* Take the statement of a command and give it the contents of a row. */
static pf_status take (pf_database *d, const char *sql, const contents *c,
                       pf_statement **statement, pf_error *error) {
  const pf_status status =
      pf_statement_take(d, pf_bytes_of(sql), statement, NULL, error);
  if (status != PF_OK)
    return status;
  sqlite3_stmt *const s = (*statement)->handle;
  int result = bind_text(s, 1, (pf_bytes){c->hash.bytes, PF_HASH_SIZE});
  if (result == SQLITE_OK && c->area != NULL)
    result = bind_area(s, c);
  else if (result == SQLITE_OK) {
    sqlite3_bind_int64(s, 2, c->parent);
    result = sqlite3_bind_int64(s, 3, c->frame);
  }
  return result == SQLITE_OK ? PF_OK : pf_database_failure(d, result, error);
}


/* Check the row with this hash. */
static pf_status check_row (sqlite3_stmt *s, const table *t, const contents *c,
                            uint32_t *id, pf_error *error) {
  const int64_t found = sqlite3_column_int64(s, 0);
  if (sqlite3_column_int(s, 1) == 0)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "two different rows of the table %s have one hash (id "
                   "%lld): the store is damaged",
                   t->name, (long long)found);
  if (found <= (int64_t)c->parent || found >= PF_STACK_LIMIT)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "the table %s has the id %lld, which is out of order: the "
                   "store is damaged",
                   t->name, (long long)found);
  *id = (uint32_t)found;
  return PF_OK;
}


/* Set *id to that of the row with these contents; 0: there is none. */
static pf_status find (pf_database *d, const table *t, const contents *c,
                       uint32_t *id, pf_error *error) {
  pf_statement *s = NULL;
  pf_status status = take(d, t->find, c, &s, error);
  *id = 0;
  if (status == PF_OK)
    status = pf_statement_step(d, s, error);
  if (status == PF_MORE)
    status = check_row(s->handle, t, c, id, error);
  pf_statement_end(s);
  return status < 0 ? status : PF_OK;
}


static pf_status add (pf_database *d, const table *t, const contents *c,
                      uint32_t *id, pf_error *error) {
  pf_statement *s = NULL;
  pf_status status = take(d, t->add, c, &s, error);
  if (status == PF_OK)
    status = pf_statement_step(d, s, error);
  pf_statement_end(s);
  if (status < 0)
    return status;
  const int64_t added = sqlite3_last_insert_rowid(d->handle);
  if (added <= (int64_t)c->parent || added >= PF_STACK_LIMIT)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "the table %s has no more ids below %lu: use another store",
                   t->name, (unsigned long)PF_STACK_LIMIT);
  *id = (uint32_t)added;
  return PF_OK;
}


static pf_status find_or_add (pf_database *d, const table *t, const contents *c,
                              pf_known *known, pf_error *error) {
  uint32_t id;
  pf_status status = find(d, t, c, &id, error);
  if (status == PF_OK && id == 0)
    status = add(d, t, c, &id, error);
  if (status == PF_OK)
    *known = (pf_known){c->hash, id};
  return status;
}

/* }====== */


/* Set *name to the id of a name of `from` in the own dictionary. */
static bool copy_name (pf_interning *i, const pf_dictionary *from,
                       uint32_t number, uint32_t *name) {
  *name = PF_NO_NAME;
  if (number != PF_NO_NAME)
    *name = pf_intern(i->dictionary, pf_name(from, number));
  return *name != PF_NO_NAME || number == PF_NO_NAME;
}


pf_status pf_interning_frame (pf_interning *i, const pf_dictionary *from,
                              uint32_t area, uint32_t *frame, pf_error *error) {
  const pf_area *const given = pf_area_at(from, area);
  pf_area own = PF_AREA_NONE;
  own.line = given->line;
  if (!copy_name(i, from, given->name, &own.name) ||
      !copy_name(i, from, given->file, &own.file))
    return pf_no_memory(error);
  *frame = pf_area_add(i->dictionary, &own);
  if (*frame == PF_NO_AREA ||
      !pf_grow_filled(&i->frames, &i->frame_capacity, (size_t)*frame + 1, 0))
    return pf_no_memory(error);
  if (i->frames[*frame].id != 0)
    return PF_OK;
  const contents c = {.hash = pf_hash_frame(i->dictionary, &own),
                      .dictionary = i->dictionary,
                      .area = &own};
  return find_or_add(i->database, &frames, &c, &i->frames[*frame], error);
}


pf_status pf_interning_stack (pf_interning *i, uint32_t parent, uint32_t frame,
                              uint32_t *stack, pf_error *error) {
  static const pf_known none = {{{0}}, 0};
  *stack = pf_stack_push(i->dictionary, parent, frame);
  if (*stack == PF_NO_STACK ||
      !pf_grow_filled(&i->stacks, &i->stack_capacity, (size_t)*stack + 1, 0))
    return pf_no_memory(error);
  if (i->stacks[*stack].id != 0)
    return PF_OK;
  const pf_known *const above =
      parent == PF_NO_STACK ? &none : &i->stacks[parent];
  const contents c = {.hash =
                          pf_hash_stack(&above->hash, &i->frames[frame].hash),
                      .parent = above->id,
                      .frame = i->frames[frame].id};
  return find_or_add(i->database, &stacks, &c, &i->stacks[*stack], error);
}
