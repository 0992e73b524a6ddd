/*
** read_gmon.c - functions of all readers of gmon, and the readers of arcs,
** blocks, sets and images.
**
** Each `next` continues the parser where the last call stopped. It compares the
** position with the current size of the source, because the file may have
** changed since it was opened. Opened through pf_table.open (open_gmon.c) by
** lua/checked_reader.c, which closes them; each owns nothing but itself.
*/

#include "formats/gmon/gmon.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"


static uint64_t rows_of (const gmon_table *table, const gmon_segment *segment) {
  if (table->kind != GMON_KINDS && table->kind != segment->kind)
    return 0;
  return table->has_items || segment->kind == GMON_ARCS ? segment->count : 1;
}


/* Go to the next segment that has rows. */
static pf_status next_segment (gmon_reader *self, pf_error *error) {
  do {
    self->parser.error = error;
    const pf_status status = gmon_next_segment(&self->parser, &self->segment);
    if (status != PF_MORE)
      return status;
    if (self->segment.kind == GMON_HISTOGRAM)
      self->set++;
    self->row = 0;
    self->rows = rows_of(self->table, &self->segment);
  } while (self->rows == 0);
  return PF_MORE;
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  gmon_reader *const self = (gmon_reader *)reader;
  pf_status status = PF_OK;
  pf_batch_clear(batch);
  self->parser.bytes = self->trace->sources[0].bytes;
  if (self->parser.at > self->parser.bytes.size)
    return pf_fail(error, PF_ETRUNCATED, self->parser.bytes.size,
                   "%llu bytes expected, the file has become shorter",
                   (unsigned long long)self->parser.at);
  while (status == PF_OK && batch->rows < PF_BATCH_ROWS) {
    status = self->row < self->rows ? PF_OK : next_segment(self, error);
    if (status == PF_OK)
      status = self->table->fill(self, batch, error);
  }
  return pf_batch_status(batch, status);
}


/* Restart, skip whole segments, then rows. */
pf_status gmon_seek (pf_reader *reader, uint64_t row, pf_error *error) {
  gmon_reader *const self = (gmon_reader *)reader;
  pf_status status = PF_OK;
  self->parser = gmon_new_parser(&self->file->layout,
                                 self->trace->sources[0].bytes, NULL, error);
  self->set = -1;
  self->row = self->rows = 0;
  while (status == PF_MORE && row >= self->rows - self->row) {
    row -= self->rows;
    self->row = self->rows = 0;
    status = next_segment(self, error);
  }
  if (status == PF_MORE)
    self->row = row;
  return status < 0 ? status : PF_OK;
}


const pf_abilities gmon_seekable = {.seek = gmon_seek};


