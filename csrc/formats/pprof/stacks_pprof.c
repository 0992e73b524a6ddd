/*
** stacks_pprof.c - the bulk read of stacks: adds samples to contexts.
**
** While samples are sorted as profio writes them, a frame that differs from the
** previous one is a new context that need not be searched. From the first
** sample out of order on, contexts are looked up.
**
** pprof_read_stacks is the ability `read_stacks` of the tables samples and
** weights (rows_pprof.c). It frees its arrays before it returns; the caller
** owns the contexts.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/pprof/pprof.h"
#include "model/base/memory.h"
#include "model/contexts/contexts.h"
#include "model/rows/abilities.h"

/* A frame on the path to the newest context. */
typedef struct path_frame {
  uint32_t node;
  uint32_t rank; /* rank of its frame, see rank_frames */
} path_frame;

typedef struct stacks_reader {
  pprof_samples samples;
  const pprof_file *file;
  const pf_stack_target *to;
  size_t *metrics; /* by sample type; PF_NO_METRIC: unused or not known yet */
  uint32_t *ranks; /* by index in file->frames */
  bool is_sorted;
  path_frame *frames; /* may extend beyond nframes to other paths */
  size_t nframes, frame_capacity;
} stacks_reader;


/* Reserve contexts for the whole file, extrapolated from the part read. */
static void reserve_contexts (const stacks_reader *g) {
  pf_contexts *const c = g->to->contexts;
  const double share =
      (double)g->file->readable.size / (double)(g->samples.at.at + 1);
  const double count = 1.1 * share * (double)c->count;
  if (count < (double)UINT32_MAX)
    pf_contexts_reserve(c, (size_t)count);
}


/* Set the frame at a depth of the path. Returns false if out of memory. */
static bool push_frame (stacks_reader *g, size_t depth, size_t frame) {
  pf_contexts *const c = g->to->contexts;
  const uint32_t rank = g->ranks[frame], area = g->file->frames[frame];
  if (depth < g->nframes) {
    if (g->frames[depth].rank == rank)
      return true;
    g->is_sorted &= g->frames[depth].rank < rank;
  }
  if (!pf_grow(&g->frames, &g->frame_capacity, depth + 1))
    return false;
  if (c->count == c->capacity)
    reserve_contexts(g);
  const uint32_t parent = depth == 0 ? 0 : g->frames[depth - 1].node;
  const uint32_t node = g->is_sorted ? pf_context_append(c, parent, area)
                                     : pf_context_of(c, parent, area);
  g->frames[depth] = (path_frame){node, rank};
  g->nframes = depth + 1;
  return node != PF_NO_CONTEXT;
}


/* Add the values of the sample. Without columns (table weights) a metric is
   added at its first value, as single rows would do. */
static pf_status add_weights (stacks_reader *g, uint32_t node,
                              pf_error *error) {
  pf_contexts *const c = g->to->contexts;
  pf_status status = PF_OK;
  int64_t weight;
  for (size_t t = 0; t < g->file->ntypes && status == PF_OK; t++) {
    if (!pprof_value(g->file, &g->samples.values, t, &weight))
      continue;
    if (g->metrics[t] == PF_NO_METRIC && g->to->nmetrics == 0) {
      const pprof_type *const type = &g->file->types[t];
      g->metrics[t] =
          pf_metric_of(c, (const char *)pf_name(c->dictionary, type->name).at,
                       (const char *)pf_name(c->dictionary, type->unit).at);
      if (g->metrics[t] == PF_NO_METRIC)
        status = pf_no_memory(error);
    }
    if (g->metrics[t] != PF_NO_METRIC)
      pf_context_add(c, node, g->metrics[t], weight);
  }
  return status;
}


/* Whether the sample gives a row: in table weights it needs at least one
   value. */
static bool is_row (const stacks_reader *g) {
  int64_t weight;
  for (size_t t = 0; t < g->file->ntypes && g->to->nmetrics == 0; t++)
    if (pprof_value(g->file, &g->samples.values, t, &weight))
      return true;
  return g->to->nmetrics > 0;
}


static pf_status read_samples (stacks_reader *g, pf_error *error) {
  const pprof_samples *const s = &g->samples;
  bool is_previous = false; /* the path is that of the previous sample */
  pf_status status;
  while ((status = pprof_next_sample(&g->samples, error)) == PF_MORE) {
    const size_t same = is_previous ? s->same : 0;
    is_previous = is_row(g);
    if (!is_previous) /* it may only give warnings */
      continue;
    for (size_t i = same; i < s->depth; i++)
      if (!push_frame(g, i, s->frames[i]))
        return pf_no_memory(error);
    const uint32_t node = s->depth == 0 ? 0 : g->frames[s->depth - 1].node;
    status = add_weights(g, node, error);
    if (status != PF_OK)
      return status;
  }
  return status == PF_END ? PF_OK : status;
}


/* Rank the frames by their order in the file; equal frames have the rank of the
   first one. Returns false if out of memory. */
static bool rank_frames (stacks_reader *g) {
  const pprof_file *const file = g->file;
  const size_t nareas = pf_areas_count(g->samples.trace->dictionary);
  uint32_t *const first = malloc((nareas + 1) * sizeof *first);
  g->ranks = malloc(((size_t)file->nframes + 1) * sizeof *g->ranks);
  if (first == NULL || g->ranks == NULL) {
    free(first);
    return false;
  }
  memset(first, 0xff, (nareas + 1) * sizeof *first);
  for (uint32_t i = 0; i < file->nframes; i++) {
    uint32_t *const rank = &first[file->frames[i]];
    if (*rank == UINT32_MAX)
      *rank = i;
    g->ranks[i] = *rank;
  }
  free(first);
  return true;
}


pf_status pprof_read_stacks (pf_trace *trace, const pf_stack_target *to,
                             pf_error *error) {
  stacks_reader *const g = malloc(sizeof *g);
  if (g == NULL)
    return pf_no_memory(error);
  *g = (stacks_reader){.samples = {.trace = trace, .file = trace->state},
                       .file = trace->state,
                       .to = to,
                       .is_sorted = true};
  g->samples.at = pf_cursor_over(g->file->readable, false);
  g->metrics = malloc((g->file->ntypes + 1) * sizeof *g->metrics);
  const bool ok = g->metrics != NULL && rank_frames(g);
  pf_status status = ok ? PF_OK : pf_no_memory(error);
  for (size_t type = 0; ok && type < g->file->ntypes; type++)
    g->metrics[type] = PF_NO_METRIC;
  for (size_t m = 0; ok && m < to->nmetrics; m++) /* column 0 is the stack */
    g->metrics[to->columns[m] - 1] = to->metrics[m];
  if (ok)
    status = read_samples(g, error);
  free(g->metrics);
  free(g->ranks);
  free(g->frames);
  pprof_samples_close(&g->samples);
  free(g);
  return status;
}
