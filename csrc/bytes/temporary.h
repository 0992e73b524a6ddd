/*
** temporary.h - temporary files in TMPDIR or /tmp. Used by bytes/spool.c,
** bytes/ring/ring.c, model/rows/spill.c and store/row_methods.c. The caller
** closes the descriptor; programs that are started do not inherit it.
*/

#ifndef temporary_h
#define temporary_h

#include "profio.h"

/* Open a new unlinked file. PF_EIO, PF_ENOMEM. */
pf_status pf_temporary_file (int *fd, pf_error *error);

/* The same, but the file still has its name, for code that opens files by their
   path. The caller unlinks it and frees *path, which is NULL after a
   failure. */
pf_status pf_temporary_path (int *fd, char **path, pf_error *error);

#endif
