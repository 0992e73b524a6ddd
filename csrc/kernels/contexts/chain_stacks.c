/*
** chain_stacks.c - divides the inputs recursively into halves, so that the
** contexts of an input are merged only log2(n) times; the first two halves run
** in parallel.
*/

#include "kernels/contexts/chain_stacks.h"

#include <string.h>

#include "model/contexts/ordered_merge.h"
#include "model/base/parallel.h"
#include "model/rows/abilities.h"

/* A range of consecutive inputs. */
typedef struct input_range {
  const pf_reader *first; /* of all inputs */
  const pf_chain_input *inputs;
  size_t ninputs;
  pf_stack_target to;
  pf_status status;
  pf_error error;
} input_range;

static void read_range (void *context);


static pf_status read_and_merge (const input_range *s, bool at_once,
                                 pf_error *error) {
  pf_contexts more;
  input_range halves[2] = {*s, *s}, *const left = halves,
              *const right = left + 1;
  left->ninputs = s->ninputs / 2;
  right->inputs += left->ninputs;
  right->ninputs -= left->ninputs;
  right->to.contexts = &more;
  if (pf_contexts_open(&more, s->to.contexts->dictionary) != PF_OK ||
      !pf_metrics_add(&more, s->to.contexts)) {
    pf_contexts_close(&more);
    return pf_no_memory(error);
  }
  if (at_once)
    pf_run_all(read_range, halves, sizeof *halves, 2);
  else {
    read_range(left);
    if (left->status == PF_OK)
      read_range(right);
  }
  const input_range *const failed = left->status != PF_OK    ? left
                                    : right->status != PF_OK ? right
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


static pf_status read_one (const input_range *s, pf_error *error) {
  const pf_chain_input *const input = s->inputs;
  pf_reader *reader = input->reader;
  pf_status status = PF_OK;
  if (reader == NULL)
    status = input->open(input->context, s->first, &reader, error);
  if (status == PF_OK)
    status = reader->can->read_stacks(reader, &s->to, error);
  if (reader != NULL && reader != input->reader)
    reader->close(reader);
  return status;
}


/* Recursive; the depth is log2 of the number of inputs. */
static void read_range (void *context) {
  input_range *const s = context;
  s->status = s->ninputs == 1 ? read_one(s, &s->error)
                              : read_and_merge(s, false, &s->error);
}


pf_status pf_chain_read_stacks (const pf_chain_input *inputs, size_t ninputs,
                                const pf_stack_target *to, pf_error *error) {
  input_range s = {.first = inputs[0].reader,
                   .inputs = inputs,
                   .ninputs = ninputs,
                   .to = *to};
  if (ninputs > 1)
    return read_and_merge(&s, true, error);
  read_range(&s);
  if (s.status != PF_OK)
    *error = s.error;
  return s.status;
}
