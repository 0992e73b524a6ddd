/*
** put_cells.c - writes a profile into a store, and opens the rows of cells for
** reading: their checksum is compared first (see profile_cells.h). Its arrays
** are freed before it returns.
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "store/cells.h"
#include "store/profile_cells.h"

/* All arrays are owned. */
typedef struct job {
  const pf_interning *interning;
  pf_database *database;
  const pf_contexts *contexts;
  uint32_t *stacks; /* by node: stack, or PF_NO_STACK */
  pf_pair *pairs;   /* nodes with weights by their stack ids; then as many more
                       as scratch memory */
  size_t npairs;
  pf_packed bytes; /* scratch: the cells of a metric, with their checksum */
} job;


static void job_free (job *j) {
  free(j->stacks);
  free(j->pairs);
  free(j->bytes.at);
}


static bool job_allocate (job *j) {
  const size_t nodes = j->contexts->count;
  j->stacks = pf_array(nodes, sizeof *j->stacks);
  j->pairs = pf_array(2 * nodes, sizeof *j->pairs);
  return j->stacks != NULL && j->pairs != NULL;
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
  const pf_hash *hash;
  const pf_dictionary *dictionary;
  const pf_area *area;
  uint32_t parent, frame; /* ids in the store */
} contents;


static int bind_area (const pf_database *d, pf_statement *s,
                      const contents *c) {
  int result = pf_bind_text(d, s, 2, pf_name(c->dictionary, c->area->name));
  if (result == SQLITE_OK && c->area->file != PF_NO_NAME)
    result = pf_bind_text(d, s, 3, pf_name(c->dictionary, c->area->file));
  if (result == SQLITE_OK && c->area->line != 0)
    result = sqlite3_bind_int64(s->handle, 4, c->area->line);
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
  int result =
      sqlite3_bind_blob64(s, 1, c->hash->bytes, PF_HASH_SIZE, SQLITE_STATIC);
  if (result == SQLITE_OK && c->area != NULL)
    result = bind_area(d, *statement, c);
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
                              uint32_t *id, pf_error *error) {
  pf_status status = find(d, t, c, id, error);
  if (status == PF_OK && *id == 0)
    status = add(d, t, c, id, error);
  if (status != PF_OK)
    *id = 0;
  return status;
}


static pf_status add_frame (void *context, const pf_interning *i,
                            uint32_t frame, uint32_t *id, pf_error *error) {
  const contents c = {.hash = &i->frames[frame].hash,
                      .dictionary = i->dictionary,
                      .area = pf_area_at(i->dictionary, frame)};
  return find_or_add(context, &frames, &c, id, error);
}


static pf_status add_stack (void *context, const pf_interning *i,
                            uint32_t stack, uint32_t *id, pf_error *error) {
  const pf_stack *const s = pf_stack_at(i->dictionary, stack);
  const contents c = {
      .hash = &i->stacks[stack].hash,
      .parent = s->parent == PF_NO_STACK ? 0 : i->stacks[s->parent].id,
      .frame = i->frames[s->frame].id};
  return find_or_add(context, &stacks, &c, id, error);
}


/* Sort the nodes with weights by the ids of their stacks. */
static void sort_nodes (job *j) {
  const pf_contexts *const c = j->contexts;
  for (uint32_t node = 0; node < c->count; node++)
    if (pf_context_has_weight(c, node, PF_NO_METRIC))
      j->pairs[j->npairs++] = (pf_pair){
          node == 0 ? 0 : j->interning->stacks[j->stacks[node]].id, node};
  pf_sort_pairs(j->pairs, j->pairs + c->count, j->npairs);
}


/* Take a statement, and bind two texts to it. */
static pf_status take_with (pf_database *d, const char *sql, const char *first,
                            const char *second, pf_statement **statement,
                            pf_error *error) {
  const pf_status status =
      pf_statement_take(d, pf_bytes_of(sql), statement, NULL, error);
  if (status == PF_OK) {
    (void)pf_bind_text(d, *statement, 1, pf_bytes_of(first));
    (void)pf_bind_text(d, *statement, 2, pf_bytes_of(second));
  }
  return status;
}


/* Set *id to that of a metric, which is added if it is new. */
static pf_status find_metric (pf_database *d, const pf_context_metric *metric,
                              int64_t *id, pf_error *error) {
  pf_statement *s = NULL;
  pf_status status =
      take_with(d, "SELECT id FROM metrics WHERE name = ?1 AND unit = ?2",
                metric->name, metric->unit, &s, error);
  if (status == PF_OK)
    status = pf_statement_step(d, s, error);
  if (status == PF_MORE)
    *id = sqlite3_column_int64(s->handle, 0);
  pf_statement_end(s);
  if (status != PF_END)
    return status;
  status = take_with(d, "INSERT INTO metrics(name, unit) VALUES(?1, ?2)",
                     metric->name, metric->unit, &s, error);
  if (status == PF_OK)
    status = pf_statement_step(d, s, error);
  *id = sqlite3_last_insert_rowid(d->handle);
  pf_statement_end(s);
  return status < 0 ? status : PF_OK;
}


/* Find the next stack with a weight, from pair *at on; false: there is none.
   Nodes with the same stack are one cell. */
