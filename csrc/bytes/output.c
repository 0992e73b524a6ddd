/*
** output.c - output files that get their names when they are complete.
*/

#include "bytes/output.h"
#include "bytes/target.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of files in the folder of a target. */
#define FORMER    ".profio-former-" /* and the name of a replaced file */
#define TEMPORARY ".profio-"        /* and 8 digits: locked by its writer */
#define PACKET    ".profio-packet-" /* and 8 digits: closed, not locked */

#define MOST_TRIES 100 /* temporary names */


/* Calls `try` with new temporary paths beside that of the output until it does
   not fail with EEXIST. True: the output has the name. False: errno has the
   reason. */
static bool with_temporary (pf_output *output, const char *prefix,
                            bool (*try)(pf_output *, const char *)) {
  const int folder = (int)(strrchr(output->path, '/') - output->path);
  const size_t size = (size_t)folder + strlen(prefix) + sizeof "/00000000";
  for (unsigned attempt = 0; attempt < MOST_TRIES; attempt++) {
    const uint32_t mixed =
        ((uint32_t)os_now(OS_MONOTONIC) + attempt) * 2654435761u ^
        (uint32_t)os_process_id() * 40503u;
    output->temporary = malloc(size);
    if (output->temporary == NULL) {
      errno = ENOMEM;
      return false;
    }
    snprintf(output->temporary, size, "%.*s/%s%08x", folder, output->path,
             prefix, (unsigned)mixed);
    if (try(output, output->temporary))
      return true;
    const int errnum = errno;
    free(output->temporary);
    output->temporary = NULL;
    errno = errnum;
    if (errnum != EEXIST)
      return false;
  }
  return false;
}


/* Locks a file, which says that its writer is alive; false: another process
   holds the lock. Where there are no locks nobody removes leftovers. */
static bool lock (int fd) {
  return os_lock(fd, OS_EXCLUSIVE) || errno != EWOULDBLOCK;
}


/* EEXIST also if another process took the file for a leftover before it had
   its lock. */
static bool open_named (pf_output *output, const char *temporary) {
  os_state about;
  output->fd = os_open(temporary, OS_UPDATE | OS_NEW);
  if (output->fd < 0)
    return false;
  if (lock(output->fd) && os_state_of_open(output->fd, &about) &&
      about.links > 0)
    return true;
  os_close(output->fd);
  output->fd = -1;
  errno = EEXIST;
  return false;
}


/* Open a file without a name in the folder of the target. */
static bool open_nameless (pf_output *output) {
  char *const slash = strrchr(output->path, '/');
  const char first = slash[1];
  slash[slash == output->path] = '\0';
  output->fd = os_open_nameless(output->path);
  slash[0] = '/';
  slash[1] = first;
  if (output->fd >= 0)
    lock(output->fd);
  return output->fd >= 0;
}


/* Duplicates a descriptor of this process, or opens the path of another
   descriptor or of anything that is not a regular file. */
static pf_status open_in_place (pf_output *output, int descriptor,
                                pf_error *error) {
  const bool is_foreign = descriptor == OS_FOREIGN_DESCRIPTOR;
  output->fd =
      descriptor >= 0
          ? os_duplicate(descriptor)
          : os_open(output->path, OS_WRITE | (is_foreign ? OS_TRUNCATE : 0));
  if (output->fd < 0)
    return pf_fail_by_system(error, "cannot be written", errno);
  output->is_in_place = true;
  return PF_OK;
}


/* Opens a path that has no links at its end. */
static pf_status open_resolved (pf_output *output, int descriptor,
                                pf_error *error) {
  os_state about;
  const bool exists = os_state_of(output->path, &about);
  if (!exists && errno != ENOENT)
    return pf_fail_by_system(error, "cannot be written", errno);
  if (descriptor != OS_NO_DESCRIPTOR)
    return open_in_place(output, descriptor, error);
  if (exists && about.kind == OS_FOLDER)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, PF_TARGET_IS_FOLDER);
  if (exists && about.kind != OS_REGULAR)
    return open_in_place(output, descriptor, error);
  /* ENOENT: another process replaces it with its set right now. */
  if (exists && !os_is_writable(output->path) && errno != ENOENT)
    return pf_fail_by_system(error, "cannot be replaced", errno);
  if (!open_nameless(output) && !with_temporary(output, TEMPORARY, open_named))
    return pf_fail_by_system(
        error,
        !exists ? "cannot be written: its folder"
                : "cannot be replaced: no new file can be made in its folder",
        errno);
  if (exists)
    os_copy_owner(output->fd, output->path);
  return PF_OK;
}


