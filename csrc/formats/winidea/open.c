/*
** open.c - the format winidea: exports of the winIDEA profiler.
*/

#include <stdlib.h>

#include "formats/winidea/winidea.h"
#include "model/names.h"

static const char *const event_names[WINIDEA_EVENTS] = {
    "leave", "suspend", "resume", "enter", "write"};


static int score (pf_bytes head, uint64_t size) {
  return winidea_score_records(head, size);
}


/* {====== Words ====== */

/* The number of a word; `is_good` ends when there is none. */
static uint32_t word (const pf_trace *trace, const char *text, bool *is_good) {
  const uint32_t number = pf_intern_text(trace->dictionary, text);
  *is_good &= number != PF_NO_NAME;
  return number;
}


/* The words that readers put into columns; they intern none themselves. */
static pf_status set_words (const pf_trace *trace, winidea_file *file,
                            pf_error *error) {
  bool is_good = true;
  for (int i = 0; i < WINIDEA_EVENTS; i++)
    file->events[i] = word(trace, event_names[i], &is_good);
  for (int i = 0; i < WINIDEA_KINDS; i++)
    file->classes[i] = word(trace, winidea_class_names[i], &is_good);
  file->record_word = word(trace, "record", &is_good);
  file->rest_word = word(trace, "rest", &is_good);
  memset(file->lanes, 0xff, sizeof file->lanes); /* PF_NO_NAME */
  return is_good ? PF_OK : winidea_no_memory(error);
}

/* }====== */


/* {====== The binary timeline ====== */

static int64_t time_at (const winidea_file *file, uint64_t row) {
  const size_t size = file->layout.size;
  return (int64_t)pf_load64le(file->timeline->bytes.at + (row + 1) * size - 8);
}


static pf_status check_end (pf_trace *trace, const winidea_file *file,
                            pf_error *error) {
  const size_t over = file->timeline->bytes.size % file->layout.size;
  if (over == 0)
    return PF_OK;
  return pf_warn(trace, PF_DAMAGE, "winidea-truncated", PF_ETRUNCATED,
                 file->timeline->bytes.size - over, error,
                 "a record of %u bytes expected, the file has %zu more",
                 file->layout.size, over);
}


static pf_status open_timeline (pf_trace *trace, winidea_file *file,
                                pf_error *error) {
  const pf_bytes bytes = file->timeline->bytes;
  pf_status status = winidea_detect(trace, bytes, &file->layout, error);
  if (status == PF_OK)
    status = check_end(trace, file, error);
  if (status < 0)
    return status;
  const uint64_t records = winidea_records(file);
  pf_info_text(trace, "dialect", winidea_text("bin"));
  pf_info_text(
      trace, "version",
      winidea_text(file->layout.version == WINIDEA_1_0 ? "1.0" : "1.1"));
  pf_info_text(trace, "byte_order", winidea_text("little"));
  pf_info_int(trace, "record_size", file->layout.size);
  pf_info_int(trace, "records", (int64_t)records);
  if (records == 0)
    return PF_OK;
  pf_info_int(trace, "first", time_at(file, 0));
  pf_info_int(trace, "last", time_at(file, records - 1));
  return PF_OK;
}

/* }====== */


/* {====== Opening ====== */

static void add_table (pf_trace *trace, winidea_file *file, const char *name,
                       const pf_field *fields, size_t nfields, int64_t rows,
                       pf_status (*open)(pf_trace *, const pf_table *,
                                         pf_reader **, pf_error *)) {
  file->tables[trace->ntables++] =
      (pf_table){name, fields, nfields, rows, open};
  trace->tables = file->tables;
}


static void list_tables (pf_trace *trace, winidea_file *file) {
  const int64_t records = (int64_t)winidea_records(file);
  const bool is_whole = file->timeline->bytes.size % file->layout.size == 0;
  trace->ntables = 0;
  add_table(trace, file, "timeline", winidea_timeline_fields, TIMELINE_COLUMNS,
            records, winidea_open_timeline);
  add_table(trace, file, "events", winidea_events_fields, EVENTS_COLUMNS,
            records, winidea_open_timeline);
  add_table(trace, file, "areas", winidea_areas_fields, AREAS_COLUMNS, -1,
            winidea_open_areas);
  add_table(trace, file, "raw", winidea_raw_fields, RAW_COLUMNS,
            records + !is_whole, winidea_open_raw);
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  winidea_file *const file = calloc(1, sizeof *file);
  trace->state = file;
  if (file == NULL || pthread_mutex_init(&file->mutex, NULL) != 0)
    return winidea_no_memory(error);
  file->has_mutex = true;
  file->timeline = &trace->sources[0];
  file->input_reading = pf_option_is(trace, "input_type", "F64")
                            ? WINIDEA_DOUBLE
                            : WINIDEA_INTEGER;
  pf_status status = set_words(trace, file, error);
  if (status == PF_OK)
    status = open_timeline(trace, file, error);
  if (status == PF_OK)
    list_tables(trace, file);
  return status;
}


static void close_trace (pf_trace *trace) {
  winidea_file *const file = trace->state;
  if (file->has_mutex)
    pthread_mutex_destroy(&file->mutex);
  winidea_areas_free(&file->areas);
  free(file);
  trace->state = NULL;
}

/* }====== */


const pf_format pf_format_winidea = {
    .name = "winidea",
    .score = score,
    .open = open_trace,
    .close = close_trace,
    .parallel = true,
};
