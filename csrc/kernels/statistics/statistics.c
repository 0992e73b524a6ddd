/*
** statistics.c - the reader of statistics: it scans events into groups at the
** first `next`, or reads the groups from packed sums when it is opened, and
** returns them as rows. It also packs the groups of a scan.
*/

#include "kernels/statistics/statistics.h"

#include "kernels/statistics/result_rows.h"
#include "model/rows/table_reader.h"

typedef struct statistics_reader {
  pf_reader reader;
  pf_statistics_options options;
  pf_statistics_schema schema;
  pf_reader **chunks; /* the input and options.chunks */
  pf_scan scan;
  pf_sums sums; /* the packed sums that the scan was read from, or zeros */
  bool is_read; /* the scan is complete */
  bool done;
  pf_error failure; /* the first failure, returned again by every `next` */
  pf_store store;
  pf_reader *rows; /* the reader of the store */
} statistics_reader;


/* Read the events until PF_END, PF_AGAIN or a failure. */
static pf_status read_events (statistics_reader *r,
                              pf_call_aggregates aggregates, pf_error *error) {
  const pf_scan_options options = {r->options.calls, r->options.by, aggregates};
  if (!r->scan.is_open) {
    const pf_status status =
        pf_scan_open(&r->scan, r->reader.input, &options, false, error);
    if (status != PF_OK)
      return status;
  }
  if (r->options.nchunks > 0) {
    const pf_scan_chunks chunks = {r->chunks, r->options.nchunks + 1,
                                   r->options.rows, r->options.threads,
                                   r->options.progress};
    const pf_status status =
        pf_scan_chunks_read(&chunks, &options, &r->scan, error);
    return status == PF_OK ? PF_END : status;
  }
  const pf_status status =
      pf_scan_read_all(&r->scan, r->options.threads, error);
  return status == PF_END && pf_scan_finish(&r->scan) != PF_OK
             ? pf_no_memory(error)
             : status;
}


static pf_status run (statistics_reader *r, const pf_batch *batch,
                      pf_error *error) {
  pf_status status = PF_END;
  if (!r->is_read)
    status = read_events(r, pf_statistics_wanted(&r->schema, batch), error);
  if (status != PF_END)
    return status;
  status = pf_statistics_fill(&r->schema, &r->scan, r->options.by_content,
                              &r->store, error);
  if (status == PF_OK)
    status = pf_store_reader(&r->store, NULL, r->store.rows, &r->rows, error);
  r->done = status == PF_OK;
  return status;
}


static pf_status statistics_next (pf_reader *self, pf_batch *batch,
                                  pf_error *error) {
  statistics_reader *const r = (statistics_reader *)(void *)self;
  if (r->failure.status != PF_OK) {
    *error = r->failure;
    return r->failure.status;
  }
  if (!r->done) {
    pf_batch_clear(batch);
    const pf_status status = run(r, batch, error);
    if (status < PF_OK)
      r->failure = *error;
    if (!r->done)
      return status;
  }
  return r->rows->next(r->rows, batch, error);
}


static void statistics_close (pf_reader *self) {
  statistics_reader *const r = (statistics_reader *)(void *)self;
  if (r->rows != NULL)
    r->rows->close(r->rows);
  pf_scan_close(&r->scan);
  pf_store_close(&r->store);
  pf_statistics_schema_free(&r->schema);
  free(r->chunks);
  free(r);
}


static pf_status open_rows (statistics_reader *r, pf_type area, pf_type lane,
                            pf_error *error) {
  if (pf_statistics_schema_make(&r->schema, &r->options, area, lane) != PF_OK ||
      pf_store_open(&r->store, r->schema.fields, r->schema.count,
                    r->reader.dictionary) != PF_OK)
    return pf_no_memory(error);
  r->reader.fields = r->schema.fields;
  r->reader.nfields = r->schema.count;
  return PF_OK;
}


