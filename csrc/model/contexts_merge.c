/*
** contexts_merge.c - one profile added to another: by looking each node up, or
** where both are in order by going along both at once.
*/

#include "model/contexts_merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/contexts_order.h"
#include "model/memory.h"


static pf_status no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


/* {====== Frames and metrics ====== */

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


/* Set frames[area of `more`] to the frames in the dictionary of `c`, for those
   in use; NULL when out of memory. */
static uint32_t *translate (const pf_contexts *c, const pf_contexts *more) {
  const size_t nareas = (size_t)pf_areas_count(more->dictionary) + 1;
  uint32_t *const frames = malloc(nareas * sizeof *frames);
  if (frames == NULL)
    return NULL;
  memset(frames, 0xff, nareas * sizeof *frames);
  for (uint32_t i = 1; i < more->count; i++) {
    const uint32_t area = more->frames[i];
    if (frames[area] == PF_NO_AREA) {
      frames[area] = c->dictionary == more->dictionary
                         ? area
                         : same_frame(c->dictionary, more->dictionary, area);
      if (frames[area] == PF_NO_AREA) {
        free(frames);
        return NULL;
      }
    }
  }
  return frames;
}


/* Have all metrics of `more`: what fails later must leave nothing behind. */
static pf_status merge_metrics (pf_contexts *c, const pf_contexts *more,
                                pf_error *error) {
  for (size_t m = 0; m < more->nmetrics; m++)
    if (pf_metric_of(c, more->metrics[m].name, more->metrics[m].unit) ==
        PF_NO_METRIC)
      return no_memory(error);
  pf_metric_default_from(c, more);
  return PF_OK;
}


static int64_t signed_weight (int64_t weight, int sign, bool *overflow) {
  if (sign > 0)
    return weight;
  *overflow |= weight == INT64_MIN;
  return weight == INT64_MIN ? INT64_MAX : -weight;
}

/* }====== */


/* {====== Node by node ====== */

static void merge_weights (pf_contexts *c, const pf_contexts *more,
                           const uint32_t *nodes, size_t metric, int sign) {
  const size_t to =
      pf_metric_of(c, more->metrics[metric].name, more->metrics[metric].unit);
  for (uint32_t i = 0; i < more->count; i++) {
    const int64_t weight = more->weights[metric][i];
    if (weight != 0)
      pf_context_add(c, nodes[i], to,
                     signed_weight(weight, sign, &c->has_overflowed));
  }
}


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
  for (size_t m = 0; ok && m < more->nmetrics; m++)
    merge_weights(c, more, nodes, m, sign);
  free(nodes);
  return ok ? PF_OK : no_memory(error);
}

/* }====== */


/* {====== In order ====== */

/* One of the two that are gone along. */
typedef struct side {
  const pf_contexts *contexts;
  pf_contexts *spent;     /* the same, when it may go on the way; else NULL */
  const uint32_t *frames; /* in the sum's dictionary, by area */
  uint32_t *ranks;        /* by area */
  size_t *metrics;        /* by metric of the sum, or PF_NO_METRIC */
  int sign;
  pf_preorder way;
  uint32_t at; /* the next node */
} side;

/* Nodes of the sum in a row: of which side, and how many. */
enum {
  FIRST,
  SECOND,
  BOTH
};
#define RUN_BITS 30 /* of a run for how many */

typedef struct zip {
  side sides[2];
  pf_contexts sum;
  uint32_t *path; /* by depth: the last node of the sum that both have */
  uint32_t *runs;
  size_t nruns, room;
  bool failed; /* memory was short for the runs */
} zip;


/* `sum` has the metrics of both. False: not in order, or memory is short. */
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
         pf_preorder_open(&s->way, c);
}


/* An empty sum with room for all nodes of both; what is never touched of it
   takes no memory. */
static bool open_sum (zip *z, const pf_contexts *c, size_t count) {
  z->sum = (pf_contexts){.dictionary = c->dictionary,
                         .room = (uint32_t)count,
                         .has_overflowed = c->has_overflowed,
                         .children = {.seed = c->children.seed}};
  if (!pf_metrics_copy(&z->sum, c))
    return false;
  z->sum.parents = pf_large_array(count, sizeof *z->sum.parents);
  z->sum.frames = pf_large_array(count, sizeof *z->sum.frames);
  z->path = pf_large_array(count, sizeof *z->path);
  bool ok = z->sum.parents != NULL && z->sum.frames != NULL && z->path != NULL;
  for (size_t m = 0; m < c->nmetrics; m++) {
    z->sum.weights[m] = pf_large_array(count, sizeof(int64_t));
    ok = ok && z->sum.weights[m] != NULL;
  }
  return ok;
}


