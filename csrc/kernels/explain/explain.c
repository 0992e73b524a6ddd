/*
** explain.c - two scans of the events with the call machine: the first one ranks
** the calls of the area, the second one sums what happens within those of the
** groups. Calls end after those that they made, so the calls of a lane that end
** before one of the area, and are below it, lie within it.
*/

#include "kernels/explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/events.h"
#include "kernels/explain/open_calls.h"
#include "kernels/explain/subtrees.h"
#include "model/rows/store.h"
#include "model/rows/table_reader.h"

#define AT_ONCE 512 /* events, so that their calls stay in the L1 cache */

enum {
  GROUP,
  NODE,
  PARENT,
  AREA,
  COUNT,
  NET,
  ELAPSED,
  START,
  LANE,
  FIELDS
};

static const pf_field explain_fields[FIELDS] = {
    {"group", PF_NAME, "all partial typical slow first median worst"},
    {"node", PF_INT, "node of the tree of calls; missing: calls after `area`"},
    {"parent", PF_INT, "node of the caller"},
    {"area", PF_AREA, "the function"},
    {"count", PF_INT, "number of calls"},
    {"net", PF_INT, "sum of their net times, ns"},
    {"elapsed", PF_INT, "sum of stop - start, ns"},
    {"start", PF_INT, "start of an example, ns"},
    {"lane", PF_INT, "its lane"}, /* with the type of lanes */
};

static const char *const group_names[PF_EXPLAINED_GROUPS] = {
    [PF_GROUP_TYPICAL] = "typical",
    [PF_GROUP_SLOW] = "slow",
    [PF_GROUP_FIRST] = "first",
    [PF_GROUP_MEDIAN] = "median",
    [PF_GROUP_WORST] = "worst"};

typedef struct explain_reader {
  pf_reader reader;
  pf_reader *inputs[2]; /* of the two scans */
  pf_explain_options options;
  pf_events events[2];
  pf_machine machine; /* of the scan at hand */
  pf_subtrees trees;
  pf_call_ranks ranks;
  pf_open_calls open;
  uint64_t partial;
  bool is_second;
  pf_field fields[FIELDS];
  pf_store store;
  pf_reader *rows; /* the reader of the store; NULL: the events are not read
                      yet */
} explain_reader;


/* {====== The calls ====== */

static bool is_whole (const pf_call *call) {
  return (call->flags & PF_CALL_PARTIAL) == 0 &&
         call->durations[PF_CALL] != PF_NO_TIME;
}


/* A call of the area has ended, which is not within another one. */
static pf_status end_call (explain_reader *e, const pf_call *call,
                           uint32_t lane, const pf_open_call *open) {
  pf_call_rank rank;
  if (!is_whole(call)) {
    e->partial += !e->is_second;
    return PF_OK;
  }
  const int64_t duration = call->durations[PF_CALL];
  if (!e->is_second)
    return pf_call_ranks_count(&e->ranks, lane, duration);
  const pf_status status = pf_call_ranks_next(&e->ranks, lane, duration, &rank);
  return status == PF_OK ? pf_open_calls_put(&e->open, open, &rank, call, lane)
                         : status;
}


/* A call of the second scan. */
static pf_status add_call (explain_reader *e, const pf_call *call,
                           uint32_t node, uint32_t lane) {
  pf_open_call *const open = pf_open_calls_lane(&e->open, lane);
  if (open == NULL ||
      (node != PF_NO_NODE && pf_open_call_add(open, node, call) != PF_OK))
    return PF_ENOMEM;
  if (node != PF_NO_NODE && node != 0)
    return PF_OK;
  const pf_status status = node == 0 ? end_call(e, call, lane, open) : PF_OK;
  open->before = pf_stack_at(e->trees.dictionary, call->stack)->frame;
  pf_open_call_clear(open);
  return status;
}


/* Process the calls that the machine has emitted. Those without a stack are no
   functions. */
static pf_status add_calls (explain_reader *e) {
  const pf_machine *const m = &e->machine;
  pf_status status = pf_subtrees_update(&e->trees);
  for (size_t i = 0; i < m->ncalls && status == PF_OK; i++) {
    const pf_call *const call = &m->calls[i];
    const uint32_t node = pf_subtree_of(&e->trees, call->stack);
    if (call->stack == PF_NO_STACK || (!e->is_second && node != 0))
      continue;
    const uint32_t lane = m->lanes.slots[call->slot].lane->number;
    status = e->is_second ? add_call(e, call, node, lane)
                          : end_call(e, call, lane, NULL);
  }
  return status;
}


