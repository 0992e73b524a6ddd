/*
** group_rows.c - the weights of functions in groups of runs, from rows of
** ClickHouse (see run_rows.h).
*/

#include <stdlib.h>

#include "model/base/memory.h"
#include "store/run_rows.h"


pf_status pf_run_sums_name (pf_run_sums *sums, pf_error *error) {
  const pf_dictionary *const dictionary = sums->contexts->dictionary;
  free(sums->functions);
  sums->functions = pf_array((size_t)sums->nsums + 1, sizeof *sums->functions);
  if (sums->functions == NULL)
    return pf_no_memory(error);
  for (uint32_t i = 0; i < sums->nsums; i++) {
    const uint32_t frame = sums->stacks[i].frame;
    if (pf_is_none(&sums->stacks[i].key))
      continue;
    if (frame == PF_NOT_INTERNED || sums->frames[frame].area == PF_NO_AREA)
      return pf_run_sums_damaged(error, "a stack or a frame is missing");
  }
  for (uint32_t f = 0; f < sums->frame_table.count; f++) {
    uint32_t id;
    if (sums->frames[f].area == PF_NO_AREA)
      continue;
    const uint64_t name = pf_area_at(dictionary, sums->frames[f].area)->name;
    if (pf_id_table_words(&sums->names, &name, 1, &id) != PF_OK)
      return pf_no_memory(error);
    sums->frames[f].function = id;
  }
  for (uint32_t i = 0; i < sums->nsums; i++)
    sums->functions[i] = pf_is_none(&sums->stacks[i].key)
                             ? sums->names.count
                             : sums->frames[sums->stacks[i].frame].function;
  return PF_OK;
}


/* Whether a stack has a frame in a wanted function. `known` has, by stack, 0:
   not known yet, 1: no, 2: yes. `path` has an element for each stack. */
static pf_status look_up (const pf_run_sums *sums, const bool *wanted,
                          uint32_t i, uint8_t *known, uint32_t *path,
                          pf_error *error) {
  uint32_t depth = 0;
  uint8_t found = 1;
  if (pf_is_none(&sums->stacks[i].key))
    return PF_OK;
  while (known[i] == 0 && found == 1) {
    const pf_summed_stack *const stack = &sums->stacks[i];
    if (stack->frame == PF_NOT_INTERNED ||
        sums->frames[stack->frame].area == PF_NO_AREA ||
        depth >= sums->stack_table.count)
      return pf_run_sums_damaged(error, "a stack or a frame is missing");
    path[depth++] = i;
    if (wanted[sums->frames[stack->frame].function])
      found = 2;
    else if (pf_is_none(&stack->parent))
      break;
    else if ((i = pf_run_sums_find(sums, &stack->parent)) == PF_NOT_INTERNED)
      return pf_run_sums_damaged(error, "the caller of a stack is missing");
  }
  if (found == 1 && known[i] != 0)
    found = known[i];
  while (depth-- > 0)
    known[path[depth]] = found;
  return PF_OK;
}


pf_status pf_run_sums_having (const pf_run_sums *sums, const bool *wanted,
                              bool callers, bool *has, pf_error *error) {
  const size_t count = (size_t)sums->stack_table.count + 1;
  uint8_t *const known = pf_array_of_zeros(count, 1);
  uint32_t *const path = pf_array(count, sizeof *path);
  const bool has_memory = known != NULL && path != NULL;
  pf_status status = has_memory ? PF_OK : pf_no_memory(error);
  for (uint32_t i = 0; i < sums->nsums && has_memory && status == PF_OK; i++)
    if (callers) {
      status = look_up(sums, wanted, i, known, path, error);
      has[i] = known[i] == 2;
    }
    else
      has[i] = wanted[sums->functions[i]];
  free(known);
  free(path);
  return status;
}


pf_status pf_run_sums_begin (pf_run_sums *sums, size_t groups,
                             pf_error *error) {
  free(sums->self);
  sums->ngroups = 0;
  sums->self =
      pf_array_of_zeros(groups * (sums->names.count + 1), sizeof *sums->self);
  if (sums->self == NULL)
    return pf_no_memory(error);
  sums->ngroups = groups;
  return PF_OK;
}


/* The index of a stack with sums, or a higher number. Words and stacks have the
   same numbers unless two stacks have one lo. */
static uint32_t stack_of (const pf_run_sums *sums, uint64_t hi, uint64_t lo) {
  const pf_hash key = pf_hash_of_words(hi, lo);
  const uint32_t i = pf_id_table_find(&sums->wanted, lo);
  return i < sums->nsums && memcmp(&sums->stacks[i].key, &key, sizeof key) == 0
             ? i
             : pf_run_sums_find(sums, &key);
}


/* Add a weight to the function of a stack. */
static pf_status add (pf_run_sums *sums, size_t group, uint64_t hi, uint64_t lo,
                      pf_wide weight, pf_error *error) {
  const uint32_t i = stack_of(sums, hi, lo);
  if (i >= sums->nsums)
    return pf_run_sums_damaged(error, "cells have a stack without a sum");
  sums->self[group * (sums->names.count + 1) + sums->functions[i]] += weight;
  return PF_OK;
}


pf_status pf_run_sums_add_group (pf_run_sums *sums, size_t group, pf_bytes rows,
                                 pf_error *error) {
  pf_status status = rows.size % PF_SUM_SIZE == 0
                         ? PF_OK
                         : pf_run_sums_damaged(error, "sums are incomplete");
  for (size_t at = 0; at < rows.size && status == PF_OK; at += PF_SUM_SIZE)
    status =
        add(sums, group, pf_load64le(rows.at + at),
            pf_load64le(rows.at + at + 8), pf_sum_at(rows.at + at + 16), error);
  return status;
}


/* Take an array of `*count` elements, the first one sets it. */
static bool take_array (pf_cursor *cursor, size_t size, uint64_t *count,
                        pf_bytes *bytes) {
  const uint64_t expected = *count;
  return pf_take_varint(cursor, count) &&
         (expected == UINT64_MAX || *count == expected) &&
         *count <= pf_left(cursor) / size &&
         pf_take(cursor, *count * size, bytes);
}


pf_status pf_run_sums_add_cells (pf_run_sums *sums, size_t group,
                                 pf_cursor *cursor, pf_error *error) {
  pf_bytes hi, lo, high, low;
  uint64_t count = UINT64_MAX;
  pf_status status = PF_OK;
  if (!take_array(cursor, 2, &count, &hi) ||
      !take_array(cursor, 8, &count, &lo) ||
      !take_array(cursor, 4, &count, &high) ||
      !take_array(cursor, 4, &count, &low))
    return pf_run_sums_damaged(error, "cells are incomplete");
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = add(
        sums, group, (uint64_t)hi.at[2 * i] | (uint64_t)hi.at[2 * i + 1] << 8,
        pf_load64le(lo.at + 8 * i),
        (pf_wide)(int32_t)pf_load32le(high.at + 4 * i) * ((int64_t)1 << 32) +
            pf_load32le(low.at + 4 * i),
        error);
  return status;
}