/* Room for one more. */
static bool reserve_run (zip *z) {
  if (z->nruns < z->room)
    return true;
  const size_t room = z->room == 0 ? 1024 : z->room * 2;
  uint32_t *const runs =
      pf_large_array_resize(z->runs, z->nruns, room, sizeof *runs);
  z->failed |= runs == NULL;
  if (runs == NULL)
    return false;
  z->runs = runs;
  z->room = room;
  return true;
}


/* Note nodes of one kind. */
static void note_run (zip *z, uint32_t kind, uint32_t count) {
  if (!reserve_run(z))
    return;
  uint32_t *const end = z->runs + z->nruns;
  if (z->nruns > 0 && end[-1] >> RUN_BITS == kind &&
      (end[-1] + count) >> RUN_BITS == kind) {
    end[-1] += count;
    return;
  }
  *end = kind << RUN_BITS | count;
  z->nruns++;
}


static bool is_left (const side *s) {
  return s->at < s->contexts->count;
}


static void step (side *s) {
  if (++s->at < s->contexts->count)
    (void)pf_preorder_next(&s->way, s->at); /* it is in order */
}


/* Nodes of a side that the other one has not: the next one, and those behind it
   that are deeper than `floor`. */
static void take_run (zip *z, side *s, uint32_t floor) {
  const pf_contexts *const c = s->contexts;
  const uint32_t from = s->at, to = z->sum.count;
  do {
    const uint32_t parent = c->parents[s->at];
    z->sum.parents[z->sum.count] =
        parent >= from ? parent - from + to : z->path[s->way.depth - 1];
    z->sum.frames[z->sum.count++] = s->frames[c->frames[s->at]];
    step(s);
  } while (is_left(s) && s->way.depth > floor);
  note_run(z, s == &z->sides[0] ? FIRST : SECOND, z->sum.count - to);
}


/* The next node of both. */
static void take_both (zip *z) {
  side *const a = &z->sides[0], *const b = &z->sides[1];
  const uint32_t depth = a->way.depth, node = z->sum.count++;
  z->path[depth] = node;
  z->sum.parents[node] = depth == 0 ? PF_NO_CONTEXT : z->path[depth - 1];
  z->sum.frames[node] =
      depth == 0 ? PF_NO_AREA : a->frames[a->contexts->frames[a->at]];
  note_run(z, BOTH, 1);
  step(a);
  step(b);
}


static uint32_t rank_of_next (const side *s) {
  return s->ranks[s->contexts->frames[s->at]];
}


/* The side whose next node is deeper is not through with a node that both
   have, and the other one is; at one depth one node calls both. */
static void take_next (zip *z) {
  side *const a = &z->sides[0], *const b = &z->sides[1];
  const uint32_t depth = a->way.depth, other = b->way.depth;
  if (depth > other)
    take_run(z, a, other);
  else if (depth < other)
    take_run(z, b, depth);
  else if (depth == 0 || rank_of_next(a) == rank_of_next(b))
    take_both(z);
  else
    take_run(z, rank_of_next(a) < rank_of_next(b) ? a : b, depth);
}


static void go_along (zip *z) {
  side *const a = &z->sides[0], *const b = &z->sides[1];
  while (is_left(a) && is_left(b))
    take_next(z);
  if (is_left(a))
    take_run(z, a, 0);
  if (is_left(b))
    take_run(z, b, 0);
}


/* Add what nodes of a side weigh, in one metric. */
static void add_weights (zip *z, const side *s, size_t metric, uint32_t from,
                         uint32_t to, uint32_t count) {
  if (s->metrics[metric] == PF_NO_METRIC)
    return;
  const int64_t *const weights = s->contexts->weights[s->metrics[metric]];
  for (uint32_t i = 0; i < count; i++)
    pf_context_add(
        &z->sum, to + i, metric,
        signed_weight(weights[from + i], s->sign, &z->sum.has_overflowed));
}


static void add_metric (zip *z, size_t metric) {
  uint32_t at[2] = {0, 0}, node = 0;
  for (size_t i = 0; i < z->nruns; i++) {
    const uint32_t kind = z->runs[i] >> RUN_BITS;
    const uint32_t count = z->runs[i] & ((1u << RUN_BITS) - 1);
    memset(z->sum.weights[metric] + node, 0, count * sizeof(int64_t));
    for (uint32_t s = 0; s < 2; s++)
      if (kind == BOTH || kind == s) {
        add_weights(z, &z->sides[s], metric, at[s], node, count);
        at[s] += count;
      }
    node += count;
  }
}


