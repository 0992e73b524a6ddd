/*
** export.c - writing the text of an export (see export.h).
*/

#include <stdarg.h>
#include <stdlib.h>

#include "kernels/contexts/function_frames.h"
#include "kernels/contexts/transform_contexts.h"
#include "lua/arguments.h"
#include "lua/profile/export.h"
#include "model/contexts/tree_order.h"

#define L_EXPORT "profio.export"


static int export_gc (lua_State *L) {
  l_export *const e = luaL_checkudata(L, 1, L_EXPORT);
  pf_traversal_close(&e->walk);
  free(e->job.text.at);
  free(e->ranks);
  free(e->sorted);
  e->job.text.at = NULL;
  e->ranks = e->sorted = NULL;
  return 0;
}


l_export *l_export_new (lua_State *L, int arg, int options_arg, int file_arg) {
  const pf_contexts *const contexts = l_contexts_check(L, arg);
  FILE *const file = l_file_check(L, file_arg);
  luaL_checktype(L, options_arg, LUA_TTABLE);
  l_export *const e = l_new(L, L_EXPORT, sizeof *e, 0);
  e->job.file = file;
  e->file_arg = file_arg;
  e->contexts = contexts;
  e->metric = l_metric_check(L, contexts,
                             l_option_text(L, options_arg, "metric", NULL));
  const size_t nareas = (size_t)pf_areas_count(contexts->dictionary) + 1;
  e->ranks = malloc(nareas * sizeof *e->ranks);
  e->sorted = malloc(nareas * sizeof *e->sorted);
  if (e->ranks == NULL || e->sorted == NULL ||
      pf_contexts_rank(contexts, e->ranks, e->sorted, &e->nframes) != PF_OK ||
      pf_traversal_open(&e->walk, contexts, NULL) != PF_OK)
    l_no_memory(L);
  return e;
}


uint32_t *l_function_frames (lua_State *L, const pf_contexts *contexts,
                             bool *has_lines) {
  const uint32_t count = pf_areas_count(contexts->dictionary);
  uint32_t *const frames = l_scratch(L, (size_t)count + 1, sizeof *frames);
  for (uint32_t i = 0; i < count; i++)
    frames[i] = i;
  if (pf_function_frames(contexts, frames, count, has_lines) != PF_OK)
    l_no_memory(L);
  return frames;
}


pf_contexts *l_push_by_function (lua_State *L, int arg) {
  pf_contexts *const lines = l_contexts_check(L, arg);
  const uint32_t count = pf_areas_count(lines->dictionary);
  bool has_lines;
  pf_error error;
  uint32_t *const frames = l_function_frames(L, lines, &has_lines);
  if (!has_lines) {
    lua_pushvalue(L, arg);
    lua_replace(L, -2);
    return lines;
  }
  lua_getiuservalue(L, arg, 1);
  pf_contexts *const functions = l_contexts_new(L, -1);
  if (pf_contexts_rename(functions, lines, frames, count, false, &error) !=
      PF_OK)
    l_no_memory(L);
  lua_replace(L, -3); /* of the frames; below the dictionary */
  lua_pop(L, 1);
  return functions;
}


/* core.by_function(contexts): the contexts with one frame for each function,
   which is known by name and file; the same ones if they have no lines. */
static int core_by_function (lua_State *L) {
  lua_settop(L, 1);
  l_push_by_function(L, 1);
  return 1;
}


int l_refuse (lua_State *L, const char *message) {
  lua_pushnil(L);
  lua_pushstring(L, message);
  lua_pushliteral(L, "unsupported");
  return 3;
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


void l_export_json (l_export *e, pf_bytes text) {
  if (e->job.failed == PF_OK)
    keep_failure(e, row_put_json(&e->job.text, text));
}


/* Returns the replacement of an ASCII character. */
static char replaced (uint8_t byte, const char *pairs) {
  for (size_t i = 0; pairs[i] != '\0'; i += 2)
    if (byte == (uint8_t)pairs[i])
      return pairs[i + 1];
  return byte < 0x20 || byte == 0x7f ? ' ' : (char)byte;
}


void l_export_replaced (l_export *e, pf_bytes text, const char *pairs) {
  for (size_t i = 0; i < text.size && e->job.failed == PF_OK;) {
    const size_t size = pf_utf8(text.at + i, text.size - i);
    const char plain = replaced(text.at[i], pairs);
    if (size == 1)
      keep_failure(e, row_put(&e->job.text, &plain, 1));
    else if (size == 0)
      keep_failure(e, row_put(&e->job.text, "\xef\xbf\xbd", 3));
    else
      keep_failure(e, row_put(&e->job.text, text.at + i, size));
    i += size == 0 ? 1 : size;
  }
}


void l_open_export (lua_State *L) {
  l_class(L, L_EXPORT, NULL, export_gc, export_gc);
  L_ADD(L, {"by_function", core_by_function});
}