pf_status pf_output_open (pf_output *output, const char *path,
                          pf_error *error) {
  int descriptor = OS_NO_DESCRIPTOR;
  *output = (pf_output){.fd = -1};
  pf_status status = pf_target_find(path, &output->path, &descriptor, error);
  if (status == PF_OK)
    status = open_resolved(output, descriptor, error);
  if (status != PF_OK)
    pf_output_close(output);
  return status;
}


pf_status pf_output_resolve (const char *path, char **absolute,
                             bool *is_in_place, pf_error *error) {
  int descriptor = OS_NO_DESCRIPTOR;
  os_state about;
  *absolute = NULL;
  const pf_status status = pf_target_find(path, absolute, &descriptor, error);
  if (status != PF_OK || *absolute == NULL) {
    free(*absolute);
    *absolute = NULL;
    return status;
  }
  *is_in_place = descriptor != OS_NO_DESCRIPTOR ||
                 (os_state_of(*absolute, &about) && about.kind != OS_REGULAR &&
                  about.kind != OS_FOLDER);
  return PF_OK;
}


/* Link a nameless file to a path. */
static bool link_to (pf_output *output, const char *path) {
  return os_name(output->fd, path);
}


static pf_status fail_with_path (const pf_output *output, const char *what,
                                 int errnum, pf_error *error) {
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%.120s: %s: %s", output->path,
                 what, strerror(errnum));
}


/* Closes the descriptor. An error that the file system reports only here is a
   write error. */
static pf_status close_descriptor (pf_output *output, pf_error *error) {
  const bool closed = output->fd < 0 || os_close(output->fd);
  output->fd = -1;
  return closed ? PF_OK : fail_with_path(output, "write failed", errno, error);
}


/* Gives the output a temporary name if it has none. */
static pf_status give_temporary (pf_output *output, const char *prefix,
                                 pf_error *error) {
  if (output->temporary != NULL || with_temporary(output, prefix, link_to))
    return PF_OK;
  return errno == ENOMEM
             ? pf_no_memory(error)
             : fail_with_path(output, "cannot be written", errno, error);
}


pf_status pf_output_close_fd (pf_output *output, pf_error *error) {
  if (output->fd < 0 || output->is_in_place)
    return PF_OK;
  const pf_status status = give_temporary(output, PACKET, error);
  return status == PF_OK ? close_descriptor(output, error) : status;
}


pf_status pf_output_remove (pf_output *output, const char *path,
                            pf_error *error) {
  *output = (pf_output){.fd = -1, .is_removed = true};
  return pf_target_absolute(path, &output->path, error);
}


/* Gives the output a temporary name, and closes a copy of its descriptor, which
   reports what only a close reports: the lock lasts until the commit ends. */
static pf_status name_and_check (pf_output *output, pf_error *error) {
  if (output->fd < 0)
    return PF_OK; /* closed before */
  const pf_status status = give_temporary(output, TEMPORARY, error);
  if (status != PF_OK)
    return status;
  const int copy = os_duplicate(output->fd);
  if (copy < 0)
    return close_descriptor(output, error);
  return os_close(copy) ? PF_OK
                        : fail_with_path(output, "write failed", errno, error);
}


/* Does everything that may fail before the renames. A single output without a
   name gets the name of a new target directly, by a link. */
static pf_status prepare (pf_output *output, bool is_alone, pf_error *error) {
  if (output->is_in_place)
    return close_descriptor(output, error);
  if (output->fd < 0 && output->temporary == NULL)
    return PF_OK;
  os_state about;
  const bool exists = os_state_of_entry(output->path, &about);
  if (!exists && errno != ENOENT)
    return fail_with_path(output, "cannot be written", errno, error);
  if (exists && about.kind != OS_REGULAR)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "%.120s: cannot be written: it is no regular file any more",
                   output->path);
  if (!is_alone || exists || output->temporary != NULL ||
      !link_to(output, output->path))
    return name_and_check(output, error);
  const pf_status closed = close_descriptor(output, error);
  if (closed != PF_OK)
    os_remove(output->path); /* the contents may be lost */
  return closed;
}


/* Returns the path to which a file is moved away, in new memory; NULL when out
   of memory. Of a name that is too long the end is taken. */
static char *former_of (const char *path) {
  const char *const slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  const int folder = (int)(name - path);
  const size_t most = OS_LONGEST_NAME - (sizeof FORMER - 1),
               size = strlen(name);
  if (size > most)
    name += size - most;
  const size_t whole = (size_t)folder + sizeof FORMER + strlen(name);
  char *const former = malloc(whole);
  if (former != NULL)
    snprintf(former, whole, "%.*s" FORMER "%s", folder, path, name);
  return former;
}


static bool has_file (const char *path) {
  os_state ignored;
  return os_state_of(path, &ignored);
}


void pf_output_former (const char *path, char **former) {
  *former = former_of(path);
  if (*former != NULL && !has_file(*former)) {
    free(*former);
    *former = NULL;
  }
}