static pf_status process_batch (explain_reader *e, const pf_events *events) {
  const size_t rows = events->batch.rows;
  pf_status status = PF_OK;
  for (size_t from = 0; from < rows && status == PF_OK; from += AT_ONCE) {
    const size_t to = rows - from < AT_ONCE ? rows : from + AT_ONCE;
    status = pf_machine_process(&e->machine, &events->rows, from, to);
    if (status == PF_OK)
      status = add_calls(e);
  }
  return status;
}


/* Run a scan. */
static pf_status scan (explain_reader *e, pf_error *error) {
  pf_events *const events = &e->events[e->is_second];
  pf_reader *const input = e->inputs[e->is_second];
  pf_status status;
  pf_machine_init(&e->machine, &e->options.calls, input->dictionary,
                  input->fields[events->area].type == PF_AREA);
  e->machine.has_stacks = true;
  while ((status = pf_events_next(events, error)) == PF_MORE) {
    if (process_batch(e, events) != PF_OK)
      return pf_no_memory(error);
    if (pf_events_are_over(events, &e->machine))
      break;
  }
  if (status < 0)
    return status;
  if (pf_machine_finish(&e->machine) != PF_OK || add_calls(e) != PF_OK)
    return pf_no_memory(error);
  pf_machine_free(&e->machine);
  memset(&e->machine, 0, sizeof e->machine);
  return PF_OK;
}

/* }====== */


/* {====== The rows ====== */

#define BIT(column) (1U << (column))

/* Append a row whose values in the columns of the set `missing` are missing, and
   all others but group and count 0. */
static pf_status add_row (explain_reader *e, const char *group, uint64_t count,
                          unsigned missing, size_t *row) {
  if (pf_store_add(&e->store, row) != PF_OK)
    return PF_ENOMEM;
  pf_column *const columns = e->store.columns;
  for (size_t i = 0; i < FIELDS; i++)
    if ((missing & BIT(i)) != 0)
      pf_store_set_missing(&e->store, i, *row);
  columns[GROUP].ids[*row] = pf_intern_text(e->store.dictionary, group);
  columns[COUNT].ints[*row] = (int64_t)count;
  return columns[GROUP].ids[*row] == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}


