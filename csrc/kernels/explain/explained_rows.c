/*
** explained_rows.c - the columns of the rows, and a function for each kind of
** row.
*/

#include "kernels/explain/explained_rows.h"

#include <string.h>

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
  RUNNER,
  FIELDS = PF_EXPLAINED_FIELDS
};

static const pf_field explain_fields[FIELDS] = {
    {"group", PF_NAME, "all partial typical slow first median worst path"},
    {"node", PF_INT, "node of the tree of calls; missing: calls after `area`"},
    {"parent", PF_INT, "node of the caller"},
    {"area", PF_AREA, "the function"},
    {"count", PF_INT, "number of calls"},
    {"net", PF_INT, "sum of their net times, ns"},
    {"elapsed", PF_INT, "sum of stop - start, ns"},
    {"start", PF_INT, "start of an example, ns"},
    {"lane", PF_INT, "its lane"}, /* with the type of lanes */
    {"runner", PF_INT, "the lane that ran while the parent was suspended"},
};

static const char *const group_names[PF_EXPLAINED_GROUPS] = {
    [PF_GROUP_TYPICAL] = "typical",
    [PF_GROUP_SLOW] = "slow",
    [PF_GROUP_FIRST] = "first",
    [PF_GROUP_MEDIAN] = "median",
    [PF_GROUP_WORST] = "worst"};

typedef struct row_writer {
  const pf_explained *sums;
  const pf_events *events; /* whose lanes they have */
  pf_store *store;
} row_writer;


void pf_explained_fields (pf_field *fields, pf_type lanes) {
  memcpy(fields, explain_fields, sizeof explain_fields);
  fields[LANE].type = fields[RUNNER].type = lanes;
}


#define BIT(column) (1U << (column))

/* Append a row whose values in the columns of the set `missing` are missing,
   and all others but group and count 0. */
static pf_status add_row (row_writer *w, const char *group, uint64_t count,
                          unsigned missing, size_t *row) {
  if (pf_store_add(w->store, row) != PF_OK)
    return PF_ENOMEM;
  pf_column *const columns = w->store->columns;
  for (size_t i = 0; i < FIELDS; i++)
    if ((missing & BIT(i)) != 0)
      pf_store_set_missing(w->store, i, *row);
  columns[GROUP].ids[*row] = pf_intern_text(w->store->dictionary, group);
  columns[COUNT].ints[*row] = (int64_t)count;
  return columns[GROUP].ids[*row] == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}


