/*
** function_names.c - identifies functions and finds their names when they
** are seen for the first time. A Lua function is identified by the address of
** its source, its lines and its numbers of upvalues and parameters, because one
** function may be many closures; a C function by its address. Two functions on
** one line with the same numbers are therefore one.
**
** Used by hooks.c, lua_lanes.c, timer.c and put_events.c. The recorder owns the
** functions, and l_functions_free frees them.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/recorder/recorder.h"
#include "model/base/memory.h"


/* Registry key of package.loaded, so that no hook has to create a string. */
static const char loaded_key;


void l_functions_prepare (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded_key);
}


/* Writes "module.name" of the function on top if a loaded module contains
   it. */
static bool loaded_name (lua_State *L, char *text, size_t size) {
  const int function = lua_gettop(L);
  if (!lua_checkstack(L, 8) ||
      lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key) != LUA_TTABLE)
    return false;
  for (lua_pushnil(L); lua_next(L, function + 1) != 0;
       lua_settop(L, function + 2)) {
    if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1))
      continue;
    const char *const module = lua_tostring(L, -2);
    const char *name = NULL;
    for (lua_pushnil(L); name == NULL && lua_next(L, -2) != 0; lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, function))
        name = lua_tostring(L, -2);
    if (name == NULL)
      continue;
    const bool is_global = strcmp(module, LUA_GNAME) == 0;
    snprintf(text, size, "%s%s%s", is_global ? "" : module,
             is_global ? "" : ".", name);
    return true;
  }
  return false;
}


static uint32_t intern (l_recorder *r, const char *text, size_t size) {
  return pf_intern(r->dictionary, (pf_bytes){(const uint8_t *)text, size});
}


/* Long names are truncated at a character boundary. */
static uint32_t intern_name (l_recorder *r, const char *text) {
  size_t size = strlen(text);
  if (size > r->max_name)
    for (size = r->max_name; size > 0 && ((uint8_t)text[size] & 0xC0) == 0x80;)
      size--;
  return intern(r, text, size);
}


/* Returns the name of the upvalue that is the function on top itself, or
   NULL. */
static const char *own_name (lua_State *L) {
  const int function = lua_gettop(L);
  const char *name = NULL;
  for (int i = 1; (name = lua_getupvalue(L, function, i)) != NULL; i++) {
    const bool is_it = *name != '(' && lua_rawequal(L, -1, function);
    lua_settop(L, function);
    if (is_it)
      break;
  }
  return name;
}


/* Returns the name by which the caller calls the function, or else its
   position. */
static uint32_t local_name (lua_State *L, lua_Debug *ar, l_recorder *r) {
  char text[LUA_IDSIZE + 32];
  lua_getinfo(L, "n", ar);
  if (ar->name != NULL)
    return intern_name(r, ar->name);
  if (*ar->what == 'C')
    return intern_name(r, "?");
  snprintf(text, sizeof text, "function <%s:%d>", ar->short_src,
           ar->linedefined);
  return intern_name(r, text);
}


/* Sets name, module and kind of a new function. The module is the path of its
   file, or Lua's short form of the source. */
static void name_function (lua_State *L, lua_Debug *ar, l_recorder *r,
                           l_function *f) {
  const int top = lua_gettop(L);
  const char *own = NULL;
  char text[512];
  f->module = *ar->source == '@'
                  ? intern(r, ar->source + 1, ar->srclen - 1)
                  : intern(r, ar->short_src, strlen(ar->short_src));
  f->kind = r->kinds[*ar->what == 'm'];
  lua_getinfo(L, "f", ar);
  if (*ar->what == 'm')
    f->name = intern(r, "main chunk", 10);
  else if (f->key.c == NULL && (own = own_name(L)) != NULL)
    f->name = intern_name(r, own);
  else if (loaded_name(L, text, sizeof text))
    f->name = intern_name(r, text);
  else
    f->name = local_name(L, ar, r);
  lua_settop(L, top);
}


typedef struct search_key {
  l_function *const *list;
  const l_function_key *key;
} search_key;


static bool is_same (const void *context, uint32_t number) {
  const search_key *const search = context;
  const l_function_key *const key = search->key;
  const l_function *const f = search->list[number];
  return f->key.source == key->source && f->key.size == key->size &&
         f->key.c == key->c && f->key.first == key->first &&
         f->key.last == key->last && f->key.signature == key->signature &&
         memcmp(f->tail, key->source + key->size - f->tail_size,
                f->tail_size) == 0;
}


