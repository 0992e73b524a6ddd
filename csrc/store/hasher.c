/*
** hasher.c - content hashes (see content_hash.h), and the userdata that hashes
** the bytes of files. The only file that includes xxhash.h, whose functions are
** compiled in, so that the module needs no further library. Called by
** lua/profio/internal/store; the userdata owns the state of a hash, and nothing
** else is allocated.
*/

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lua/arguments.h"
#include "lua/source.h"
#include "store/connection.h"
#include "store/content_hash.h"

#define L_HASHER "profio.hasher"


static pf_hash canonical (XXH128_hash_t hash) {
  pf_hash result;
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  memcpy(result.bytes, bytes.digest, sizeof result.bytes);
  return result;
}


static void add_number (XXH3_state_t *state, uint64_t number) {
  uint8_t bytes[8];
  pf_save64le(bytes, number);
  (void)XXH3_128bits_update(state, bytes, sizeof bytes);
}


static void add_text (XXH3_state_t *state, pf_bytes text) {
  add_number(state, text.size);
  (void)XXH3_128bits_update(state, text.at, text.size);
}


/* Append what add_number and add_text add. Returns the end. */
static uint8_t *save_number (uint8_t *p, uint64_t number) {
  pf_save64le(p, number);
  return p + 8;
}


static uint8_t *save_text (uint8_t *p, pf_bytes text) {
  p = save_number(p, text.size);
  if (text.size > 0)
    memcpy(p, text.at, text.size);
  return p + text.size;
}


pf_hash pf_hash_frame (const pf_dictionary *dictionary, const pf_area *frame) {
  const uint8_t has_file = frame->file != PF_NO_NAME;
  const pf_bytes name = pf_name(dictionary, frame->name);
  const pf_bytes file =
      has_file ? pf_name(dictionary, frame->file) : (pf_bytes){0};
  XXH3_state_t state;
  if (name.size < 100 && file.size < 100) {
    uint8_t bytes[256]; /* `state` has 576 */
    uint8_t *p = save_text(bytes, name);
    *p++ = has_file;
    p = has_file ? save_text(p, file) : p;
    p = save_number(p, (uint64_t)frame->line);
    return canonical(XXH3_128bits(bytes, (size_t)(p - bytes)));
  }
  XXH3_INITSTATE(&state);
  (void)XXH3_128bits_reset(&state);
  add_text(&state, name);
  (void)XXH3_128bits_update(&state, &has_file, 1);
  if (has_file)
    add_text(&state, file);
  add_number(&state, (uint64_t)frame->line);
  return canonical(XXH3_128bits_digest(&state));
}


pf_hash pf_hash_stack (const pf_hash *parent, const pf_hash *frame) {
  uint8_t both[2 * PF_HASH_SIZE];
  memcpy(both, parent->bytes, PF_HASH_SIZE);
  memcpy(both + PF_HASH_SIZE, frame->bytes, PF_HASH_SIZE);
  return canonical(XXH3_128bits(both, sizeof both));
}


uint64_t pf_hash_metric (const char *name, const char *unit) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  (void)XXH3_128bits_reset(&state);
  add_text(&state, pf_bytes_of(name));
  add_text(&state, pf_bytes_of(unit));
  return pf_load64be(canonical(XXH3_128bits_digest(&state)).bytes + 8);
}


void pf_checksum_cells (pf_bytes cells, int64_t run, int64_t metric,
                        uint8_t *checksum) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  (void)XXH3_128bits_reset(&state);
  (void)XXH3_128bits_update(&state, cells.at, cells.size);
  add_number(&state, (uint64_t)run);
  add_number(&state, (uint64_t)metric);
  const pf_hash hash = canonical(XXH3_128bits_digest(&state));
  memcpy(checksum, hash.bytes, PF_CHECKSUM_SIZE);
}

typedef struct l_hasher {
  XXH3_state_t *state; /* owned: its address is a multiple of 64 */
} l_hasher;


/* store.hasher(): an object that computes the hash of bytes. */
static int store_hasher (lua_State *L) {
  l_hasher *const h = l_new(L, L_HASHER, sizeof *h, 0);
  h->state = XXH3_createState();
  if (h->state == NULL)
    l_no_memory(L);
  (void)XXH3_128bits_reset(h->state);
  return 1;
}


static int hasher_gc (lua_State *L) {
  l_hasher *const h = luaL_checkudata(L, 1, L_HASHER);
  if (h->state != NULL)
    (void)XXH3_freeState(h->state);
  h->state = NULL;
  return 0;
}


/* Returns the bytes of the string or open source at `arg`. */
static pf_bytes bytes_check (lua_State *L, int arg) {
  const l_source *const s = luaL_testudata(L, arg, L_SOURCE);
  if (s == NULL)
    return l_text_check(L, arg);
  luaL_argcheck(L, s->open, arg, "source is closed");
  luaL_argcheck(L, s->map != NULL || !s->file.is_plain, arg,
                "the file of the source is not mapped: read it first");
  return s->bytes;
}


/*
** hasher:add(...): adds the bytes of strings and sources, in this order;
** returns the hasher. Sizes are not added: (a, b) equals a .. b. A file that
** shrinks while it is read has zeros; the readers of its source report that.
*/
static int hasher_add (lua_State *L) {
  const l_hasher *const h = luaL_checkudata(L, 1, L_HASHER);
  for (int i = 2; i <= lua_gettop(L); i++) {
    const pf_bytes bytes = bytes_check(L, i);
    if (bytes.size > 0)
      (void)XXH3_128bits_update(h->state, bytes.at, bytes.size);
  }
  lua_settop(L, 1);
  return 1;
}


/* hasher:digest(): the hash of all bytes so far, a string of 16 bytes. */
static int hasher_digest (lua_State *L) {
  const l_hasher *const h = luaL_checkudata(L, 1, L_HASHER);
  const pf_hash hash = canonical(XXH3_128bits_digest(h->state));
  lua_pushlstring(L, (const char *)hash.bytes, sizeof hash.bytes);
  return 1;
}

void l_open_hasher (lua_State *L) {
  l_class(L, L_HASHER,
          L_METHODS({"add", hasher_add}, {"digest", hasher_digest}), hasher_gc,
          NULL);
  L_ADD(L, {"hasher", store_hasher});
}
