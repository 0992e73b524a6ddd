/*
** formula_types.c - the types and units of the steps of a formula, which are
** known before a row is read. Used by derive.c and formula.c; declared in
** formula.h. Nothing is allocated.
*/

#include "kernels/stages/formula.h"


pf_type pf_number_type (pf_type type) {
  return type == PF_BOOL || type == PF_NAME ? PF_INT : type;
}


bool pf_formula_takes (const pf_field *field) {
  const pf_type type = pf_number_type(field->type);
  return field->type == PF_NAME ? pf_has_any_type(field)
                                : type == PF_INT || type == PF_NUM ||
                                      type == PF_ADDR || type == PF_HANDLE;
}


size_t pf_operands (pf_operation operation) {
  if (operation <= PF_PUSH_NUMBER)
    return 0;
  return operation < PF_RUN ? 2 : 1;
}


static bool is_unsigned (pf_type type) {
  return type == PF_ADDR || type == PF_HANDLE;
}


static pf_type type_of_two (pf_operation operation, pf_type a, pf_type b) {
  if (operation >= PF_LESS)
    return PF_INT;
  if (operation == PF_DIVIDE || a == PF_NUM || b == PF_NUM)
    return PF_NUM;
  switch (operation) {
    case PF_SUBTRACT: return is_unsigned(b) ? PF_INT : a;
    case PF_QUOTIENT: return a;
    case PF_REMAINDER: return b;
    default: /* The common type of unsigned and other integers. */
      if (a == b || !is_unsigned(b))
        return a;
      return is_unsigned(a) ? PF_ADDR : b;
  }
}


pf_type pf_step_type (const pf_step *step, const pf_field *fields, pf_type a,
                      pf_type b) {
  switch (step->operation) {
    case PF_PUSH_COLUMN:
    case PF_PUSH_TOTAL: return pf_number_type(fields[step->column].type);
    case PF_PUSH_NUMBER: return step->type;
    case PF_RUN:
    case PF_SIZE: return b;
    case PF_ROOT: return PF_NUM;
    case PF_NEGATE: return b == PF_NUM ? PF_NUM : PF_INT;
    default: return type_of_two(step->operation, a, b);
  }
}


bool pf_step_is_time (const pf_step *step, const pf_field *fields, bool a,
                      bool b) {
  switch (step->operation) {
    case PF_PUSH_COLUMN:
    case PF_PUSH_TOTAL: return pf_is_time(&fields[step->column]);
    case PF_ADD:
    case PF_SUBTRACT:
    case PF_LEAST:
    case PF_MOST: return a || b;
    case PF_REMAINDER: return a;
    case PF_RUN:
    case PF_SIZE:
    case PF_NEGATE: return b;
    default: return false;
  }
}
