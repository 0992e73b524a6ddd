/*
** output.h - an output file that appears under its name only when it is
** complete.
**
**   pf_output_open(&output, path, &error)
**   ... write to output.fd ...
**   pf_output_commit(&output, 1, &error)   the file has its name
**   pf_output_close(&output)               or: nothing has changed
**
** Until the commit the file has no name at all (O_TMPFILE). It has the name
** .profio-XXXXXXXX in the folder of the target if the file system knows no
** nameless files, if /proc is not mounted, and during a commit that replaces a
** file or has several outputs; .profio-packet-XXXXXXXX after
** pf_output_close_fd. A process that is killed leaves the old file, and such a
** name. The next commit in that folder removes those of the first kind, which
** are locked as long as their writer lives.
**
** A symbolic link is followed and stays. A replaced file passes on its
** permissions and, as far as the process may, its owner; a new file gets those
** of the umask. A path that is no regular file (pipe, terminal, device) or a
** descriptor below /proc/PID/fd is opened and written in place.
**
** Used by lua/output_handle.c, lua/writer and bytes/ring. The caller owns the
** struct; commit and close free its members.
*/

#ifndef output_h
#define output_h

#include "profio.h"

typedef struct pf_output {
  int fd;           /* opened for writing (and reading); -1: closed */
  char *path;       /* owned: absolute path of the target, without links */
  char *temporary;  /* owned: its temporary path; NULL: it has no name */
  char *former;     /* owned: where a replaced file is during a commit */
  bool is_in_place; /* the target is no regular file, and fd is the target */
  bool is_moved;    /* during a commit: the replaced file is there */
  bool is_named;    /* during a commit: it has its name */
  bool is_removed;  /* the commit removes the file, if there is one */
} pf_output;

/* Open an output. `path` must not be "-". The output is closed after a failure.
   PF_EIO: a folder, no permission, no such folder, ...; PF_ENOMEM. */
pf_status pf_output_open (pf_output *output, const char *path, pf_error *error);

/* Set *absolute to the absolute path of the file that pf_output_open would
   write, which the caller frees (NULL after a failure), and *is_in_place to
   whether it would write in place. PF_EIO, PF_ENOMEM. */
pf_status pf_output_resolve (const char *path, char **absolute,
                             bool *is_in_place, pf_error *error);

/* Close the descriptor of a complete output and keep the file under a temporary
   name, so that many outputs need few descriptors. An output in place stays
   open. Only pf_output_commit and pf_output_close may follow. PF_EIO,
   PF_ENOMEM. */
pf_status pf_output_close_fd (pf_output *output, pf_error *error);

/* An output that is no file: the commit removes that of the path, a link as
   such, as it replaces others. Without a commit nothing changes. PF_EIO: there
   is no such folder; PF_ENOMEM. */
pf_status pf_output_remove (pf_output *output, const char *path,
                            pf_error *error);

/*
** Give `count` outputs their names, in their order, and close them; the last
** one is the main one, which names the others. Outputs that have neither a
** descriptor nor a temporary file are skipped. After a failure all targets are
** as they were, and the caller closes all outputs. PF_EIO (the message names
** the file), PF_ENOMEM.
**
** No moment shows files of different writers together. Several files that are
** replaced are first moved to .profio-former-NAME, the main one first; it gets
** its new name last. A process that is killed in between leaves no main file,
** and pf_output_former finds the one that it had.
*/
pf_status pf_output_commit (pf_output *outputs, size_t count, pf_error *error);

/* Set *former to the path of the file that an interrupted pf_output_commit has
   moved away from `path`, which the caller frees; NULL: there is none, or no
   memory. */
void pf_output_former (const char *path, char **former);

/* Give an output its name if no file has it, and close the descriptor. The
   caller calls pf_output_close afterwards. PF_AGAIN: a file has that name.
   PF_EIO. */
pf_status pf_output_commit_new (pf_output *output, pf_error *error);

/* Discard the output; the target is unchanged. Closing twice is allowed. */
void pf_output_close (pf_output *output);

#endif
