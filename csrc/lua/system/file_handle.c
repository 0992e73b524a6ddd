/*
** file_handle.c - files of the core for Lua (see file_handle.h).
*/

#include "lua/system/file_handle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/callback.h"
#include "os/os.h"

#define READ_AHEAD 65536u /* bytes */

/* Registry key (its address) of the table { stdin, stdout, stderr }. */
static const char standard_key = 0;


l_file *l_file_new (lua_State *L) {
  l_file *const file = l_new(L, L_FILE, sizeof *file, 1);
  file->sink.fd = -1;
  file->output.fd = -1;
  return file;
}


bool l_file_open (l_file *file, int fd, bool can_read, bool can_write) {
  if (can_write && pf_sink_open(&file->sink, fd) != PF_OK) {
    file->sink.fd = -1;
    return false;
  }
  file->sink.fd = fd;
  file->can_read = can_read;
  file->can_write = can_write;
  return true;
}


l_file *l_file_test (lua_State *L, int arg) {
  l_file *const file = luaL_testudata(L, arg, L_FILE);
  luaL_argcheck(L, file == NULL || file->sink.fd >= 0, arg, "file is closed");
  return file;
}


bool l_file_flush (l_file *file) {
  pf_error unused;
  if (!file->can_write || pf_sink_flush(&file->sink, &unused) == PF_OK)
    return true;
  errno = file->sink.failed == PF_ENOMEM ? ENOMEM : file->sink.errnum;
  return false;
}


void l_file_close (l_file *file) {
  if (file->is_output)
    pf_output_close(&file->output);
  else if (file->sink.fd >= 0)
    os_close(file->sink.fd);
  pf_sink_close(&file->sink);
  free(file->ahead);
  file->ahead = NULL;
  file->sink.fd = -1;
}


/* Returns the index of a standard file of Lua, 0 to 2; -1: another one. */
static int standard_of (lua_State *L, int arg) {
  int found = -1;
  arg = lua_absindex(L, arg);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &standard_key);
  for (int i = 0; i < 3 && found < 0; i++) {
    lua_rawgeti(L, -1, i + 1);
    found = lua_rawequal(L, -1, arg) ? i : -1;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return found;
}


bool l_is_standard_output (lua_State *L, int arg) {
  return standard_of(L, arg) == 1;
}


/* Raises unless the value at `arg` is an open file of Lua. */
static void check_stream (lua_State *L, int arg) {
  const luaL_Stream *const stream = luaL_checkudata(L, arg, LUA_FILEHANDLE);
  luaL_argcheck(L, stream->closef != NULL, arg, "file is closed");
}


int l_descriptor_check (lua_State *L, int arg) {
  const l_file *const file = l_file_test(L, arg);
  if (file != NULL)
    return file->sink.fd;
  check_stream(L, arg);
  return standard_of(L, arg);
}


/* Writes to a file of Lua that is no standard one. */
static bool write_stream (void *context, int arg, const char *at, size_t size,
                          int *errnum) {
  return l_callback_write(context, arg, (pf_bytes){(const uint8_t *)at, size},
                          errnum);
}


row_target l_target_check (lua_State *L, int arg) {
  l_file *const file = l_file_test(L, arg);
  row_target target = {.fd = -1};
  if (file != NULL) {
    luaL_argcheck(L, file->can_write, arg, "file is only for reading");
    target.fd = file->sink.fd;
    target.errnum = l_file_flush(file) ? 0 : errno;
    return target;
  }
  check_stream(L, arg);
  target.fd = standard_of(L, arg);
  if (target.fd < 0) {
    target.write = write_stream;
    target.context = L;
    target.arg = lua_absindex(L, arg);
  }
  else if (!l_callback_write(L, arg, (pf_bytes){NULL, 0}, &target.errnum))
    target.errnum = target.errnum == 0 ? EIO : target.errnum;
  return target;
}


/* Replaces the close function of a file of Lua while rows are written to it. */
static int refuse_close (lua_State *L) {
  luaL_Stream *const stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  stream->closef = refuse_close; /* Lua has set it to NULL */
  return luaL_error(L, "rows are written into the file: close it afterwards");
}


lua_CFunction l_target_hold (lua_State *L, int arg) {
  l_file *const file = luaL_testudata(L, arg, L_FILE);
  luaL_Stream *const stream = luaL_testudata(L, arg, LUA_FILEHANDLE);
  if (file != NULL)
    file->is_busy = true;
  if (stream == NULL)
    return NULL;
  lua_CFunction const held = stream->closef;
  stream->closef = refuse_close;
  return held;
}


void l_target_release (lua_State *L, int arg, lua_CFunction held) {
  l_file *const file = luaL_testudata(L, arg, L_FILE);
  luaL_Stream *const stream = luaL_testudata(L, arg, LUA_FILEHANDLE);
  if (file != NULL)
    file->is_busy = false;
  if (stream != NULL)
    stream->closef = held;
}


/* {====== Methods ====== */

static l_file *check (lua_State *L) {
  l_file *const file = luaL_checkudata(L, 1, L_FILE);
  if (file->sink.fd < 0)
    luaL_error(L, "attempt to use a closed file");
  return file;
}