/* Moves the files away that outputs replace, the main one, which is the last,
   first. Without it, those that an interrupted commit has moved stay until this
   one is complete. */
static pf_status move_away (pf_output *outputs, size_t count, pf_error *error) {
  const pf_output *const main = &outputs[count - 1];
  const bool has_main = main->temporary != NULL && has_file(main->path);
  for (size_t i = count; i-- > 0;) {
    pf_output *const output = &outputs[i];
    if (output->temporary == NULL && !output->is_removed)
      continue;
    output->former = former_of(output->path);
    if (output->former == NULL)
      return pf_no_memory(error);
    if (!has_main && has_file(output->former))
      continue;
    output->is_moved = os_rename(output->path, output->former);
    if (!output->is_moved && errno != ENOENT)
      return fail_with_path(output, "cannot be replaced", errno, error);
  }
  return PF_OK;
}


/* Moves them back, in place of the new ones. */
static void move_back (pf_output *outputs, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (outputs[i].is_named)
      os_remove(outputs[i].path);
  for (size_t i = 0; i < count; i++)
    if (outputs[i].is_moved)
      os_rename(outputs[i].former, outputs[i].path);
}


/* Whether a name is that of a temporary file which is locked. */
static bool is_temporary (const char *name) {
  const size_t size = sizeof TEMPORARY - 1;
  return strncmp(name, TEMPORARY, size) == 0 && strlen(name) == size + 8 &&
         strspn(name + size, "0123456789abcdef") == 8;
}


/* Removes a file that no process has locked. */
static void remove_unlocked (const char *folder, const char *name) {
  os_state about;
  char path[OS_LONGEST_PATH];
  const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
  const int fd = size < 0 || (size_t)size >= sizeof path
                     ? -1
                     : os_open(path, OS_READ | OS_NO_LINK | OS_AT_ONCE);
  if (fd < 0)
    return;
  if (os_state_of_open(fd, &about) && about.kind == OS_REGULAR &&
      os_lock(fd, OS_EXCLUSIVE))
    os_remove(path);
  os_close(fd);
}


/* Removes what killed writers have left beside the path; in a folder only once
   in a row, since it may have many files. */
static void remove_leftovers (const char *path) {
  static _Thread_local uint64_t device, inode;
  os_state about;
  bool is_special;
  char *where;
  pf_error ignored;
  if (pf_target_folder(path, &where, &ignored) != PF_OK)
    return;
  os_folder *const folder =
      !os_state_of(where, &about) ||
              (about.device == device && about.inode == inode)
          ? NULL
          : os_folder_open(where);
  if (folder != NULL) {
    device = about.device;
    inode = about.inode;
    const char *name;
    while ((name = os_folder_next(folder, &is_special)) != NULL)
      if (is_temporary(name))
        remove_unlocked(where, name);
    os_folder_close(folder);
  }
  free(where);
}


pf_status pf_output_commit (pf_output *outputs, size_t count, pf_error *error) {
  const pf_output *const main = &outputs[count - 1];
  size_t several = 0;
  pf_status status = PF_OK;
  if (main->path != NULL && !main->is_in_place)
    remove_leftovers(main->path);
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    status = prepare(&outputs[i], count == 1, error);
    several += outputs[i].temporary != NULL || outputs[i].is_removed;
  }
  if (status != PF_OK)
    return status;
  if (several > 1)
    status = move_away(outputs, count, error);
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    pf_output *const output = &outputs[i];
    output->is_named =
        output->temporary != NULL && os_rename(output->temporary, output->path);
    if (output->temporary != NULL && !output->is_named)
      status = fail_with_path(output, "cannot be written", errno, error);
  }
  if (status != PF_OK) {
    move_back(outputs, count);
    return status;
  }
  for (size_t i = 0; i < count; i++) {
    if (outputs[i].former != NULL)
      os_remove(outputs[i].former); /* also that of an interrupted commit */
    pf_output_close(&outputs[i]);
  }
  return PF_OK;
}


pf_status pf_output_commit_new (pf_output *output, pf_error *error) {
  const bool done = output->temporary == NULL
                        ? link_to(output, output->path)
                        : os_link(output->temporary, output->path);
  if (!done && errno == EEXIST)
    return PF_AGAIN;
  if (!done)
    return fail_with_path(output, "cannot be written", errno, error);
  return close_descriptor(output, error);
}


void pf_output_close (pf_output *output) {
  if (output->fd >= 0)
    os_close(output->fd);
  if (output->temporary != NULL && !output->is_named)
    os_remove(output->temporary);
  free(output->temporary);
  free(output->former);
  free(output->path);
  *output = (pf_output){.fd = -1};
}
