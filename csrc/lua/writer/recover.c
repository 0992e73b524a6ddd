/*
** recover.c - core.recover reads the ring beside an output file, of a writer
** that was killed or is still running; core.claim locks a ring for a new
** writer.
**
** Called by lua/profio/internal/opening and internal/writing/writer.lua. A
** userdata owns the copy of the ring, the encoder and the sinks during the
** call; the results are Lua strings. The userdata of a claim owns its lock
** until core.stream takes it over.
*/


#include "bytes/ring/ring.h"
#include "bytes/sink.h"
#include "bytes/target.h"
#include "formats/formats.h"
#include "lua/arguments.h"
#include "lua/binding.h"
#include "lua/source.h"
#include "lua/writer/stream.h"
#include "model/writer/manifest.h"
#include "model/writer/ring_encoder.h"

#define L_RECOVERY "profio.recovery"
#define MAX_SINKS  (PF_MANIFEST_ROLES + 1)

/* Everything that must be freed, also after an error. */
typedef struct recovery {
  pf_ring_copy copy;
  pf_manifest manifest; /* its texts lie in the copy */
  pf_ring_encoder encoder;
  pf_sink sinks[MAX_SINKS]; /* main file and side files */
  size_t nsinks;
} recovery;


static void free_recovery (recovery *r) {
  pf_ring_copy_close(&r->copy);
  pf_ring_encoder_close(&r->encoder);
  for (size_t i = 0; i < r->nsinks; i++)
    pf_sink_close(&r->sinks[i]);
  r->nsinks = 0;
}


static int recovery_gc (lua_State *L) {
  free_recovery(luaL_checkudata(L, 1, L_RECOVERY));
  return 0;
}


/* Opens a sink in memory for the main file and for each side file. Raises when
   out of memory. */
static void open_sinks (lua_State *L, recovery *r) {
  const pf_manifest *const manifest = &r->manifest;
  for (size_t i = 0; i <= manifest->nroles; i++) {
    if (pf_sink_open(&r->sinks[i], -1) != PF_OK)
      l_no_memory(L);
    r->nsinks = i + 1;
    if (i == 0)
      continue;
    r->sinks[i].role = manifest->roles[i - 1];
    r->sinks[i - 1].side = &r->sinks[i];
  }
}


/* Encodes the records of the ring as a file of their own. At damage encoding
   ends: earlier records are kept, and *damage describes it. */
static pf_status encode (recovery *r, const pf_format *format, pf_error *damage,
                         pf_error *error) {
  pf_ring_copy *const copy = &r->copy;
  *damage = (pf_error){.status = PF_OK};
  pf_status status =
      pf_ring_encoder_open(&r->encoder, format, r->manifest.options,
                           r->manifest.noptions, &r->sinks[0], error);
  if (status != PF_OK)
    return status;
  if (r->encoder.encoder->flush == NULL)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "the ring is of format '%s', which no ring serves",
                   format->name);
  status = pf_ring_encoder_replay(&r->encoder, &copy->journal, damage);
  if (status >= 0)
    status = pf_ring_encoder_consume(&r->encoder, &copy->records, UINT64_MAX,
                                     damage);
  if (status == PF_ENOMEM) {
    *error = *damage;
    return status;
  }
  return pf_ring_encoder_finish(&r->encoder, error);
}


static void push_answer (lua_State *L, const recovery *r, const char *format,
                         const pf_error *damage) {
  static const char *const modes[] = {"block", "drop", "overwrite"};
  lua_createtable(L, 0, 10);
  l_set_text(L, "format", format);
  l_set_text(L, "full", modes[r->copy.mode]);
  const uint64_t *const lengths = r->copy.checkpoint.lengths;
  l_set_int(L, "length", (int64_t)lengths[0]);
  lua_newtable(L);
  for (size_t i = 0; i < r->manifest.nroles; i++)
    l_set_int(L, r->manifest.roles[i], (int64_t)lengths[i + 1]);
  lua_setfield(L, -2, "lengths");
  l_set_int(L, "written", (int64_t)r->copy.checkpoint.consumed);
  l_set_int(L, "records", (int64_t)r->encoder.rows);
  l_set_int(L, "lost", (int64_t)r->copy.lost);
  l_set_bool(L, "is_alive", r->copy.is_alive);
  l_set_bool(L, "is_restarted", r->copy.is_restarted);
  l_set_bool(L, "is_synced", r->copy.is_synced);
  if (damage->status < 0)
    l_set_text(L, "damage", damage->what);
  if (r->encoder.rows == 0)
    return;
  l_set_bytes(L, "data", pf_sink_bytes(&r->sinks[0]));
  lua_newtable(L);
  for (size_t i = 1; i < r->nsinks; i++)
    if (r->sinks[i].written > 0)
      l_set_bytes(L, r->sinks[i].role, pf_sink_bytes(&r->sinks[i]));
  lua_setfield(L, -2, "side_files");
}


