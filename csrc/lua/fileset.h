/*
** fileset.h - the files that a writer of whole files writes: one, and those that
** stand beside it. They get their names together, when all are complete.
*/

#ifndef lua_fileset_h
#define lua_fileset_h

#include "bytes/output.h"
#include "bytes/sink.h"

#define L_FILESET_MAX 4

/* A file that is written, or bytes that are kept. */
typedef struct l_output {
  pf_sink sink;    /* first: a sink that is cut is one of ours */
  pf_output file;  /* closed: memory or standard output */
  char *prefix;    /* of numbered files: the path up to the number; or NULL */
  uint64_t number; /* of the file that is written */
  pf_output *complete; /* the numbered files that are complete */
  size_t ncomplete, capacity;
} l_output;

typedef struct l_fileset {
  l_output outputs[L_FILESET_MAX]; /* their sinks are a list from the first */
  size_t count;
} l_fileset;

/* Add an output: into a file, standard output ("-"), or (path NULL) memory. */
pf_status l_fileset_add (l_fileset *set, const char *path, pf_error *error);

/* Make an output whose path ends in .000001 the first of numbered files; other
   paths stay one file. PF_ENOMEM. */
pf_status l_fileset_number (l_output *output, const char *path);

/* Give all files their names, the main one last, or drop all of them. A file
   beside the main one that got no bytes is dropped. The message names the file
   of a failure. */
pf_status l_fileset_commit (l_fileset *set, pf_error *error);

/* Free everything; files without a name are dropped. */
void l_fileset_close (l_fileset *set);

#endif
