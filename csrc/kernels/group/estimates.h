/*
** estimates.h - the column `about`, which names the columns of a row whose
** values are estimates. Used by aggregate.c and kernels/statistics. Initialise
** the names with zeros, add the names of a row, put them, and free `at` at the
** end.
*/

#ifndef estimates_h
#define estimates_h

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"

#define PF_ABOUT "about"
#define PF_ABOUT_HELP                                                     \
  "names of the columns of this row whose values are estimates, at most " \
  "1/256 of the value away"

typedef struct pf_estimates {
  char *at; /* owned */
  size_t size, capacity;
} pf_estimates;

/* Add the name of a column. False when out of memory. */
static inline bool pf_estimates_add (pf_estimates *e, const char *name) {
  const size_t size = strlen(name), gap = e->size > 0;
  if (!pf_grow(&e->at, &e->capacity, e->size + gap + size + 1))
    return false;
  if (gap > 0)
    e->at[e->size] = ' ';
  memcpy(e->at + e->size + gap, name, size);
  e->size += gap + size;
  return true;
}


/* Write the names that were added, which are forgotten, to a row of the column;
   it is missing if there are none. PF_ENOMEM. */
static inline pf_status pf_estimates_put (pf_estimates *e, pf_dictionary *names,
                                          pf_column *column, size_t row) {
  const pf_bytes text = {(const uint8_t *)e->at, e->size};
  const uint32_t id = e->size == 0 ? PF_NO_NAME : pf_intern(names, text);
  const bool has_failed = e->size > 0 && id == PF_NO_NAME;
  e->size = 0;
  pf_put_id(column, row, id);
  return has_failed ? PF_ENOMEM : PF_OK;
}

#endif
