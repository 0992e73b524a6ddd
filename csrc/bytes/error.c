/*
** error.c - describes a failure in the pf_error that the caller passes. Called
** by all layers (declared in profio.h). Nothing is allocated.
*/

#include <stdarg.h>
#include <stdio.h>

#include "profio.h"


pf_status pf_fail (pf_error *error, pf_status status, uint64_t offset,
                   const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  error->status = status;
  error->offset = offset;
  error->label = NULL;
  vsnprintf(error->what, sizeof error->what, format, arguments);
  va_end(arguments);
  return status;
}


pf_status pf_no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}
