/*
** ordered_merge.c - adds one profile to another: by a look-up of each node, or
** by an ordered merge where both are numbered in pre-order.
*/

#include "model/contexts/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "model/contexts/tree_order.h"
#include "model/base/memory.h"


/* The id in `to` of name `number` of `from`. */
static uint32_t same_name (pf_dictionary *to, const pf_dictionary *from,
                           uint32_t number, bool *failed) {
  if (number == PF_NO_NAME)
    return PF_NO_NAME;
  const uint32_t name = pf_intern(to, pf_name(from, number));
  *failed |= name == PF_NO_NAME;
  return name;
}


/* Returns the frame in the dictionary of `c` for each frame of `more` that is
   in use, by area; NULL when out of memory. The caller frees it. */
static uint32_t *translate (const pf_contexts *c, const pf_contexts *more) {
  const size_t nareas = (size_t)pf_areas_count(more->dictionary) + 1;
  uint32_t *const frames = malloc(nareas * sizeof *frames);
  if (frames == NULL)
    return NULL;
  memset(frames, 0xff, nareas * sizeof *frames);
  for (uint32_t i = 1; i < more->count; i++) {
    const uint32_t area = more->frames[i];
    if (frames[area] != PF_NO_AREA)
      continue;
    frames[area] = area;
    if (c->dictionary != more->dictionary) {
      const pf_area *const known = pf_area_at(more->dictionary, area);
      pf_area frame = PF_AREA_NONE;
      bool failed = false;
      frame.name =
          same_name(c->dictionary, more->dictionary, known->name, &failed);
      frame.file =
          same_name(c->dictionary, more->dictionary, known->file, &failed);
      frame.line = known->line;
      frames[area] = failed ? PF_NO_AREA : pf_area_add(c->dictionary, &frame);
    }
    if (frames[area] == PF_NO_AREA) {
      free(frames);
      return NULL;
    }
  }
  return frames;
}


static int64_t signed_weight (int64_t weight, int sign, bool *overflow) {
  if (sign > 0)
    return weight;
  *overflow |= weight == INT64_MIN;
  return weight == INT64_MIN ? INT64_MAX : -weight;
}


/* Add `more` to `c` by looking up each node. PF_ENOMEM. */
static pf_status merge_nodes (pf_contexts *c, const pf_contexts *more,
                              const uint32_t *frames, int sign,
                              pf_error *error) {
  uint32_t *const nodes = malloc(more->count * sizeof *nodes);
  bool ok = nodes != NULL;
  if (ok)
    nodes[0] = 0;
  for (uint32_t i = 1; ok && i < more->count; i++) {
    nodes[i] =
        pf_context_of(c, nodes[more->parents[i]], frames[more->frames[i]]);
    ok = nodes[i] != PF_NO_CONTEXT;
  }
  for (size_t m = 0; ok && m < more->nmetrics; m++) {
    const size_t to =
        pf_metric_of(c, more->metrics[m].name, more->metrics[m].unit);
    for (uint32_t i = 0; i < more->count; i++)
      if (more->weights[m][i] != 0)
        pf_context_add(
            c, nodes[i], to,
            signed_weight(more->weights[m][i], sign, &c->has_overflowed));
  }
  free(nodes);
  return ok ? PF_OK : pf_no_memory(error);
}


/* One of the two inputs. */
typedef struct side {
  const pf_contexts *contexts;
  pf_contexts *consumed;  /* the same, if it may be freed early; else NULL */
  const uint32_t *frames; /* in the sum's dictionary, by area */
  uint32_t *ranks;        /* by area */
  size_t *metrics;        /* by metric of the sum, or PF_NO_METRIC */
  int sign;
  pf_preorder position;
  uint32_t at; /* the next node */
} side;

/* Consecutive nodes of the sum from one input, or from both, are a run: a kind
   above RUN_BITS bits of their count. Larger sums are merged node by node. */
enum {
  FIRST,
  SECOND,
  BOTH
};
#define RUN_BITS 30

typedef struct ordered_merge {
  side sides[2];
  pf_contexts sum;
  uint32_t *path; /* by depth: the last node of the sum that both have */
  uint32_t *runs;
  size_t nruns, capacity;
  bool failed; /* memory was short for the runs */
} ordered_merge;


/* Open an input; `sum` has the metrics of both, and `ranks` are by area of its
   dictionary. False: the nodes are not in order, or memory is short. */
static bool open_side (side *s, pf_contexts *sum, const uint32_t *ranks) {
  const pf_contexts *const c = s->contexts;
  const size_t nareas = (size_t)pf_areas_count(c->dictionary) + 1;
  uint32_t deepest;
  s->ranks = malloc(nareas * sizeof *s->ranks);
  s->metrics = malloc((sum->nmetrics + 1) * sizeof *s->metrics);
  if (s->ranks == NULL || s->metrics == NULL)
    return false;
  for (size_t i = 0; i < nareas; i++)
    s->ranks[i] = s->frames[i] == PF_NO_AREA ? UINT32_MAX : ranks[s->frames[i]];
  for (size_t m = 0; m < sum->nmetrics; m++)
    s->metrics[m] = PF_NO_METRIC;
  for (size_t m = 0; m < c->nmetrics; m++)
    s->metrics[pf_metric_of(sum, c->metrics[m].name, c->metrics[m].unit)] = m;
  return pf_contexts_in_order(c, s->ranks, &deepest) &&
         pf_preorder_open(&s->position, c);
}


