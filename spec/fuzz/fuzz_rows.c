/*
** fuzz_rows.c - profiles from any bytes as rows of ClickHouse: the answers of
** servers that have these rows give the same profile and the same weights of
** functions, and answers with a changed byte, or of any bytes, do no harm. Hashes
** are short here, so that some stacks have the same key.
*/

#include "fuzz.h"
#include "store/run_rows.h"

#define RUNS      2
#define NODES_MAX 400

static const char *const metrics[] = {"time", "calls"};


/* {====== Hashes, in place of those of hasher.c ====== */

static uint64_t mixed (uint64_t hash, const void *bytes, size_t size) {
  const uint8_t *const p = bytes;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ p[i]) * 0x100000001b3;
  return hash;
}


static pf_hash short_hash (uint64_t hash) {
  hash ^= hash >> 32;
  return pf_hash_of_words(hash >> 8 & 0x70fff, (hash & 0xff) + 1);
}


pf_hash pf_hash_frame (const pf_dictionary *dictionary, const pf_area *frame) {
  const pf_bytes name = pf_name(dictionary, frame->name);
  uint64_t hash = mixed(14695981039346656037u, name.at, name.size);
  if (frame->file != PF_NO_NAME) {
    const pf_bytes file = pf_name(dictionary, frame->file);
    hash = mixed(hash + 1, file.at, file.size);
  }
  return short_hash(mixed(hash, &frame->line, sizeof frame->line));
}


pf_hash pf_hash_stack (const pf_hash *parent, const pf_hash *frame) {
  return short_hash(
      mixed(mixed(1, parent, sizeof *parent), frame, sizeof *frame));
}


uint64_t pf_hash_metric (const char *name, const char *unit) {
  return name[0] + (uint64_t)unit[0] * 256;
}

/* }====== */


static void open_profile (pf_contexts *contexts, pf_dictionary *dictionary) {
  MUST(dictionary != NULL && pf_contexts_open(contexts, dictionary) == PF_OK);
  for (size_t m = 0; m < 2; m++)
    MUST(pf_metric_of(contexts, metrics[m], "x") == m);
}


/* Read a profile: caller, function and weight of each node, and of the root. */
static void read_profile (pf_contexts *contexts, const uint8_t *data,
                          size_t size) {
  pf_dictionary *const dictionary = contexts->dictionary;
  for (size_t i = 0; i + 4 <= size && contexts->count < NODES_MAX; i += 4) {
    pf_area area = PF_AREA_NONE;
    const char name[2] = {'a', (char)(data[i + 1] & 31)};
    area.name = pf_intern(dictionary, (pf_bytes){(const uint8_t *)name, 2});
    area.file = data[i + 1] & 32 ? area.name : PF_NO_NAME;
    area.line = data[i + 1] >> 6;
    const uint32_t node =
        pf_context_of(contexts, contexts->count - 1 - data[i] % contexts->count,
                      pf_area_add(dictionary, &area));
    MUST(node != PF_NO_CONTEXT);
    pf_context_add(
        contexts, node, data[i + 3] >> 7,
        (int64_t)((uint64_t)(int8_t)data[i + 2] << (data[i + 3] & 63)));
  }
  if (size > 0)
    pf_context_add(contexts, 0, data[0] & 1, (int8_t)data[size - 1]);
}


/* Two functions or stacks of a profile, with weights or not, that have one key. */
static bool has_collision (const pf_contexts *c) {
  static pf_hash stacks[NODES_MAX + 1], frames[NODES_MAX + 1];
  stacks[0] = pf_hash_of_words(0, 0);
  for (uint32_t i = 1; i < c->count; i++) {
    frames[i] =
        pf_hash_frame(c->dictionary, pf_area_at(c->dictionary, c->frames[i]));
    stacks[i] = pf_hash_stack(&stacks[c->parents[i]], &frames[i]);
    for (uint32_t k = 1; k < i; k++)
      if ((memcmp(&frames[i], &frames[k], sizeof *frames) == 0 &&
           c->frames[i] != c->frames[k]) ||
          (memcmp(stacks[i].bytes + 6, stacks[k].bytes + 6, 10) == 0))
        return true;
  }
  return false;
}


/* {====== The servers ====== */

static pf_bytes rows_of (const pf_run_rows *rows, size_t shard, size_t table) {
  const pf_row_bytes *const b = &rows->tables[shard * PF_ROW_TABLES + table];
  return (pf_bytes){b->at, b->size};
}


/* Take the next row of cells. */
static bool next_cells (pf_cursor *cursor, uint64_t *metric, pf_bytes parts[4],
                        uint64_t *count) {
  static const size_t sizes[] = {2, 8, 4, 4};
  pf_bytes head;
  if (pf_left(cursor) == 0)
    return false;
  MUST(pf_take(cursor, 40, &head));
  *metric = pf_load64le(head.at);
  for (size_t i = 0; i < 4; i++)
    MUST(pf_take_varint(cursor, count) &&
         pf_take(cursor, *count * sizes[i], &parts[i]));
  return true;
}


