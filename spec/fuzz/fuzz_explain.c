/*
** fuzz_explain.c - random events of up to 8 lanes on 3 cores, of which the calls
** of one function are explained. The groups have as many calls as explain.h
** states, each node comes after its caller, lanes ran no longer than the calls
** of their group lasted, and the critical path covers the slowest call without
** gaps.
**
** The first byte selects options. Each further 4 bytes are an event: its kind,
** lane and core; its area and flag; and its time since the one before.
*/

#include "fuzz.h"
#include "kernels/explain/explain.h"
#include "kernels/group/quantile.h"
#include "model/dictionary/areas.h"
#include "model/rows/store.h"

#define LARGEST 65536 /* bytes of an input */

enum {
  TIME,
  EVENT,
  AREA,
  LANE,
  FLAGS,
  CORE,
  EVENTS
};

static const pf_field event_fields[EVENTS] = {
    {"time", PF_INT, ""}, {"event", PF_NAME, ""}, {"area", PF_AREA, ""},
    {"lane", PF_INT, ""}, {"flags", PF_NAME, ""}, {"core", PF_INT, ""},
};

typedef struct timeline {
  pf_dictionary *dictionary;
  pf_store store;
  bool has_cores, ascends;
} timeline;

/* Sums of the rows of one group. */
typedef struct group {
  int64_t calls, elapsed, waited, start;
  int64_t last; /* the last node */
} group;


/* The area with a number of 0 to 7: functions, a line and a state. */
static uint32_t area_of (pf_dictionary *dictionary, unsigned number) {
  static const char *const names[] = {"f", "g", "h", "i", "f", "j", "k", "l"};
  static const char *const classes[] = {"function", "function", "function",
                                        "function", "method",   "function",
                                        "line",     "aux state"};
  pf_area area = PF_AREA_NONE;
  area.name = pf_intern_text(dictionary, names[number]);
  area.class = pf_intern_text(dictionary, classes[number]);
  return pf_area_add(dictionary, &area);
}


static void put_event (timeline *t, const uint8_t *at, int64_t *time) {
  static const char *const kinds[] = {"enter", "leave", "suspend", "resume",
                                      "enter", "leave", "write",   "end"};
  const unsigned flag = at[1] >> 4, lane = at[0] >> 3 & 7, core = at[0] >> 6;
  const int64_t delta = (int64_t)at[2] | (int64_t)at[3] << 8;
  pf_column *const columns = t->store.columns;
  size_t row;
  MUST(pf_store_add(&t->store, &row) == PF_OK);
  *time += t->ascends ? delta : (int16_t)(uint16_t)delta;
  columns[TIME].ints[row] =
      flag == 13 ? (int64_t)((uint64_t)*time << 40) : *time;
  t->ascends &= flag != 13;
  columns[EVENT].ids[row] = pf_intern_text(t->dictionary, kinds[at[0] & 7]);
  columns[AREA].ids[row] = area_of(t->dictionary, at[1] & 7);
  columns[LANE].ints[row] = lane;
  if (lane == 7)
    pf_store_set_missing(&t->store, LANE, row);
  columns[FLAGS].ids[row] =
      pf_intern_text(t->dictionary, flag == 15 ? "gap" : "lost");
  if (flag < 14)
    pf_store_set_missing(&t->store, FLAGS, row);
  if (t->has_cores)
    columns[CORE].ints[row] = (int64_t)core - 1;
}


static void open_timeline (timeline *t, const uint8_t *data, size_t size) {
  int64_t time = 0;
  t->has_cores = (data[0] & 1) != 0;
  t->ascends = (data[0] & 2) != 0;
  t->dictionary = pf_dictionary_new();
  MUST(t->dictionary != NULL);
  MUST(pf_store_open(&t->store, event_fields, t->has_cores ? EVENTS : CORE,
                     t->dictionary) == PF_OK);
  for (size_t at = 1; size - at >= 4; at += 4)
    put_event(t, data + at, &time);
}


