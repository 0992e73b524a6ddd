/*
** text.c - the parts of dcpicat's text. Behind the header (header.c) stands
** a line for each address that has samples, in rising order:
**
**   0x00012006cbb8      29      27
**
** with one count for each event, in the order of their lines in the header:
**
**   event            470352 cycles:63488:10000
**
** the sum of its counts, its name (which may have colons of its own), its
** period, and how much of the time it was watched, in parts of 10,000. From
** dcpicat(1).
*/

#include "formats/dcpi/dcpi.h"


/* {====== Events ====== */

/* Cut the number behind the last colon off `text`. */
static bool cut_number (pf_bytes *text, uint64_t *number) {
  size_t colon = text->size;
  while (colon > 0 && text->at[colon - 1] != ':')
    colon--;
  if (colon == 0)
    return false;
  const pf_bytes digits = {text->at + colon, text->size - colon};
  if (dcpi_number(digits, 10, number) != PF_OK)
    return false;
  text->size = colon - 1;
  return true;
}


bool dcpi_read_event (pf_bytes text, dcpi_event *event) {
  pf_bytes total;
  event->name = text;
  event->fraction = DCPI_WHOLE_TIME;
  if (!dcpi_next_word(&text, &total) ||
      dcpi_number(total, 10, &event->stated) != PF_OK)
    return false;
  while (text.size > 0 && dcpi_is_blank(*text.at)) {
    text.at++;
    text.size--;
  }
  event->name = text;
  if (!cut_number(&text, &event->fraction) ||
      !cut_number(&text, &event->period) || text.size == 0)
    return false;
  event->name = text;
  return true;
}


pf_status dcpi_take_event (dcpi_walk *walk, const dcpi_line *line) {
  dcpi_header *const header = &walk->header;
  if (header->nevents == DCPI_MOST_EVENTS)
    return dcpi_report(walk, PF_DAMAGE, "dcpi-too-many-events", PF_ELIMIT,
                       line->offset,
                       "at most %d events expected: the counts of this one "
                       "are not read",
                       DCPI_MOST_EVENTS);
  dcpi_event *const event = &header->events[header->nevents];
  *event = (dcpi_event){.offset = line->offset};
  header->values[DCPI_EVENT] = line->value;
  header->nevents++;
  if (dcpi_read_event(line->value, event))
    return PF_OK;
  const int size = (int)(line->value.size < 40 ? line->value.size : 40);
  return dcpi_report(walk, PF_DAMAGE, "dcpi-bad-value", PF_EFORMAT,
                     line->offset,
                     "event: a sum and name:period:fraction expected, found "
                     "\"%.*s\"",
                     size, (const char *)line->value.at);
}


pf_status dcpi_check_events (dcpi_walk *walk) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < walk->header.nevents && status == PF_OK; i++) {
    const dcpi_event *const event = &walk->header.events[i];
    if (event->stated == event->counted)
      continue;
    status = dcpi_report(
        walk, PF_DAMAGE, "dcpi-event-sum", PF_EFORMAT, event->offset,
        "%.*s: %llu samples are stated, counted were %llu",
        (int)(event->name.size < 40 ? event->name.size : 40),
        (const char *)event->name.at, (unsigned long long)event->stated,
        (unsigned long long)event->counted);
  }
  return status;
}

/* }====== */


/* {====== Counts ====== */

/* Read the counts of a line; false when they are not one for each event. */
static bool read_counts (dcpi_walk *walk, pf_bytes text) {
  const size_t events = walk->header.nevents;
  bool is_good = true;
  pf_bytes word;
  size_t count = 0;
  memset(walk->counts, 0, sizeof walk->counts);
  while (dcpi_next_word(&text, &word)) {
    if (count < events)
      is_good &= dcpi_number(word, 10, &walk->counts[count]) == PF_OK;
    count++;
  }
  return is_good && count == events;
}


static pf_status check_counts (dcpi_walk *walk, const dcpi_part *part) {
  pf_status status = PF_OK;
  if (!read_counts(walk, part->line.value))
    status = dcpi_report(
        walk, PF_DAMAGE, "dcpi-bad-counts", PF_EFORMAT, part->offset,
        "an address and %zu counts below 2^64 expected", walk->header.nevents);
  for (size_t i = 0; i < walk->header.nevents; i++)
    walk->header.events[i].counted += walk->counts[i];
  for (size_t i = 0; i < walk->header.nevents && status == PF_OK; i++)
    if (walk->counts[i] > INT64_MAX)
      status = dcpi_report(walk, PF_DAMAGE, "dcpi-count-too-large", PF_EFORMAT,
                           part->offset,
                           "counts below 2^63 expected, found %llu: it is "
                           "missing",
                           (unsigned long long)walk->counts[i]);
  return status;
}


/* Where an address stands among the others, and in the image. */
static pf_status check_address (dcpi_walk *walk, const dcpi_part *part) {
  const dcpi_header *const header = &walk->header;
  const uint64_t start = header->numbers[DCPI_TEXT_START];
  const bool is_later = !walk->has_chunk || part->address > walk->last;
  const unsigned long long last = walk->last;
  walk->has_chunk = true;
  walk->last = part->address;
  if (!is_later)
    return dcpi_report(walk, PF_DAMAGE, "dcpi-address-order", PF_EFORMAT,
                       part->offset,
                       "an address above 0x%llx expected, found 0x%llx", last,
                       (unsigned long long)part->address);
  if (!dcpi_has(header, DCPI_TEXT_START) || !dcpi_has(header, DCPI_TEXT_SIZE) ||
      (part->address >= start &&
       part->address - start < header->numbers[DCPI_TEXT_SIZE]))
    return PF_OK;
  return dcpi_report(walk, PF_DAMAGE, "dcpi-beyond-text", PF_EFORMAT,
                     part->offset,
                     "an address within text_size bytes from text_start "
                     "expected, found 0x%llx",
                     (unsigned long long)part->address);
}


/* Whether a line begins with 0x and digits, the address. */
static bool read_address (const dcpi_line *line, uint64_t *address) {
  const pf_bytes word = line->word;
  if (word.size < 3 || word.at[0] != '0' || (word.at[1] | 0x20) != 'x')
    return false;
  return dcpi_number((pf_bytes){word.at + 2, word.size - 2}, 16, address) ==
         PF_OK;
}


static pf_status take_counts (dcpi_walk *walk, dcpi_part *part) {
  if (!read_address(&part->line, &part->address)) {
    dcpi_take_part(walk, part, DCPI_REST, part->line.size);
    return dcpi_report(walk, PF_DAMAGE, "dcpi-bad-line", PF_EFORMAT,
                       part->offset,
                       "an address and counts expected in a line");
  }
  dcpi_take_part(walk, part, DCPI_COUNTS, part->line.size);
  const pf_status status = check_address(walk, part);
  return status < 0 ? status : check_counts(walk, part);
}

/* }====== */


pf_status dcpi_text_part (dcpi_walk *walk, dcpi_part *part) {
  const uint64_t at = walk->at;
  if (dcpi_left(walk) == 0) {
    walk->has_ended = true;
    return dcpi_check_events(walk);
  }
  if (dcpi_cut_line(walk->bytes, at, &part->line))
    return take_counts(walk, part);
  dcpi_take_rest(walk, part);
  walk->has_ended = false; /* so that the sums are looked at, too */
  return dcpi_report(walk, PF_DAMAGE, "dcpi-truncated", PF_ETRUNCATED, at,
                     "the file ends inside a line");
}
