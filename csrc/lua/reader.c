/*
** reader.c - reader userdata and their iterators:
**
**   each     returns the values of a row; creates no table, fastest
**   records  returns a new table for each row
**   rows     returns all rows in an array
**   drain    reads all rows and returns only their number
**
** Used by all of lua/profio that reads rows. The userdata owns its pf_reader,
** and closes it or leaves that to the collector; an iterator owns the batch.
*/

#include <string.h>

#include "lua/arguments.h"
#include "lua/callback.h"
#include "model/base/switches.h"

#define L_CURSOR "profio.cursor"

/* The conversion by `each` of the values of a column of the current batch. */
typedef enum l_conversion {
  AS_INT,  /* integers, none missing */
  AS_NAME, /* names, none missing */
  AS_AREA, /* areas, none missing */
  AS_ANY   /* any other values */
} l_conversion;

typedef struct l_pick {
  size_t number;           /* index of the column */
  l_conversion conversion; /* used by `each` for the current batch */
  const int64_t *ints;     /* AS_INT */
  const uint32_t *ids;     /* AS_NAME, AS_AREA */
} l_pick;

/* Strings of names and areas that are cached in upvalues of `each`: pushing an
   upvalue takes half the time of reading a table element. A slot is found by
   the low bits of the id. */
#define CACHE_SLOTS 256 /* a power of two */

typedef struct l_cached {
  uint32_t id;     /* an id of another slot: empty */
  uint32_t number; /* number of the upvalue */
} l_cached;

/*
** A batch and a position in it. User value 1 pins the reader; 2 is the string
** cache, 3 the array of column names.
*/
typedef struct l_cursor {
  const l_reader *reader;
  pf_dictionary *dictionary; /* also when the reader has been closed */
  pf_batch batch;
  size_t row, rows; /* rows: 0 while a batch is being read */
  bool borrows;     /* a column of bytes: values end with the trace */
  bool is_reading;  /* for detecting recursion */
  l_cached names[CACHE_SLOTS], areas[CACHE_SLOTS];
  int ncached;    /* number of strings in upvalues */
  int count;      /* number of selected columns */
  l_pick picks[]; /* the selected columns */
} l_cursor;


static int cursor_gc (lua_State *L) {
  l_cursor *const c = luaL_checkudata(L, 1, L_CURSOR);
  pf_batch_close(&c->batch);
  return 0;
}


/* Pushes a cursor over the columns at 2 of the reader at 1. */
static l_cursor *new_cursor (lua_State *L) {
  const l_reader *const r = l_reader_check(L, 1);
  lua_settop(L, 2);
  int count;
  const size_t *const columns = l_columns_at(L, 2, r->reader, &count); /* 3 */
  const size_t size = (size_t)count * sizeof(l_pick);
  l_cursor *const c = lua_newuserdatauv(L, sizeof *c + size, 3);
  memset(c, 0, sizeof *c);
  c->reader = r;
  c->dictionary = r->reader->dictionary;
  c->count = count;
  luaL_setmetatable(L, L_CURSOR);
  l_pin(L, 4, 1, 1);
  l_reader_push_cache(L, 1);
  lua_setiuservalue(L, 4, 2);
  lua_settop(L, 4);
  bool *const wanted = l_scratch(L, r->reader->nfields, sizeof *wanted);
  lua_createtable(L, count, 0);
  for (int i = 0; i < count; i++) {
    const pf_field *const field = &r->reader->fields[columns[i]];
    c->picks[i].number = columns[i];
    c->borrows |= field->type == PF_BYTES;
    wanted[columns[i]] = true;
    lua_pushstring(L, field->name);
    lua_rawseti(L, 6, i + 1);
  }
  lua_setiuservalue(L, 4, 3);
  if (pf_batch_for(&c->batch, r->reader, wanted) != PF_OK)
    l_no_memory(L);
  lua_copy(L, 4, 3);
  lua_settop(L, 3);
  return c;
}


/* Raises if the values of the batch are no longer valid. */
static void cursor_check_open (lua_State *L, const l_cursor *c) {
  if (c->borrows)
    l_reader_check_open(L, c->reader);
}


