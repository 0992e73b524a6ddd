/*
** put_rows.c - encodes the rows of a run for ClickHouse (see run_rows.h).
*/

#include <stdlib.h>

#include "bytes/cursor.h"
#include "model/base/memory.h"
#include "store/run_rows.h"

#define SENT_MAX 2000000 /* rows that are remembered: 48 bytes each */

/* The state while one run is encoded; it owns all arrays. */
typedef struct job {
  const pf_contexts *contexts;
  pf_hash *frames;  /* by area */
  uint64_t *checks; /* by area: another hash of the frame, with a seed */
  bool *has_frame;  /* by area: its hash is computed */
  pf_hash *stacks;  /* by node */
  bool *needed;     /* by node: it or a node below it has a weight */
} job;


bool pf_run_rows_open (pf_run_rows *rows, size_t nshards) {
  rows->tables =
      pf_array_of_zeros(nshards * PF_ROW_TABLES, sizeof *rows->tables);
  rows->nshards = rows->tables != NULL ? nshards : 0;
  return rows->tables != NULL;
}


static void forget_sent (pf_run_rows *rows) {
  const uint64_t seed = rows->table.seed;
  pf_intern_table_free(&rows->table);
  rows->table = (pf_intern_table){.seed = seed};
  free(rows->sent);
  rows->sent = NULL;
  rows->sent_capacity = 0;
}


void pf_run_rows_forget (pf_run_rows *rows) {
  forget_sent(rows);
  for (size_t i = 0; i < rows->nshards * PF_ROW_TABLES; i++)
    rows->tables[i].size = 0;
}


void pf_run_rows_close (pf_run_rows *rows) {
  forget_sent(rows);
  for (size_t i = 0; i < rows->nshards * PF_ROW_TABLES; i++)
    free(rows->tables[i].at);
  free(rows->tables);
  *rows = (pf_run_rows){0};
}


/* {====== Values ====== */

/* Return the place of `size` more bytes, NULL when out of memory. The caller
   adds to bytes->size what was written. */
static uint8_t *more (pf_row_bytes *bytes, size_t size) {
  return pf_grow(&bytes->at, &bytes->capacity, bytes->size + size)
             ? bytes->at + bytes->size
             : NULL;
}


/* Store a hash as hi and lo. Returns the end. */
static uint8_t *save_hash (uint8_t *p, const pf_hash *hash) {
  pf_save64le(p, pf_load64be(hash->bytes));
  pf_save64le(p + 8, pf_load64be(hash->bytes + 8));
  return p + PF_HASH_SIZE;
}


static uint8_t *save_text (uint8_t *p, pf_bytes text) {
  p = pf_save_varint(p, text.size);
  if (text.size > 0)
    memcpy(p, text.at, text.size);
  return p + text.size;
}


/* The rows of a table for the shard of a hash. */
static pf_row_bytes *rows_of (pf_run_rows *rows, const pf_hash *hash,
                              size_t table) {
  const size_t shard = (size_t)(pf_load64be(hash->bytes + 8) % rows->nshards);
  return &rows->tables[shard * PF_ROW_TABLES + table];
}

/* }====== */


/* {====== The dictionary ====== */

/* Note that a row is sent. Sets *is_new; false when out of memory. Contents have
   good hashes already, so mixing these with the seed is enough. */
static bool note (pf_run_rows *rows, const pf_sent_row *row, bool *is_new) {
  const pf_element_key key = {rows->sent, row, sizeof *row, sizeof *row};
  const uint64_t hash =
      pf_mix(pf_mix(rows->table.seed, pf_load64le(row->hash.bytes)),
             pf_load64le(row->hash.bytes + 8));
  *is_new = pf_intern_table_find(&rows->table, hash, pf_is_same_element,
                                 &key) == PF_NOT_INTERNED;
  return !*is_new ||
         pf_intern_append(&rows->table, hash, &rows->sent, &rows->sent_capacity,
                          row, sizeof *row) != PF_NOT_INTERNED;
}


/* A hash of a frame that differs, nearly always, when two frames have the same
   content hash. */
