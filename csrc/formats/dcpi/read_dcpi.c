/*
** read_dcpi.c - the reader of samples.
**
** It adds the counts of chunks to the parser's sums while it decodes them, so
** that each byte is read once and the parser can still compare the footer with
** the sums. Opened through pf_table.open by lua/checked_reader.c, which closes
** it; it owns nothing but itself.
*/

#include "formats/dcpi/dcpi.h"
#include "model/base/switches.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"


typedef struct samples_reader {
  pf_reader reader;
  dcpi_parser parser;
  dcpi_segment segment;            /* the segment that is being read */
  uint64_t next_count;             /* index of its next count */
  bool has_names;                  /* the names below are set */
  pf_bytes texts[SAMPLES_COLUMNS]; /* of columns constant in the file */
  uint32_t names[SAMPLES_COLUMNS];
  uint32_t events[DCPI_MAX_EVENTS];  /* names of the events */
  pf_wide times[DCPI_MAX_EVENTS];    /* of a sample by event; 0: unknown */
  uint64_t *addresses;               /* output: the columns of the batch, */
  int64_t *counts;                   /* or the scratch arrays */
  uint8_t row_events[PF_BATCH_ROWS]; /* index of each row's event */
  uint64_t scratch_addresses[PF_BATCH_ROWS];
  int64_t scratch_counts[PF_BATCH_ROWS];
} samples_reader;


/* Returns the time that one sample of an event stands for, in the fixed-point
   nanoseconds of model/base/wide.h; 0: not cycles, or the clock is unknown. */
static pf_wide sample_time (const dcpi_header *header,
                            const dcpi_event *event) {
  const uint64_t clock = dcpi_clock(header);
  if (clock == 0 || event->fraction == 0 ||
      !pf_bytes_equal(event->name, pf_bytes_of("cycles")))
    return 0;
  return pf_parts_of_ns((double)event->period * 1e9 / (double)clock *
                        DCPI_FULL_TIME / (double)event->fraction);
}


/* Intern the names that are constant in the file, after the header was read. */
static pf_status find_names (samples_reader *self, pf_error *error) {
  const dcpi_header *const header = &self->parser.header;
  pf_dictionary *const dictionary = self->reader.dictionary;
  bool is_done = true;
  self->texts[SAMPLES_IMAGE] = header->values[DCPI_IMAGE];
  self->texts[SAMPLES_NAME] = dcpi_name_of(header);
  self->texts[SAMPLES_LABEL] = header->values[DCPI_LABEL];
  self->texts[SAMPLES_EPOCH] = header->values[DCPI_EPOCH];
  self->texts[SAMPLES_PLATFORM] = header->values[DCPI_PLATFORM];
  for (size_t i = SAMPLES_IMAGE; i < SAMPLES_COLUMNS; i++) {
    self->names[i] = pf_intern(dictionary, self->texts[i]);
    is_done &= self->names[i] != PF_NO_NAME;
  }
  for (size_t i = 0; i < header->nevents; i++) {
    self->events[i] = pf_intern(dictionary, header->events[i].name);
    self->times[i] = sample_time(header, &header->events[i]);
    is_done &= self->events[i] != PF_NO_NAME;
  }
  self->has_names = is_done;
  return is_done ? PF_OK : pf_no_memory(error);
}


/* Decode counts of the chunk until the batch is full. */
static void fill_chunk (samples_reader *self, pf_batch *batch) {
  dcpi_parser *const parser = &self->parser;
  const dcpi_file *const file = parser->file;
  const uint8_t *const at = parser->bytes.at + self->segment.counts_at;
  uint64_t filled = 0, sum = 0, i = self->next_count;
  size_t rows = batch->rows;
  for (; i < self->segment.count && rows < PF_BATCH_ROWS; i++) {
    const uint32_t value = pf_load32(at + 4 * i, file->big);
    self->addresses[rows] = self->segment.address + i * file->step;
    self->counts[rows] = value;
    rows += value != 0 || file->zeros;
    filled += value != 0;
    sum += value;
  }
  parser->addresses += filled;
  parser->samples += sum;
  self->next_count = i;
  batch->rows = rows;
}


