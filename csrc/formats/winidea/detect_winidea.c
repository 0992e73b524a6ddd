/*
** detect_winidea.c - detects binary timelines and their version.
**
** A timeline has no header. The versions differ in the bits of the second word
** that are used. The word of a leave on core 0 is 0 in both. Called by
** open_winidea.c. Nothing is allocated.
*/

#include "formats/winidea/winidea.h"

#define RECORD_SIZE  24
#define LAST_EVENTS  256        /* handles whose last event is kept */
#define HEAD_RECORDS 2730       /* the first 64 KiB */
#define MIN_RESUMES  4          /* needed to detect exchanged types */
#define TAIL         64         /* last records, if the first are ambiguous */
#define INDEX_LIMIT  0x1000000u /* exports have fewer areas of a kind */
#define SEGMENTS     16         /* segments in which the head is examined */
#define MIN_SEGMENT  32         /* records */
#define TIME_LIMIT   (INT64_C(1) << 55) /* more than a year, ns */

/* Counts over a segment of records. */
typedef struct counts {
  size_t records;
  size_t old;       /* the word is valid only in version 1.0 */
  size_t new;       /* only in version 1.1 */
  size_t invalid;   /* invalid in both versions */
  size_t decreases; /* the time is less than the one before */
} counts;


/* Counts records. The word 0 is a leave in both versions; a variable has it
   only in version 1.0, which has no type for writes. A record of zeros is valid
   only as the first one: a leave on core 0. */
static void count_records (counts *t, const uint8_t *at, size_t count,
                           unsigned size) {
  int64_t last = INT64_MIN;
  for (; count > 0; count--, at += size) {
    const uint32_t handle = pf_load32le(at), word = pf_load32le(at + 4);
    const int64_t time = (int64_t)pf_load64le(at + size - 8);
    const bool is_plausible =
        winidea_kind(handle) <= WINIDEA_INSPECTOR_STATE &&
        (handle & (WINIDEA_KIND_STEP - 1)) < INDEX_LIMIT && time < TIME_LIMIT &&
        time > -TIME_LIMIT;
    unsigned zeros = 0;
    while (zeros < size && at[zeros] == 0)
      zeros++;
    const bool is_empty = t->records > 0 && zeros == size;
    if (!is_empty && !is_plausible)
      t->invalid += handle != WINIDEA_NO_HANDLE;
    else if (!is_empty && word == 0)
      t->old += winidea_has_writes(handle);
    else if (!is_empty && (word & ~0xfffu) == 0 && (word & 15) <= WINIDEA_WRITE)
      t->new ++;
    else if (!is_empty && (word & ~0x0f000000u) == 0 &&
             word >> 24 <= WINIDEA_WRITE)
      t->old++;
    else
      t->invalid++;
    t->records++;
    t->decreases += time < last;
    last = time;
  }
}


/* Returns true if at least a quarter of the records refers to a recent area
   again: what is entered is left, what is written is written again. */
static bool do_areas_return (const uint8_t *at, size_t records) {
  uint32_t last[LAST_EVENTS];
  size_t returns = 0;
  memset(last, 0xff, sizeof last); /* WINIDEA_NO_HANDLE */
  for (size_t i = 0; i < records; i++) {
    const uint32_t handle = pf_load32le(at + i * RECORD_SIZE);
    uint32_t *const slot = &last[handle % LAST_EVENTS];
    returns += *slot == handle && handle != WINIDEA_NO_HANDLE;
    *slot = handle;
  }
  return returns * 4 >= records;
}


/* Returns whether a segment can be of a version: at most a quarter of it is
   invalid or of the other version, at most a quarter has a decreasing time, and
   at least an eighth has a word that only this version allows. */
static bool can_be (const counts *t, bool is_old) {
  const size_t matching = is_old ? t->old : t->new;
  const size_t others = t->invalid + t->old + t->new - matching;
  return others * 4 <= t->records && t->decreases * 4 <= t->records &&
         matching * 8 >= t->records;
}


