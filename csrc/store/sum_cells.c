/*
** sum_cells.c - adds up the cells of many runs (see profile_cells.h). Arrays
** are indexed by the ids of stacks, which are dense; pages of them that no cell
** needs take no memory. Stacks and frames that were read are kept for the next
** sum of the same connection.
**
** Called by cell_methods.c and function_sums.c. The caller owns the contexts,
** the userdata of the database the pf_read_stacks; all other arrays are freed
** before pf_cells_sum returns.
*/

#include <stdlib.h>
#include <string.h>

#include "model/system/parallel.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/base/wide.h"
#include "os/os.h"
#include "store/profile_cells.h"

#define SCAN_SHARE 16   /* scan the stacks if one of so many is needed */
#define POLL_EVERY 4096 /* rows of stacks until Ctrl-C is looked for */

/* A metric of the store. */
typedef struct sum {
  int64_t id;
  char *name, *unit; /* owned */
  pf_wide *weights;  /* owned; by stack id */
} sum;

/* All arrays are owned. */
typedef struct job {
  pf_database *database;
  pf_contexts *contexts;
  pf_read_stacks *read;              /* borrowed */
  uint32_t stack_limit, frame_limit; /* all ids in the store are below these */
  sum *sums;
  size_t nsums, sum_capacity;
  uint64_t nread;   /* rows of stacks */
  uint32_t nneeded; /* stacks with cells */
  bool *needed;     /* by stack: it has a cell, or a stack below it has one */
  uint32_t *nodes;  /* by stack */
  uint32_t *areas;  /* by frame id: area + 1, or 0: not looked up yet */
} job;


static void job_free (job *j) {
  for (size_t i = 0; i < j->nsums; i++) {
    free(j->sums[i].name);
    free(j->sums[i].unit);
    free(j->sums[i].weights);
  }
  free(j->sums);
  free(j->needed);
  free(j->nodes);
  free(j->areas);
}


pf_status pf_query_first (pf_database *d, const char *sql, int64_t number,
                          pf_statement **statement, pf_error *error) {
  const pf_status status =
      pf_statement_take(d, pf_bytes_of(sql), statement, NULL, error);
  if (status != PF_OK)
    return status;
  if (sqlite3_bind_parameter_count((*statement)->handle) > 0)
    sqlite3_bind_int64((*statement)->handle, 1, number);
  return pf_statement_step(d, *statement, error);
}


pf_status pf_id_limit (pf_database *d, const char *sql, uint32_t *limit,
                       pf_error *error) {
  pf_statement *s = NULL;
  pf_status status = pf_query_first(d, sql, 0, &s, error);
  if (status >= 0) {
    const int64_t most = sqlite3_column_int64(s->handle, 0);
    *limit = (uint32_t)most + 1;
    if (most < 0 || most >= PF_STACK_LIMIT)
      status = pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                       "the store has the id %lld; ids below %lu can be read",
                       (long long)most, (unsigned long)PF_STACK_LIMIT);
  }
  pf_statement_end(s);
  return status < 0 ? status : PF_OK;
}


void pf_read_stacks_free (pf_read_stacks *r) {
  if (r->dictionary != NULL)
    pf_dictionary_free(r->dictionary);
  free(r->parents);
  free(r->frames);
  free(r->areas);
  *r = (pf_read_stacks){.dictionary = NULL};
}


/* Forget the stacks that were read, unless the store is as it was then. */
static pf_status begin_read (pf_read_stacks *r, const job *j, pf_error *error) {
  const uint64_t changes = j->database->dictionary_changes;
  int64_t version = 0;
  const pf_status status = pf_data_version(j->database, &version, error);
  if (status != PF_OK)
    return status;
  if (r->dictionary != NULL && r->version == version && r->changes == changes &&
      r->stack_limit == j->stack_limit && r->frame_limit == j->frame_limit)
    return PF_OK;
  pf_read_stacks_free(r);
  *r = (pf_read_stacks){.version = version,
                        .changes = changes,
                        .stack_limit = j->stack_limit,
                        .frame_limit = j->frame_limit};
  r->parents = pf_array_of_zeros(r->stack_limit, sizeof *r->parents);
  r->frames = pf_array_of_zeros(r->stack_limit, sizeof *r->frames);
  r->areas = pf_array_of_zeros(r->frame_limit, sizeof *r->areas);
  r->dictionary = pf_dictionary_new();
  if (r->parents != NULL && r->frames != NULL && r->areas != NULL &&
      r->dictionary != NULL)
    return PF_OK;
  pf_read_stacks_free(r); /* so that the next attempt begins anew */
  (void)pf_no_memory(error);
  return PF_ENOMEM; /* clang-tidy sees that it is no success */
}


