/*
** chain_stacks.c - halves of halves, so that no part is merged more often than
** there are doublings; the first two halves at once.
*/

#include "kernels/chain_stacks.h"

#include <string.h>

#include "model/contexts_merge.h"
#include "model/parallel.h"

/* Some parts in a row. */
typedef struct share {
  const pf_chain_input *parts;
  size_t nparts;
  pf_gathering to;
  pf_status status;
  pf_error error;
} share;

static void gather_share (void *context);


static pf_status no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


/* Empty contexts with the metrics of others. */
static bool open_like (pf_contexts *contexts, const pf_contexts *model) {
  if (pf_contexts_open(contexts, model->dictionary) != PF_OK)
    return false;
  for (size_t m = 0; m < model->nmetrics; m++)
    if (pf_metric_of(contexts, model->metrics[m].name,
                     model->metrics[m].unit) != m)
      return false;
  return true;
}


/* Gather both halves, the right one into contexts of its own. */
static void gather_halves (share *left, share *right, bool at_once) {
  if (at_once) {
    pf_both(gather_share, left, gather_share, right);
    return;
  }
  gather_share(left);
  if (left->status == PF_OK)
    gather_share(right);
}


static pf_status gather_two (const share *s, bool at_once, pf_error *error) {
  pf_contexts more;
  share left = *s, right = *s;
  left.nparts = s->nparts / 2;
  right.parts += left.nparts;
  right.nparts -= left.nparts;
  right.to.contexts = &more;
  if (!open_like(&more, s->to.contexts)) {
    pf_contexts_close(&more);
    return no_memory(error);
  }
  gather_halves(&left, &right, at_once);
  const share *const failed = left.status != PF_OK    ? &left
                              : right.status != PF_OK ? &right
                                                      : NULL;
  pf_status status = PF_OK;
  if (failed != NULL) {
    *error = failed->error;
    status = failed->status;
  }
  else
    status = pf_contexts_absorb(s->to.contexts, &more, error);
  pf_contexts_close(&more);
  return status;
}


/* As deep as there are doublings in the number of parts. */
static void gather_share (void *context) {
  share *const s = context;
  pf_reader *const first = s->parts[0].reader;
  s->status = s->nparts == 1 ? first->gather(first, &s->to, &s->error)
                             : gather_two(s, false, &s->error);
}


pf_status pf_chain_read_stacks (const pf_chain_input *parts, size_t nparts,
                                const pf_gathering *to, pf_error *error) {
  share s = {.parts = parts, .nparts = nparts, .to = *to};
  if (nparts > 1)
    return gather_two(&s, true, error);
  gather_share(&s);
  if (s.status != PF_OK)
    *error = s.error;
  return s.status;
}
