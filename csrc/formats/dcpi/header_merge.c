/*
** header_merge.c - the encoder, step 2: merges the headers of all
** profiles.
**
** Profiles fit into one file if image, label, platform, code range and clock
** are equal. The earliest epoch is kept. Several profiles may have the same
** event if they state the same period.
*/

#include "formats/dcpi/encode_dcpi.h"

dcpi_word dcpi_field_word (const dcpi_writer *self, const dcpi_field *field) {
  return dcpi_word_of(dcpi_name(self, field->word));
}


static void set_value (dcpi_profile *profile, dcpi_word word, uint32_t name) {
  if (word < DCPI_WORDS && profile->values[word] == PF_NO_NAME)
    profile->values[word] = name;
}


/* Collect the values of each profile: from the header lines that are valid for
   all profiles, from its own lines, then from its rows. The first value of a
   word is kept. */
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
    if (field->profile != DCPI_ALL_PROFILES)
      set_value(&self->profiles[field->profile], dcpi_field_word(self, field),
                field->value);
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


/* Add an event with the period that a profile states for its only event. */
static pf_status add_only_event (dcpi_writer *self, const uint32_t *values,
                                 uint32_t name) {
  dcpi_event event = {.name = dcpi_name(self, name),
                      .fraction = DCPI_FULL_TIME};
  if (values[DCPI_PERIOD] == PF_NO_NAME ||
      dcpi_number(dcpi_name(self, values[DCPI_PERIOD]), 10, &event.period) !=
          PF_OK)
    return pf_refuse(
        self->error,
        "the period of event %.*s is not stated: give it in header",
        PF_SHOWN(event.name, 40));
  return add_event(self, name, &event);
}


/* Merge all event lines: a name with a period line, or dcpicat's line with both.
   Lines of the option `header` replace the others. */
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
    const uint32_t *const values =
        self->profiles[is_for_all ? 0 : field->profile].values;
    dcpi_event event;
    if (values[DCPI_PERIOD] != PF_NO_NAME ||
        !dcpi_read_event(dcpi_name(self, field->value), &event)) {
      status = add_only_event(self, values, field->value);
      continue;
    }
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
  if (name == PF_NO_NAME && self->nevents > 1)
    return pf_refuse(self->error,
                     "a row of samples has no event, and the header names %zu",
                     self->nevents);
  row->event = 0;
  if (name == PF_NO_NAME) /* no event: check_stated reports it, too */
    return PF_OK;
  while (row->event < self->nevents && self->events[row->event].name != name)
    row->event++;
  return row->event < self->nevents
             ? PF_OK
             : add_only_event(self, self->profiles[row->profile].values, name);
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


/* Copy the first profile, compare the others with it, and keep the earliest
   epoch. */
static pf_status merge_profile (dcpi_writer *self, size_t profile) {
  const uint32_t *const values = self->profiles[profile].values;
  pf_status status;
  if (profile == 0) {
    memcpy(self->values, values, sizeof self->values);
    self->values[DCPI_EPOCH] = PF_NO_NAME;
    status = parse_ranges(self, values, &self->code_start, &self->code_size);
  }
  else
    status = check_same(self, values);
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


pf_status dcpi_merge_headers (dcpi_writer *self) {
  pf_status status = PF_OK;
  collect_values(self);
  for (size_t p = 0; p < self->nprofiles && status == PF_OK; p++)
    status = merge_profile(self, p);
  if (status == PF_OK)
    status = merge_events(self);
  for (size_t i = 0; i < self->nrows && status == PF_OK; i++)
    status = resolve_event(self, &self->rows[i]);
  return status;
}
