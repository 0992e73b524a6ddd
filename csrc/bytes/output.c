/*
** output.c - output files that get their names when they are complete.
*/

#define _GNU_SOURCE /* O_TMPFILE */

#include "bytes/output.h"
#include "bytes/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint32_t mixed = ((uint32_t)now.tv_nsec + attempt) * 2654435761u ^
                           (uint32_t)getpid() * 40503u;
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
  return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}


/* EEXIST also if another process took the file for a leftover before it had
   its lock. */
static bool open_named (pf_output *output, const char *temporary) {
  struct stat about;
  output->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (output->fd < 0)
    return false;
  if (lock(output->fd) && fstat(output->fd, &about) == 0 && about.st_nlink > 0)
    return true;
  close(output->fd);
  output->fd = -1;
  errno = EEXIST;
  return false;
}


/* Open a file without a name in the folder of the target; it gets its name
   through /proc. */
static bool open_nameless (pf_output *output) {
#ifdef O_TMPFILE
  char *const slash = strrchr(output->path, '/');
  if (access("/proc/self/fd", F_OK) != 0)
    return false;
  const char first = slash[1];
  slash[slash == output->path] = '\0';
  output->fd = open(output->path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  slash[0] = '/';
  slash[1] = first;
  if (output->fd >= 0)
    lock(output->fd);
#endif
  return output->fd >= 0;
}


/* Duplicates a descriptor of this process, or opens the path of another
   descriptor or of anything that is not a regular file. */
static pf_status open_in_place (pf_output *output, int descriptor,
                                pf_error *error) {
  output->fd = descriptor >= 0
                   ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                   : open(output->path,
                          O_WRONLY | O_NOCTTY | O_CLOEXEC |
                              (descriptor == PF_TARGET_FOREIGN ? O_TRUNC : 0));
  if (output->fd < 0)
    return pf_fail_by_system(error, "cannot be written", errno);
  output->is_in_place = true;
  return PF_OK;
}


/* Opens a path that has no links at its end. */
static pf_status open_resolved (pf_output *output, int descriptor,
                                pf_error *error) {
  struct stat about;
  const bool exists = stat(output->path, &about) == 0;
  if (!exists && errno != ENOENT)
    return pf_fail_by_system(error, "cannot be written", errno);
  if (descriptor != PF_TARGET_FILE)
    return open_in_place(output, descriptor, error);
  if (exists && S_ISDIR(about.st_mode))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, PF_TARGET_IS_FOLDER);
  if (exists && !S_ISREG(about.st_mode))
    return open_in_place(output, descriptor, error);
  const struct stat *const old = exists ? &about : NULL;
  /* ENOENT: another process replaces it with its set right now. */
  if (old != NULL && access(output->path, W_OK) != 0 && errno != ENOENT)
    return pf_fail_by_system(error, "cannot be replaced", errno);
  if (!open_nameless(output) && !with_temporary(output, TEMPORARY, open_named))
    return pf_fail_by_system(
        error,
        old == NULL
            ? "cannot be written: its folder"
            : "cannot be replaced: no new file can be made in its folder",
        errno);
  if (old != NULL) {
    /* The new file gets the permissions and the owner of the file it replaces.
       If the owner cannot be set, set-user-id bits are cleared. */
    struct stat new;
    const bool keeps_owner =
        fstat(output->fd, &new) != 0 ||
        (new.st_uid == old->st_uid &&new.st_gid == old->st_gid) ||
        fchown(output->fd, old->st_uid, old->st_gid) == 0;
    (void)fchmod(output->fd, old->st_mode & (keeps_owner ? 07777 : 0777));
  }
  return PF_OK;
}


pf_status pf_output_open (pf_output *output, const char *path,
                          pf_error *error) {
  int descriptor = PF_TARGET_FILE;
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
  int descriptor = PF_TARGET_FILE;
  struct stat about;
  *absolute = NULL;
  const pf_status status = pf_target_find(path, absolute, &descriptor, error);
  if (status != PF_OK || *absolute == NULL) {
    free(*absolute);
    *absolute = NULL;
    return status;
  }
  *is_in_place = descriptor != PF_TARGET_FILE ||
                 (stat(*absolute, &about) == 0 && !S_ISREG(about.st_mode) &&
                  !S_ISDIR(about.st_mode));
  return PF_OK;
}


/* Link a nameless file to a path. */
static bool link_to (pf_output *output, const char *path) {
  char from[64];
  snprintf(from, sizeof from, "/proc/self/fd/%d", output->fd);
  return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}


static pf_status fail_with_path (const pf_output *output, const char *what,
                                 int errnum, pf_error *error) {
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%.120s: %s: %s", output->path,
                 what, strerror(errnum));
}


/* Closes the descriptor. An error that the file system reports only here is a
   write error. */
static pf_status close_descriptor (pf_output *output, pf_error *error) {
  const int closed = output->fd < 0 ? 0 : close(output->fd);
  output->fd = -1;
  return closed == 0 ? PF_OK
                     : fail_with_path(output, "write failed", errno, error);
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
  const int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    return close_descriptor(output, error);
  return close(copy) == 0
             ? PF_OK
             : fail_with_path(output, "write failed", errno, error);
}


/* Does everything that may fail before the renames. A single output without a
   name gets the name of a new target directly, by a link. */
