/*
** fuzz_decode.c - decode random bytes as each format: opening and reading may
** fail, but only with a message, and without access outside the bytes. Every
** format in PF_FORMATS is fuzzed.
*/

#include "fuzz.h"
#include "kernels/btf/btf.h"
#include "kernels/calls/calls.h"
#include "kernels/chains/chains.h"
#include "kernels/group/group.h"
#include "kernels/spans/load.h"
#include "kernels/stages/stages.h"
#include "kernels/tasks/jobs.h"
#include "model/contexts/contexts.h"
#include "model/rows/abilities.h"

/* Options that reach other code in the decoders. The size of an input selects
   the options; formats ignore those that they do not know. */
#define INT(name, value)  \
  {                       \
    name, false, value, { \
      NULL, 0             \
    }                     \
  }
#define TEXT(name, value)                         \
  {                                               \
    name, true, 0, {                              \
      (const uint8_t *)(value), sizeof(value) - 1 \
    }                                             \
  }

static const pf_option choices[][3] = {
    {INT("address_size", 4)},
    {INT("address_size", 8), TEXT("byte_order", "big")},
    {TEXT("dialect", "bsd"), INT("address_size", 4),
     TEXT("byte_order", "little")},
    {TEXT("dialect", "4.4bsd"), INT("counter_bits", -32)},
    {INT("counter_bits", 64), INT("arc_count_bits", 32), INT("rate", 7)},
    {TEXT("dialect", "ld-profile"), INT("extended_precision", 1)},
    {INT("elf_class", 4), TEXT("elf_order", "big")},
    {TEXT("dialect", "apple"), INT("counter_bits", 8)},
    {TEXT("backtrace_order", "outer_first"), TEXT("semantics", "inclusive"),
     INT("max_depth", 2)},
    {TEXT("offset_unit", "insn"), INT("zeros", 1)},
    {TEXT("dialect", "dcpicat"), INT("zeros", 1), INT("cpuspeed", 333)},
    {TEXT("dialect", "pdb"), TEXT("byte_order", "big"), INT("insn_size", 1)},
    {TEXT("deleted", "show"), TEXT("code_page", "CP932")},
    {TEXT("deleted", "only"), TEXT("memo_form", "dbt3"),
     TEXT("code_page", "MAZOVIA")},
    {TEXT("deleted", "show"), TEXT("memo_form", "dbt4"),
     TEXT("code_page", "CP1250")},
    {INT("live", 1), TEXT("deleted", "show"), TEXT("code_page", "CP850")},
    {INT("record_size", 20), TEXT("bin_version", "1.0"),
     INT("swap_suspend_resume", 1)},
    {TEXT("input_type", "F64"), TEXT("mapping_base", "16"),
     TEXT("timeline_base", "10")},
    {TEXT("context_area", "20000000"), TEXT("dialect", "bin")},
    {TEXT("context_area", "20000000"), TEXT("timeline_base", "16")},
    {INT("tasks", 0), TEXT("detail", "detail")},
    {TEXT("context_area", "*"),
     TEXT("timeline_format", "%HANDLE%,%EVENT%,%VALUE%,%TIME%"),
     TEXT("handle_format", "%HANDLE%,%NAME%,%VALUE%,%FILE%")},
    {TEXT("form", "deldbe"), TEXT("separator", "|"),
     TEXT("map", "op=1,call=2")},
    {TEXT("form", "foxdbe"), TEXT("map", "op=3,call=4,time=2,params=6")},
};

#define NCHOICES (sizeof choices / sizeof choices[0])


/* A digest of all values, so that the compiler keeps every load. */
static volatile uint64_t digest;


/* Add a value to the digest, and check that ids are in the dictionary. */
static void look_at (const pf_column *column, size_t row,
                     const pf_dictionary *dictionary) {
  if (column->type == PF_NAME && !pf_is_missing(column, row))
    MUST(column->ids[row] < pf_names_count(dictionary));
  if (column->type != PF_BYTES) {
    const size_t size = pf_type_size(column->type);
    const uint8_t *const at = (const uint8_t *)column->data + row * size;
    for (size_t i = 0; i < size; i++)
      digest += at[i];
    return;
  }
  const pf_bytes bytes = column->bytes[row];
  for (size_t i = 0; i < bytes.size; i++)
    digest += bytes.at[i];
}


