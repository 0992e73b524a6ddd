/*
** encode_pprof.c - the encoder: adds up weights by stack and metric, or merges
** whole traces, and writes the profile in `finish`. Opened through
** pf_format_pprof by lua/writer and model/writer, which call its `close`; that
** frees the contexts and the merge.
*/

#include <stdlib.h>

#include "formats/pprof/merge.h"
#include "formats/pprof/write_pprof.h"
#include "model/contexts/contexts.h"
#include "model/base/gzip.h"
#include "model/rows/abilities.h"
#include "model/writer/encoder.h"

typedef struct pprof_writer {
  pf_encoder encoder;
  pf_contexts contexts;
  pf_stack_nodes stacks;
  pprof_merged *merged; /* whole traces; NULL: rows */
  bool is_gzipped;
  pprof_header header; /* attributes that options state */
} pprof_writer;


/* Returns the text of a name, which ends with NUL, or `missing`. */
static const char *text_at (const pprof_writer *w, const pf_batch *batch,
                            size_t column, size_t row, const char *missing) {
  return pf_has_value(batch, column, row)
             ? (const char *)pf_name(w->contexts.dictionary,
                                     batch->columns[column].ids[row])
                   .at
             : missing;
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  pprof_writer *const w = (pprof_writer *)(void *)encoder;
  pf_contexts *const c = &w->contexts;
  (void)table; /* there is only one */
  (void)sink;
  for (size_t row = 0; row < batch->rows; row++) {
    uint32_t node = 0;
    const size_t metric =
        pf_metric_of(c, text_at(w, batch, WEIGHTS_metric, row, "samples"),
                     text_at(w, batch, WEIGHTS_unit, row, "count"));
    if (metric == PF_NO_METRIC)
      return pf_no_memory(error);
    if (!pf_has_value(batch, WEIGHTS_weight, row))
      continue;
    if (pf_has_value(batch, WEIGHTS_stack, row))
      node = pf_node_of_stack(c, &w->stacks,
                              batch->columns[WEIGHTS_stack].ids[row]);
    if (node == PF_NO_CONTEXT)
      return pf_no_memory(error);
    pf_context_add(c, node, metric, batch->columns[WEIGHTS_weight].ints[row]);
  }
  return PF_OK;
}


/* Add the stacks of a reader to the rows that were put before. */
static pf_status take (pf_encoder *encoder, pf_reader *reader,
                       pf_error *error) {
  pprof_writer *const w = (pprof_writer *)(void *)encoder;
  pf_contexts more;
  pf_stack_target to = {.contexts = &w->contexts};
  if (w->contexts.count == 1 && w->contexts.nmetrics == 0)
    return reader->can->read_stacks(reader, &to, error);
  if (pf_contexts_open(&more, w->contexts.dictionary) != PF_OK)
    return pf_no_memory(error);
  to.contexts = &more;
  pf_status status = reader->can->read_stacks(reader, &to, error);
  if (status == PF_OK)
    status = pf_contexts_absorb(&w->contexts, &more, error);
  pf_contexts_close(&more);
  return status;
}


/* Merge whole traces without conversion to rows, which would lose attributes.
   Called at most once; rows that were put are not written then. */
static pf_status merge (pf_encoder *encoder, pf_trace *const *traces,
                        size_t count, pf_error *error) {
  pprof_writer *const w = (pprof_writer *)(void *)encoder;
  w->merged = pprof_merged_new(w->contexts.dictionary);
  return w->merged == NULL ? pf_no_memory(error)
                           : pprof_merged_add(w->merged, traces, count, error);
}


static pf_status write_plain (const pprof_writer *w, pf_sink *sink,
                              pf_error *error) {
  const pprof_attributes attributes = {&w->header, NULL};
  if (w->merged != NULL)
    return pprof_merged_write(w->merged, &w->header, sink, error);
  if (w->contexts.has_overflowed)
    return pf_refuse(
        error, "the weights of a stack add up to more than 64 bits can hold");
  return pf_pprof_write(&w->contexts, &attributes, sink, error);
}


static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  const pprof_writer *const w = (const pprof_writer *)(const void *)encoder;
  if (!w->is_gzipped)
    return write_plain(w, sink, error);
  pf_gzip *const gzip = pf_gzip_open();
  if (gzip == NULL)
    return pf_no_memory(error);
  pf_status status = write_plain(w, pf_gzip_sink(gzip), error);
  if (status == PF_OK)
    status = pf_gzip_finish(gzip, sink, error);
  pf_gzip_close(gzip);
  return status;
}


static void close_writer (pf_encoder *encoder) {
  pprof_writer *const w = (pprof_writer *)(void *)encoder;
  pf_contexts_close(&w->contexts);
  pf_stack_nodes_close(&w->stacks);
  pprof_merged_free(w->merged);
  pprof_header_close(&w->header);
  free(w);
}


pf_status pprof_encoder (const pf_option *options, size_t noptions,
                         pf_dictionary *dictionary, pf_encoder **encoder,
                         pf_error *error) {
  const pf_trace asked = {.options = options, .noptions = noptions};
  pprof_writer *const w = calloc(1, sizeof *w);
  if (w == NULL)
    return pf_no_memory(error);
  w->encoder = (pf_encoder){.put = put,
                            .finish = finish,
                            .close = close_writer,
                            .take = take,
                            .merge = merge};
  w->is_gzipped = pf_option_int(&asked, "packed", 1) != 0;
  pprof_header_open(&w->header);
  w->header.time_nanos = pf_option_int(&asked, "time_nanos", 0);
  w->header.duration_nanos = pf_option_int(&asked, "duration_nanos", 0);
  w->header.period = pf_option_int(&asked, "period", 0);
  pf_status status = pf_contexts_open(&w->contexts, dictionary);
  if (status != PF_OK)
    status = pf_no_memory(error);
  return pf_encoder_opened(&w->encoder, status, encoder);
}