static pf_status job_open (job *j, pf_error *error) {
  pf_status status = pf_id_limit(j->database, "SELECT max(id) FROM stacks",
                                 &j->stack_limit, error);
  if (status == PF_OK)
    status = pf_id_limit(j->database, "SELECT max(id) FROM frames",
                         &j->frame_limit, error);
  if (status != PF_OK)
    return status;
  j->needed = pf_array_of_zeros(j->stack_limit, sizeof *j->needed);
  j->nodes = pf_array_of_zeros(j->stack_limit, sizeof *j->nodes);
  j->areas = pf_array_of_zeros(j->frame_limit, sizeof *j->areas);
  if (j->needed == NULL || j->nodes == NULL || j->areas == NULL)
    return pf_no_memory(error);
  return begin_read(j->read, j, error);
}

/* A copy of a text column, with a NUL at its end; NULL when out of memory. */
static char *copy_text (sqlite3_stmt *s, int column) {
  const void *const bytes = sqlite3_column_blob(s, column);
  const size_t size = (size_t)sqlite3_column_bytes(s, column);
  char *const copy = pf_array(size + 1, 1);
  if (copy != NULL) {
    if (size > 0)
      memcpy(copy, bytes, size);
    copy[size] = '\0';
  }
  return copy;
}


/* Set the name and unit of a new sum. */
static pf_status read_metric (job *j, sum *new, pf_error *error) {
  pf_statement *s = NULL;
  pf_status status = pf_query_first(
      j->database, "SELECT name, unit FROM metrics WHERE id = ?1", new->id, &s,
      error);
  if (status == PF_MORE) {
    new->name = copy_text(s->handle, 0);
    new->unit = copy_text(s->handle, 1);
    if (new->name == NULL || new->unit == NULL)
      status = pf_no_memory(error);
  }
  else if (status == PF_END)
    status = pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                     "cells have the metric %lld, which the table metrics does "
                     "not have: the store is damaged",
                     (long long)new->id);
  pf_statement_end(s);
  return status;
}


/* Returns the sum of a metric id, valid until the next call; NULL: `error` says
   why there is none. */
static sum *sum_of (job *j, int64_t id, pf_error *error) {
  for (size_t i = j->nsums; i-- > 0;)
    if (j->sums[i].id == id)
      return &j->sums[i];
  if (!pf_grow(&j->sums, &j->sum_capacity, j->nsums + 1)) {
    (void)pf_no_memory(error);
    return NULL;
  }
  sum *const new = &j->sums[j->nsums++];
  *new = (sum){.id = id};
  new->weights = pf_array_of_zeros(j->stack_limit, sizeof *new->weights);
  if (new->weights == NULL) {
    (void)pf_no_memory(error);
    return NULL;
  }
  return read_metric(j, new, error) == PF_OK ? new : NULL;
}


/* Add the cells of the current row. */
static pf_status add_cells (job *j, sqlite3_stmt *s, pf_error *error) {
  pf_cells_reader reader;
  uint32_t id;
  int64_t weight;
  const sum *const to = sum_of(j, sqlite3_column_int64(s, 1), error);
  if (to == NULL)
    return error->status;
  pf_status status = pf_cells_of_row(s, &reader);
  while (status == PF_MORE) {
    status = pf_cells_next(&reader, j->stack_limit, &id, &weight);
    if (status != PF_MORE)
      break;
    to->weights[id] += weight;
    j->nneeded += !j->needed[id];
    j->needed[id] = true;
  }
  return status == PF_END ? PF_OK : pf_cells_failed(status, s, error);
}


static pf_status add_all (job *j, pf_statement *rows, pf_error *error) {
  pf_status status;
  if (sqlite3_column_count(rows->handle) != 3)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "the query must have three columns: run, metric, data");
  while ((status = pf_statement_step(j->database, rows, error)) == PF_MORE) {
    status = add_cells(j, rows->handle, error);
    if (status == PF_OK && os_is_interrupted())
      status = pf_interrupted(error);
    if (status != PF_OK)
      return status;
  }
  return status == PF_END ? PF_OK : status;
}

