/*
** group_pass.c - rows of a reader into groups.
*/

#include "kernels/group_pass.h"

#include <stdlib.h>
#include <string.h>


static pf_status no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


static pf_status add_batch (pf_group_pass *g, pf_error *error) {
  const pf_status status = pf_keys_find(g->keys, &g->batch, g->groups, error);
  return status != PF_OK
             ? status
             : pf_aggregates_add(g->aggregates, &g->batch, g->groups,
                                 pf_keys_count(g->keys), error);
}


pf_status pf_group_pass_read (pf_group_pass *g, pf_reader *input,
                              const atomic_bool *stop, pf_error *error) {
  if (!g->is_open && pf_batch_for(&g->batch, input, g->wanted) != PF_OK)
    return no_memory(error);
  g->is_open = true;
  pf_status status = PF_MORE;
  while (status == PF_MORE && (stop == NULL || !atomic_load(stop))) {
    status = input->next(input, &g->batch, error);
    if (status == PF_MORE)
      status = add_batch(g, error);
  }
  return status;
}


/* {====== Parts ====== */

bool pf_group_pass_splits (const pf_group_pass *g, const pf_field *fields) {
  return pf_keys_split(g->keys, fields) && pf_aggregates_split(g->aggregates);
}


pf_status pf_group_pass_like (pf_group_pass *g, const pf_group_pass *model,
                              size_t nfields) {
  memset(g, 0, sizeof *g);
  g->wanted = malloc((nfields + 1) * sizeof *g->wanted);
  if (g->wanted == NULL)
    return PF_ENOMEM;
  memcpy(g->wanted, model->wanted, (nfields + 1) * sizeof *g->wanted);
  const pf_status status = pf_keys_like(model->keys, &g->keys);
  return status != PF_OK
             ? status
             : pf_aggregates_like(model->aggregates, &g->aggregates);
}


pf_status pf_group_pass_merge (pf_group_pass *g, const pf_group_pass *more) {
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


void pf_group_pass_stop (pf_group_pass *g) {
  if (g->is_open)
    pf_batch_close(&g->batch);
  g->is_open = false;
}


void pf_group_pass_close (pf_group_pass *g) {
  pf_group_pass_stop(g);
  pf_keys_close(g->keys);
  pf_aggregates_close(g->aggregates);
  free(g->wanted);
  memset(g, 0, sizeof *g);
}
