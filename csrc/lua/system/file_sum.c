/*
** file_sum.c - core.file_sum: adds up small files of one program by
** pf_format.sum of their format, with four system calls for each file (five if
** a path may lead to a pipe).
**
** Called by lua/profio/internal/several/adding.lua. The userdata owns the sum,
** the states of the files and, while bytes are pushed, a sink.
*/

#include <stdlib.h>

#include "lua/arguments.h"
#include "lua/trace_part.h"
#include "os/os.h"
#include "model/base/memory.h"
#include "model/system/parallel.h"
#include "model/rows/sum.h"

#define L_FILE_SUM  "profio.file_sum"
#define LARGEST     65536 /* bytes of a file that is added */
#define FEWEST      64    /* files for which a thread is started */
#define MOST_CHUNKS 8

typedef struct l_file_sum {
  pf_sum *sum;
  pf_sink sink;     /* only while its bytes are pushed */
  uint64_t *states; /* of each file, by state_of */
  size_t capacity;
  size_t files; /* that were added */
} l_file_sum;


/* Frees everything but the states of the files. */
static void clear (l_file_sum *s) {
  if (s->sum != NULL)
    s->sum->close(s->sum);
  s->sum = NULL;
  pf_sink_close(&s->sink);
}


static int file_sum_gc (lua_State *L) {
  l_file_sum *const s = luaL_checkudata(L, 1, L_FILE_SUM);
  clear(s);
  free(s->states);
  s->states = NULL;
  s->files = 0;
  return 0;
}


/* core.file_sum(part): an empty sum for files like the one of a part; nil if
   the format has no sums, the part is asleep or has several sources, or files
   like it cannot be added. */
static int core_file_sum (lua_State *L) {
  const l_part *const part = l_part_check(L, 1);
  const pf_trace *const first = &part->trace;
  pf_error error;
  if (first->format->sum == NULL || first->state == NULL ||
      first->nsources != 1)
    return 0;
  l_file_sum *const s = l_new(L, L_FILE_SUM, sizeof *s, 0);
  if (first->format->sum(first, &s->sum, &error) != PF_OK)
    l_no_memory(L);
  return s->sum != NULL;
}


/* Returns a hash of what changes with the contents of a file. */
static uint64_t state_of (const os_state *file) {
  const uint64_t words[] = {file->device, file->inode, file->size,
                            (uint64_t)file->seconds,
                            (uint64_t)file->nanoseconds};
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
  return hash;
}


/* Whether a file is regular and small. */
static bool is_small_file (const os_state *file) {
  return file->kind == OS_REGULAR && file->size > 0 && file->size <= LARGEST;
}


/* Opens a small regular file and describes it; returns -1 for others. Unless
   `are_files`, the path is checked before opening too, since opening a pipe
   would let its writer go on. The open file is always checked, since another
   one may have its name by then. */
static int open_small_file (const char *path, bool are_files, os_state *file) {
  if (!are_files && (!os_state_of(path, file) || !is_small_file(file)))
    return -1;
  const int fd = os_open(path, OS_READ | OS_AT_ONCE);
  if (fd >= 0 && (!os_state_of_open(fd, file) || !is_small_file(file))) {
    os_close(fd);
    return -1;
  }
  return fd;
}


/* Consecutive files that one thread adds. */
typedef struct chunk {
  pf_sum *sum;     /* owned, except that of the first chunk */
  uint8_t *buffer; /* owned, for one file */
  const char *const *paths;
  uint64_t *states; /* of the files, by state_of */
  size_t count, added;
  bool are_files;   /* no path leads to a pipe or a device */
  pf_status status; /* PF_END: the file after the added ones is another */
  pf_error error;
} chunk;


/* Adds a file. PF_END if it is not added, also if it cannot be read: opening it
   then gives the reason. */
static pf_status add_file (chunk *c, const char *path) {
  os_state file;
  const int fd = open_small_file(path, c->are_files, &file);
  if (fd < 0)
    return PF_END;
  const int64_t size = os_read(fd, c->buffer, LARGEST, OS_HERE);
  os_close(fd);
  if (size < 0 || (uint64_t)size != file.size)
    return PF_END;
  const pf_bytes bytes = {c->buffer, (size_t)size};
  c->states[c->added] = state_of(&file);
  return c->sum->add(c->sum, bytes, &c->error);
}


static void add_chunk (void *context) {
  chunk *const c = context;
  while (c->status == PF_MORE && c->added < c->count) {
    c->status = add_file(c, c->paths[c->added]);
    c->added += c->status == PF_MORE;
  }
}


