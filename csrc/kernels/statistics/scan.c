/*
** scan.c - processes a few hundred events at a time, so that their calls stay
** in the L1 cache.
*/

#include "kernels/statistics/scan.h"

#include <string.h>

#define AT_ONCE 512


pf_status pf_scan_open (pf_scan *p, pf_reader *reader,
                        const pf_scan_options *options, bool is_chunk,
                        pf_error *error) {
  memset(p, 0, sizeof *p);
  const pf_status status =
      pf_events_open(&p->events, reader, NULL, false, error);
  if (status != PF_OK) {
    pf_events_close(&p->events);
    return status;
  }
  const pf_type area = reader->fields[p->events.area].type;
  pf_machine_init(&p->machine, &options->calls, reader->dictionary,
                  area == PF_AREA);
  p->machine.is_chunk = is_chunk;
  pf_groups_init(&p->groups, is_chunk ? PF_BY_LANE : options->by,
                 options->squares, options->quantiles);
  p->is_open = true;
  return PF_OK;
}


void pf_scan_close (pf_scan *p) {
  if (!p->is_open)
    return;
  pf_machine_free(&p->machine);
  pf_groups_free(&p->groups);
  pf_events_close(&p->events);
  p->is_open = false;
}


static pf_status accumulate_calls (pf_scan *p, pf_status status) {
  const pf_machine *const m = &p->machine;
  return status == PF_OK
             ? pf_groups_add(&p->groups, &m->lanes, m->calls, m->ncalls)
             : status;
}


static pf_status process_batch (pf_scan *p) {
  pf_machine *const m = &p->machine;
  const size_t rows = p->events.batch.rows;
  pf_status status = PF_OK;
  for (size_t from = 0; from < rows && status == PF_OK; from += AT_ONCE) {
    const size_t to = rows - from < AT_ONCE ? rows : from + AT_ONCE;
    status =
        accumulate_calls(p, pf_machine_process(m, &p->events.rows, from, to));
  }
  return status;
}


pf_status pf_scan_read (pf_scan *p, uint64_t rows, pf_error *error) {
  while (rows > 0 && !p->machine.chunk.needs_reread) {
    const pf_status status = pf_events_next(&p->events, error);
    if (status != PF_MORE)
      return status;
    if (process_batch(p) != PF_OK)
      return pf_no_memory(error);
    if (pf_events_are_over(&p->events, &p->machine))
      return PF_END;
    rows -= p->events.batch.rows < rows ? p->events.batch.rows : rows;
  }
  return PF_MORE;
}


pf_status pf_scan_finish (pf_scan *p) {
  const pf_status status = accumulate_calls(p, pf_machine_finish(&p->machine));
  return status == PF_OK ? pf_call_sums_flush(&p->groups.sums) : status;
}