/* What will not be looked at again is freed at once: memory that has been in
   use is cheaper than new one. */
static void spend_nodes (side *s) {
  if (s->spent == NULL)
    return;
  free(s->spent->parents);
  free(s->spent->frames);
  pf_intern_table_free(&s->spent->children);
  s->spent->parents = s->spent->frames = NULL;
}


static void spend_metric (side *s, size_t metric) {
  if (s->spent == NULL || s->metrics[metric] == PF_NO_METRIC)
    return;
  free(s->spent->weights[s->metrics[metric]]);
  s->spent->weights[s->metrics[metric]] = NULL;
}


/* The nodes are there: nothing fails any more. */
static void finish_sum (zip *z) {
  for (size_t s = 0; s < 2; s++)
    spend_nodes(&z->sides[s]);
  for (size_t m = 0; m < z->sum.nmetrics; m++) {
    add_metric(z, m);
    for (size_t s = 0; s < 2; s++)
      spend_metric(&z->sides[s], m);
  }
}


static void close_zip (zip *z) {
  for (size_t i = 0; i < 2; i++) {
    free(z->sides[i].ranks);
    free(z->sides[i].metrics);
    pf_preorder_close(&z->sides[i].way);
  }
  free(z->path);
  free(z->runs);
  pf_contexts_close(&z->sum);
}


/* The ranks of the frames of both, by area of the sum's dictionary; NULL when
   out of memory. */
static uint32_t *rank_both (const zip *z) {
  const pf_contexts *const c = z->sides[0].contexts;
  const size_t nareas = (size_t)pf_areas_count(c->dictionary) + 1;
  uint32_t *const ranks = malloc(nareas * sizeof *ranks);
  if (ranks != NULL &&
      pf_contexts_rank_both(c, z->sides[1].frames,
                            pf_areas_count(z->sides[1].contexts->dictionary),
                            ranks) == PF_OK)
    return ranks;
  free(ranks);
  return NULL;
}


/* Go along both; false: they are not in order, or memory is short for that.
   `spent` is `more`, when it may go, or NULL. */
static bool merge_in_order (pf_contexts *c, const pf_contexts *more,
                            pf_contexts *spent, const uint32_t *own,
                            const uint32_t *frames, int sign) {
  zip z = {
      .sides = {
          {.contexts = c, .spent = c, .frames = own, .sign = 1},
          {.contexts = more, .spent = spent, .frames = frames, .sign = sign}}};
  const uint64_t count = (uint64_t)c->count + more->count;
  uint32_t *const ranks = count >> RUN_BITS != 0 ? NULL : rank_both(&z);
  bool ok = ranks != NULL && open_side(&z.sides[0], c, ranks) &&
            open_side(&z.sides[1], c, ranks) && open_sum(&z, c, (size_t)count);
  free(ranks);
  if (ok)
    go_along(&z);
  ok = ok && !z.failed;
  if (ok) {
    finish_sum(&z);
    const pf_contexts old = *c;
    *c = z.sum;
    z.sum = old;
  }
  close_zip(&z);
  return ok;
}

/* }====== */


/* `spent` is `more`, when it may go, or NULL. */
static pf_status merge (pf_contexts *c, const pf_contexts *more,
                        pf_contexts *spent, int sign, bool try_order,
                        pf_error *error) {
  pf_status status = merge_metrics(c, more, error);
  if (status != PF_OK)
    return status;
  uint32_t *const frames = translate(c, more), *const own = translate(c, c);
  if (frames == NULL || own == NULL)
    status = no_memory(error);
  else if (!try_order || !merge_in_order(c, more, spent, own, frames, sign))
    status = merge_nodes(c, more, frames, sign, error);
  c->has_overflowed |= more->has_overflowed;
  free(frames);
  free(own);
  return status;
}


pf_status pf_contexts_merge (pf_contexts *c, const pf_contexts *more, int sign,
                             pf_error *error) {
  return merge(c, more, NULL, sign, true, error);
}


pf_status pf_contexts_merge_by_lookup (pf_contexts *c, const pf_contexts *more,
                                       int sign, pf_error *error) {
  return merge(c, more, NULL, sign, false, error);
}


pf_status pf_contexts_absorb (pf_contexts *c, pf_contexts *more,
                              pf_error *error) {
  return merge(c, more, more, 1, true, error);
}
