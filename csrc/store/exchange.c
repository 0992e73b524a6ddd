/*
** exchange.c - the userdata of an HTTP client: several requests at once. Called
** by lua/profio/internal/store/clickhouse/servers.lua. One userdata owns the
** client with its connections, another one the requests of a call and their
** answers.
*/

#include <stdlib.h>

#include "lua/arguments.h"
#include "model/system/parallel.h"
#include "os/os.h"
#include "store/connection.h"
#include "store/database.h"
#include "store/http.h"

#define L_HTTP     "profio.http"
#define L_EXCHANGE "profio.exchange"

#define TIMEOUT_S 600

typedef struct l_http {
  pf_http *client; /* owned; NULL: closed */
} l_http;

/* The requests of one call, with their answers. User values: the memory of the
   requests, their table, the client, and a list of the memories of their
   files. */
typedef struct l_exchange {
  pf_http_request *requests;
  size_t count;
  pf_http_sending *sending; /* owned; NULL: ended */
} l_exchange;


/* store.http(): a client. */
static int store_http (lua_State *L) {
  l_http *const h = l_new(L, L_HTTP, sizeof *h, 0);
  h->client = pf_http_open();
  if (h->client == NULL)
    l_no_memory(L);
  return 1;
}


static int http_close (lua_State *L) {
  l_http *const h = luaL_checkudata(L, 1, L_HTTP);
  pf_http_close(h->client);
  h->client = NULL;
  return 0;
}


static int exchange_gc (lua_State *L) {
  l_exchange *const e = luaL_checkudata(L, 1, L_EXCHANGE);
  pf_http_end(e->sending);
  e->sending = NULL;
  for (size_t i = 0; i < e->count; i++)
    free(e->requests[i].answer);
  e->count = 0;
  return 0;
}


/* Returns the text of a field of the table on top of the stack, which keeps it,
   or NULL. */
static const char *text_field (lua_State *L, const char *name) {
  const char *const text = l_option_text(L, -1, name, NULL);
  luaL_argcheck(L, text == NULL || strpbrk(text, "\r\n") == NULL, 2,
                "a text of a request contains a line break");
  return text;
}


/* Reads the files of the request on top of the stack, tables with `name` and
   `data`. Pushes the memory of their array. */
static void read_files (lua_State *L, pf_http_request *request) {
  lua_getfield(L, -1, "files");
  const size_t count = lua_isnil(L, -1) ? 0 : l_length(L, -1);
  request->files = l_scratch(L, count + 1, sizeof *request->files);
  request->nfiles = count;
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, -2, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    request->files[i].name = text_field(L, "name");
    luaL_argcheck(L, request->files[i].name != NULL, 2, "a file has no name");
    lua_getfield(L, -1, "data"); /* the table keeps it */
    request->files[i].data = l_text_check(L, -1);
    lua_pop(L, 2);
  }
  lua_remove(L, -2);
}


/* Reads a request from the table on top of the stack. Pushes the memory of its
   files. */
static void read_request (lua_State *L, pf_http_request *request) {
  int64_t timeout = TIMEOUT_S;
  luaL_checktype(L, -1, LUA_TTABLE);
  request->url = text_field(L, "url");
  luaL_argcheck(L, request->url != NULL, 2, "a request has no url");
  request->user = text_field(L, "user");
  request->password = text_field(L, "password");
  request->ca = text_field(L, "ca");
  request->is_encrypted = l_option_flag(L, -1, "is_encrypted");
  (void)l_option_int(L, -1, "timeout", &timeout);
  luaL_argcheck(L, timeout > 0 && timeout <= 86400, 2,
                "timeout must be 1 to 86400 seconds");
  request->timeout_s = (long)timeout;
  if (lua_getfield(L, -1, "body") != LUA_TNIL)
    request->body = l_text_check(L, -1);
  lua_pop(L, 1);
  read_files(L, request);
}


static lua_State *main_thread (lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *const main = lua_tothread(L, -1);
  lua_pop(L, 1);
  return main;
}