/* Reads the next batch; false at the end. The cursor is at `index`. */
static bool refill (lua_State *L, l_cursor *c, int index) {
  l_reader_check_open(L, c->reader);
  pf_reader *const reader = c->reader->reader;
  pf_error error;
  if (c->is_reading)
    luaL_error(L, "a Lua function calls the iterator that calls it");
  c->row = c->rows = 0;
  c->is_reading = true;
  const pf_status status = reader->next(reader, &c->batch, &error);
  c->is_reading = false;
  if (status == PF_MORE) {
    c->rows = c->batch.rows;
    return true;
  }
  if (status < 0) {
    lua_getiuservalue(L, index, 1);
    l_throw(L, &error, lua_gettop(L));
  }
  return false;
}


/* Upvalues of `each_next`. */
#define EACH_CURSOR lua_upvalueindex(1)
#define EACH_NAMES  lua_upvalueindex(2) /* string cache of names */
#define EACH_AREAS  lua_upvalueindex(3) /* area id + 1 -> string */
#define EACH_CACHED 4 /* first of l_cached; Lua allows 255 upvalues */
#define MAX_CACHED  (256 - EACH_CACHED)


static l_conversion conversion_of (const pf_column *column) {
  if (column->has_missing || !PF_FAST(STRINGS))
    return AS_ANY;
  switch (column->type) {
    case PF_INT:
    case PF_HANDLE:
    case PF_ADDR: return AS_INT;
    case PF_NAME: return AS_NAME;
    case PF_AREA: return AS_AREA;
    default: return AS_ANY;
  }
}


/* Reads the next batch and sets the conversions; false at the end. */
static bool each_refill (lua_State *L, l_cursor *c) {
  lua_pushvalue(L, EACH_CURSOR);
  if (!refill(L, c, lua_gettop(L)))
    return false;
  lua_pop(L, 1);
  for (int i = 0; i < c->count; i++) {
    l_pick *const pick = &c->picks[i];
    const pf_column *const column = &c->batch.columns[pick->number];
    pick->conversion = conversion_of(column);
    pick->ints = column->ints;
    pick->ids = column->ids;
  }
  return true;
}


/* Caches the string on top in an upvalue, if the slot and an upvalue are
   free. */
static void cache_string (lua_State *L, l_cursor *c, l_cached *cache,
                          uint32_t id) {
  l_cached *const slot = &cache[id & (CACHE_SLOTS - 1)];
  if (((slot->id ^ id) & (CACHE_SLOTS - 1)) == 0 || c->ncached == MAX_CACHED)
    return; /* the slot belongs to another id */
  *slot = (l_cached){id, (uint32_t)(EACH_CACHED + c->ncached++)};
  lua_pushvalue(L, -1);
  lua_replace(L, lua_upvalueindex((int)slot->number));
}


/* Push a name or an area that is not in an upvalue. */
static void push_uncached_name (lua_State *L, l_cursor *c, uint32_t name) {
  l_push_name(L, c->dictionary, name, EACH_NAMES);
  cache_string(L, c, c->names, name);
}


static void push_uncached_area (lua_State *L, l_cursor *c, uint32_t area) {
  if (lua_rawgeti(L, EACH_AREAS, (lua_Integer)area + 1) != LUA_TSTRING) {
    pf_dictionary *const dictionary = c->dictionary;
    lua_pop(L, 1);
    l_push_name(L, dictionary, pf_area_name(dictionary, area), EACH_NAMES);
    lua_pushvalue(L, -1);
    lua_rawseti(L, EACH_AREAS, (lua_Integer)area + 1);
  }
  cache_string(L, c, c->areas, area);
}


static void push_any (lua_State *L, const l_cursor *c, const l_pick *pick,
                      size_t row) {
  const pf_column *const column = &c->batch.columns[pick->number];
  if (pick == c->picks && pf_is_missing(column, row))
    lua_pushboolean(L, 0); /* nil would end the for loop */
  else
    l_push_value(L, column, row, c->dictionary, EACH_NAMES);
}


/* For functions that run for each value. */
#define HOT static inline __attribute__((always_inline))