static void look_at_rows (const pf_reader *reader, const pf_batch *batch) {
  for (size_t i = 0; i < reader->nfields; i++)
    for (size_t row = 0; row < batch->rows; row++)
      if (batch->columns[i].data != NULL)
        look_at(&batch->columns[i], row, reader->dictionary);
}


/* Read to the end; returns the number of rows, or -1 when reading failed. */
static int64_t read_all (pf_reader *reader, pf_batch *batch) {
  pf_error error = {.status = PF_OK};
  int64_t rows = 0;
  pf_status status;
  while ((status = reader->next(reader, batch, &error)) == PF_MORE) {
    MUST(batch->rows > 0 && batch->rows <= PF_BATCH_ROWS);
    look_at_rows(reader, batch);
    rows += (int64_t)batch->rows;
  }
  MUST(status > 0 || (error.status == status && error.what[0] != '\0'));
  return status < 0 ? -1 : rows;
}


/* Returns the sum of a column over all rows. */
static uint64_t sum_of (pf_reader *reader, pf_batch *batch, size_t column) {
  pf_error error = {.status = PF_OK};
  uint64_t sum = 0;
  MUST(reader->can->seek(reader, 0, &error) == PF_OK);
  while (reader->next(reader, batch, &error) == PF_MORE)
    for (size_t row = 0; row < batch->rows; row++)
      sum += (uint64_t)batch->columns[column].ints[row];
  return sum;
}


/* Skipping rows with 0 must not change the sum of a count. */
static void check_omit_zeros (pf_reader *reader, pf_batch *batch) {
  const size_t count = pf_field_index(reader->fields, reader->nfields, "count");
  if (count == reader->nfields || pf_can(reader)->omit_zeros == NULL ||
      batch->columns[count].data == NULL)
    return;
  const uint64_t sum = sum_of(reader, batch, count);
  reader->can->omit_zeros(reader, count);
  MUST(sum_of(reader, batch, count) == sum);
}


/* After a seek to the middle, the other half of the rows must follow. */
static void check_seek (pf_reader *reader, pf_batch *batch, int64_t rows) {
  pf_error error = {.status = PF_OK};
  if (pf_can(reader)->seek == NULL)
    return;
  MUST(reader->can->seek(reader, (uint64_t)rows / 2, &error) == PF_OK);
  MUST(read_all(reader, batch) == rows - rows / 2);
}


/* A bulk read of stacks must have the same sum as the rows. */
static void check_gathered (pf_reader *reader, uint64_t sum) {
  pf_contexts contexts;
  pf_error error = {.status = PF_OK};
  const pf_stack_target to = {.contexts = &contexts};
  uint64_t total = 0;
  MUST(pf_contexts_open(&contexts, reader->dictionary) == PF_OK);
  const pf_status status = reader->can->read_stacks(reader, &to, &error);
  MUST(status == PF_OK || error.what[0] != '\0');
  for (size_t m = 0; m < contexts.nmetrics; m++)
    for (uint32_t i = 0; i < contexts.count; i++) {
      MUST(i == 0 || contexts.parents[i] < i);
      total += (uint64_t)contexts.weights[m][i];
    }
  MUST(status != PF_OK || contexts.has_overflowed || total == sum);
  pf_contexts_close(&contexts);
}


/* Check the bulk read of a table with columns of weights. */
static void gather (pf_trace *trace, const pf_table *table) {
  pf_error error = {.status = PF_OK};
  pf_reader *reader = NULL;
  pf_batch batch;
  if (table->open(trace, table, &reader, &error) != PF_OK)
    return;
  const size_t weight =
      pf_field_index(reader->fields, reader->nfields, "weight");
  if (pf_can(reader)->read_stacks != NULL && weight < reader->nfields) {
    MUST(pf_batch_for(&batch, reader, NULL) == PF_OK);
    uint64_t sum = 0;
    while (reader->next(reader, &batch, &error) == PF_MORE)
      for (size_t row = 0; row < batch.rows; row++)
        sum += (uint64_t)batch.columns[weight].ints[row];
    check_gathered(reader, sum);
    pf_batch_close(&batch);
  }
  reader->close(reader);
}


