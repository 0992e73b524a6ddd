/*
** read_gmon.c - functions of all readers of gmon, and the readers of arcs,
** blocks, sets and images.
**
** Each `next` continues the parser where the last call stopped. It compares the
** segment with the current size of the source again, because the file may have
** changed since it was opened.
*/

#include "formats/gmon/gmon.h"
#include "model/rows/batch.h"
#include "model/rows/table_reader.h"
#include "model/dictionary/names.h"


/* {====== All readers ====== */

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
    self->rows = self->rows_of(&self->segment);
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
      status = self->fill(self, batch, error);
  }
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : PF_END;
}


/* Restart, skip whole segments, then rows. */
static pf_status seek (pf_reader *reader, uint64_t row, pf_error *error) {
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


pf_status gmon_reader_make (pf_trace *trace, const pf_table *table, size_t size,
                            gmon_reader **made, pf_error *error) {
  gmon_reader *const self = pf_reader_new(size, trace, table, next, error);
  *made = self;
  if (self == NULL)
    return error->status;
  self->reader.can = &self->abilities;
  self->abilities.seek = seek;
  self->trace = trace;
  self->file = trace->state;
  self->parser = gmon_new_parser(&self->file->layout, trace->sources[0].bytes,
                                 NULL, error);
  self->set = -1;
  return PF_OK;
}


size_t gmon_fillable_rows (const gmon_reader *self, const pf_batch *batch) {
  const uint64_t left = self->rows - self->row;
  const size_t free_rows = PF_BATCH_ROWS - batch->rows;
  return left < free_rows ? (size_t)left : free_rows;
}


void gmon_load_column (uint64_t *out, const uint8_t *at, size_t stride,
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


/* Load the counts of `count` items from self->row on, `at` bytes after the
   start of each item. */
static pf_status load_counts (const gmon_reader *self, pf_column *column,
                              size_t first, size_t count, uint64_t at,
                              unsigned width, pf_error *error) {
  gmon_load_column((uint64_t *)column->ints + first,
                   gmon_item(self, self->row) + at, self->segment.stride, count,
                   width, self->file->layout.big);
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


/* Load an address of each item, `at` bytes after its start. */
static void load_addresses (const gmon_reader *self, pf_column *column,
                            size_t first, size_t count, uint64_t at) {
  gmon_load_column(column->addrs + first, gmon_item(self, self->row) + at,
                   self->segment.stride, count, self->file->layout.width,
                   self->file->layout.big);
}


/* Add the base of the segment to addresses of arcs. With `keeps_zero` a `from`
   of 0 stays 0: the call came from outside. */
static void add_base (const gmon_reader *self, pf_column *column, size_t first,
                      size_t count, bool keeps_zero) {
  if (self->segment.base == 0)
    return;
  const uint64_t mask =
      self->file->layout.width == 8 ? UINT64_MAX : (uint64_t)UINT32_MAX;
  for (size_t i = first; i < first + count; i++)
    if (column->addrs[i] != 0 || !keeps_zero)
      column->addrs[i] = (column->addrs[i] + self->segment.base) & mask;
}


pf_bytes gmon_dimension (const gmon_segment *segment) {
  return segment->dimension.at != NULL ? segment->dimension
                                       : gmon_text("seconds");
}


pf_bytes gmon_abbreviation (const gmon_segment *segment) {
  return (pf_bytes){&segment->abbreviation, segment->abbreviation != 0};
}


pf_status gmon_put_name (pf_dictionary *dictionary, pf_column *column,
                         size_t row, pf_bytes text, pf_error *error) {
  column->ids[row] = pf_intern(dictionary, text);
  if (column->ids[row] != PF_NO_NAME)
    return PF_OK;
  return pf_no_memory(error);
}

/* }====== */


/* {====== Arcs ====== */

static uint64_t arcs_of (const gmon_segment *segment) {
  return segment->kind == GMON_ARCS ? segment->count : 0;
}


static pf_status fill_arcs (gmon_reader *self, pf_batch *batch,
                            pf_error *error) {
  const uint64_t width = self->file->layout.width;
  const size_t first = batch->rows;
  const size_t count = gmon_fillable_rows(self, batch);
  pf_column *const columns = batch->columns;
  pf_status status = PF_OK;
  if (gmon_wanted(batch, ARCS_FROM)) {
    load_addresses(self, &columns[ARCS_FROM], first, count, 0);
    add_base(self, &columns[ARCS_FROM], first, count, true);
  }
  if (gmon_wanted(batch, ARCS_TO)) {
    load_addresses(self, &columns[ARCS_TO], first, count, width);
    add_base(self, &columns[ARCS_TO], first, count, false);
  }
  if (gmon_wanted(batch, ARCS_COUNT))
    status = load_counts(self, &columns[ARCS_COUNT], first, count, 2 * width,
                         self->segment.count_width, error);
  /* only Apple's ordered arcs state the order of first calls */
  pf_column *const order = &columns[ARCS_ORDER];
  if (order->data != NULL && self->segment.has_order)
    gmon_load_column((uint64_t *)order->ints + first,
                     gmon_item(self, self->row) + 2 * width + 4,
                     self->segment.stride, count, 4, self->file->layout.big);
  else if (order->data != NULL)
    for (size_t i = 0; i < count; i++)
      pf_set_missing(order, first + i);
  batch->rows += count;
  self->row += count;
  return status;
}

/* }====== */


/* {====== Basic blocks ====== */

static uint64_t blocks_of (const gmon_segment *segment) {
  return segment->kind == GMON_BLOCKS ? segment->count : 0;
}


static pf_status fill_blocks (gmon_reader *self, pf_batch *batch,
                              pf_error *error) {
  const unsigned width = self->file->layout.width;
  const size_t first = batch->rows;
  const size_t count = gmon_fillable_rows(self, batch);
  pf_column *const columns = batch->columns;
  pf_status status = PF_OK;
  if (gmon_wanted(batch, BLOCKS_ADDRESS))
    load_addresses(self, &columns[BLOCKS_ADDRESS], first, count, 0);
  if (gmon_wanted(batch, BLOCKS_COUNT))
    status = load_counts(self, &columns[BLOCKS_COUNT], first, count, width,
                         width, error);
  batch->rows += count;
  self->row += count;
  return status;
}

/* }====== */


/* {====== Sets ====== */

static uint64_t sets_of (const gmon_segment *segment) {
  return segment->kind == GMON_HISTOGRAM;
}


static pf_status fill_sets (gmon_reader *self, pf_batch *batch,
                            pf_error *error) {
  const gmon_segment *const segment = &self->segment;
  const int64_t numbers[SETS_COLUMNS] = {
      [SETS_SET] = self->set,
      [SETS_LOW] = (int64_t)segment->low,
      [SETS_HIGH] = (int64_t)segment->high,
      [SETS_BINS] = (int64_t)segment->count,
      [SETS_RATE] = gmon_rate(&self->file->layout, segment),
      [SETS_OFFSET] = (int64_t)segment->offset,
      [SETS_DECLARED] = (int64_t)segment->declared,
  };
  const size_t row = batch->rows++;
  self->row++;
  for (size_t i = 0; i < SETS_COLUMNS; i++) {
    pf_column *const column = &batch->columns[i];
    if (column->data != NULL && column->type == PF_INT)
      column->ints[row] = numbers[i];
    if (column->data != NULL && column->type == PF_ADDR)
      column->addrs[row] = (uint64_t)numbers[i];
  }
  pf_column *const columns = batch->columns;
  pf_status status = PF_OK;
  if (gmon_wanted(batch, SETS_DIMENSION))
    status = gmon_put_name(self->reader.dictionary, &columns[SETS_DIMENSION],
                           row, gmon_dimension(&self->segment), error);
  if (status == PF_OK && gmon_wanted(batch, SETS_ABBREVIATION))
    status = gmon_put_name(self->reader.dictionary, &columns[SETS_ABBREVIATION],
                           row, gmon_abbreviation(&self->segment), error);
  return status;
}

/* }====== */


/* {====== Opening of the readers without additional state ====== */

pf_status gmon_open_items (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error) {
  static const struct {
    const pf_field *fields;
    uint64_t (*rows_of)(const gmon_segment *segment);
    pf_status (*fill)(gmon_reader *self, pf_batch *batch, pf_error *error);
  } kinds[] = {{gmon_arcs_fields, arcs_of, fill_arcs},
               {gmon_blocks_fields, blocks_of, fill_blocks},
               {gmon_sets_fields, sets_of, fill_sets}};
  gmon_reader *self;
  const pf_status status =
      gmon_reader_make(trace, table, sizeof *self, &self, error);
  if (status < 0)
    return status;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].fields == table->fields) {
      self->rows_of = kinds[i].rows_of;
      self->fill = kinds[i].fill;
    }
  *reader = &self->reader;
  return PF_OK;
}

/* }====== */


/* {====== Images ====== */

typedef struct images_reader {
  gmon_reader base;
  uint64_t at; /* offset of the next image, if row > 0 */
} images_reader;


static uint64_t images_of (const gmon_segment *segment) {
  return segment->kind == GMON_IMAGES ? segment->declared : 0;
}


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
  if (gmon_wanted(batch, IMAGES_ADDRESS))
    batch->columns[IMAGES_ADDRESS].addrs[row] = gmon_address(layout, image);
  if (!gmon_wanted(batch, IMAGES_PATH))
    return PF_OK;
  return gmon_put_name(base->reader.dictionary, &batch->columns[IMAGES_PATH],
                       row, path, error);
}


pf_status gmon_open_images (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error) {
  gmon_reader *self;
  const pf_status status =
      gmon_reader_make(trace, table, sizeof(images_reader), &self, error);
  if (status < 0)
    return status;
  self->abilities.seek = NULL; /* images have no fixed size */
  self->rows_of = images_of;
  self->fill = fill_images;
  *reader = &self->reader;
  return PF_OK;
}

/* }====== */