int winidea_score_records (pf_bytes head, uint64_t size) {
  const size_t records = head.size / RECORD_SIZE;
  /* Each segment must be plausible, so a table inside a library is not taken
     for a timeline. */
  const size_t segment =
      records / SEGMENTS < MIN_SEGMENT ? MIN_SEGMENT : records / SEGMENTS;
  counts all = {.records = 0}, first = {.records = 0};
  count_records(&first, head.at, records < 2 * segment ? records : segment,
                RECORD_SIZE);
  if (!can_be(&first, true) && !can_be(&first, false))
    return 0; /* most files of other formats */
  count_records(&all, head.at, records, RECORD_SIZE);
  const bool is_old = all.old > all.new;
  for (size_t at = 0; at < records; at += segment) {
    counts t = {.records = 0};
    const size_t left = records - at;
    /* the last segment includes the remainder */
    const size_t count = left < 2 * segment ? left : segment;
    count_records(&t, head.at + at * RECORD_SIZE, count, RECORD_SIZE);
    if (!can_be(&t, is_old))
      return 0;
    if (count == left)
      break;
  }
  const size_t invalid =
      all.invalid + (is_old ? all.new : all.old) + all.decreases;
  const int complete = size % RECORD_SIZE == 0 ? 20 : 0;
  if (records >= 8 && (invalid > 0 || complete == 0) &&
      !do_areas_return(head.at, records))
    return 0;
  if (all.records < 4)
    return all.records == 0 || complete == 0 || invalid > 0 ? 0 : 50;
  return (invalid > 0 ? 25 : 65) + complete;
}


bool winidea_find_version (const pf_trace *trace, pf_bytes bytes,
                           winidea_layout *layout) {
  counts t = {.records = 0};
  const size_t records = bytes.size / layout->size;
  const size_t first = 65536 / layout->size;
  const size_t last = records < TAIL ? records : TAIL;
  layout->version = WINIDEA_1_1;
  if (pf_option_is(trace, "bin_version", "1.1"))
    return true;
  count_records(&t, bytes.at, records < first ? records : first, layout->size);
  if (t.old == t.new)
    count_records(&t, bytes.at + (records - last) * layout->size, last,
                  layout->size);
  const bool is_old = pf_option_is(trace, "bin_version", "1.0");
  if (is_old || t.old > t.new)
    layout->version = WINIDEA_1_0;
  return is_old || t.old != t.new;
}


/* The last event of a function. */
typedef struct last_event {
  uint32_t handle;
  uint8_t type;
} last_event;


/* Returns true if the events of functions make sense only with types 1 and 2
   exchanged: after an enter, functions are resumed, hardly suspended. */
static bool is_swapped (pf_bytes bytes, const winidea_layout *layout) {
  last_event last[LAST_EVENTS] = {{0, 0}};
  const size_t records = bytes.size / layout->size;
  const unsigned shift = layout->version == WINIDEA_1_0 ? 24 : 0;
  size_t suspends = 0, resumes = 0;
  for (size_t i = 0; i < records && i < HEAD_RECORDS; i++) {
    const uint8_t *const record = bytes.at + i * layout->size;
    const uint32_t handle = pf_load32le(record);
    const uint8_t type = pf_load32le(record + 4) >> shift & 15;
    last_event *const e = &last[handle % LAST_EVENTS];
    if (winidea_kind(handle) != WINIDEA_FUNCTION)
      continue;
    if (e->handle == handle && e->type == WINIDEA_ENTER) {
      suspends += type == 1;
      resumes += type == 2;
    }
    *e = (last_event){handle, type};
  }
  return resumes >= MIN_RESUMES && suspends * 8 < resumes;
}


pf_status winidea_detect_layout (pf_trace *trace, pf_bytes bytes,
                                 winidea_layout *layout, pf_error *error) {
  const int64_t size = pf_option_int(trace, "record_size", RECORD_SIZE);
  if (size != RECORD_SIZE && size != 20)
    return pf_refuse(error, "record_size 24 or 20 expected, found %lld",
                     (long long)size);
  layout->size = (unsigned)size;
  layout->is_swapped = pf_option_int(trace, "swap_suspend_resume", 0) != 0;
  if (bytes.size > 0 && bytes.size < layout->size)
    return pf_fail(error, PF_ETRUNCATED, bytes.size,
                   "a record of %u bytes expected, the file has %zu",
                   layout->size, bytes.size);
  pf_status status = PF_OK;
  if (!winidea_find_version(trace, bytes, layout) && bytes.size > 0)
    status = pf_warn(
        trace, PF_NOTE, "winidea-version-guessed", PF_EFORMAT, 4, error,
        "the version cannot be detected: read as 1.1; bin_version states it");
  if (status < 0 || layout->is_swapped || !is_swapped(bytes, layout))
    return status;
  return pf_warn(
      trace, PF_NOTE, "winidea-swapped", PF_EFORMAT, 4, error,
      "functions are resumed that have not been suspended: types 1 and 2 may "
      "be exchanged; swap_suspend_resume = true reads them so");
}
