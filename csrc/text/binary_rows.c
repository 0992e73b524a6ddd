/*
** binary_rows.c - rows in ClickHouse's format RowBinary, to be inserted into a
** table of the same columns. Values stand one after the other, without a
** header, little-endian:
**
**   missing mark   1 byte, 1: missing, no value follows; not before key columns
**                  and stacks
**   int            8 bytes, Int64
**   num            8 bytes, Float64
**   addr, handle   8 bytes, UInt64
**   bool           1 byte, UInt8
**   name, area,    varint: size in bytes; the bytes unchanged, String
**   bytes
**   stack          varint: number of frames; the names of the frames as
**                  strings, outermost first, Array(String). A missing stack
**                  has no frames
**
** lua/row_text.c calls the format through row_format.
*/

#include "bytes/cursor.h"
#include "model/dictionary/stacks.h"
#include "text/rows.h"

#define MAX_DEPTH 4096u /* frames of a stack, unless the job states more */


static size_t varint_size (uint64_t value) {
  uint8_t bytes[PF_VARINT_SIZE];
  return (size_t)(pf_save_varint(bytes, value) - bytes);
}


static pf_status put_string (row_text *text, pf_bytes bytes) {
  if (bytes.size > SIZE_MAX / 2 ||
      row_reserve(text, bytes.size + PF_VARINT_SIZE) != PF_OK)
    return PF_ENOMEM;
  uint8_t *const p =
      pf_save_varint((uint8_t *)text->at + text->used, bytes.size);
  text->used = (size_t)((char *)p - text->at);
  return row_put(text, bytes.at, bytes.size);
}


/* Writes `depth` frames, of which `stack` is the innermost. They are found from
   the innermost outwards, so they are written from the end. */
static pf_status put_frames (row_text *text, const pf_dictionary *dictionary,
                             const pf_stack *stack, uint32_t depth) {
  size_t size = varint_size(depth);
  const pf_stack *s = stack;
  for (uint32_t i = 0; i < depth; i++) {
    const size_t name = pf_text(dictionary, PF_AREA, s->frame).size;
    if (name > SIZE_MAX / 4 - size)
      return PF_ENOMEM;
    size += varint_size(name) + name;
    s = pf_stack_at(dictionary, s->parent);
  }
  if (row_reserve(text, size) != PF_OK)
    return PF_ENOMEM;
  uint8_t *const start = (uint8_t *)text->at + text->used;
  uint8_t *end = start + size;
  pf_save_varint(start, depth);
  for (uint32_t i = 0; i < depth; i++) {
    const pf_bytes name = pf_text(dictionary, PF_AREA, stack->frame);
    end -= name.size;
    memcpy(end, name.at, name.size);
    end -= varint_size(name.size);
    pf_save_varint(end, name.size);
    stack = pf_stack_at(dictionary, stack->parent);
  }
  text->used += size;
  return PF_OK;
}


/* Writes a stack. Without max_depth, one that is too deep is refused. */
static pf_status put_stack (row_job *job, uint32_t number, uint64_t row) {
  const pf_dictionary *const dictionary = job->reader->dictionary;
  const pf_stack *stack = pf_stack_at(dictionary, number);
  uint32_t depth = stack->depth;
  if (job->max_depth == 0 && depth > MAX_DEPTH)
    return pf_refuse(&job->refusal,
                     "row %llu has a stack of %u frames, and only %u are "
                     "written of each: leave the column out, or state with "
                     "option depth how many outer frames to write",
                     (unsigned long long)row, depth, MAX_DEPTH);
  for (; job->max_depth > 0 && depth > job->max_depth; depth--)
    stack = pf_stack_at(dictionary, stack->parent);
  return put_frames(&job->text, dictionary, stack, depth);
}


static pf_status put_present (row_job *job, const pf_column *column,
                              size_t row) {
  row_text *const text = &job->text;
  if (row_is_text(column->type))
    return put_string(text, row_bytes(column, row, job->reader->dictionary));
  if (row_reserve(text, 8) != PF_OK)
    return PF_ENOMEM;
  uint8_t *const p = (uint8_t *)text->at + text->used;
  if (column->type == PF_BOOL) {
    *p = column->bools[row] != 0;
    text->used++;
    return PF_OK;
  }
  uint64_t bits;
  memcpy(&bits, &column->addrs[row], 8);
  pf_save64le(p, bits);
  text->used += 8;
  return PF_OK;
}


/* Writes the value of column `i`, with a missing mark if it may be missing. */
static pf_status put_value (row_job *job, size_t i, size_t row) {
  const row_column *const shown = &job->columns[i];
  const pf_column *const column = &job->batch.columns[shown->field];
  const bool missing = pf_is_missing(column, row);
  if (column->type == PF_STACK)
    return put_stack(job, missing ? PF_NO_STACK : column->ids[row],
                     job->count + row + 1);
  if (missing && shown->is_key)
    return pf_refuse(&job->refusal,
                     "row %llu has no %.64s, which is a column of the sort "
                     "key: choose other columns with option key, or none",
                     (unsigned long long)(job->count + row + 1), shown->name);
  const char mark = missing;
  if (!shown->is_key && row_put(&job->text, &mark, 1) != PF_OK)
    return PF_ENOMEM;
  return missing ? PF_OK : put_present(job, column, row);
}


static pf_status put_rows (row_job *job) {
  pf_status status = PF_OK;
  for (size_t row = 0; row < job->batch.rows && status == PF_OK; row++) {
    for (size_t i = 0; i < job->ncolumns && status == PF_OK; i++)
      status = put_value(job, i, row);
    if (status == PF_OK)
      status = row_flush(job, false);
  }
  return status;
}


const row_format row_rowbinary = {"rowbinary", NULL, put_rows, NULL, true};