static pf_status prepare (pf_output *output, bool is_alone, pf_error *error) {
  if (output->is_in_place)
    return close_descriptor(output, error);
  if (output->fd < 0 && output->temporary == NULL)
    return PF_OK;
  struct stat about;
  const bool exists = lstat(output->path, &about) == 0;
  if (!exists && errno != ENOENT)
    return fail_with_path(output, "cannot be written", errno, error);
  if (exists && !S_ISREG(about.st_mode))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "%.120s: cannot be written: it is no regular file any more",
                   output->path);
  if (!is_alone || exists || output->temporary != NULL ||
      !link_to(output, output->path))
    return name_and_check(output, error);
  const pf_status closed = close_descriptor(output, error);
  if (closed != PF_OK)
    unlink(output->path); /* the contents may be lost */
  return closed;
}


/* Returns the path to which a file is moved away, in new memory; NULL when out
   of memory. Of a name that is too long the end is taken. */
static char *former_of (const char *path) {
  const char *const slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  const int folder = (int)(name - path);
  const size_t most = NAME_MAX - (sizeof FORMER - 1), size = strlen(name);
  if (size > most)
    name += size - most;
  const size_t whole = (size_t)folder + sizeof FORMER + strlen(name);
  char *const former = malloc(whole);
  if (former != NULL)
    snprintf(former, whole, "%.*s" FORMER "%s", folder, path, name);
  return former;
}


void pf_output_former (const char *path, char **former) {
  *former = former_of(path);
  if (*former != NULL && access(*former, F_OK) != 0) {
    free(*former);
    *former = NULL;
  }
}


/* Moves the files away that outputs replace, the main one, which is the last,
   first. Without it, those that an interrupted commit has moved stay until this
   one is complete. */
static pf_status move_away (pf_output *outputs, size_t count, pf_error *error) {
  const pf_output *const main = &outputs[count - 1];
  const bool has_main =
      main->temporary != NULL && access(main->path, F_OK) == 0;
  for (size_t i = count; i-- > 0;) {
    pf_output *const output = &outputs[i];
    if (output->temporary == NULL && !output->is_removed)
      continue;
    output->former = former_of(output->path);
    if (output->former == NULL)
      return pf_no_memory(error);
    if (!has_main && access(output->former, F_OK) == 0)
      continue;
    output->is_moved = rename(output->path, output->former) == 0;
    if (!output->is_moved && errno != ENOENT)
      return fail_with_path(output, "cannot be replaced", errno, error);
  }
  return PF_OK;
}


/* Moves them back, in place of the new ones. */
static void move_back (pf_output *outputs, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (outputs[i].is_named)
      unlink(outputs[i].path);
  for (size_t i = 0; i < count; i++)
    if (outputs[i].is_moved)
      rename(outputs[i].former, outputs[i].path);
}


/* Whether a name is that of a temporary file which is locked. */
static bool is_temporary (const char *name) {
  const size_t size = sizeof TEMPORARY - 1;
  return strncmp(name, TEMPORARY, size) == 0 && strlen(name) == size + 8 &&
         strspn(name + size, "0123456789abcdef") == 8;
}


/* Removes a file that no process has locked. */
static void remove_unlocked (int folder, const char *name) {
  struct stat about;
  const int fd =
      openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
      flock(fd, LOCK_EX | LOCK_NB) == 0)
    unlinkat(folder, name, 0);
  close(fd);
}


/* Removes what killed writers have left beside the path; in a folder only once
   in a row, since it may have many files. */
static void remove_leftovers (const char *path) {
  static _Thread_local dev_t device;
  static _Thread_local ino_t inode;
  struct stat about;
  int fd;
  pf_error ignored;
  if (pf_target_open_folder(path, &fd, &ignored) != PF_OK || fd < 0)
    return;
  DIR *const folder = fstat(fd, &about) != 0 ||
                              (about.st_dev == device && about.st_ino == inode)
                          ? NULL
                          : fdopendir(fd);
  if (folder == NULL) {
    close(fd);
    return;
  }
  device = about.st_dev;
  inode = about.st_ino;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
    if (is_temporary(entry->d_name))
      remove_unlocked(fd, entry->d_name);
  closedir(folder);
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
    output->is_named = output->temporary != NULL &&
                       rename(output->temporary, output->path) == 0;
    if (output->temporary != NULL && !output->is_named)
      status = fail_with_path(output, "cannot be written", errno, error);
  }
  if (status != PF_OK) {
    move_back(outputs, count);
    return status;
  }
  for (size_t i = 0; i < count; i++) {
    if (outputs[i].former != NULL)
      unlink(outputs[i].former); /* also that of an interrupted commit */
    pf_output_close(&outputs[i]);
  }
  return PF_OK;
}


pf_status pf_output_commit_new (pf_output *output, pf_error *error) {
  const bool done = output->temporary == NULL
                        ? link_to(output, output->path)
                        : link(output->temporary, output->path) == 0;
  if (!done && errno == EEXIST)
    return PF_AGAIN;
  if (!done)
    return fail_with_path(output, "cannot be written", errno, error);
  return close_descriptor(output, error);
}


void pf_output_close (pf_output *output) {
  if (output->fd >= 0)
    close(output->fd);
  if (output->temporary != NULL && !output->is_named)
    unlink(output->temporary);
  free(output->temporary);
  free(output->former);
  free(output->path);
  *output = (pf_output){.fd = -1};
}