static pf_status open_all (statistics_reader *r, pf_error *error) {
  pf_events events;
  const pf_status status = pf_events_columns(&events, r->reader.input, error);
  if (status != PF_OK)
    return status;
  /* Flags of events, ranges of times and callers depend on earlier events, so
     then there is one chunk. */
  const bool is_single = events.flags < r->reader.input->nfields ||
                         r->options.calls.has_from || r->options.calls.has_to ||
                         r->options.by == PF_BY_CALLER;
  if (is_single || pf_can(r->reader.input)->seek == NULL)
    r->options.nchunks = 0;
  r->chunks = calloc(r->options.nchunks + 1, sizeof *r->chunks);
  if (r->chunks == NULL)
    return pf_no_memory(error);
  r->chunks[0] = r->reader.input;
  for (size_t i = 0; i < r->options.nchunks; i++)
    r->chunks[i + 1] = r->options.chunks[i];
  return open_rows(r, r->reader.input->fields[events.area].type,
                   pf_events_lane_type(&events), error);
}


pf_status pf_statistics_open (pf_reader *input,
                              const pf_statistics_options *options,
                              pf_reader **reader, pf_error *error) {
  statistics_reader *const r =
      pf_stage_new(sizeof *r, input, statistics_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->reader.want = NULL; /* it reads the events into a batch of its own */
  r->reader.close = statistics_close;
  r->options = *options;
  return pf_reader_opened(&r->reader, open_all(r, error), reader);
}


/* The form of sums with these options; of areas and lanes as in `like`. */
static pf_sums_form form_of (const pf_statistics_options *options,
                             const pf_sums_form *like) {
  pf_sums_form form = *like;
  form.by = options->by == PF_BY_CALLER ? PF_BY_CALLER : PF_BY_LANE;
  form.without_end = options->without_end;
  form.calls = options->calls;
  if (form.calls.max_depth == 0)
    form.calls.max_depth = PF_MAX_DEPTH;
  return form;
}


pf_status pf_statistics_pack (pf_reader *self, pf_packed *packed,
                              pf_error *error) {
  statistics_reader *const r = (statistics_reader *)(void *)self;
  const pf_events *const events = &r->scan.events;
  if (r->options.by == PF_BY_AREA)
    r->options.by = PF_BY_LANE;
  const pf_status status = read_events(r, pf_sums_aggregates, error);
  if (status < PF_OK)
    return status;
  const bool has_lanes = pf_events_have_lanes(events);
  const pf_sums_form like = {
      .has_areas = r->scan.machine.lanes.has_areas,
      .has_lanes = has_lanes,
      .has_lane_names = has_lanes && pf_events_lane_type(events) == PF_NAME};
  const pf_sums_form form = form_of(&r->options, &like);
  if ((status == PF_AGAIN && pf_scan_finish(&r->scan) != PF_OK) ||
      pf_sums_pack(&r->scan, &form, packed) != PF_OK)
    return pf_no_memory(error);
  return PF_OK;
}


static pf_status open_sums (statistics_reader *r, pf_bytes packed,
                            pf_error *error) {
  pf_sums_form form;
  pf_status status = pf_sums_form_of(packed, &form, error);
  const pf_sums_form wanted = form_of(&r->options, &form);
  if (status == PF_OK)
    status = pf_sums_compare(&form, &wanted, error);
  if (status == PF_OK)
    status = open_rows(r, form.has_areas ? PF_AREA : PF_NAME,
                       form.has_lane_names ? PF_NAME : PF_INT, error);
  if (status != PF_OK)
    return status;
  const pf_scan_options options = {form.calls, r->options.by,
                                   pf_statistics_wanted(&r->schema, NULL)};
  r->is_read = true;
  status = pf_sums_open(&r->sums, &r->scan, &form, &options,
                        r->reader.dictionary, error);
  return status == PF_OK ? pf_sums_add(&r->sums, packed, error) : status;
}


pf_status pf_statistics_of_sums (pf_bytes packed, pf_dictionary *dictionary,
                                 const pf_statistics_options *options,
                                 pf_reader **reader, pf_error *error) {
  statistics_reader *const r =
      pf_reader_of(sizeof *r, NULL, 0, dictionary, statistics_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->reader.close = statistics_close;
  r->options = *options;
  return pf_reader_opened(&r->reader, open_sums(r, packed, error), reader);
}
