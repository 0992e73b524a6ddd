/*
** concat.c - opens and reads one input after the other, writes the constants,
** and offsets ids that are local to an input. A bulk read of stacks uses two
** threads.
*/

#include <assert.h>
#include <string.h>

#include "kernels/stages/stages.h"
#include "model/dictionary/names.h"
#include "model/rows/table_reader.h"
#include "model/system/parallel.h"
#include "model/contexts/contexts.h"
#include "model/rows/put_values.h"
#include "model/rows/abilities.h"

typedef struct concat_reader {
  pf_reader reader;
  pf_abilities abilities;
  pf_concat_input *inputs;
  uint32_t *constants; /* nconstants for each input */
  pf_field *fields;
  char *names; /* of the constants, concatenated */
  size_t ninputs, nconstants;
  size_t id;     /* the column of ids, or SIZE_MAX */
  size_t zeros;  /* the column of omit_zeros, or SIZE_MAX */
  size_t at;     /* the current input */
  uint64_t base; /* ids used by the inputs before it */
} concat_reader;


static void fill_constant (pf_column *column, size_t rows, uint32_t name) {
  if (column->data == NULL)
    return;
  for (size_t i = 0; i < rows; i++)
    column->ids[i] = name;
  if (name == PF_NO_NAME)
    pf_put_none(column, 0, rows);
}


/* Closes an input that has ended or is not read further, if this reader opened
   it or has the pointer of its owner; but never the first one, whose fields
   this reader has. */
static void close_input (const concat_reader *c, pf_concat_input *input) {
  if (input == c->inputs || input->reader == NULL ||
      (input->owner == NULL && input->open == NULL))
    return;
  if (input->owner != NULL)
    *input->owner = NULL;
  input->reader->close(input->reader);
  input->reader = NULL;
}


static pf_status open_input (const concat_reader *c, pf_concat_input *input,
                             pf_error *error) {
  if (input->reader != NULL)
    return PF_OK;
  const pf_status status =
      input->open(input->context, c->inputs[0].reader, &input->reader, error);
  if (status == PF_OK && c->zeros != SIZE_MAX)
    input->reader->can->omit_zeros(input->reader, c->zeros);
  return status;
}


static pf_status concat_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  concat_reader *const c = (concat_reader *)(void *)self;
  while (c->at < c->ninputs) {
    pf_concat_input *const input = &c->inputs[c->at];
    pf_status status = open_input(c, input, error);
    if (status == PF_OK)
      status = input->reader->next(input->reader, batch, error);
    if (status == PF_MORE) {
      if (c->id != SIZE_MAX && batch->columns[c->id].data != NULL)
        for (size_t row = 0; row < batch->rows; row++)
          batch->columns[c->id].ints[row] += (int64_t)c->base;
      for (size_t i = 0; i < c->nconstants; i++)
        fill_constant(&batch->columns[self->input->nfields + i], batch->rows,
                      c->constants[c->at * c->nconstants + i]);
    }
    if (status != PF_END)
      return status;
    c->base += input->ids_used;
    close_input(c, input);
    c->at++;
  }
  pf_batch_clear(batch);
  return PF_END;
}


/* A range of consecutive inputs. */
typedef struct input_range {
  const pf_reader *first; /* of all inputs */
  const pf_concat_input *inputs;
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
  const pf_concat_input *const input = s->inputs;
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


/* Read the stacks of all inputs, each of which supports it, and merge them. The
   inputs are divided recursively into halves, so that the contexts of an input
   are merged only log2(n) times; the first two halves run in parallel. */
static pf_status read_stacks (const pf_concat_input *inputs, size_t ninputs,
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


/* Bulk read of the stacks of all inputs. */
static pf_status concat_read_stacks (pf_reader *self, const pf_stack_target *to,
                                     pf_error *error) {
  const concat_reader *const c = (const concat_reader *)(const void *)self;
  return read_stacks(c->inputs, c->ninputs, to, error);
}


static void concat_omit_zeros (pf_reader *self, size_t column) {
  concat_reader *const c = (concat_reader *)(void *)self;
  if (pf_can(c->inputs[0].reader)->omit_zeros != NULL)
    c->zeros = column;
  for (size_t i = 0; i < c->ninputs; i++) {
    pf_reader *const input = c->inputs[i].reader;
    if (input != NULL && pf_can(input)->omit_zeros != NULL)
      input->can->omit_zeros(input, column);
  }
}


static void concat_want (pf_reader *self, bool *wanted) {
  concat_reader *const c = (concat_reader *)(void *)self;
  for (size_t i = 0; i < c->ninputs; i++)
    if (c->inputs[i].reader != NULL && c->inputs[i].reader->want != NULL)
      c->inputs[i].reader->want(c->inputs[i].reader, wanted);
}


static void concat_close (pf_reader *self) {
  concat_reader *const c = (concat_reader *)(void *)self;
  if (c->inputs != NULL && c->at < c->ninputs && c->inputs[c->at].open != NULL)
    close_input(c, &c->inputs[c->at]);
  free(c->inputs);
  free(c->constants);
  free(c->fields);
  free(c->names);
  free(c);
}


static bool set_inputs (concat_reader *c, const pf_concat_input *inputs) {
  c->inputs = calloc(c->ninputs + 1, sizeof *inputs);
  c->constants = calloc(c->ninputs * c->nconstants + 1, sizeof *c->constants);
  if (c->inputs == NULL || c->constants == NULL)
    return false;
  for (size_t p = 0; p < c->ninputs; p++) {
    c->inputs[p] = inputs[p];
    for (size_t i = 0; i < c->nconstants; i++)
      c->constants[p * c->nconstants + i] = inputs[p].constants[i];
  }
  return true;
}


static bool set_fields (concat_reader *c, const char *const *constants) {
  size_t size = 1;
  for (size_t i = 0; i < c->nconstants; i++)
    size += strlen(constants[i]) + 1;
  c->names = malloc(size);
  c->fields = pf_stage_fields(&c->reader, c->nconstants);
  if (c->names == NULL || c->fields == NULL)
    return false;
  char *at = c->names;
  for (size_t i = 0; i < c->nconstants; i++) {
    const size_t length = strlen(constants[i]) + 1;
    memcpy(at, constants[i], length);
    c->fields[c->reader.input->nfields + i] =
        (pf_field){at, PF_NAME, i == 0 ? pf_file_help : NULL};
    at += length;
  }
  return true;
}


pf_status pf_concat_open (const pf_concat_input *inputs, size_t ninputs,
                          const char *const *constants, size_t nconstants,
                          size_t id, pf_reader **reader, pf_error *error) {
  concat_reader *const c =
      pf_stage_new(sizeof *c, inputs[0].reader, concat_next, error);
  if (c == NULL)
    return PF_ENOMEM;
  assert(id == SIZE_MAX || inputs[0].reader->fields[id].type == PF_INT);
  c->reader.want = concat_want;
  c->reader.close = concat_close;
  c->reader.can = &c->abilities;
  c->abilities.omit_zeros = concat_omit_zeros;
  c->abilities.read_stacks = concat_read_stacks;
  for (size_t i = 0; i < ninputs; i++)
    if (inputs[i].reader != NULL &&
        pf_can(inputs[i].reader)->read_stacks == NULL)
      c->abilities.read_stacks = NULL;
  c->ninputs = ninputs;
  c->nconstants = nconstants;
  c->id = id;
  c->zeros = SIZE_MAX;
  const bool done = set_inputs(c, inputs) && set_fields(c, constants);
  return pf_reader_opened(&c->reader, done ? PF_OK : pf_no_memory(error),
                          reader);
}
