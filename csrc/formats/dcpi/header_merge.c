/*
** header_merge.c - the encoder, step 2: merges the headers of all
** profiles.
**
** Profiles fit into one file if image, label, platform, code range and clock
** are equal. The earliest epoch is kept. Several profiles may have the same
** event if they state the same period.
*/

#include <stdlib.h>

#include "formats/dcpi/encode_dcpi.h"

/* The arguments of all functions below, with the value of each word in each
   profile as a name. */
typedef struct merge_state {
  dcpi_writer *writer;
  dcpi_output_header *header;
  uint32_t *values; /* DCPI_WORDS for each profile, or PF_NO_NAME */
  pf_error *error;
} merge_state;


dcpi_word dcpi_field_word (const dcpi_writer *writer, const dcpi_field *field) {
  return dcpi_word_of(pf_name(writer->dictionary, field->word));
}


static pf_bytes text_of (const merge_state *merge, uint32_t name) {
  return pf_name(merge->writer->dictionary, name);
}


static uint32_t *values_of (const merge_state *merge, size_t profile) {
  return merge->values + profile * DCPI_WORDS;
}


/* {====== Values of each profile ====== */

static void set_value (uint32_t *values, dcpi_word word, uint32_t name) {
  if (word < DCPI_WORDS && values[word] == PF_NO_NAME)
    values[word] = name;
}


/* Collect the values of each profile: from the header lines that are valid for
   all profiles, from its own lines, then from its rows. The first value of a
   word is kept. */
static void collect_values (const merge_state *merge) {
  const dcpi_writer *const writer = merge->writer;
  for (size_t i = 0; i < writer->nfields; i++) {
    const dcpi_field *const field = &writer->fields[i];
    for (size_t p = 0;
         field->profile == DCPI_ALL_PROFILES && p < writer->nprofiles; p++)
      set_value(values_of(merge, p), dcpi_field_word(writer, field),
                field->value);
  }
  for (size_t i = 0; i < writer->nfields; i++) {
    const dcpi_field *const field = &writer->fields[i];
    if (field->profile != DCPI_ALL_PROFILES)
      set_value(values_of(merge, field->profile),
                dcpi_field_word(writer, field), field->value);
  }
  for (size_t p = 0; p < writer->nprofiles; p++) {
    const uint32_t *const names = writer->profiles[p].names;
    uint32_t *const values = values_of(merge, p);
    set_value(values, DCPI_IMAGE, names[SAMPLES_IMAGE]);
    set_value(values, DCPI_LABEL, names[SAMPLES_LABEL]);
    set_value(values, DCPI_EPOCH, names[SAMPLES_EPOCH]);
    set_value(values, DCPI_PLATFORM, names[SAMPLES_PLATFORM]);
    if (values[DCPI_PATH] == PF_NO_NAME)
      set_value(values, DCPI_NAME, names[SAMPLES_NAME]);
  }
}

/* }====== */


/* {====== Numbers ====== */

/* Parse a value in base 10 or 16 with or without 0x. Returns false if it is not
   a number. */
static bool parse_number (const merge_state *merge, uint32_t name,
                          unsigned base, uint64_t *number) {
  pf_bytes text = text_of(merge, name);
  if (base == 16)
    (void)dcpi_cut_prefix(&text);
  return dcpi_number(text, base, number) == PF_OK;
}


/* Parse the start or the size of the code, from the word of the binary form or
   the one of dcpicat. *number is unchanged if neither is stated. */
static pf_status parse_range (const merge_state *merge, const uint32_t *values,
                              dcpi_word word, dcpi_word in_text,
                              uint64_t *number) {
  const bool is_text = values[word] == PF_NO_NAME;
  const uint32_t name = values[is_text ? in_text : word];
  const unsigned base = word == DCPI_TSTART || is_text ? 16 : 10;
  if (name == PF_NO_NAME || parse_number(merge, name, base, number))
    return PF_OK;
  const pf_bytes text = text_of(merge, name);
  return pf_refuse(merge->error, "%s: a number expected, found \"%.*s\"",
                   dcpi_rules[word].word, PF_SHOWN(text, 40));
}

/* }====== */


/* {====== Events ====== */