/* Whether Ctrl-C was pressed while the program holds it back, or was handled by
   the interpreter of Lua: it lets the next one end the process, and sets a hook
   of the main thread that raises an error as soon as Lua goes on. */
static bool is_over (void *context) {
  lua_State *const main = context;
  const int all = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
  return os_is_interrupted() ||
         (lua_gethookmask(main) == all && lua_gethookcount(main) == 1 &&
          os_interrupt_is_fatal());
}


/*
** http:send(requests): begins to send all requests at once, and returns an
** object; its methods are below. A request is { url =, label = (prefix of
** messages), user =, password =, ca =, timeout = (s), is_encrypted =, body = |
** files = { { name =, data = }, ... } }, files are sent as a form; the object
** keeps the table.
*/
static int http_send (lua_State *L) {
  const l_http *const h = luaL_checkudata(L, 1, L_HTTP);
  luaL_argcheck(L, h->client != NULL, 1, "client is closed");
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  const size_t count = l_length(L, 2);
  l_exchange *const e = l_new(L, L_EXCHANGE, sizeof *e, 4); /* at 3 */
  e->requests = l_scratch(L, count + 1, sizeof *e->requests);
  l_pin(L, 3, 1, -1);
  l_pin(L, 3, 2, 2);
  l_pin(L, 3, 3, 1);
  lua_createtable(L, (int)count, 0); /* at 5 */
  l_pin(L, 3, 4, -1);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    read_request(L, &e->requests[i]);
    lua_rawseti(L, 5, (lua_Integer)i + 1);
    lua_pop(L, 1);
  }
  e->count = count;
  for (size_t i = 0; i < count; i++)
    if (e->requests[i].is_encrypted && !pf_http_encrypts())
      return luaL_error(L, "libcurl of this system has no https");
  e->sending = pf_http_send(h->client, e->requests, count);
  if (e->sending == NULL)
    l_no_memory(L);
  lua_settop(L, 3);
  return 1;
}


/* exchange:step(): transfers what can be without waiting. */
static int exchange_step (lua_State *L) {
  const l_exchange *const e = luaL_checkudata(L, 1, L_EXCHANGE);
  if (e->sending != NULL)
    (void)pf_http_step(e->sending);
  return 0;
}


/* exchange:wait(): returns the list of the answers, as strings, when all have
   arrived; or nil, message, code, soon after Ctrl-C. The requests have ended
   then. */
static int exchange_wait (lua_State *L) {
  l_exchange *const e = luaL_checkudata(L, 1, L_EXCHANGE);
  pf_error error;
  size_t failed;
  luaL_argcheck(L, e->sending != NULL, 1, "requests have ended");
  const pf_status status = pf_http_wait(
      e->sending, &(pf_http_watch){is_over, main_thread(L)}, &failed, &error);
  pf_http_end(e->sending);
  e->sending = NULL;
  if (status != PF_OK) {
    lua_getiuservalue(L, 1, 2);
    lua_rawgeti(L, -1, (lua_Integer)failed + 1);
    const char *const label = l_option_text(L, -1, "label", NULL);
    return l_failure(L, &error, label);
  }
  lua_createtable(L, (int)e->count, 0);
  for (size_t i = 0; i < e->count; i++) {
    const pf_http_request *const r = &e->requests[i];
    l_push_bytes(L, (pf_bytes){r->answer, r->size});
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* http:exchange(requests): http:send and exchange:wait. */
static int http_exchange (lua_State *L) {
  (void)http_send(L);
  lua_replace(L, 1);
  lua_settop(L, 1);
  return exchange_wait(L);
}


void l_open_exchange (lua_State *L) {
  l_class(L, L_HTTP,
          L_METHODS({"exchange", http_exchange}, {"send", http_send},
                    {"close", http_close}),
          http_close, http_close);
  l_class(L, L_EXCHANGE,
          L_METHODS({"step", exchange_step}, {"wait", exchange_wait},
                    {"close", exchange_gc}),
          exchange_gc, NULL);
  L_ADD(L, {"http", store_http});
}
