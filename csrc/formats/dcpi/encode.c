/*
** encode.c - the way out, first part: rows and header lines are kept until
** the file is written.
*/

#include <stdlib.h>

#include "formats/dcpi/encode.h"
#include "model/batch.h"


pf_status dcpi_no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


/* Make room for one more of `size` bytes each; false: no memory. */
static bool grow (void **list, size_t count, size_t *room, size_t size) {
  if (count < *room)
    return true;
  const size_t more = *room == 0 ? 64 : *room * 2;
  void *const longer =
      more > SIZE_MAX / 2 / size ? NULL : realloc(*list, more * size);
  if (longer == NULL)
    return false;
  *list = longer;
  *room = more;
  return true;
}


/* Whether a row has a value in a column. */
static bool has (const pf_batch *batch, size_t column, size_t row) {
  return column < batch->ncolumns && batch->columns[column].data != NULL &&
         !pf_is_missing(&batch->columns[column], row);
}


static uint32_t name_or_none (const pf_batch *batch, size_t column,
                              size_t row) {
  return has(batch, column, row) ? batch->columns[column].ids[row] : PF_NO_NAME;
}


/* {====== Profiles ====== */

/* What a row of samples says of its profile. */
static dcpi_input input_of_row (const pf_batch *batch, size_t row) {
  dcpi_input input = {.has_number = has(batch, SAMPLES_PROFILE, row)};
  if (input.has_number)
    input.number = batch->columns[SAMPLES_PROFILE].ints[row];
  for (size_t i = 0; i < SAMPLES_COLUMNS; i++)
    input.names[i] = i < SAMPLES_IMAGE || i == SAMPLES_EVENT
                         ? PF_NO_NAME
                         : name_or_none(batch, i, row);
  return input;
}


/* Whether two are the same profile: by number, else by all they say. */
static bool is_same (const dcpi_input *known, const dcpi_input *input) {
  if (known->has_number || input->has_number)
    return known->has_number && input->has_number &&
           known->number == input->number;
  return memcmp(known->names, input->names, sizeof known->names) == 0;
}


/* The number of a profile in the list, which it is added to when it is new;
   UINT32_MAX: no memory. Rows of one profile mostly follow each other. */
static uint32_t find_input (dcpi_writer *self, const dcpi_input *input) {
  size_t i = self->ninputs;
  while (i > 0 && !is_same(&self->inputs[i - 1], input))
    i--;
  if (i > 0)
    return (uint32_t)(i - 1);
  if (!grow((void **)&self->inputs, self->ninputs, &self->inputs_room,
            sizeof *input))
    return UINT32_MAX;
  self->inputs[self->ninputs] = *input;
  return (uint32_t)self->ninputs++;
}


/* Take the names that the header lines alone did not tell. */
static void complete (dcpi_input *known, const dcpi_input *input) {
  for (size_t i = 0; i < SAMPLES_COLUMNS; i++)
    if (known->names[i] == PF_NO_NAME)
      known->names[i] = input->names[i];
}

/* }====== */


/* {====== Rows ====== */

/* The count of a row, which must be there and not below 0. */
static pf_status take_count (const pf_batch *batch, size_t row, uint64_t *count,
                             pf_error *error) {
  if (!has(batch, SAMPLES_ADDRESS, row) || !has(batch, SAMPLES_COUNT, row))
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a row of samples has no %s",
                   has(batch, SAMPLES_COUNT, row) ? "address" : "count");
  const int64_t value = batch->columns[SAMPLES_COUNT].ints[row];
  if (value < 0)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a count of %lld: it cannot be below 0", (long long)value);
  *count = (uint64_t)value;
  return PF_OK;
}


static pf_status put_sample (dcpi_writer *self, const pf_batch *batch,
                             size_t row, pf_error *error) {
  const dcpi_input input = input_of_row(batch, row);
  uint64_t count = 0;
  const pf_status status = take_count(batch, row, &count, error);
  if (status < 0)
    return status;
  const uint32_t profile = find_input(self, &input);
  if (profile == UINT32_MAX || !grow((void **)&self->rows, self->nrows,
                                     &self->rows_room, sizeof *self->rows))
    return dcpi_no_memory(error);
  complete(&self->inputs[profile], &input);
  self->rows[self->nrows++] =
      (dcpi_row){.address = batch->columns[SAMPLES_ADDRESS].addrs[row],
                 .count = count,
                 .profile = profile,
                 .event = name_or_none(batch, SAMPLES_EVENT, row)};
  return PF_OK;
}