/* An empty sum with capacity for the nodes of both. Unused pages of it take no
   memory. */
static bool open_sum (ordered_merge *m, const pf_contexts *c, size_t count) {
  m->sum = (pf_contexts){.dictionary = c->dictionary,
                         .capacity = (uint32_t)count,
                         .has_overflowed = c->has_overflowed,
                         .children = {.seed = c->children.seed}};
  if (!pf_metrics_copy(&m->sum, c))
    return false;
  m->sum.parents = pf_large_array(count, sizeof *m->sum.parents);
  m->sum.frames = pf_large_array(count, sizeof *m->sum.frames);
  m->path = pf_large_array(count, sizeof *m->path);
  bool ok = m->sum.parents != NULL && m->sum.frames != NULL && m->path != NULL;
  for (size_t i = 0; i < c->nmetrics; i++) {
    m->sum.weights[i] = pf_large_array(count, sizeof(int64_t));
    ok = ok && m->sum.weights[i] != NULL;
  }
  return ok;
}


/* Add `count` nodes of one kind to the runs; sets `failed` when out of
   memory. */
static void add_run (ordered_merge *m, uint32_t kind, uint32_t count) {
  if (m->nruns == m->capacity) {
    const size_t capacity = m->capacity == 0 ? 1024 : m->capacity * 2;
    uint32_t *const runs =
        pf_large_array_resize(m->runs, m->nruns, capacity, sizeof *runs);
    m->failed |= runs == NULL;
    if (runs == NULL)
      return;
    m->runs = runs;
    m->capacity = capacity;
  }
  uint32_t *const end = m->runs + m->nruns;
  if (m->nruns > 0 && end[-1] >> RUN_BITS == kind &&
      (end[-1] + count) >> RUN_BITS == kind) {
    end[-1] += count;
    return;
  }
  *end = kind << RUN_BITS | count;
  m->nruns++;
}


static bool has_next (const side *s) {
  return s->at < s->contexts->count;
}


static void step (side *s) {
  if (++s->at < s->contexts->count)
    (void)pf_preorder_next(&s->position, s->at); /* it is in order */
}


/* Copy nodes that only one input has: the next one, and those after it that are
   deeper than `floor`. */
static void take_run (ordered_merge *m, side *s, uint32_t floor) {
  const pf_contexts *const c = s->contexts;
  const uint32_t from = s->at, to = m->sum.count;
  do {
    const uint32_t parent = c->parents[s->at];
    m->sum.parents[m->sum.count] =
        parent >= from ? parent - from + to : m->path[s->position.depth - 1];
    m->sum.frames[m->sum.count++] = s->frames[c->frames[s->at]];
    step(s);
  } while (has_next(s) && s->position.depth > floor);
  add_run(m, s == &m->sides[0] ? FIRST : SECOND, m->sum.count - to);
}


static uint32_t rank_of_next (const side *s) {
  return s->ranks[s->contexts->frames[s->at]];
}


/* If one input has the deeper next node, it is still below a common node that
   the other has left, so its nodes come first. At equal depth both next nodes
   have the same parent and are ordered by the ranks of their frames. */
static void merge_next (ordered_merge *m) {
  side *const a = &m->sides[0], *const b = &m->sides[1];
  const uint32_t depth = a->position.depth, other = b->position.depth;
  if (depth > other)
    take_run(m, a, other);
  else if (depth < other)
    take_run(m, b, depth);
  else if (depth == 0 || rank_of_next(a) == rank_of_next(b)) {
    /* A node that both inputs have. */
    const uint32_t node = m->sum.count++;
    m->path[depth] = node;
    m->sum.parents[node] = depth == 0 ? PF_NO_CONTEXT : m->path[depth - 1];
    m->sum.frames[node] =
        depth == 0 ? PF_NO_AREA : a->frames[a->contexts->frames[a->at]];
    add_run(m, BOTH, 1);
    step(a);
    step(b);
  }
  else
    take_run(m, rank_of_next(a) < rank_of_next(b) ? a : b, depth);
}


/* Add the weights of both inputs in a metric to the sum. */
static void add_metric (ordered_merge *m, size_t metric) {
  uint32_t at[2] = {0, 0}, node = 0;
  for (size_t i = 0; i < m->nruns; i++) {
    const uint32_t kind = m->runs[i] >> RUN_BITS;
    const uint32_t count = m->runs[i] & ((1u << RUN_BITS) - 1);
    memset(m->sum.weights[metric] + node, 0, count * sizeof(int64_t));
    for (uint32_t k = 0; k < 2; k++) {
      const side *const s = &m->sides[k];
      if (kind != BOTH && kind != k)
        continue;
      const int64_t *const weights =
          s->metrics[metric] == PF_NO_METRIC
              ? NULL
              : s->contexts->weights[s->metrics[metric]] + at[k];
      for (uint32_t n = 0; weights != NULL && n < count; n++)
        pf_context_add(
            &m->sum, node + n, metric,
            signed_weight(weights[n], s->sign, &m->sum.has_overflowed));
      at[k] += count;
    }
    node += count;
  }
}


