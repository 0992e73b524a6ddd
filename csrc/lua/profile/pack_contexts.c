/*
** pack_contexts.c - contexts as bytes, by which a process passes a profile to
** another one of the same program: contexts:pack and core.unpack_contexts.
**
**    varint   default metric + 1, or 0; 1 if a sum was saturated, else 0
**    varint   number of metrics, then the name and the unit of each
**    varint   number of frames, then of each: name, 1 + size of the file and
**             the file (0: none), line (zigzag)
**    varint   number of nodes without the root; of each node: its number minus
**             that of its parent, index of its frame
**    varint   weights (zigzag): those of the root, of node 1, ..., by metric
**
** A text is its size as a varint, and its bytes. Called by
** lua/profio/internal/store/contents.lua. The packed bytes are a Lua string;
** unpacked contexts belong to a new userdata of context_profile.c.
*/

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
    put_text(b, l_bytes_of(c->metrics[m].name));
    put_text(b, l_bytes_of(c->metrics[m].unit));
  }
}


static void put_frame (luaL_Buffer *b, const pf_contexts *c, uint32_t area) {
  const pf_area *const frame = pf_area_at(c->dictionary, area);
  put_text(b, pf_name(c->dictionary, frame->name));
  if (frame->file == PF_NO_NAME)
    put_number(b, 0);
  else {
    const pf_bytes file = pf_name(c->dictionary, frame->file);
    put_number(b, file.size + 1);
    luaL_addlstring(b, (const char *)file.at, file.size);
  }
  put_number(b, pf_zigzag(frame->line));
}


/* Memory for `count` numbers at the end of the buffer. */
static uint8_t *prepare (luaL_Buffer *b, size_t count) {
  return (uint8_t *)luaL_prepbuffsize(b, PF_VARINT_SIZE * count);
}


static void put_nodes (luaL_Buffer *b, const pf_contexts *c,
                       const uint32_t *indices) {
  put_number(b, c->count - 1);
  uint8_t *const start = prepare(b, 2 * (size_t)c->count), *at = start;
  for (uint32_t i = 1; i < c->count; i++) {
    at = pf_save_varint(at, i - c->parents[i]);
    at = pf_save_varint(at, indices[c->frames[i]] - 1);
  }
  luaL_addsize(b, (size_t)(at - start));
}


static void put_weights (luaL_Buffer *b, const int64_t *weights, size_t count) {
  uint8_t *const start = prepare(b, count), *at = start;
  for (size_t i = 0; i < count; i++)
    at = pf_save_varint(at, pf_zigzag(weights[i]));
  luaL_addsize(b, (size_t)(at - start));
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


/* contexts:pack(): the profile as bytes, for core.unpack_contexts. */
static int contexts_pack (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const uint32_t nareas = pf_areas_count(c->dictionary);
  lua_settop(L, 1);
  uint32_t *const indices = l_scratch(L, nareas, sizeof *indices);
  uint32_t *const list = l_scratch(L, nareas, sizeof *list);
  const uint32_t nframes = number_frames(c, indices, list);
  luaL_Buffer b;
  luaL_buffinitsize(L, &b, 64 + 8 * (size_t)c->count + 32 * (size_t)nframes);
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
  const size_t at = from->at;
  uint64_t number = 0;
  if (at < from->bytes.size && from->bytes.at[at] < 0x80) /* most numbers */
    number = from->bytes.at[from->at++];
  else if (!pf_take_varint(from, &number))
    damaged(L, from);
  if (number > limit)
    damaged(L, from);
  return number;
}


/* Takes a number of things that have at least one byte each. */
static size_t take_count (lua_State *L, pf_cursor *from) {
  return (size_t)take_number(L, from, pf_left(from));
}


static pf_bytes take_bytes (lua_State *L, pf_cursor *from, uint64_t size) {
  pf_bytes text = {NULL, 0};
  if (!pf_take(from, size, &text))
    damaged(L, from);
  return text;
}


static pf_bytes take_text (lua_State *L, pf_cursor *from) {
  return take_bytes(L, from, take_number(L, from, UINT64_MAX));
}


static int64_t take_signed (lua_State *L, pf_cursor *from) {
  return pf_unzigzag(take_number(L, from, UINT64_MAX));
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
  frame.line = take_signed(L, from);
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
  if (c->nmetrics > pf_left(from) / (count + 1)) /* weights follow the nodes */
    damaged(L, from);
  pf_contexts_reserve(c, count + 1);
  for (uint32_t i = 1; i <= count; i++) {
    const uint64_t back = take_number(L, from, i);
    const uint64_t frame = take_number(L, from, nframes);
    if (back == 0 || frame == nframes)
      damaged(L, from);
    if (pf_context_append(c, i - (uint32_t)back, frames[frame]) ==
        PF_NO_CONTEXT)
      l_no_memory(L);
  }
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
    for (uint32_t i = 0; i < c->count; i++)
      c->weights[m][i] = take_signed(L, &from);
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
