/*
** encode_dcpi.c - the encoder, step 1: collects rows and header lines in memory
** until `finish` merges the headers of all profiles and writes the file.
**
** Profiles fit into one file if image, label, platform, code range and clock
** are equal. The earliest epoch is kept. Several profiles may have the same
** event if they state the same period and fraction of the time. Different
** events fit only into dcpicat's text.
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


/* Add a row of samples. Its address and count must be present, and the count
   not negative. */
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


/* Set word and value of a field from its line. */
static pf_status split_field (const dcpi_writer *self, dcpi_field *field) {
  const pf_bytes text = dcpi_name(self, field->line);
  dcpi_line line;
  if (dcpi_split_line(text, 0, &line) ||
      ((line.word.size == 0 || line.value.size == 0) &&
       !dcpi_is_terminator(&line)))
    return pf_refuse(self->error,
                     "a line of header must be a word, blanks and a value, "
                     "found \"%.*s\"",
                     PF_SHOWN(text, 40));
  field->word = pf_intern(self->dictionary, line.word);
  field->value = pf_intern(self->dictionary, line.value);
  return field->word == PF_NO_NAME || field->value == PF_NO_NAME
             ? pf_no_memory(self->error)
             : PF_OK;
}


/* Add a row of header. It states a word and a value, a line, or all of them;
   the row that ends a header needs no value. */
