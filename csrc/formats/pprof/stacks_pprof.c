/*
** stacks_pprof.c - the bulk read of stacks: adds samples to contexts without
** rows.
**
** Locations are leaf first, so two samples with common callers end with the
** same bytes: only the bytes before these are decoded. And while samples are
** sorted as profio writes them, a frame that differs from the previous one is a
** new context that need not be searched. From the first sample out of order on,
** contexts are looked up.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/pprof/pprof.h"
#include "model/base/memory.h"
#include "model/rows/read_stacks.h"

/* A frame on the path to the newest context. */
typedef struct path_frame {
  uint32_t node;
  uint32_t rank; /* rank of its frame, see rank_frames */
} path_frame;

/* A location on the path. It ends `bytes` before the end of the sample's
   location ids, and `depth` frames deep. */
typedef struct path_location {
  size_t bytes;
  size_t depth;
} path_location;

/* A decoded location, and its distance in bytes from the end of the ids. */
typedef struct decoded_location {
  uint32_t number;
  size_t bytes;
} decoded_location;

typedef struct stacks_reader {
  pf_trace *trace;
  const pprof_file *file;
  const pf_stack_target *to;
  pf_cursor at;
  size_t metrics[PPROF_MAX_TYPES]; /* PF_NO_METRIC: unused or not known yet */
  uint32_t *ranks;                 /* by index in file->frames */
  bool is_sorted;
  path_frame *frames; /* may extend beyond nframes to other paths */
  size_t nframes, frame_capacity;
  path_location *locations;
  size_t nlocations, location_capacity;
  pf_bytes ids;              /* of the previous sample, whose path this is */
  decoded_location *decoded; /* scratch: decoded locations */
  size_t decoded_capacity;
  pprof_values values; /* of the current sample */
} stacks_reader;


/* {====== The path ====== */

/* Reserve contexts for the whole file, extrapolated from the part that has been
   read. */