HOT bool push_cached (lua_State *L, const l_cached *cache, uint32_t id) {
  const l_cached *const slot = &cache[id & (CACHE_SLOTS - 1)];
  if (slot->id != id)
    return false;
  lua_pushvalue(L, lua_upvalueindex((int)slot->number));
  return true;
}


HOT void push_pick (lua_State *L, l_cursor *c, const l_pick *pick, size_t row) {
  switch (pick->conversion) {
    case AS_INT: lua_pushinteger(L, pick->ints[row]); break;
    case AS_NAME:
      if (!push_cached(L, c->names, pick->ids[row]))
        push_uncached_name(L, c, pick->ids[row]);
      break;
    case AS_AREA:
      if (!push_cached(L, c->areas, pick->ids[row]))
        push_uncached_area(L, c, pick->ids[row]);
      break;
    default: push_any(L, c, pick, row);
  }
}


static int each_next (lua_State *L) {
  l_cursor *const c = lua_touserdata(L, EACH_CURSOR);
  const int count = c->count;
  if (c->row == c->rows && !each_refill(L, c))
    return 0;
  cursor_check_open(L, c);
  if (count >= LUA_MINSTACK)
    luaL_checkstack(L, count + 2, "too many columns");
  const size_t row = c->row++;
  for (int i = 0; i < count; i++)
    push_pick(L, c, &c->picks[i], row);
  return count;
}


/* As each_next for three columns without bytes: with branches of its own for
   each column the processor predicts better. */
static int each_three (lua_State *L) {
  l_cursor *const c = lua_touserdata(L, EACH_CURSOR);
  if (c->row == c->rows && !each_refill(L, c))
    return 0;
  const size_t row = c->row++;
  push_pick(L, c, &c->picks[0], row);
  push_pick(L, c, &c->picks[1], row);
  push_pick(L, c, &c->picks[2], row);
  return 3;
}


/* core.each(reader, columns): an iterator that returns the values of a row, of
   all columns without `columns`. Missing values are nil; a missing first value
   is false. */
static int core_each (lua_State *L) {
  l_cursor *const c = new_cursor(L);
  luaL_argcheck(L, c->count > 0, 2, "no column");
  /* Empties the cache: each slot gets an id that belongs to another slot. */
  for (uint32_t i = 0; i < CACHE_SLOTS; i++)
    c->names[i].id = c->areas[i].id = ~i;
  lua_getiuservalue(L, 3, 2);
  lua_newtable(L);
  if (!lua_checkstack(L, MAX_CACHED)) /* too few for the limit: out of memory */
    l_no_memory(L);
  for (int i = 0; i < MAX_CACHED; i++)
    lua_pushnil(L);
  const bool is_three = c->count == 3 && !c->borrows;
  lua_pushcclosure(L, is_three ? each_three : each_next,
                   EACH_CACHED - 1 + MAX_CACHED);
  return 1;
}


/* Pushes a row as a table; `names` and `cache` are stack indices. */
static void push_record (lua_State *L, const l_cursor *c, size_t row, int names,
                         int cache) {
  pf_dictionary *const dictionary = c->dictionary;
  lua_createtable(L, 0, c->count);
  for (int i = 0; i < c->count; i++) {
    lua_rawgeti(L, names, i + 1);
    l_push_value(L, &c->batch.columns[c->picks[i].number], row, dictionary,
                 cache);
    lua_rawset(L, -3);
  }
}


/* Upvalues: 1 the cursor, 2 the string cache, 3 the column names. */
static int records_next (lua_State *L) {
  l_cursor *const c = lua_touserdata(L, lua_upvalueindex(1));
  if (c->row == c->rows) {
    lua_pushvalue(L, lua_upvalueindex(1));
    if (!refill(L, c, lua_gettop(L)))
      return 0;
  }
  cursor_check_open(L, c);
  push_record(L, c, c->row++, lua_upvalueindex(3), lua_upvalueindex(2));
  return 1;
}


/* core.records(reader, columns): an iterator that returns a new table for each
   row; missing values are absent. */