static pf_status put_line (dcpi_writer *self, const pf_batch *batch,
                           size_t row) {
  const dcpi_profile profile = profile_of(batch, HEADER_PROFILE, row);
  dcpi_field field = {.word = pf_id_at(batch, HEADER_WORD, row),
                      .value = pf_id_at(batch, HEADER_VALUE, row),
                      .line = pf_id_at(batch, HEADER_LINE, row)};
  const bool is_whole = field.word != PF_NO_NAME && field.value != PF_NO_NAME;
  if (!is_whole && field.line != PF_NO_NAME) {
    const pf_status status = split_field(self, &field);
    if (status != PF_OK)
      return status;
  }
  else if (field.word == PF_NO_NAME)
    return pf_refuse(self->error, "a row of header has no word");
  else if (field.value == PF_NO_NAME &&
           !dcpi_equals(dcpi_name(self, field.word), "samples"))
    return pf_refuse(self->error, "a row of header has no value");
  field.profile =
      profile.has_id ? find_profile(self, &profile) : DCPI_ALL_PROFILES;
  if (profile.has_id && field.profile == UINT32_MAX)
    return pf_no_memory(self->error);
  return add_field(self, field);
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


static void set_value (dcpi_profile *profile, dcpi_word word, uint32_t name) {
  if (word < DCPI_WORDS && profile->values[word] == PF_NO_NAME)
    profile->values[word] = name;
}


/* Collect the values of each profile: from the header lines for all profiles,
   its own lines, then its rows. The first value of a word is kept. */
static void collect_values (dcpi_writer *self) {
  for (size_t p = 0; p < self->nprofiles; p++) {
    dcpi_profile *const profile = &self->profiles[p];
    memset(profile->values, 0xff, sizeof profile->values); /* PF_NO_NAME */
    for (size_t i = 0; i < self->nfields; i++)
      if (self->fields[i].profile == DCPI_ALL_PROFILES)
        set_value(profile, dcpi_field_word(self, &self->fields[i]),
                  self->fields[i].value);
  }
  for (size_t i = 0; i < self->nfields; i++) {
    const dcpi_field *const field = &self->fields[i];
    const dcpi_word word = dcpi_field_word(self, field);
    if (field->profile == DCPI_ALL_PROFILES)
      continue;
    self->profiles[field->profile].has_period |= word == DCPI_PERIOD;
    set_value(&self->profiles[field->profile], word, field->value);
  }
  for (size_t p = 0; p < self->nprofiles; p++) {
    dcpi_profile *const profile = &self->profiles[p];
    set_value(profile, DCPI_IMAGE, profile->names[SAMPLES_IMAGE]);
    set_value(profile, DCPI_LABEL, profile->names[SAMPLES_LABEL]);
    set_value(profile, DCPI_EPOCH, profile->names[SAMPLES_EPOCH]);
    set_value(profile, DCPI_PLATFORM, profile->names[SAMPLES_PLATFORM]);
    if (profile->values[DCPI_PATH] == PF_NO_NAME)
      set_value(profile, DCPI_NAME, profile->names[SAMPLES_NAME]);
  }
}


/* Parse the start or the size of the code, from the word of the binary form or
   the one of dcpicat. *number is unchanged if neither is stated. */
static pf_status parse_range (const dcpi_writer *self, const uint32_t *values,
                              dcpi_word word, dcpi_word in_text,
                              uint64_t *number) {
  const bool is_text = values[word] == PF_NO_NAME;
  const uint32_t name = values[is_text ? in_text : word];
  const bool is_hex = word == DCPI_TSTART || is_text;
  const pf_bytes text = dcpi_name(self, name);
  pf_bytes digits = text;
  if (is_hex)
    (void)dcpi_cut_prefix(&digits);
  if (name == PF_NO_NAME ||
      dcpi_number(digits, is_hex ? 16 : 10, number) == PF_OK)
    return PF_OK;
  return pf_refuse(self->error, "%s: a number expected, found \"%.*s\"",
                   dcpi_rules[word].word, PF_SHOWN(text, 40));
}


static pf_status parse_ranges (const dcpi_writer *self, const uint32_t *values,
                               uint64_t *start, uint64_t *size) {
  const pf_status status =
      parse_range(self, values, DCPI_TSTART, DCPI_TEXT_START, start);
  return status < 0
             ? status
             : parse_range(self, values, DCPI_TSIZE, DCPI_TEXT_SIZE, size);
}


/* Add an event to the header, or compare it with the known one of this name. */
static pf_status add_event (dcpi_writer *self, uint32_t name,
                            const dcpi_event *event) {
  for (size_t i = 0; i < self->nevents; i++) {
    const dcpi_output_event *const known = &self->events[i];
    if (known->name != name)
      continue;
    if (known->period == event->period && known->fraction == event->fraction)
      return PF_OK;
    const pf_bytes text = dcpi_name(self, name);
    return pf_refuse(
        self->error,
        "event %.*s has one period and one fraction of the time in a file, "
        "here are %llu:%llu and %llu:%llu",
        PF_SHOWN(text, 40), (unsigned long long)known->period,
        (unsigned long long)known->fraction, (unsigned long long)event->period,
        (unsigned long long)event->fraction);
  }
  if (self->nevents == DCPI_MAX_EVENTS)
    return pf_fail(self->error, PF_ELIMIT, PF_NO_OFFSET,
                   "at most %d events expected in a file", DCPI_MAX_EVENTS);
  self->events[self->nevents++] = (dcpi_output_event){
      .name = name, .period = event->period, .fraction = event->fraction};
  return PF_OK;
}


/* Parse the line `period` of a profile or of the option `header`. Returns false
   if there is none, or one of another form. */
static bool parse_period (const dcpi_writer *self, const uint32_t *values,
                          uint64_t *period) {
  const uint32_t name = values[DCPI_PERIOD];
  return name != PF_NO_NAME &&
         dcpi_number(dcpi_name(self, name), 10, period) == PF_OK;
}


/* Add an event with the period that a profile states for its only event. */
static pf_status add_only_event (dcpi_writer *self, const uint32_t *values,
                                 uint32_t name) {
  dcpi_event event = {.name = dcpi_name(self, name),
                      .fraction = DCPI_FULL_TIME};
  if (!parse_period(self, values, &event.period))
    return pf_refuse(
        self->error,
        "the period of event %.*s is not stated: give it in header",
        PF_SHOWN(event.name, 40));
  return add_event(self, name, &event);
}


/* Merge all event lines: a name with a period line, or dcpicat's line with
   both. Lines of the option `header` replace the others: a line `period` there
   also the period in a line of dcpicat. */
static pf_status merge_events (dcpi_writer *self) {
  pf_status status = PF_OK;
  bool has_every = false;
  for (size_t i = 0; i < self->nfields; i++)
    has_every |= self->fields[i].profile == DCPI_ALL_PROFILES &&
                 dcpi_field_word(self, &self->fields[i]) == DCPI_EVENT;
  for (size_t i = 0; i < self->nfields && status == PF_OK; i++) {
    const dcpi_field *const field = &self->fields[i];
    const bool is_for_all = field->profile == DCPI_ALL_PROFILES;
    if (is_for_all != has_every || dcpi_field_word(self, field) != DCPI_EVENT)
      continue;
    const dcpi_profile *const profile =
        &self->profiles[is_for_all ? 0 : field->profile];
    const uint32_t *const values = profile->values;
    dcpi_event event = {.offset = 0};
    if ((is_for_all ? values[DCPI_PERIOD] != PF_NO_NAME
                    : profile->has_period) ||
        !dcpi_read_event(dcpi_name(self, field->value), &event)) {
      status = add_only_event(self, values, field->value);
      continue;
    }
    /* check_values refuses a period of another form */
    (void)parse_period(self, values, &event.period);
    const uint32_t name = pf_intern(self->dictionary, event.name);
    status = name == PF_NO_NAME ? pf_no_memory(self->error)
                                : add_event(self, name, &event);
  }
  return status;
}


/* Replace the event name of a row by its index. An event that no line names is
   added if the profile states a period. */
static pf_status resolve_event (dcpi_writer *self, dcpi_row *row) {
  const uint32_t name = row->event;
  row->event = 0;
  while (row->event < self->nevents && self->events[row->event].name != name)
    row->event++;
  return row->event < self->nevents
             ? PF_OK
             : add_only_event(self, self->profiles[row->profile].values, name);
}


/* Replace the event names of all rows by indexes. Rows without an event follow
   when all events are known: there must be only one. */
static pf_status resolve_events (dcpi_writer *self) {
  size_t without = 0;
  for (size_t i = 0; i < self->nrows; i++) {
    if (self->rows[i].event == PF_NO_NAME) {
      without++;
      continue;
    }
    const pf_status status = resolve_event(self, &self->rows[i]);
    if (status < 0)
      return status;
  }
  if (without > 0 && self->nevents > 1)
    return pf_refuse(self->error,
                     "a row of samples has no event, and the file has %zu",
                     self->nevents);
  for (size_t i = 0; without > 0 && i < self->nrows; i++)
    if (self->rows[i].event == PF_NO_NAME)
      self->rows[i].event = 0; /* without any, check_stated reports it */
  return PF_OK;
}


/* Compare a profile with the first one. */
static pf_status check_same (const dcpi_writer *self, const uint32_t *values) {
  static const dcpi_word same[] = {DCPI_IMAGE, DCPI_PLATFORM, DCPI_LABEL,
                                   DCPI_CPUSPEED};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    const dcpi_word word = same[i];
    if (values[word] == self->values[word])
      continue;
    const pf_bytes a = dcpi_name(self, self->values[word]),
                   b = dcpi_name(self, values[word]);
    return pf_refuse(self->error,
                     "one file holds one %s, here are \"%.*s\" and \"%.*s\"; a "
                     "directory (DATABASE/) holds more",
                     dcpi_rules[word].word, PF_SHOWN(a, 60), PF_SHOWN(b, 60));
  }
  uint64_t start = self->code_start, size = self->code_size;
  const pf_status status = parse_ranges(self, values, &start, &size);
  if (status < 0 || (start == self->code_start && size == self->code_size))
    return status;
  return pf_refuse(self->error,
                   "one file holds one range of code, here are 0x%llx, %llu "
                   "bytes, and 0x%llx, %llu bytes",
                   (unsigned long long)self->code_start,
                   (unsigned long long)self->code_size,
                   (unsigned long long)start, (unsigned long long)size);
}


