/*
** sorter.h - sorts any number of elements in bounded memory: sorted runs of
** them go to an unlinked temporary file, and are merged while they are read.
** The sort is stable. Used by model/timeline/timed.c.
**
** Order of calls: new, add as often as needed, end, next until PF_END, close.
** The caller frees the sorter by pf_sorter_close; the comparison and its
** context are borrowed until then.
*/

#ifndef sorter_h
#define sorter_h

#include "model/base/sorts.h"
#include "model/rows/spill.h"

typedef struct pf_sorter pf_sorter;

/* A sorter of elements of `size` bytes, at most PF_SPILL_STEP. NULL when out of
   memory. */
pf_sorter *pf_sorter_new (size_t size, pf_compare *compare,
                          const void *context);

/* Add a copy of an element. PF_ENOMEM, PF_EIO (temporary file). */
pf_status pf_sorter_add (pf_sorter *sorter, const void *element,
                         pf_error *error);

/* No more elements follow. *in_file: the bytes that are in a temporary file. */
pf_status pf_sorter_end (pf_sorter *sorter, uint64_t *in_file, pf_error *error);

/* Set *element to the next one, valid until the next call. PF_MORE, PF_END,
   PF_EIO. */
pf_status pf_sorter_next (pf_sorter *sorter, const void **element,
                          pf_error *error);

void pf_sorter_close (pf_sorter *sorter); /* or NULL */

#endif