static bool next_cell (const job *j, size_t metric, size_t *at, uint32_t *id,
                       int64_t *weight) {
  const int64_t *const weights = j->contexts->weights[metric];
  bool overflow = false;
  *weight = 0;
  while (*weight == 0 && *at < j->npairs) {
    *id = (uint32_t)j->pairs[*at].word;
    for (; *at < j->npairs && j->pairs[*at].word == *id; ++*at)
      *weight = pf_weight_add(*weight, weights[j->pairs[*at].row], &overflow);
  }
  return *weight != 0;
}


/* The bytes of the cells of a metric, with their checksum; none when out of
   memory. */
static pf_bytes encode (job *j, int64_t run, int64_t id, size_t metric,
                        uint64_t *count) {
  j->bytes.used = 0;
  pf_cells_writer writer = pf_cells_begin(&j->bytes);
  size_t at = 0;
  uint32_t stack;
  int64_t weight;
  while (next_cell(j, metric, &at, &stack, &weight))
    pf_cell_put(&writer, stack, weight);
  *count += writer.count;
  (void)pf_pack_reserve(&j->bytes, PF_CHECKSUM_SIZE);
  const pf_bytes cells = pf_cells_end(&writer);
  if (cells.at == NULL)
    return cells;
  pf_checksum_cells(cells, run, id, j->bytes.at + j->bytes.used);
  return (pf_bytes){cells.at, cells.size + PF_CHECKSUM_SIZE};
}


static pf_status put_metric (job *j, int64_t run, size_t metric,
                             uint64_t *count, pf_error *error) {
  pf_database *const d = j->database;
  pf_statement *s;
  int64_t id = 0;
  pf_status status = find_metric(d, &j->contexts->metrics[metric], &id, error);
  if (status == PF_OK)
    status = pf_statement_take(
        d,
        pf_bytes_of("INSERT INTO cells(run, metric, data) VALUES(?1, ?2, ?3)"),
        &s, NULL, error);
  if (status != PF_OK)
    return status;
  const pf_bytes data = encode(j, run, id, metric, count);
  if (data.at == NULL) {
    pf_statement_end(s);
    return pf_no_memory(error);
  }
  sqlite3_bind_int64(s->handle, 1, run);
  sqlite3_bind_int64(s->handle, 2, id);
  const int result =
      sqlite3_bind_blob64(s->handle, 3, data.at, data.size, SQLITE_STATIC);
  status = result == SQLITE_OK ? pf_statement_step(d, s, error)
                               : pf_database_failure(d, result, error);
  pf_statement_end(s);
  return status < 0 ? status : PF_OK;
}


/* Forget ids that may have changed: commands that add to the tables make ids
   invalid, except these here. */
static pf_status begin (pf_stored_ids *ids, pf_database *d, pf_error *error) {
  int64_t version = 0;
  const pf_status status = pf_data_version(d, &version, error);
  if (status != PF_OK)
    return status;
  if (d->dictionary_changes != ids->changes || version != ids->version)
    pf_interning_free(&ids->interning);
  ids->changes = d->dictionary_changes;
  ids->version = version;
  return PF_OK;
}


pf_status pf_cells_store (pf_stored_ids *ids, pf_database *database,
                          int64_t run, const pf_contexts *contexts,
                          uint64_t *count, pf_error *error) {
  const pf_intern_target target = {database, add_frame, add_stack};
  job j = {
      .interning = &ids->interning, .database = database, .contexts = contexts};
  pf_status status = begin(ids, database, error);
  *count = 0;
  if (status == PF_OK && !job_allocate(&j)) {
    job_free(&j);
    return pf_no_memory(error);
  }
  if (status == PF_OK)
    status =
        pf_intern_contexts(&ids->interning, contexts, &target, j.stacks, error);
  if (status == PF_OK)
    sort_nodes(&j);
  for (size_t m = 0; status == PF_OK && m < contexts->nmetrics; m++)
    status = put_metric(&j, run, m, count, error);
  if (status == PF_OK)
    ids->changes = database->dictionary_changes;
  else
    pf_interning_free(&ids->interning);
  job_free(&j);
  return status;
}


pf_status pf_cells_of_row (sqlite3_stmt *s, pf_cells_reader *reader) {
  const uint8_t *const data = sqlite3_column_blob(s, 2);
  pf_bytes cells = {data, (size_t)sqlite3_column_bytes(s, 2)};
  uint8_t checksum[PF_CHECKSUM_SIZE];
  if (data == NULL || cells.size < sizeof checksum)
    return PF_EFORMAT;
  cells.size -= sizeof checksum;
  pf_checksum_cells(cells, sqlite3_column_int64(s, 0),
                    sqlite3_column_int64(s, 1), checksum);
  return memcmp(checksum, data + cells.size, sizeof checksum) == 0
             ? pf_cells_open(reader, cells)
             : PF_EFORMAT;
}


pf_status pf_cells_failed (pf_status status, sqlite3_stmt *s, pf_error *error) {
  return pf_fail(
      error, status, PF_NO_OFFSET,
      status == PF_EUNSUPPORTED
          ? "the cells of run %lld, metric %lld, have another layout "
            "than this version of profio can read"
          : "the cells of run %lld, metric %lld, are damaged",
      (long long)sqlite3_column_int64(s, 0),
      (long long)sqlite3_column_int64(s, 1));
}
