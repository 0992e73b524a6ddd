/*
** head.c - what a profile states beside its samples.
*/

#include "formats/pprof/head.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/memory.h"


/* {====== Units ====== */

/* Longer names are found with or without the s of the plural, in any case of
   letters. */
#define MOST 16 /* letters of a name of a unit */

static const struct {
  const char *name;
  pprof_unit unit;
} units[] = {
    {"b", {PPROF_BYTES_FAMILY, 1}},
    {"byte", {PPROF_BYTES_FAMILY, 1}},
    {"kb", {PPROF_BYTES_FAMILY, 1 << 10}},
    {"kbyte", {PPROF_BYTES_FAMILY, 1 << 10}},
    {"kilobyte", {PPROF_BYTES_FAMILY, 1 << 10}},
    {"mb", {PPROF_BYTES_FAMILY, 1 << 20}},
    {"mbyte", {PPROF_BYTES_FAMILY, 1 << 20}},
    {"megabyte", {PPROF_BYTES_FAMILY, 1 << 20}},
    {"gb", {PPROF_BYTES_FAMILY, 1 << 30}},
    {"gbyte", {PPROF_BYTES_FAMILY, 1 << 30}},
    {"gigabyte", {PPROF_BYTES_FAMILY, 1 << 30}},
    {"tb", {PPROF_BYTES_FAMILY, (int64_t)1 << 40}},
    {"tbyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 40}},
    {"terabyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 40}},
    {"pb", {PPROF_BYTES_FAMILY, (int64_t)1 << 50}},
    {"pbyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 50}},
    {"petabyte", {PPROF_BYTES_FAMILY, (int64_t)1 << 50}},
    {"ns", {PPROF_TIME_FAMILY, 1}},
    {"nanosecond", {PPROF_TIME_FAMILY, 1}},
    {"us", {PPROF_TIME_FAMILY, 1000}},
    {"microsecond", {PPROF_TIME_FAMILY, 1000}},
    {"ms", {PPROF_TIME_FAMILY, 1000000}},
    {"millisecond", {PPROF_TIME_FAMILY, 1000000}},
    {"s", {PPROF_TIME_FAMILY, 1000000000}},
    {"sec", {PPROF_TIME_FAMILY, 1000000000}},
    {"second", {PPROF_TIME_FAMILY, 1000000000}},
    {"hr", {PPROF_TIME_FAMILY, 3600000000000}},
    {"hour", {PPROF_TIME_FAMILY, 3600000000000}},
};


pprof_unit pprof_unit_of (pf_bytes name) {
  char text[MOST + 1] = "";
  size_t size = name.size;
  if (size > 2 && (name.at[size - 1] == 's' || name.at[size - 1] == 'S'))
    size--;
  for (size_t i = 0; i < size && size <= MOST; i++)
    text[i] = (char)tolower(name.at[i]);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(text, units[i].name) == 0)
      return units[i].unit;
  return (pprof_unit){PPROF_NO_FAMILY, 1};
}

/* }====== */


/* {====== Heads ====== */

void pprof_head_open (pprof_head *head) {
  *head = (pprof_head){.period_type = {PF_NO_NAME, PF_NO_NAME},
                       .default_type = PF_NO_NAME,
                       .doc_url = PF_NO_NAME,
                       .drop_frames = PF_NO_NAME,
                       .keep_frames = PF_NO_NAME};
}


void pprof_head_close (pprof_head *head) {
  free(head->comments);
  pf_interned_free(&head->comment_set);
  pprof_head_open(head);
}


/* A comment that is looked for among those of a head. */
typedef struct wanted {
  const pprof_head *head;
  uint32_t comment;
} wanted;


static bool is_same (const void *context, uint32_t number) {
  const wanted *const w = context;
  return w->head->comments[number] == w->comment;
}


bool pprof_head_comment (pprof_head *head, uint32_t comment) {
  const wanted w = {head, comment};
  const uint64_t hash = pf_mix(0, comment);
  if (pf_interned_find(&head->comment_set, hash, is_same, &w) !=
      PF_NOT_INTERNED)
    return true;
  void *comments = head->comments;
  const bool ok =
      pf_interned_reserve(&head->comment_set) &&
      pf_array_widen(&comments, &head->comment_room,
                     (size_t)head->comment_set.count + 1, sizeof comment);
  head->comments = comments;
  if (ok)
    head->comments[pf_interned_add(&head->comment_set, hash)] = comment;
  return ok;
}


/* The longer period, in the finer of the units. */
static void merge_period (pprof_head *head, const pprof_head *more,
                          const pf_dictionary *d) {
  if (head->period_type.type == PF_NO_NAME) {
    head->period_type = more->period_type;
    head->period = more->period > head->period ? more->period : head->period;
    return;
  }
  const pprof_unit a =
      pprof_unit_of(pf_name(d, (uint32_t)head->period_type.unit));
  const pprof_unit b =
      pprof_unit_of(pf_name(d, (uint32_t)more->period_type.unit));
  const bool convert = a.family == b.family && a.family != PPROF_NO_FAMILY;
  int64_t period = more->period;
  if (convert && b.size < a.size) {
    head->period_type.unit = more->period_type.unit;
    if (__builtin_mul_overflow(head->period, a.size / b.size, &head->period))
      head->period = INT64_MAX;
  }
  else if (convert && __builtin_mul_overflow(period, b.size / a.size, &period))
    period = INT64_MAX;
  head->period = period > head->period ? period : head->period;
}


static void take_first (uint32_t *name, uint32_t more) {
  if (*name == PF_NO_NAME)
    *name = more;
}


bool pprof_head_merge (pprof_head *head, const pprof_head *more, bool is_first,
                       const pf_dictionary *dictionary) {
  bool ok = true;
  if (more->time_nanos != 0 &&
      (head->time_nanos == 0 || more->time_nanos < head->time_nanos))
    head->time_nanos = more->time_nanos;
  if (__builtin_add_overflow(head->duration_nanos, more->duration_nanos,
                             &head->duration_nanos))
    head->duration_nanos = INT64_MAX;
  merge_period(head, more, dictionary);
  take_first(&head->default_type, more->default_type);
  take_first(&head->doc_url, more->doc_url);
  if (is_first) {
    head->drop_frames = more->drop_frames;
    head->keep_frames = more->keep_frames;
  }
  for (size_t i = 0; ok && i < more->comment_set.count; i++)
    ok = pprof_head_comment(head, more->comments[i]);
  return ok;
}


void pprof_put_head (pf_sink *sink, pprof_texts *texts,
                     const pprof_head *head) {
  pprof_put_number(sink, PPROF_DROP_FRAMES,
                   pprof_text_number(texts, head->drop_frames));
  pprof_put_number(sink, PPROF_KEEP_FRAMES,
                   pprof_text_number(texts, head->keep_frames));
  pprof_put_number(sink, PPROF_TIME_NANOS, (uint64_t)head->time_nanos);
  pprof_put_number(sink, PPROF_DURATION_NANOS, (uint64_t)head->duration_nanos);
  if (head->period_type.type != PF_NO_NAME ||
      head->period_type.unit != PF_NO_NAME)
    pprof_put_value_type(sink, texts, PPROF_PERIOD_TYPE, &head->period_type);
  pprof_put_number(sink, PPROF_PERIOD, (uint64_t)head->period);
  for (size_t i = 0; i < head->comment_set.count; i++)
    pprof_put_number(sink, PPROF_COMMENT,
                     pprof_text_number(texts, head->comments[i]));
  pprof_put_number(sink, PPROF_DEFAULT_TYPE,
                   pprof_text_number(texts, head->default_type));
  pprof_put_number(sink, PPROF_DOC_URL,
                   pprof_text_number(texts, head->doc_url));
}

/* }====== */
