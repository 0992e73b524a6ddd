/*
** details.h - what events say of calls beside their times: the line and the
** parameters of the enter, kept while the call is open and until its row has
** been read.
*/

#ifndef calls_details_h
#define calls_details_h

#include "profio.h"

typedef struct pf_details pf_details;

/* One call's. */
typedef struct pf_detail {
  bool has_line, has_params;
  int64_t line;
  pf_bytes params; /* valid until the detail is dropped */
} pf_detail;

/* NULL when out of memory. */
pf_details *pf_details_new (void);
void pf_details_free (pf_details *details);

/* Enters are rows of these columns from now on: a whole number, and bytes; NULL:
   there are none. */
void pf_details_read (pf_details *details, const pf_column *lines,
                      const pf_column *params);

/* Keep what a row says: its number, from 1; 0 when out of memory. */
uint32_t pf_details_keep (pf_details *details, size_t row);

/* Returns the details kept under a number; for 0 details without line and
   parameters. */
pf_detail pf_details_at (const pf_details *details, uint32_t number);

/* It is not needed any more. Nothing happens for 0. */
void pf_details_drop (pf_details *details, uint32_t number);

#endif
