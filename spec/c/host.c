/*
** host.c - a Lua interpreter with profio built in, for the sanitizers.
**
** It is called lua5.4 and stands first in PATH, so the specs and the commands
** that they start run in it, while gcc, gprof and the shell stay as they are
** (a preloaded sanitizer would go into these too). The module is linked in, not
** loaded: at exit its code is still there to name the lines of a leak.
**
**   lua5.4 [-e CHUNK]... [-l MODULE]... [SCRIPT | -] [ARGUMENTS]
*/

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

int luaopen_profio_core (lua_State *L);

/* Absent (NULL) where the headers of the store are. */
int luaopen_profio_store (lua_State *L) __attribute__((weak));


static int handler (lua_State *L) {
  const char *message = luaL_tolstring(L, 1, NULL);
  luaL_traceback(L, L, message, 1);
  return 1;
}


/* Ctrl-C raises an error in the running chunk, as in lua5.4 itself. */
static lua_State *running;


static void stop (lua_State *L, lua_Debug *where) {
  (void)where;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}


static void on_interrupt (int number) {
  signal(number, SIG_DFL);
  lua_sethook(running, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}


/* Call the function below `count` arguments; prints the error that it
   raises. */
static bool call (lua_State *L, int count) {
  const int base = lua_gettop(L) - count;
  lua_pushcfunction(L, handler);
  lua_insert(L, base);
  running = L;
  signal(SIGINT, on_interrupt);
  const int status = lua_pcall(L, count, 0, base);
  signal(SIGINT, SIG_DFL);
  if (status != LUA_OK) {
    lua_writestringerror("lua5.4: %s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_remove(L, base);
  return status == LUA_OK;
}


/* Call the loaded chunk, if `status` is LUA_OK, with the arguments from
   argv[first]. */
static bool run (lua_State *L, int status, char **argv, int first) {
  int count = 0;
  if (status != LUA_OK) {
    lua_writestringerror("lua5.4: %s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
    return false;
  }
  while (argv[first + count] != NULL) {
    luaL_checkstack(L, 2, "too many arguments");
    lua_pushstring(L, argv[first + count++]);
  }
  return call(L, count);
}


/* Set the global `arg`: the script at 0, the words before it at negative
   keys. */
static void make_arg (lua_State *L, char **argv, int script) {
  lua_newtable(L);
  for (int i = 0; argv[i] != NULL; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}


static bool require (lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  return call(L, 1);
}


/* The value of the option at argv[i]: the rest of the word, or the next
   word. */
static char *value_of (char **argv, int i) {
  return argv[i][2] != '\0' ? argv[i] + 2 : argv[i + 1];
}


/* The number of words of an option. */
static int words_of (char **argv, int i) {
  return argv[i][2] != '\0' ? 1 : 2;
}


/* The index of the script in argv, after the options and their values, of which
   -- is the last one. */
static int script_of (char **argv) {
  int at = 1;
  while (argv[at] != NULL && argv[at][0] == '-' && argv[at][1] != '\0' &&
         strcmp(argv[at], "--") != 0 && value_of(argv, at) != NULL) {
    at += words_of(argv, at);
  }
  return at + (argv[at] != NULL && strcmp(argv[at], "--") == 0);
}


static bool run_options (lua_State *L, char **argv, int script) {
  bool fine = true;
  for (int i = 1; fine && i < script; i += words_of(argv, i)) {
    if (strcmp(argv[i], "--") == 0) {
      break;
    }
    if (argv[i][1] == 'e') {
      fine = run(L, luaL_loadstring(L, value_of(argv, i)), argv, script);
    }
    else if (argv[i][1] == 'l') {
      fine = require(L, value_of(argv, i));
    }
    else {
      lua_writestringerror("lua5.4: no option %s\n", argv[i]);
      fine = false;
    }
  }
  return fine;
}


/* Everything from the libraries to the end of the script, in a function called
   by Lua, as in lua5.4 itself: it is at the bottom of all stacks. Takes argv;
   returns whether all went well. */
static int interpret (lua_State *L) {
  char **const argv = lua_touserdata(L, 1);
  const int script = script_of(argv);
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_profio_core);
  lua_setfield(L, -2, "profio.core");
  if (luaopen_profio_store != NULL) {
    lua_pushcfunction(L, luaopen_profio_store);
    lua_setfield(L, -2, "profio.store");
  }
  lua_pop(L, 1);
  make_arg(L, argv, script);
  bool fine = run_options(L, argv, script);
  if (fine && argv[script] != NULL) {
    const bool stdin_ = strcmp(argv[script], "-") == 0;
    const char *name = stdin_ ? NULL : argv[script];
    fine = run(L, luaL_loadfile(L, name), argv, script + 1);
  }
  lua_pushboolean(L, fine);
  return 1;
}


int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  if (L == NULL || argc < 1) {
    return 1;
  }
  lua_pushcfunction(L, interpret);
  lua_pushlightuserdata(L, argv);
  const int status = lua_pcall(L, 1, 1, 0);
  const bool fine = status == LUA_OK && lua_toboolean(L, -1) != 0;
  if (status != LUA_OK) {
    lua_writestringerror("lua5.4: %s\n", lua_tostring(L, -1));
  }
  lua_close(L);
  return fine ? 0 : 1;
}