/* Set a sum of times. PF_ELIMIT. */
static pf_status set_sum (explain_reader *e, size_t column, size_t row,
                          pf_wide sum, pf_error *error) {
  if (sum > INT64_MAX || sum < -INT64_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a sum of the times of calls exceeds 2^63-1 ns");
  e->store.columns[column].ints[row] = (int64_t)sum;
  return PF_OK;
}


static pf_status put_node (explain_reader *e, const char *group, uint32_t node,
                           const pf_group_sum *sum, pf_error *error) {
  size_t row;
  const unsigned missing = node == 0 ? BIT(PARENT) | BIT(AREA) : 0;
  if (add_row(e, group, sum->sum.count, missing, &row) != PF_OK)
    return pf_no_memory(error);
  pf_column *const columns = e->store.columns;
  columns[NODE].ints[row] = node;
  if (node != 0) {
    columns[PARENT].ints[row] = pf_subtree_parent(&e->trees, node);
    columns[AREA].ids[row] = pf_subtree_area(&e->trees, node);
  }
  columns[START].ints[row] = sum->start;
  columns[LANE].has_missing = true; /* the bitmap of a store is clear from the
                                       start */
  pf_events_put_lane(&e->events[1], sum->lane, &columns[LANE], row);
  const pf_status status = set_sum(e, NET, row, sum->sum.net, error);
  return status == PF_OK ? set_sum(e, ELAPSED, row, sum->sum.elapsed, error)
                         : status;
}


static pf_status put_before (explain_reader *e, uint32_t id, pf_error *error) {
  const uint64_t word = e->open.before.words[id];
  const uint32_t area = (uint32_t)word;
  const unsigned others =
      BIT(NODE) | BIT(PARENT) | BIT(ELAPSED) | BIT(START) | BIT(LANE);
  size_t row;
  if (add_row(e, group_names[word >> 32], e->open.before_sums[id].count,
              area == PF_NO_AREA ? others | BIT(AREA) : others, &row) != PF_OK)
    return pf_no_memory(error);
  if (area != PF_NO_AREA)
    e->store.columns[AREA].ids[row] = area;
  return set_sum(e, NET, row, e->open.before_sums[id].net, error);
}


static pf_status put_rows (explain_reader *e, pf_error *error) {
  size_t row;
  const unsigned others = (BIT(FIELDS) - 1) & ~(BIT(GROUP) | BIT(COUNT));
  if (add_row(e, "all", e->ranks.all, others, &row) != PF_OK ||
      add_row(e, "partial", e->partial, others, &row) != PF_OK)
    return pf_no_memory(error);
  pf_status status = PF_OK;
  for (int group = 0; group < PF_EXPLAINED_GROUPS; group++)
    for (size_t node = 0; node < e->open.groups[group].nsums; node++) {
      const pf_group_sum *const sum = &e->open.groups[group].sums[node];
      if (sum->sum.count > 0 && status == PF_OK)
        status = put_node(e, group_names[group], (uint32_t)node, sum, error);
    }
  for (uint32_t id = 0; id < e->open.before.count && status == PF_OK; id++)
    status = put_before(e, id, error);
  return status;
}


static pf_status fill (explain_reader *e, pf_error *error) {
  pf_status status = scan(e, error);
  if (status == PF_OK) {
    pf_call_ranks_begin(&e->ranks, e->options.quantile);
    e->is_second = true;
    status = scan(e, error);
  }
  if (status == PF_OK)
    status = put_rows(e, error);
  return status == PF_OK ? pf_store_reader(&e->store, NULL, 0, &e->rows, error)
                         : status;
}


static pf_status explain_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  explain_reader *const e = (explain_reader *)(void *)self;
  pf_batch_clear(batch);
  const pf_status status = e->rows == NULL ? fill(e, error) : PF_OK;
  return status == PF_OK ? e->rows->next(e->rows, batch, error) : status;
}


static void explain_close (pf_reader *self) {
  explain_reader *const e = (explain_reader *)(void *)self;
  if (e->rows != NULL)
    e->rows->close(e->rows);
  pf_store_close(&e->store);
  pf_open_calls_free(&e->open);
  pf_call_ranks_free(&e->ranks);
  pf_subtrees_free(&e->trees);
  pf_machine_free(&e->machine);
  pf_events_close(&e->events[0]);
  pf_events_close(&e->events[1]);
  free(e);
}

/* }====== */


/* {====== Opening ====== */

static pf_status open_inputs (explain_reader *e, pf_error *error) {
  pf_dictionary *const dictionary = e->inputs[1]->dictionary;
  for (int i = 0; i < 2; i++) {
    const pf_status status =
        pf_events_open(&e->events[i], e->inputs[i], NULL, false, error);
    if (status != PF_OK)
      return status;
  }
  memcpy(e->fields, explain_fields, sizeof explain_fields);
  e->fields[LANE].type = pf_events_lane_type(&e->events[1]);
  const uint32_t name = pf_intern_text(dictionary, e->options.area);
  if (name == PF_NO_NAME ||
      pf_subtrees_open(&e->trees, dictionary, name) != PF_OK ||
      pf_store_open(&e->store, e->fields, FIELDS, dictionary) != PF_OK)
    return pf_no_memory(error);
  return PF_OK;
}


pf_status pf_explain_open (pf_reader *first, pf_reader *second,
                           const pf_explain_options *options,
                           pf_reader **reader, pf_error *error) {
  explain_reader *const e = calloc(1, sizeof *e);
  if (e == NULL)
    return pf_no_memory(error);
  e->inputs[0] = first;
  e->inputs[1] = second;
  e->options = *options;
  e->reader = (pf_reader){.fields = e->fields,
                          .nfields = FIELDS,
                          .dictionary = second->dictionary,
                          .next = explain_next,
                          .close = explain_close};
  pf_id_table_init(&e->open.before);
  pf_id_table_init(&e->trees.nodes);
  return pf_reader_opened(&e->reader, open_inputs(e, error), reader);
}

/* }====== */