/* A column of the explanation; `missing` if the value is. */
static int64_t value_of (const pf_reader *reader, const pf_batch *batch,
                         const char *name, size_t row, int64_t missing) {
  const size_t i = pf_field_index(reader->fields, reader->nfields, name);
  return pf_is_missing(&batch->columns[i], row) ? missing
                                                : batch->columns[i].ints[row];
}


/* Add a row to the group of its name: typical, slow, first, median, worst, path
   have different first letters. */
static void add_row (group *groups, const pf_reader *reader,
                     const pf_batch *batch, size_t row) {
  const pf_bytes name = pf_name(reader->dictionary, batch->columns[0].ids[row]);
  const int64_t node = value_of(reader, batch, "node", row, -1);
  const int64_t parent = value_of(reader, batch, "parent", row, -1);
  const int64_t elapsed = value_of(reader, batch, "elapsed", row, 0);
  const int64_t start = value_of(reader, batch, "start", row, 0);
  group *const g =
      &groups[name.at[0] == 'p' && name.at[2] == 't' ? 'P' : name.at[0]];
  MUST(elapsed >= 0);
  if (g == &groups['P']) {
    MUST(g->calls++ == 0 || g->start + g->elapsed == start);
    g->start = g->elapsed == 0 ? start : g->start;
    g->elapsed += elapsed;
  }
  else if (node == 0) {
    g->calls = value_of(reader, batch, "count", row, 0);
    g->elapsed = elapsed;
    g->start = start;
  }
  else if (node > 0) {
    MUST(node > g->last && parent >= 0 && parent < node);
    g->last = node;
    if (value_of(reader, batch, "net", row, -1) < 0)
      g->waited += elapsed;
  }
}


static void check_groups (const group *groups, const timeline *t) {
  const group *const worst = &groups['w'], *const path = &groups['P'];
  MUST(groups['t'].calls == groups['s'].calls + groups['f'].calls);
  MUST(groups['m'].calls == worst->calls && worst->calls <= 1);
  MUST(worst->elapsed >= groups['m'].elapsed);
  MUST(path->calls == 0 ||
       (path->elapsed == worst->elapsed && path->start == worst->start));
  for (const char *g = t->ascends ? "tsfmw" : ""; *g != '\0'; g++)
    MUST(groups[(uint8_t)*g].waited <= groups[(uint8_t)*g].elapsed);
}


static void explain (const timeline *t, const pf_explain_options *options) {
  group groups[128] = {{0}};
  pf_error error = {.status = PF_OK};
  pf_reader *inputs[2], *reader;
  pf_batch batch;
  pf_status status;
  for (int i = 0; i < 2; i++)
    MUST(pf_store_reader(&t->store, NULL, 0, &inputs[i], &error) == PF_OK);
  MUST(pf_explain_open(inputs[0], inputs[1], options, &reader, &error) ==
       PF_OK);
  MUST(pf_batch_open(&batch, reader->fields, reader->nfields, NULL) == PF_OK);
  while ((status = reader->next(reader, &batch, &error)) == PF_MORE)
    for (size_t row = 0; row < batch.rows; row++)
      add_row(groups, reader, &batch, row);
  MUST(status == PF_END || (status == PF_ELIMIT && error.what[0] != '\0'));
  if (status == PF_END)
    check_groups(groups, t);
  pf_batch_close(&batch);
  reader->close(reader);
  inputs[0]->close(inputs[0]);
  inputs[1]->close(inputs[1]);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  const uint64_t lanes[] = {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 2};
  timeline t;
  if (size == 0 || size > LARGEST)
    return 0;
  open_timeline(&t, data, size);
  const pf_explain_options options = {
      .calls = {.has_from = (data[0] & 8) != 0,
                .from = 1000,
                .max_depth = (data[0] & 16) != 0 ? 3 : 0},
      .area = "f",
      .rank = (uint32_t)(data[0] >> 5) * (PF_RANK_SCALE / 7),
      .lanes = (data[0] & 4) != 0 ? lanes : NULL,
      .nlanes = 2};
  explain(&t, &options);
  pf_store_close(&t.store);
  pf_dictionary_free(t.dictionary);
  return 0;
}
