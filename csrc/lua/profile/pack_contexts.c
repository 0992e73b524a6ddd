/*
** pack_contexts.c - contexts as bytes, by which a process passes a profile to
** another one of the same program: contexts:pack and core.unpack_contexts.
**
**    varint   default metric + 1, or 0
**    varint   1 if a sum was saturated, else 0
**    varint   number of metrics, then the name and the unit of each
**    varint   number of frames, then of each: name, 1 + size of the file and
**             the file (0: none), line (zigzag)
**    varint   number of nodes without the root
**    uint32   of each node: its parent, index of its frame
**    int64    weights: those of the root, of node 1, ..., by metric
**
** Integers are little-endian; nodes and weights are not compressed, since that
** took longer than to pass more bytes through a pipe. A text is its size as a
** varint, and its bytes. Of a frame only name, file and line are packed, which
** is what a frame of a profile consists of. Called by
** lua/profio/internal/store/contents.lua. The packed bytes are a Lua string;
** unpacked contexts belong to a new userdata of context_profile.c.
*/

#include <string.h>

#include "bytes/cursor.h"
#include "lua/arguments.h"
#include "lua/profile/context_profile.h"


static void put_number (luaL_Buffer *b, uint64_t number) {
  char *const at = luaL_prepbuffsize(b, PF_VARINT_SIZE);
  luaL_addsize(b,
               (size_t)(pf_save_varint((uint8_t *)at, number) - (uint8_t *)at));
}


static void put_text (luaL_Buffer *b, pf_bytes text) {
  put_number(b, text.size);
  luaL_addlstring(b, (const char *)text.at, text.size);
}


static void put_metrics (luaL_Buffer *b, const pf_contexts *c) {
  put_number(b, c->default_metric == PF_NO_METRIC ? 0 : c->default_metric + 1);
  put_number(b, c->has_overflowed);
  put_number(b, c->nmetrics);
  for (size_t m = 0; m < c->nmetrics; m++) {
    put_text(b, pf_bytes_of(c->metrics[m].name));
    put_text(b, pf_bytes_of(c->metrics[m].unit));
  }
}


/* Save a number, which is the size or the size + 1, then a text. Returns the
   end. */
static uint8_t *save_text (uint8_t *at, uint64_t number, pf_bytes text) {
  at = pf_save_varint(at, number);
  memcpy(at, text.at, text.size);
  return at + text.size;
}


static void put_frame (luaL_Buffer *b, const pf_contexts *c, uint32_t area) {
  const pf_area *const frame = pf_area_at(c->dictionary, area);
  const bool has_file = frame->file != PF_NO_NAME;
  const pf_bytes name = pf_name(c->dictionary, frame->name);
  const pf_bytes file = pf_name(c->dictionary, frame->file); /* "" if none */
  uint8_t *const start = (uint8_t *)luaL_prepbuffsize(
      b, name.size + file.size + 3 * PF_VARINT_SIZE);
  uint8_t *at = save_text(start, name.size, name);
  at = save_text(at, has_file ? file.size + 1 : 0, file);
  at = pf_save_varint(at, pf_zigzag(frame->line));
  luaL_addsize(b, (size_t)(at - start));
}


static void put_nodes (luaL_Buffer *b, const pf_contexts *c,
                       const uint32_t *indices) {
  const size_t size = 8 * ((size_t)c->count - 1);
  put_number(b, c->count - 1);
  uint8_t *at = (uint8_t *)luaL_prepbuffsize(b, size);
  for (uint32_t i = 1; i < c->count; i++, at += 8) {
    pf_save32le(at, c->parents[i]);
    pf_save32le(at + 4, indices[c->frames[i]] - 1);
  }
  luaL_addsize(b, size);
}


static void put_weights (luaL_Buffer *b, const int64_t *weights, size_t count) {
  uint8_t *const at = (uint8_t *)luaL_prepbuffsize(b, 8 * count);
  for (size_t i = 0; i < count; i++)
    pf_save64le(at + 8 * i, (uint64_t)weights[i]);
  luaL_addsize(b, 8 * count);
}


/* Sets indices[area] of each frame of the nodes to 1 + its index, and list[] to
   the frames by index. Returns their number. */
static uint32_t number_frames (const pf_contexts *c, uint32_t *indices,
                               uint32_t *list) {
  uint32_t count = 0;
  for (uint32_t i = 1; i < c->count; i++)
    if (indices[c->frames[i]] == 0) {
      list[count++] = c->frames[i];
      indices[c->frames[i]] = count;
    }
  return count;
}


/* contexts:pack(): the profile as bytes, for core.unpack_contexts in another
   process of this program. */
static int contexts_pack (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const uint32_t nareas = pf_areas_count(c->dictionary);
  lua_settop(L, 1);
  uint32_t *const indices = l_scratch(L, nareas, sizeof *indices);
  uint32_t *const list = l_scratch(L, nareas, sizeof *list);
  const uint32_t nframes = number_frames(c, indices, list);
  luaL_Buffer b;
  luaL_buffinitsize(L, &b,
                    64 + 8 * (1 + c->nmetrics) * (size_t)c->count +
                        32 * (size_t)nframes);
  put_metrics(&b, c);
  put_number(&b, nframes);
  for (uint32_t i = 0; i < nframes; i++)
    put_frame(&b, c, list[i]);
  put_nodes(&b, c, indices);
  for (size_t m = 0; m < c->nmetrics; m++)
    put_weights(&b, c->weights[m], c->count);
  luaL_pushresult(&b);
  return 1;
}


