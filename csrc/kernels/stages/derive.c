/*
** derive.c - the reader that adds the columns of formulas. For totals it first
** keeps the rows of its input.
*/

#include <string.h>

#include "kernels/stages/kept_rows.h"
#include "kernels/stages/stages.h"
#include "model/rows/table_reader.h"

/* A step with its state. */
typedef struct step {
  pf_step step;
  pf_formula_sum sum; /* of PF_RUN: so far; of PF_PUSH_TOTAL: of all rows */
} step;

typedef struct formula {
  char *name;
  step *steps;
  size_t nsteps;
  uint64_t count;      /* rows with an overflow in this reader */
  uint64_t *overflows; /* the maximum over all readers, or NULL */
} formula;

typedef struct derive_reader {
  pf_reader reader;
  pf_field *fields;
  formula *formulas;
  size_t count;
  size_t height; /* operands that the formulas need */
  pf_operand *stack;
  bool has_totals;   /* some formula has a total */
  pf_kept_rows kept; /* the rows of the input, if there are totals */
} derive_reader;


static void compute (derive_reader *d, formula *f, const pf_batch *batch,
                     pf_column *column) {
  pf_row_set overflows = {{0}};
  size_t height = 0;
  for (size_t i = 0; i < f->nsteps; i++) {
    step *const s = &f->steps[i];
    pf_step_run(&s->step, &s->sum, batch, d->stack, height, &overflows);
    height = height + 1 - pf_operands(s->step.operation);
  }
  pf_operand_store(d->stack, column, batch->rows, &overflows);
  /* Count overflows. The public counter is the maximum over all readers, so
     that reading a view again does not change it. */
  for (size_t i = 0; i < PF_BATCH_ROWS / 64; i++)
    f->count += (uint64_t)__builtin_popcountll(overflows.bits[i]);
  if (f->overflows != NULL && *f->overflows < f->count)
    *f->overflows = f->count;
}


/* Add the values of a batch of the input to the totals of the formulas whose
   columns `wanted` has: only the columns of these are read. */
static pf_status add_to_totals (void *context, const pf_batch *pulled,
                                const pf_batch *wanted, pf_error *error) {
  derive_reader *const d = context;
  (void)error;
  for (size_t i = 0; i < d->count; i++) {
    formula *const f = &d->formulas[i];
    if (wanted->columns[d->reader.input->nfields + i].data == NULL)
      continue;
    for (size_t j = 0; j < f->nsteps; j++) {
      step *const s = &f->steps[j];
      if (s->step.operation != PF_PUSH_TOTAL)
        continue;
      pf_operand_load(d->stack, &s->step, pulled);
      pf_operand_add_to(d->stack, pulled->rows, &s->sum);
    }
  }
  return PF_OK;
}


static pf_status derive_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  derive_reader *const d = (derive_reader *)(void *)self;
  pf_reader *const input = d->reader.input;
  const pf_status status =
      d->has_totals
          ? pf_kept_rows_next(&d->kept, input, batch, add_to_totals, d, error)
          : input->next(input, batch, error);
  for (size_t i = 0; status == PF_MORE && i < d->count; i++) {
    pf_column *const column = &batch->columns[input->nfields + i];
    if (column->data != NULL)
      compute(d, &d->formulas[i], batch, column);
  }
  return status;
}


static void derive_want (pf_reader *self, bool *wanted) {
  const derive_reader *const d = (const derive_reader *)(void *)self;
  for (size_t i = 0; i < d->count; i++) {
    const formula *const f = &d->formulas[i];
    for (size_t j = 0; wanted[d->reader.input->nfields + i] && j < f->nsteps;
         j++) {
      const pf_step *const s = &f->steps[j].step;
      if (s->operation > PF_PUSH_TOTAL)
        continue;
      wanted[s->column] = true;
      if (s->rest != SIZE_MAX)
        wanted[s->rest] = true;
    }
  }
  pf_stage_want(self, wanted);
}


static void derive_close (pf_reader *self) {
  derive_reader *const d = (derive_reader *)(void *)self;
  for (size_t i = 0; d->formulas != NULL && i < d->count; i++) {
    free(d->formulas[i].name);
    free(d->formulas[i].steps);
  }
  pf_kept_rows_drop(&d->kept);
  free(d->formulas);
  free(d->fields);
  free(d->stack);
  free(d);
}


/* Check whether the steps of a formula fit each other and the input; set the
   type and the unit of the result, and increase `height` to the number of
   operands that they need. PF_EUNSUPPORTED if they do not fit. */
