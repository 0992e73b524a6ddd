/*
** encoder.h - the writing side of a format: takes batches of rows and writes
** bytes to sinks. The first member of the struct of each encoder; its owner
** calls `close`. Members that may be NULL are optional.
**
** Opened by pf_format.encoder for lua/writer/file_writer.c, lua/writer/stream.c
** (to check rows) and model/writer/ring_encoder.c, which own it. It borrows the
** dictionary until `close`, and batch and sink during a call.
*/

#ifndef encoder_h
#define encoder_h

#include "bytes/sink.h"
#include "profio.h"

struct pf_encoder {
  /* Write the rows of a batch of a table. */
  pf_status (*put)(pf_encoder *self, size_t table, const pf_batch *batch,
                   pf_sink *sink, pf_error *error);
  /* Write what is left. No rows follow. */
  pf_status (*finish)(pf_encoder *self, pf_sink *sink, pf_error *error);
  void (*close)(pf_encoder *self); /* free itself */
  const pf_table *tables;          /* schemas, if options decide; else NULL */
  size_t ntables;
  uint64_t rounded; /* values rounded so far */
  uint64_t count;   /* state for `resume` */
  /* Make the file valid so far; or NULL. */
  pf_status (*flush)(pf_encoder *self, pf_sink *sink, pf_error *error);
  /* Continue files that another encoder flushed, with its `count`; or NULL. */
  void (*resume)(pf_encoder *self, const pf_sink *sink, uint64_t count);
  /* Take all rows of a reader of the main table by read_stacks; or NULL. */
  pf_status (*take)(pf_encoder *self, pf_reader *reader, pf_error *error);
  /* Take whole traces, which stay open until `finish`; or NULL. */
  pf_status (*merge)(pf_encoder *self, pf_trace *const *traces, size_t count,
                     pf_error *error);
};

/* End the opening of an encoder with this status: set *encoder, or close the
   encoder after a failure. */
static inline pf_status pf_encoder_opened (pf_encoder *self, pf_status status,
                                           pf_encoder **encoder) {
  if (status == PF_OK)
    *encoder = self;
  else
    self->close(self);
  return status;
}

#endif
