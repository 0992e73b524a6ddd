/*
** export.c - writing the text of an export (see export.h).
*/

#include <stdarg.h>
#include <stdlib.h>

#include "lua/arguments.h"
#include "lua/profile/export.h"
#include "lua/system/file_handle.h"
#include "model/dictionary/areas.h"

#define L_EXPORT "profio.export"


static int export_gc (lua_State *L) {
  l_export *const e = luaL_checkudata(L, 1, L_EXPORT);
  pf_traversal_close(&e->walk);
  free(e->job.text.at);
  e->job.text.at = NULL;
  return 0;
}


l_export *l_export_new (lua_State *L, int arg, int options_arg, int file_arg) {
  const pf_contexts *const contexts = l_contexts_check(L, arg);
  const row_target target = l_target_check(L, file_arg);
  luaL_checktype(L, options_arg, LUA_TTABLE);
  l_export *const e = l_new(L, L_EXPORT, sizeof *e, 0);
  e->job.target = target;
  e->file_arg = file_arg;
  e->contexts = contexts;
  e->metric = l_metric_check(L, contexts,
                             l_option_text(L, options_arg, "metric", NULL));
  if (pf_traversal_open(&e->walk, contexts, NULL) != PF_OK)
    l_no_memory(L);
  return e;
}


int l_export_finish (lua_State *L, l_export *e) {
  if (e->job.failed == PF_OK)
    e->job.failed = row_flush(&e->job, true);
  if (e->job.failed == PF_OK) {
    lua_pushboolean(L, 1);
    return 1;
  }
  if (e->job.failed == PF_ENOMEM)
    l_no_memory(L);
  return l_write_failure(L, e->file_arg, e->job.errnum);
}


/* Keeps the first failure. */
static void keep_failure (l_export *e, pf_status status) {
  if (e->job.failed == PF_OK)
    e->job.failed = status;
  if (e->job.failed == PF_OK)
    e->job.failed = row_flush(&e->job, false);
}


void l_export_bytes (l_export *e, const void *bytes, size_t size) {
  if (e->job.failed == PF_OK && size > 0)
    keep_failure(e, row_put(&e->job.text, bytes, size));
}


void l_export_text (l_export *e, const char *text) {
  l_export_bytes(e, text, strlen(text));
}


void l_export_int (l_export *e, int64_t value) {
  char number[ROW_NUMBER_SIZE];
  const char *const end = row_put_int(number, value);
  l_export_bytes(e, number, (size_t)(end - number));
}


void l_export_put (l_export *e, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *at;
  for (; (at = strchr(format, '%')) != NULL; format = at) {
    l_export_bytes(e, format, (size_t)(at - format));
    if (at[1] == 's')
      l_export_text(e, va_arg(arguments, const char *));
    else
      l_export_int(e, va_arg(arguments, long long));
    at += at[1] == 's' ? strlen("%s") : strlen("%lld");
  }
  va_end(arguments);
  l_export_text(e, format);
}


void l_export_ms (l_export *e, int64_t ns) {
  char digits[8] = ".000000";
  uint64_t left = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
  if (ns < 0)
    l_export_text(e, "-");
  l_export_int(e, (int64_t)(left / 1000000));
  left %= 1000000;
  for (size_t i = 6; i > 0; i--, left /= 10)
    digits[i] = (char)('0' + left % 10);
  l_export_text(e, digits);
}


void l_open_export (lua_State *L) {
  l_class(L, L_EXPORT, NULL, export_gc, export_gc);
}


void l_set_frames (lua_State *L, pf_dictionary *d, const uint32_t *areas,
                   uint32_t count, const char *unnamed) {
  for (int list = 0; list < 3; list++)
    lua_createtable(L, (int)count, 0);
  for (uint32_t i = 0; i < count; i++) {
    const pf_area *const area = pf_area_at(d, areas[i]);
    if (area->name == PF_NO_NAME)
      lua_pushstring(L, unnamed);
    else
      l_push_name(L, d, area->name, 0);
    lua_rawseti(L, -4, (lua_Integer)i + 1);
    if (area->file == PF_NO_NAME)
      lua_pushboolean(L, false);
    else
      l_push_name(L, d, area->file, 0);
    lua_rawseti(L, -3, (lua_Integer)i + 1);
    lua_pushinteger(L, area->line);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -4, "lines");
  lua_setfield(L, -3, "files");
  lua_setfield(L, -2, "names");
}
