/*
** schema.h - the tables of a store that the code of csrc/store reads and
** writes, as SQL that creates them. The Lua half of the store executes it, and
** adds tables of its own.
**
** All texts come from traces: they may contain NUL and bytes that are not
** UTF-8, so they are BLOBs. Functions with ids: a frame is a name, a file (NULL:
** none) and a line (NULL: none); a stack is its innermost frame and the stack
** around it (parent 0: none), which has a lower id. `hash` is a content hash of
** content_hash.h, which is equal in all stores. `data` has the layout of
** cells.h, followed by the checksum of content_hash.h.
*/

#ifndef schema_h
#define schema_h

#define PF_STORE_SCHEMA                                                    \
  "CREATE TABLE metrics(id INTEGER PRIMARY KEY, name BLOB NOT NULL,"       \
  " unit BLOB NOT NULL, UNIQUE(name, unit));\n"                            \
  "CREATE TABLE frames(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE," \
  " name BLOB NOT NULL, file BLOB, line INTEGER);\n"                       \
  "CREATE TABLE stacks(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE," \
  " parent INTEGER NOT NULL, frame INTEGER NOT NULL);\n"                   \
  "CREATE TABLE cells(run INTEGER NOT NULL, metric INTEGER NOT NULL,"      \
  " data BLOB NOT NULL, PRIMARY KEY(run, metric));\n"

#endif
