/*
** target.c - the file that the path of an output names.
*/

#define _XOPEN_SOURCE 700 /* realpath */

#include "bytes/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40 /* symbolic links that are followed, as in the kernel */


pf_status pf_fail_by_system (pf_error *error, const char *what, int errnum) {
  if (errnum == ENOMEM)
    return pf_no_memory(error);
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s: %s", what, strerror(errnum));
}


/* Returns FOLDER/NAME in new memory; NULL when out of memory. */
static char *joined (const char *folder, const char *name) {
  const size_t size = strlen(folder) + strlen(name) + 2;
  char *const path = malloc(size);
  const bool is_root = strcmp(folder, "/") == 0;
  if (path != NULL)
    snprintf(path, size, "%s/%s", is_root ? "" : folder, name);
  return path;
}


/* Splits a path into its folder, absolute and without links (in new memory),
   and the name in it (a part of `path`). PF_EIO: there is no such folder. */
static pf_status split (char *path, char **folder, const char **name,
                        pf_error *error) {
  char *const slash = strrchr(path, '/');
  *name = slash == NULL ? path : slash + 1;
  if (slash == NULL)
    *folder = realpath(".", NULL);
  else {
    *slash = '\0';
    *folder = realpath(slash == path ? "/" : path, NULL);
    *slash = '/';
  }
  if (*folder != NULL)
    return PF_OK;
  return pf_fail_by_system(error, "cannot be written: its folder", errno);
}


pf_status pf_target_absolute (const char *path, char **absolute,
                              pf_error *error) {
  char *const copy = strdup(path);
  char *folder = NULL;
  const char *name;
  *absolute = NULL;
  if (copy == NULL)
    return pf_no_memory(error);
  pf_status status = split(copy, &folder, &name, error);
  if (status == PF_OK && (*absolute = joined(folder, name)) == NULL)
    status = pf_no_memory(error);
  free(folder);
  free(copy);
  return status;
}


/* Returns the descriptor of a path below /proc/PID/fd: PF_TARGET_FOREIGN for
   one of another process, or for a name that is no number; PF_TARGET_FILE for
   any other path. */
static int descriptor_of (const char *folder, const char *name) {
  char own[64];
  const size_t length = strlen(folder);
  snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
  if (strcmp(folder, own) == 0) {
    char *end;
    const long number = strtol(name, &end, 10);
    return end != name && *end == '\0' && number >= 0 && number <= INT_MAX
               ? (int)number
               : PF_TARGET_FOREIGN;
  }
  return strncmp(folder, "/proc/", 6) == 0 && length > 3 &&
                 strcmp(folder + length - 3, "/fd") == 0
             ? PF_TARGET_FOREIGN
             : PF_TARGET_FILE;
}


/* Examines path `at`: *path is its absolute form, *descriptor the result of
   descriptor_of, and *next the target if the path is a symbolic link, else
   NULL. *path and *next are in new memory. PF_EIO, PF_ENOMEM. */
static pf_status look (char *at, char **path, int *descriptor, char **next,
                       pf_error *error) {
  char *folder;
  const char *name = NULL;
  struct stat about;
  *next = NULL;
  pf_status status = split(at, &folder, &name, error);
  if (status != PF_OK)
    return status;
  *descriptor = descriptor_of(folder, name);
  *path = joined(folder, name);
  if (*path == NULL)
    status = pf_no_memory(error);
  else if (*descriptor == PF_TARGET_FILE && lstat(*path, &about) == 0 &&
           S_ISLNK(about.st_mode)) {
    char target[PATH_MAX];
    const ssize_t size = readlink(*path, target, sizeof target - 1);
    if (size >= 0) { /* else the link was removed */
      target[size] = '\0';
      *next = target[0] == '/' ? strdup(target) : joined(folder, target);
    }
    if (*next == NULL)
      status = pf_fail_by_system(error, "cannot be written", errno);
  }
  free(folder);
  return status;
}


/* Follows symbolic links at the end of a path. *path, which is NULL before, is
   its absolute form in new memory; the caller frees it also after a
   failure. */
static pf_status resolve (const char *given, char **path, int *descriptor,
                          pf_error *error) {
  char *at = strdup(given);
  pf_status status = at == NULL ? pf_no_memory(error) : PF_OK;
  for (int links = 0; status == PF_OK && at != NULL; links++) {
    char *next;
    free(*path);
    *path = NULL;
    status = look(at, path, descriptor, &next, error);
    free(at);
    at = next;
    if (status == PF_OK && next != NULL && links == MOST_LINKS)
      status = pf_fail_by_system(error, "cannot be written", ELOOP);
  }
  free(at);
  return status;
}


/* Check the name of an output: an empty name and a name that ends with a slash
   fail with PF_EIO, whether the file exists or not. */
static pf_status check_name (const char *path, pf_error *error) {
  const size_t length = strlen(path);
  struct stat about;
  if (length == 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "the name of the output is empty");
  if (path[length - 1] != '/')
    return PF_OK;
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, PF_TARGET_IS_FOLDER);
  return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                 "the name of a file does not end with /");
}


pf_status pf_target_find (const char *path, char **absolute, int *descriptor,
                          pf_error *error) {
  const pf_status status = check_name(path, error);
  return status == PF_OK ? resolve(path, absolute, descriptor, error) : status;
}


pf_status pf_target_open_folder (const char *path, int *fd, pf_error *error) {
  char *absolute;
  *fd = -1;
  const pf_status status = pf_target_absolute(path, &absolute, error);
  if (absolute == NULL)
    return status;
  *strrchr(absolute, '/') = '\0';
  *fd = open(absolute[0] == '\0' ? "/" : absolute,
             O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free(absolute);
  return PF_OK;
}


pf_status pf_target_sync_folder (const char *path, pf_error *error) {
  int fd;
  pf_status status = pf_target_open_folder(path, &fd, error);
  if (status == PF_OK && (fd < 0 || (fsync(fd) != 0 && errno != EINVAL)))
    status =
        pf_fail_by_system(error, "its folder cannot be synchronised", errno);
  if (fd >= 0)
    close(fd);
  return status;
}


pf_status pf_target_lock_folder (const char *path, int *fd, pf_error *error) {
  const pf_status status = pf_target_open_folder(path, fd, error);
  if (status == PF_OK && *fd >= 0 && flock(*fd, LOCK_EX) != 0 &&
      errno == EINTR) {
    close(*fd);
    *fd = -1;
    return pf_fail_by_system(error, "its folder cannot be locked", EINTR);
  }
  return status;
}
