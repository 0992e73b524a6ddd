/*
** interpreter.c - the interpreter of Lua, with the options of the program lua
** but -i: -e CHUNK, -l MODULE, -v, -E, -W, -- and -.
*/

#include <lauxlib.h>
#include <lualib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "program/program.h"

#define LONGEST_LINE 4096 /* bytes that are typed */

/* The state that Ctrl-C interrupts: signal handlers get no context. */
static lua_State *running;


static void stop (lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}


/* The next Ctrl-C ends the process. */
static void on_interrupt (int number) {
  const int events = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
  (void)signal(number, SIG_DFL);
  lua_sethook(running, stop, events, 1); /* NOLINT: Lua allows it */
}


/* Adds a traceback to a message. */
static int on_error (lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message == NULL) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
      return 1;
    message =
        lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, message, 1);
  return 1;
}


/* Shows the message on top of the stack and pops it. */
static int fail (lua_State *L) {
  const char *const message = lua_tostring(L, -1);
  (void)fflush(stdout);
  fprintf(stderr, "profio: %s\n", message == NULL ? "unknown error" : message);
  lua_pop(L, 1);
  return 0;
}


int program_call (lua_State *L, int count, int results) {
  const int base = lua_gettop(L) - count;
  lua_pushcfunction(L, on_error);
  lua_insert(L, base);
  running = L;
  (void)signal(SIGINT, on_interrupt);
  const int status = lua_pcall(L, count, results, base);
  (void)signal(SIGINT, SIG_DFL);
  lua_remove(L, base);
  return status == LUA_OK ? 1 : fail(L);
}


void program_set_arg (lua_State *L, char **argv, int script) {
  lua_newtable(L);
  for (int i = 0; argv[i] != NULL; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}


static int run_text (lua_State *L, const char *text, const char *name) {
  return luaL_loadbuffer(L, text, strlen(text), name) == LUA_OK
             ? program_call(L, 0, 0)
             : fail(L);
}


int program_init (lua_State *L) {
  const char *name = "=LUA_INIT_" LUA_VERSION_MAJOR "_" LUA_VERSION_MINOR;
  const char *text = getenv(name + 1);
  if (text == NULL) {
    name = "=LUA_INIT";
    text = getenv(name + 1);
  }
  if (text == NULL)
    return 1;
  if (text[0] != '@')
    return run_text(L, text, name);
  return luaL_loadfile(L, text + 1) == LUA_OK ? program_call(L, 0, 0) : fail(L);
}


/* Does -l MODULE: the module becomes a global variable. */
static int load_module (lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  if (!program_call(L, 1, 1))
    return 0;
  lua_setglobal(L, name);
  return 1;
}


/* Runs a file, or standard input (NULL), with the words after it. */
static int run_file (lua_State *L, const char *path, char **arguments) {
  int count = 0;
  if (luaL_loadfile(L, path) != LUA_OK)
    return fail(L);
  for (; arguments[count] != NULL; count++) {
    luaL_checkstack(L, 2, "too many arguments to script");
    lua_pushstring(L, arguments[count]);
  }
  return program_call(L, count, LUA_MULTRET);
}


/* Loads a line that was typed: an expression or a statement. */
static int load_line (lua_State *L, const char *line) {
  const char *const expression = lua_pushfstring(L, "return %s", line);
  const int status =
      luaL_loadbuffer(L, expression, strlen(expression), "=stdin");
  if (status == LUA_OK)
    return status;
  lua_pop(L, 2);
  return luaL_loadbuffer(L, line, strlen(line), "=stdin");
}


/* Reads lines from the terminal and runs each, until the end of the input. */
static int run_terminal (lua_State *L) {
  char line[LONGEST_LINE];
  puts(LUA_RELEASE " with profio; a line is an expression or a statement");
  for (;;) {
    lua_settop(L, 0);
    fputs("> ", stdout);
    (void)fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
      break;
    if (load_line(L, line) != LUA_OK) {
      fail(L);
      continue;
    }
    const int base = lua_gettop(L) - 1;
    if (!program_call(L, 0, LUA_MULTRET) || lua_gettop(L) == base)
      continue;
    lua_getglobal(L, "print");
    lua_insert(L, base + 1);
    (void)program_call(L, lua_gettop(L) - base - 1, 0);
  }
  puts("");
  return 1;
}


/* Returns the index of the first word that is no option, or argc; -1: a word is
   none that is known. */
static int find_script (char **argv, int first) {
  for (int i = first; argv[i] != NULL; i++) {
    const char *const word = argv[i];
    if (word[0] != '-' || word[1] == '\0')
      return i;
    if (strcmp(word, "--") == 0)
      return i + 1;
    if (strchr("el", word[1]) != NULL && word[2] == '\0' && argv[++i] == NULL)
      return -1;
    if (strchr("elvEW", word[1]) == NULL)
      return -1;
  }
  int end = first;
  while (argv[end] != NULL)
    end++;
  return end;
}


/* Does the options before the script. Sets *is_done if they do something that
   needs no script. */
static int run_options (lua_State *L, char **argv, int first, int script,
                        bool *is_done) {
  int done = 1;
  for (int i = first; i < script && argv[i] != NULL && done; i++) {
    const char kind = argv[i][1];
    if (kind == 'v')
      puts(LUA_COPYRIGHT);
    else if (kind == 'W')
      lua_warning(L, "@on", 0);
    *is_done = *is_done || kind == 'v' || kind == 'e';
    if (kind != 'e' && kind != 'l')
      continue;
    const char *const value = argv[i][2] != '\0' ? argv[i] + 2 : argv[++i];
    done = kind == 'e' ? run_text(L, value, "=(command line)")
                       : load_module(L, value);
  }
  return done;
}


int program_interpret (lua_State *L, char **argv, int first) {
  bool is_done = false;
  const int script = find_script(argv, first);
  if (script < 0) {
    fputs("usage: profio lua [-e CHUNK] [-l MODULE] [-v] [-W] [--] "
          "[FILE [ARGUMENTS]]\n",
          stderr);
    return 0;
  }
  const char *const file = argv[script];
  program_set_arg(L, argv, file == NULL ? 0 : script);
  if (!program_init(L) || !run_options(L, argv, first, script, &is_done))
    return 0;
  if (file == NULL && is_done)
    return 1;
  if (file == NULL && os_is_terminal(0))
    return run_terminal(L);
  const bool is_input = file == NULL || strcmp(file, "-") == 0;
  return run_file(L, is_input ? NULL : file,
                  argv + script + (file == NULL ? 0 : 1));
}
