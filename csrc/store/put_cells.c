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

#define NOT_KNOWN UINT32_MAX

/* All arrays are owned. */
typedef struct job {
  pf_interning *interning;
  pf_database *database;
  const pf_contexts *contexts;
  uint32_t *frames; /* by area of the profile: frame, or NOT_KNOWN */
  uint32_t *stacks; /* by node: stack, or PF_NO_STACK */
  bool *needed;     /* by node: it or a node below it has a weight */
  pf_pair *pairs;   /* nodes with weights by their stack ids; then as many more
                       as scratch memory */
  size_t npairs;
  uint8_t *bytes; /* of the cells of a metric, with their checksum */
} job;


static void job_free (job *j) {
  free(j->frames);
  free(j->stacks);
  free(j->needed);
  free(j->pairs);
  free(j->bytes);
}


static bool job_allocate (job *j) {
  const size_t nareas = pf_areas_count(j->contexts->dictionary);
  const size_t nodes = j->contexts->count;
  j->frames = pf_array(nareas, sizeof *j->frames);
  j->stacks = pf_array(nodes, sizeof *j->stacks);
  j->needed = pf_array_of_zeros(nodes, sizeof *j->needed);
  j->pairs = pf_array(2 * nodes, sizeof *j->pairs);
  j->bytes = pf_array(PF_CELLS_BOUND(nodes) + PF_CHECKSUM_SIZE, 1);
  if (j->frames != NULL)
    memset(j->frames, 0xff, nareas * sizeof *j->frames);
  return j->frames != NULL && j->stacks != NULL && j->needed != NULL &&
         j->pairs != NULL && j->bytes != NULL;
}


/* Mark the nodes with weights, and all their callers. */
static void mark_needed (job *j) {
  const pf_contexts *const c = j->contexts;
  for (uint32_t node = c->count; node-- > 0;) {
    if (!j->needed[node] && !pf_context_has_weight(c, node, PF_NO_METRIC))
      continue;
    j->needed[node] = true;
    if (node != 0)
      j->needed[c->parents[node]] = true;
  }
}


/* Set the stack of a node after that of its parent. */
static pf_status find_stack (job *j, uint32_t node, pf_error *error) {
  const uint32_t area = j->contexts->frames[node];
  const uint32_t parent = j->contexts->parents[node];
  if (j->frames[area] == NOT_KNOWN) {
    const pf_status status = pf_interning_frame(
        j->interning, j->contexts->dictionary, area, &j->frames[area], error);
    if (status != PF_OK)
      return status;
  }
  return pf_interning_stack(j->interning, j->stacks[parent], j->frames[area],
                            &j->stacks[node], error);
}


/* Give each needed node its stack, and sort those with weights by id. */
static pf_status find_stacks (job *j, pf_error *error) {
  const pf_contexts *const c = j->contexts;
  j->stacks[0] = PF_NO_STACK;
  for (uint32_t node = 0; node < c->count; node++) {
    pf_status status = PF_OK;
    if (!j->needed[node])
      continue;
    if (node != 0)
      status = find_stack(j, node, error);
    if (status != PF_OK)
      return status;
    if (pf_context_has_weight(c, node, PF_NO_METRIC))
      j->pairs[j->npairs++] = (pf_pair){
          node == 0 ? 0 : pf_interning_id(j->interning, j->stacks[node]), node};
  }
  pf_sort_pairs(j->pairs, j->pairs + c->count, j->npairs);
  return PF_OK;
}


/* Take a statement, and bind two texts to it. */
static pf_status take_with (pf_database *d, const char *sql, const char *first,
                            const char *second, pf_statement **statement,
                            pf_error *error) {
  const pf_status status =
      pf_statement_take(d, pf_bytes_of(sql), statement, NULL, error);
  if (status == PF_OK) {
    sqlite3_bind_blob64((*statement)->handle, 1, first, strlen(first),
                        SQLITE_STATIC);
    sqlite3_bind_blob64((*statement)->handle, 2, second, strlen(second),
                        SQLITE_STATIC);
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


/* The bytes of the cells of a metric. */
static pf_bytes encode (job *j, size_t metric, uint64_t *count) {
  size_t cells = 0, at = 0;
  uint32_t id;
  int64_t weight;
  while (next_cell(j, metric, &at, &id, &weight))
    cells++;
  pf_cells_writer writer = pf_cells_begin(j->bytes, cells);
  for (at = 0; next_cell(j, metric, &at, &id, &weight);)
    pf_cell_put(&writer, id, weight);
  *count += cells;
  return (pf_bytes){j->bytes, (size_t)(writer.at - writer.start)};
}


static pf_status put_metric (job *j, int64_t run, size_t metric,
                             uint64_t *count, pf_error *error) {
  pf_bytes data = encode(j, metric, count);
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
  pf_checksum_cells(data, run, id, j->bytes + data.size);
  data.size += PF_CHECKSUM_SIZE;
  sqlite3_bind_int64(s->handle, 1, run);
  sqlite3_bind_int64(s->handle, 2, id);
  const int result =
      sqlite3_bind_blob64(s->handle, 3, data.at, data.size, SQLITE_STATIC);
  status = result == SQLITE_OK ? pf_statement_step(d, s, error)
                               : pf_database_failure(d, result, error);
  pf_statement_end(s);
  return status < 0 ? status : PF_OK;
}


pf_status pf_cells_store (pf_interning *interning, pf_database *database,
                          int64_t run, const pf_contexts *contexts,
                          uint64_t *count, pf_error *error) {
  job j = {.interning = interning, .database = database, .contexts = contexts};
  pf_status status = pf_interning_begin(interning, database, error);
  *count = 0;
  if (status == PF_OK && !job_allocate(&j)) {
    (void)pf_no_memory(error);
    status = PF_ENOMEM;
  }
  if (status == PF_OK) {
    mark_needed(&j);
    status = find_stacks(&j, error);
  }
  for (size_t m = 0; status == PF_OK && m < contexts->nmetrics; m++)
    status = put_metric(&j, run, m, count, error);
  if (status == PF_OK)
    pf_interning_end(interning);
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
