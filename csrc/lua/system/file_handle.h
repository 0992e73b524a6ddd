/*
** file_handle.h - files of the core for Lua: bytes through descriptors of os/,
** whose names are UTF-8 on Windows. They have the methods of Lua's own files;
** read knows the formats "l", "L", "a" and a number of bytes.
**
** Files of Lua (io.open, io.stdout) are other objects, of a C library that may
** not be the core's: its FILE is never touched. Where a function of the core
** writes to "a file", it takes both kinds, by l_target.
**
** The userdata owns the descriptor and the buffers.
*/

#ifndef lua_system_file_handle_h
#define lua_system_file_handle_h

#include "bytes/output.h"
#include "bytes/sink.h"
#include "lua/binding.h"
#include "text/rows.h"

#define L_FILE "profio.file"

typedef struct l_file {
  pf_sink sink; /* buffer of writes; sink.fd -1: closed */
  bool can_read, can_write;
  bool is_busy;     /* rows are written into it: it cannot be closed */
  bool is_output;   /* of core.output: closing it drops the new file */
  pf_output output; /* owns the descriptor, if is_output */
  uint8_t *ahead;   /* bytes from `at` to `end` were read ahead; or NULL */
  size_t at, end;
} l_file;

/* Pushes a closed file, and opens a descriptor in it, which it owns. False: out
   of memory, the descriptor stays the caller's. User value 1 is its name for
   messages. */
l_file *l_file_new (lua_State *L);
bool l_file_open (l_file *file, int fd, bool can_read, bool can_write);

/* Returns the open file of the core at `arg`; NULL: it is something else. */
l_file *l_file_test (lua_State *L, int arg);

/* Writes the buffer; false: errno. */
bool l_file_flush (l_file *file);

/* Closes it, without a flush. */
void l_file_close (l_file *file);

/* Returns the descriptor of the open file at `arg`, of the core or a standard
   file of Lua; -1: of another file of Lua. Raises for anything else. */
int l_descriptor_check (lua_State *L, int arg);

/* Whether the value at `arg` is Lua's io.stdout. */
bool l_is_standard_output (lua_State *L, int arg);

/* Opens the open file at `arg`, of either kind, for text from C; what it has
   buffered is written first. The file stays at `arg` while it is used. Only a
   target with a descriptor may be used in other threads. */
row_target l_target_check (lua_State *L, int arg);

/* Keeps the file at `arg` open until l_target_release, which gets the result.
   */
lua_CFunction l_target_hold (lua_State *L, int arg);
void l_target_release (lua_State *L, int arg, lua_CFunction held);

#endif
