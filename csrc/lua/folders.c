/*
** folders.c - what is in folders: names, and whether files are beside others.
** Owns nothing after a call.
**
** Called by lua/profio/internal/opening and formats/dcpi.
*/

#define _DEFAULT_SOURCE /* DT_REG */

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "bytes/named.h"
#include "lua/arguments.h"

#define FEWEST 16 /* paths for which their folder is listed */

/* Entries of a folder for each path, at most: listing them takes no longer than
   asking for all paths. */
#define MOST 16


/* Closes a folder that an error has left open. */
static int folder_gc (lua_State *L) {
  DIR **const folder = lua_touserdata(L, 1);
  if (*folder != NULL)
    closedir(*folder);
  *folder = NULL;
  return 0;
}


/* core.names_in(folder): an array of the names in a folder without "." and
   "..", unordered; or nil, message, code if it cannot be read completely. */
static int core_names_in (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  DIR **const folder = lua_newuserdatauv(L, sizeof(DIR *), 0);
  *folder = NULL;
  if (luaL_newmetatable(L, "profio.folder")) {
    lua_pushcfunction(L, folder_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  lua_newtable(L);
  *folder = opendir(path);
  int errnum = errno;
  for (lua_Integer n = 1; *folder != NULL;) {
    errno = 0;
    const struct dirent *const entry = readdir(*folder);
    if (entry == NULL && errno == 0) {
      closedir(*folder);
      *folder = NULL;
      return 1;
    }
    errnum = errno;
    if (entry == NULL)
      break;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    lua_pushstring(L, entry->d_name);
    lua_rawseti(L, -2, n++);
  }
  pf_error error;
  (void)pf_fail(&error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errnum));
  return l_failure(L, &error, path);
}


/* core.existing(paths, ending): a table whose keys are the paths of a list to
   which the ending gives the path of an existing file, link or other entry. */
static int core_existing (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const pf_bytes ending = l_text_check(L, 2);
  const lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
  char path[PF_LONGEST_PATH];
  struct stat found;
  lua_newtable(L);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 1, i);
    const pf_bytes start = l_text_check(L, -1);
    if (start.size + ending.size < sizeof path) {
      memcpy(path, start.at, start.size);
      memcpy(path + start.size, ending.at, ending.size);
      path[start.size + ending.size] = '\0';
      if (lstat(path, &found) == 0) {
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
static void add_entry (const struct dirent *entry, pf_bytes ending,
                       contents *found) {
  const size_t size = strlen(entry->d_name);
  found->endings |= size >= ending.size &&
                    strncasecmp(entry->d_name + size - ending.size,
                                (const char *)ending.at, ending.size) == 0;
  found->others |= entry->d_type != DT_REG && entry->d_type != DT_DIR;
}


/* Adds what the folder of a path contains. Returns false if it cannot be listed
   or has more than `most` entries. */
static bool look (const char *path, pf_bytes ending, size_t most,
                  contents *found) {
  char folder[PF_LONGEST_PATH] = ".";
  const size_t size = folder_size(path);
  if (most == 0 || size >= sizeof folder)
    return false;
  if (size > 0) {
    memcpy(folder, path, size);
    folder[size] = '\0';
  }
  DIR *const stream = opendir(folder);
  const struct dirent *entry = NULL;
  errno = 0;
  for (size_t i = 0; stream != NULL && i <= most; i++) {
    entry = readdir(stream);
    if (entry == NULL)
      break;
    add_entry(entry, ending, found);
  }
  const bool is_listed = stream != NULL && entry == NULL && errno == 0;
  if (stream != NULL)
    closedir(stream);
  return is_listed;
}


/* core.look_beside(paths, ending): two booleans: whether a folder of the paths
   may have a name with the ending; and something that is neither a regular file
   nor a folder, such as a pipe or a link. Both are true where looking at each
   path takes less time. */
static int core_look_beside (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const pf_bytes ending = l_text_check(L, 2);
  const size_t count = lua_rawlen(L, 1);
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


void l_open_folders (lua_State *L) {
  L_ADD(L, {"existing", core_existing}, {"look_beside", core_look_beside},
        {"names_in", core_names_in});
}
