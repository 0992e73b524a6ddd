/*
** function_names.c - identifies functions and names them when they are seen for
** the first time. A Lua function is identified by the address of its source,
** its lines and its numbers of upvalues and parameters, because one function
** may be many closures; if its text has several functions of which that is
** true, by its code, too. A C function is identified by its address.
**
** The names are made by lua/profio/internal/naming/, in Lua, since each is made
** once.
**
** Used by hooks.c, lua_lanes.c, timer.c and put_events.c. The recorder owns the
** functions, and l_functions_free frees them.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/recorder/sampling.h"
#include "model/base/memory.h"
#include "os/os.h"


#define NAMED_SIGNATURE (-1) /* of no Lua function */

/* Registry key of the function that names functions. */
static const char namer_key;


void l_functions_prepare (lua_State *L) {
  lua_rawsetp(L, LUA_REGISTRYINDEX, &namer_key);
}


void l_functions_release (lua_State *L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &namer_key);
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


/* Pushes the function of `ar`, or a table with what is known of it. */
static void push_function (lua_State *L, lua_Debug *ar) {
  if (ar->i_ci != NULL) {
    lua_getinfo(L, "f", ar);
    return;
  }
  lua_createtable(L, 0, 8);
  lua_pushlstring(L, ar->source, ar->srclen);
  lua_setfield(L, -2, "source");
  l_set_text(L, "short_src", ar->short_src);
  l_set_text(L, "what", ar->what);
  l_set_int(L, "linedefined", ar->linedefined);
  l_set_int(L, "lastlinedefined", ar->lastlinedefined);
  l_set_int(L, "nparams", ar->nparams);
  lua_pushboolean(L, ar->isvararg);
  lua_setfield(L, -2, "isvararg");
}


/* Calls the namer with the function of `ar`, in the thread that runs and
   without hooks, and leaves its two results or an error on the stack. */
static bool call_namer (lua_State *L, lua_Debug *ar, const l_recorder *r,
                        bool tells_apart) {
  const lua_Hook hook = lua_gethook(L);
  const int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &namer_key);
  push_function(L, ar);
  lua_pushboolean(L, tells_apart);
  if (r->hook != NULL)
    lua_sethook(L, NULL, 0, 0);
  const int status = lua_pcall(L, 2, 2, 0);
  if (r->hook != NULL)
    lua_sethook(L, hook, mask, count);
  return status == LUA_OK && lua_type(L, -2) == LUA_TSTRING;
}


/* Sets the name of a new function. Time that naming takes is none of the
   program. If the namer fails, as it may near the end of the stack, the name is
   the function's place. */
static void set_name (lua_State *L, lua_Debug *ar, l_recorder *r,
                      l_function *f) {
  const int top = lua_gettop(L);
  const int64_t before = l_now(r);
  l_timer_hold(r, before);
  if (lua_checkstack(L, LUA_MINSTACK) &&
      call_namer(L, ar, r, f->key.code != 0)) {
    f->has_alike = lua_toboolean(L, -1);
    f->name = intern_name(r, lua_tostring(L, -2));
  }
  else {
    char text[LUA_IDSIZE + 32];
    snprintf(text, sizeof text, "function at %s:%d", ar->short_src,
             ar->linedefined);
    f->name = intern_name(r, *ar->what == 'C' ? "C function" : text);
  }
  lua_settop(L, top);
  const int64_t now = l_now(r);
  l_timer_release_hold(r, now);
  if (!r->has_costs)
    r->overhead += now - before;
}


/* Sets name, module and kind of a new function. The module is the path of its
   file, or Lua's short form of the source. */
static void describe (lua_State *L, lua_Debug *ar, l_recorder *r,
                      l_function *f) {
  f->module = *ar->source == '@'
                  ? intern(r, ar->source + 1, ar->srclen - 1)
                  : intern(r, ar->short_src, strlen(ar->short_src));
  f->kind = r->kinds[*ar->what == 'm'];
  f->is_own = f->key.c == NULL
                  ? strcmp(ar->short_src, r->own_source) == 0
                  : l_zone_is_own(f->key.c) || l_label_is_own(f->key.c);
  if (f->is_own)
    f->name = f->module;
  else
    set_name(L, ar, r, f);
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
         f->key.code == key->code &&
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
  describe(L, ar, r, f);
  l_put_changed(r);
  if (f->name == PF_NO_NAME || f->module == PF_NO_NAME) {
    free(f);
    return NULL;
  }
  return f;
}


static uint64_t hash_of (const l_function_key *key) {
  const uint64_t address =
      (uint64_t)(uintptr_t)key->source ^ (uint64_t)(uintptr_t)key->c;
  return (address >> 4) + ((uint64_t)(unsigned)key->first << 20) +
         (unsigned)key->last + ((uint64_t)(unsigned)key->signature << 32) +
         key->code;
}