/* Store the counts of a line of dcpicat, one row for each event. */
static void fill_line (samples_reader *self, pf_batch *batch) {
  const dcpi_parser *const parser = &self->parser;
  const size_t events = parser->header.nevents;
  for (; self->next_count < events && batch->rows < PF_BATCH_ROWS;
       self->next_count++) {
    const uint64_t count = parser->counts[self->next_count];
    const size_t row = batch->rows;
    if (count == 0 && !parser->file->zeros)
      continue;
    self->addresses[row] = self->segment.address;
    self->counts[row] = (int64_t)count;
    self->row_events[row] = (uint8_t)self->next_count;
    if (count > INT64_MAX && batch->columns[SAMPLES_COUNT].data != NULL)
      pf_set_missing(&batch->columns[SAMPLES_COUNT], row);
    batch->rows++;
  }
}


/* Whether the fast path applies: a little-endian binary file with 4-byte
   instructions and default options. */
static bool is_fast_path (const samples_reader *self) {
  const dcpi_parser *const parser = &self->parser;
  const dcpi_file *const file = parser->file;
  return PF_FAST(CHUNKS) && parser->in_body && !parser->has_ended &&
         self->has_names && file->dialect == DCPI_PDB && !file->big &&
         !file->zeros && !file->by_insn && file->step == DCPI_INSN_SIZE &&
         dcpi_left(parser) > DCPI_FOOTER_SIZE;
}


/* Decode valid chunks that fit, until one needs the general path. */
static void fill_fast (samples_reader *self, pf_batch *batch) {
  dcpi_parser *const parser = &self->parser;
  const dcpi_header *const header = &parser->header;
  const uint8_t *const bytes = parser->bytes.at;
  const uint64_t base = header->numbers[DCPI_TSTART];
  const uint64_t end = parser->bytes.size - DCPI_FOOTER_SIZE;
  const uint64_t max_end = UINT64_MAX - base;
  const uint64_t size =
      dcpi_has(header, DCPI_TSIZE) ? header->numbers[DCPI_TSIZE] : UINT64_MAX;
  const uint64_t limit = size < max_end ? size : max_end; /* of a chunk's end */
  uint64_t chunk = parser->at, samples = parser->samples;
  uint64_t last_end = parser->has_last ? parser->last_end : 0;
  size_t rows = batch->rows;
  while (end - chunk >= DCPI_CHUNK_HEAD + 4) {
    const uint64_t start = pf_load32le(bytes + chunk);
    const uint64_t number = pf_load32le(bytes + chunk + 4);
    const uint64_t stop = start + DCPI_INSN_SIZE * number;
    if (number == 0 || number > (end - chunk - DCPI_CHUNK_HEAD) / 4 ||
        number > PF_BATCH_ROWS - rows || start < last_end || stop > limit ||
        start % DCPI_INSN_SIZE != 0)
      break;
    const uint8_t *const at = bytes + chunk + DCPI_CHUNK_HEAD;
    for (uint64_t i = 0; i < number; i++) {
      const uint32_t value = pf_load32le(at + 4 * i);
      self->addresses[rows] = base + start + DCPI_INSN_SIZE * i;
      self->counts[rows] = value;
      rows += value != 0;
      samples += value;
    }
    chunk += DCPI_CHUNK_HEAD + 4 * number;
    parser->has_last = true;
    parser->last = start;
    last_end = stop;
  }
  parser->addresses += rows - batch->rows;
  parser->samples = samples;
  parser->at = chunk;
  parser->last_end = last_end;
  batch->rows = rows;
}


/* Go to the next segment that has rows. */
static pf_status next_segment (samples_reader *self, pf_error *error) {
  dcpi_parser *const parser = &self->parser;
  pf_status status;
  do {
    status = dcpi_next_segment(parser, &self->segment);
    if (status == PF_MORE && parser->in_body && !self->has_names)
      status = find_names(self, error);
  } while (status == PF_MORE && self->segment.kind != DCPI_CHUNK &&
           self->segment.kind != DCPI_COUNTS);
  self->next_count = 0;
  return status;
}


