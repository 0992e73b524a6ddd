/*
** details.h - stores the line and the parameters of an enter event while its
** call is open and until its row has been read. calls.c creates and frees it,
** sets the columns of each batch, and drops the details of each row that was
** read; state_machine.c keeps those of each enter.
*/

#ifndef details_h
#define details_h

#include "profio.h"

typedef struct pf_details pf_details;

/* The details of one call. */
typedef struct pf_detail {
  bool has_line, has_params;
  int64_t line;
  pf_bytes params; /* valid until the detail is dropped */
} pf_detail;

/* Returns NULL when out of memory. */
pf_details *pf_details_new (void);
void pf_details_free (pf_details *details);

/* Set the columns of the current batch: a whole number, and bytes; NULL: no
   such column. They are borrowed until they are set again. */
void pf_details_read (pf_details *details, const pf_column *lines,
                      const pf_column *params);

/* Store the details of a row of these columns. Returns their id, 1 or more; 0
   when out of memory. */
uint32_t pf_details_keep (pf_details *details, size_t row);

/* Returns the details with an id; for id 0 details without line and
   parameters. */
pf_detail pf_details_at (const pf_details *details, uint32_t number);

/* Drop the details with an id, whose slot is used again; id 0 is ignored. */
void pf_details_drop (pf_details *details, uint32_t number);

#endif