/* Adds a function to the table, which has room for it. */
static l_function *add (l_functions *functions, l_function *f, uint64_t hash) {
  return functions->list[pf_intern_table_add(&functions->known, hash)] = f;
}


static bool reserve_one (l_functions *functions) {
  return pf_intern_table_reserve(&functions->known) &&
         pf_grow(&functions->list, &functions->capacity,
                 (size_t)functions->known.count + 1);
}


/* Its key has the ids of its name and module. */
l_function *l_named_function (l_recorder *r, const char *name, uint32_t module,
                              int line) {
  const uint32_t id = intern_name(r, name);
  const l_function_key key = {.source = "",
                              .first = line,
                              .last = line,
                              .signature = NAMED_SIGNATURE,
                              .code = (uint64_t)module << 32 | id};
  const search_key search = {r->functions.list, &key};
  const uint64_t hash = hash_of(&key);
  const uint32_t known =
      pf_intern_table_find(&r->functions.known, hash, is_same, &search);
  if (known != PF_NOT_INTERNED)
    return r->functions.list[known];
  l_function *const f = id == PF_NO_NAME || !reserve_one(&r->functions)
                            ? NULL
                            : calloc(1, sizeof *f);
  if (f == NULL)
    return NULL;
  f->key = key;
  f->record_id = L_NO_ID;
  f->name = id;
  f->module = module;
  f->kind = r->kinds[0];
  l_put_changed(r);
  return add(&r->functions, f, hash);
}


/* Returns the function with this key, a new one if it is unknown. NULL: out of
   memory; recording has ended. */
static l_function *find_or_make (lua_State *L, lua_Debug *ar, l_recorder *r,
                                 const l_function_key *key) {
  l_functions *const functions = &r->functions;
  const search_key search = {functions->list, key};
  const uint64_t hash = hash_of(key);
  const uint32_t known =
      pf_intern_table_find(&functions->known, hash, is_same, &search);
  if (known != PF_NOT_INTERNED)
    return functions->list[known];
  l_function *const f = reserve_one(functions) ? make(L, ar, r, key) : NULL;
  if (f == NULL)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  return f == NULL ? NULL : add(functions, f, hash);
}


#define MAX_CODE 65536 /* bytes of code that tell functions apart */

typedef struct code_hash {
  uint64_t hash;
  size_t size;
} code_hash;


static int add_code (lua_State *L, const void *bytes, size_t size,
                     void *context) {
  code_hash *const code = context;
  const uint8_t *const at = bytes;
  (void)L;
  for (size_t i = 0; i < size; i++)
    code->hash = (code->hash ^ at[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
  code->size += size;
  return code->size > MAX_CODE;
}


/* Returns a hash of the code of a function, which is not 0. */
static uint64_t code_of (lua_State *L, lua_Debug *ar) {
  code_hash code = {UINT64_C(0xcbf29ce484222325), 0};
  lua_getinfo(L, "f", ar);
  lua_dump(L, add_code, &code, 1);
  lua_pop(L, 1);
  return code.hash | 1;
}


l_function *l_function_of (lua_State *L, lua_Debug *ar, l_recorder *r) {
  static const char none[] = ""; /* the source of C functions */
  if (ar->i_ci != NULL)
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
  l_function *const f = find_or_make(L, ar, r, &key);
  if (f == NULL || !f->has_alike)
    return f;
  key.code = ar->i_ci != NULL ? code_of(L, ar) : 1; /* it cannot be told */
  return find_or_make(L, ar, r, &key);
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


/* core.c_address(f): the address of a C function, equal for all closures of it;
   nil for a Lua function. */
static int core_c_address (lua_State *L) {
  const lua_CFunction f = lua_tocfunction(L, 1);
  void *address;
  if (f == NULL)
    return 0;
  memcpy(&address, &f, sizeof address);
  lua_pushlightuserdata(L, address);
  return 1;
}


/* core.c_place(f): the path of the shared object or program that contains a C
   function, the name of its symbol or nil, and its offset in the object; nil if
   the system does not know. */
static int core_c_place (lua_State *L) {
  const lua_CFunction f = lua_tocfunction(L, 1);
  os_place place;
  void *address;
  memcpy(&address, &f, sizeof address);
  if (f == NULL || !os_place_of(address, &place))
    return 0;
  lua_pushstring(L, place.file);
  lua_pushstring(L, place.symbol); /* nil for NULL */
  lua_pushinteger(L, (lua_Integer)place.offset);
  return 3;
}


void l_open_function_names (lua_State *L) {
  L_ADD(L, {"c_address", core_c_address}, {"c_place", core_c_place});
}