/* Whether counts of the segment are left to decode. */
static bool has_counts (const samples_reader *self) {
  const uint64_t count = self->segment.kind == DCPI_CHUNK ? self->segment.count
                         : self->segment.kind == DCPI_COUNTS
                             ? self->parser.header.nevents
                             : 0;
  return self->next_count < count;
}


static void fill_ids (pf_column *column, size_t rows, uint32_t id,
                      bool is_missing) {
  for (size_t i = 0; i < rows; i++)
    column->ids[i] = id;
  for (size_t i = 0; is_missing && i < rows; i++)
    pf_set_missing(column, i);
}


/* Fill all columns that follow from the header and the counts. */
static void fill_columns (const samples_reader *self, pf_batch *batch) {
  const size_t events = self->parser.header.nevents;
  pf_column *const spent = &batch->columns[SAMPLES_SPENT];
  pf_column *const rest = &batch->columns[SAMPLES_REST];
  const size_t nspent =
      spent->data != NULL || rest->data != NULL ? batch->rows : 0;
  for (size_t i = 0; i < nspent; i++) {
    const pf_wide each = self->times[events <= 1 ? 0 : self->row_events[i]];
    int64_t ns = 0, left = 0;
    const bool is_there = each > 0 && self->counts[i] >= 0 &&
                          pf_time_of_count(self->counts[i], each, &ns, &left);
    pf_put_int(spent, i, ns, is_there);
    pf_put_int(rest, i, left, is_there);
  }
  pf_column *const address = &batch->columns[SAMPLES_ADDRESS];
  const bool is_lost = address->data != NULL && !dcpi_has_start(&self->parser);
  for (size_t i = 0; is_lost && i < batch->rows; i++)
    pf_set_missing(address, i);
  for (size_t i = SAMPLES_PROFILE; i < SAMPLES_COLUMNS; i++) {
    pf_column *const column = &batch->columns[i];
    if (column->data == NULL)
      continue;
    if (i == SAMPLES_PROFILE)
      memset(column->ints, 0, batch->rows * sizeof *column->ints);
    else if (i == SAMPLES_EVENT && events > 1)
      for (size_t row = 0; row < batch->rows; row++)
        column->ids[row] = self->events[self->row_events[row]];
    else if (i == SAMPLES_EVENT)
      fill_ids(column, batch->rows, self->events[0], events == 0);
    else
      fill_ids(column, batch->rows, self->names[i], self->texts[i].at == NULL);
  }
}


static pf_status next_samples (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  samples_reader *const self = (samples_reader *)reader;
  pf_status status = dcpi_refresh(&self->parser, error);
  pf_batch_clear(batch);
  self->addresses = batch->columns[SAMPLES_ADDRESS].data != NULL
                        ? batch->columns[SAMPLES_ADDRESS].addrs
                        : self->scratch_addresses;
  self->counts = batch->columns[SAMPLES_COUNT].data != NULL
                     ? batch->columns[SAMPLES_COUNT].ints
                     : self->scratch_counts;
  while (status == PF_OK && batch->rows < PF_BATCH_ROWS) {
    if (!has_counts(self) && is_fast_path(self))
      fill_fast(self, batch);
    if (batch->rows == PF_BATCH_ROWS)
      break;
    status = has_counts(self) ? PF_OK : next_segment(self, error);
    if (status == PF_OK && self->segment.kind == DCPI_CHUNK)
      fill_chunk(self, batch);
    else if (status == PF_OK)
      fill_line(self, batch);
  }
  if (status < 0)
    return status;
  fill_columns(self, batch);
  return pf_batch_status(batch, status);
}


pf_status dcpi_open_samples (pf_trace *trace, const pf_table *table,
                             pf_reader **reader, pf_error *error) {
  samples_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next_samples, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->parser = dcpi_new_parser(trace->state, trace, error);
  self->parser.reader_counts = true;
  *reader = &self->reader;
  return PF_OK;
}
