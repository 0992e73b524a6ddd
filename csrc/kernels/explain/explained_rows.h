/*
** explained_rows.h - all sums of explain.c, and the rows of explain.h that they
** become. Used by explain.c, which owns the pf_explained and the store. Only
** rows of the store, and names and areas of its dictionary, are added.
*/

#ifndef explained_rows_h
#define explained_rows_h

#include "kernels/calls/events.h"
#include "kernels/explain/wait_path.h"
#include "kernels/explain/waits.h"
#include "model/rows/store.h"

#define PF_EXPLAINED_FIELDS 10

typedef struct pf_explained {
  pf_subtrees trees;
  pf_call_ranks ranks;
  pf_open_calls open;
  pf_waits waits;
  pf_wait_path path; /* of the worst call */
  uint64_t partial;  /* number of calls that are left out */
  bool has_areas;    /* the events have areas, not names */
} pf_explained;

/* Set fields[PF_EXPLAINED_FIELDS]; `lanes` is the type of lanes. */
void pf_explained_fields (pf_field *fields, pf_type lanes);

/* Append the rows to a store with these fields, whose dictionary is that of
   `events`. PF_ENOMEM; PF_ELIMIT if a sum exceeds 2^63-1. */
pf_status pf_explained_put (const pf_explained *sums, const pf_events *events,
                            pf_store *store, pf_error *error);

#endif
