/*
** fast.c - decodes blocks of a few hundred records field by field; a block
** stays in the L1 cache.
*/

#include "formats/xpp/fast.h"

#include <string.h>

#include "bytes/cursor.h"

#define BLOCK    256 /* records; a batch is a multiple of it */
#define LIVE     0x20
#define END_MARK 0x1A


/* {====== Set-up ====== */

/* Returns false if the fast path cannot decode the field of this role. */
static bool open_number (xpp_fast_field *fast, const xpp_file *file,
                         xpp_role role) {
  const size_t number = file->roles.field[role];
  if (number == XPP_NO_FIELD)
    return false;
  const dbf_field *const field = &file->dbf->fields[number];
  fast->is_wanted = true;
  fast->offset = field->offset;
  fast->has_digits = field->kind == DBF_DIGITS;
  if (field->null_bit >= 0 || field->column != PF_INT)
    return false;
  if (fast->has_digits)
    return dbf_fast_int_open(&fast->whole, field, file->dbf->record);
  return field->kind == DBF_INTEGER && field->size == 4;
}


bool xpp_fast_open (xpp_fast *fast, const xpp_file *file, const bool *wanted,
                    const xpp_name_cache *ops, const xpp_name_cache *calls) {
  memset(fast, 0, sizeof *fast);
  if (file->is_text || file->is_live || file->op_offset == 0 ||
      wanted[ENTRIES_PARAMS] || (wanted[ENTRIES_OP] && ops->field == NULL) ||
      (wanted[ENTRIES_CALL] && calls->field == NULL))
    return false;
  for (size_t i = ENTRIES_COLUMNS; i < file->nentries; i++)
    if (wanted[i])
      return false;
  fast->record = file->dbf->record;
  fast->op_offset = file->op_offset;
  fast->ops = wanted[ENTRIES_OP] ? ops : NULL;
  fast->calls = wanted[ENTRIES_CALL] ? calls : NULL;
  return (!(wanted[ENTRIES_THREAD] || wanted[ENTRIES_TIME]) ||
          open_number(&fast->thread, file, XPP_THREAD)) &&
         (!wanted[ENTRIES_TIME] || open_number(&fast->time, file, XPP_TIME)) &&
         (!wanted[ENTRIES_LINE] || open_number(&fast->line, file, XPP_LINE));
}

/* }====== */


/* {====== Decoding ====== */

/* Returns true if all records of a block are not deleted and have valid
   operations. */
static bool are_valid (const xpp_fast *fast, const uint8_t *at) {
  const size_t record = fast->record, op_offset = fast->op_offset;
  bool all = true;
  for (size_t i = 0; i < BLOCK; i++, at += record)
    all &= at[0] == LIVE && xpp_is_op[at[op_offset]];
  return all;
}


static bool fill_numbers (const xpp_fast_field *field, const uint8_t *at,
                          size_t record, int64_t *out) {
  at += field->offset;
  if (field->has_digits)
    return dbf_fast_int_fill(&field->whole, at, record, BLOCK, out) == BLOCK;
  for (size_t i = 0; i < BLOCK; i++, at += record)
    out[i] = (int32_t)pf_load32le(at);
  return true;
}


/* Converts ms to ns. Returns false if a time is negative: the clock has no
   sign, so the general path has to convert it. */
static bool scale_times (int64_t *times) {
  int64_t all = 0;
  for (size_t i = 0; i < BLOCK; i++) {
    all |= times[i];
    times[i] *= XPP_NS_PER_MS;
  }
  return all >= 0;
}


static bool fill_names (const xpp_name_cache *cache, const uint8_t *at,
                        size_t record, uint32_t *out) {
  return xpp_name_cache_find(cache, at + cache->field->offset, record, BLOCK,
                             out) == BLOCK;
}


static bool decode_some (const xpp_fast *fast, const uint8_t *at,
                         xpp_fast_rows *rows, size_t row) {
  const size_t record = fast->record;
  return are_valid(fast, at) &&
         (rows->threads == NULL ||
          fill_numbers(&fast->thread, at, record, rows->threads + row)) &&
         (rows->times == NULL ||
          (fill_numbers(&fast->time, at, record, rows->times + row) &&
           scale_times(rows->times + row))) &&
         (rows->lines == NULL ||
          fill_numbers(&fast->line, at, record, rows->lines + row)) &&
         (rows->ops == NULL ||
          fill_names(fast->ops, at, record, rows->ops + row)) &&
         (rows->calls == NULL ||
          fill_names(fast->calls, at, record, rows->calls + row));
}


/* Sets is_same_thread and is_sorted. */
static void summarize (xpp_fast_rows *rows) {
  bool is_same_thread = true, is_sorted = true;
  for (size_t i = 1; rows->threads != NULL && i < PF_BATCH_ROWS; i++)
    is_same_thread &= rows->threads[i] == rows->threads[0];
  for (size_t i = 1; rows->times != NULL && i < PF_BATCH_ROWS; i++)
    is_sorted &= rows->times[i] >= rows->times[i - 1];
  rows->is_same_thread = is_same_thread;
  rows->is_sorted = is_sorted;
}


bool xpp_fast_decode (const xpp_fast *fast, pf_bytes bytes, uint64_t at,
                      xpp_fast_rows *rows) {
  const uint64_t size = (uint64_t)fast->record * PF_BATCH_ROWS;
  if (at > bytes.size || size > bytes.size - at)
    return false;
  const uint64_t end = at + size;
  if (end < bytes.size && bytes.at[end] != LIVE && bytes.at[end] != 0x2A &&
      bytes.at[end] != END_MARK)
    return false; /* the last record is not followed by a record */
  for (size_t row = 0; row < PF_BATCH_ROWS; row += BLOCK)
    if (!decode_some(fast, bytes.at + at + row * fast->record, rows, row))
      return false;
  summarize(rows);
  return true;
}

/* }====== */