/* Pushes nil, message, errno, as the methods of Lua's files return them. Raises
   without memory. */
static int fail (lua_State *L, int errnum, const char *name) {
  if (errnum == ENOMEM)
    l_no_memory(L);
  lua_pushnil(L);
  lua_pushfstring(L, "%s%s%s", name == NULL ? "" : name,
                  name == NULL ? "" : ": ", strerror(errnum));
  lua_pushinteger(L, errnum);
  return 3;
}


/* Forgets what was read ahead: moves back to what the program has seen. */
static bool end_reading (l_file *file) {
  const size_t left = file->end - file->at;
  file->at = file->end = 0;
  return left == 0 || os_seek(file->sink.fd, -(int64_t)left, SEEK_CUR) >= 0;
}


/* file:write(...): writes texts; the file, or nil, message, errno. */
static int file_write (lua_State *L) {
  l_file *const file = check(L);
  const int count = lua_gettop(L);
  luaL_argcheck(L, file->can_write, 1, "file is only for reading");
  if (!end_reading(file))
    return fail(L, errno, NULL);
  for (int i = 2; i <= count; i++) {
    const pf_bytes text = l_text_check(L, i);
    if (pf_sink_put(&file->sink, text.at, text.size) != PF_OK)
      return fail(L, l_file_flush(file) ? 0 : errno, NULL);
  }
  lua_settop(L, 1);
  return 1;
}


/* file:flush(): writes the buffer; the file, or nil, message, errno. */
static int file_flush (lua_State *L) {
  if (!l_file_flush(check(L)))
    return fail(L, errno, NULL);
  lua_settop(L, 1);
  return 1;
}


/* Reads ahead if nothing is left. 0: the end of the file; -1: errno. */
static int64_t fill (l_file *file) {
  if (file->at < file->end)
    return (int64_t)(file->end - file->at);
  if (file->ahead == NULL && (file->ahead = malloc(READ_AHEAD)) == NULL) {
    errno = ENOMEM;
    return -1;
  }
  const int64_t n = os_read(file->sink.fd, file->ahead, READ_AHEAD, OS_HERE);
  file->at = 0;
  file->end = n > 0 ? (size_t)n : 0;
  return n;
}


/* Pushes up to `size` bytes, or up to the byte `last` (-1: none), which is
   dropped with `chops`. False: there is nothing, or errno is not 0. */
static bool push_bytes (lua_State *L, l_file *file, size_t size, int last,
                        bool chops) {
  luaL_Buffer text;
  bool is_over = false;
  int64_t left = 1;
  luaL_buffinit(L, &text);
  while (!is_over && size > 0 && (left = fill(file)) > 0) {
    const size_t most = (size_t)left < size ? (size_t)left : size;
    const uint8_t *const from = file->ahead + file->at;
    const uint8_t *const end = last < 0 ? NULL : memchr(from, last, most);
    const size_t n = end == NULL ? most : (size_t)(end - from) + 1;
    is_over = end != NULL;
    luaL_addlstring(&text, (const char *)from, n - (is_over && chops));
    file->at += n;
    size -= n;
  }
  luaL_pushresult(&text);
  return left >= 0 && (is_over || l_length(L, -1) > 0);
}


/* Reads what the format at `arg` asks for, and pushes it. */
static bool read_one (lua_State *L, l_file *file, int arg) {
  if (lua_type(L, arg) == LUA_TNUMBER) {
    const lua_Integer size = luaL_checkinteger(L, arg);
    if (size == 0) {
      lua_pushliteral(L, "");
      return fill(file) > 0;
    }
    return push_bytes(L, file, (size_t)size, -1, false);
  }
  const char *format = luaL_checkstring(L, arg);
  format += *format == '*';
  if (*format == 'a')
    return push_bytes(L, file, SIZE_MAX, -1, false) || errno == 0;
  luaL_argcheck(L, *format == 'l' || *format == 'L', arg, "invalid format");
  return push_bytes(L, file, SIZE_MAX, '\n', *format == 'l');
}


/* Reads by the formats from `first` on; none: a line. */
static int read_all (lua_State *L, l_file *file, int first) {
  const int top = lua_gettop(L);
  luaL_argcheck(L, file->can_read, 1, "file is only for writing");
  if (!l_file_flush(file))
    return fail(L, errno, NULL);
  errno = 0;
  bool done = top >= first || push_bytes(L, file, SIZE_MAX, '\n', true);
  for (int i = first; i <= top && done; i++)
    done = read_one(L, file, i);
  if (!done && errno != 0)
    return fail(L, errno, NULL);
  if (!done) {
    lua_pop(L, 1);
    lua_pushnil(L);
  }
  return lua_gettop(L) - top;
}


/* file:read(...): what the formats ask for: "l", "L", "a", a number of bytes;
   nil at the end, or nil, message, errno. */
static int file_read (lua_State *L) {
  return read_all(L, check(L), 2);
}


static int next_line (lua_State *L) {
  lua_settop(L, 0);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, lua_upvalueindex(2));
  const int count = read_all(L, check(L), 2);
  if (count > 1)
    return luaL_error(L, "%s", lua_tostring(L, -2));
  return count;
}


