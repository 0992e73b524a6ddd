/*
** put_rows.c - encodes the rows of a run for ClickHouse (see run_rows.h).
*/

#include <stdlib.h>

#include "bytes/cursor.h"
#include "model/base/memory.h"
#include "store/run_rows.h"

/* The state while one run is encoded. */
typedef struct job {
  pf_run_rows *rows;
  const pf_contexts *contexts;
  uint32_t *stacks; /* by node; owned */
} job;


bool pf_run_rows_open (pf_run_rows *rows, size_t nshards) {
  rows->tables =
      pf_array_of_zeros(nshards * PF_ROW_TABLES, sizeof *rows->tables);
  rows->nshards = rows->tables != NULL ? nshards : 0;
  return rows->tables != NULL;
}


void pf_run_rows_forget (pf_run_rows *rows) {
  pf_interning_free(&rows->sent);
  for (size_t i = 0; i < rows->nshards * PF_ROW_TABLES; i++)
    rows->tables[i].size = 0;
}


void pf_run_rows_close (pf_run_rows *rows) {
  pf_interning_free(&rows->sent);
  for (size_t i = 0; i < rows->nshards * PF_ROW_TABLES; i++)
    free(rows->tables[i].at);
  free(rows->tables);
  *rows = (pf_run_rows){0};
}


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


static uint8_t *save_string (uint8_t *p, pf_bytes text) {
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


/* Append the row of a frame. */
static pf_status add_frame (void *context, const pf_interning *i,
                            uint32_t frame, uint32_t *id, pf_error *error) {
  const pf_area *const area = pf_area_at(i->dictionary, frame);
  const pf_hash *const hash = &i->frames[frame].hash;
  const bool has_file = area->file != PF_NO_NAME;
  const pf_bytes name = pf_name(i->dictionary, area->name);
  const pf_bytes file =
      has_file ? pf_name(i->dictionary, area->file) : (pf_bytes){0};
  pf_row_bytes *const bytes = rows_of(context, hash, PF_FRAME_ROWS);
  uint8_t *p = more(bytes, PF_HASH_SIZE + 2 * PF_VARINT_SIZE + name.size + 1 +
                               file.size + 8);
  if (p == NULL)
    return pf_no_memory(error);
  p = save_string(save_hash(p, hash), name);
  *p++ = has_file;
  p = save_string(p, file);
  pf_save64le(p, (uint64_t)area->line);
  bytes->size = (size_t)(p + 8 - bytes->at);
  *id = 1;
  return PF_OK;
}


/* Append the row of a stack. */
static pf_status add_stack (void *context, const pf_interning *i,
                            uint32_t stack, uint32_t *id, pf_error *error) {
  static const pf_hash none = {{0}};
  const pf_stack *const s = pf_stack_at(i->dictionary, stack);
  const pf_hash *const hash = &i->stacks[stack].hash;
  pf_row_bytes *const bytes = rows_of(context, hash, PF_STACK_ROWS);
  uint8_t *p = more(bytes, 3 * PF_HASH_SIZE + 1 + 8 * PF_CALLERS_MAX);
  if (p == NULL)
    return pf_no_memory(error);
  uint32_t caller = s->parent;
  p = save_hash(save_hash(p, hash),
                caller == PF_NO_STACK ? &none : &i->stacks[caller].hash);
  p = save_hash(p, &i->frames[s->frame].hash);
  uint8_t *const count = p++;
  *count = 0;
  while (caller != PF_NO_STACK && *count < PF_CALLERS_MAX &&
         (caller = pf_stack_at(i->dictionary, caller)->parent) != PF_NO_STACK) {
    pf_save64le(p, pf_load64be(i->stacks[caller].hash.bytes + 8));
    p += 8;
    ++*count;
  }
  bytes->size = (size_t)(p - bytes->at);
  *id = 1;
  return PF_OK;
}


/* Append the row of the cells of a metric. */
static bool put_metric (pf_row_bytes *bytes, const job *j, size_t metric,
                        const pf_hash *run, int64_t attempt, int64_t month) {
  static const pf_hash none = {{0}};
  const pf_contexts *const c = j->contexts;
  const pf_known *const stacks = j->rows->sent.stacks;
  const int64_t *const weights = c->weights[metric];
  size_t n = 0;
  for (uint32_t node = 0; node < c->count; node++)
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
  for (uint32_t node = 0; node < c->count; node++)
    if (weights[node] != 0) {
      const uint64_t weight = (uint64_t)weights[node];
      const uint8_t *const hash =
          node == 0 ? none.bytes : stacks[j->stacks[node]].hash.bytes;
      pf_save(p, 2, false, pf_load64be(hash) & PF_KEY_MASK);
      pf_save64le(lo, pf_load64be(hash + 8));
      pf_save32le(high, (uint32_t)(weight >> 32));
      pf_save32le(low, (uint32_t)weight);
      p += 2, lo += 8, high += 4, low += 4;
    }
  bytes->size = (size_t)(low - bytes->at);
  return true;
}


pf_status pf_run_rows_put (pf_run_rows *rows, size_t shard, const pf_hash *run,
                           int64_t attempt, int64_t month,
                           const pf_contexts *contexts, size_t *count,
                           pf_error *error) {
  const pf_intern_target target = {rows, add_frame, add_stack};
  job j = {.rows = rows, .contexts = contexts};
  j.stacks = pf_array(contexts->count, sizeof *j.stacks);
  pf_status status =
      j.stacks == NULL
          ? pf_no_memory(error)
          : pf_intern_contexts(&rows->sent, contexts, &target, j.stacks, error);
  for (size_t m = 0; m < contexts->nmetrics && status == PF_OK; m++)
    if (!put_metric(&rows->tables[shard * PF_ROW_TABLES + PF_CELL_ROWS], &j, m,
                    run, attempt, month))
      status = pf_no_memory(error);
  free(j.stacks);
  *count = contexts->nmetrics;
  return status;
}
