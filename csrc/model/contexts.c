/*
** contexts.c - the tree, and adding one to another.
*/

#include <stdlib.h>
#include <string.h>

#include "model/contexts.h"


/* {====== Opening ====== */

pf_status pf_contexts_open (pf_contexts *c, pf_dictionary *dictionary) {
  *c = (pf_contexts){.dictionary = dictionary};
  c->children.seed = dictionary->seed;
  return pf_context_of(c, PF_NO_CONTEXT, PF_NO_AREA) == 0 ? PF_OK : PF_ENOMEM;
}


void pf_contexts_close (pf_contexts *c) {
  free(c->parents);
  free(c->frames);
  for (size_t m = 0; m < c->nmetrics; m++)
    free(c->weights[m]);
  pf_interned_free(&c->children);
  *c = (pf_contexts){0};
}

/* }====== */


/* {====== Metrics ====== */

static void cut_copy (char *to, size_t size, const char *from) {
  const size_t length = strlen(from);
  const size_t copied = length < size ? length : size - 1;
  memcpy(to, from, copied);
  to[copied] = '\0';
}


size_t pf_metric_named (const pf_contexts *c, const char *name) {
  for (size_t m = 0; m < c->nmetrics; m++)
    if (strcmp(c->metrics[m].name, name) == 0)
      return m;
  return PF_MAX_METRICS;
}


size_t pf_metric_of (pf_contexts *c, const char *name, const char *unit) {
  pf_context_metric wanted;
  cut_copy(wanted.name, sizeof wanted.name, name);
  cut_copy(wanted.unit, sizeof wanted.unit, unit);
  for (size_t m = 0; m < c->nmetrics; m++)
    if (strcmp(c->metrics[m].name, wanted.name) == 0 &&
        strcmp(c->metrics[m].unit, wanted.unit) == 0)
      return m;
  if (c->nmetrics == PF_MAX_METRICS)
    return PF_MAX_METRICS;
  int64_t *const weights = calloc(c->room, sizeof *weights);
  if (weights == NULL)
    return PF_MAX_METRICS;
  c->weights[c->nmetrics] = weights;
  c->metrics[c->nmetrics] = wanted;
  return c->nmetrics++;
}

/* }====== */


/* {====== Nodes ====== */

typedef struct wanted {
  const pf_contexts *contexts;
  uint32_t parent, frame;
} wanted;


static bool is_same (const void *context, uint32_t number) {
  const wanted *const w = context;
  return w->contexts->parents[number] == w->parent &&
         w->contexts->frames[number] == w->frame;
}


static bool grow_ids (uint32_t **ids, size_t room) {
  uint32_t *const grown = realloc(*ids, room * sizeof *grown);
  if (grown != NULL)
    *ids = grown;
  return grown != NULL;
}


static bool reserve (pf_contexts *c) {
  if (!pf_interned_reserve(&c->children))
    return false;
  const uint32_t room = c->children.room;
  if (c->room == room)
    return true;
  if (!grow_ids(&c->parents, room) || !grow_ids(&c->frames, room))
    return false;
  for (size_t m = 0; m < c->nmetrics; m++) {
    int64_t *const weights = realloc(c->weights[m], room * sizeof *weights);
    if (weights == NULL)
      return false;
    memset(weights + c->room, 0, (room - c->room) * sizeof *weights);
    c->weights[m] = weights;
  }
  c->room = room;
  return true;
}


uint32_t pf_context_of (pf_contexts *c, uint32_t parent, uint32_t frame) {
  const uint64_t hash =
      pf_mix(c->children.seed, parent | (uint64_t)frame << 32);
  const wanted w = {c, parent, frame};
  const uint32_t known = pf_interned_find(&c->children, hash, is_same, &w);
  if (known != PF_NOT_INTERNED)
    return known;
  if (!reserve(c))
    return PF_NO_CONTEXT;
  c->parents[c->count] = parent;
  c->frames[c->count] = frame;
  c->count++;
  return pf_interned_add(&c->children, hash);
}


uint32_t pf_frame_of (pf_dictionary *dictionary, uint32_t area) {
  const pf_area *const known = pf_area_at(dictionary, area);
  pf_area frame = PF_AREA_NONE;
  frame.name = known->name;
  frame.file = known->file;
  frame.line = known->line;
  return pf_area_add(dictionary, &frame);
}


/* What is below adds to what is above it, the last node first. */
void pf_contexts_totals (const pf_contexts *c, size_t metric, int64_t *totals) {
  bool overflow = false;
  memcpy(totals, c->weights[metric], c->count * sizeof *totals);
  for (uint32_t node = c->count; node-- > 1;) {
    int64_t *const above = &totals[c->parents[node]];
    *above = pf_weight_add(*above, totals[node], &overflow);
  }
}

/* }====== */


/* {====== Merging ====== */

/* The name in `to` that is name `number` of `from`. */
static uint32_t same_name (pf_dictionary *to, const pf_dictionary *from,
                           uint32_t number, bool *failed) {
  if (number == PF_NO_NAME)
    return PF_NO_NAME;
  const uint32_t name = pf_intern(to, pf_name(from, number));
  *failed |= name == PF_NO_NAME;
  return name;
}