/* Set a sum of times. PF_ELIMIT. */
static pf_status set_sum (row_writer *w, size_t column, size_t row, pf_wide sum,
                          pf_error *error) {
  if (sum > INT64_MAX || sum < -INT64_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a sum of the times of calls exceeds 2^63-1 ns");
  w->store->columns[column].ints[row] = (int64_t)sum;
  return PF_OK;
}


/* Set a lane, which PF_NO_SLOT leaves missing. */
static void set_lane (row_writer *w, size_t column, size_t row, uint32_t lane) {
  pf_column *const c = &w->store->columns[column];
  c->has_missing = true; /* the bitmap of a store is clear from the start */
  pf_events_put_lane(w->events, lane, c, row);
}


/* Set the area of an area of the events; PF_NO_AREA leaves it missing.
   PF_ENOMEM. */
static pf_status set_area (row_writer *w, size_t row, uint32_t area) {
  pf_area named = PF_AREA_NONE;
  named.name = area;
  if (area == PF_NO_AREA) {
    pf_store_set_missing(w->store, AREA, row);
    return PF_OK;
  }
  if (!w->sums->has_areas)
    area = pf_area_add(w->store->dictionary, &named);
  w->store->columns[AREA].ids[row] = area;
  return area == PF_NO_AREA ? PF_ENOMEM : PF_OK;
}


/* Append the row of a node with the columns that every node has. PF_ENOMEM. */
static pf_status add_node (row_writer *w, const char *group, uint32_t node,
                           const pf_group_sum *sum, unsigned missing,
                           size_t *row) {
  if (add_row(w, group, sum->sum.count, missing, row) != PF_OK)
    return PF_ENOMEM;
  pf_column *const columns = w->store->columns;
  columns[NODE].ints[*row] = node;
  if (node != 0)
    columns[PARENT].ints[*row] = pf_subtree_parent(&w->sums->trees, node);
  columns[START].ints[*row] = sum->start;
  set_lane(w, LANE, *row, sum->lane);
  return PF_OK;
}


static pf_status put_wait (row_writer *w, const char *group, uint32_t node,
                           const pf_group_sum *sum, pf_error *error) {
  const uint32_t id = pf_subtree_runner(&w->sums->trees, node);
  const uint64_t runner = w->sums->waits.runners.words[id];
  size_t row;
  if (add_node(w, group, node, sum, BIT(NET), &row) != PF_OK ||
      set_area(w, row, (uint32_t)runner) != PF_OK)
    return pf_no_memory(error);
  set_lane(w, RUNNER, row, (uint32_t)(runner >> 32));
  return set_sum(w, ELAPSED, row, sum->sum.elapsed, error);
}


static pf_status put_node (row_writer *w, const char *group, uint32_t node,
                           const pf_group_sum *sum, pf_error *error) {
  size_t row;
  const unsigned missing = node == 0 ? BIT(PARENT) | BIT(AREA) : 0;
  if (pf_subtree_is_wait(&w->sums->trees, node))
    return put_wait(w, group, node, sum, error);
  if (add_node(w, group, node, sum, missing | BIT(RUNNER), &row) != PF_OK)
    return pf_no_memory(error);
  if (node != 0)
    w->store->columns[AREA].ids[row] = pf_subtree_area(&w->sums->trees, node);
  const pf_status status = set_sum(w, NET, row, sum->sum.net, error);
  return status == PF_OK ? set_sum(w, ELAPSED, row, sum->sum.elapsed, error)
                         : status;
}


static pf_status put_before (row_writer *w, uint32_t id, pf_error *error) {
  const uint64_t word = w->sums->open.before.words[id];
  const pf_before_sum *const sum = &w->sums->open.before_sums[id];
  const unsigned missing = BIT(NODE) | BIT(PARENT) | BIT(ELAPSED) | BIT(START) |
                           BIT(LANE) | BIT(RUNNER);
  size_t row;
  if (add_row(w, group_names[word >> 32], sum->count, missing, &row) != PF_OK ||
      set_area(w, row, (uint32_t)word) != PF_OK)
    return pf_no_memory(error);
  return set_sum(w, NET, row, sum->net, error);
}


static pf_status put_step (row_writer *w, const pf_path_step *step,
                           pf_error *error) {
  const unsigned missing = BIT(NODE) | BIT(PARENT) | BIT(NET) | BIT(RUNNER);
  size_t row;
  if (add_row(w, "path", 1, missing, &row) != PF_OK ||
      set_area(w, row, step->area) != PF_OK)
    return pf_no_memory(error);
  w->store->columns[START].ints[row] = step->start;
  set_lane(w, LANE, row, step->lane);
  return set_sum(w, ELAPSED, row, (pf_wide)step->stop - step->start, error);
}


pf_status pf_explained_put (const pf_explained *sums, const pf_events *events,
                            pf_store *store, pf_error *error) {
  row_writer *const w = &(row_writer){sums, events, store};
  size_t row;
  const unsigned others = (BIT(FIELDS) - 1) & ~(BIT(GROUP) | BIT(COUNT));
  if (add_row(w, "all", sums->ranks.all, others, &row) != PF_OK ||
      add_row(w, "partial", sums->partial, others, &row) != PF_OK)
    return pf_no_memory(error);
  pf_status status = PF_OK;
  for (int group = 0; group < PF_EXPLAINED_GROUPS; group++)
    for (size_t node = 0; node < sums->open.groups[group].nsums; node++) {
      const pf_group_sum *const sum = &sums->open.groups[group].sums[node];
      if (sum->sum.count > 0 && status == PF_OK)
        status = put_node(w, group_names[group], (uint32_t)node, sum, error);
    }
  for (uint32_t id = 0; id < sums->open.before.count && status == PF_OK; id++)
    status = put_before(w, id, error);
  for (size_t i = sums->path.nsteps; i > 0 && status == PF_OK; i--)
    status = put_step(w, &sums->path.steps[i - 1], error);
  return status;
}
