/*
** file_set.h - the files that a writer of whole files writes together: a main
** file, side files, numbered ones of which more are begun while it writes, and
** older files that do not belong to the new ones.
**
** All get their names together at the end (bytes/output.h), so a failure leaves
** the old ones.
**
** Used by lua/writer/file_writer. A set of zeros is empty; l_file_set_close
** frees what it owns.
*/

#ifndef file_set_h
#define file_set_h

#include "bytes/output.h"
#include "bytes/sink.h"
#include "lua/writer/written.h"

#define L_MAX_FILES 4 /* main file and side files */

/* An output file, or bytes in memory. */
typedef struct l_set_file {
  pf_sink sink;    /* first member: cut callbacks get its address */
  pf_output file;  /* closed for memory and standard output */
  char *prefix;    /* numbered files: the path before the number, else NULL */
  uint64_t number; /* of the current numbered file */
  pf_output *complete; /* numbered files that are full, owned */
  size_t ncomplete, capacity;
} l_set_file;

typedef struct l_file_set {
  l_set_file files[L_MAX_FILES]; /* the main one first, linked by sink.side */
  size_t count;
  pf_output *removed; /* owned: older files that the commit removes */
  size_t nremoved, capacity;
} l_file_set;

/* Add a file: a path, standard output ("-"), or memory (NULL). The first is the
   main one, for which `side` is NULL. The path of a numbered one ends in
   .000001: it is the first of a sequence of files. PF_EIO, PF_ENOMEM. */
pf_status l_file_set_add (l_file_set *set, const char *path, const l_side *side,
                          pf_error *error);

/* Add a file that the commit removes, unless it is one of those that are
   written. There need not be one. PF_EIO, PF_ENOMEM. */
pf_status l_file_set_remove (l_file_set *set, const char *path,
                             pf_error *error);

/* Give all files their names, the main one last, or drop all of them. Side
   files without contents are dropped. While several are exchanged no other
   process does so in the folder of the main file: else each could get names of
   its own last. The error message names the file. PF_EIO, PF_ENOMEM. */
pf_status l_file_set_commit (l_file_set *set, pf_error *error);

/* Close all; files that have no names yet are dropped. */
void l_file_set_close (l_file_set *set);

#endif