static pf_status add_fact (dcpi_writer *self, dcpi_fact fact, pf_error *error) {
  if (!grow((void **)&self->facts, self->nfacts, &self->facts_room,
            sizeof fact))
    return dcpi_no_memory(error);
  self->facts[self->nfacts++] = fact;
  return PF_OK;
}


static pf_status put_line (dcpi_writer *self, const pf_batch *batch, size_t row,
                           pf_error *error) {
  dcpi_input input = {.has_number = has(batch, HEADER_PROFILE, row)};
  if (input.has_number)
    input.number = batch->columns[HEADER_PROFILE].ints[row];
  for (size_t i = 0; i < SAMPLES_COLUMNS; i++)
    input.names[i] = PF_NO_NAME;
  if (!has(batch, HEADER_WORD, row) && !has(batch, HEADER_LINE, row))
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a row of header has no word");
  const uint32_t profile =
      input.has_number ? find_input(self, &input) : DCPI_EVERY;
  if (input.has_number && profile == UINT32_MAX)
    return dcpi_no_memory(error);
  return add_fact(self,
                  (dcpi_fact){.profile = profile,
                              .word = name_or_none(batch, HEADER_WORD, row),
                              .value = name_or_none(batch, HEADER_VALUE, row),
                              .line = name_or_none(batch, HEADER_LINE, row)},
                  error);
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  dcpi_writer *const self = (dcpi_writer *)encoder;
  pf_status status = PF_OK;
  (void)sink; /* everything is written at the end */
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    status = table == WRITTEN_SAMPLES ? put_sample(self, batch, row, error)
                                      : put_line(self, batch, row, error);
  return status;
}

/* }====== */


/* {====== The encoder ====== */

static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  return dcpi_write((dcpi_writer *)encoder, sink, error);
}


static void close_writer (pf_encoder *encoder) {
  dcpi_writer *const self = (dcpi_writer *)encoder;
  free(self->rows);
  free(self->facts);
  free(self->inputs);
  free(self);
}


/* A line of the option `header`: it counts for all profiles. */
static pf_status take_line (dcpi_writer *self, const dcpi_line *line,
                            pf_bytes text, pf_error *error) {
  if (line->word.size == 0 || line->value.size == 0)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "header: a word and a value expected in each line");
  const dcpi_fact fact = {.profile = DCPI_EVERY,
                          .word = pf_intern(self->dictionary, line->word),
                          .value = pf_intern(self->dictionary, line->value),
                          .line = pf_intern(self->dictionary, text)};
  if (fact.word == PF_NO_NAME || fact.value == PF_NO_NAME ||
      fact.line == PF_NO_NAME)
    return dcpi_no_memory(error);
  return add_fact(self, fact, error);
}


static pf_status take_lines (dcpi_writer *self, pf_bytes text,
                             pf_error *error) {
  dcpi_line line;
  pf_status status = PF_OK;
  for (uint64_t at = 0; at < text.size && status == PF_OK; at += line.size) {
    const bool is_last = !dcpi_cut_line(text, at, &line);
    if (is_last)
      dcpi_cut_rest(text, at, &line);
    const size_t size = (size_t)line.size - !is_last;
    status = take_line(self, &line, (pf_bytes){text.at + at, size}, error);
  }
  return status;
}


static pf_status read_options (dcpi_writer *self, const pf_option *options,
                               size_t noptions, pf_error *error) {
  const pf_trace asked = {.options = options, .noptions = noptions};
  pf_bytes text;
  if (pf_option_is(&asked, "dialect", "dcpicat"))
    self->dialect = DCPI_CAT;
  if (!pf_option_text(&asked, "header", &text))
    return PF_OK;
  return take_lines(self, text, error);
}


pf_status dcpi_encoder (const pf_option *options, size_t noptions,
                        pf_dictionary *dictionary, pf_encoder **encoder,
                        pf_error *error) {
  dcpi_writer *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return dcpi_no_memory(error);
  self->encoder =
      (pf_encoder){.put = put, .finish = finish, .close = close_writer};
  self->dictionary = dictionary;
  const pf_status status = read_options(self, options, noptions, error);
  if (status < 0)
    close_writer(&self->encoder);
  else
    *encoder = &self->encoder;
  return status;
}

/* }====== */