/* Add an event to the header, or compare it with the known one of this name. */
static pf_status add_event (const merge_state *merge, uint32_t name,
                            const dcpi_event *event) {
  dcpi_output_header *const header = merge->header;
  for (size_t i = 0; i < header->nevents; i++) {
    const dcpi_output_event *const known = &header->events[i];
    if (known->name != name)
      continue;
    if (known->period == event->period && known->fraction == event->fraction)
      return PF_OK;
    const pf_bytes text = text_of(merge, name);
    return pf_refuse(
        merge->error,
        "event %.*s has one period and one fraction of the time in a file, "
        "here are %llu:%llu and %llu:%llu",
        PF_SHOWN(text, 40), (unsigned long long)known->period,
        (unsigned long long)known->fraction, (unsigned long long)event->period,
        (unsigned long long)event->fraction);
  }
  if (header->nevents == DCPI_MAX_EVENTS)
    return pf_fail(merge->error, PF_ELIMIT, PF_NO_OFFSET,
                   "at most %d events expected in a file", DCPI_MAX_EVENTS);
  header->events[header->nevents++] = (dcpi_output_event){
      .name = name, .period = event->period, .fraction = event->fraction};
  return PF_OK;
}


/* Get the period that a profile states for its only event. */
static pf_status period_of (const merge_state *merge, const uint32_t *values,
                            uint32_t name, uint64_t *period) {
  const pf_bytes event = text_of(merge, name);
  if (values[DCPI_PERIOD] != PF_NO_NAME &&
      parse_number(merge, values[DCPI_PERIOD], 10, period))
    return PF_OK;
  return pf_refuse(merge->error,
                   "the period of event %.*s is not stated: give it in header",
                   PF_SHOWN(event, 40));
}


/* Merge an event line: a name with a period line, or dcpicat's line with
   both. */
static pf_status merge_event (const merge_state *merge, const uint32_t *values,
                              uint32_t value) {
  dcpi_event event = {.fraction = DCPI_FULL_TIME};
  if (values[DCPI_PERIOD] == PF_NO_NAME &&
      dcpi_read_event(text_of(merge, value), &event)) {
    const uint32_t name = pf_intern(merge->writer->dictionary, event.name);
    return name == PF_NO_NAME ? pf_no_memory(merge->error)
                              : add_event(merge, name, &event);
  }
  event.fraction = DCPI_FULL_TIME;
  const pf_status status = period_of(merge, values, value, &event.period);
  return status < 0 ? status : add_event(merge, value, &event);
}


/* Merge all event lines. Lines of the option `header` replace the others. */
static pf_status merge_events (const merge_state *merge) {
  const dcpi_writer *const writer = merge->writer;
  pf_status status = PF_OK;
  bool has_every = false;
  for (size_t i = 0; i < writer->nfields; i++)
    has_every |= writer->fields[i].profile == DCPI_ALL_PROFILES &&
                 dcpi_field_word(writer, &writer->fields[i]) == DCPI_EVENT;
  for (size_t i = 0; i < writer->nfields && status == PF_OK; i++) {
    const dcpi_field *const field = &writer->fields[i];
    const bool is_for_all = field->profile == DCPI_ALL_PROFILES;
    if (is_for_all != has_every || dcpi_field_word(writer, field) != DCPI_EVENT)
      continue;
    status = merge_event(
        merge, values_of(merge, is_for_all ? 0 : field->profile), field->value);
  }
  return status;
}


/* Replace the event name of a row by its index. An event that no line names is
   added if the profile states a period. */
static pf_status resolve_event (const merge_state *merge, dcpi_row *row) {
  dcpi_output_header *const header = merge->header;
  dcpi_event event = {.fraction = DCPI_FULL_TIME};
  size_t i = 0;
  if (row->event == PF_NO_NAME) {
    row->event = 0;
    if (header->nevents <= 1) /* 0: also reported as missing, by check_stated */
      return PF_OK;
    return pf_refuse(merge->error,
                     "a row of samples has no event, and the header names %zu",
                     header->nevents);
  }
  while (i < header->nevents && header->events[i].name != row->event)
    i++;
  if (i == header->nevents) {
    const uint32_t *const values = values_of(merge, row->profile);
    pf_status status = period_of(merge, values, row->event, &event.period);
    if (status == PF_OK)
      status = add_event(merge, row->event, &event);
    if (status < 0)
      return status;
  }
  row->event = (uint32_t)i;
  return PF_OK;
}

