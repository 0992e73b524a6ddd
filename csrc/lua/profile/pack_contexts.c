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

#include "lua/arguments.h"
#include "lua/profile/context_profile.h"
#include "model/base/unpack.h"


static void put_metrics (pf_packed *to, const pf_contexts *c) {
  pf_pack_number(to,
                 c->default_metric == PF_NO_METRIC ? 0 : c->default_metric + 1);
  pf_pack_number(to, c->has_overflowed);
  pf_pack_number(to, c->nmetrics);
  for (size_t m = 0; m < c->nmetrics; m++) {
    pf_pack_text(to, pf_bytes_of(c->metrics[m].name));
    pf_pack_text(to, pf_bytes_of(c->metrics[m].unit));
  }
}


static void put_frame (pf_packed *to, const pf_contexts *c, uint32_t area) {
  const pf_area *const frame = pf_area_at(c->dictionary, area);
  const pf_bytes file = pf_name(c->dictionary, frame->file); /* "" if none */
  pf_pack_text(to, pf_name(c->dictionary, frame->name));
  pf_pack_number(to, frame->file == PF_NO_NAME ? 0 : file.size + 1);
  pf_pack_bytes(to, file.at, file.size);
  pf_pack_signed(to, frame->line);
}


static void put_nodes (pf_packed *to, const pf_contexts *c,
                       const uint32_t *indices) {
  const size_t size = 8 * ((size_t)c->count - 1);
  pf_pack_number(to, c->count - 1);
  uint8_t *at = pf_pack_reserve(to, size);
  if (at == NULL)
    return;
  for (uint32_t i = 1; i < c->count; i++, at += 8) {
    pf_save32le(at, c->parents[i]);
    pf_save32le(at + 4, indices[c->frames[i]] - 1);
  }
  to->used += size;
}


static void put_weights (pf_packed *to, const int64_t *weights, size_t count) {
  uint8_t *const at = pf_pack_reserve(to, 8 * count);
  if (at == NULL)
    return;
  for (size_t i = 0; i < count; i++)
    pf_save64le(at + 8 * i, (uint64_t)weights[i]);
  to->used += 8 * count;
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
  pf_packed *const to = l_packed_new(L);
  (void)pf_pack_reserve(to, 64 + 8 * (1 + c->nmetrics) * (size_t)c->count +
                                32 * (size_t)nframes);
  put_metrics(to, c);
  pf_pack_number(to, nframes);
  for (uint32_t i = 0; i < nframes; i++)
    put_frame(to, c, list[i]);
  put_nodes(to, c, indices);
  for (size_t m = 0; m < c->nmetrics; m++)
    put_weights(to, c->weights[m], c->count);
  return l_push_packed(L, to);
}


static void take_metrics (lua_State *L, pf_unpack *from, pf_contexts *c) {
  const uint64_t usual = pf_unpack_number(from, UINT64_MAX);
  c->has_overflowed = pf_unpack_number(from, 1) != 0;
  const size_t count = pf_unpack_length(from, 2);
  for (size_t m = 0; m < count && from->status == PF_OK; m++) {
    l_push_bytes(L, pf_unpack_text(from, UINT64_MAX)); /* ends with NUL */
    l_push_bytes(L, pf_unpack_text(from, UINT64_MAX));
    const size_t metric =
        pf_metric_of(c, lua_tostring(L, -2), lua_tostring(L, -1));
    pf_unpack_need(from, metric != PF_NO_METRIC);
    pf_unpack_check(from, metric == m, "a metric is there twice");
    lua_pop(L, 2);
  }
  c->default_metric =
      usual == 0 || usual > count ? PF_NO_METRIC : (size_t)usual - 1;
}


static uint32_t take_name (pf_unpack *from, pf_dictionary *d, pf_bytes text) {
  const uint32_t name = pf_intern(d, text);
  pf_unpack_need(from, name != PF_NO_NAME);
  return name;
}


static uint32_t take_frame (pf_unpack *from, pf_dictionary *d) {
  pf_area frame = PF_AREA_NONE;
  frame.name = take_name(from, d, pf_unpack_text(from, UINT64_MAX));
  const uint64_t size = pf_unpack_number(from, UINT64_MAX);
  if (size > 0)
    frame.file = take_name(from, d, pf_unpack_bytes(from, size - 1));
  frame.line = pf_unpack_signed(from);
  const uint32_t area = from->status == PF_OK ? pf_area_add(d, &frame) : 0;
  pf_unpack_need(from, area != PF_NO_AREA);
  return area;
}


/* Takes `count` nodes, after which there are weights for all of them. */
static void take_nodes (lua_State *L, pf_unpack *from, pf_contexts *c) {
  const size_t nframes = pf_unpack_length(from, 1);
  uint32_t *const frames = l_scratch(L, nframes, sizeof *frames);
  for (size_t i = 0; i < nframes && from->status == PF_OK; i++)
    frames[i] = take_frame(from, c->dictionary);
  const size_t count = pf_unpack_length(from, 8);
  const uint8_t *at = pf_unpack_bytes(from, 8 * (uint64_t)count).at;
  pf_unpack_check(from, c->nmetrics <= pf_left(&from->cursor) / 8 / (count + 1),
                  "weights are expected");
  if (from->status == PF_OK)
    pf_unpack_need(from, pf_contexts_extend(c, count));
  for (size_t i = 1; i <= count && from->status == PF_OK; i++, at += 8) {
    const uint32_t parent = pf_load32le(at), frame = pf_load32le(at + 4);
    pf_unpack_check(from, parent < i && frame < nframes,
                    "a node has no caller, or no frame");
    c->parents[i] = parent < i ? parent : 0;
    c->frames[i] = frame < nframes ? frames[frame] : 0;
  }
}


static void take_weights (pf_unpack *from, int64_t *weights, size_t count) {
  const uint8_t *const at = pf_unpack_bytes(from, 8 * (uint64_t)count).at;
  for (size_t i = 0; i < count && from->status == PF_OK; i++)
    weights[i] = (int64_t)pf_load64le(at + 8 * i);
}


/* core.unpack_contexts(bytes, dictionary): the profile that contexts:pack has
   packed. Raises if the bytes are damaged. */
static int core_unpack_contexts (lua_State *L) {
  pf_error error;
  pf_unpack from =
      pf_unpack_over(l_text_check(L, 1), "packed contexts", &error);
  lua_settop(L, 2);
  pf_contexts *const c = l_contexts_new(L, 2); /* at 3 */
  take_metrics(L, &from, c);
  take_nodes(L, &from, c);
  for (size_t m = 0; m < c->nmetrics; m++)
    take_weights(&from, c->weights[m], c->count);
  pf_unpack_check(&from, pf_left(&from.cursor) == 0,
                  "bytes after the last weight");
  if (from.status != PF_OK)
    return l_throw(L, &error, 0);
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