pf_status gmon_open_reader (pf_trace *trace, const pf_table *table,
                            const gmon_table *kind, pf_reader **reader,
                            pf_error *error) {
  gmon_reader *const self =
      pf_reader_new(kind->size, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.can = kind->can;
  self->table = kind;
  self->trace = trace;
  self->file = trace->state;
  self->parser = gmon_new_parser(&self->file->layout, trace->sources[0].bytes,
                                 NULL, error);
  self->set = -1;
  *reader = &self->reader;
  return PF_OK;
}


size_t gmon_fillable_rows (const gmon_reader *self, const pf_batch *batch) {
  const uint64_t left = self->rows - self->row;
  const size_t free_rows = PF_BATCH_ROWS - batch->rows;
  return left < free_rows ? (size_t)left : free_rows;
}


/* Load a number of `width` bytes (4 or 8) from each of `count` records. */
static void load_column (uint64_t *out, const uint8_t *at, size_t stride,
                         size_t count, unsigned width, bool big) {
  if (width == 8 && big)
    for (size_t i = 0; i < count; i++)
      out[i] = pf_load64be(at + i * stride);
  else if (width == 8)
    for (size_t i = 0; i < count; i++)
      out[i] = pf_load64le(at + i * stride);
  else if (big)
    for (size_t i = 0; i < count; i++)
      out[i] = pf_load32be(at + i * stride);
  else
    for (size_t i = 0; i < count; i++)
      out[i] = pf_load32le(at + i * stride);
}


pf_status gmon_count_too_large (const gmon_reader *self, pf_column *column,
                                size_t row, uint64_t offset, pf_error *error) {
  const uint64_t count = (uint64_t)column->ints[row];
  pf_set_missing(column, row);
  column->ints[row] = 0;
  return pf_warn(self->trace, PF_DAMAGE, "gmon-count-too-large", PF_EFORMAT,
                 offset, error,
                 "a count below 2^63 expected, found %llu: it is missing",
                 (unsigned long long)count);
}


/* Load the counts of `count` items from self->row on, `at` bytes into each. */
static pf_status load_counts (const gmon_reader *self, pf_column *column,
                              size_t first, size_t count, uint64_t at,
                              unsigned width, pf_error *error) {
  load_column((uint64_t *)column->ints + first, gmon_item(self, self->row) + at,
              (size_t)self->segment.stride, count, width,
              self->file->layout.big);
  if (width < 8)
    return PF_OK;
  for (size_t i = 0; i < count; i++) {
    if (column->ints[first + i] >= 0)
      continue;
    const uint64_t item = self->row + i;
    const pf_status status = gmon_count_too_large(
        self, column, first + i,
        self->segment.items_at + item * self->segment.stride + at, error);
    if (status < 0)
      return status;
  }
  return PF_OK;
}


/* Load an address of each item, `at` bytes after its start, if the column is
   wanted, and add the base of the segment. With `keeps_zero` an address of 0
   stays 0: the call came from outside. */
static void load_addresses (const gmon_reader *self, pf_column *column,
                            size_t first, size_t count, uint64_t at,
                            bool keeps_zero) {
  const gmon_layout *const layout = &self->file->layout;
  if (column->data == NULL)
    return;
  load_column(column->addrs + first, gmon_item(self, self->row) + at,
              (size_t)self->segment.stride, count, layout->width, layout->big);
  if (self->segment.base == 0)
    return;
  const uint64_t mask = layout->width == 8 ? UINT64_MAX : (uint64_t)UINT32_MAX;
  for (size_t i = first; i < first + count; i++)
    if (column->addrs[i] != 0 || !keeps_zero)
      column->addrs[i] = (column->addrs[i] + self->segment.base) & mask;
}


pf_bytes gmon_dimension (const gmon_segment *segment) {
  return segment->dimension.at != NULL ? segment->dimension
                                       : pf_bytes_of("seconds");
}


pf_bytes gmon_abbreviation (const gmon_segment *segment) {
  return (pf_bytes){&segment->abbreviation, segment->abbreviation != 0};
}


static pf_status fill_arcs (gmon_reader *self, pf_batch *batch,
                            pf_error *error) {
  const uint64_t width = self->file->layout.width;
  const size_t first = batch->rows;
  const size_t count = gmon_fillable_rows(self, batch);
  pf_column *const columns = batch->columns;
  pf_status status = PF_OK;
  load_addresses(self, &columns[ARCS_from], first, count, 0, true);
  load_addresses(self, &columns[ARCS_to], first, count, width, false);
  if (columns[ARCS_count].data != NULL)
    status = load_counts(self, &columns[ARCS_count], first, count, 2 * width,
                         self->segment.count_width, error);
  /* only Apple's ordered arcs state the order of first calls */
  pf_column *const order = &columns[ARCS_order];
  if (!self->segment.has_order)
    pf_put_none(order, first, count);
  else if (order->data != NULL)
    load_column((uint64_t *)order->ints + first,
                gmon_item(self, self->row) + 2 * width + 4,
                (size_t)self->segment.stride, count, 4, self->file->layout.big);
  batch->rows += count;
  self->row += count;
  return status;
}


const gmon_table gmon_arcs_table = {
    "arcs",         gmon_arcs_fields, ARCS_COLUMNS, sizeof(gmon_reader),
    &gmon_seekable, GMON_ARCS,        true,         fill_arcs};


static pf_status fill_blocks (gmon_reader *self, pf_batch *batch,
                              pf_error *error) {
  const unsigned width = self->file->layout.width;
  const size_t first = batch->rows;
  const size_t count = gmon_fillable_rows(self, batch);
  pf_column *const columns = batch->columns;
  pf_status status = PF_OK;
  load_addresses(self, &columns[BLOCKS_address], first, count, 0, true);
  if (columns[BLOCKS_count].data != NULL)
    status = load_counts(self, &columns[BLOCKS_count], first, count, width,
                         width, error);
  batch->rows += count;
  self->row += count;
  return status;
}


const gmon_table gmon_blocks_table = {
    "blocks",       gmon_blocks_fields, BLOCKS_COLUMNS, sizeof(gmon_reader),
    &gmon_seekable, GMON_BLOCKS,        true,           fill_blocks};


static pf_status fill_sets (gmon_reader *self, pf_batch *batch,
                            pf_error *error) {
  const gmon_segment *const segment = &self->segment;
  pf_dictionary *const d = self->reader.dictionary;
  pf_column *const columns = batch->columns;
  const size_t row = batch->rows++;
  self->row++;
  pf_put_int(&columns[SETS_set], row, self->set, true);
  pf_put_addr(&columns[SETS_low], row, segment->low, true);
  pf_put_addr(&columns[SETS_high], row, segment->high, true);
  pf_put_int(&columns[SETS_bins], row, (int64_t)segment->count, true);
  pf_put_int(&columns[SETS_rate], row, gmon_rate(&self->file->layout, segment),
             true);
  pf_put_int(&columns[SETS_offset], row, (int64_t)segment->offset, true);
  pf_put_int(&columns[SETS_declared], row, (int64_t)segment->declared, true);
  return pf_put_text(d, &columns[SETS_dimension], row, gmon_dimension(segment),
                     true) &&
                 pf_put_text(d, &columns[SETS_abbreviation], row,
                             gmon_abbreviation(segment), true)
             ? PF_OK
             : pf_no_memory(error);
}


const gmon_table gmon_sets_table = {
    "sets",         gmon_sets_fields, SETS_COLUMNS, sizeof(gmon_reader),
    &gmon_seekable, GMON_HISTOGRAM,   false,        fill_sets};


#define IMAGES_LIST(X, T)                                   \
  X(T, address, ADDR, "load address or slide of the image") \
  X(T, path, NAME, "file of the image")
PF_COLUMN_INDEXES(IMAGES);
static const pf_field images_fields[] = PF_COLUMN_FIELDS(IMAGES);

typedef struct images_reader {
  gmon_reader base;
  uint64_t at; /* offset of the next image, if row > 0 */
} images_reader;


/* The list ends before the stated number of images. */
static pf_status end_images (images_reader *self, pf_error *error) {
  gmon_reader *const base = &self->base;
  const uint64_t row = base->row;
  base->row = base->rows;
  return pf_warn(base->trace, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED,
                 base->segment.offset, error,
                 "%llu images are stated, the list ends after %llu of them",
                 (unsigned long long)base->rows, (unsigned long long)row);
}


/* Decode one image: an address and a name that ends in NUL. */
static pf_status fill_images (gmon_reader *base, pf_batch *batch,
                              pf_error *error) {
  images_reader *const self = (images_reader *)base;
  const gmon_layout *const layout = &base->file->layout;
  const uint64_t end = base->segment.offset + base->segment.size;
  if (base->row == 0)
    self->at = base->segment.items_at;
  if (end - self->at <= layout->width)
    return end_images(self, error);
  const uint8_t *const image = base->parser.bytes.at + self->at;
  const uint8_t *const name = image + layout->width;
  const size_t free_rows = (size_t)(end - self->at - layout->width);
  const uint8_t *const nul = memchr(name, 0, free_rows);
  if (nul == NULL)
    return end_images(self, error);
  const pf_bytes path = {name, (size_t)(nul - name)};
  self->at += layout->width + path.size + 1;
  base->row++;
  const size_t row = batch->rows++;
  pf_put_addr(&batch->columns[IMAGES_address], row, gmon_address(layout, image),
              true);
  return pf_put_text(base->reader.dictionary, &batch->columns[IMAGES_path], row,
                     path, true)
             ? PF_OK
             : pf_no_memory(error);
}


const gmon_table gmon_images_table = {
    "images", images_fields, IMAGES_COLUMNS, sizeof(images_reader),
    NULL,     GMON_IMAGES,   true,           fill_images};
