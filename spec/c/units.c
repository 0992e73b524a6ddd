/*
** units.c - holds parts of the core against plain models: the index of ranges
** against a search of all rows, the dictionary against arrays, the pipeline
** against what its reader wrote; and areas with a long chain of parents, as a
** ring may state them, are written. Run as `units ranges`, `units dictionary`,
** `units pipeline` or `units parents`; prints ok, or aborts at the condition
** that does not hold.
*/

#include "kernels/base/pipeline.h"
#include "model/base/ranges.h"
#include "model/dictionary/stacks.h"
#include "recording.h"

/* A linear congruential generator (Knuth's MMIX constants). */
static uint64_t next_random (uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}


/* {====== Ranges ====== */

#define MAX_ROWS 400
#define AT_ONCE  64 /* addresses of one call */

typedef struct row {
  uint64_t start, end, other;
} row;


static size_t find_slowly (const row *rows, size_t count, uint64_t address) {
  for (size_t i = 0; i < count; i++)
    if (rows[i].start <= address && address < rows[i].end)
      return i;
  return SIZE_MAX;
}


/* Every address from below the first row to after the last. */
static void check_addresses (const pf_ranges *ranges, const row *rows,
                             size_t count) {
  const uint64_t first = rows[0].start - 3, last = rows[count - 1].end + 3;
  for (uint64_t from = first; from < last; from += AT_ONCE) {
    uint64_t addresses[AT_ONCE];
    uint32_t found[AT_ONCE];
    for (size_t i = 0; i < AT_ONCE; i++)
      addresses[i] = from + i;
    pf_ranges_find_all(ranges, addresses, AT_ONCE, found);
    for (size_t i = 0; i < AT_ONCE; i++) {
      const size_t expected = find_slowly(rows, count, from + i);
      MUST(pf_ranges_find(ranges, from + i) == expected);
      MUST(found[i] == (expected == SIZE_MAX ? UINT32_MAX : expected));
    }
  }
}


/* Rows of 1 to `size` addresses; one in `gaps` is followed by a gap. */
static void check_ranges (uint64_t seed, size_t count, uint64_t size,
                          uint64_t gaps) {
  static row rows[MAX_ROWS];
  uint64_t at = 0x1000 + next_random(&seed) % 64;
  for (size_t i = 0; i < count; i++) {
    rows[i] = (row){.start = at, .end = at + 1 + next_random(&seed) % size};
    at = rows[i].end;
    if (gaps > 0 && next_random(&seed) % gaps == 0)
      at += 1 + next_random(&seed) % (2 * size);
  }
  pf_ranges ranges;
  MUST(pf_ranges_open(&ranges, rows, sizeof rows[0], count) == PF_OK);
  check_addresses(&ranges, rows, count);
  pf_ranges_close(&ranges);
}


static void test_ranges (void) {
  for (uint64_t seed = 1; seed <= 20; seed++)
    for (uint64_t gaps = 0; gaps < 5; gaps += 2) {
      check_ranges(seed, 1 + seed % 3, 5, gaps);
      check_ranges(seed, MAX_ROWS, 1, gaps);
      check_ranges(seed, MAX_ROWS, 16, gaps);
      check_ranges(seed, 40, 300, gaps);
    }
}

/* }====== */


/* {====== The dictionary ====== */

#define NAMES 3000

static void test_dictionary (void) {
  pf_dictionary *const d = pf_dictionary_new();
  static uint32_t ids[NAMES], stacks[NAMES];
  static char texts[NAMES][16];
  MUST(d != NULL && pf_names_count(d) == 0 && pf_areas_count(d) == 0);
  for (uint32_t round = 0; round < 2; round++)
    for (uint32_t i = 0; i < NAMES; i++) {
      const int size = snprintf(texts[i], sizeof texts[i], "n%u", i);
      const pf_bytes name = {(const uint8_t *)texts[i], (size_t)size};
      const uint32_t id = pf_intern(d, name);
      MUST(id == i && pf_find_name(d, name) == id);
      pf_area area = PF_AREA_NONE;
      area.name = id;
      area.line = i / 2;
      MUST(pf_area_add(d, &area) == i && pf_area_name(d, i) == id);
      /* each stack continues one that was added before */
      const uint32_t parent = i == 0 ? PF_NO_STACK : stacks[i / 2];
      ids[i] = pf_stack_push(d, parent, i);
      MUST(round == 0 || ids[i] == stacks[i]);
      stacks[i] = ids[i];
      MUST(parent == PF_NO_STACK || parent < ids[i]);
      MUST(pf_stack_at(d, ids[i])->parent == parent);
      MUST(pf_stack_at(d, ids[i])->frame == i);
    }
  MUST(pf_names_count(d) == NAMES && pf_areas_count(d) == NAMES);
  MUST(pf_stacks_count(d) == NAMES);
  for (uint32_t i = 0; i < NAMES; i++) {
    const pf_bytes name = pf_name(d, i);
    MUST(name.size == strlen(texts[i]) && name.at[name.size] == '\0');
    MUST(memcmp(name.at, texts[i], name.size) == 0);
  }
  MUST(pf_name(d, NAMES).size == 0);
  MUST(pf_find_name(d, (pf_bytes){(const uint8_t *)"m", 1}) == PF_NO_NAME);
  pf_dictionary_free(d);
}