static pf_status check_steps (const pf_reader *input, const pf_formula *given,
                              pf_field *result, size_t *height,
                              pf_error *error) {
  pf_type types[PF_MAX_STACK] = {PF_INT};
  bool are_times[PF_MAX_STACK] = {false};
  size_t used = 0;
  for (size_t i = 0; i < given->nsteps; i++) {
    const pf_step *const s = &given->steps[i];
    const size_t operands = pf_operands(s->operation);
    if (s->operation <= PF_PUSH_TOTAL &&
        !(s->column < input->nfields &&
          pf_formula_takes(&input->fields[s->column])))
      return pf_refuse(error,
                       "%s: formulas compute with columns of numbers only",
                       given->name);
    if (operands > used || used + 1 - operands > PF_MAX_STACK)
      return pf_refuse(error,
                       "%s: the formula is nested too deep, or lacks a value",
                       given->name);
    const pf_type a = operands == 2 ? types[used - 2] : PF_INT;
    const pf_type b = operands >= 1 ? types[used - 1] : PF_INT;
    const bool is_time =
        pf_step_is_time(s, input->fields, operands == 2 && are_times[used - 2],
                        operands >= 1 && are_times[used - 1]);
    used = used + 1 - operands;
    types[used - 1] = pf_step_type(s, input->fields, a, b);
    are_times[used - 1] = is_time;
    if (used > *height)
      *height = used;
  }
  result->type = types[0];
  result->help = are_times[0] ? "ns" : NULL;
  if (used == 1)
    return PF_OK;
  return pf_refuse(error, "%s: the formula does not have exactly one result",
                   given->name);
}


/* Whether a step pushes a column into a running sum, or into a division of a
   formula that has a running sum or a total: these include the rounding
   remainders. All other operations use the values of the rows. */
static bool is_taken_exactly (const pf_formula *given, size_t push) {
  size_t above = 0; /* values on top of it */
  size_t i = push + 1;
  bool has_sum = false;
  for (; i < given->nsteps && pf_operands(given->steps[i].operation) <= above;
       i++)
    above += 1 - pf_operands(given->steps[i].operation);
  if (given->steps[push].operation != PF_PUSH_COLUMN || i == given->nsteps)
    return false;
  for (size_t j = 0; j < given->nsteps; j++)
    has_sum = has_sum || given->steps[j].operation == PF_PUSH_TOTAL ||
              given->steps[j].operation == PF_RUN;
  return given->steps[i].operation == PF_RUN ||
         (given->steps[i].operation == PF_DIVIDE && has_sum);
}


/* Copy a formula. */
static pf_status copy_formula (derive_reader *d, size_t number,
                               const pf_formula *given, pf_error *error) {
  formula *const f = &d->formulas[number];
  pf_field *const field = &d->fields[d->reader.input->nfields + number];
  const pf_status status =
      check_steps(d->reader.input, given, field, &d->height, error);
  if (status < 0)
    return status;
  f->overflows = given->overflows;
  f->nsteps = given->nsteps;
  f->name = malloc(strlen(given->name) + 1);
  f->steps = calloc(given->nsteps, sizeof *f->steps);
  if (f->name == NULL || f->steps == NULL)
    return pf_no_memory(error);
  memcpy(f->name, given->name, strlen(given->name) + 1);
  for (size_t i = 0; i < given->nsteps; i++) {
    pf_step *const s = &f->steps[i].step;
    *s = given->steps[i];
    s->rest = SIZE_MAX;
    if (s->operation == PF_PUSH_TOTAL || is_taken_exactly(given, i))
      s->rest = pf_remainder_of(d->reader.input->fields,
                                d->reader.input->nfields, s->column);
    d->has_totals |= s->operation == PF_PUSH_TOTAL;
  }
  field->name = f->name;
  return PF_OK;
}


pf_status pf_derive_open (pf_reader *input, const pf_formula *formulas,
                          size_t count, pf_reader **reader, pf_error *error) {
  derive_reader *const d = pf_stage_new(sizeof *d, input, derive_next, error);
  if (d == NULL)
    return PF_ENOMEM;
  d->reader.want = derive_want;
  d->reader.close = derive_close;
  d->fields = pf_stage_fields(&d->reader, count);
  d->formulas = calloc(count + 1, sizeof *d->formulas);
  d->count = count;
  d->height = 1; /* for totals */
  if (d->fields == NULL || d->formulas == NULL)
    return pf_reader_opened(&d->reader, pf_no_memory(error), reader);
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = copy_formula(d, i, &formulas[i], error);
  if (status == PF_OK) {
    d->stack = malloc(d->height * sizeof *d->stack);
    if (d->stack == NULL)
      status = pf_no_memory(error);
  }
  return pf_reader_opened(&d->reader, status, reader);
}