/* }====== */


/* {====== The merged header ====== */


/* Compare a profile with the first one. */
static pf_status check_same (const merge_state *merge, const uint32_t *values) {
  static const dcpi_word same[] = {DCPI_IMAGE, DCPI_PLATFORM, DCPI_LABEL,
                                   DCPI_CPUSPEED};
  dcpi_output_header *const header = merge->header;
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    const dcpi_word word = same[i];
    if (values[word] == header->values[word])
      continue;
    const pf_bytes a = text_of(merge, header->values[word]),
                   b = text_of(merge, values[word]);
    return pf_refuse(merge->error,
                     "one file holds one %s, here are \"%.*s\" and \"%.*s\"; a "
                     "directory (DATABASE/) holds more",
                     dcpi_rules[word].word, PF_SHOWN(a, 60), PF_SHOWN(b, 60));
  }
  uint64_t start = header->start, size = header->size;
  pf_status status =
      parse_range(merge, values, DCPI_TSTART, DCPI_TEXT_START, &start);
  if (status == PF_OK)
    status = parse_range(merge, values, DCPI_TSIZE, DCPI_TEXT_SIZE, &size);
  if (status < 0 || (start == header->start && size == header->size))
    return status;
  return pf_refuse(merge->error,
                   "one file holds one range of code, here are 0x%llx, %llu "
                   "bytes, and 0x%llx, %llu bytes",
                   (unsigned long long)header->start,
                   (unsigned long long)header->size, (unsigned long long)start,
                   (unsigned long long)size);
}


/* Copy the first profile, compare the others with it, and keep the earliest
   epoch. */
static pf_status merge_profile (const merge_state *merge, size_t profile) {
  const uint32_t *const values = values_of(merge, profile);
  dcpi_output_header *const header = merge->header;
  pf_status status = PF_OK;
  if (profile == 0) {
    memcpy(header->values, values, sizeof header->values);
    header->values[DCPI_EPOCH] = PF_NO_NAME;
    status = parse_range(merge, values, DCPI_TSTART, DCPI_TEXT_START,
                         &header->start);
    if (status == PF_OK)
      status =
          parse_range(merge, values, DCPI_TSIZE, DCPI_TEXT_SIZE, &header->size);
  }
  else
    status = check_same(merge, values);
  if (status < 0 || values[DCPI_EPOCH] == PF_NO_NAME)
    return status;
  const pf_bytes text = text_of(merge, values[DCPI_EPOCH]);
  const uint64_t epoch = dcpi_epoch(text);
  if (epoch == 0)
    return pf_refuse(merge->error,
                     "epoch: a time as YYMMDDHHMM expected, found \"%.*s\"",
                     PF_SHOWN(text, 40));
  if (header->epoch == 0 || epoch < header->epoch) {
    header->epoch = epoch;
    header->values[DCPI_EPOCH] = values[DCPI_EPOCH];
  }
  return PF_OK;
}


pf_status dcpi_merge_headers (dcpi_writer *writer, dcpi_output_header *header,
                              pf_error *error) {
  pf_status status = PF_OK;
  if (writer->nprofiles == 0) { /* no rows, no line with a profile id */
    dcpi_profile *const only = malloc(sizeof *only);
    if (only == NULL)
      return pf_no_memory(error);
    *only = (dcpi_profile){.has_id = false};
    memset(only->names, 0xff, sizeof only->names);
    free(writer->profiles);
    writer->profiles = only;
    writer->nprofiles = writer->profiles_capacity = 1;
  }
  const size_t count = writer->nprofiles * DCPI_WORDS;
  uint32_t *const values = calloc(count + 1, sizeof *values);
  if (values == NULL)
    return pf_no_memory(error);
  memset(values, 0xff, count * sizeof *values); /* each is PF_NO_NAME */
  *header = (dcpi_output_header){.epoch = 0};
  const merge_state merge = {writer, header, values, error};
  collect_values(&merge);
  for (size_t p = 0; p < writer->nprofiles && status == PF_OK; p++)
    status = merge_profile(&merge, p);
  if (status == PF_OK)
    status = merge_events(&merge);
  for (size_t i = 0; i < writer->nrows && status == PF_OK; i++)
    status = resolve_event(&merge, &writer->rows[i]);
  free(values);
  return status;
}

/* }====== */
