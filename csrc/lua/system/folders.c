/*
** folders.c - files by name: what is in folders, what a path leads to, and what
** Lua lacks to change that. Owns nothing after a call.
**
** Called by lua/profio/internal/opening and formats/dcpi.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/text.h"
#include "lua/arguments.h"
#include "os/os.h"

#define FEWEST 16 /* paths for which their folder is listed */

/* Entries of a folder for each path, at most: listing them takes no longer than
   asking for all paths. */
#define MOST 16


/* Closes a folder that an error has left open. */
static int folder_gc (lua_State *L) {
  os_folder **const folder = lua_touserdata(L, 1);
  os_folder_close(*folder);
  *folder = NULL;
  return 0;
}


/* Pushes nil, message, code for errno. */
static int fail (lua_State *L, int errnum, const char *path) {
  pf_error error;
  (void)pf_fail(&error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errnum));
  return l_failure(L, &error, path);
}


/* core.names_in(folder): an array of the names in a folder without "." and
   "..", unordered; or nil, message, code if it cannot be read completely. */
static int core_names_in (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  bool is_special;
  os_folder **const folder = lua_newuserdatauv(L, sizeof *folder, 0);
  *folder = NULL;
  if (luaL_newmetatable(L, "profio.folder")) {
    lua_pushcfunction(L, folder_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  lua_newtable(L);
  *folder = os_folder_open(path);
  if (*folder == NULL)
    return fail(L, errno, path);
  const char *name;
  for (lua_Integer n = 1; (name = os_folder_next(*folder, &is_special)) != NULL;
       n++) {
    lua_pushstring(L, name);
    lua_rawseti(L, -2, n);
  }
  const int errnum = errno;
  os_folder_close(*folder);
  *folder = NULL;
  return errnum == 0 ? 1 : fail(L, errnum, path);
}


/* core.existing(paths, ending): a table whose keys are the paths of a list to
   which the ending gives the path of an existing file, link or other entry. */
static int core_existing (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const pf_bytes ending = l_text_check(L, 2);
  const lua_Integer count = (lua_Integer)l_length(L, 1);
  char path[OS_LONGEST_PATH];
  os_state found;
  lua_newtable(L);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 1, i);
    const pf_bytes start = l_text_check(L, -1);
    if (start.size + ending.size < sizeof path) {
      memcpy(path, start.at, start.size);
      memcpy(path + start.size, ending.at, ending.size);
      path[start.size + ending.size] = '\0';
      if (os_state_of_entry(path, &found)) {
        lua_pushboolean(L, true);
        lua_rawset(L, -3);
        continue;
      }
    }
    lua_pop(L, 1);
  }
  return 1;
}


/* The kinds of entries that some folders may contain. */
typedef struct contents {
  bool endings; /* names with an ending */
  bool others;  /* what is neither a regular file nor a folder */
} contents;


/* Returns the bytes of the folder in a path, with the slash. */
static size_t folder_size (const char *path) {
  const char *const slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}


/* Adds what an entry of a folder is. Some file systems do not distinguish
   case. */
static void add_entry (const char *name, bool is_special, pf_bytes ending,
                       contents *found) {
  const size_t size = strlen(name);
  const uint8_t *const end = (const uint8_t *)name + size;
  found->endings |=
      size >= ending.size &&
      pf_bytes_alike((pf_bytes){end - ending.size, ending.size}, ending);
  found->others |= is_special;
}


/* Adds what the folder of a path contains. Returns false if it cannot be listed
   or has more than `most` entries. */
static bool look (const char *path, pf_bytes ending, size_t most,
                  contents *found) {
  char where[OS_LONGEST_PATH] = ".";
  const size_t size = folder_size(path);
  if (most == 0 || size >= sizeof where)
    return false;
  if (size > 0) {
    memcpy(where, path, size);
    where[size] = '\0';
  }
  os_folder *const folder = os_folder_open(where);
  const char *name = NULL;
  bool is_special;
  for (size_t i = 0; folder != NULL && i <= most; i++) {
    name = os_folder_next(folder, &is_special);
    if (name == NULL)
      break;
    add_entry(name, is_special, ending, found);
  }
  const bool is_listed = folder != NULL && name == NULL && errno == 0;
  os_folder_close(folder);
  return is_listed;
}


/* core.look_beside(paths, ending): two booleans: whether a folder of the paths
   may have a name with the ending; and something that is neither a regular file
   nor a folder, such as a pipe or a link. Both are true where looking at each
   path takes less time. */
static int core_look_beside (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const pf_bytes ending = l_text_check(L, 2);
  const size_t count = l_length(L, 1);
  const char **const paths = l_scratch(L, count, sizeof *paths);
  for (size_t i = 0; i < count; i++) { /* the list keeps the strings */
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    paths[i] = l_path_check(L, -1);
    lua_pop(L, 1);
  }
  contents found = {false, false};
  for (size_t from = 0, to; from < count; from = to) {
    const size_t size = folder_size(paths[from]);
    to = from + 1;
    while (to < count && folder_size(paths[to]) == size &&
           memcmp(paths[to], paths[from], size) == 0)
      to++;
    const size_t most = to - from < FEWEST ? 0 : MOST * (to - from);
    if (!look(paths[from], ending, most, &found))
      found = (contents){true, true};
  }
  lua_pushboolean(L, found.endings);
  lua_pushboolean(L, found.others);
  return 2;
}