/* file:lines(format): an iterator, which raises if it cannot read; the file
   stays open. */
static int file_lines (lua_State *L) {
  check(L);
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) {
    lua_pushliteral(L, "l");
    lua_replace(L, 2);
  }
  lua_pushcclosure(L, next_line, 2);
  return 1;
}


/* file:seek(whence, offset): moves, and returns the offset in the file; or nil,
   message, errno. */
static int file_seek (lua_State *L) {
  static const int from[] = {SEEK_SET, SEEK_CUR, SEEK_END};
  static const char *const names[] = {"set", "cur", "end", NULL};
  l_file *const file = check(L);
  const int whence = from[luaL_checkoption(L, 2, "cur", names)];
  const lua_Integer offset = luaL_optinteger(L, 3, 0);
  if (!l_file_flush(file) || !end_reading(file))
    return fail(L, errno, NULL);
  const int64_t at = os_seek(file->sink.fd, offset, whence);
  if (at < 0)
    return fail(L, errno, NULL);
  lua_pushinteger(L, at);
  return 1;
}


/* file:close(): writes the buffer; nothing if it is closed. The new file of
   core.output is dropped. */
static int file_close (lua_State *L) {
  l_file *const file = luaL_checkudata(L, 1, L_FILE);
  if (file->is_busy)
    return luaL_error(L, "rows are written into the file: close it afterwards");
  const bool done = file->sink.fd < 0 || l_file_flush(file);
  const int errnum = errno;
  l_file_close(file);
  if (!done)
    return fail(L, errnum, NULL);
  lua_pushboolean(L, true);
  return 1;
}


static int file_gc (lua_State *L) {
  l_file *const file = luaL_checkudata(L, 1, L_FILE);
  if (file->sink.fd >= 0 && !file->is_output)
    (void)l_file_flush(file);
  l_file_close(file);
  return 0;
}


/* file:setvbuf(): for scripts that set the buffer of any file. */
static int file_setvbuf (lua_State *L) {
  lua_pushboolean(L, true);
  return 1;
}

/* }====== */


/* core.file(path, mode): an open file for reading ("r"), or a new or emptied
   one for writing ("w"); or nil, message, errno. */
static int core_file (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  const char *const mode = luaL_optstring(L, 2, "r");
  const bool writes = *mode == 'w';
  luaL_argcheck(L, writes || *mode == 'r', 2, "invalid mode");
  l_file *const file = l_file_new(L);
  const int fd =
      os_open(path, writes ? OS_WRITE | OS_CREATE | OS_TRUNCATE : OS_READ);
  if (fd < 0)
    return fail(L, errno, path);
  if (!l_file_open(file, fd, !writes, writes)) {
    os_close(fd);
    l_no_memory(L);
  }
  return 1;
}


/* core.temporary(): a file for reading and writing that disappears when it is
   closed; or nil, message, errno. */
static int core_temporary (lua_State *L) {
  l_file *const file = l_file_new(L);
  const int fd = os_open_temporary(NULL);
  if (fd < 0)
    return fail(L, errno, "no temporary file in TMPDIR or /tmp");
  if (!l_file_open(file, fd, true, true)) {
    os_close(fd);
    l_no_memory(L);
  }
  return 1;
}


/* Pushes a file with a descriptor, which it owns from now on, or raises. */
static int push_open (lua_State *L, int fd, bool can_read) {
  l_file *const file = l_file_new(L);
  if (fd < 0)
    return fail(L, errno, NULL);
  if (l_file_open(file, fd, can_read, !can_read))
    return 1;
  os_close(fd);
  l_no_memory(L);
  return 0;
}


/* core.standard_input(): a file of the core for standard input. */
static int core_standard_input (lua_State *L) {
  return push_open(L, os_duplicate(0), true);
}


/* core.take_output(): a file of the core for standard output; what the process
   prints from now on goes to standard error. Or nil, message, errno. */
static int core_take_output (lua_State *L) {
  return push_open(L, os_take_output(), false);
}


/* Keeps the standard files of Lua, if it has any, to recognise them. */
static void keep_standard (lua_State *L) {
  static const char *const names[] = {"stdin", "stdout", "stderr"};
  const int top = lua_gettop(L);
  lua_createtable(L, 3, 0);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "io") == LUA_TTABLE)
    for (int i = 0; i < 3; i++) {
      lua_getfield(L, -1, names[i]);
      lua_rawseti(L, top + 1, i + 1);
    }
  lua_settop(L, top + 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &standard_key);
}


void l_open_file_handle (lua_State *L) {
  l_class(L, L_FILE,
          L_METHODS({"close", file_close}, {"flush", file_flush},
                    {"lines", file_lines}, {"read", file_read},
                    {"seek", file_seek}, {"setvbuf", file_setvbuf},
                    {"write", file_write}),
          file_gc, file_gc);
  L_ADD(L, {"file", core_file}, {"standard_input", core_standard_input},
        {"take_output", core_take_output}, {"temporary", core_temporary});
  keep_standard(L);
}
