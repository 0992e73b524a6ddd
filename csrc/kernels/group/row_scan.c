/*
** row_scan.c - reads rows into groups.
*/

#include "kernels/group/row_scan.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/calls.h"
#include "kernels/base/pipeline.h"
#include "model/rows/abilities.h"


static pf_status add_batch (pf_group_scan *g, pf_error *error) {
  const pf_status status = pf_keys_find(g->keys, &g->batch, g->groups, error);
  return status != PF_OK
             ? status
             : pf_aggregates_add(g->aggregates, &g->batch, g->groups,
                                 pf_keys_count(g->keys), error);
}


/* {====== Calls in a thread apart ====== */

/* The context of `process`: converts events to calls and adds these. */
typedef struct consumer {
  pf_group_scan *scan;
  pf_reader *calls;
} consumer;


/* Add all calls that end in the events so far. */
static pf_status add_calls (pf_group_scan *g, pf_reader *calls,
                            pf_error *error) {
  pf_status status = PF_MORE;
  while (status == PF_MORE) {
    status = calls->next(calls, &g->batch, error);
    if (status == PF_MORE)
      status = add_batch(g, error);
  }
  return status;
}


static pf_status process (void *context, const pf_pull *events,
                          const uint32_t *notes, pf_error *error) {
  const consumer *const m = context;
  (void)notes;
  pf_calls_push(m->calls, &events->batch);
  const pf_status status = add_calls(m->scan, m->calls, error);
  return status == PF_AGAIN ? PF_OK : status;
}


/* If the input converts events to calls, use a pipeline: the caller reads
   events, and the worker thread computes calls and adds them. Calls that are
   open at the end are added by the caller. */
static pf_status pipe_events (pf_group_scan *g, pf_reader *input,
                              pf_error *error) {
  pf_reader *events;
  bool *columns, has_paused = false;
  g->may_run_apart = false;
  if (pf_can(input)->detach_input == NULL)
    return PF_OK;
  if (input->can->detach_input(input, g->wanted, &events, &columns) != PF_OK)
    return pf_no_memory(error);
  if (events == NULL)
    return PF_OK;
  consumer m = {g, input};
  const pf_pipeline pipeline = {.wanted = columns,
                                .process = process,
                                .context = &m,
                                .has_paused = &has_paused};
  const pf_status status = pf_pipeline_run(&pipeline, events, error);
  pf_calls_reattach_input(input, !has_paused);
  return status;
}

/* }====== */


pf_status pf_group_scan_read (pf_group_scan *g, pf_reader *input,
                              const atomic_bool *stop, pf_error *error) {
  if (!g->is_open && pf_batch_for(&g->batch, input, g->wanted) != PF_OK)
    return pf_no_memory(error);
  g->is_open = true;
  pf_status status = g->may_run_apart ? pipe_events(g, input, error) : PF_OK;
  if (status != PF_OK)
    return status;
  status = PF_MORE;
  while (status == PF_MORE && (stop == NULL || !atomic_load(stop))) {
    status = input->next(input, &g->batch, error);
    if (status == PF_MORE)
      status = add_batch(g, error);
  }
  return status;
}


/* {====== Parts ====== */

bool pf_group_scan_is_mergeable (const pf_group_scan *g,
                                 const pf_field *fields) {
  return pf_keys_are_mergeable(g->keys, fields) &&
         pf_aggregates_are_mergeable(g->aggregates);
}


pf_status pf_group_scan_clone (pf_group_scan *g, const pf_group_scan *model,
                               size_t nfields) {
  memset(g, 0, sizeof *g);
  g->wanted = malloc((nfields + 1) * sizeof *g->wanted);
  if (g->wanted == NULL)
    return PF_ENOMEM;
  memcpy(g->wanted, model->wanted, (nfields + 1) * sizeof *g->wanted);
  const pf_status status = pf_keys_clone(model->keys, &g->keys);
  return status != PF_OK
             ? status
             : pf_aggregates_clone(model->aggregates, &g->aggregates);
}


pf_status pf_group_scan_merge (pf_group_scan *g, const pf_group_scan *more) {
  const size_t count = pf_keys_count(more->keys);
  uint32_t *const groups = malloc((count + 1) * sizeof *groups);
  if (groups == NULL)
    return PF_ENOMEM;
  pf_status status = pf_keys_merge(g->keys, more->keys, groups);
  if (status == PF_OK)
    status = pf_aggregates_merge(g->aggregates, more->aggregates, groups, count,
                                 pf_keys_count(g->keys));
  free(groups);
  return status;
}

/* }====== */


void pf_group_scan_stop (pf_group_scan *g) {
  if (g->is_open)
    pf_batch_close(&g->batch);
  g->is_open = false;
}


void pf_group_scan_close (pf_group_scan *g) {
  pf_group_scan_stop(g);
  pf_keys_close(g->keys);
  pf_aggregates_close(g->aggregates);
  free(g->wanted);
  memset(g, 0, sizeof *g);
}
