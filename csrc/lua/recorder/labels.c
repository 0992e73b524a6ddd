/*
** labels.c - labels, such as route=/login, which a program sets for what it
** does from then on. They are the outermost frames of the stacks of a thread,
** with PF_LABEL_FILE as their file; formats and exports that have labels of
** their own know them by that. A new coroutine has those of its creator.
**
** core.label is called by programs. The recorder owns the list.
*/

#include <string.h>

#include "lua/arguments.h"
#include "lua/recorder/fast_events.h"
#include "lua/recorder/sampling.h"
#include "model/base/memory.h"
#include "model/dictionary/stacks.h"


/* Returns the number of the label of a thread with this key; r->nlabels if it
   has none. */
static size_t find (const l_recorder *r, const lua_State *thread,
                    uint32_t key) {
  size_t i = 0;
  while (i < r->nlabels &&
         (r->labels[i].thread != thread || r->labels[i].key != key))
    i++;
  return i;
}


static void remove_label (l_recorder *r, size_t i) {
  memmove(&r->labels[i], &r->labels[i + 1],
          (r->nlabels - i - 1) * sizeof *r->labels);
  r->nlabels--;
}


/* Adds a label, or changes it. False: out of memory. */
static bool set (l_recorder *r, const l_label *label) {
  const size_t i = find(r, label->thread, label->key);
  if (i == r->nlabels) {
    if (!pf_grow(&r->labels, &r->label_capacity, i + 1))
      return false;
    r->nlabels++;
  }
  r->labels[i] = *label;
  return true;
}


uint32_t l_labels_path (l_recorder *r, const lua_State *thread) {
  uint32_t path = r->contexts == NULL ? PF_NO_STACK : 0;
  for (size_t i = 0; i < r->nlabels; i++) {
    if (r->labels[i].thread != thread)
      continue;
    const uint32_t area = l_line_area(r, r->labels[i].function, 0);
    if (area == PF_NO_AREA)
      return path;
    path = r->contexts != NULL ? pf_context_of(r->contexts, path, area)
                               : pf_stack_push(r->dictionary, path, area);
    l_put_changed(r);
  }
  return path;
}


void l_labels_move (l_recorder *r, l_lane *lane) {
  const uint32_t base = l_labels_path(r, lane->thread);
  if (base == lane->base)
    return;
  for (l_frame *f = lane->frames; f <= lane->top; f++) {
    if (r->mode == L_AGGREGATE)
      l_put_open(r, lane, f);
    f->path = L_NO_ID;
  }
  lane->base = base;
}


/* core.label(key, value): sets a label of the running thread; nil removes
   it. */
static int core_label (lua_State *L) {
  l_recorder *const r = l_recording_of(L);
  if (lua_type(L, 1) != LUA_TSTRING)
    return luaL_error(L, "recorder.label expects a key, got %s",
                      luaL_typename(L, 1));
  if (!lua_isnoneornil(L, 2) && !lua_isstring(L, 2))
    return luaL_error(L, "recorder.label: the value must be a text, got %s",
                      luaL_typename(L, 2));
  if (r == NULL || r->error.status != PF_OK)
    return 0;
  lua_settop(L, 2);
  const char *const text = lua_isnil(L, 2) ? NULL : lua_tostring(L, 2);
  const uint32_t key = pf_intern_text(r->dictionary, lua_tostring(L, 1));
  l_put_changed(r);
  if (text == NULL) {
    const size_t i = find(r, L, key);
    if (i < r->nlabels)
      remove_label(r, i);
  }
  else {
    const char *const name =
        lua_pushfstring(L, "%s=%s", lua_tostring(L, 1), text);
    const uint32_t module = pf_intern_text(r->dictionary, PF_LABEL_FILE);
    const l_label label = {L, key,
                           key == PF_NO_NAME || module == PF_NO_NAME
                               ? NULL
                               : l_named_function(r, name, module, 0)};
    if (label.function == NULL || !set(r, &label))
      l_recorder_fail(r, PF_ENOMEM, "out of memory");
  }
  l_lane *const lane = r->is_on && (r->mask & LUA_MASKCALL) != 0
                           ? l_switch(r, L, 0, l_now(r))
                           : NULL; /* in a pause it moves when that ends */
  if (lane != NULL)
    l_labels_move(r, lane);
  return 0;
}


bool l_label_is_own (lua_CFunction f) {
  return f == core_label;
}


size_t l_labels_read (l_recorder *r, const lua_State *thread, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < r->nlabels; i++)
    count += r->labels[i].thread == thread;
  count = count < r->depth ? count : r->depth - 1;
  n = n + count < r->depth ? n : r->depth - count;
  for (size_t i = r->nlabels; i > 0 && n < r->depth; i--)
    if (r->labels[i - 1].thread == thread)
      r->areas[n++] = l_sample_area(r, r->labels[i - 1].function, 0);
  return n;
}


void l_labels_end (l_recorder *r, const lua_State *thread) {
  size_t kept = 0;
  for (size_t i = 0; i < r->nlabels; i++)
    if (r->labels[i].thread != thread)
      r->labels[kept++] = r->labels[i];
  r->nlabels = kept;
}


void l_labels_inherit (l_recorder *r, const lua_State *from,
                       const lua_State *to) {
  const size_t count = r->nlabels;
  for (size_t i = 0; i < count; i++) {
    l_label label = r->labels[i];
    if (label.thread != from)
      continue;
    label.thread = to;
    if (!set(r, &label))
      l_recorder_fail(r, PF_ENOMEM, "out of memory");
  }
}


void l_open_labels (lua_State *L) {
  L_ADD(L, {"label", core_label});
}