static int core_records (lua_State *L) {
  new_cursor(L);
  lua_getiuservalue(L, 3, 2);
  lua_getiuservalue(L, 3, 3);
  lua_pushcclosure(L, records_next, 3);
  return 1;
}


/* core.rows(reader, columns, most): an array of the rows, or of the first
   `most`, each a table; missing values are absent. */
static int core_rows (lua_State *L) {
  const lua_Integer most = luaL_optinteger(L, 3, LUA_MAXINTEGER);
  l_cursor *const c = new_cursor(L); /* at 3 */
  lua_getiuservalue(L, 3, 2);
  lua_getiuservalue(L, 3, 3);
  lua_newtable(L);
  lua_Integer n = 0;
  while (n < most && refill(L, c, 3))
    for (size_t row = 0; row < c->rows && n < most; row++) {
      push_record(L, c, row, 5, 4);
      lua_rawseti(L, 6, ++n);
    }
  pf_batch_close(&c->batch); /* before the collector does */
  lua_settop(L, 6);
  return 1;
}


/* core.drain(reader, all): reads all rows and returns their number. Without
   `all` only columns that stages need are decoded. */
static int core_drain (lua_State *L) {
  const bool all = lua_toboolean(L, 2) != 0;
  lua_settop(L, 1);
  if (!all)
    lua_newtable(L); /* no columns */
  l_cursor *const c = new_cursor(L);
  lua_Integer n = 0;
  while (refill(L, c, 3))
    n += (lua_Integer)c->rows;
  pf_batch_close(&c->batch);
  lua_pushinteger(L, n);
  return 1;
}


static int reader_gc (lua_State *L) {
  l_reader *const r = luaL_checkudata(L, 1, L_READER);
  if (r->reader != NULL)
    r->reader->close(r->reader);
  r->reader = NULL;
  return 0;
}


/* reader:close(). The reader is left to the collector if another reader reads
   from it, or if it may be waiting for a Lua function. */
static int reader_close (lua_State *L) {
  const l_reader *const r = luaL_checkudata(L, 1, L_READER);
  return r->is_input || l_callback_is_running(L) ? 0 : reader_gc(L);
}


/* reader:fields(): { { name=, type=, help= }, ... } */
static int reader_fields (lua_State *L) {
  const l_reader *const r = l_reader_check(L, 1);
  l_push_fields(L, r->reader->fields, r->reader->nfields);
  return 1;
}


/* core.unit(reader, column): the unit of a column of numbers: "ns", what it
   counts ("bytes"), or an empty text. */
static int core_unit (lua_State *L) {
  const pf_reader *const reader = l_reader_check(L, 1)->reader;
  const pf_bytes unit =
      pf_unit_of(&reader->fields[l_field_check(L, 2, reader)]);
  lua_pushlstring(L, (const char *)unit.at, unit.size);
  return 1;
}


/* core.is_date(field): whether a column { name=, type=, help= } has dates. */
static int core_is_date (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "type");
  lua_getfield(L, 1, "help");
  const char *const type = lua_tostring(L, -2);
  const pf_field field = {"", PF_INT, lua_tostring(L, -1)};
  lua_pushboolean(L, type != NULL && strcmp(type, "int") == 0 &&
                         pf_is_date(&field));
  return 1;
}


/* core.help_of_weight(text, metric, unit): the help of a column with the
   weights of a metric, from which core.unit reads the unit. */
static int core_help_of_weight (lua_State *L) {
  char help[256];
  pf_help_of_weight(help, sizeof help, luaL_checkstring(L, 1),
                    luaL_checkstring(L, 2), luaL_checkstring(L, 3));
  lua_pushstring(L, help);
  return 1;
}


void l_open_reader (lua_State *L) {
  l_class(L, L_READER,
          L_METHODS({"close", reader_close}, {"fields", reader_fields}),
          reader_gc, reader_close);
  l_class(L, L_CURSOR, NULL, cursor_gc, cursor_gc);
  L_ADD(L, {"help_of_weight", core_help_of_weight}, {"is_date", core_is_date},
        {"unit", core_unit}, {"drain", core_drain}, {"each", core_each},
        {"records", core_records}, {"rows", core_rows});
}
