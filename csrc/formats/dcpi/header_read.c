/*
** header_read.c - the readers of header lines and of profiles.
*/

#include <stdlib.h>

#include "formats/dcpi/dcpi.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"


/* {====== Header lines ====== */


static const char *kind_of (const dcpi_file *file, const dcpi_line *line) {
  const dcpi_role role = line->id == DCPI_WORDS
                             ? DCPI_FOREIGN
                             : dcpi_rules[line->id].role[file->dialect];
  return dcpi_is_terminator(line) ? "end"
         : role == DCPI_REQUIRED  ? "required"
         : role == DCPI_OPTIONAL  ? "optional"
                                  : "unknown";
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


/* Store a number of the header; it is missing if its syntax is wrong. */
static void put_value (const dcpi_reader *self, pf_batch *batch, size_t column,
                       size_t row, dcpi_word word) {
  const dcpi_header *const header = &self->parser.header;
  dcpi_put_number(batch, column, row, dcpi_has(header, word),
                  header->numbers[word]);
}


static pf_status put_profile (dcpi_reader *self, pf_batch *batch,
                              const dcpi_event *event, pf_error *error) {
  const dcpi_parser *const parser = &self->parser;
  const dcpi_header *const header = &parser->header;
  const pf_bytes texts[PROFILES_COLUMNS] = {
      [PROFILES_IMAGE] = header->values[DCPI_IMAGE],
      [PROFILES_NAME] = dcpi_name_of(header),
      [PROFILES_LABEL] = header->values[DCPI_LABEL],
      [PROFILES_PATH] = header->values[DCPI_PATH],
      [PROFILES_EVENT] = event->name,
      [PROFILES_EPOCH] = header->values[DCPI_EPOCH],
      [PROFILES_PLATFORM] = header->values[DCPI_PLATFORM],
  };
  const bool is_text = parser->file->dialect == DCPI_CAT;
  const bool has_footer = header->major == 0 &&
                          parser->bytes.size - header->size >= DCPI_FOOTER_SIZE;
  const uint64_t samples = is_text ? event->stated
                           : has_footer
                               ? dcpi_load(parser, parser->bytes.size - 4)
                               : 0;
  const size_t row = batch->rows++;
  pf_status status = PF_OK;
  dcpi_put_number(batch, PROFILES_PROFILE, row, true, 0);
  dcpi_put_number(batch, PROFILES_PERIOD, row, event->period > 0,
                  event->period);
  dcpi_put_number(batch, PROFILES_SAMPLES, row, is_text || has_footer, samples);
  put_value(self, batch, PROFILES_CPUSPEED, row, DCPI_CPUSPEED);
  put_value(self, batch, PROFILES_TSTART, row,
            is_text ? DCPI_TEXT_START : DCPI_TSTART);
  put_value(self, batch, PROFILES_TSIZE, row,
            is_text ? DCPI_TEXT_SIZE : DCPI_TSIZE);
  if (dcpi_wanted(batch, PROFILES_FRACTION))
    batch->columns[PROFILES_FRACTION].nums[row] =
        (double)event->fraction / DCPI_FULL_TIME;
  for (size_t i = PROFILES_IMAGE; i <= PROFILES_PLATFORM && status == PF_OK;
       i++)
    status = dcpi_put_text(self, batch, i, row, texts[i], error);
  return status;
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