/* core.kind(path, [is_entry]): "file", "folder", "link" or "other"; or nil,
   message, code. With is_entry a link is one, else what it leads to counts. */
static int core_kind (lua_State *L) {
  static const char *const kinds[] = {[OS_REGULAR] = "file",
                                      [OS_FOLDER] = "folder",
                                      [OS_LINK] = "link",
                                      [OS_OTHER] = "other"};
  const char *const path = l_path_check(L, 1);
  os_state state;
  const bool is_found = lua_toboolean(L, 2) ? os_state_of_entry(path, &state)
                                            : os_state_of(path, &state);
  if (!is_found)
    return fail(L, errno, path);
  lua_pushstring(L, kinds[state.kind]);
  return 1;
}


/* core.file_state(path): of a regular file the size in bytes, the time of its
   last change in s since 1970, and bytes that are equal for all its names; nil
   for any other path. */
static int core_file_state (lua_State *L) {
  os_state state;
  if (!os_state_of(luaL_checkstring(L, 1), &state) || state.kind != OS_REGULAR)
    return 0;
  const uint64_t id[] = {state.device, state.inode};
  lua_pushinteger(L, (lua_Integer)state.size);
  lua_pushinteger(L, state.seconds);
  lua_pushlstring(L, (const char *)id, sizeof id);
  return 3;
}


/* Returns true, or nil, message, code for errno. */
static int answer (lua_State *L, bool done, const char *path) {
  if (!done)
    return fail(L, errno, path);
  lua_pushboolean(L, true);
  return 1;
}


/* core.make_folder(path), core.remove_folder(path), core.remove(path): true, or
   nil, message, code. */
static int core_make_folder (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  return answer(L, os_make_folder(path), path);
}

static int core_remove_folder (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  return answer(L, os_remove_folder(path), path);
}

static int core_remove (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  return answer(L, os_remove(path), path);
}


/* core.move(from, to), core.link(from, to): moves a file, or gives it another
   name; true, or nil, message, code. */
static int core_move (lua_State *L) {
  const char *const from = l_path_check(L, 1);
  return answer(L, os_rename(from, l_path_check(L, 2)), from);
}

static int core_link (lua_State *L) {
  const char *const from = l_path_check(L, 1);
  return answer(L, os_link(from, l_path_check(L, 2)), from);
}


/* core.change_folder(path): makes it the current one; true, or nil, message,
   code. */
static int core_change_folder (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  return answer(L, os_change_folder(path), path);
}


/* Pushes a path that the system has returned, and frees it; or pushes nil,
   message, code for errno. */
static int push_path (lua_State *L, char *path, const char *name) {
  char copy[OS_LONGEST_PATH];
  if (path == NULL)
    return fail(L, errno, name);
  const size_t size = strlen(path);
  memcpy(copy, path, size < sizeof copy ? size : sizeof copy);
  free(path);
  lua_pushlstring(L, copy, size < sizeof copy ? size : sizeof copy);
  return 1;
}


/* core.slashes(path): the path with slashes in place of what else separates
   names on this system. */
static int core_slashes (lua_State *L) {
  size_t size;
  const char *const path = luaL_checklstring(L, 1, &size);
  char *const copy = memcpy(l_scratch(L, size + 1, 1), path, size + 1);
  os_use_slashes(copy);
  lua_pushlstring(L, copy, size);
  return 1;
}


/* core.current_folder(), core.temporary_folder(): the path of the current
   folder, and of a new one that only this user can enter; or nil, message,
   code. */
static int core_current_folder (lua_State *L) {
  return push_path(L, os_current_folder(), "the current folder");
}

static int core_temporary_folder (lua_State *L) {
  const char *const folder = getenv("TMPDIR");
  char name[OS_LONGEST_PATH];
  snprintf(name, sizeof name, "no temporary folder in %s",
           folder == NULL || *folder == '\0' ? "/tmp" : folder);
  return push_path(L, os_temporary_folder(), name);
}


/* core.real_path(path): the absolute path without links, "." and "..", of what
   exists; or nil, message, code. */
static int core_real_path (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  return push_path(L, os_real_path(path), path);
}


void l_open_folders (lua_State *L) {
  L_ADD(L, {"change_folder", core_change_folder},
        {"current_folder", core_current_folder}, {"existing", core_existing},
        {"file_state", core_file_state}, {"kind", core_kind},
        {"link", core_link}, {"look_beside", core_look_beside},
        {"make_folder", core_make_folder}, {"names_in", core_names_in},
        {"real_path", core_real_path}, {"remove", core_remove},
        {"remove_folder", core_remove_folder}, {"move", core_move},
        {"slashes", core_slashes}, {"temporary_folder", core_temporary_folder});
}
