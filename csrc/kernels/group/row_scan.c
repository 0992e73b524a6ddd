/*
** row_scan.c - reads rows into groups, also chunks of a table in threads.
**
** Warnings must be recorded in the order of the rows, and only the first ones
** are stored. So chunks are read strictly: the first warning in any of them
** ends all, and none is recorded. Then the caller reads the rows with one
** reader, which records them.
*/

#include "kernels/group/row_scan.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/calls.h"
#include "kernels/base/pipeline.h"
#include "model/base/parallel.h"
#include "model/rows/abilities.h"


static pf_status add_batch (pf_group_scan *g, pf_error *error) {
  const pf_status status = pf_keys_find(g->keys, &g->batch, g->groups, error);
  return status != PF_OK
             ? status
             : pf_aggregates_add(g->aggregates, &g->batch, g->groups,
                                 pf_keys_count(g->keys), error);
}


/* The context of `process`: converts events to calls and adds these. */
typedef struct consumer {
  pf_group_scan *scan;
  pf_reader *calls;
} consumer;


static pf_status process (void *context, const pf_pull *events,
                          const uint32_t *notes, pf_error *error) {
  const consumer *const m = context;
  pf_status status = PF_MORE;
  (void)notes;
  pf_calls_push(m->calls, &events->batch);
  while (status == PF_MORE) {
    status = m->calls->next(m->calls, &m->scan->batch, error);
    if (status == PF_MORE)
      status = add_batch(m->scan, error);
  }
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


typedef struct chunk {
  pf_group_chunks *all;
  pf_reader *input;
  pf_group_scan scan;
  pf_status status;
} chunk;

struct pf_group_chunks {
  bool *strict;
  atomic_bool stop; /* a chunk did not reach its end */
  size_t count;
  chunk chunks[];
};


pf_status pf_group_chunks_open (pf_reader *const *readers, size_t count,
                                bool *strict, const pf_group_scan *model,
                                pf_group_chunks **chunks) {
  *chunks = NULL;
  if (count == 0 || !pf_keys_are_mergeable(model->keys, readers[0]->fields) ||
      !pf_aggregates_are_mergeable(model->aggregates))
    return PF_OK;
  pf_group_chunks *const p = calloc(1, sizeof *p + count * sizeof *p->chunks);
  if (p == NULL)
    return PF_ENOMEM;
  p->strict = strict;
  const size_t size = (readers[0]->nfields + 1) * sizeof *model->wanted;
  pf_status status = PF_OK;
  for (; p->count < count && status == PF_OK; p->count++) {
    chunk *const c = &p->chunks[p->count];
    *c = (chunk){.all = p, .input = readers[p->count]};
    c->scan.wanted = malloc(size);
    if (c->scan.wanted == NULL ||
        pf_keys_clone(model->keys, &c->scan.keys) != PF_OK ||
        pf_aggregates_clone(model->aggregates, &c->scan.aggregates) != PF_OK)
      status = PF_ENOMEM;
    else
      memcpy(c->scan.wanted, model->wanted, size);
  }
  if (status == PF_OK)
    *chunks = p;
  else
    pf_group_chunks_close(p);
  return status;
}


void pf_group_chunks_close (pf_group_chunks *p) {
  for (size_t i = 0; p != NULL && i < p->count; i++)
    pf_group_scan_close(&p->chunks[i].scan);
  free(p);
}


static void read_chunk (void *context) {
  chunk *const c = context;
  pf_error error;
  c->status = pf_group_scan_read(&c->scan, c->input, &c->all->stop, &error);
  if (c->status != PF_END)
    atomic_store(&c->all->stop, true);
  pf_group_scan_stop(&c->scan);
}


/* Add the groups of later rows. */
static pf_status merge (pf_group_scan *g, const pf_group_scan *more) {
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


pf_status pf_group_chunks_read (pf_group_chunks *p, pf_group_scan *scan,
                                bool *done, pf_error *error) {
  const bool strict = *p->strict;
  *p->strict = true;
  pf_run_all(read_chunk, p->chunks, sizeof *p->chunks, p->count);
  *p->strict = strict;
  *done = true;
  for (size_t i = 0; i < p->count; i++)
    *done &= p->chunks[i].status == PF_END;
  if (!*done)
    return PF_OK;
  /* The first chunk becomes the scan, and the others are merged into it. */
  pf_group_scan_close(scan);
  *scan = p->chunks[0].scan;
  p->chunks[0].scan = (pf_group_scan){.is_open = false};
  for (size_t i = 1; i < p->count; i++) {
    if (merge(scan, &p->chunks[i].scan) != PF_OK)
      return pf_no_memory(error);
    pf_group_scan_close(&p->chunks[i].scan);
  }
  return PF_OK;
}
