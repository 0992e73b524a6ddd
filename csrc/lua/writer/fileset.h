/*
** fileset.h - the output files of a writer of whole files: the main file and
** its side files. They get their names together, when all of them are complete,
** so that a failure leaves the old files.
**
** Used by file_writer.c: l_fileset_add for each file, main file first;
** l_fileset_number for a numbered one; write to the sinks; l_fileset_commit;
** l_fileset_close in any case. Functions return PF_EIO or PF_ENOMEM.
*/

#ifndef lua_fileset_h
#define lua_fileset_h

#include "bytes/output.h"
#include "bytes/sink.h"

#define L_FILESET_MAX 4

/* An output file, or bytes in memory. */
typedef struct l_output {
  pf_sink sink;    /* first member: cut callbacks get its address */
  pf_output file;  /* closed for memory and standard output */
  char *prefix;    /* numbered files: the path before the number, else NULL */
  uint64_t number; /* of the current numbered file */
  pf_output *complete; /* numbered files that are full, owned */
  size_t ncomplete, capacity;
} l_output;

typedef struct l_fileset {
  l_output outputs[L_FILESET_MAX]; /* linked by sink.side */
  size_t count;
} l_fileset;

/* Adds a file: a path, standard output ("-"), or memory (NULL). */
pf_status l_fileset_add (l_fileset *set, const char *path, pf_error *error);

/* Makes a file whose path ends in .000001 the first of a sequence of numbered
   files; other paths remain one file. PF_ENOMEM. */
pf_status l_fileset_number (l_output *output, const char *path);

/* Gives all files their names, the main one last, or drops all of them. Empty
   side files are dropped. The error message names the file. */
pf_status l_fileset_commit (l_fileset *set, pf_error *error);

/* Frees everything; files that were not committed are dropped. */
void l_fileset_close (l_fileset *set);

#endif
