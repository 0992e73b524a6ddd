/*
** temporary.c - temporary files in TMPDIR or /tmp.
*/

#define _GNU_SOURCE /* mkostemp */

#include "bytes/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


pf_status pf_temporary_path (int *fd, char **path, pf_error *error) {
  const char *directory = getenv("TMPDIR");
  if (directory == NULL || directory[0] == '\0')
    directory = "/tmp";
  static const char tail[] = "/profio-XXXXXX";
  const size_t size = strlen(directory) + sizeof tail;
  *path = malloc(size);
  if (*path == NULL)
    return pf_no_memory(error);
  snprintf(*path, size, "%s%s", directory, tail);
  *fd = mkostemp(*path, O_CLOEXEC);
  if (*fd >= 0)
    return PF_OK;
  const int errnum = errno;
  free(*path);
  *path = NULL;
  return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                 "no temporary file in TMPDIR or /tmp: %s", strerror(errnum));
}


pf_status pf_temporary_file (int *fd, pf_error *error) {
  char *path;
  const pf_status status = pf_temporary_path(fd, &path, error);
  if (path != NULL)
    unlink(path);
  free(path);
  return status;
}