/* Read the columns of a table whose number modulo `part` is `rest`. */
static void read_table (pf_trace *trace, const pf_table *table, size_t part,
                        size_t rest) {
  pf_error error = {.status = PF_OK};
  pf_reader *reader = NULL;
  pf_batch batch;
  if (table->open(trace, table, &reader, &error) != PF_OK)
    return;
  bool *const wanted = malloc(table->nfields);
  MUST(wanted != NULL);
  for (size_t i = 0; i < table->nfields; i++)
    wanted[i] = i % part == rest;
  MUST(pf_batch_for(&batch, reader, wanted) == PF_OK);
  free(wanted);
  const int64_t rows = read_all(reader, &batch);
  MUST(rows < 0 || table->rows < 0 || rows == table->rows);
  if (rows >= 0) {
    check_seek(reader, &batch, rows);
    check_omit_zeros(reader, &batch);
  }
  pf_batch_close(&batch);
  reader->close(reader);
}


/* {====== Stages over events ====== */

static pf_status open_btf (pf_reader *events, pf_reader **made,
                           pf_error *error) {
  const pf_btf_options options = {
      .close = true, .lines = true, .stimuli = true, .activations = true};
  return pf_btf_open(events, &options, made, error);
}


static pf_status open_load (pf_reader *events, pf_reader **made,
                            pf_error *error) {
  const pf_load_options options = {-1000, 1000000, 77777, false};
  return pf_load_open(events, &options, made, error);
}


static pf_status open_calls (pf_reader *events, pf_reader **made,
                             pf_error *error) {
  const pf_call_options options = {.edges = true, .max_depth = 9};
  return pf_calls_open(events, &options, made, error);
}


static pf_status open_range (pf_reader *events, pf_reader **made,
                             pf_error *error) {
  return pf_range_open(events, 0, 1000, INT64_MAX / 2, made, error);
}


/* Group events by area; in all tables of events the first column is the time,
   the third one the area. */
static pf_status open_group (pf_reader *events, pf_reader **made,
                             pf_error *error) {
  const pf_key key = {.name = "area", .column = 2};
  const pf_aggregate aggregates[] = {
      {.name = "n", .function = PF_COUNT, .column = PF_NO_COLUMN, .to = 1},
      {.name = "last", .function = PF_LAST, .to = 2}};
  return pf_group_open(events, &key, &events->fields[2].type, 1, aggregates, 2,
                       made, error);
}


/* The value before and after, by area. */
static pf_status open_lag (pf_reader *events, pf_reader **made,
                           pf_error *error) {
  const pf_key key = {.name = "area", .column = 2};
  return pf_lag_open(events, "other", events->nfields - 1, false, &key, 1, made,
                     error);
}


static pf_status open_next (pf_reader *events, pf_reader **made,
                            pf_error *error) {
  const pf_key key = {.name = "area", .column = 2};
  return pf_lag_open(events, "other", events->nfields - 1, true, &key, 1, made,
                     error);
}


/* Chains of any two events, which are closed with the process. */
static pf_status open_chains (pf_reader *events, pf_reader **made,
                              pf_error *error) {
  static pf_pattern *pattern;
  static pf_chain_step steps[2];
  static const pf_chain chains[] = {
      {.name = "a", .steps = steps, .nsteps = 2, .has_bound = true, .bound = 9},
      {.name = "b", .steps = steps, .nsteps = 2, .is_age = true}};
  if (pattern == NULL && pf_pattern_open((pf_bytes){(const uint8_t *)".", 1},
                                         &pattern, error) != PF_OK)
    return PF_ENOMEM;
  steps[0] = (pf_chain_step){.pattern = pattern, .kind = PF_EVENT_LEAVE};
  steps[1] = (pf_chain_step){.pattern = pattern, .kind = PF_EVENT_ENTER};
  const pf_chain_options options = {chains, 2, INT64_MIN, INT64_MAX};
  return pf_chains_open(events, &options, made, error);
}


static const pf_state_name states[] = {
    {"ready", PF_TASK_READY},     {"running", PF_TASK_RUNNING},
    {"waiting", PF_TASK_WAITING}, {"terminated", PF_TASK_TERMINATED},
    {"1", PF_TASK_RUNNING},       {"2", PF_TASK_TERMINATED}};
static const char *const variables[] = {"v"};
static const pf_jobs_options jobs = {.names = states,
                                     .count = 6,
                                     .running = variables,
                                     .nrunning = 1,
                                     .from = INT64_MIN,
                                     .to = INT64_MAX};


