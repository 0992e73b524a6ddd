/*
** target.h - the file that the path of an output names: symbolic links at its
** end are followed, and a descriptor below /proc/PID/fd is recognised.
**
** Used by bytes/output, bytes/ring and lua/writer.
*/

#ifndef target_h
#define target_h

#include "profio.h"

#define PF_TARGET_IS_FOLDER "is a folder: name a file in it"

/* Fail with "WHAT: the text of errnum": PF_EIO, or PF_ENOMEM for ENOMEM. */
pf_status pf_fail_by_system (pf_error *error, const char *what, int errnum);

/* Set *absolute, which is NULL before, to the absolute path without links of
   the file that `path` names, which the caller frees, also after a failure; and
   *descriptor to the result of os_descriptor_of (os/os.h). PF_EIO: the name is
   empty or ends with a slash, there is no such folder, the links are a circle;
   PF_ENOMEM. */
pf_status pf_target_find (const char *path, char **absolute, int *descriptor,
                          pf_error *error);

/* Set *absolute to the absolute path of the file itself, of which a link at the
   end is not followed, which the caller frees; NULL after a failure. PF_EIO:
   there is no such folder; PF_ENOMEM. */
pf_status pf_target_absolute (const char *path, char **absolute,
                              pf_error *error);

/* Set *folder to the absolute path of the folder of a path, without links,
   which the caller frees; NULL after a failure. PF_EIO: there is no such
   folder; PF_ENOMEM. */
pf_status pf_target_folder (const char *path, char **folder, pf_error *error);

/* Lock the folder of a path against other processes that exchange several files
   in it; waits for them. *fd is to be closed, which unlocks it; -1: the folder
   cannot be opened, or is not locked. PF_EIO: there is no such folder, or a
   signal came; PF_ENOMEM. */
pf_status pf_target_lock_folder (const char *path, int *fd, pf_error *error);

/* Flush the folder of a path to disk (fsync). PF_EIO, PF_ENOMEM. */
pf_status pf_target_sync_folder (const char *path, pf_error *error);

#endif
