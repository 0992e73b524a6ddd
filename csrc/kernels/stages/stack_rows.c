/*
** stack_rows.c - the stacks of a dictionary as rows, in the order of their ids.
*/

#include "kernels/stages/stages.h"

#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

enum {
  STACK,
  PARENT,
  DEPTH,
  FRAME,
  FIELDS
};

static const pf_field fields[FIELDS] = {
    {"stack", PF_STACK, "id of the stack"},
    {"parent", PF_STACK, "id of the stack without its innermost frame"},
    {"depth", PF_INT, "number of frames"},
    {"frame", PF_AREA, "the innermost frame"}};

typedef struct stack_reader {
  pf_reader reader;
  uint32_t at, count; /* the next stack, and their number */
} stack_reader;


static pf_status stacks_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  stack_reader *const s = (stack_reader *)(void *)self;
  pf_column *const columns = batch->columns;
  (void)error;
  pf_batch_clear(batch);
  for (size_t row = 0; row < PF_BATCH_ROWS && s->at < s->count; row++) {
    const pf_stack *const stack = pf_stack_at(self->dictionary, s->at);
    pf_put_id(&columns[STACK], row, s->at++);
    pf_put_id(&columns[PARENT], row, stack->parent);
    pf_put_int(&columns[DEPTH], row, stack->depth, true);
    pf_put_id(&columns[FRAME], row, stack->frame);
    batch->rows++;
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


pf_status pf_stack_rows_open (pf_dictionary *dictionary, pf_reader **reader,
                              pf_error *error) {
  stack_reader *const s =
      pf_reader_of(sizeof *s, fields, FIELDS, dictionary, stacks_next, error);
  if (s == NULL)
    return PF_ENOMEM;
  s->count = pf_stacks_count(dictionary);
  *reader = &s->reader;
  return PF_OK;
}