static void reserve_contexts (const stacks_reader *g) {
  pf_contexts *const c = g->to->contexts;
  const double share = (double)g->file->readable.size / (double)(g->at.at + 1);
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


/* Add the frames of one location, the innermost last. */
static bool push_location (stacks_reader *g, size_t *depth, uint32_t number) {
  const pprof_location *const l = &g->file->locations[number];
  for (uint32_t i = l->count; i-- > 0; ++*depth)
    if (!push_frame(g, *depth, l->first + i))
      return false;
  return true;
}


static uint32_t node_at (const stacks_reader *g, size_t depth) {
  return depth == 0 ? 0 : g->frames[depth - 1].node;
}

/* }====== */


/* {====== Fast path ====== */

/* Returns how many bytes at the end of two slices are equal. */
static size_t common_tail (pf_bytes a, pf_bytes b) {
  const size_t minimum = a.size < b.size ? a.size : b.size;
  const uint8_t *const p = a.at + a.size, *const q = b.at + b.size;
  size_t n = 0;
  for (; minimum - n >= 8; n += 8) {
    const uint64_t x = pf_load64le(p - n - 8) ^ pf_load64le(q - n - 8);
    if (x != 0)
      return n + (size_t)__builtin_clzll(x) / 8;
  }
  while (n < minimum && p[-1 - (ptrdiff_t)n] == q[-1 - (ptrdiff_t)n])
    n++;
  return n;
}


/* Shorten the path to the locations that it shares with the sample. Returns how
   many bytes of the ids precede these. */
static size_t drop_different (stacks_reader *g, pf_bytes ids) {
  const size_t common = g->nlocations == 0 ? 0 : common_tail(ids, g->ids);
  while (g->nlocations > 0) {
    const size_t bytes = g->locations[g->nlocations - 1].bytes;
    const size_t left = ids.size - bytes; /* undefined if bytes > ids.size;
                                             not used then */
    if (bytes < common ||
        (bytes == common && (left == 0 || ids.at[left - 1] < 0x80)))
      return left;
    g->nlocations--;
  }
  return ids.size;
}


/* Decode the first `size` bytes of the ids. Returns false if they are invalid
   or memory is short. */
static bool decode_head (stacks_reader *g, pf_bytes ids, size_t size,
                         size_t *count) {
  pf_cursor c = pf_cursor_over((pf_bytes){ids.at, size}, false);
  uint64_t id;
  *count = 0;
  while (c.at < size) {
    const size_t bytes = ids.size - c.at;
    if (!pf_grow(&g->decoded, &g->decoded_capacity, *count + 1) ||
        !pprof_varint(&c, &id))
      return false;
    const uint32_t number = pprof_find_location(g->file, id);
    if (number == UINT32_MAX)
      return false;
    g->decoded[(*count)++] = (decoded_location){number, bytes};
  }
  return true;
}


/* Find the context of packed location ids. Returns false if the general path is
   needed. */
static bool find_node_fast (stacks_reader *g, pf_bytes ids, uint32_t *node) {
  size_t count;
  const size_t size = drop_different(g, ids);
  if (!decode_head(g, ids, size, &count))
    return false;
  size_t depth = g->nlocations == 0 ? 0 : g->locations[g->nlocations - 1].depth;
  while (count-- > 0) {
    if (!pf_grow(&g->locations, &g->location_capacity, g->nlocations + 1) ||
        !push_location(g, &depth, g->decoded[count].number))
      return false;
    g->locations[g->nlocations++] =
        (path_location){g->decoded[count].bytes, depth};
  }
  g->ids = ids;
  *node = node_at(g, depth);
  return true;
}

/* }====== */


/* {====== General path ====== */

/* Find the context of a sample in any form, as the reader of rows does. Without
   `is_wanted` it only reports warnings. */
static pf_status find_node (stacks_reader *g, const pprof_field *message,
                            bool is_wanted, uint32_t *node, pf_error *error) {
  pprof_id_list list = {NULL, 0, 0};
  size_t depth = 0;
  pf_status status = PF_OK;
  g->nlocations = 0;
  if (!pprof_list_ids(&list, message->bytes))
    status = pf_no_memory(error);
  for (size_t i = list.count; i-- > 0 && status == PF_OK;) {
    const uint32_t number = pprof_find_location(g->file, list.ids[i]);
    if (number == UINT32_MAX)
      status =
          pprof_warn_no_location(g->trace, list.ids[i], message->at, error);
    else if (is_wanted && !push_location(g, &depth, number))
      status = pf_no_memory(error);
  }
  free(list.ids);
  *node = node_at(g, depth);
  return status;
}

/* }====== */


/* {====== Samples ====== */


/* Add the values of the sample. The metric of a type is named when a row would
   name it. */
static pf_status add_weights (stacks_reader *g, uint32_t node,
                              pf_error *error) {
  pf_contexts *const c = g->to->contexts;
  pf_status status = PF_OK;
  int64_t weight;
  for (size_t t = 0; t < g->file->ntypes && status == PF_OK; t++) {
    if (!pprof_value(g->file, &g->values, t, &weight))
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
    if (pprof_value(g->file, &g->values, t, &weight))
      return true;
  return g->to->nmetrics > 0;
}


static pf_status read_sample (stacks_reader *g, const pprof_field *message,
                              pf_error *error) {
  pf_cursor c = pf_cursor_over(message->bytes, false);
  pprof_field field;
  pf_bytes ids = {message->bytes.at, 0};
  size_t nfields = 0;
  uint32_t node = 0;
  bool is_packed = true; /* the location ids are packed into one field */
  g->values.count = 0;
  while (pprof_next_field(&c, &field)) {
    if (field.number == 1) {
      is_packed &= field.wire == PPROF_BYTES && nfields++ == 0;
      ids = field.bytes;
    }
    if (field.number == 2)
      pprof_read_values(&g->values, &field);
  }
  pf_status status =
      pprof_check_values(g->trace, g->file, &g->values, message->at, error);
  if (status != PF_OK)
    return status;
  const bool is_wanted = is_row(g);
  if (!is_packed || !is_wanted || !find_node_fast(g, ids, &node))
    status = find_node(g, message, is_wanted, &node, error);
  return status == PF_OK && is_wanted ? add_weights(g, node, error) : status;
}

/* }====== */


/* Rank the frames by their order in the file; equal frames have the rank of the
   first one. Returns false if out of memory. */
static bool rank_frames (stacks_reader *g) {
  const pprof_file *const file = g->file;
  const size_t nareas = pf_areas_count(g->trace->dictionary);
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
  *g = (stacks_reader){
      .trace = trace, .file = trace->state, .to = to, .is_sorted = true};
  g->at = pf_cursor_over(g->file->readable, false);
  pprof_field field;
  pf_status status = rank_frames(g) ? PF_OK : pf_no_memory(error);
  for (size_t type = 0; type < PPROF_MAX_TYPES; type++)
    g->metrics[type] = PF_NO_METRIC;
  for (size_t m = 0; m < to->nmetrics; m++) /* column 0 is the stack */
    g->metrics[to->columns[m] - 1] = to->metrics[m];
  while (status == PF_OK && pprof_next_field(&g->at, &field))
    if (field.number == PPROF_SAMPLE && field.wire == PPROF_BYTES)
      status = read_sample(g, &field, error);
  free(g->ranks);
  free(g->frames);
  free(g->locations);
  free(g->decoded);
  free(g);
  return status;
}
