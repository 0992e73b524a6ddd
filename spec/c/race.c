/*
** race.c - run all code that uses two threads, under ThreadSanitizer: writers
** through rings, the pipeline of tables, groups of tables in chunks, groups and
** statistics of calls, and profiles; and the handler of files that shrink.
**
**   race FOLDER
*/

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "bytes/map.h"
#include "formats/formats.h"
#include "formats/pprof/write_pprof.h"
#include "kernels/calls/calls.h"
#include "kernels/stages/stages.h"
#include "kernels/group/group.h"
#include "kernels/base/pipeline.h"
#include "kernels/statistics/statistics.h"
#include "model/dictionary/areas.h"
#include "model/dictionary/names.h"
#include "model/contexts/contexts.h"
#include "model/rows/abilities.h"
#include "model/rows/trace.h"
#include "recording.h"

#define LINES 300000u


/* {====== Writers ====== */

/* Record all lines, with new names in between, and read them again. */
static void write_lines (const char *path, pf_ring_mode mode) {
  recording r;
  pf_error error;
  char name[16], ring_path[520];
  uint64_t dropped = 0;
  snprintf(ring_path, sizeof ring_path, "%s.ring", path);
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  MUST(recording_open(&r, fd, ring_path, mode, PF_RING_MIN, &error) == PF_OK);
  for (uint64_t line = 1; line <= LINES; line++) {
    if (line % 1000 == 0) {
      snprintf(name, sizeof name, "M%llu.BR", (unsigned long long)line);
      r.module = pf_intern_text(r.dictionary, name);
      MUST(pf_writer_journal(r.writer, &error) == PF_OK);
    }
    dropped += !recording_put(&r, line);
    if (line % 50000 == 0)
      MUST(pf_writer_flush(r.writer, &error) == PF_OK);
  }
  const pf_writer_facts facts = pf_writer_facts_of(r.writer);
  MUST(facts.tried == LINES);
  MUST(mode == PF_RING_OVERWRITE || facts.lost == dropped);
  MUST(recording_close(&r, &error) == PF_OK);
  close(fd);
  found f = {.count = 0};
  const pf_bytes bytes = bytes_of(path, 100000000);
  found_add(&f, bytes);
  free((void *)(uintptr_t)bytes.at);
  MUST(f.count == LINES - facts.lost);
  MUST(access(ring_path, F_OK) != 0);
  unlink(path);
  printf("ring, mode %d: %llu of %u lines\n", (int)mode,
         (unsigned long long)f.count, LINES);
}


/* The disk becomes full: a later call must report it, and what was written must
   stay. */
static void fail_writing (void) {
  recording r;
  pf_error error;
  uint64_t line = 0;
  const int fd = open("/dev/full", O_WRONLY);
  if (fd < 0)
    return;
  MUST(recording_open(&r, fd, NULL, PF_RING_BLOCK, PF_RING_MIN, &error) ==
       PF_OK);
  while (recording_put(&r, ++line))
    MUST(line < 10 * LINES);
  MUST(pf_writer_failure(r.writer, &error) == PF_EIO);
  MUST(recording_close(&r, &error) == PF_EIO);
  close(fd);
  printf("full disk: %s\n", error.what);
}

/* }====== */


/* {====== The pipeline ====== */

typedef struct numbers {
  pf_reader reader;
  int64_t next;
} numbers;


static pf_status next_numbers (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  numbers *const n = (numbers *)(void *)self;
  (void)error;
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS && n->next < (int64_t)LINES)
    batch->columns[0].ints[batch->rows++] = n->next++;
  return batch->rows > 0 ? PF_MORE : PF_END;
}


static pf_status add_up (void *context, const pf_pull *pull,
                         const uint32_t *notes, pf_error *error) {
  int64_t *const sum = context;
  (void)notes;
  (void)error;
  for (size_t row = 0; row < pull->batch.rows; row++)
    *sum += pull->columns[0]->ints[row];
  return PF_OK;
}


