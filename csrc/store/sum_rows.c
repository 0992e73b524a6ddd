/*
** sum_rows.c - decodes the sums of runs from rows of ClickHouse (see
** run_rows.h).
*/

#include <stdlib.h>

#include "bytes/cursor.h"
#include "model/base/memory.h"
#include "store/run_rows.h"


void pf_run_sums_open (pf_run_sums *sums, pf_contexts *contexts) {
  *sums = (pf_run_sums){.contexts = contexts};
  sums->stack_table.seed = contexts->dictionary->seed;
  sums->frame_table.seed = contexts->dictionary->seed;
  pf_id_table_init(&sums->wanted);
  pf_id_table_init(&sums->names);
}


void pf_run_sums_close (pf_run_sums *sums) {
  pf_intern_table_free(&sums->stack_table);
  pf_intern_table_free(&sums->frame_table);
  pf_id_table_free(&sums->wanted);
  pf_id_table_free(&sums->names);
  free(sums->functions);
  free(sums->self);
  free(sums->stacks);
  free(sums->frames);
  free(sums->weights);
  *sums = (pf_run_sums){0};
}


/* The hash in the columns hi and lo at `p`. */
static pf_hash load_hash (const uint8_t *p) {
  return pf_hash_of_words(pf_load64le(p), pf_load64le(p + 8));
}


static bool is_equal (const pf_hash *a, const pf_hash *b) {
  return memcmp(a->bytes, b->bytes, PF_HASH_SIZE) == 0;
}


/* The part of a hash that cells have. */
static pf_hash key_of (const pf_hash *hash) {
  pf_hash key = *hash;
  pf_save(key.bytes, 8, true, pf_load64be(hash->bytes) & PF_KEY_MASK);
  return key;
}


uint32_t pf_run_sums_find (const pf_run_sums *sums, const pf_hash *hash) {
  const pf_hash stack = key_of(hash);
  const pf_element_key key = {sums->stacks, &stack, sizeof *sums->stacks,
                              PF_HASH_SIZE};
  return pf_intern_table_find(
      &sums->stack_table,
      pf_mix_bytes(sums->stack_table.seed, &stack, PF_HASH_SIZE),
      pf_is_same_element, &key);
}


/* The index of a stack, new or known, or PF_NOT_INTERNED: out of memory. */
static uint32_t intern_stack (pf_run_sums *sums, const pf_hash *hash) {
  pf_summed_stack stack = {key_of(hash), {{0}}, PF_NOT_INTERNED, PF_NO_CONTEXT};
  if (pf_is_none(&stack.key))
    stack.node = 0; /* the root */
  return pf_intern_element(&sums->stack_table, &sums->stacks,
                           &sums->stack_capacity, &stack, PF_HASH_SIZE);
}


/* Note that the row of a stack is needed. */
static pf_status want (pf_run_sums *sums, uint64_t lo) {
  uint32_t id;
  return pf_id_table_words(&sums->wanted, &lo, 1, &id);
}


static uint32_t find_frame (const pf_run_sums *sums, const pf_hash *hash) {
  const pf_element_key key = {sums->frames, hash, sizeof *sums->frames,
                              PF_HASH_SIZE};
  return pf_intern_table_find(
      &sums->frame_table,
      pf_mix_bytes(sums->frame_table.seed, hash, PF_HASH_SIZE),
      pf_is_same_element, &key);
}


pf_status pf_run_sums_damaged (pf_error *error, const char *what) {
  return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                 "the store is damaged, or the server's answer is: %s", what);
}


bool pf_run_sums_are_clear (pf_bytes rows) {
  for (size_t at = 0; at + 8 <= rows.size; at += PF_SUM_SIZE)
    if (pf_load64le(rows.at + at) == PF_AMBIGUOUS)
      return false;
  return true;
}


pf_status pf_run_sums_add (pf_run_sums *sums, size_t metric, pf_bytes rows,
                           pf_error *error) {
  const size_t n = sums->contexts->nmetrics;
  if (rows.size % PF_SUM_SIZE != 0)
    return pf_run_sums_damaged(error, "sums are incomplete");
  for (size_t at = 0; at < rows.size; at += PF_SUM_SIZE) {
    const uint8_t *const p = rows.at + at;
    const pf_hash key = load_hash(p);
    const uint32_t i = intern_stack(sums, &key);
    if (i == PF_NOT_INTERNED ||
        !pf_grow_filled(&sums->weights, &sums->weight_capacity,
                        ((size_t)i + 1) * n, 0) ||
        want(sums, pf_load64le(p + 8)) != PF_OK)
      return pf_no_memory(error);
    sums->nsums = sums->stack_table.count;
    sums->weights[i * n + metric] += pf_sum_at(p + 16);
  }
  return PF_OK;
}


size_t pf_run_sums_ask (pf_run_sums *sums, const uint64_t **words) {
  const size_t count = sums->wanted.count - sums->nasked;
  *words = count > 0 ? sums->wanted.words + sums->nasked : NULL;
  sums->nasked = sums->wanted.count;
  return count;
}


