/*
** header_read.c - the readers of header lines and of profiles.
*/

#include <stdlib.h>

#include "formats/dcpi/dcpi.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"


/* {====== Header lines ====== */

static const char *kind_of (const dcpi_file *file, const dcpi_line *line) {
  const bool is_text = file->dialect == DCPI_CAT;
  if (dcpi_is_terminator(line))
    return "end";
  if (line->id == DCPI_WORDS)
    return "unknown";
  if (!is_text)
    return line->id <= DCPI_CPUSPEED ? "required"
           : line->id <= DCPI_PATH   ? "optional"
                                     : "unknown";
  switch (line->id) {
    case DCPI_PATH:
    case DCPI_LABEL: return "optional";
    case DCPI_IMAGE:
    case DCPI_EPOCH:
    case DCPI_PLATFORM:
    case DCPI_EVENT:
    case DCPI_NAME:
    case DCPI_TEXT_START:
    case DCPI_TEXT_SIZE: return "required";
    default: return "unknown";
  }
}


static pf_status put_line (dcpi_reader *self, pf_batch *batch,
                           const dcpi_line *line, pf_error *error) {
  const size_t row = batch->rows++;
  const pf_bytes all = {self->parser.bytes.at + line->offset,
                        (size_t)line->size - 1};
  dcpi_put_number(batch, HEADER_PROFILE, row, true, 0);
  dcpi_put_number(batch, HEADER_OFFSET, row, true, line->offset);
  pf_status status =
      dcpi_put_text(self, batch, HEADER_KIND, row,
                    dcpi_text(kind_of(self->parser.file, line)), error);
  if (status == PF_OK)
    status = dcpi_put_text(self, batch, HEADER_WORD, row, line->word, error);
  if (status == PF_OK)
    status = dcpi_put_text(self, batch, HEADER_VALUE, row, line->value, error);
  if (status == PF_OK)
    status = dcpi_put_text(self, batch, HEADER_LINE, row, all, error);
  return status;
}


static pf_status next_lines (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  dcpi_reader *const self = (dcpi_reader *)reader;
  dcpi_segment segment;
  pf_status status = dcpi_refresh(self, error);
  pf_batch_clear(batch);
  while (status == PF_OK && batch->rows < PF_BATCH_ROWS &&
         !self->parser.in_body) {
    status = dcpi_next_segment(&self->parser, &segment);
    if (status == PF_OK && segment.kind == DCPI_LINE)
      status = put_line(self, batch, &segment.line, error);
  }
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : PF_END;
}


/* Open a reader without additional state. */
static pf_status open_reader (pf_trace *trace, const pf_table *table,
                              pf_status (*next)(pf_reader *reader,
                                                pf_batch *batch,
                                                pf_error *error),
                              pf_reader **reader, pf_error *error) {
  dcpi_reader *self;
  const pf_status status =
      dcpi_reader_make(trace, table, sizeof *self, &self, error);
  if (status < 0)
    return status;
  self->reader.next = next;
  *reader = &self->reader;
  return PF_OK;
}


pf_status dcpi_open_header (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_lines, reader, error);
}

/* }====== */


/* {====== Profiles ====== */

static pf_status put_names (dcpi_reader *self, pf_batch *batch, size_t row,
                            const dcpi_event *event, pf_error *error) {
  const dcpi_header *const header = &self->parser.header;
  const pf_bytes texts[PROFILES_COLUMNS] = {
      [PROFILES_IMAGE] = header->values[DCPI_IMAGE],
      [PROFILES_NAME] = dcpi_name_of(header),
      [PROFILES_LABEL] = header->values[DCPI_LABEL],
      [PROFILES_PATH] = header->values[DCPI_PATH],
      [PROFILES_EVENT] = event->name,
      [PROFILES_EPOCH] = header->values[DCPI_EPOCH],
      [PROFILES_PLATFORM] = header->values[DCPI_PLATFORM],
  };
  pf_status status = PF_OK;
  for (size_t i = PROFILES_IMAGE; i <= PROFILES_PLATFORM && status == PF_OK;
       i++)
    status = dcpi_put_text(self, batch, i, row, texts[i], error);
  return status;
}


/* Store a number of the header; it is missing if its syntax is wrong. */
static void put_value (const dcpi_reader *self, pf_batch *batch, size_t column,
                       size_t row, dcpi_word word) {
  const dcpi_header *const header = &self->parser.header;
  dcpi_put_number(batch, column, row, dcpi_has(header, word),
                  header->numbers[word]);
}


/* Returns the sum of samples that the file states for an event. */
static uint64_t stated_samples (const dcpi_parser *parser,
                                const dcpi_event *event, bool *is_there) {
  *is_there = true;
  if (parser->file->dialect == DCPI_CAT)
    return event->stated;
  *is_there = parser->header.major == 0 &&
              parser->bytes.size - parser->header.size >= DCPI_FOOTER_SIZE;
  return *is_there ? dcpi_load(parser, parser->bytes.size - 4) : 0;
}


static pf_status put_profile (dcpi_reader *self, pf_batch *batch,
                              const dcpi_event *event, pf_error *error) {
  const bool is_text = self->parser.file->dialect == DCPI_CAT;
  const size_t row = batch->rows++;
  bool is_there;
  const uint64_t samples = stated_samples(&self->parser, event, &is_there);
  dcpi_put_number(batch, PROFILES_PROFILE, row, true, 0);
  dcpi_put_number(batch, PROFILES_PERIOD, row, event->period > 0,
                  event->period);
  dcpi_put_number(batch, PROFILES_SAMPLES, row, is_there, samples);
  put_value(self, batch, PROFILES_CPUSPEED, row, DCPI_CPUSPEED);
  put_value(self, batch, PROFILES_TSTART, row,
            is_text ? DCPI_TEXT_START : DCPI_TSTART);
  put_value(self, batch, PROFILES_TSIZE, row,
            is_text ? DCPI_TEXT_SIZE : DCPI_TSIZE);
  if (dcpi_wanted(batch, PROFILES_FRACTION))
    batch->columns[PROFILES_FRACTION].nums[row] =
        (double)event->fraction / DCPI_FULL_TIME;
  return put_names(self, batch, row, event, error);
}


/* Return all profiles in one batch: there are at most DCPI_MAX_EVENTS. */
static pf_status next_profiles (pf_reader *reader, pf_batch *batch,
                                pf_error *error) {
  dcpi_reader *const self = (dcpi_reader *)reader;
  dcpi_segment segment;
  pf_status status = dcpi_refresh(self, error);
  pf_batch_clear(batch);
  if (self->parser.in_body)
    return status < 0 ? status : PF_END;
  while (status == PF_OK && !self->parser.in_body)
    status = dcpi_next_segment(&self->parser, &segment);
  for (size_t i = 0; i < self->parser.header.nevents && status >= 0; i++)
    status = put_profile(self, batch, &self->parser.header.events[i], error);
  if (status < 0)
    return status;
  self->parser.in_body = true;
  return batch->rows > 0 ? PF_MORE : PF_END;
}


pf_status dcpi_open_profiles (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_profiles, reader, error);
}

/* }====== */