/* The frame in `to` that is frame `number` of `from`. */
static uint32_t same_frame (pf_dictionary *to, const pf_dictionary *from,
                            uint32_t number) {
  const pf_area *const known = pf_area_at(from, number);
  pf_area frame = PF_AREA_NONE;
  bool failed = false;
  frame.name = same_name(to, from, known->name, &failed);
  frame.file = same_name(to, from, known->file, &failed);
  frame.line = known->line;
  return failed ? PF_NO_AREA : pf_area_add(to, &frame);
}


/* Each frame of `more` in the dictionary of `c`, found once; by its number. */
typedef struct translation {
  uint32_t *frames;
  uint32_t *nodes; /* node of `more` -> node of `c` */
} translation;


static bool open_translation (translation *t, const pf_contexts *more) {
  const size_t nframes = (size_t)pf_areas_count(more->dictionary) + 1;
  t->frames = malloc(nframes * sizeof *t->frames);
  t->nodes = malloc(more->count * sizeof *t->nodes);
  if (t->frames != NULL)
    memset(t->frames, 0xff, nframes * sizeof *t->frames);
  return t->frames != NULL && t->nodes != NULL;
}


/* The node in `c` of node `i` of `more`, whose parent has one already. */
static uint32_t same_node (pf_contexts *c, const pf_contexts *more,
                           const translation *t, uint32_t i) {
  uint32_t frame = more->frames[i];
  if (c->dictionary != more->dictionary) {
    uint32_t *const known = &t->frames[frame];
    if (*known == PF_NO_AREA)
      *known = same_frame(c->dictionary, more->dictionary, frame);
    frame = *known;
  }
  return frame == PF_NO_AREA
             ? PF_NO_CONTEXT
             : pf_context_of(c, t->nodes[more->parents[i]], frame);
}


static void merge_weights (pf_contexts *c, const pf_contexts *more,
                           const uint32_t *nodes, size_t metric, int sign) {
  const size_t to =
      pf_metric_of(c, more->metrics[metric].name, more->metrics[metric].unit);
  for (uint32_t i = 0; i < more->count; i++) {
    const int64_t weight = more->weights[metric][i];
    if (weight == INT64_MIN && sign < 0)
      c->has_overflowed = true;
    if (weight != 0)
      pf_context_add(c, nodes[i], to,
                     sign > 0              ? weight
                     : weight == INT64_MIN ? INT64_MAX
                                           : -weight);
  }
}


/* Have all metrics of `more`: what fails later must leave nothing behind. */
static pf_status merge_metrics (pf_contexts *c, const pf_contexts *more,
                                pf_error *error) {
  for (size_t m = 0; m < more->nmetrics; m++) {
    if (pf_metric_of(c, more->metrics[m].name, more->metrics[m].unit) !=
        PF_MAX_METRICS)
      continue;
    if (c->nmetrics < PF_MAX_METRICS)
      return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a profile has at most %d metrics", PF_MAX_METRICS);
  }
  return PF_OK;
}


/* The same arrays once more. */
static bool copy_nodes (pf_contexts *c, const pf_contexts *from) {
  if (!pf_interned_copy(&c->children, &from->children) ||
      !grow_ids(&c->parents, from->room) || !grow_ids(&c->frames, from->room))
    return false;
  memcpy(c->parents, from->parents, from->count * sizeof *c->parents);
  memcpy(c->frames, from->frames, from->count * sizeof *c->frames);
  c->count = from->count;
  c->room = from->room;
  return true;
}


pf_status pf_contexts_copy (pf_contexts *c, const pf_contexts *from) {
  if (!copy_nodes(c, from))
    return PF_ENOMEM;
  for (size_t m = 0; m < from->nmetrics; m++) {
    const size_t to =
        pf_metric_of(c, from->metrics[m].name, from->metrics[m].unit);
    if (to == PF_MAX_METRICS)
      return PF_ENOMEM;
    memcpy(c->weights[to], from->weights[m], from->count * sizeof(int64_t));
  }
  c->has_overflowed = from->has_overflowed;
  return PF_OK;
}


pf_status pf_contexts_merge (pf_contexts *c, const pf_contexts *more, int sign,
                             pf_error *error) {
  translation t = {NULL, NULL};
  pf_status status = merge_metrics(c, more, error);
  if (status != PF_OK)
    return status;
  if (!open_translation(&t, more))
    status = PF_ENOMEM;
  else
    t.nodes[0] = 0;
  for (uint32_t i = 1; status == PF_OK && i < more->count; i++) {
    t.nodes[i] = same_node(c, more, &t, i);
    if (t.nodes[i] == PF_NO_CONTEXT)
      status = PF_ENOMEM;
  }
  for (size_t m = 0; status == PF_OK && m < more->nmetrics; m++)
    merge_weights(c, more, t.nodes, m, sign);
  c->has_overflowed |= more->has_overflowed;
  free(t.frames);
  free(t.nodes);
  return status == PF_OK
             ? PF_OK
             : pf_fail(error, status, PF_NO_OFFSET, "out of memory");
}

/* }====== */
