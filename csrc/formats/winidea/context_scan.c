/*
** context_scan.c - the scan of a binary timeline before the first event is
** read, if it has variables of option context_area: the cores of the variables,
** and the contexts that run on several cores at once. It reads the timeline
** twice, because the core of a write that states none depends on all records.
** Called by bin_timeline.c (task_contexts.h).
*/

#include <stdlib.h>

#include "formats/winidea/decode.h"
#include "model/dictionary/names.h"

typedef struct context_scan {
  winidea_decoder decoder;
  winidea_contexts *contexts;
  bool has_core[WINIDEA_CORES];
  uint64_t (
      *writers)[WINIDEA_CORES / 64]; /* by variable: cores that wrote it */
  bool has_unknown;                  /* a write states no core */
  bool finds_cores;                  /* the cores are not known yet */
  size_t count;                      /* of the records */
  uint8_t records[PF_BATCH_ROWS * 24];
} context_scan;


static pf_status add_running (context_scan *scan, unsigned core) {
  const uint32_t *const names = scan->decoder.tracker.names;
  const uint64_t name = names[core];
  uint32_t id;
  if (name == PF_NO_NAME || core == WINIDEA_NO_CORE)
    return PF_OK;
  for (unsigned other = 0; other < WINIDEA_NO_CORE; other++)
    if (other != core && names[other] == name)
      return pf_id_table_words(&scan->contexts->at_once, &name, 1, &id);
  return PF_OK;
}


/* Processes the writes that have been collected. */
static pf_status scan_writes (context_scan *scan, pf_error *error) {
  winidea_decoder *const d = &scan->decoder;
  const winidea_slice slice = {scan->records, scan->count, d->layout.size};
  scan->count = 0;
  if (scan->finds_cores) {
    for (size_t i = 0; i < slice.count; i++) {
      const uint8_t *const record = slice.at + i * slice.size;
      const size_t number =
          (size_t)(winidea_switch_of(scan->contexts, pf_load32le(record)) -
                   scan->contexts->switches);
      const unsigned core = winidea_core_of(d, record);
      scan->writers[number][core / 64] |= UINT64_C(1) << (core % 64);
    }
    return PF_OK;
  }
  d->areas = d->hidden_areas;
  pf_status status = winidea_find_areas(d, slice, error);
  for (size_t i = 0; i < slice.count && status == PF_OK; i++) {
    unsigned at;
    status = winidea_track(d, slice.at + i * slice.size, i, &at);
    if (status == PF_OK && at != WINIDEA_CORES)
      status = add_running(scan, at);
    if (status == PF_ENOMEM)
      return pf_no_memory(error);
  }
  return status;
}


static pf_status scan_records (context_scan *scan, pf_error *error) {
  winidea_decoder *const d = &scan->decoder;
  const size_t size = d->layout.size;
  const uint64_t filter = scan->contexts->filter;
  const uint8_t *at = d->file->timeline->bytes.at;
  const uint8_t *const end = at + winidea_records(d->file) * size;
  pf_status status = PF_OK;
  for (; at < end && status == PF_OK; at += size) {
    const uint32_t handle = pf_load32le(at);
    scan->has_core[winidea_core_of(d, at)] = true;
    if ((filter >> (handle & 63) & 1) == 0 ||
        winidea_switch_of(scan->contexts, handle) == NULL)
      continue;
    memcpy(scan->records + scan->count++ * size, at, size);
    if (scan->count == PF_BATCH_ROWS)
      status = scan_writes(scan, error);
  }
  return status == PF_OK ? scan_writes(scan, error) : status;
}


/* The last number in the name of a variable, if that is a core of the file;
   else WINIDEA_NO_CORE. */
static unsigned core_in_name (const context_scan *scan, uint32_t variable) {
  const winidea_decoder *const d = &scan->decoder;
  const winidea_entry *const entry = winidea_first_entry(d->file, variable);
  const pf_bytes name = entry == NULL || entry->name == PF_NO_NAME
                            ? (pf_bytes){NULL, 0}
                            : pf_name(d->trace->dictionary, entry->name);
  size_t end = name.size, core = 0;
  while (end > 0 && pf_digit(name.at[end - 1]) > 9)
    end--;
  size_t start = end;
  while (start > 0 && pf_digit(name.at[start - 1]) <= 9 && end - start < 4)
    start--;
  for (size_t i = start; i < end; i++)
    core = core * 10 + pf_digit(name.at[i]);
  return start < end && core < WINIDEA_NO_CORE && scan->has_core[core]
             ? (unsigned)core
             : WINIDEA_NO_CORE;
}


/* Sets the only core of the file and the cores of the variables: the one that
   writes it, or, if several do or none is stated, the number in its name.
   Notes writes whose core is unknown. */
static pf_status set_cores (context_scan *scan, pf_error *error) {
  winidea_contexts *const c = scan->contexts;
  pf_trace *const trace = scan->decoder.trace;
  unsigned ncores = 0, unknown = 0;
  for (unsigned core = 0; core < WINIDEA_NO_CORE; core++)
    if (scan->has_core[core]) {
      c->core = core;
      ncores++;
    }
  if (ncores != 1)
    c->core = WINIDEA_NO_CORE;
  for (size_t i = 0; i < c->nswitches; i++) {
    winidea_switch *const s = &c->switches[i];
    unsigned writers = 0;
    for (unsigned core = 0; core < WINIDEA_NO_CORE; core++)
      if ((scan->writers[i][core / 64] >> (core % 64) & 1) != 0) {
        s->core = core;
        writers++;
      }
    const bool has_unknown = (scan->writers[i][3] >> 63) != 0;
    const unsigned named = core_in_name(scan, s->variable);
    s->is_fixed = c->nswitches > 1 && writers > 1 && named != WINIDEA_NO_CORE;
    if (writers != 1)
      s->core = c->nswitches > 1 ? named : WINIDEA_NO_CORE;
    scan->has_unknown |= has_unknown;
    unknown += has_unknown && s->core == WINIDEA_NO_CORE &&
               c->core == WINIDEA_NO_CORE && (ncores > 1 || c->nswitches > 1);
  }
  if (unknown == 0)
    return PF_OK;
  return pf_warn(
      trace, PF_NOTE, "winidea-unknown-core", PF_EFORMAT, PF_NO_OFFSET, error,
      "%u variables of context_area are written by unknown cores, "
      "which may be any of %u: contexts may be those of another core",
      unknown, ncores);
}


pf_status winidea_scan_contexts (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  winidea_contexts *const c = &file->contexts;
  if (c->nswitches == 0 || c->is_scanned || file->is_version_pending)
    return PF_OK;
  c->is_scanned = true;
  context_scan *const scan = calloc(1, sizeof *scan);
  if (scan == NULL)
    return pf_no_memory(error);
  scan->contexts = c;
  scan->finds_cores = true;
  scan->writers = calloc(c->nswitches, sizeof *scan->writers);
  winidea_decoder_init(&scan->decoder, trace, &file->layout, &file->tables[0]);
  pf_status status =
      scan->writers == NULL ? pf_no_memory(error) : scan_records(scan, error);
  if (status == PF_OK) {
    pthread_mutex_lock(&file->mutex);
    status = set_cores(scan, error);
    pthread_mutex_unlock(&file->mutex);
  }
  scan->finds_cores = false;
  if (status == PF_OK)
    status = scan_records(scan, error);
  if (status == PF_OK && !scan->decoder.tracker.has_any)
    status = winidea_note_untracked(trace, error);
  winidea_decoder_free(&scan->decoder);
  free(scan->writers);
  free(scan);
  return status;
}
