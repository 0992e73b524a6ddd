/*
** encode_memo.c - writes the memo file of a table: FPT, see memo.c.
*/

#include "bytes/cursor.h"
#include "formats/dbf/encode_dbf.h"

#define HEADER 512


static pf_sink *memo_sink (pf_sink *sink) {
  return pf_sink_side(sink, "memo");
}


/* Write the header of the memo file, once. */
static void begin_memos (dbf_writer *self, pf_sink *memo) {
  uint8_t size[2];
  if (self->next_block != 0)
    return;
  pf_sink_hold(memo);
  pf_save(size, 2, true, self->memo_block);
  (void)pf_sink_fill(memo, 0, 6);
  (void)pf_sink_put(memo, size, 2);
  (void)pf_sink_fill(memo, 0, HEADER - 8);
  self->next_block = (HEADER + self->memo_block - 1) / self->memo_block;
  (void)pf_sink_fill(memo, 0,
                     (size_t)(self->next_block * self->memo_block - HEADER));
}


pf_status dbf_put_memo (dbf_writer *self, const dbf_output_field *field,
                        pf_bytes value, bool is_text, pf_sink *sink,
                        uint32_t *block, pf_error *error) {
  pf_sink *const memo = memo_sink(sink);
  if (memo == NULL)
    return pf_fail(
        error, PF_EUNSUPPORTED, PF_NO_OFFSET,
        "field %s: memos need a file of their own, and the table has no path",
        field->name);
  begin_memos(self, memo);
  const uint64_t blocks =
      ((uint64_t)value.size + 8 + self->memo_block - 1) / self->memo_block;
  if (value.size > INT32_MAX ||
      (self->next_block + blocks) * self->memo_block > INT32_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a memo file has less than 2^31 bytes: a memo of %zu bytes "
                   "does not fit",
                   value.size);
  *block = (uint32_t)self->next_block;
  (void)pf_sink_uint(memo, 4, true, is_text ? 1 : 0);
  (void)pf_sink_uint(memo, 4, true, value.size);
  (void)pf_sink_put(memo, value.at, value.size);
  (void)pf_sink_fill(memo, 0,
                     (size_t)(blocks * self->memo_block - 8 - value.size));
  self->next_block += blocks;
  return memo->failed == PF_OK ? PF_OK : pf_sink_flush(memo, error);
}


pf_status dbf_end_memos (dbf_writer *self, pf_sink *sink, pf_error *error) {
  pf_sink *const memo = memo_sink(sink);
  uint8_t next[4];
  if (!self->has_memos || memo == NULL)
    return PF_OK;
  begin_memos(self, memo); /* a table with memo fields needs the file */
  pf_save(next, 4, true, self->next_block);
  if (pf_sink_patch(memo, 0, next, 4) != PF_OK)
    return pf_sink_flush(memo, error);
  return PF_OK;
}
