/*
** sum_rows.c - decodes the sums of runs from rows of ClickHouse (see run_rows.h).
*/

#include <stdlib.h>

#include "bytes/cursor.h"
#include "model/base/memory.h"
#include "store/run_rows.h"

#define SUM_SIZE   32 /* bytes of a row of sums */
#define STACK_SIZE 48 /* of a row of stacks */


void pf_run_sums_open (pf_run_sums *sums, pf_contexts *contexts) {
  *sums = (pf_run_sums){.contexts = contexts};
  sums->stack_table.seed = contexts->dictionary->seed;
  sums->frame_table.seed = contexts->dictionary->seed;
}


void pf_run_sums_close (pf_run_sums *sums) {
  pf_intern_table_free(&sums->stack_table);
  pf_intern_table_free(&sums->frame_table);
  free(sums->stacks);
  free(sums->frames);
  free(sums->weights);
  *sums = (pf_run_sums){0};
}


/* {====== Hashes ====== */

/* The hash in the columns hi and lo at `p`. */
static pf_hash load_hash (const uint8_t *p) {
  pf_hash hash = {{0}};
  pf_save(hash.bytes, 8, true, pf_load64le(p));
  pf_save(hash.bytes + 8, 8, true, pf_load64le(p + 8));
  return hash;
}


static bool is_equal (const pf_hash *a, const pf_hash *b) {
  return memcmp(a->bytes, b->bytes, PF_HASH_SIZE) == 0;
}


static bool is_none (const pf_hash *hash) {
  const pf_hash none = {{0}};
  return is_equal(hash, &none);
}


/* The index of a known stack, or PF_NOT_INTERNED. */
static uint32_t find_stack (const pf_run_sums *sums, const pf_hash *hash) {
  const pf_element_key key = {sums->stacks, hash, sizeof *sums->stacks,
                              PF_HASH_SIZE};
  return pf_intern_table_find(
      &sums->stack_table,
      pf_mix_bytes(sums->stack_table.seed, hash, PF_HASH_SIZE),
      pf_is_same_element, &key);
}


static uint32_t find_frame (const pf_run_sums *sums, const pf_hash *hash) {
  const pf_element_key key = {sums->frames, hash, sizeof *sums->frames,
                              PF_HASH_SIZE};
  return pf_intern_table_find(
      &sums->frame_table,
      pf_mix_bytes(sums->frame_table.seed, hash, PF_HASH_SIZE),
      pf_is_same_element, &key);
}

/* }====== */


static pf_status damaged (pf_error *error, const char *what) {
  return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                 "the store is damaged, or the server's answer is: %s", what);
}


bool pf_run_sums_are_clear (pf_bytes rows) {
  for (size_t at = 0; at + 8 <= rows.size; at += SUM_SIZE)
    if (pf_load64le(rows.at + at) == 0)
      return false;
  return true;
}


pf_status pf_run_sums_add (pf_run_sums *sums, size_t metric, pf_bytes rows,
                           pf_error *error) {
  const size_t n = sums->contexts->nmetrics;
  if (rows.size % SUM_SIZE != 0)
    return damaged(error, "sums are incomplete");
  for (size_t at = 0; at < rows.size; at += SUM_SIZE) {
    const uint8_t *const p = rows.at + at;
    const pf_summed_stack stack = {
        load_hash(p), {{0}}, PF_NOT_INTERNED, PF_NO_CONTEXT};
    const uint32_t i =
        pf_intern_element(&sums->stack_table, &sums->stacks,
                          &sums->stack_capacity, &stack, PF_HASH_SIZE);
    if (i == PF_NOT_INTERNED ||
        !pf_grow_filled(&sums->weights, &sums->weight_capacity,
                        ((size_t)i + 1) * n, 0))
      return pf_no_memory(error);
    sums->weights[i * n + metric] +=
        (pf_row_sum)(int64_t)pf_load64le(p + 24) * ((int64_t)1 << 32) +
        (pf_row_sum)pf_load64le(p + 16);
  }
  return PF_OK;
}


/* {====== The dictionary ====== */

static pf_status take_stack (pf_run_sums *sums, const uint8_t *p,
                             pf_error *error) {
  const pf_hash hash = load_hash(p), parent = load_hash(p + 16);
  const pf_summed_frame frame = {load_hash(p + 32), PF_NO_AREA};
  const pf_hash computed = pf_hash_stack(&parent, &frame.hash);
  const uint32_t i = find_stack(sums, &hash);
  if (!is_equal(&hash, &computed) || i == PF_NOT_INTERNED)
    return damaged(error, "a stack does not have its hash");
  const uint32_t f =
      pf_intern_element(&sums->frame_table, &sums->frames,
                        &sums->frame_capacity, &frame, PF_HASH_SIZE);
  if (f == PF_NOT_INTERNED)
    return pf_no_memory(error);
  pf_summed_stack *const stack = &sums->stacks[i];
  if (stack->frame != PF_NOT_INTERNED &&
      (stack->frame != f || !is_equal(&stack->parent, &parent)))
    return damaged(error, "two different stacks have one hash");
  stack->frame = f;
  stack->parent = parent;
  return PF_OK;
}


