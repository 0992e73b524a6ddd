/*
** source.h - the source userdata, for the files of the binding that read it.
*/

#ifndef source_h
#define source_h

#include "bytes/map.h"
#include "lua/binding.h"

typedef struct l_source {
  pf_map *map;    /* NULL: the bytes are those of a pinned string */
  pf_bytes bytes; /* empty when closed */
  bool open;
} l_source;

/* The source at `arg`; raises when it is none or closed. */
l_source *l_source_check (lua_State *L, int arg);

/* Take what has been written behind its bytes; whether there was something. */
bool l_source_grow (l_source *source);

/* Whether bytes were lost under its mapping. */
bool l_source_faulted (const l_source *source);

#endif
