/*
** statistics.c - events through the machine into groups, and groups as rows.
*/

#include "kernels/calls/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/calls/events.h"
#include "kernels/calls/statistics_rows.h"

#define AT_ONCE 512 /* events: their calls stay in the nearest cache */

typedef struct statistics_reader {
  pf_reader reader;
  pf_reader *input;
  pf_statistics_options options;
  pf_statistics_schema schema;
  pf_events events;
  pf_machine machine;
  pf_groups groups;
  bool begun, done;
  pf_error failure; /* the first one: given again when asked again */
  pf_store store;
  pf_reader *rows; /* over the store */
} statistics_reader;


static pf_status out_of_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


/* {====== Reading the events ====== */

/* Whether a column whose name ends so is wanted. */
static bool is_wanted (const statistics_reader *r, const pf_batch *batch,
                       pf_statistic what) {
  for (size_t i = 0; i < r->schema.count; i++)
    if (r->schema.columns[i].what == what && batch->columns[i].data != NULL)
      return true;
  return false;
}


static pf_status begin (statistics_reader *r, const pf_batch *batch,
                        pf_error *error) {
  const pf_status status = pf_events_open(&r->events, r->input, error);
  if (status != PF_OK) {
    pf_events_close(&r->events);
    return status;
  }
  pf_machine_init(&r->machine, &r->options.calls, r->input->dictionary,
                  r->schema.fields[0].type == PF_AREA);
  pf_groups_init(&r->groups, r->options.by,
                 is_wanted(r, batch, PF_STATISTIC_STDDEV),
                 is_wanted(r, batch, PF_STATISTIC_RANK));
  r->begun = true;
  return PF_OK;
}


static pf_status take_calls (statistics_reader *r, pf_status status) {
  const pf_machine *const m = &r->machine;
  return status == PF_OK
             ? pf_groups_add(&r->groups, &m->lanes, m->calls, m->ncalls)
             : status;
}


static pf_status take_batch (statistics_reader *r) {
  pf_machine *const m = &r->machine;
  const size_t rows = r->events.batch.rows;
  pf_status status = PF_OK;
  for (size_t from = 0; from < rows && status == PF_OK; from += AT_ONCE) {
    const size_t to = rows - from < AT_ONCE ? rows : from + AT_ONCE;
    status = take_calls(r, pf_machine_take(m, &r->events.rows, from, to));
  }
  return status;
}


/* Read on until the events end, stop for now, or fail. */
static pf_status read_events (statistics_reader *r, pf_error *error) {
  pf_status status = PF_MORE;
  while (status == PF_MORE) {
    status = pf_events_next(&r->events, error);
    if (status == PF_MORE && take_batch(r) != PF_OK)
      return out_of_memory(error);
  }
  if (status == PF_END &&
      take_calls(r, pf_machine_finish(&r->machine)) != PF_OK)
    return out_of_memory(error);
  return status;
}


static pf_status drain (statistics_reader *r, const pf_batch *batch,
                        pf_error *error) {
  pf_status status = r->begun ? PF_OK : begin(r, batch, error);
  if (status == PF_OK)
    status = read_events(r, error);
  if (status != PF_END)
    return status;
  const pf_statistics_rows rows = {&r->schema, &r->events, &r->machine.lanes,
                                   &r->groups, r->options.ranks};
  status = pf_statistics_fill(&rows, &r->store, error);
  if (status == PF_OK)
    status = pf_store_reader(&r->store, NULL, r->store.rows, &r->rows, error);
  r->done = status == PF_OK;
  return status;
}

/* }====== */


static pf_status statistics_next (pf_reader *self, pf_batch *batch,
                                  pf_error *error) {
  statistics_reader *const r = (statistics_reader *)(void *)self;
  if (r->failure.status != PF_OK) {
    *error = r->failure;
    return r->failure.status;
  }
  if (!r->done) {
    pf_batch_clear(batch);
    const pf_status status = drain(r, batch, error);
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
  if (r->begun) {
    pf_machine_free(&r->machine);
    pf_groups_free(&r->groups);
  }
  pf_events_close(&r->events);
  pf_store_close(&r->store);
  pf_statistics_schema_free(&r->schema);
  free(r);
}


static pf_status open_all (statistics_reader *r, pf_error *error) {
  const pf_status status = pf_events_columns(&r->events, r->input, error);
  if (status != PF_OK)
    return status;
  const pf_type area = r->input->fields[r->events.area].type;
  const pf_type lane = pf_events_lane_type(&r->events);
  r->events.reader = NULL; /* nothing of it is open */
  if (pf_statistics_schema_make(&r->schema, &r->options, area, lane) != PF_OK ||
      pf_store_open(&r->store, r->schema.fields, r->schema.count,
                    r->input->dictionary) != PF_OK)
    return out_of_memory(error);
  return PF_OK;
}


pf_status pf_statistics_open (pf_reader *input,
                              const pf_statistics_options *options,
                              pf_reader **reader, pf_error *error) {
  statistics_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return out_of_memory(error);
  r->input = input;
  r->options = *options;
  const pf_status status = open_all(r, error);
  if (status != PF_OK) {
    statistics_close(&r->reader);
    return status;
  }
  r->reader = (pf_reader){r->schema.fields,
                          r->schema.count,
                          input->dictionary,
                          statistics_next,
                          NULL,
                          NULL,
                          statistics_close};
  *reader = &r->reader;
  return PF_OK;
}