pf_status pf_run_sums_take_stacks (pf_run_sums *sums, pf_bytes rows,
                                   pf_error *error) {
  pf_status status = rows.size % STACK_SIZE == 0
                         ? PF_OK
                         : damaged(error, "stacks are incomplete");
  for (size_t at = 0; at < rows.size && status == PF_OK; at += STACK_SIZE)
    status = take_stack(sums, rows.at + at, error);
  return status;
}


/* Take a text. False: it is incomplete. */
static bool take_text (pf_cursor *cursor, pf_bytes *text) {
  uint64_t size;
  return pf_take_varint(cursor, &size) && pf_take(cursor, size, text);
}


static pf_status take_frame (pf_run_sums *sums, pf_cursor *cursor,
                             pf_error *error) {
  pf_dictionary *const dictionary = sums->contexts->dictionary;
  pf_area area = PF_AREA_NONE;
  pf_bytes hash_bytes, name, file;
  uint64_t has_file, line;
  if (!pf_take(cursor, PF_HASH_SIZE, &hash_bytes) ||
      !take_text(cursor, &name) || !pf_take_uint(cursor, 1, &has_file) ||
      !take_text(cursor, &file) || !pf_take_uint(cursor, 8, &line))
    return damaged(error, "frames are incomplete");
  area.name = pf_intern(dictionary, name);
  area.file = has_file ? pf_intern(dictionary, file) : PF_NO_NAME;
  area.line = (int64_t)line;
  if (area.name == PF_NO_NAME || (has_file && area.file == PF_NO_NAME))
    return pf_no_memory(error);
  const pf_hash hash = load_hash(hash_bytes.at);
  const pf_hash computed = pf_hash_frame(dictionary, &area);
  const uint32_t i = find_frame(sums, &hash);
  if (!is_equal(&hash, &computed) || i == PF_NOT_INTERNED)
    return damaged(error, "a frame does not have its hash");
  const uint32_t id = pf_area_add(dictionary, &area);
  if (id == PF_NO_AREA)
    return pf_no_memory(error);
  if (sums->frames[i].area != PF_NO_AREA && sums->frames[i].area != id)
    return damaged(error, "two different frames have one hash");
  sums->frames[i].area = id;
  return PF_OK;
}


pf_status pf_run_sums_take_frames (pf_run_sums *sums, pf_bytes rows,
                                   pf_error *error) {
  pf_cursor cursor = pf_cursor_over(rows, false);
  pf_status status = PF_OK;
  while (pf_left(&cursor) > 0 && status == PF_OK)
    status = take_frame(sums, &cursor, error);
  return status;
}

/* }====== */


/* {====== Nodes ====== */

/* Add the node of stack `i`, and first those of its callers. `path` has an element
   for each stack. */
static pf_status add_node (pf_run_sums *sums, uint32_t i, uint32_t *path,
                           pf_error *error) {
  uint32_t depth = 0, node = 0;
  while (sums->stacks[i].node == PF_NO_CONTEXT) {
    const pf_summed_stack *const stack = &sums->stacks[i];
    if (stack->frame == PF_NOT_INTERNED ||
        sums->frames[stack->frame].area == PF_NO_AREA)
      return damaged(error, "a stack or a frame is missing");
    path[depth++] = i;
    if (is_none(&stack->parent))
      break;
    i = find_stack(sums, &stack->parent);
    if (i == PF_NOT_INTERNED || depth >= sums->stack_table.count)
      return damaged(error, "the caller of a stack is missing");
  }
  if (sums->stacks[i].node != PF_NO_CONTEXT)
    node = sums->stacks[i].node;
  while (depth-- > 0) {
    pf_summed_stack *const stack = &sums->stacks[path[depth]];
    node = pf_context_of(sums->contexts, node, sums->frames[stack->frame].area);
    if (node == PF_NO_CONTEXT)
      return pf_no_memory(error);
    stack->node = node;
  }
  return PF_OK;
}


static void add_weights (pf_run_sums *sums, uint32_t i) {
  pf_contexts *const c = sums->contexts;
  for (size_t m = 0; m < c->nmetrics; m++) {
    const pf_row_sum sum = sums->weights[i * c->nmetrics + m];
    c->has_overflowed |= sum > INT64_MAX || sum < INT64_MIN;
    pf_context_add(c, sums->stacks[i].node, m,
                   sum > INT64_MAX   ? INT64_MAX
                   : sum < INT64_MIN ? INT64_MIN
                                     : (int64_t)sum);
  }
}


pf_status pf_run_sums_finish (pf_run_sums *sums, pf_error *error) {
  const uint32_t count = sums->stack_table.count;
  uint32_t *const path = pf_array((size_t)count + 1, sizeof *path);
  pf_status status = PF_OK;
  if (path == NULL)
    return pf_no_memory(error);
  for (uint32_t i = 0; i < count && status == PF_OK; i++)
    status = add_node(sums, i, path, error);
  for (uint32_t i = 0; i < count && status == PF_OK; i++)
    add_weights(sums, i);
  free(path);
  return status;
}

/* }====== */