pf_status pf_stack_of_row (sqlite3_stmt *s, uint32_t stack_limit,
                           uint32_t frame_limit, pf_stack_row *row,
                           pf_error *error) {
  const int64_t id = sqlite3_column_int64(s, 0);
  const int64_t parent = sqlite3_column_int64(s, 1);
  const int64_t frame = sqlite3_column_int64(s, 2);
  if (id <= 0 || id >= stack_limit || parent < 0 || parent >= id ||
      frame <= 0 || frame >= frame_limit)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "the stack %lld has the parent %lld and the frame %lld, "
                   "which is impossible: the store is damaged",
                   (long long)id, (long long)parent, (long long)frame);
  *row = (pf_stack_row){(uint32_t)id, (uint32_t)parent, (uint32_t)frame};
  return PF_OK;
}


/* Read the stacks with ids from `from` on; with only_one just this one. */
static pf_status read_stacks (job *j, uint32_t from, bool only_one,
                              pf_error *error) {
  pf_statement *s = NULL;
  pf_status status = pf_query_first(
      j->database,
      only_one ? "SELECT id, parent, frame FROM stacks WHERE id = ?1"
               : "SELECT id, parent, frame FROM stacks WHERE id >= ?1",
      from, &s, error);
  while (status == PF_MORE) {
    pf_stack_row row = {0};
    status =
        pf_stack_of_row(s->handle, j->stack_limit, j->frame_limit, &row, error);
    if (status == PF_OK && ++j->nread % POLL_EVERY == 0 && os_is_interrupted())
      status = pf_interrupted(error);
    if (status != PF_OK)
      break;
    j->read->parents[row.id] = row.parent;
    j->read->frames[row.id] = row.frame;
    status = pf_statement_step(j->database, s, error);
  }
  pf_statement_end(s);
  return status == PF_END ? PF_OK : status;
}


/* Returns the first stack from `id` on that is needed, or stack_limit. */
static uint32_t next_needed (const job *j, uint32_t id) {
  const bool *const from = j->needed + id;
  const bool *const found = memchr(from, 1, j->stack_limit - id);
  return found == NULL ? j->stack_limit : id + (uint32_t)(found - from);
}


/* Read a stack, unless it was read; it must be in the store. */
static pf_status find_stack (job *j, uint32_t id, pf_error *error) {
  if (j->read->frames[id] != 0)
    return PF_OK;
  const pf_status status =
      j->read->has_all ? PF_OK : read_stacks(j, id, true, error);
  if (status == PF_OK && j->read->frames[id] == 0)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "cells have the stack %lu, which the table stacks does not "
                   "have: the store is damaged",
                   (unsigned long)id);
  return status;
}


/* Read the stacks with cells, and all stacks above them. Parents have lower
   ids, so those that become needed are not visited again. */
static pf_status find_stacks (job *j, pf_error *error) {
  const bool scans =
      !j->read->has_all && j->nneeded >= j->stack_limit / SCAN_SHARE;
  pf_status status = scans ? read_stacks(j, 1, false, error) : PF_OK;
  j->read->has_all |= scans && status == PF_OK;
  for (uint32_t id = next_needed(j, 1); id < j->stack_limit;
       id = next_needed(j, id + 1)) {
    uint32_t at = id;
    do {
      j->needed[at] = true;
      if (status == PF_OK)
        status = find_stack(j, at, error);
      if (status != PF_OK)
        return status;
      at = j->read->parents[at];
    } while (at != 0 && !j->needed[at]);
  }
  return status;
}


/* Set *name to the id of the text of a column; PF_NO_NAME for NULL. */
static pf_status read_name (pf_dictionary *d, sqlite3_stmt *s, int column,
                            uint32_t *name, pf_error *error) {
  *name = PF_NO_NAME;
  if (sqlite3_column_type(s, column) == SQLITE_NULL)
    return PF_OK;
  const uint8_t *const at = sqlite3_column_blob(s, column);
  const pf_bytes text = {at == NULL ? (const uint8_t *)"" : at,
                         (size_t)sqlite3_column_bytes(s, column)};
  *name = pf_intern(d, text);
  return *name == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* Read a frame, unless it was read. */
static pf_status read_frame (job *j, uint32_t frame, pf_error *error) {
  pf_dictionary *const d = j->read->dictionary;
  pf_area area = PF_AREA_NONE;
  pf_statement *s = NULL;
  if (j->read->areas[frame] != 0)
    return PF_OK;
  pf_status status = pf_query_first(
      j->database, "SELECT name, file, line FROM frames WHERE id = ?1", frame,
      &s, error);
  if (status == PF_END)
    status = pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                     "stacks have the frame %lu, which the table frames does "
                     "not have: the store is damaged",
                     (unsigned long)frame);
  if (status == PF_MORE)
    status = read_name(d, s->handle, 0, &area.name, error);
  if (status == PF_OK)
    status = read_name(d, s->handle, 1, &area.file, error);
  if (status == PF_OK)
    area.line = sqlite3_column_int64(s->handle, 2);
  pf_statement_end(s);
  if (status != PF_OK)
    return status;
  const uint32_t number = pf_area_add(d, &area);
  if (number == PF_NO_AREA)
    return pf_no_memory(error);
  j->read->areas[frame] = number + 1;
  return PF_OK;
}


