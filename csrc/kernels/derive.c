/*
** derive.c - formulas over the columns of a batch, a step at a time for all
** rows. A missing value is a NaN on the stack, so that it spreads by itself.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/derive.h"

/* A step as it runs. */
typedef struct step {
  pf_step step;
  double sum; /* of PF_RUN: so far; of PF_PUSH_TOTAL: of all rows */
} step;

typedef struct formula {
  char *name;
  pf_type type;
  step *steps;
  size_t nsteps;
} formula;

typedef struct derive_reader {
  pf_reader reader;
  pf_reader *input;
  pf_field *fields;
  formula *formulas;
  size_t count;
  double *stack;   /* PF_MAX_STACK times the rows of a batch */
  bool has_totals; /* some formula has one */
  pf_store store;  /* of the input's rows, where there are totals */
  pf_reader *kept; /* over the store; NULL: not read yet */
} derive_reader;


/* {====== Steps ====== */

static void push_column (const pf_column *column, double *top, size_t rows) {
  if (column->type == PF_NUM)
    memcpy(top, column->nums, rows * sizeof *top);
  else
    for (size_t i = 0; i < rows; i++)
      top[i] =
          column->type == PF_BOOL ? column->bools[i] : (double)column->ints[i];
  for (size_t i = 0; column->has_missing && i < rows; i++)
    if (pf_is_missing(column, i))
      top[i] = NAN;
}


static void push_number (double number, double *top, size_t rows) {
  for (size_t i = 0; i < rows; i++)
    top[i] = number;
}


/* A missing value adds nothing, and has no sum. */
static void run (double *sum, double *top, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    if (!isnan(top[i]))
      *sum += top[i];
    top[i] = isnan(top[i]) ? NAN : *sum;
  }
}


static double of_two (pf_operation operation, double a, double b) {
  switch (operation) {
    case PF_ADD: return a + b;
    case PF_SUBTRACT: return a - b;
    case PF_MULTIPLY: return a * b;
    case PF_DIVIDE: return b == 0 ? NAN : a / b;
    case PF_LESS: return isnan(a) || isnan(b) ? NAN : a < b;
    case PF_LEAST: return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    default: return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
  }
}


static double of_one (pf_operation operation, double a) {
  switch (operation) {
    case PF_ROOT: return a < 0 ? NAN : sqrt(a);
    case PF_SIZE: return fabs(a);
    default: return -a;
  }
}


/* How many values a step takes from the stack and puts there. */
static size_t taken_by (pf_operation operation) {
  if (operation <= PF_PUSH_NUMBER)
    return 0;
  return operation >= PF_ADD && operation <= PF_MOST ? 2 : 1;
}


/* Run a step; `height` values are on the stack. */
static void run_step (derive_reader *d, step *s, const pf_batch *batch,
                      size_t height) {
  const size_t rows = batch->rows;
  double *const free_place = d->stack + height * PF_BATCH_ROWS;
  double *const top = height > 0 ? free_place - PF_BATCH_ROWS : d->stack;
  double *const below = height > 1 ? top - PF_BATCH_ROWS : d->stack;
  switch (s->step.operation) {
    case PF_PUSH_COLUMN:
      push_column(&batch->columns[s->step.column], free_place, rows);
      break;
    case PF_PUSH_TOTAL: push_number(s->sum, free_place, rows); break;
    case PF_PUSH_NUMBER: push_number(s->step.number, free_place, rows); break;
    case PF_RUN: run(&s->sum, top, rows); break;
    case PF_ROOT:
    case PF_SIZE:
    case PF_NEGATE:
      for (size_t i = 0; i < rows; i++)
        top[i] = of_one(s->step.operation, top[i]);
      break;
    default:
      for (size_t i = 0; i < rows; i++)
        below[i] = of_two(s->step.operation, below[i], top[i]);
      break;
  }
}

/* }====== */


/* {====== Columns ====== */

