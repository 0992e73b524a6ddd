/*
** encode_dcpi.c - the encoder, step 1: collects rows and header lines in memory
** until `finish` writes the file.
*/

#include <stdlib.h>

#include "formats/dcpi/encode_dcpi.h"
#include "model/base/memory.h"
#include "model/rows/batch.h"


/* A profile with the id that a row states, if any, and without texts. */
static dcpi_profile profile_of (const pf_batch *batch, size_t column,
                                size_t row) {
  dcpi_profile profile = {.has_id = pf_has_value(batch, column, row),
                          .id = pf_int_at(batch, column, row, 0)};
  memset(profile.names, 0xff, sizeof profile.names); /* PF_NO_NAME */
  return profile;
}


/* Whether two profiles are the same: by id, else by all texts. */
static bool is_same (const dcpi_profile *known, const dcpi_profile *profile) {
  if (known->has_id || profile->has_id)
    return known->has_id && profile->has_id && known->id == profile->id;
  return memcmp(known->names, profile->names, sizeof known->names) == 0;
}


/* Returns the index of a profile in the list and adds it if it is new;
   UINT32_MAX if out of memory. Searches from the end, because rows of one
   profile mostly follow each other. */
static uint32_t find_profile (dcpi_writer *self, const dcpi_profile *profile) {
  size_t i = self->nprofiles;
  while (i > 0 && !is_same(&self->profiles[i - 1], profile))
    i--;
  if (i > 0)
    return (uint32_t)(i - 1);
  if (!pf_grow(&self->profiles, &self->profiles_capacity, self->nprofiles + 1))
    return UINT32_MAX;
  self->profiles[self->nprofiles] = *profile;
  return (uint32_t)self->nprofiles++;
}


/* Add a row of samples. Its count must be present and not negative. */
static pf_status put_sample (dcpi_writer *self, const pf_batch *batch,
                             size_t row) {
  if (!pf_has_value(batch, SAMPLES_ADDRESS, row) ||
      !pf_has_value(batch, SAMPLES_COUNT, row))
    return pf_refuse(self->error, "a row of samples has no %s",
                     pf_has_value(batch, SAMPLES_COUNT, row) ? "address"
                                                             : "count");
  const int64_t count = batch->columns[SAMPLES_COUNT].ints[row];
  if (count < 0)
    return pf_refuse(self->error, "a count of %lld: it cannot be below 0",
                     (long long)count);
  dcpi_profile profile = profile_of(batch, SAMPLES_PROFILE, row);
  for (size_t i = SAMPLES_IMAGE; i < SAMPLES_COLUMNS; i++)
    if (i != SAMPLES_EVENT)
      profile.names[i] = pf_id_at(batch, i, row);
  const uint32_t index = find_profile(self, &profile);
  if (index == UINT32_MAX ||
      !pf_grow(&self->rows, &self->rows_capacity, self->nrows + 1))
    return pf_no_memory(self->error);
  for (size_t i = 0; i < SAMPLES_COLUMNS; i++)
    if (self->profiles[index].names[i] == PF_NO_NAME)
      self->profiles[index].names[i] = profile.names[i];
  self->rows[self->nrows++] =
      (dcpi_row){.address = batch->columns[SAMPLES_ADDRESS].addrs[row],
                 .count = (uint64_t)count,
                 .profile = index,
                 .event = pf_id_at(batch, SAMPLES_EVENT, row)};
  return PF_OK;
}


static pf_status add_field (dcpi_writer *self, dcpi_field field) {
  if (!pf_grow(&self->fields, &self->fields_capacity, self->nfields + 1))
    return pf_no_memory(self->error);
  self->fields[self->nfields++] = field;
  return PF_OK;
}


static pf_status put_line (dcpi_writer *self, const pf_batch *batch,
                           size_t row) {
  const dcpi_profile profile = profile_of(batch, HEADER_PROFILE, row);
  if (!pf_has_value(batch, HEADER_WORD, row) &&
      !pf_has_value(batch, HEADER_LINE, row))
    return pf_refuse(self->error, "a row of header has no word");
  const uint32_t index =
      profile.has_id ? find_profile(self, &profile) : DCPI_ALL_PROFILES;
  if (profile.has_id && index == UINT32_MAX)
    return pf_no_memory(self->error);
  return add_field(self,
                   (dcpi_field){.profile = index,
                                .word = pf_id_at(batch, HEADER_WORD, row),
                                .value = pf_id_at(batch, HEADER_VALUE, row),
                                .line = pf_id_at(batch, HEADER_LINE, row)});
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  dcpi_writer *const self = (dcpi_writer *)encoder;
  pf_status status = PF_OK;
  (void)sink; /* everything is written at the end */
  self->error = error;
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    status = table == WRITTEN_SAMPLES ? put_sample(self, batch, row)
                                      : put_line(self, batch, row);
  return status;
}


static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  dcpi_writer *const self = (dcpi_writer *)encoder;
  const dcpi_profile only = profile_of(&(pf_batch){.rows = 0}, 0, 0);
  self->sink = sink;
  self->error = error;
  if (self->nprofiles == 0 && find_profile(self, &only) == UINT32_MAX)
    return pf_no_memory(error);
  return dcpi_write(self);
}


static void close_writer (pf_encoder *encoder) {
  dcpi_writer *const self = (dcpi_writer *)encoder;
  free(self->rows);
  free(self->fields);
  free(self->profiles);
  free(self);
}


/* Add the lines of the option `header`, which are valid for all profiles. */
static pf_status take_lines (dcpi_writer *self, pf_bytes text) {
  dcpi_line line;
  pf_status status = PF_OK;
  for (uint64_t at = 0; at < text.size && status == PF_OK; at += line.size) {
    const bool has_feed = dcpi_split_line(text, at, &line);
    const pf_bytes all = {text.at + at, (size_t)line.size - has_feed};
    if (line.word.size == 0 || line.value.size == 0)
      return pf_refuse(self->error,
                       "header: a word and a value expected in each line");
    const dcpi_field field = {.profile = DCPI_ALL_PROFILES,
                              .word = pf_intern(self->dictionary, line.word),
                              .value = pf_intern(self->dictionary, line.value),
                              .line = pf_intern(self->dictionary, all)};
    if (field.word == PF_NO_NAME || field.value == PF_NO_NAME ||
        field.line == PF_NO_NAME)
      return pf_no_memory(self->error);
    status = add_field(self, field);
  }
  return status;
}


pf_status dcpi_encoder (const pf_option *options, size_t noptions,
                        pf_dictionary *dictionary, pf_encoder **encoder,
                        pf_error *error) {
  const pf_trace asked = {.options = options, .noptions = noptions};
  dcpi_writer *const self = calloc(1, sizeof *self);
  pf_bytes header;
  if (self == NULL)
    return pf_no_memory(error);
  self->encoder =
      (pf_encoder){.put = put, .finish = finish, .close = close_writer};
  self->dictionary = dictionary;
  self->error = error;
  if (pf_option_is(&asked, "dialect", "dcpicat"))
    self->dialect = DCPI_CAT;
  const pf_status status = pf_option_text(&asked, "header", &header)
                               ? take_lines(self, header)
                               : PF_OK;
  if (status < 0)
    close_writer(&self->encoder);
  else
    *encoder = &self->encoder;
  return status;
}