/* Copy the first profile, compare the others, and keep the earliest epoch. */
static pf_status merge_profile (dcpi_writer *self, size_t profile) {
  const uint32_t *const values = self->profiles[profile].values;
  pf_status status;
  if (profile == 0) {
    memcpy(self->values, values, sizeof self->values);
    self->values[DCPI_EPOCH] = PF_NO_NAME;
    status = parse_ranges(self, values, &self->code_start, &self->code_size);
  }
  else {
    status = check_same(self, values);
    for (dcpi_word word = DCPI_CPUAMASK; word <= DCPI_CPUCOUNT; word++)
      if (!dcpi_is_stated(self, word))
        self->values[word] = values[word];
  }
  if (status < 0 || values[DCPI_EPOCH] == PF_NO_NAME)
    return status;
  const pf_bytes text = dcpi_name(self, values[DCPI_EPOCH]);
  const uint64_t epoch = dcpi_epoch(text);
  if (epoch == 0)
    return pf_refuse(self->error,
                     "epoch: a time as YYMMDDHHMM expected, found \"%.*s\"",
                     PF_SHOWN(text, 40));
  if (self->epoch == 0 || epoch < self->epoch) {
    self->epoch = epoch;
    self->values[DCPI_EPOCH] = values[DCPI_EPOCH];
  }
  return PF_OK;
}


/* Merges all headers, replaces the event names of rows by indexes and writes
   the file. PF_EUNSUPPORTED if the profiles do not fit into one file, PF_ELIMIT
   for too many events, PF_ENOMEM, PF_EIO. */
static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  dcpi_writer *const self = (dcpi_writer *)encoder;
  const dcpi_profile only = profile_of(&(pf_batch){.rows = 0}, 0, 0);
  self->sink = sink;
  self->error = error;
  if (self->nprofiles == 0 && find_profile(self, &only) == UINT32_MAX)
    return pf_no_memory(error);
  pf_status status = PF_OK;
  collect_values(self);
  for (size_t p = 0; p < self->nprofiles && status == PF_OK; p++)
    status = merge_profile(self, p);
  if (status == PF_OK)
    status = merge_events(self);
  if (status == PF_OK)
    status = resolve_events(self);
  return status < 0 ? status : dcpi_write(self);
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