/* The results of a formula, which lie at the bottom of the stack. */
static void take_results (const double *results, pf_column *column,
                          size_t rows) {
  const double most = 9223372036854775808.0;
  const bool is_int = column->type == PF_INT;
  for (size_t i = 0; i < rows; i++) {
    const double value = is_int ? floor(results[i] + 0.5) : results[i];
    const bool is_there =
        isfinite(value) && (!is_int || (value < most && value >= -most));
    if (is_int)
      column->ints[i] = is_there ? (int64_t)value : 0;
    else
      column->nums[i] = is_there ? value : 0;
    if (!is_there)
      pf_set_missing(column, i);
  }
}


static void compute (derive_reader *d, formula *f, const pf_batch *batch,
                     pf_column *column) {
  size_t height = 0;
  for (size_t i = 0; i < f->nsteps; i++) {
    run_step(d, &f->steps[i], batch, height);
    height = height + 1 - taken_by(f->steps[i].step.operation);
  }
  take_results(d->stack, column, batch->rows);
}

/* }====== */


/* {====== Totals ====== */

/* Add the values of a batch to the totals of all formulas. */
static void add_totals (derive_reader *d, const pf_batch *batch) {
  for (size_t i = 0; i < d->count; i++)
    for (size_t j = 0; j < d->formulas[i].nsteps; j++) {
      step *const s = &d->formulas[i].steps[j];
      const pf_column *const column = &batch->columns[s->step.column];
      if (s->step.operation != PF_PUSH_TOTAL || column->data == NULL)
        continue;
      push_column(column, d->stack, batch->rows);
      run(&s->sum, d->stack, batch->rows);
    }
}


/* The input's columns that somebody wants. */
static pf_status open_batch (const derive_reader *d, const pf_batch *batch,
                             pf_batch *pulled, pf_error *error) {
  bool *const wanted = calloc(d->input->nfields + 1, sizeof *wanted);
  pf_status status = PF_ENOMEM;
  for (size_t i = 0; wanted != NULL && i < d->input->nfields; i++)
    wanted[i] = batch->columns[i].data != NULL;
  if (wanted != NULL)
    status = pf_batch_open(pulled, d->input->fields, d->input->nfields, wanted);
  free(wanted);
  return status == PF_OK
             ? PF_OK
             : pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


static pf_status keep_rows (derive_reader *d, pf_batch *pulled,
                            pf_error *error) {
  pf_status status;
  while ((status = d->input->next(d->input, pulled, error)) == PF_MORE) {
    add_totals(d, pulled);
    if (pf_store_append(&d->store, pulled) != PF_OK)
      return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  }
  return status < 0 ? status : PF_OK;
}


/* Read the whole input, so that its totals are known. */
static pf_status keep_input (derive_reader *d, const pf_batch *batch,
                             pf_error *error) {
  pf_batch pulled;
  if (d->store.columns == NULL &&
      pf_store_open(&d->store, d->input->fields, d->input->nfields,
                    d->input->dictionary) != PF_OK)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  pf_status status = open_batch(d, batch, &pulled, error);
  if (status < 0)
    return status;
  status = keep_rows(d, &pulled, error);
  pf_batch_close(&pulled);
  if (status < 0)
    return status;
  return pf_store_reader(&d->store, NULL, 0, &d->kept, error);
}

/* }====== */


/* {====== The reader ====== */

static pf_status derive_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  derive_reader *const d = (derive_reader *)(void *)self;
  pf_status status = PF_OK;
  if (d->has_totals && d->kept == NULL)
    status = keep_input(d, batch, error);
  if (status < 0)
    return status;
  pf_reader *const input = d->kept != NULL ? d->kept : d->input;
  status = input->next(input, batch, error);
  for (size_t i = 0; status == PF_MORE && i < d->count; i++) {
    pf_column *const column = &batch->columns[d->input->nfields + i];
    if (column->data != NULL)
      compute(d, &d->formulas[i], batch, column);
  }
  return status;
}


