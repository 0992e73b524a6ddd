/*
** gather.c - the way out, second part: what all profiles say, as one sheet.
**
** Profiles are one when image, label, platform, code and clock are the same;
** of their epochs the earliest is kept. An event may come from several of
** them, with one period.
*/

#include <stdlib.h>

#include "formats/dcpi/encode.h"

/* The value of each word for each profile, as names. */
typedef struct gathering {
  dcpi_writer *writer;
  dcpi_sheet *sheet;
  uint32_t *values; /* DCPI_WORDS for each profile */
  pf_error *error;
} gathering;


dcpi_word dcpi_fact_word (const dcpi_writer *writer, const dcpi_fact *fact) {
  return dcpi_word_of(pf_name(writer->dictionary, fact->word));
}


static pf_bytes text_of (const gathering *all, uint32_t name) {
  return pf_name(all->writer->dictionary, name);
}


static uint32_t *values_of (const gathering *all, size_t profile) {
  return all->values + profile * DCPI_WORDS;
}


static pf_status differ (const gathering *all, dcpi_word word, uint32_t one,
                         uint32_t other) {
  const pf_bytes a = text_of(all, one), b = text_of(all, other);
  return pf_fail(all->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "one file holds one %s, here are \"%.*s\" and \"%.*s\"; a "
                 "directory (DATABASE/) holds more",
                 dcpi_rules[word].word, (int)(a.size < 60 ? a.size : 60),
                 (const char *)a.at, (int)(b.size < 60 ? b.size : 60),
                 (const char *)b.at);
}


/* {====== The values of each profile ====== */

static void set_value (uint32_t *values, dcpi_word word, uint32_t name) {
  if (word < DCPI_WORDS && values[word] == PF_NO_NAME)
    values[word] = name;
}


/* First the lines that count for all, then those of each profile. */
static void take_facts (const gathering *all, bool for_every) {
  const dcpi_writer *const writer = all->writer;
  for (size_t i = 0; i < writer->nfacts; i++) {
    const dcpi_fact *const fact = &writer->facts[i];
    const dcpi_word word = dcpi_fact_word(writer, fact);
    if ((fact->profile == DCPI_EVERY) != for_every)
      continue;
    if (!for_every) {
      set_value(values_of(all, fact->profile), word, fact->value);
      continue;
    }
    for (size_t p = 0; p < writer->ninputs; p++)
      set_value(values_of(all, p), word, fact->value);
  }
}