/* A reader that adds areas while it reads, four of each name. */
static pf_status next_areas (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  numbers *const n = (numbers *)(void *)self;
  char text[24];
  (void)error;
  pf_batch_clear(batch);
  for (; batch->rows < PF_BATCH_ROWS && n->next < (int64_t)LINES; n->next++) {
    pf_area area = PF_AREA_NONE;
    snprintf(text, sizeof text, "a%lld", (long long)n->next / 4);
    area.name = pf_intern_text(self->dictionary, text);
    area.line = n->next;
    const uint32_t number = pf_area_add(self->dictionary, &area);
    MUST(number == (uint32_t)n->next);
    batch->columns[0].ids[batch->rows++] = number;
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


typedef struct shown_areas {
  pf_dictionary *dictionary;
  int64_t count;
} shown_areas;


static pf_status show_areas (void *context, const pf_pull *pull,
                             const uint32_t *notes, pf_error *error) {
  shown_areas *const shown = context;
  char text[24];
  (void)notes;
  (void)error;
  for (size_t row = 0; row < pull->batch.rows; row++, shown->count++) {
    const uint32_t number = pull->columns[0]->ids[row];
    const pf_bytes name = pf_text(shown->dictionary, PF_AREA, number);
    const int size =
        snprintf(text, sizeof text, "a%lld", (long long)shown->count / 4);
    MUST(name.size == (size_t)size && memcmp(name.at, text, name.size) == 0);
    MUST(pf_area_at(shown->dictionary, number)->line == shown->count);
  }
  return PF_OK;
}


static void pipe_areas (void) {
  static const pf_field field = {"area", PF_AREA, NULL};
  const pf_want want = {"area", PF_AREA, true};
  shown_areas shown = {pf_dictionary_new(), 0};
  pf_error error;
  numbers n = {.reader = {.fields = &field,
                          .nfields = 1,
                          .dictionary = shown.dictionary,
                          .next = next_areas}};
  const pf_pipeline pipeline = {
      .wants = &want, .nwants = 1, .process = show_areas, .context = &shown};
  MUST(pf_pipeline_run(&pipeline, &n.reader, &error) == PF_OK);
  MUST(shown.count == (int64_t)LINES);
  pf_dictionary_free(shown.dictionary);
  printf("pipeline: %u areas\n", LINES);
}


static void pipe_numbers (void) {
  static const pf_field field = {"n", PF_INT, NULL};
  const pf_want want = {"n", PF_INT, true};
  int64_t sum = 0;
  pf_error error;
  numbers n = {.reader = {.fields = &field,
                          .nfields = 1,
                          .dictionary = pf_dictionary_new(),
                          .next = next_numbers}};
  const pf_pipeline pipeline = {
      .wants = &want, .nwants = 1, .process = add_up, .context = &sum};
  MUST(pf_pipeline_run(&pipeline, &n.reader, &error) == PF_OK);
  MUST(sum == (int64_t)LINES * (LINES - 1) / 2);
  pf_dictionary_free(n.reader.dictionary);
  printf("pipeline: %u rows\n", LINES);
}

/* }====== */


/* {====== Groups in chunks ====== */

#define EVENTS 400000u
#define AREAS  5000u
#define PARTS  4

/* Events whose areas are new to every chunk. */
static pf_bytes make_events (void) {
  uint8_t *const bytes = malloc((size_t)EVENTS * 24);
  MUST(bytes != NULL);
  for (uint32_t i = 0; i < EVENTS; i++) {
    uint8_t *const at = bytes + (size_t)i * 24;
    pf_save32le(at, i * 7919 % AREAS);
    pf_save32le(at + 4, 3);
    pf_save64le(at + 8, 0);
    pf_save64le(at + 16, i);
  }
  return (pf_bytes){bytes, (size_t)EVENTS * 24};
}


/* Open readers of the chunks of a table. */
static void open_parts (pf_trace *trace, pf_reader **parts) {
  const pf_table *const table = &trace->tables[0];
  pf_error error;
  for (size_t i = 0; i < PARTS; i++) {
    pf_reader *reader;
    MUST(table->open(trace, table, &reader, &error) == PF_OK);
    MUST(reader->can->seek(reader, EVENTS / PARTS * i, &error) == PF_OK);
    MUST(pf_limit_open(reader, EVENTS / PARTS, 0, &parts[i], &error) == PF_OK);
    parts[PARTS + i] = reader;
  }
}


static void group_events (void) {
  static const pf_option version = {
      "bin_version", true, 0, {(const uint8_t *)"1.1", 3}};
  const pf_source source = {"main", "", make_events()};
  pf_trace trace = {.format = &pf_format_winidea,
                    .sources = &source,
                    .nsources = 1,
                    .options = &version,
                    .noptions = 1,
                    .dictionary = pf_dictionary_new(),
                    .notes = pf_notes_new()};
  pf_error error;
  pf_reader *parts[2 * PARTS], *whole, *group;
  pf_batch batch;
  MUST(pf_trace_open(&trace, &error) == PF_OK);
  const pf_table *const table = &trace.tables[0];
  const size_t area = pf_field_index(table->fields, table->nfields, "area");
  const pf_key key = {.name = "area", .column = area};
  const pf_type type = PF_AREA;
  const pf_aggregate sum = {/* of the first column, the time */
                            .name = "sum",
                            .function = PF_SUM,
                            .to = 1};
  MUST(table->open(&trace, table, &whole, &error) == PF_OK);
  MUST(pf_group_open(whole, &key, &type, 1, &sum, 1, &group, &error) == PF_OK);
  open_parts(&trace, parts);
  MUST(pf_group_split(group, parts, PARTS, &trace.strict) == PF_OK);
  MUST(pf_batch_open(&batch, group->fields, group->nfields, NULL) == PF_OK);
  size_t groups = 0;
  int64_t total = 0;
  while (group->next(group, &batch, &error) == PF_MORE) {
    groups += batch.rows;
    for (size_t i = 0; i < batch.rows; i++)
      total += batch.columns[1].ints[i];
  }
  MUST(groups == AREAS && total == (int64_t)EVENTS * (EVENTS - 1) / 2);
  pf_batch_close(&batch);
  group->close(group);
  whole->close(whole);
  for (size_t i = 0; i < 2 * PARTS; i++)
    parts[i]->close(parts[i]);
  pf_trace_close(&trace);
  pf_notes_free(trace.notes);
  pf_dictionary_free(trace.dictionary);
  free((void *)(uintptr_t)source.bytes.at);
  printf("group in parts: %u rows\n", EVENTS);
}

/* }====== */


/* {====== Groups of calls ====== */

/* A reader of calls of areas that it adds while it reads; time advances by one
   in each call. In the middle it reports that there are no more rows yet. */
typedef struct visits {
  pf_reader reader;
  uint32_t next, enter, leave;
  bool has_paused;
} visits;


static pf_status next_visits (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  visits *const v = (visits *)(void *)self;
  char text[24];
  (void)error;
  pf_batch_clear(batch);
  if (v->next >= EVENTS / 2 && !v->has_paused) {
    v->has_paused = true;
    return PF_AGAIN;
  }
  for (; batch->rows < PF_BATCH_ROWS && v->next < EVENTS; v->next++) {
    const size_t row = batch->rows++;
    pf_area area = PF_AREA_NONE;
    snprintf(text, sizeof text, "visit%u", v->next / 2 / 100);
    area.name = pf_intern_text(self->dictionary, text);
    batch->columns[0].ints[row] = v->next;
    batch->columns[1].ids[row] = v->next % 2 == 0 ? v->enter : v->leave;
    batch->columns[2].ids[row] = pf_area_add(self->dictionary, &area);
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


/* Open the visits. */
static void open_visits (visits *v) {
  static const pf_field fields[] = {{"time", PF_INT, NULL},
                                    {"event", PF_NAME, NULL},
                                    {"area", PF_AREA, NULL}};
  pf_dictionary *const dictionary = pf_dictionary_new();
  *v = (visits){.reader = {.fields = fields,
                           .nfields = 3,
                           .dictionary = dictionary,
                           .next = next_visits},
                .enter = pf_intern_text(dictionary, "enter"),
                .leave = pf_intern_text(dictionary, "leave")};
}


/* Read rows about the visits; each must have 100 in this column. */
static void check_visits (const visits *v, pf_reader *rows, size_t column,
                          const char *what) {
  pf_batch batch;
  pf_error error;
  pf_status status;
  size_t areas = 0;
  MUST(pf_batch_open(&batch, rows->fields, rows->nfields, NULL) == PF_OK);
  while ((status = rows->next(rows, &batch, &error)) != PF_END) {
    MUST(status == PF_MORE || (status == PF_AGAIN && areas == 0));
    areas += batch.rows;
    for (size_t i = 0; i < batch.rows; i++)
      MUST(batch.columns[column].ints[i] == 100);
  }
  MUST(v->has_paused && areas == EVENTS / 2 / 100);
  pf_batch_close(&batch);
  rows->close(rows);
  printf("%s of calls: %u events\n", what, EVENTS);
}


static void group_calls (void) {
  const pf_call_options options = {.outermost = true};
  const pf_type type = PF_AREA;
  visits v;
  pf_reader *calls, *group;
  pf_error error;
  open_visits(&v);
  MUST(pf_calls_open(&v.reader, &options, &calls, &error) == PF_OK);
  const pf_key key = {
      .name = "area",
      .column = pf_field_index(calls->fields, calls->nfields, "area")};
  const pf_aggregate sum = {
      .name = "sum",
      .function = PF_SUM,
      .column = pf_field_index(calls->fields, calls->nfields, "net"),
      .to = 1};
  MUST(pf_group_open(calls, &key, &type, 1, &sum, 1, &group, &error) == PF_OK);
  check_visits(&v, group, 1, "group");
  calls->close(calls);
  pf_dictionary_free(v.reader.dictionary);
}


static void sum_calls (void) {
  const pf_statistics_options options = {.calls = {.outermost = true},
                                         .threads = 2};
  visits v;
  pf_reader *rows;
  pf_error error;
  open_visits(&v);
  MUST(pf_statistics_open(&v.reader, &options, &rows, &error) == PF_OK);
  check_visits(&v, rows, pf_field_index(rows->fields, rows->nfields, "net"),
               "statistics");
  pf_dictionary_free(v.reader.dictionary);
}

/* }====== */


/* {====== Profiles ====== */

#define FUNCTIONS 300u
#define CONTEXTS  400000u

/* Contexts with random parents. */
static void make_contexts (pf_contexts *contexts, pf_dictionary *dictionary) {
  uint32_t frames[FUNCTIONS], seed = 1;
  char name[16];
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    pf_area frame = PF_AREA_NONE;
    snprintf(name, sizeof name, "f%u", i);
    frame.name = pf_intern_text(dictionary, name);
    frames[i] = pf_area_add(dictionary, &frame);
  }
  MUST(pf_contexts_open(contexts, dictionary) == PF_OK);
  const size_t metric = pf_metric_of(contexts, "time", "ns");
  for (uint32_t i = 0; i < CONTEXTS; i++) {
    seed = seed * 1664525 + 1013904223;
    const uint32_t parent = (uint32_t)((uint64_t)seed * contexts->count >> 32);
    const uint32_t node =
        pf_context_of(contexts, parent, frames[seed % FUNCTIONS]);
    pf_context_add(contexts, node, metric, 1);
  }
}


/* Write a file, compress it in two threads, and unpack the same bytes. */
static void write_profile (const pf_contexts *contexts, pf_sink *plain,
                           pf_sink *packed) {
  pprof_header head;
  pprof_header_open(&head);
  const pprof_attributes facts = {&head, NULL};
  pf_map *map;
  pf_error error;
  MUST(pf_sink_open(plain, -1) == PF_OK && pf_sink_open(packed, -1) == PF_OK);
  MUST(pf_pprof_write(contexts, &facts, plain, &error) == PF_OK);
  MUST(pf_pprof_write_gzip(contexts, &facts, packed, &error) == PF_OK);
  MUST(pf_map_gzip(pf_sink_bytes(packed), UINT64_MAX, &map, &error) == PF_OK);
  const pf_bytes a = pf_sink_bytes(plain), b = pf_map_bytes(map);
  MUST(a.size == b.size && memcmp(a.at, b.at, a.size) == 0);
  pprof_header_close(&head);
  pf_map_close(map);
}


/* Bulk read of stacks from several files in two threads. */
static void gather_profiles (void) {
  pf_dictionary *const dictionary = pf_dictionary_new();
  pf_contexts contexts, sum;
  pf_sink plain, packed;
  pf_error error;
  pf_trace traces[3];
  pf_concat_input parts[3];
  pf_reader *joined;
  make_contexts(&contexts, dictionary);
  write_profile(&contexts, &plain, &packed);
  const pf_source source = {"main", "", pf_sink_bytes(&plain)};
  for (size_t i = 0; i < 3; i++) {
    pf_trace *const t = &traces[i];
    *t = (pf_trace){.format = &pf_format_pprof,
                    .sources = &source,
                    .nsources = 1,
                    .dictionary = dictionary,
                    .notes = pf_notes_new()};
    parts[i] = (pf_concat_input){.reader = NULL};
    MUST(pf_trace_open(t, &error) == PF_OK);
    MUST(t->tables[1].open(t, &t->tables[1], &parts[i].reader, &error) ==
         PF_OK);
  }
  MUST(pf_concat_open(parts, 3, NULL, 0, SIZE_MAX, &joined, &error) == PF_OK);
  MUST(pf_contexts_open(&sum, dictionary) == PF_OK);
  const pf_stack_target to = {.contexts = &sum};
  MUST(joined->can->read_stacks(joined, &to, &error) == PF_OK);
  MUST(sum.count == contexts.count && sum.nmetrics == 1);
  int64_t total = 0;
  for (uint32_t i = 0; i < sum.count; i++)
    total += sum.weights[0][i];
  MUST(total == 3 * (int64_t)CONTEXTS);
  joined->close(joined);
  for (size_t i = 0; i < 3; i++) {
    parts[i].reader->close(parts[i].reader);
    pf_trace_close(&traces[i]);
    pf_notes_free(traces[i].notes);
  }
  pf_contexts_close(&sum);
  pf_contexts_close(&contexts);
  pf_sink_close(&plain);
  pf_sink_close(&packed);
  pf_dictionary_free(dictionary);
  printf("profiles gathered: %u samples each\n", CONTEXTS);
}

/* }====== */


/* {====== Files that shrink ====== */

#define PAGES 400

static atomic_bool all_read;

/* Opens and closes maps of a file until the other thread is done. */
static void *churn (void *path) {
  pf_map *open_maps[100] = {NULL};
  pf_error error;
  for (unsigned i = 0; !atomic_load(&all_read); i = (i * 21 + 17) % 100) {
    pf_map_close(open_maps[i]);
    MUST(pf_map_open(path, UINT64_MAX, &open_maps[i], &error) == PF_OK);
  }
  for (unsigned i = 0; i < 100; i++)
    pf_map_close(open_maps[i]);
  return NULL;
}


/* Read files that are empty by then, while another thread changes the list that
   the handler reads. */
static void shrink_files (char *path, char *other_path) {
  pthread_t thread;
  pf_error error;
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  const int other = open(other_path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  MUST(ftruncate(other, 8 * 4096) == 0);
  MUST(pthread_create(&thread, NULL, churn, other_path) == 0);
  for (int round = 0; round < 50; round++) {
    pf_map *map;
    MUST(ftruncate(fd, PAGES * 4096) == 0);
    MUST(pf_map_open(path, UINT64_MAX, &map, &error) == PF_OK);
    MUST(!pf_map_faulted(map));
    MUST(ftruncate(fd, 0) == 0);
    for (int i = 0; i < PAGES; i++)
      MUST(pf_map_bytes(map).at[i * 4096] == 0);
    MUST(pf_map_faulted(map));
    pf_map_close(map);
  }
  atomic_store(&all_read, true);
  pthread_join(thread, NULL);
  close(fd);
  close(other);
  printf("files shrunk: %d pages lost\n", 50 * PAGES);
}

/* }====== */


int main (int argc, char **argv) {
  char path[512], other_path[512];
  MUST(argc == 2);
  snprintf(path, sizeof path, "%s/race.br", argv[1]);
  for (int mode = PF_RING_BLOCK; mode <= PF_RING_OVERWRITE; mode++)
    write_lines(path, (pf_ring_mode)mode);
  fail_writing();
  pipe_numbers();
  pipe_areas();
  group_events();
  group_calls();
  sum_calls();
  gather_profiles();
  snprintf(other_path, sizeof other_path, "%s/race.other", argv[1]);
  shrink_files(path, other_path);
  return 0;
}
