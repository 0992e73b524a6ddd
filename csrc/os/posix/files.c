/*
** files.c - files by descriptor and by name.
*/

#define _GNU_SOURCE /* O_TMPFILE, mkostemp */

#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>


int os_open (const char *path, unsigned how) {
  static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR};
  int flags = access[how & 3u] | O_CLOEXEC | O_NOCTTY;
  flags |= (how & (OS_CREATE | OS_NEW)) != 0 ? O_CREAT : 0;
  flags |= (how & OS_NEW) != 0 ? O_EXCL : 0;
  flags |= (how & OS_TRUNCATE) != 0 ? O_TRUNC : 0;
  flags |= (how & OS_AT_ONCE) != 0 ? O_NONBLOCK : 0;
  flags |= (how & OS_NO_LINK) != 0 ? O_NOFOLLOW : 0;
  return open(path, flags, 0666);
}


int os_open_null (void) {
  return open("/dev/null", O_RDWR | O_CLOEXEC);
}


int os_open_nameless (const char *folder) {
#ifdef O_TMPFILE
  if (access("/proc/self/fd", F_OK) == 0)
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#else
  (void)folder;
#endif
  errno = ENOTSUP;
  return -1;
}


bool os_name (int fd, const char *path) {
  char from[64];
  snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}


/* Returns a template for temporary names, in new memory. */
static char *temporary_name (void) {
  static const char tail[] = "/profio-XXXXXX";
  const char *folder = getenv("TMPDIR");
  if (folder == NULL || folder[0] == '\0')
    folder = "/tmp";
  const size_t size = strlen(folder) + sizeof tail;
  char *const path = malloc(size);
  if (path != NULL)
    snprintf(path, size, "%s%s", folder, tail);
  return path;
}


int os_open_temporary (char **path) {
  char *const name = temporary_name();
  const int fd = name == NULL ? -1 : mkostemp(name, O_CLOEXEC);
  if (fd >= 0 && path == NULL)
    unlink(name);
  if (path != NULL)
    *path = fd >= 0 ? name : NULL;
  if (path == NULL || fd < 0)
    free(name);
  return fd;
}


char *os_temporary_folder (void) {
  char *const name = temporary_name();
  if (name != NULL && mkdtemp(name) != NULL)
    return name;
  free(name);
  return NULL;
}


bool os_close (int fd) {
  return close(fd) == 0;
}


int os_duplicate (int fd) {
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}


int os_take_output (void) {
  const int fd = os_duplicate(STDOUT_FILENO);
  if (fd >= 0)
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
  return fd;
}


int64_t os_read (int fd, void *to, size_t size, uint64_t offset) {
  ssize_t n;
  do
    n = offset == OS_HERE ? read(fd, to, size)
                          : pread(fd, to, size, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n;
}


bool os_write (int fd, const void *from, size_t size, uint64_t offset) {
  const char *at = from;
  while (size > 0) {
    const ssize_t n = offset == OS_HERE ? write(fd, at, size)
                                        : pwrite(fd, at, size, (off_t)offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    at += n;
    offset += offset == OS_HERE ? 0 : (uint64_t)n;
    size -= (size_t)n;
  }
  return true;
}


int64_t os_seek (int fd, int64_t offset, int whence) {
  return lseek(fd, (off_t)offset, whence);
}


bool os_set_size (int fd, uint64_t size) {
  return ftruncate(fd, (off_t)size) == 0 && lseek(fd, 0, SEEK_END) >= 0;
}


bool os_reserve (int fd, uint64_t offset, uint64_t size) {
  const int errnum = posix_fallocate(fd, (off_t)offset, (off_t)size);
  errno = errnum;
  return errnum == 0;
}


uint64_t os_free_space (int fd) {
  struct statvfs found;
  return fstatvfs(fd, &found) == 0 && found.f_frsize > 0
             ? (uint64_t)found.f_bavail * found.f_frsize
             : UINT64_MAX;
}


bool os_can_overwrite (int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_APPEND) == 0 && lseek(fd, 0, SEEK_CUR) == 0;
}


bool os_sync (int fd) {
#if defined(_POSIX_SYNCHRONIZED_IO) && _POSIX_SYNCHRONIZED_IO > 0
  return fdatasync(fd) == 0;
#else
  return fsync(fd) == 0;
#endif
}


bool os_sync_folder (const char *path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
  const int errnum = errno;
  if (fd >= 0)
    close(fd);
  errno = errnum;
  return done;
}


bool os_lock (int fd, os_lock_kind kind) {
  static const int operations[] = {LOCK_UN, LOCK_SH | LOCK_NB,
                                   LOCK_EX | LOCK_NB};
  return flock(fd, operations[kind]) == 0;
}


int os_open_locked_folder (const char *path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_EX) == 0 || errno != EINTR)
    return fd; /* where there are no locks, without one */
  close(fd);
  errno = EINTR;
  return -1;
}


static bool fill (bool is_found, const struct stat *found, os_state *state) {
  if (!is_found)
    return false;
  *state = (os_state){.kind = S_ISREG(found->st_mode)   ? OS_REGULAR
                              : S_ISDIR(found->st_mode) ? OS_FOLDER
                              : S_ISLNK(found->st_mode) ? OS_LINK
                                                        : OS_OTHER,
                      .device = (uint64_t)found->st_dev,
                      .inode = (uint64_t)found->st_ino,
                      .links = (uint64_t)found->st_nlink,
                      .size = (uint64_t)found->st_size,
                      .seconds = found->st_mtim.tv_sec,
                      .nanoseconds = found->st_mtim.tv_nsec};
  return true;
}


bool os_state_of (const char *path, os_state *state) {
  struct stat found;
  return fill(stat(path, &found) == 0, &found, state);
}


bool os_state_of_entry (const char *path, os_state *state) {
  struct stat found;
  return fill(lstat(path, &found) == 0, &found, state);
}


bool os_state_of_open (int fd, os_state *state) {
  struct stat found;
  return fill(fstat(fd, &found) == 0, &found, state);
}


bool os_is_writable (const char *path) {
  return access(path, W_OK) == 0;
}


/* If the owner cannot be set, set-user-id bits are cleared. */
void os_copy_owner (int fd, const char *path) {
  struct stat old, new;
  if (stat(path, &old) != 0)
    return;
  const bool keeps_owner =
      fstat(fd, &new) != 0 ||
      (new.st_uid == old.st_uid &&new.st_gid == old.st_gid) ||
      fchown(fd, old.st_uid, old.st_gid) == 0;
  (void)fchmod(fd, old.st_mode & (keeps_owner ? 07777 : 0777));
}


bool os_remove (const char *path) {
  return unlink(path) == 0;
}


bool os_rename (const char *from, const char *to) {
  return rename(from, to) == 0;
}


bool os_replaces_open_files (void) {
  return true;
}


bool os_link (const char *from, const char *to) {
  return link(from, to) == 0;
}


bool os_make_folder (const char *path) {
  return mkdir(path, 0777) == 0;
}


bool os_remove_folder (const char *path) {
  return rmdir(path) == 0;
}