/* Look up the area of a frame in the dictionary of the contexts. */
static pf_status find_area (job *j, uint32_t frame, pf_error *error) {
  const pf_status status = read_frame(j, frame, error);
  if (status != PF_OK)
    return status;
  const pf_dictionary *const from = j->read->dictionary;
  pf_dictionary *const d = j->contexts->dictionary;
  pf_area area = *pf_area_at(from, j->read->areas[frame] - 1);
  const bool has_name = area.name != PF_NO_NAME;
  const bool has_file = area.file != PF_NO_NAME;
  if (has_name)
    area.name = pf_intern(d, pf_name(from, area.name));
  if (has_file)
    area.file = pf_intern(d, pf_name(from, area.file));
  if ((has_name && area.name == PF_NO_NAME) ||
      (has_file && area.file == PF_NO_NAME))
    return pf_no_memory(error);
  const uint32_t number = pf_area_add(d, &area);
  if (number == PF_NO_AREA)
    return pf_no_memory(error);
  j->areas[frame] = number + 1;
  return PF_OK;
}


/* Add the nodes of all stacks that are needed. */
static pf_status add_nodes (job *j, pf_error *error) {
  for (uint32_t id = next_needed(j, 1); id < j->stack_limit;
       id = next_needed(j, id + 1)) {
    const uint32_t frame = j->read->frames[id];
    if (j->areas[frame] == 0) {
      const pf_status status = find_area(j, frame, error);
      if (status != PF_OK)
        return status;
    }
    j->nodes[id] = pf_context_of(j->contexts, j->nodes[j->read->parents[id]],
                                 j->areas[frame] - 1);
    if (j->nodes[id] == PF_NO_CONTEXT)
      return pf_no_memory(error);
  }
  return PF_OK;
}

static int compare_sums (const void *context, const void *left,
                         const void *right) {
  const sum *const a = left, *const b = right;
  const int names = strcmp(a->name, b->name);
  (void)context;
  return names != 0 ? names : strcmp(a->unit, b->unit);
}


/* Add the weights of a metric, limited to 64 bits. */
static void add_weights (job *j, const sum *from, size_t metric) {
  pf_contexts *const c = j->contexts;
  for (uint32_t id = next_needed(j, 0); id < j->stack_limit;
       id = next_needed(j, id + 1)) {
    const int64_t weight = pf_limited(from->weights[id]);
    if (weight != from->weights[id])
      c->has_overflowed = true;
    pf_context_add(c, j->nodes[id], metric, weight);
  }
}


static pf_status finish (job *j, pf_error *error) {
  sum *const spare = pf_array(j->nsums, sizeof *spare);
  if (spare == NULL)
    return pf_no_memory(error);
  pf_sort(j->sums, spare, j->nsums, sizeof *j->sums, compare_sums, NULL);
  free(spare);
  for (size_t i = 0; i < j->nsums; i++) {
    const size_t metric =
        pf_metric_of(j->contexts, j->sums[i].name, j->sums[i].unit);
    if (metric == PF_NO_METRIC)
      return pf_no_memory(error);
    add_weights(j, &j->sums[i], metric);
  }
  return PF_OK;
}


pf_status pf_cells_sum (pf_database *database, pf_read_stacks *read,
                        pf_statement *rows, pf_contexts *contexts,
                        pf_error *error) {
  job j = {.database = database, .contexts = contexts, .read = read};
  pf_status status = job_open(&j, error);
  if (status == PF_OK)
    status = add_all(&j, rows, error);
  if (status == PF_OK)
    status = find_stacks(&j, error);
  if (status == PF_OK)
    status = add_nodes(&j, error);
  if (status == PF_OK)
    status = finish(&j, error);
  job_free(&j);
  return status;
}
