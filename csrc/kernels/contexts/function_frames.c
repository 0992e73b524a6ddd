/*
** function_frames.c - groups the frames of contexts by name and file. All
** memory is freed before it returns.
*/

#include <stdlib.h>

#include "kernels/contexts/function_frames.h"
#include "model/base/id_table.h"
#include "model/base/memory.h"

typedef struct groups {
  pf_id_table known; /* name and file */
  int64_t *lines;    /* by group: the smallest line; 0: none is known */
  size_t capacity;
} groups;


static const pf_area *frame_at (const pf_contexts *c, uint32_t node) {
  return pf_area_at(c->dictionary, c->frames[node]);
}


static uint64_t key_of (const pf_area *area) {
  return (uint64_t)area->name << 32 | area->file;
}


/* Adds the frame of a node to its group. */
static bool add_frame (groups *g, const pf_area *area) {
  const uint64_t key = key_of(area);
  const uint32_t count = g->known.count;
  uint32_t group;
  if (pf_id_table_words(&g->known, &key, 1, &group) != PF_OK ||
      !pf_grow(&g->lines, &g->capacity, (size_t)group + 1))
    return false;
  if (group == count)
    g->lines[group] = 0;
  if (area->line > 0 && (g->lines[group] == 0 || area->line < g->lines[group]))
    g->lines[group] = area->line;
  return true;
}


pf_status pf_function_frames (const pf_contexts *contexts, uint32_t *frames,
                              size_t count, bool *has_lines) {
  groups g = {.lines = NULL};
  bool ok = true;
  pf_id_table_init(&g.known);
  *has_lines = false;
  for (uint32_t i = 1; ok && i < contexts->count; i++)
    ok = add_frame(&g, frame_at(contexts, i));
  for (uint32_t i = 1; ok && i < contexts->count; i++) {
    const uint32_t area = contexts->frames[i];
    pf_area frame = *frame_at(contexts, i);
    if (area >= count || frames[area] != area)
      continue;
    frame.line = g.lines[pf_id_table_find(&g.known, key_of(&frame))];
    frames[area] = pf_area_add(contexts->dictionary, &frame);
    ok = frames[area] != PF_NO_AREA;
    *has_lines |= frames[area] != area;
  }
  pf_id_table_free(&g.known);
  free(g.lines);
  return ok ? PF_OK : PF_ENOMEM;
}
