/*
** namer.h - texts of records as names. A name stands in many records: its
** bytes are looked up among those met lately, and decoded when they are new.
*/

#ifndef namer_h
#define namer_h

#include "formats/xpp/rows.h"

#define XPP_NAMER_ROOM 1024 /* a power of two */

typedef struct xpp_namer {
  const dbf_field *field; /* NULL: not of a table, or no text */
  bool has_full;          /* some new name filled its field */
  struct {
    const uint8_t *at; /* in a source; NULL: free */
    uint32_t name;     /* PF_NO_NAME: missing */
  } known[XPP_NAMER_ROOM];
} xpp_namer;

/* Ready for a field of the trace. */
void xpp_namer_open (xpp_namer *namer, const xpp_file *file, size_t field);

/* Set a column of names from all rows of the batch. */
pf_status xpp_namer_fill (xpp_namer *namer, xpp_rows *rows, pf_column *column,
                          pf_error *error);

#endif
