/*
** listing_fill.h - what the files listing*.c share: values into rows.
*/

#ifndef listing_fill_h
#define listing_fill_h

#include <math.h>
#include <stdlib.h>

#include "kernels/graph/listing.h"
#include "model/batch.h"
#include "model/names.h"
#include "model/symbols.h"

#define LISTING_FIELDS 16 /* of a listing, at most */

/* A reader that makes its rows one by one. */
typedef struct listing_reader {
  pf_reader base;
  pf_listing listing;
  pf_field fields[LISTING_FIELDS]; /* of metrics that are no times */
  /* Make row number batch->rows; false: there are no more. */
  bool (*make)(struct listing_reader *self, pf_batch *batch);
} listing_reader;

/* Set up the part that all have; `next` fills batches through `make`. */
void listing_open (listing_reader *self, const pf_listing *listing,
                   const pf_field *fields, size_t nfields);

/* The status of a `next` that has filled the batch: PF_MORE, PF_END when it has no
   row, PF_ENOMEM when a name could not be made readable. */
pf_status listing_filled (const pf_reader *reader, const pf_batch *batch,
                          pf_error *error);

/* The name to show of a function. */
uint32_t listing_name (const pf_listing *listing, size_t function);

/* Write the index number of an entry, "[1]", or "(1)" of one that has none; the
   label has room for LISTING_LABEL bytes. Answers its size. */
#define LISTING_LABEL 16
size_t listing_label (char *label, uint32_t index, bool has_entry);

/* A time of the flow in whole units of the machine columns; false when it is
   not to be had (no sampling rate). */
bool listing_whole (const pf_flow *flow, double time, int64_t *whole);


static inline void put_int (pf_batch *batch, size_t column, int64_t value) {
  if (batch->columns[column].data != NULL)
    batch->columns[column].ints[batch->rows] = value;
}

static inline void put_num (pf_batch *batch, size_t column, double value) {
  if (batch->columns[column].data != NULL)
    batch->columns[column].nums[batch->rows] = value;
}

static inline void put_missing (pf_batch *batch, size_t column) {
  if (batch->columns[column].data != NULL)
    pf_set_missing(&batch->columns[column], batch->rows);
}

/* A name; PF_NO_NAME is missing. */
static inline void put_name (pf_batch *batch, size_t column, uint32_t name) {
  if (name == PF_NO_NAME)
    put_missing(batch, column);
  else if (batch->columns[column].data != NULL)
    batch->columns[column].ids[batch->rows] = name;
}

/* A time in the machine's unit. */
static inline void put_time (pf_batch *batch, size_t column,
                             const pf_flow *flow, double time) {
  int64_t whole;
  if (listing_whole(flow, time, &whole))
    put_int(batch, column, whole);
  else
    put_missing(batch, column);
}

#endif
