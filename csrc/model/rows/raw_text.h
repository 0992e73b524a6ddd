/*
** raw_text.h - table `raw` of the formats that are texts: their lines or
** elements as they are. Included by the files of those formats that open their
** tables and put rows.
*/

#ifndef raw_text_h
#define raw_text_h

#include "model/rows/put_values.h"

typedef enum pf_raw_column {
  PF_RAW_offset,
  PF_RAW_size,
  PF_RAW_kind,
  PF_RAW_text,
  PF_RAW_COLUMNS
} pf_raw_column;

/* Its fields; `kinds` is the help text of column `kind`. */
#define PF_RAW_FIELDS(kinds)                                          \
  {                                                                   \
    [PF_RAW_offset] = {"offset", PF_INT,                              \
                       "byte of the file at which it begins"},        \
    [PF_RAW_size] = {"size", PF_INT, "its bytes, with what ends it"}, \
    [PF_RAW_kind] = {"kind", PF_NAME, kinds},                         \
    [PF_RAW_text] = {"text", PF_BYTES, "as in the file"},             \
  }

/* Add a row: `size` bytes at `offset`, of which `text` is shown. */
static inline pf_status pf_put_raw (pf_batch *batch, uint64_t offset,
                                    size_t size, uint32_t kind, pf_bytes text) {
  const size_t row = batch->rows++;
  pf_column *const c = batch->columns;
  pf_put_int(&c[PF_RAW_offset], row, (int64_t)offset, true);
  pf_put_int(&c[PF_RAW_size], row, (int64_t)size, true);
  pf_put_id(&c[PF_RAW_kind], row, kind);
  pf_put_bytes(&c[PF_RAW_text], row, text, true);
  return PF_MORE;
}

#endif