/* Add the weights when all nodes have been added. This cannot fail. Arrays of
   the inputs that are consumed are freed as soon as they have been read: memory
   that was in use is reused without page faults. */
static void finish_sum (ordered_merge *m) {
  for (size_t s = 0; s < 2; s++) {
    pf_contexts *const consumed = m->sides[s].consumed;
    if (consumed == NULL)
      continue;
    free(consumed->parents);
    free(consumed->frames);
    pf_intern_table_free(&consumed->children);
    consumed->parents = consumed->frames = NULL;
  }
  for (size_t i = 0; i < m->sum.nmetrics; i++) {
    add_metric(m, i);
    for (size_t s = 0; s < 2; s++) {
      pf_contexts *const consumed = m->sides[s].consumed;
      const size_t metric = m->sides[s].metrics[i];
      if (consumed == NULL || metric == PF_NO_METRIC)
        continue;
      free(consumed->weights[metric]);
      consumed->weights[metric] = NULL;
    }
  }
}


/* The ranks of the frames of both, by area of the sum's dictionary; NULL when
   out of memory. */
static uint32_t *rank_both (const side *a, const side *b) {
  const pf_dictionary *const d = a->contexts->dictionary;
  const size_t mine = pf_areas_count(d);
  const size_t other = pf_areas_count(b->contexts->dictionary);
  uint32_t *const ranks = malloc((mine + 1) * sizeof *ranks);
  uint32_t *const areas = malloc((mine + other + 1) * sizeof *areas);
  bool ok = ranks != NULL && areas != NULL;
  if (ok) {
    memcpy(areas, a->frames, mine * sizeof *areas);
    memcpy(areas + mine, b->frames, other * sizeof *areas);
    ok = pf_frames_rank(d, areas, mine + other, ranks) == PF_OK;
  }
  free(areas);
  if (ok)
    return ranks;
  free(ranks);
  return NULL;
}


/* Try the ordered merge; false: the inputs are not in order, or memory is
   short, and nothing has changed. `consumed` is `more` if it may be freed, or
   NULL. */
static bool merge_in_order (pf_contexts *c, const pf_contexts *more,
                            pf_contexts *consumed, const uint32_t *own,
                            const uint32_t *frames, int sign) {
  ordered_merge z = {
      .sides = {{.contexts = c, .consumed = c, .frames = own, .sign = 1},
                {.contexts = more,
                 .consumed = consumed,
                 .frames = frames,
                 .sign = sign}}};
  const uint64_t count = (uint64_t)c->count + more->count;
  uint32_t *const ranks =
      count >> RUN_BITS != 0 ? NULL : rank_both(&z.sides[0], &z.sides[1]);
  bool ok = ranks != NULL && open_side(&z.sides[0], c, ranks) &&
            open_side(&z.sides[1], c, ranks) && open_sum(&z, c, (size_t)count);
  free(ranks);
  if (ok) {
    side *const a = &z.sides[0], *const b = &z.sides[1];
    while (has_next(a) && has_next(b))
      merge_next(&z);
    if (has_next(a))
      take_run(&z, a, 0);
    if (has_next(b))
      take_run(&z, b, 0);
  }
  ok = ok && !z.failed;
  if (ok) {
    finish_sum(&z);
    const pf_contexts old = *c;
    *c = z.sum;
    z.sum = old;
  }
  for (size_t i = 0; i < 2; i++) {
    free(z.sides[i].ranks);
    free(z.sides[i].metrics);
    pf_preorder_close(&z.sides[i].position);
  }
  free(z.path);
  free(z.runs);
  pf_contexts_close(&z.sum);
  return ok;
}


/* `consumed` is `more` if it may be freed, or NULL. */
static pf_status merge (pf_contexts *c, const pf_contexts *more,
                        pf_contexts *consumed, int sign, pf_error *error) {
  pf_status status = PF_OK;
  /* All metrics come first, so that weights can be added without failure. */
  if (!pf_metrics_add(c, more))
    return pf_no_memory(error);
  uint32_t *const frames = translate(c, more), *const own = translate(c, c);
  if (frames == NULL || own == NULL)
    status = pf_no_memory(error);
  else if (!merge_in_order(c, more, consumed, own, frames, sign))
    status = merge_nodes(c, more, frames, sign, error);
  c->has_overflowed |= more->has_overflowed;
  free(frames);
  free(own);
  return status;
}


pf_status pf_contexts_merge (pf_contexts *c, const pf_contexts *more, int sign,
                             pf_error *error) {
  return merge(c, more, NULL, sign, error);
}


pf_status pf_contexts_absorb (pf_contexts *c, pf_contexts *more,
                              pf_error *error) {
  return merge(c, more, more, 1, error);
}
