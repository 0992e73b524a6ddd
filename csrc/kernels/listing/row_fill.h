/*
** row_fill.h - the common part of the readers of listings, and functions that
** put values into the current row of a batch. Columns that were not requested
** have no data and are skipped. Used by listing.c, *_rows.c and
** lua/profile/profile.c. The caller of a listing closes its reader.
*/

#ifndef row_fill_h
#define row_fill_h

#include <math.h>
#include <stdlib.h>

#include "kernels/listing/listing.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"
#include "model/dictionary/names.h"
#include "model/symbols/symbols.h"

#define LISTING_FIELDS 16 /* maximum of a listing */

/* The base of the readers: the first member of their structs. */
typedef struct listing_reader {
  pf_reader base;
  pf_listing listing; /* a copy; its flow and `shown` are borrowed */
  pf_field fields[LISTING_FIELDS];
  char help[160];  /* of columns in the unit of a metric that is no time */
  bool has_places; /* rows may tell files and lines; true in a new reader */
  /* Fill row batch->rows; returns false at the end. */
  bool (*make)(struct listing_reader *self, pf_batch *batch);
} listing_reader;

/*
** Allocate a reader: a struct of `size` bytes that begins with a
** listing_reader, with zeros after it. The listing may set `close`, which is
** pf_reader_free here. NULL with a message when out of memory.
*/
void *listing_new (size_t size, const pf_listing *listing,
                   const pf_field *fields, size_t nfields,
                   bool (*make)(listing_reader *self, pf_batch *batch),
                   pf_error *error);

/* Returns the name of a function for output, demangled if that is wanted. */
uint32_t listing_name (const pf_listing *listing, size_t function);

/* Returns a text as a name of the dictionary. When out of memory, PF_NO_NAME;
   then the batch of rows fails. */
uint32_t listing_text (const pf_listing *listing, const char *text);

/* Write the index number of a node, "[1]", or "(1)" if it has no entry, to a
   label of LISTING_LABEL bytes. Returns the size in bytes. */
#define LISTING_LABEL 16
size_t listing_label (char *label, uint32_t index, bool has_entry);

/* Convert a time of the flow to whole units (ns, or those of the metric); false
   if the sampling rate is unknown, or the result exceeds 64 bits. */
bool listing_whole (const pf_flow *flow, double time, int64_t *whole);


static inline void put_int (pf_batch *batch, size_t column, int64_t value) {
  pf_put_int(&batch->columns[column], batch->rows, value, true);
}

static inline void put_num (pf_batch *batch, size_t column, double value) {
  pf_put_num(&batch->columns[column], batch->rows, value, true);
}

static inline void put_missing (pf_batch *batch, size_t column) {
  pf_put_none(&batch->columns[column], batch->rows, 1);
}

/* Put a name; PF_NO_NAME makes the value missing. */
static inline void put_name (pf_batch *batch, size_t column, uint32_t name) {
  pf_put_id(&batch->columns[column], batch->rows, name);
}

/* Put a time of the flow in whole units. */
static inline void put_time (pf_batch *batch, size_t column,
                             const pf_flow *flow, double time) {
  int64_t whole;
  if (listing_whole(flow, time, &whole))
    put_int(batch, column, whole);
  else
    put_missing(batch, column);
}

#endif
