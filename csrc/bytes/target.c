/*
** target.c - the file that the path of an output names.
*/

#include "bytes/target.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  const bool is_root = folder[0] != '\0' && folder[strlen(folder) - 1] == '/';
  if (path != NULL)
    snprintf(path, size, "%s%s%s", folder, is_root ? "" : "/", name);
  return path;
}


/* Splits a path into its folder, absolute and without links (in new memory),
   and the name in it (a part of `path`). PF_EIO: there is no such folder. */
static pf_status split (char *path, char **folder, const char **name,
                        pf_error *error) {
  char *const slash = strrchr(path, '/');
  *name = slash == NULL ? path : slash + 1;
  if (slash == NULL)
    *folder = os_real_path(".");
  else {
    *slash = '\0';
    *folder = os_real_path(slash == path ? "/" : path);
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


/* Examines path `at`: *path is its absolute form, *descriptor the result of
   os_descriptor_of, and *next the target if the path is a symbolic link, else
   NULL. *path and *next are in new memory. PF_EIO, PF_ENOMEM. */
static pf_status look (char *at, char **path, int *descriptor, char **next,
                       pf_error *error) {
  char *folder;
  const char *name = NULL;
  os_state about;
  *next = NULL;
  pf_status status = split(at, &folder, &name, error);
  if (status != PF_OK)
    return status;
  *descriptor = os_descriptor_of(folder, name);
  *path = joined(folder, name);
  if (*path == NULL)
    status = pf_no_memory(error);
  else if (*descriptor == OS_NO_DESCRIPTOR &&
           os_state_of_entry(*path, &about) && about.kind == OS_LINK) {
    char *const target = os_link_target(*path); /* NULL: it was removed */
    if (target != NULL)
      *next = os_is_absolute(target) ? strdup(target) : joined(folder, target);
    if (*next == NULL)
      status = pf_fail_by_system(error, "cannot be written", errno);
    free(target);
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
  os_state about;
  if (length == 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "the name of the output is empty");
  if (path[length - 1] != '/')
    return PF_OK;
  if (os_state_of(path, &about) && about.kind == OS_FOLDER)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, PF_TARGET_IS_FOLDER);
  return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                 "the name of a file does not end with /");
}


pf_status pf_target_find (const char *path, char **absolute, int *descriptor,
                          pf_error *error) {
  const pf_status status = check_name(path, error);
  return status == PF_OK ? resolve(path, absolute, descriptor, error) : status;
}


pf_status pf_target_folder (const char *path, char **folder, pf_error *error) {
  char *const copy = strdup(path);
  const char *name;
  *folder = NULL;
  const pf_status status =
      copy == NULL ? pf_no_memory(error) : split(copy, folder, &name, error);
  free(copy);
  return status;
}


pf_status pf_target_sync_folder (const char *path, pf_error *error) {
  char *folder;
  pf_status status = pf_target_folder(path, &folder, error);
  if (status == PF_OK && !os_sync_folder(folder))
    status =
        pf_fail_by_system(error, "its folder cannot be synchronised", errno);
  free(folder);
  return status;
}


pf_status pf_target_lock_folder (const char *path, int *fd, pf_error *error) {
  char *folder;
  pf_status status = pf_target_folder(path, &folder, error);
  *fd = folder == NULL ? -1 : os_open_locked_folder(folder);
  if (status == PF_OK && *fd < 0 && errno == EINTR)
    status = pf_fail_by_system(error, "its folder cannot be locked", EINTR);
  free(folder);
  return status;
}
