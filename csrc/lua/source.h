/*
** source.h - the source userdata. Used by the files of the binding that read
** bytes of a source; they pin the userdata and check `open` first. The userdata
** owns the mapping of a file, or pins a string.
*/

#ifndef source_h
#define source_h

#include "bytes/map.h"
#include "bytes/named.h"
#include "lua/binding.h"

typedef struct l_source {
  pf_map *map;    /* owned; NULL: a pinned string, asleep or closed */
  pf_bytes bytes; /* empty when closed, and while it sleeps */
  bool open;
  const char *path;   /* borrowed from user value 2 */
  uint64_t max_size;  /* of unpacked data */
  uint64_t seen;      /* at most so many bytes of the file are used */
  pf_file_state file; /* while it sleeps: the state when it was opened */
} l_source;

/* Returns the source at `arg`, which is borrowed: pin it. Raises when it is not
   one, or closed. */
l_source *l_source_check (lua_State *L, int arg);

/* Extends the bytes by what was written to the file since; returns whether
   there is anything new. */
bool l_source_grow (l_source *source);

/* Whether reading the mapping failed: the file shrank, or an I/O error. */
bool l_source_faulted (const l_source *source);

/* Whether a source can sleep: not pipes, data, files that are still being
   written, files beside a trace and damaged packed files. */
static inline bool l_source_can_sleep (const l_source *source) {
  return source->map != NULL && pf_map_file_state(source->map)->is_plain;
}

/* Unmaps a file that can sleep until l_source_wake. */
void l_source_sleep (l_source *source);

/* Maps the file again, if the source sleeps; may run in any thread. PF_EIO if
   the file has changed meanwhile, and as pf_map_open. */
pf_status l_source_wake (l_source *source, pf_error *error);

/* Returns the rule of the folders at 2 (a list or nil: any) and the largest
   size at 3 (or nil); it borrows the strings, and memory that it pushes. */
pf_named_rule l_named_rule (lua_State *L);

#endif