/* Answer a query for sums: each cell is a row, unless two have one lo. */
static pf_status answer_sums (pf_run_sums *sums, const pf_run_rows *rows) {
  pf_error error;
  pf_bytes parts[4];
  uint64_t metric, count;
  pf_status status = PF_OK;
  for (size_t s = 0; s < rows->nshards; s++) {
    pf_cursor cursor = pf_cursor_over(rows_of(rows, s, PF_CELL_ROWS), false);
    while (next_cells(&cursor, &metric, parts, &count))
      for (size_t i = 0; i < count && status == PF_OK; i++) {
        uint8_t row[PF_SUM_SIZE];
        pf_save64le(row, (uint64_t)parts[0].at[2 * i] |
                             (uint64_t)parts[0].at[2 * i + 1] << 8);
        memcpy(row + 8, parts[1].at + 8 * i, 8);
        pf_save64le(row + 16, pf_load32le(parts[3].at + 4 * i));
        pf_save64le(row + 24,
                    (uint64_t)(int32_t)pf_load32le(parts[2].at + 4 * i));
        MUST(pf_run_sums_are_clear((pf_bytes){row, sizeof row}));
        status = pf_run_sums_add(sums, metric != pf_hash_metric("time", "x"),
                                 (pf_bytes){row, sizeof row}, &error);
      }
  }
  return status;
}


/* Take rows of a table; the byte at `at` is changed by an exclusive or. */
static pf_status take (pf_run_sums *sums, pf_bytes rows, size_t table,
                       bool callers, size_t at, uint8_t change) {
  pf_error error = {.status = PF_OK};
  uint8_t *const copy = malloc(rows.size + 1);
  MUST(copy != NULL);
  if (rows.size > 0)
    memcpy(copy, rows.at, rows.size);
  copy[at % (rows.size + 1)] ^= change;
  const pf_bytes bytes = {copy, rows.size};
  const pf_status status =
      table == PF_FRAME_ROWS
          ? pf_run_sums_take_frames(sums, bytes, &error)
          : pf_run_sums_take_stacks(sums, bytes, callers, &error);
  MUST(status == PF_OK || (status == PF_EFORMAT && error.what[0] != '\0'));
  free(copy);
  return status;
}


/* Answer the query for stacks: those with the words that are asked for. */
static pf_status answer_stacks (pf_run_sums *sums, const pf_run_rows *rows) {
  const uint64_t *words;
  pf_status status = PF_OK;
  for (size_t n; status == PF_OK && (n = pf_run_sums_ask(sums, &words)) > 0;) {
    uint64_t *const wanted = malloc(n * sizeof *wanted);
    MUST(wanted != NULL);
    memcpy(wanted, words, n * sizeof *wanted);
    for (size_t s = 0; s < rows->nshards; s++) {
      pf_cursor cursor = pf_cursor_over(rows_of(rows, s, PF_STACK_ROWS), false);
      while (pf_left(&cursor) > 0 && status == PF_OK) {
        pf_bytes head, callers;
        uint64_t count;
        MUST(pf_take(&cursor, 48, &head) && pf_take_varint(&cursor, &count) &&
             count <= PF_CALLERS_MAX && pf_take(&cursor, 8 * count, &callers));
        for (size_t i = 0; i < n && status == PF_OK; i++)
          if (wanted[i] == pf_load64le(head.at + 8))
            status = take(sums, (pf_bytes){head.at, 48 + 1 + callers.size},
                          PF_STACK_ROWS, true, 0, 0);
      }
    }
    free(wanted);
  }
  for (size_t s = 0; s < rows->nshards && status == PF_OK; s++)
    status =
        take(sums, rows_of(rows, s, PF_FRAME_ROWS), PF_FRAME_ROWS, true, 0, 0);
  return status;
}

/* }====== */


/* The sums have the nodes and weights of all runs. */
static void check_sum (const pf_contexts *c, pf_contexts *sum) {
  static uint32_t nodes[NODES_MAX + 1];
  static bool needed[NODES_MAX + 1];
  const uint32_t count = sum->count;
  memset(needed, 0, sizeof needed);
  for (uint32_t i = c->count; i-- > 1;) {
    needed[i] |= pf_context_has_weight(c, i, PF_NO_METRIC);
    needed[c->parents[i]] |= needed[i];
  }
  needed[0] = true;
  for (uint32_t i = 0; i < c->count; i++) {
    if (!needed[i])
      continue;
    nodes[i] =
        i == 0 ? 0 : pf_context_of(sum, nodes[c->parents[i]], c->frames[i]);
    MUST(nodes[i] < count);
    for (size_t m = 0; m < 2; m++) {
      bool overflow;
      const int64_t w = c->weights[m][i];
      MUST(sum->weights[m][nodes[i]] == pf_weight_add(w, w, &overflow));
    }
  }
}