/* Returns a new function. NULL: out of memory. */
static l_function *make (lua_State *L, lua_Debug *ar, l_recorder *r,
                         const l_function_key *key) {
  l_function *const f = calloc(1, sizeof *f);
  if (f == NULL)
    return NULL;
  f->key = *key;
  f->record_id = L_NO_ID;
  f->tail_size = key->size < L_TAIL ? key->size : L_TAIL;
  memcpy(f->tail, key->source + key->size - f->tail_size, f->tail_size);
  f->is_own = key->c == NULL && strcmp(ar->short_src, r->own_source) == 0;
  name_function(L, ar, r, f);
  l_put_changed(r);
  if (f->name == PF_NO_NAME || f->module == PF_NO_NAME) {
    free(f);
    return NULL;
  }
  return f;
}


l_function *l_function_of (lua_State *L, lua_Debug *ar, l_recorder *r) {
  static const char none[] = ""; /* the source of C functions */
  lua_getinfo(L, "Su", ar);
  l_function_key key = {.source = ar->source,
                        .size = ar->srclen,
                        .first = ar->linedefined,
                        .last = ar->lastlinedefined,
                        .signature =
                            ar->nups << 16 | ar->nparams << 8 | ar->isvararg};
  if (*ar->what == 'C') {
    lua_getinfo(L, "f", ar);
    key = (l_function_key){.source = none, .c = lua_tocfunction(L, -1)};
    lua_pop(L, 1);
  }
  l_functions *const functions = &r->functions;
  const search_key search = {functions->list, &key};
  const uint64_t address =
      (uint64_t)(uintptr_t)key.source ^ (uint64_t)(uintptr_t)key.c;
  const uint64_t hash = (address >> 4) + ((uint64_t)(unsigned)key.first << 20) +
                        (unsigned)key.last +
                        ((uint64_t)(unsigned)key.signature << 32);
  const uint32_t known =
      pf_intern_table_find(&functions->known, hash, is_same, &search);
  if (known != PF_NOT_INTERNED)
    return functions->list[known];
  l_function *f = NULL;
  if (pf_intern_table_reserve(&functions->known) &&
      pf_grow(&functions->list, &functions->capacity,
              (size_t)functions->known.count + 1))
    f = make(L, ar, r, &key);
  if (f == NULL)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  else
    functions->list[pf_intern_table_add(&functions->known, hash)] = f;
  return f;
}


void l_functions_free (l_functions *functions) {
  for (uint32_t i = 0; i < functions->known.count; i++) {
    free(functions->list[i]->areas);
    free(functions->list[i]);
  }
  pf_intern_table_free(&functions->known);
  free(functions->list);
  *functions = (l_functions){.list = NULL};
}


/* Extends the array of areas of a function to include a line. */
static bool reserve (l_function *f, int line) {
  const int base = f->areas == NULL || line < f->base ? line : f->base;
  const int shift = f->areas == NULL ? 0 : f->base - base;
  const int end = f->base + f->nareas;
  if (f->areas != NULL && line >= f->base && line < end)
    return true;
  const int count = (line >= end || f->areas == NULL ? line + 16 : end) - base;
  uint32_t *const areas = calloc((size_t)count, sizeof *areas);
  if (areas == NULL)
    return false;
  if (f->areas != NULL)
    memcpy(areas + shift, f->areas, (size_t)f->nareas * sizeof *areas);
  free(f->areas);
  f->areas = areas;
  f->base = base;
  f->nareas = count;
  return true;
}


/* Frames of a profile consist of name, file and line only; frames of a trace
   also have a class. */
static uint32_t make_area (l_recorder *r, const l_function *f, int line) {
  pf_area area = PF_AREA_NONE;
  area.name = f->name;
  area.file = f->module;
  area.line = line;
  if (r->contexts == NULL)
    area.class = f->kind;
  l_put_changed(r);
  const uint32_t number = pf_area_add(r->dictionary, &area);
  if (number == PF_NO_AREA || r->mode != L_TIMED || r->has_callers)
    return number;
  return pf_stack_push(r->dictionary, PF_NO_STACK, number);
}


uint32_t l_line_area (l_recorder *r, l_function *f, int line) {
  const unsigned at = (unsigned)(line - f->base);
  if (at < (unsigned)f->nareas && f->areas[at] != 0)
    return f->areas[at] - 1;
  uint32_t area = PF_NO_AREA;
  if (reserve(f, line))
    area = f->areas[line - f->base] = make_area(r, f, line) + 1;
  if (area == 0 || area == PF_NO_AREA)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  return area == PF_NO_AREA ? area : area - 1;
}
