/*
** program.h - the parts of the single file. main.c calls both others.
*/

#ifndef program_h
#define program_h

#include <lua.h>
#include <stdbool.h>

/* Adds the modules of the archive to what `require` finds: before any path, but
   for scripts argparse and dkjson after it. Adds the module profio.embedded to
   package.preload: program, the path of this program; read(name), the bytes of
   a resource, or nil and a message; names(folder), the names in a folder of
   them. */
void program_add_modules (lua_State *L, bool is_for_scripts);

/* Calls the function below its `count` arguments in protected mode, with a
   traceback after errors and with Ctrl-C as an error. Returns whether it
   succeeds; then its results are on the stack, else the error was shown. */
int program_call (lua_State *L, int count, int results);

/* Runs the interpreter with argv[first] and the words after it, as the program
   lua does. Returns whether it succeeds. */
int program_interpret (lua_State *L, char **argv, int first);

/* Sets the table `arg` of a script: argv[script] has index 0. */
void program_set_arg (lua_State *L, char **argv, int script);

/* Runs the chunk or the file of LUA_INIT. Returns whether it succeeds. */
int program_init (lua_State *L);

#endif