static pf_status open_jobs (pf_reader *events, pf_reader **made,
                            pf_error *error) {
  return pf_jobs_open(events, &jobs, made, error);
}


static pf_status open_tasks (pf_reader *events, pf_reader **made,
                             pf_error *error) {
  return pf_task_calls_open(events, &jobs, made, error);
}


/* Read all rows and columns. */
static void read_whole (pf_reader *reader) {
  pf_batch batch;
  bool *const wanted = calloc(reader->nfields, 1);
  MUST(wanted != NULL);
  memset(wanted, true, reader->nfields);
  MUST(pf_batch_for(&batch, reader, wanted) == PF_OK);
  free(wanted);
  (void)read_all(reader, &batch);
  pf_batch_close(&batch);
}


/* Read all rows of a stage over a table. */
static void read_stage (pf_trace *trace, const pf_table *table,
                        pf_status (*open)(pf_reader *, pf_reader **,
                                          pf_error *)) {
  pf_error error = {.status = PF_OK};
  pf_reader *events = NULL, *made = NULL;
  if (table->open(trace, table, &events, &error) != PF_OK)
    return;
  if (open(events, &made, &error) == PF_OK) {
    read_whole(made);
    made->close(made);
  }
  events->close(events);
}


/* Merge a table with itself, and join it by area with the result. */
static void read_joined (pf_trace *trace, const pf_table *table) {
  static const size_t area = 2, column = 3;
  pf_error error = {.status = PF_OK};
  pf_reader *events[3] = {NULL}, *merged = NULL, *joined = NULL;
  size_t count = 0;
  while (count < 3 &&
         table->open(trace, table, &events[count], &error) == PF_OK)
    count++;
  pf_asof asof = {.left_keys = &area,
                  .right_keys = &area,
                  .nkeys = 1,
                  .columns = &column,
                  .count = 1,
                  .within = 1000};
  if (count == 3 && pf_merge_open(events[0], events[1], 0, 0, NULL, &merged,
                                  &error) == PF_OK) {
    asof.right = merged;
    if (pf_asof_open(events[2], &asof, &joined, &error) == PF_OK) {
      read_whole(joined);
      joined->close(joined);
    }
    merged->close(merged);
  }
  for (size_t i = 0; i < count; i++)
    events[i]->close(events[i]);
}


static void read_stages (pf_trace *trace, const pf_table *table) {
  if (strcmp(table->name, "events") != 0)
    return;
  read_stage(trace, table, open_btf);
  read_stage(trace, table, open_load);
  read_stage(trace, table, open_calls);
  read_stage(trace, table, open_range);
  read_stage(trace, table, open_group);
  read_stage(trace, table, open_lag);
  read_stage(trace, table, open_next);
  read_stage(trace, table, open_chains);
  read_stage(trace, table, open_jobs);
  read_stage(trace, table, open_tasks);
  read_joined(trace, table);
}

/* }====== */


/* Open a trace and read all tables: all columns, or every second one. */
static void read_trace (const pf_format *format, pf_bytes bytes,
                        const pf_option *options, size_t noptions,
                        bool strict) {
  fuzz_trace fuzz;
  if (fuzz_open(&fuzz, format, bytes, options, noptions, strict) == PF_OK)
    for (size_t i = 0; i < fuzz.trace.ntables; i++) {
      read_table(&fuzz.trace, &fuzz.trace.tables[i], strict ? 2 : 1, strict);
      if (strict)
        continue;
      read_stages(&fuzz.trace, &fuzz.trace.tables[i]);
      gather(&fuzz.trace, &fuzz.trace.tables[i]);
    }
  fuzz_close(&fuzz);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const pf_bytes bytes = {data, size};
  const pf_bytes head = {data, size < 65536 ? size : 65536};
  const pf_option *const chosen = choices[size % NCHOICES];
  size_t count, nchosen = 0;
  while (nchosen < 3 && chosen[nchosen].name != NULL)
    nchosen++;
  const pf_format *const *const formats = pf_formats(&count);
  for (size_t i = 0; i < count; i++) {
    const int score = formats[i]->score(head, size);
    MUST(score >= 0 && score <= 100);
    read_trace(formats[i], bytes, NULL, 0, false);
    read_trace(formats[i], bytes, NULL, 0, true);
    read_trace(formats[i], bytes, chosen, nchosen, false);
  }
  return 0;
}