static void derive_want (pf_reader *self, bool *wanted) {
  const derive_reader *const d = (const derive_reader *)(void *)self;
  for (size_t i = 0; i < d->count; i++) {
    const formula *const f = &d->formulas[i];
    for (size_t j = 0; wanted[d->input->nfields + i] && j < f->nsteps; j++)
      if (f->steps[j].step.operation <= PF_PUSH_TOTAL)
        wanted[f->steps[j].step.column] = true;
  }
  if (d->input->want != NULL)
    d->input->want(d->input, wanted);
}


static void derive_close (pf_reader *self) {
  derive_reader *const d = (derive_reader *)(void *)self;
  for (size_t i = 0; d->formulas != NULL && i < d->count; i++) {
    free(d->formulas[i].name);
    free(d->formulas[i].steps);
  }
  if (d->kept != NULL)
    d->kept->close(d->kept);
  pf_store_close(&d->store);
  free(d->formulas);
  free(d->fields);
  free(d->stack);
  free(d);
}

/* }====== */


/* {====== Opening ====== */

static bool is_number (const pf_reader *input, size_t column) {
  if (column >= input->nfields)
    return false;
  const pf_type type = input->fields[column].type;
  return type == PF_INT || type == PF_NUM || type == PF_BOOL;
}


/* Whether the steps of a formula fit each other and the input. */
static pf_status check_steps (const pf_reader *input, const pf_formula *given,
                              pf_error *error) {
  size_t height = 0;
  for (size_t i = 0; i < given->nsteps; i++) {
    const pf_step *const s = &given->steps[i];
    const size_t taken = taken_by(s->operation);
    if (s->operation <= PF_PUSH_TOTAL && !is_number(input, s->column))
      return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                     "%s: only columns of numbers can be computed with",
                     given->name);
    if (taken > height || height + 1 - taken > PF_MAX_STACK)
      return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                     "%s: the formula is nested too deep, or lacks a value",
                     given->name);
    height = height + 1 - taken;
  }
  if (height == 1)
    return PF_OK;
  return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "%s: the formula has not one result", given->name);
}


/* Copy a formula. */
static pf_status take_formula (derive_reader *d, size_t number,
                               const pf_formula *given, pf_error *error) {
  formula *const f = &d->formulas[number];
  pf_status status = check_steps(d->input, given, error);
  if (status < 0)
    return status;
  f->type = given->type;
  f->nsteps = given->nsteps;
  f->name = malloc(strlen(given->name) + 1);
  f->steps = calloc(given->nsteps, sizeof *f->steps);
  if (f->name == NULL || f->steps == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  memcpy(f->name, given->name, strlen(given->name) + 1);
  for (size_t i = 0; i < given->nsteps; i++) {
    f->steps[i].step = given->steps[i];
    d->has_totals |= given->steps[i].operation == PF_PUSH_TOTAL;
  }
  d->fields[d->input->nfields + number] =
      (pf_field){f->name, f->type, NULL, false};
  return PF_OK;
}


static pf_status make_room (derive_reader *d, size_t count, pf_error *error) {
  const size_t known = d->input->nfields;
  d->fields = calloc(known + count + 1, sizeof *d->fields);
  d->formulas = calloc(count + 1, sizeof *d->formulas);
  d->stack = malloc(PF_MAX_STACK * PF_BATCH_ROWS * sizeof *d->stack);
  if (d->fields == NULL || d->formulas == NULL || d->stack == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  d->count = count;
  if (known > 0)
    memcpy(d->fields, d->input->fields, known * sizeof *d->fields);
  return PF_OK;
}


pf_status pf_derive_open (pf_reader *input, const pf_formula *formulas,
                          size_t count, pf_reader **reader, pf_error *error) {
  derive_reader *const d = calloc(1, sizeof *d);
  if (d == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  d->input = input;
  pf_status status = make_room(d, count, error);
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = take_formula(d, i, &formulas[i], error);
  d->reader = (pf_reader){.fields = d->fields,
                          .nfields = input->nfields + count,
                          .dictionary = input->dictionary,
                          .next = derive_next,
                          .want = derive_want,
                          .close = derive_close};
  if (status == PF_OK)
    *reader = &d->reader;
  else
    derive_close(&d->reader);
  return status;
}

/* }====== */