static uint64_t check_of (uint64_t seed, const pf_dictionary *dictionary,
                          const pf_area *frame) {
  const pf_bytes name = pf_name(dictionary, frame->name);
  uint64_t check = pf_mix(pf_mix(seed, name.size), (uint64_t)frame->line);
  check = pf_mix_bytes(check, name.at, name.size);
  if (frame->file == PF_NO_NAME)
    return check;
  const pf_bytes file = pf_name(dictionary, frame->file);
  return pf_mix_bytes(pf_mix(check, file.size + 1), file.at, file.size);
}


/* Append the row of a frame if it is new. */
static bool put_frame (pf_run_rows *rows, const job *j, uint32_t area) {
  const pf_dictionary *const dictionary = j->contexts->dictionary;
  const pf_area *const frame = pf_area_at(dictionary, area);
  const bool has_file = frame->file != PF_NO_NAME;
  const pf_bytes name = pf_name(dictionary, frame->name);
  const pf_bytes file =
      has_file ? pf_name(dictionary, frame->file) : (pf_bytes){0};
  pf_sent_row row = {.hash = j->frames[area]};
  bool is_new;
  pf_save64le(row.first.bytes, j->checks[area]);
  if (!note(rows, &row, &is_new))
    return false;
  if (!is_new)
    return true;
  pf_row_bytes *const bytes = rows_of(rows, &row.hash, PF_FRAME_ROWS);
  uint8_t *p = more(bytes, PF_HASH_SIZE + 2 * PF_VARINT_SIZE + name.size + 1 +
                               file.size + 8);
  if (p == NULL)
    return false;
  p = save_text(save_hash(p, &row.hash), name);
  *p++ = has_file;
  p = save_text(p, file);
  pf_save64le(p, (uint64_t)frame->line);
  bytes->size = (size_t)(p + 8 - bytes->at);
  return true;
}


/* Append the row of the stack of a node. */
static bool put_stack (pf_run_rows *rows, const job *j, uint32_t node,
                       const pf_hash *parent) {
  const pf_contexts *const c = j->contexts;
  const pf_hash *const hash = &j->stacks[node];
  pf_row_bytes *const bytes = rows_of(rows, hash, PF_STACK_ROWS);
  uint8_t *p = more(bytes, 3 * PF_HASH_SIZE + 1 + 8 * PF_CALLERS_MAX);
  if (p == NULL)
    return false;
  p = save_hash(save_hash(p, hash), parent);
  p = save_hash(p, &j->frames[c->frames[node]]);
  uint8_t *const count = p++;
  *count = 0;
  uint32_t caller = c->parents[node];
  while (caller != 0 && *count < PF_CALLERS_MAX &&
         (caller = c->parents[caller]) != 0) {
    pf_save64le(p, pf_load64be(j->stacks[caller].bytes + 8));
    p += 8;
    ++*count;
  }
  bytes->size = (size_t)(p - bytes->at);
  return true;
}


/* Set the hash of the stack of a node, whose parent has one; append what is new. If
   the stack was sent, its frame was sent too. */
static bool put_node (pf_run_rows *rows, job *j, uint32_t node) {
  const pf_contexts *const c = j->contexts;
  const pf_hash none = {{0}};
  const uint32_t area = c->frames[node], parent = c->parents[node];
  const pf_hash *const caller = parent == 0 ? &none : &j->stacks[parent];
  bool is_new;
  if (!j->has_frame[area]) {
    const pf_area *const frame = pf_area_at(c->dictionary, area);
    j->frames[area] = pf_hash_frame(c->dictionary, frame);
    j->checks[area] = check_of(rows->table.seed, c->dictionary, frame);
    j->has_frame[area] = true;
  }
  j->stacks[node] = pf_hash_stack(caller, &j->frames[area]);
  pf_sent_row row = {j->stacks[node], *caller, j->frames[area]};
  pf_save64le(row.second.bytes, j->checks[area]);
  if (!note(rows, &row, &is_new))
    return false;
  return !is_new ||
         (put_frame(rows, j, area) && put_stack(rows, j, node, caller));
}

