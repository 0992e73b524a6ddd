/*
** temporary.c - temporary files in TMPDIR or /tmp.
*/

#include "bytes/temporary.h"
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>


static pf_status fail (int errnum, pf_error *error) {
  return errnum == ENOMEM ? pf_no_memory(error)
                          : pf_fail(error, PF_EIO, PF_NO_OFFSET,
                                    "no temporary file in TMPDIR or /tmp: %s",
                                    strerror(errnum));
}


pf_status pf_temporary_path (int *fd, char **path, pf_error *error) {
  *fd = os_open_temporary(path);
  return *fd >= 0 ? PF_OK : fail(errno, error);
}


pf_status pf_temporary_file (int *fd, pf_error *error) {
  *fd = os_open_temporary(NULL);
  return *fd >= 0 ? PF_OK : fail(errno, error);
}
