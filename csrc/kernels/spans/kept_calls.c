/*
** kept_calls.c - decides which calls an overview keeps: the longest ones of
** each track, the values of variables with few of them, and the longest call of
** each function.
*/

#include "kernels/spans/overview.h"
#include "model/base/memory.h"


/* Returns how many calls each lane and variable with states may keep, or
   with `values` how many values a variable may have to keep them, so that
   together they keep at most `most`. */
static uint64_t level_of (const pf_overview *o, uint64_t most, bool values) {
  uint64_t low = 0, high = o->options.most_calls;
  while (low < high) {
    const uint64_t level = low + (high - low + 1) / 2;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->known.count; i++) {
      const pf_overview_track *const t = pf_overview_track_at(o, i);
      const uint64_t count = t == NULL || pf_overview_has_values(o, i) != values
                                 ? 0
                                 : t->calls.count;
      sum += count <= level ? count : values ? 0 : level;
    }
    if (sum <= most)
      low = level;
    else
      high = level - 1;
  }
  return low;
}


/* Reduce the lists of calls so that they have as many as they may keep. */
static void reduce_all (pf_overview *o) {
  const uint64_t level = level_of(o, o->options.most_calls, false);
  o->held = 0;
  for (uint32_t i = 0; i < o->known.count; i++) {
    pf_overview_track *const t = pf_overview_track_at(o, i);
    if (t == NULL || pf_overview_has_values(o, i))
      continue;
    pf_overview_reduce(&t->calls, level > 0 ? (size_t)level : 1);
    o->held += t->calls.count;
  }
  o->most_held =
      2 * (o->held > o->options.most_calls ? o->held : o->options.most_calls);
}


bool pf_overview_keep (pf_overview *o, uint32_t track,
                       const pf_overview_call *call) {
  pf_overview_list *const list = &o->tracks[track].calls;
  const size_t before = list->count;
  if (pf_overview_has_values(o, track))
    return pf_overview_add(list, o->options.most_values, call);
  if (!pf_overview_add(list, SIZE_MAX, call))
    return false;
  o->held += list->count - before;
  if (o->held > o->most_held)
    reduce_all(o);
  return true;
}


/* Empty the lists of variables with more values than fit. Returns how many
   values are left. */
static uint64_t drop_values (pf_overview *o, uint64_t most) {
  const uint64_t level = level_of(o, most, true);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < o->known.count; i++) {
    pf_overview_track *const t = pf_overview_track_at(o, i);
    if (t == NULL || !pf_overview_has_values(o, i))
      continue;
    if (t->calls.count < t->calls.total || t->calls.count > level)
      t->calls.count = 0;
    sum += t->calls.count;
  }
  return sum;
}


/* Keep the longest call of each function, if it is too short for the list of
   its track. */
static bool keep_worst (pf_overview *o) {
  size_t kept = 0;
  for (size_t frame = 1; frame <= o->nframes && kept < o->options.most_longest;
       frame++) {
    const pf_overview_call *const call = &o->worst[frame];
    if (call->length < 0)
      continue;
    pf_overview_list *const list = &o->tracks[o->worst_track[frame]].calls;
    if (!pf_overview_has_dropped(list, call))
      continue;
    if (!pf_grow(&list->calls, &list->capacity, list->count + 1))
      return false;
    list->calls[list->count++] = *call;
    kept++;
  }
  return true;
}


bool pf_overview_trim (pf_overview *o, uint64_t most_calls) {
  const uint64_t values = drop_values(o, most_calls / 4);
  uint64_t level = level_of(o, most_calls - values, false);
  if (level > o->level) /* lists of an earlier trim do not grow, and lose the
                           calls that keep_worst added */
    level = o->level;
  o->level = level;
  for (uint32_t i = 0; i < o->known.count; i++) {
    pf_overview_track *const t = pf_overview_track_at(o, i);
    if (t == NULL || pf_overview_has_values(o, i))
      continue;
    pf_overview_reduce(&t->calls, (size_t)level);
    if (t->calls.count == t->calls.total)
      t->calls.is_reduced = false;
  }
  if (!keep_worst(o))
    return false;
  for (uint32_t i = 0; i < o->known.count; i++) {
    pf_overview_track *const t = pf_overview_track_at(o, i);
    if (t != NULL) {
      pf_overview_sort(&t->calls);
      pf_overview_sort(&t->pauses);
    }
  }
  return true;
}
