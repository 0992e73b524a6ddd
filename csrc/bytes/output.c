/*
** output.c - output files that get their names when they are complete.
*/

#define _GNU_SOURCE /* O_TMPFILE */

#include "bytes/output.h"
#include "bytes/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FORMER     ".profio-former-" /* and the name of a replaced file */
#define MOST_TRIES 100               /* temporary names */


/* Calls `try` with new temporary paths beside that of the output until it does
   not fail with EEXIST. True: the output has the name. False: errno has the
   reason. */
static bool with_temporary (pf_output *output,
                            bool (*try)(pf_output *, const char *)) {
  const int folder = (int)(strrchr(output->path, '/') - output->path);
  const size_t size = (size_t)folder + sizeof "/.profio-00000000";
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
    snprintf(output->temporary, size, "%.*s/.profio-%08x", folder, output->path,
             (unsigned)mixed);
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


static bool open_named (pf_output *output, const char *temporary) {
  output->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return output->fd >= 0;
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
  if (old != NULL && access(output->path, W_OK) != 0)
    return pf_fail_by_system(error, "cannot be replaced", errno);
  if (!open_nameless(output) && !with_temporary(output, open_named))
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


pf_status pf_output_close_fd (pf_output *output, pf_error *error) {
  if (output->fd < 0 || output->is_in_place)
    return PF_OK;
  if (output->temporary == NULL && !with_temporary(output, link_to))
    return errno == ENOMEM
               ? pf_no_memory(error)
               : fail_with_path(output, "cannot be written", errno, error);
  return close_descriptor(output, error);
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
    return pf_output_close_fd(output, error);
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
    if (output->temporary == NULL)
      continue;
    output->former = former_of(output->path);
    if (output->former == NULL)
      return pf_no_memory(error);
    const bool stays = !has_main && access(output->former, F_OK) == 0;
    if (!stays && rename(output->path, output->former) == 0)
      continue;
    const int errnum = stays ? ENOENT : errno;
    free(output->former);
    output->former = NULL;
    if (errnum != ENOENT)
      return fail_with_path(output, "cannot be replaced", errnum, error);
  }
  return PF_OK;
}


/* Moves them back, in place of the new ones. */
static void move_back (pf_output *outputs, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (outputs[i].is_named)
      unlink(outputs[i].path);
  for (size_t i = 0; i < count; i++)
    if (outputs[i].former != NULL)
      rename(outputs[i].former, outputs[i].path);
}


pf_status pf_output_commit (pf_output *outputs, size_t count, pf_error *error) {
  size_t several = 0;
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    status = prepare(&outputs[i], count == 1, error);
    several += outputs[i].temporary != NULL;
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
    char *const former =
        several > 1 && outputs[i].is_named ? former_of(outputs[i].path) : NULL;
    if (former != NULL)
      unlink(former); /* also that of a commit that was interrupted */
    free(former);
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