static void damaged (lua_State *L, const pf_cursor *from) {
  luaL_error(L, "packed contexts are damaged at byte %d", (int)from->at);
}


static inline uint64_t take_number (lua_State *L, pf_cursor *from,
                                    uint64_t limit) {
  uint64_t number = 0;
  if (!pf_take_varint(from, &number) || number > limit)
    damaged(L, from);
  return number;
}


/* Takes a number of things that have at least one byte each. */
static size_t take_count (lua_State *L, pf_cursor *from) {
  return (size_t)take_number(L, from, pf_left(from));
}


static pf_bytes take_bytes (lua_State *L, pf_cursor *from, uint64_t size) {
  pf_bytes text = pf_bytes_of("");
  if (!pf_take(from, size, &text))
    damaged(L, from);
  return text;
}


static pf_bytes take_text (lua_State *L, pf_cursor *from) {
  return take_bytes(L, from, take_number(L, from, UINT64_MAX));
}


static void take_metrics (lua_State *L, pf_cursor *from, pf_contexts *c) {
  const uint64_t usual = take_number(L, from, UINT64_MAX);
  c->has_overflowed = take_number(L, from, 1) != 0;
  const size_t count = take_count(L, from);
  for (size_t m = 0; m < count; m++) {
    l_push_bytes(L, take_text(L, from)); /* ends with NUL */
    l_push_bytes(L, take_text(L, from));
    const size_t metric =
        pf_metric_of(c, lua_tostring(L, -2), lua_tostring(L, -1));
    if (metric == PF_NO_METRIC)
      l_no_memory(L);
    if (metric != m)
      damaged(L, from);
    lua_pop(L, 2);
  }
  c->default_metric = usual == 0 || usual > count ? PF_NO_METRIC : usual - 1;
}


static uint32_t intern (lua_State *L, pf_dictionary *d, pf_bytes text) {
  const uint32_t name = pf_intern(d, text);
  if (name == PF_NO_NAME)
    l_no_memory(L);
  return name;
}


static uint32_t take_frame (lua_State *L, pf_cursor *from, pf_dictionary *d) {
  pf_area frame = PF_AREA_NONE;
  frame.name = intern(L, d, take_text(L, from));
  const uint64_t size = take_number(L, from, UINT64_MAX);
  if (size > 0)
    frame.file = intern(L, d, take_bytes(L, from, size - 1));
  frame.line = pf_unzigzag(take_number(L, from, UINT64_MAX));
  const uint32_t area = pf_area_add(d, &frame);
  if (area == PF_NO_AREA)
    l_no_memory(L);
  return area;
}


static void take_nodes (lua_State *L, pf_cursor *from, pf_contexts *c) {
  const size_t nframes = take_count(L, from);
  uint32_t *const frames = l_scratch(L, nframes, sizeof *frames);
  for (size_t i = 0; i < nframes; i++)
    frames[i] = take_frame(L, from, c->dictionary);
  const size_t count = take_count(L, from);
  const uint8_t *at = take_bytes(L, from, 8 * (uint64_t)count).at;
  if (c->nmetrics > pf_left(from) / 8 / (count + 1)) /* weights follow */
    damaged(L, from);
  if (!pf_contexts_extend(c, count))
    l_no_memory(L);
  for (size_t i = 1; i <= count; i++, at += 8) {
    const uint32_t parent = pf_load32le(at), frame = pf_load32le(at + 4);
    if (parent >= i || frame >= nframes)
      damaged(L, from);
    c->parents[i] = parent;
    c->frames[i] = frames[frame];
  }
}


static void take_weights (lua_State *L, pf_cursor *from, int64_t *weights,
                          size_t count) {
  const uint8_t *const at = take_bytes(L, from, 8 * (uint64_t)count).at;
  for (size_t i = 0; i < count; i++)
    weights[i] = (int64_t)pf_load64le(at + 8 * i);
}


/* core.unpack_contexts(bytes, dictionary): the profile that contexts:pack has
   packed. Raises if the bytes are damaged. */
static int core_unpack_contexts (lua_State *L) {
  pf_cursor from = pf_cursor_over(l_text_check(L, 1), false);
  lua_settop(L, 2);
  pf_contexts *const c = l_contexts_new(L, 2); /* at 3 */
  take_metrics(L, &from, c);
  take_nodes(L, &from, c);
  for (size_t m = 0; m < c->nmetrics; m++)
    take_weights(L, &from, c->weights[m], c->count);
  luaL_argcheck(L, pf_left(&from) == 0, 1, "packed contexts are too long");
  lua_settop(L, 3);
  return 1;
}


void l_open_pack_contexts (lua_State *L) {
  luaL_getmetatable(L, L_CONTEXTS);
  lua_getfield(L, -1, "__index");
  L_ADD(L, {"pack", contexts_pack});
  lua_pop(L, 2);
  L_ADD(L, {"unpack_contexts", core_unpack_contexts});
}