/* The functions of each run, from its cells, have the weights of the profile. */
static void check_functions (const pf_contexts *c, pf_run_sums *sums,
                             const pf_run_rows *rows) {
  pf_error error;
  MUST(pf_run_sums_name(sums, &error) == PF_OK &&
       pf_run_sums_begin(sums, RUNS, &error) == PF_OK);
  for (size_t s = 0; s < rows->nshards; s++) {
    const pf_bytes cells = rows_of(rows, s, PF_CELL_ROWS);
    pf_cursor cursor = pf_cursor_over(cells, false);
    while (pf_left(&cursor) > 0) {
      pf_bytes head;
      MUST(pf_take(&cursor, 40, &head) &&
           pf_run_sums_add_cells(sums, head.at[8], &cursor, &error) == PF_OK);
    }
  }
  const uint32_t count = sums->names.count;
  pf_wide *const self = calloc(count + 1, sizeof *self);
  MUST(self != NULL);
  for (uint32_t i = 1; i < c->count; i++) {
    const uint32_t function = pf_id_table_find(
        &sums->names, pf_area_name(c->dictionary, c->frames[i]));
    MUST(function < count || !pf_context_has_weight(c, i, PF_NO_METRIC));
    for (size_t m = 0; m < 2 && function < count; m++)
      self[function] += c->weights[m][i];
  }
  self[count] = (pf_wide)c->weights[0][0] + c->weights[1][0];
  for (uint32_t i = 0; i < RUNS * (count + 1); i++)
    MUST(sums->self[i] == self[i % (count + 1)]);
  free(self);
}


/* Read what was written, with one byte of a table changed. */
static void check_damage (const pf_contexts *c, const pf_run_rows *rows,
                          const uint8_t *data, size_t size) {
  pf_contexts sum;
  pf_run_sums sums;
  pf_error error = {.status = PF_OK};
  open_profile(&sum, c->dictionary);
  pf_run_sums_open(&sums, &sum);
  MUST(answer_sums(&sums, rows) == PF_OK);
  pf_status status = pf_run_sums_add(&sums, 1, (pf_bytes){data, size}, &error);
  MUST(status == (size % PF_SUM_SIZE == 0 ? PF_OK : PF_EFORMAT));
  for (size_t s = 0; s < rows->nshards; s++) {
    const size_t at = size > 5 ? data[3] + (size_t)data[4] * 256 : 0;
    (void)take(&sums, rows_of(rows, s, PF_STACK_ROWS), PF_STACK_ROWS, true, at,
               size > 5 ? data[5] : 0);
    (void)take(&sums, rows_of(rows, s, PF_FRAME_ROWS), PF_FRAME_ROWS, true, at,
               size > 5 ? data[5] : 0);
  }
  (void)take(&sums, (pf_bytes){data, size}, PF_STACK_ROWS, true, 0, 0);
  (void)take(&sums, (pf_bytes){data, size}, PF_FRAME_ROWS, true, 0, 0);
  if (pf_run_sums_name(&sums, &error) == PF_OK) {
    pf_cursor cursor = pf_cursor_over((pf_bytes){data, size}, false);
    bool *const has = calloc(sums.nsums + sums.names.count + 2, sizeof *has);
    MUST(has != NULL);
    MUST(pf_run_sums_begin(&sums, 1, &error) == PF_OK);
    (void)pf_run_sums_add_cells(&sums, 0, &cursor, &error);
    (void)pf_run_sums_add_group(&sums, 0, (pf_bytes){data, size}, &error);
    (void)pf_run_sums_having(&sums, has, true, has + sums.names.count + 1,
                             &error);
    free(has);
  }
  status = pf_run_sums_finish(&sums, &error);
  MUST(status == PF_OK || status == PF_EFORMAT);
  pf_run_sums_close(&sums);
  pf_contexts_close(&sum);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  pf_contexts contexts, sum;
  pf_run_rows rows = {0};
  pf_run_sums sums;
  pf_error error;
  size_t count;
  if (size == 0)
    return 0;
  open_profile(&contexts, pf_dictionary_new());
  read_profile(&contexts, data + 1, size - 1);
  MUST(pf_run_rows_open(&rows, 1 + data[0] % 3));
  for (uint8_t i = 0; i < RUNS; i++) {
    const pf_hash run = {{i}};
    MUST(pf_run_rows_put(&rows, i % rows.nshards, &run, i, 202611, &contexts,
                         &count, &error) == PF_OK &&
         count == 2);
  }
  open_profile(&sum, contexts.dictionary);
  pf_run_sums_open(&sums, &sum);
  pf_status status = answer_sums(&sums, &rows);
  if (status == PF_OK)
    status = answer_stacks(&sums, &rows);
  if (status == PF_OK)
    status = pf_run_sums_finish(&sums, &error);
  if (!has_collision(&contexts)) {
    MUST(status == PF_OK);
    check_sum(&contexts, &sum);
    check_functions(&contexts, &sums, &rows);
  }
  else
    MUST(status == PF_OK || status == PF_EFORMAT);
  pf_run_sums_close(&sums);
  pf_contexts_close(&sum);
  check_damage(&contexts, &rows, data, size);
  pf_run_rows_close(&rows);
  pf_dictionary *const dictionary = contexts.dictionary;
  pf_contexts_close(&contexts);
  pf_dictionary_free(dictionary);
  return 0;
}
