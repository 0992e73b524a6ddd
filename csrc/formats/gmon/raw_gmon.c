/*
** raw_gmon.c - the reader of table raw: one row for each segment, but for arcs
** one row each. The column `bytes` of all rows, concatenated, is the file.
** open_gmon.c lists the table, read_gmon.c makes the reader and calls `fill`.
*/

#include "formats/gmon/gmon.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"

#define RAW_LIST(X, T)                                                        \
  X(T, offset, INT, "offset in the file")                                     \
  X(T, size, INT, "bytes")                                                    \
  X(T, kind, NAME, "header, histogram, arc, blocks, images, unknown or rest") \
  X(T, low, ADDR, "histogram: as stated")                                     \
  X(T, high, ADDR, "histogram: as stated")                                    \
  X(T, bins, INT, "histogram: as stated")                                     \
  X(T, rate, INT, "histogram: as stated")                                     \
  X(T, dimension, NAME, "histogram: as stated")                               \
  X(T, abbreviation, NAME, "histogram: as stated")                            \
  X(T, from, ADDR, "of an arc")                                               \
  X(T, to, ADDR, "of an arc")                                                 \
  X(T, count, INT, "arc: calls; blocks and images: number of items")          \
  X(T, order, INT, "of an arc")                                               \
  X(T, bytes, BYTES, "bytes of the segment")
PF_COLUMN_INDEXES(RAW);
static const pf_field fields[] = PF_COLUMN_FIELDS(RAW);


static void put_int (pf_batch *batch, size_t column, size_t row,
                     uint64_t value) {
  pf_put_int(&batch->columns[column], row, (int64_t)value, value <= INT64_MAX);
}


/* Mark the columns `low` to `high` as missing in a row. */
static void set_missing (pf_batch *batch, size_t row, size_t low, size_t high) {
  for (size_t i = low; i <= high; i++)
    pf_put_none(&batch->columns[i], row, 1);
}


/* Store a histogram header; those of BSD have no names. */
static pf_status put_histogram (const gmon_reader *self, pf_batch *batch,
                                size_t row, pf_error *error) {
  const gmon_segment *const segment = &self->segment;
  pf_dictionary *const d = self->reader.dictionary;
  pf_column *const columns = batch->columns;
  const bool is_named = segment->dimension.at != NULL;
  pf_put_addr(&columns[RAW_low], row, segment->low, true);
  pf_put_addr(&columns[RAW_high], row, segment->high, true);
  put_int(batch, RAW_bins, row, segment->declared);
  pf_put_int(&columns[RAW_rate], row, segment->rate,
             self->file->layout.dialect != GMON_BSD);
  set_missing(batch, row, RAW_from, RAW_order);
  return pf_put_text(d, &columns[RAW_dimension], row, segment->dimension,
                     is_named) &&
                 pf_put_text(d, &columns[RAW_abbreviation], row,
                             gmon_abbreviation(segment), is_named)
             ? PF_OK
             : pf_no_memory(error);
}


static void put_arc (const gmon_reader *self, pf_batch *batch, size_t row,
                     const uint8_t *arc) {
  const gmon_segment *const segment = &self->segment;
  const gmon_layout *const layout = &self->file->layout;
  const unsigned width = layout->width;
  set_missing(batch, row, RAW_low, RAW_abbreviation);
  pf_put_addr(&batch->columns[RAW_from], row, gmon_address(layout, arc), true);
  pf_put_addr(&batch->columns[RAW_to], row, gmon_address(layout, arc + width),
              true);
  put_int(batch, RAW_count, row,
          pf_load(arc + 2 * width, segment->count_width, layout->big));
  if (segment->has_order)
    put_int(batch, RAW_order, row, pf_load32(arc + 2 * width + 4, layout->big));
  else
    set_missing(batch, row, RAW_order, RAW_order);
}


/* Store the fields that a segment of this kind has. */
static pf_status put_fields (const gmon_reader *self, pf_batch *batch,
                             size_t row, pf_error *error) {
  const gmon_segment *const segment = &self->segment;
  switch (segment->kind) {
    case GMON_HISTOGRAM: return put_histogram(self, batch, row, error);
    case GMON_ARCS:
      put_arc(self, batch, row, gmon_item(self, self->row));
      return PF_OK;
    case GMON_BLOCKS:
    case GMON_IMAGES:
      set_missing(batch, row, RAW_low, RAW_to);
      put_int(batch, RAW_count, row, segment->declared);
      set_missing(batch, row, RAW_order, RAW_order);
      return PF_OK;
    default: set_missing(batch, row, RAW_low, RAW_order); return PF_OK;
  }
}


static pf_status fill (gmon_reader *self, pf_batch *batch, pf_error *error) {
  static const char *const kind_words[GMON_KINDS] = {
      [GMON_HEADER] = "header", [GMON_HISTOGRAM] = "histogram",
      [GMON_ARCS] = "arc",      [GMON_BLOCKS] = "blocks",
      [GMON_IMAGES] = "images", [GMON_UNKNOWN] = "unknown",
      [GMON_REST] = "rest"};
  const gmon_segment *const segment = &self->segment;
  const bool is_arc = segment->kind == GMON_ARCS;
  const uint64_t size = is_arc ? segment->stride : segment->size;
  const uint64_t offset = segment->offset + (is_arc ? self->row * size : 0);
  const pf_bytes bytes = {self->parser.bytes.at + offset, (size_t)size};
  const size_t row = batch->rows++;
  put_int(batch, RAW_offset, row, offset);
  put_int(batch, RAW_size, row, size);
  pf_put_bytes(&batch->columns[RAW_bytes], row, bytes, true);
  if (!pf_put_text(self->reader.dictionary, &batch->columns[RAW_kind], row,
                   pf_bytes_of(kind_words[segment->kind]), true))
    return pf_no_memory(error);
  const pf_status status = put_fields(self, batch, row, error);
  self->row++;
  return status;
}


const gmon_table gmon_raw_table = {
    "raw",          fields,     RAW_COLUMNS, sizeof(gmon_reader),
    &gmon_seekable, GMON_KINDS, false,       fill};