/* }====== */


/* {====== The pipeline ====== */

#define BATCHES 60
#define ROWS    300 /* enough for a second thread, from the fifth batch on */
#define LONGEST 40
#define LARGE   300000 /* more than is copied for a batch */

/* The text of a row: one letter LARGE times in the fifth and in other batches,
   else 0 to LONGEST - 1 times. */
static size_t text_size (uint64_t number) {
  return number % 1201 == 0 ? LARGE : (size_t)(number % LONGEST);
}


static uint8_t text_letter (uint64_t number) {
  return (uint8_t)('a' + number % 26);
}


/* Reuses its memory: values of a batch are valid only until the next one. */
typedef struct text_reader {
  pf_reader reader;
  uint64_t number;
  uint8_t text[ROWS][LONGEST], large[LARGE];
} text_reader;


static pf_status next_texts (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  text_reader *const r = (text_reader *)(void *)reader;
  (void)error;
  pf_batch_clear(batch);
  memset(r->text, '?', sizeof r->text);
  for (; batch->rows < ROWS && r->number < BATCHES * ROWS; r->number++) {
    const size_t at = batch->rows++;
    const size_t size = text_size(r->number);
    uint8_t *const text = size == LARGE ? r->large : r->text[at];
    memset(text, text_letter(r->number), size);
    batch->columns[0].bytes[at] = (pf_bytes){text, size};
    batch->columns[1].bools[at] = r->number % 3 == 0;
    batch->columns[2].ints[at] = (int64_t)r->number;
    if (r->number % 11 == 0)
      pf_set_missing(&batch->columns[0], at);
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


static pf_status check_texts (void *context, const pf_pull *pull,
                              const uint32_t *notes, pf_error *error) {
  uint64_t *const number = context;
  (void)notes;
  (void)error;
  for (size_t at = 0; at < pull->batch.rows; at++, ++*number) {
    MUST(pull->columns[2]->ints[at] == (int64_t)*number);
    MUST(pull->columns[1]->bools[at] == (*number % 3 == 0));
    MUST(pf_is_missing(pull->columns[0], at) == (*number % 11 == 0));
    const pf_bytes text = pull->columns[0]->bytes[at];
    if (pf_is_missing(pull->columns[0], at))
      continue;
    MUST(text.size == text_size(*number));
    for (size_t i = 0; i < text.size; i++)
      MUST(text.at[i] == text_letter(*number));
  }
  return PF_OK;
}


static void test_pipeline (void) {
  static const pf_field fields[] = {{"text", PF_BYTES, NULL},
                                    {"third", PF_BOOL, NULL},
                                    {"number", PF_INT, NULL}};
  static const pf_want wants[] = {{"text", PF_BYTES, true},
                                  {"third", PF_BOOL, true},
                                  {"number", PF_INT, true}};
  static text_reader r = {
      .reader = {.fields = fields, .nfields = 3, .next = next_texts}};
  uint64_t number = 0;
  pf_error error;
  const pf_pipeline pipeline = {
      .wants = wants, .nwants = 3, .process = check_texts, .context = &number};
  MUST(pf_pipeline_run(&pipeline, &r.reader, &error) == PF_OK);
  MUST(number == BATCHES * ROWS);
}

/* }====== */


/* {====== Parents ====== */

#define CHAIN 1000000

static void test_parents (void) {
  pf_dictionary *const d = pf_dictionary_new();
  pf_encoder *encoder;
  pf_batch batch;
  pf_sink sink;
  pf_error error;
  MUST(d != NULL && pf_sink_open(&sink, -1) == PF_OK);
  MUST(pf_format_named("winidea")->encoder(NULL, 0, d, &encoder, &error) ==
       PF_OK);
  pf_area area = PF_AREA_NONE;
  area.class = pf_intern_text(d, "state");
  for (area.line = 0; area.line < CHAIN; area.line++)
    area.parent = pf_area_add(d, &area);
  const pf_table *table = encoder->tables;
  while (strcmp(table->name, "timeline") != 0)
    table++;
  MUST(pf_batch_open(&batch, table->fields, table->nfields, NULL) == PF_OK);
  batch.rows = 1;
  for (size_t i = 0; i < table->nfields; i++) {
    const bool is_area = table->fields[i].type == PF_AREA;
    if (is_area)
      batch.columns[i].ids[0] = area.parent;
    else
      pf_set_missing(&batch.columns[i], 0);
  }
  MUST(encoder->put(encoder, (size_t)(table - encoder->tables), &batch, &sink,
                    &error) == PF_EUNSUPPORTED);
  MUST(strstr(error.what, "no time") != NULL); /* the area has been accepted */
  encoder->close(encoder);
  pf_batch_close(&batch);
  pf_sink_close(&sink);
  pf_dictionary_free(d);
}

/* }====== */


int main (int argc, char **argv) {
  MUST(argc == 2);
  if (strcmp(argv[1], "ranges") == 0)
    test_ranges();
  else if (strcmp(argv[1], "dictionary") == 0)
    test_dictionary();
  else if (strcmp(argv[1], "pipeline") == 0)
    test_pipeline();
  else if (strcmp(argv[1], "parents") == 0)
    test_parents();
  else
    return 2;
  puts("ok");
  return 0;
}