/* }====== */


/* {====== Cells ====== */

static bool put_metric (pf_row_bytes *bytes, const job *j, size_t metric,
                        const pf_hash *run, int64_t attempt, int64_t month) {
  const pf_contexts *const c = j->contexts;
  const int64_t *const weights = c->weights[metric];
  size_t n = 0;
  for (uint32_t node = 1; node < c->count; node++)
    n += weights[node] != 0;
  uint8_t *p = more(bytes, 8 + PF_HASH_SIZE + 16 + 4 * PF_VARINT_SIZE + 18 * n);
  if (p == NULL)
    return false;
  pf_save64le(p,
              pf_hash_metric(c->metrics[metric].name, c->metrics[metric].unit));
  memcpy(p + 8, run->bytes, PF_HASH_SIZE);
  pf_save64le(p + 24, (uint64_t)attempt);
  pf_save64le(p + 32, (uint64_t)month);
  p = pf_save_varint(p + 40, n);
  uint8_t *lo = pf_save_varint(p + 2 * n, n);
  uint8_t *high = pf_save_varint(lo + 8 * n, n);
  uint8_t *low = pf_save_varint(high + 4 * n, n);
  for (uint32_t node = 1; node < c->count; node++)
    if (weights[node] != 0) {
      const uint64_t weight = (uint64_t)weights[node];
      const uint64_t hi = pf_load64be(j->stacks[node].bytes) & PF_KEY_MASK;
      pf_save(p, 2, false, hi);
      pf_save64le(lo, pf_load64be(j->stacks[node].bytes + 8));
      pf_save32le(high, (uint32_t)(weight >> 32));
      pf_save32le(low, (uint32_t)weight);
      p += 2, lo += 8, high += 4, low += 4;
    }
  bytes->size = (size_t)(low - bytes->at);
  return true;
}

/* }====== */


static bool job_open (job *j) {
  const size_t nodes = j->contexts->count;
  const size_t nareas = pf_areas_count(j->contexts->dictionary) + 1;
  j->frames = pf_array(nareas, sizeof *j->frames);
  j->checks = pf_array(nareas, sizeof *j->checks);
  j->has_frame = pf_array_of_zeros(nareas, sizeof *j->has_frame);
  j->stacks = pf_array(nodes, sizeof *j->stacks);
  j->needed = pf_array_of_zeros(nodes, sizeof *j->needed);
  return j->frames != NULL && j->checks != NULL && j->has_frame != NULL &&
         j->stacks != NULL && j->needed != NULL;
}


static void job_close (job *j) {
  free(j->frames);
  free(j->checks);
  free(j->has_frame);
  free(j->stacks);
  free(j->needed);
}


/* Mark the nodes that have a weight, and those above them. */
static void mark (job *j) {
  const pf_contexts *const c = j->contexts;
  for (uint32_t node = c->count; node-- > 1;) {
    for (size_t m = 0; m < c->nmetrics && !j->needed[node]; m++)
      j->needed[node] = c->weights[m][node] != 0;
    if (j->needed[node])
      j->needed[c->parents[node]] = true;
  }
}


pf_status pf_run_rows_put (pf_run_rows *rows, size_t shard, const pf_hash *run,
                           int64_t attempt, int64_t month,
                           const pf_contexts *contexts, size_t *count,
                           pf_error *error) {
  job j = {.contexts = contexts};
  bool done = job_open(&j);
  if (rows->table.count > SENT_MAX)
    forget_sent(rows);
  if (rows->table.count == 0)
    rows->table.seed = contexts->dictionary->seed;
  if (done)
    mark(&j);
  for (uint32_t node = 1; node < contexts->count && done; node++)
    done = !j.needed[node] || put_node(rows, &j, node);
  for (size_t m = 0; m < contexts->nmetrics && done; m++)
    done = put_metric(&rows->tables[shard * PF_ROW_TABLES + PF_CELL_ROWS], &j,
                      m, run, attempt, month);
  job_close(&j);
  *count = contexts->nmetrics;
  return done ? PF_OK : pf_no_memory(error);
}
