/*
** result_schema.c - the columns of statistics: keys, then the same columns
** for each of the five durations.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/statistics/result_rows.h"

#define NAME_SIZE 40
#define HELP_SIZE 120
#define MOST      (16 + PF_DURATIONS * (5 + PF_MAX_RANKS))

static const char *const length_names[PF_DURATIONS] = {"net", "gross", "call",
                                                       "period", "outside"};

static const struct {
  pf_statistic what;
  const char *name;
  pf_type type;
  const char *help;
} keys[] = {
    {PF_STATISTIC_AREA, "area", PF_AREA, "the area that was called"},
    {PF_STATISTIC_HANDLE, "handle", PF_HANDLE,
     "the vendor's number of the area"},
    {PF_STATISTIC_VALUE, "value", PF_INT,
     "distinguishes areas with the same handle"},
    {PF_STATISTIC_CONTEXT, "context", PF_INT,
     "lane; missing: all lanes together"},
    {PF_STATISTIC_CALLER, "caller", PF_AREA,
     "the function around it; missing at the top"},
    {PF_STATISTIC_COUNT, "count", PF_INT, "enters or writes"},
};

static const struct {
  pf_statistic what;
  const char *suffix;
  pf_type type;
  const char *help;
} numbers[] = {
    {PF_STATISTIC_SUM, "", PF_INT, "sum of %s of all calls, ns"},
    {PF_STATISTIC_MIN, "_min", PF_INT, "minimum %s of a call, ns"},
    {PF_STATISTIC_MAX, "_max", PF_INT, "maximum %s of a call, ns"},
    {PF_STATISTIC_MEAN, "_mean", PF_NUM, "mean %s of a call, ns"},
    {PF_STATISTIC_STDDEV, "_stddev", PF_NUM, "standard deviation of %s, ns"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))


/* Add a column. Those of a duration have its name before the suffix. */
static void add (pf_statistics_schema *s, pf_statistics_column column,
                 pf_type type, const char *suffix, const char *help, ...) {
  char *const name = s->words + s->count * (NAME_SIZE + HELP_SIZE);
  const bool has_length = column.what >= PF_STATISTIC_SUM;
  snprintf(name, NAME_SIZE, "%s%s",
           has_length ? length_names[column.length] : "", suffix);
  va_list arguments;
  va_start(arguments, help);
  vsnprintf(name + NAME_SIZE, HELP_SIZE, help, arguments);
  va_end(arguments);
  s->fields[s->count] = (pf_field){name, type, name + NAME_SIZE};
  s->columns[s->count++] = column;
}


static void add_keys (pf_statistics_schema *s, bool callers, pf_type area,
                      pf_type lane) {
  for (size_t i = 0; i < COUNT_OF(keys); i++) {
    if (keys[i].what == PF_STATISTIC_CALLER && !callers)
      continue;
    pf_type type = keys[i].type == PF_AREA ? area : keys[i].type;
    if (keys[i].what == PF_STATISTIC_CONTEXT)
      type = lane;
    add(s, (pf_statistics_column){keys[i].what, 0, 0}, type, keys[i].name, "%s",
        keys[i].help);
  }
}


static void add_duration (pf_statistics_schema *s, size_t length,
                          const pf_statistics_options *options) {
  const char *const of = length_names[length];
  for (size_t i = 0; i < COUNT_OF(numbers); i++)
    add(s, (pf_statistics_column){numbers[i].what, length, 0}, numbers[i].type,
        numbers[i].suffix, numbers[i].help, of);
  for (size_t i = 0; i < options->nranks; i++) {
    char suffix[20];
    snprintf(suffix, sizeof suffix, "_%.16s", options->rank_names[i]);
    add(s, (pf_statistics_column){PF_STATISTIC_RANK, length, i}, PF_INT, suffix,
        "%.16s of %s, ns: exact up to %u calls, else at most 1/256 of it away",
        options->rank_names[i], of, PF_EXACT_CALLS);
  }
}


pf_status pf_statistics_schema_make (pf_statistics_schema *s,
                                     const pf_statistics_options *options,
                                     pf_type area, pf_type lane) {
  s->count = 0;
  s->fields = calloc(MOST, sizeof *s->fields);
  s->columns = calloc(MOST, sizeof *s->columns);
  s->words = malloc(MOST * (NAME_SIZE + HELP_SIZE));
  if (s->fields == NULL || s->columns == NULL || s->words == NULL)
    return PF_ENOMEM; /* pf_statistics_schema_free frees the rest */
  add_keys(s, options->by == PF_BY_CALLER, area, lane);
  for (size_t i = 0; i < PF_DURATIONS; i++)
    add_duration(s, i, options);
  for (size_t i = 0; i < PF_MAX_STARTS; i++)
    add(s, (pf_statistics_column){PF_STATISTIC_MAX_AT, i, 0}, PF_INT, "_max_at",
        "start of the first call with the maximum %s, ns", length_names[i]);
  add(s, (pf_statistics_column){PF_STATISTIC_JITTER, PF_PERIOD, 0}, PF_INT,
      "_jitter", "maximum minus minimum period, ns");
  if (options->by != PF_BY_CALLER)
    add(s, (pf_statistics_column){PF_STATISTIC_LAST_STOP, 0, 0}, PF_INT,
        "last_stop", "time at which the last call ended, ns");
  return PF_OK;
}


void pf_statistics_schema_free (pf_statistics_schema *s) {
  free(s->fields);
  free(s->columns);
  free(s->words);
  *s = (pf_statistics_schema){0};
}