/* Divides files into chunks; returns whether there is memory for it. */
static bool open_chunks (const l_file_sum *s, const char *const *paths,
                         size_t count, bool are_files, chunk *chunks,
                         size_t nchunks) {
  bool done = true;
  for (size_t i = 0; i < nchunks; i++) {
    chunk *const c = &chunks[i];
    const size_t from = count * i / nchunks;
    *c = (chunk){.sum = s->sum,
                 .buffer = malloc(LARGEST),
                 .paths = paths + from,
                 .states = s->states + s->files + from,
                 .count = count * (i + 1) / nchunks - from,
                 .are_files = are_files};
    if (i > 0 && s->sum->open_like(s->sum, &c->sum, &c->error) != PF_OK)
      done = false;
    done = done && c->buffer != NULL;
  }
  return done;
}


/* Adds the chunks up to the first one that is not complete, with its added
   files; none if `status` is a failure. Frees all. PF_MORE: all are complete.
   PF_END, PF_ENOMEM. */
static pf_status merge_chunks (l_file_sum *s, chunk *chunks, size_t nchunks,
                               pf_status status) {
  pf_error error;
  for (size_t i = 0; i < nchunks; i++) {
    chunk *const c = &chunks[i];
    if (status == PF_MORE && i > 0 && c->status >= 0)
      status = s->sum->merge(s->sum, c->sum, &error);
    if (status == PF_MORE) {
      s->files += c->added;
      status = c->status;
    }
    if (i > 0 && c->sum != NULL)
      c->sum->close(c->sum);
    free(c->buffer);
  }
  return status;
}


/* file_sum:add(paths, are_files): adds the first files of a list of paths up
   to one that is not like the first file, which is not added; returns their
   number. `are_files`: no path leads to a pipe or a device. */
static int file_sum_add (lua_State *L) {
  l_file_sum *const s = luaL_checkudata(L, 1, L_FILE_SUM);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_argcheck(L, s->sum != NULL, 1, "its data were returned before");
  const size_t count = l_length(L, 2), before = s->files;
  const char **const paths = l_scratch(L, count, sizeof *paths);
  for (size_t i = 0; i < count; i++) { /* the list keeps the strings */
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    paths[i] = l_path_check(L, -1);
    lua_pop(L, 1);
  }
  const size_t threads = os_processors(), most = count / FEWEST + 1;
  chunk chunks[MOST_CHUNKS];
  size_t nchunks = threads < most ? threads : most;
  nchunks = nchunks < MOST_CHUNKS ? nchunks : MOST_CHUNKS;
  if (!pf_grow(&s->states, &s->capacity, s->files + count))
    l_no_memory(L);
  const bool is_open =
      open_chunks(s, paths, count, lua_toboolean(L, 3) != 0, chunks, nchunks);
  if (is_open)
    pf_run_all(add_chunk, chunks, sizeof *chunks, nchunks);
  if (merge_chunks(s, chunks, nchunks, is_open ? PF_MORE : PF_ENOMEM) < 0)
    l_no_memory(L);
  lua_pushinteger(L, (lua_Integer)(s->files - before));
  return 1;
}


/* file_sum:changed(paths): the index of the first of the paths, which must be
   those of the added files, that does not lead to the same file, or to one
   that has been changed since; or nil. */
static int file_sum_changed (lua_State *L) {
  const l_file_sum *const s = luaL_checkudata(L, 1, L_FILE_SUM);
  luaL_checktype(L, 2, LUA_TTABLE);
  for (size_t i = 0; i < s->files; i++) {
    os_state file;
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    if (!os_state_of(l_path_check(L, -1), &file) || !is_small_file(&file) ||
        state_of(&file) != s->states[i]) {
      lua_pushinteger(L, (lua_Integer)i + 1);
      return 1;
    }
    lua_pop(L, 1);
  }
  return 0;
}


/* file_sum:data(): the bytes of a file with the sum, and the number of arcs in
   the added files. No more can be added then. */
static int file_sum_data (lua_State *L) {
  l_file_sum *const s = luaL_checkudata(L, 1, L_FILE_SUM);
  luaL_argcheck(L, s->sum != NULL, 1, "its data were returned before");
  pf_sink_close(&s->sink); /* of a call without memory */
  if (pf_sink_open(&s->sink, -1) != PF_OK)
    l_no_memory(L);
  s->sum->write(s->sum, &s->sink);
  if (s->sink.failed != PF_OK)
    l_no_memory(L);
  l_push_bytes(L, pf_sink_bytes(&s->sink));
  lua_pushinteger(L, (lua_Integer)s->sum->arcs);
  clear(s);
  return 2;
}


void l_open_file_sum (lua_State *L) {
  l_class(L, L_FILE_SUM,
          L_METHODS({"add", file_sum_add}, {"changed", file_sum_changed},
                    {"data", file_sum_data}),
          file_sum_gc, file_sum_gc);
  L_ADD(L, {"file_sum", core_file_sum});
}