/* Note the frame and the parent of the stack of a hash. */
static pf_status set_stack (pf_run_sums *sums, const pf_hash *hash,
                            const pf_hash *parent, const pf_hash *frame_hash,
                            pf_error *error) {
  const pf_summed_frame frame = {*frame_hash, PF_NO_AREA, 0};
  const pf_hash computed = pf_hash_stack(parent, frame_hash);
  const pf_hash key = key_of(hash);
  if (!is_equal(hash, &computed))
    return pf_run_sums_damaged(error, "a stack does not have its hash");
  if (pf_is_none(&key))
    return pf_run_sums_damaged(error, "a stack has the key of none");
  const uint32_t i = intern_stack(sums, hash);
  const uint32_t f =
      pf_intern_element(&sums->frame_table, &sums->frames,
                        &sums->frame_capacity, &frame, PF_HASH_SIZE);
  if (i == PF_NOT_INTERNED || f == PF_NOT_INTERNED)
    return pf_no_memory(error);
  pf_summed_stack *const stack = &sums->stacks[i];
  if (stack->frame != PF_NOT_INTERNED &&
      (stack->frame != f || !is_equal(&stack->parent, parent)))
    return pf_run_sums_damaged(error, "two different stacks have one key");
  stack->frame = f;
  stack->parent = *parent;
  return PF_OK;
}


static pf_status take_stack (pf_run_sums *sums, pf_cursor *cursor, bool callers,
                             pf_error *error) {
  pf_bytes hashes, lows;
  uint64_t count;
  if (!pf_take(cursor, 3 * PF_HASH_SIZE, &hashes) ||
      !pf_take_varint(cursor, &count) || count > PF_CALLERS_MAX ||
      !pf_take(cursor, 8 * count, &lows))
    return pf_run_sums_damaged(error, "stacks are incomplete");
  const pf_hash hash = load_hash(hashes.at);
  const pf_hash parent = load_hash(hashes.at + PF_HASH_SIZE);
  const pf_hash frame = load_hash(hashes.at + 2 * PF_HASH_SIZE);
  pf_status status = set_stack(sums, &hash, &parent, &frame, error);
  if (status != PF_OK || !callers || pf_is_none(&parent))
    return status;
  status = want(sums, pf_load64be(parent.bytes + 8));
  for (size_t at = 0; at < lows.size && status == PF_OK; at += 8)
    status = want(sums, pf_load64le(lows.at + at));
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


pf_status pf_run_sums_take_stacks (pf_run_sums *sums, pf_bytes rows,
                                   bool callers, pf_error *error) {
  pf_cursor cursor = pf_cursor_over(rows, false);
  pf_status status = PF_OK;
  while (pf_left(&cursor) > 0 && status == PF_OK)
    status = take_stack(sums, &cursor, callers, error);
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
    return pf_run_sums_damaged(error, "frames are incomplete");
  area.name = pf_intern(dictionary, name);
  area.file = has_file ? pf_intern(dictionary, file) : PF_NO_NAME;
  area.line = (int64_t)line;
  if (area.name == PF_NO_NAME || (has_file && area.file == PF_NO_NAME))
    return pf_no_memory(error);
  const pf_hash hash = load_hash(hash_bytes.at);
  const pf_hash computed = pf_hash_frame(dictionary, &area);
  const uint32_t i = find_frame(sums, &hash);
  if (!is_equal(&hash, &computed) || i == PF_NOT_INTERNED)
    return pf_run_sums_damaged(error, "a frame does not have its hash");
  const uint32_t id = pf_area_add(dictionary, &area);
  if (id == PF_NO_AREA)
    return pf_no_memory(error);
  if (sums->frames[i].area != PF_NO_AREA && sums->frames[i].area != id)
    return pf_run_sums_damaged(error, "two different frames have one hash");
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


/* Add the node of stack `i`, and first those of its callers. `path` has an
   element for each stack. */
static pf_status add_node (pf_run_sums *sums, uint32_t i, uint32_t *path,
                           pf_error *error) {
  uint32_t depth = 0, node = 0;
  while (sums->stacks[i].node == PF_NO_CONTEXT) {
    const pf_summed_stack *const stack = &sums->stacks[i];
    if (stack->frame == PF_NOT_INTERNED ||
        sums->frames[stack->frame].area == PF_NO_AREA)
      return pf_run_sums_damaged(error, "a stack or a frame is missing");
    path[depth++] = i;
    if (pf_is_none(&stack->parent))
      break;
    i = pf_run_sums_find(sums, &stack->parent);
    if (i == PF_NOT_INTERNED || depth >= sums->stack_table.count)
      return pf_run_sums_damaged(error, "the caller of a stack is missing");
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
    const pf_wide sum = sums->weights[i * c->nmetrics + m];
    c->has_overflowed |= sum > INT64_MAX || sum < INT64_MIN;
    pf_context_add(c, sums->stacks[i].node, m, pf_limited(sum));
  }
}


pf_status pf_run_sums_finish (pf_run_sums *sums, pf_error *error) {
  uint32_t *const path =
      pf_array((size_t)sums->stack_table.count + 1, sizeof *path);
  pf_status status = PF_OK;
  if (path == NULL)
    return pf_no_memory(error);
  for (uint32_t i = 0; i < sums->nsums && status == PF_OK; i++)
    status = add_node(sums, i, path, error);
  for (uint32_t i = 0; i < sums->nsums && status == PF_OK; i++)
    add_weights(sums, i);
  free(path);
  return status;
}