/* What only the rows say. */
static void take_names (const gathering *all) {
  for (size_t p = 0; p < all->writer->ninputs; p++) {
    const uint32_t *const names = all->writer->inputs[p].names;
    uint32_t *const values = values_of(all, p);
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

/* A value as a number, 0x before it or not; false when it is none. */
static bool number_of (const gathering *all, uint32_t name, unsigned base,
                       uint64_t *number) {
  pf_bytes text = text_of(all, name);
  if (base == 16 && text.size > 2 && text.at[0] == '0' &&
      (text.at[1] | 0x20) == 'x') {
    text.at += 2;
    text.size -= 2;
  }
  return dcpi_number(text, base, number) == PF_OK;
}


/* The start or the size of the code, by whichever word it is stated; as it
   was when it is not. */
static pf_status take_range (const gathering *all, const uint32_t *values,
                             dcpi_word word, dcpi_word in_text,
                             uint64_t *number) {
  const bool is_text = values[word] == PF_NO_NAME;
  const uint32_t name = values[is_text ? in_text : word];
  const unsigned base = word == DCPI_TSTART || is_text ? 16 : 10;
  if (name == PF_NO_NAME || number_of(all, name, base, number))
    return PF_OK;
  const pf_bytes text = text_of(all, name);
  return pf_fail(all->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "%s: a number expected, found \"%.*s\"", dcpi_rules[word].word,
                 (int)(text.size < 40 ? text.size : 40), (const char *)text.at);
}

/* }====== */


/* {====== Events ====== */

static pf_status event_differs (const gathering *all, const dcpi_column *known,
                                const dcpi_event *event) {
  const pf_bytes name = text_of(all, known->name);
  return pf_fail(
      all->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
      "event %.*s has one period and one share of the time in a "
      "file, here are %llu:%llu and %llu:%llu",
      (int)(name.size < 40 ? name.size : 40), (const char *)name.at,
      (unsigned long long)known->period, (unsigned long long)known->fraction,
      (unsigned long long)event->period, (unsigned long long)event->fraction);
}


/* Add an event to the sheet, or hold it against the one of its name. */
static pf_status add_event (const gathering *all, uint32_t name,
                            const dcpi_event *event) {
  dcpi_sheet *const sheet = all->sheet;
  for (size_t i = 0; i < sheet->nevents; i++) {
    const dcpi_column *const known = &sheet->events[i];
    if (known->name != name)
      continue;
    return known->period == event->period && known->fraction == event->fraction
               ? PF_OK
               : event_differs(all, known, event);
  }
  if (sheet->nevents == DCPI_MOST_EVENTS)
    return pf_fail(all->error, PF_ELIMIT, PF_NO_OFFSET,
                   "at most %d events expected in a file", DCPI_MOST_EVENTS);
  sheet->events[sheet->nevents++] = (dcpi_column){
      .name = name, .period = event->period, .fraction = event->fraction};
  return PF_OK;
}


/* The period that a profile states for its only event. */
static pf_status period_of (const gathering *all, const uint32_t *values,
                            uint32_t name, uint64_t *period) {
  const pf_bytes event = text_of(all, name);
  if (values[DCPI_PERIOD] != PF_NO_NAME &&
      number_of(all, values[DCPI_PERIOD], 10, period))
    return PF_OK;
  return pf_fail(all->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "the period of event %.*s is not stated: give it in header",
                 (int)(event.size < 40 ? event.size : 40),
                 (const char *)event.at);
}


/* An event line: the name and a period line, or dcpicat's with both. */
static pf_status take_event (const gathering *all, const uint32_t *values,
                             uint32_t value) {
  dcpi_event event = {.fraction = DCPI_WHOLE_TIME};
  if (values[DCPI_PERIOD] == PF_NO_NAME &&
      dcpi_read_event(text_of(all, value), &event)) {
    const uint32_t name = pf_intern(all->writer->dictionary, event.name);
    return name == PF_NO_NAME ? dcpi_no_memory(all->error)
                              : add_event(all, name, &event);
  }
  event.fraction = DCPI_WHOLE_TIME;
  const pf_status status = period_of(all, values, value, &event.period);
  return status < 0 ? status : add_event(all, value, &event);
}


/* The events of all header lines; those that count for all go before. */
static pf_status take_events (const gathering *all) {
  const dcpi_writer *const writer = all->writer;
  pf_status status = PF_OK;
  bool has_every = false;
  for (size_t i = 0; i < writer->nfacts; i++)
    has_every |= writer->facts[i].profile == DCPI_EVERY &&
                 dcpi_fact_word(writer, &writer->facts[i]) == DCPI_EVENT;
  for (size_t i = 0; i < writer->nfacts && status == PF_OK; i++) {
    const dcpi_fact *const fact = &writer->facts[i];
    const bool is_every = fact->profile == DCPI_EVERY;
    if (is_every != has_every || dcpi_fact_word(writer, fact) != DCPI_EVENT)
      continue;
    status = take_event(all, values_of(all, is_every ? 0 : fact->profile),
                        fact->value);
  }
  return status;
}


/* The number of the event of a row: one that the header names, or one whose
   period the profile states. */
static pf_status event_of (const gathering *all, dcpi_row *row) {
  dcpi_sheet *const sheet = all->sheet;
  dcpi_event event = {.fraction = DCPI_WHOLE_TIME};
  size_t i = 0;
  if (row->event == PF_NO_NAME) {
    row->event = 0;
    if (sheet->nevents <= 1) /* none: the header lacks a word, as well */
      return PF_OK;
    return pf_fail(all->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a row of samples has no event, and the header names %zu",
                   sheet->nevents);
  }
  while (i < sheet->nevents && sheet->events[i].name != row->event)
    i++;
  if (i == sheet->nevents) {
    const uint32_t *const values = values_of(all, row->profile);
    pf_status status = period_of(all, values, row->event, &event.period);
    if (status == PF_OK)
      status = add_event(all, row->event, &event);
    if (status < 0)
      return status;
  }
  row->event = (uint32_t)i;
  return PF_OK;
}

/* }====== */


/* {====== One sheet ====== */

/* The first of several epochs. */
static pf_status take_epoch (const gathering *all, uint32_t name) {
  dcpi_sheet *const sheet = all->sheet;
  if (name == PF_NO_NAME)
    return PF_OK;
  const pf_bytes text = text_of(all, name);
  const uint64_t epoch = dcpi_epoch(text);
  if (epoch == 0)
    return pf_fail(all->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "epoch: a time as YYMMDDHHMM expected, found \"%.*s\"",
                   (int)(text.size < 40 ? text.size : 40),
                   (const char *)text.at);
  if (sheet->epoch != 0 && sheet->epoch <= epoch)
    return PF_OK;
  sheet->epoch = epoch;
  sheet->values[DCPI_EPOCH] = name;
  return PF_OK;
}


/* Hold a profile against the first one. */
static pf_status compare (const gathering *all, const uint32_t *values) {
  static const dcpi_word same[] = {DCPI_IMAGE, DCPI_PLATFORM, DCPI_LABEL,
                                   DCPI_CPUSPEED};
  dcpi_sheet *const sheet = all->sheet;
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
    if (values[same[i]] != sheet->values[same[i]])
      return differ(all, same[i], sheet->values[same[i]], values[same[i]]);
  uint64_t start = sheet->start, size = sheet->size;
  pf_status status =
      take_range(all, values, DCPI_TSTART, DCPI_TEXT_START, &start);
  if (status == PF_OK)
    status = take_range(all, values, DCPI_TSIZE, DCPI_TEXT_SIZE, &size);
  if (status < 0 || (start == sheet->start && size == sheet->size))
    return status;
  return pf_fail(all->error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "one file holds one range of code, here are 0x%llx, %llu "
                 "bytes, and 0x%llx, %llu bytes",
                 (unsigned long long)sheet->start,
                 (unsigned long long)sheet->size, (unsigned long long)start,
                 (unsigned long long)size);
}


/* The first profile is the sheet, the others must agree. */
static pf_status take_profile (const gathering *all, size_t profile) {
  const uint32_t *const values = values_of(all, profile);
  dcpi_sheet *const sheet = all->sheet;
  pf_status status = PF_OK;
  if (profile == 0) {
    memcpy(sheet->values, values, sizeof sheet->values);
    sheet->values[DCPI_EPOCH] = PF_NO_NAME;
    status =
        take_range(all, values, DCPI_TSTART, DCPI_TEXT_START, &sheet->start);
    if (status == PF_OK)
      status =
          take_range(all, values, DCPI_TSIZE, DCPI_TEXT_SIZE, &sheet->size);
  }
  else
    status = compare(all, values);
  return status < 0 ? status : take_epoch(all, values[DCPI_EPOCH]);
}


static pf_status gather (const gathering *all) {
  dcpi_writer *const writer = all->writer;
  pf_status status = PF_OK;
  take_facts(all, true);
  take_facts(all, false);
  take_names(all);
  for (size_t p = 0; p < writer->ninputs && status == PF_OK; p++)
    status = take_profile(all, p);
  if (status == PF_OK)
    status = take_events(all);
  for (size_t i = 0; i < writer->nrows && status == PF_OK; i++)
    status = event_of(all, &writer->rows[i]);
  return status;
}


/* A file of no rows and no numbered lines is of one profile, too. */
static pf_status need_profile (dcpi_writer *writer, pf_error *error) {
  if (writer->ninputs > 0)
    return PF_OK;
  dcpi_input *const only = malloc(sizeof *only);
  if (only == NULL)
    return dcpi_no_memory(error);
  *only = (dcpi_input){.has_number = false};
  memset(only->names, 0xff, sizeof only->names);
  free(writer->inputs);
  writer->inputs = only;
  writer->ninputs = writer->inputs_room = 1;
  return PF_OK;
}


pf_status dcpi_gather (dcpi_writer *writer, dcpi_sheet *sheet,
                       pf_error *error) {
  pf_status status = need_profile(writer, error);
  if (status < 0)
    return status;
  const size_t count = writer->ninputs * DCPI_WORDS;
  uint32_t *const values = calloc(count + 1, sizeof *values);
  if (values == NULL)
    return dcpi_no_memory(error);
  memset(values, 0xff, count * sizeof *values); /* PF_NO_NAME each */
  *sheet = (dcpi_sheet){.epoch = 0};
  const gathering all = {writer, sheet, values, error};
  status = gather(&all);
  free(values);
  return status;
}

/* }====== */