/*
** core.recover(path, folders, max_size): the contents of the ring at `path`,
** which core.named_file allows, or nil, message, code: { format=, full=,
** length=, lengths=, written=, records=, lost=, is_alive=, is_restarted=,
** is_synced=, is_closed=, damage=, data=, side_files= }. `length` is the number
** of bytes of the main file that are final, `lengths` those of side files by
** role. Records that are not in these bytes are in `data`, a file of their own,
** and its side files in `side_files` by role. If the file is complete without
** the ring, only is_closed is set.
*/
static int core_recover (lua_State *L) {
  const char *const path = luaL_checkstring(L, 1);
  lua_settop(L, 3);
  const pf_named_rule rule = l_named_rule(L);
  recovery *const r = l_new(L, L_RECOVERY, sizeof *r, 0);
  pf_error error, damage;
  if (pf_ring_read(path, &rule, &r->copy, &error) != PF_OK)
    return l_failure(L, &error, path);
  if (r->copy.is_closed) {
    lua_createtable(L, 0, 1);
    l_set_bool(L, "is_closed", true);
    return 1;
  }
  const pf_bytes kept = {r->copy.settings, r->copy.settings_size};
  const pf_format *const format = pf_manifest_read(kept, &r->manifest)
                                      ? pf_format_named(r->manifest.format)
                                      : NULL;
  if (format == NULL || format->encoder == NULL) {
    (void)pf_fail(&error, PF_EFORMAT, PF_NO_OFFSET,
                  "the ring is of a format that cannot be written");
    return l_failure(L, &error, path);
  }
  open_sinks(L, r);
  if (encode(r, format, &damage, &error) != PF_OK)
    return l_failure(L, &error, path);
  push_answer(L, r, format->name, &damage);
  lua_replace(L, 1); /* the recovery is freed now, not at the next collection */
  free_recovery(r);
  lua_settop(L, 1);
  return 1;
}


/* core.ring_state(path, folders, max_size): whether a writer has the ring at
   `path`, which core.named_file allows, and a number that grows with each
   record; nil if there is no ring, or its writer has closed it. */
static int core_ring_state (lua_State *L) {
  const char *const path = luaL_checkstring(L, 1);
  lua_settop(L, 3);
  const pf_named_rule rule = l_named_rule(L);
  pf_ring_state state;
  pf_error ignored;
  if (pf_ring_look(path, &rule, &state, &ignored) != PF_OK || !state.is_open)
    return 0;
  lua_pushboolean(L, state.is_alive);
  lua_pushinteger(L, (lua_Integer)state.head);
  return 2;
}


static int claim_close (lua_State *L) {
  pf_ring_claim_close(luaL_checkudata(L, 1, L_CLAIM));
  return 0;
}


/* core.claim(path): locks the ring at `path` for writing, or returns nil,
   message, code. core.stream takes the claim over; claim:close releases it. */
static int core_claim (lua_State *L) {
  const char *const path = luaL_checkstring(L, 1);
  pf_ring_claim *const claim = lua_newuserdatauv(L, sizeof *claim, 1);
  *claim = (pf_ring_claim){.fd = -1};
  luaL_setmetatable(L, L_CLAIM);
  l_pin(L, -1, 1, 1); /* the claim borrows the path */
  pf_error error;
  if (pf_ring_claim_open(claim, path, &error) != PF_OK)
    return l_failure(L, &error, path);
  return 1;
}


/* core.sync_folder(path): writes the directory entries of the folder of `path`
   to the disk; true, or nil, message, code. */
static int core_sync_folder (lua_State *L) {
  const char *const path = luaL_checkstring(L, 1);
  pf_error error;
  if (pf_target_sync_folder(path, &error) != PF_OK)
    return l_failure(L, &error, path);
  lua_pushboolean(L, true);
  return 1;
}


void l_open_recover (lua_State *L) {
  l_class(L, L_RECOVERY, NULL, recovery_gc, recovery_gc);
  l_class(L, L_CLAIM, L_METHODS({"close", claim_close}), claim_close,
          claim_close);
  L_ADD(L, {"claim", core_claim}, {"recover", core_recover},
        {"ring_state", core_ring_state}, {"sync_folder", core_sync_folder});
}
