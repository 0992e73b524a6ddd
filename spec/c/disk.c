/*
** disk.c - a library for specs (LD_PRELOAD) that logs the file operations of a
** process in a folder, in order, so that a spec can simulate a power failure
** after any of them.
**
**   DISK_FOLDER   the folder
**   DISK_LOG      the log: lines `operation inode a b size name`, each followed by
**                 `size` bytes
**
** Stores into the first page of a mapped file are found by comparing it, sector
** by sector, at each operation. Opening /promise/N logs that the process has
** promised N records.
*/

#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE      4096
#define SECTOR    512
#define MAX_FILES 256

#define SHOWN      __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static ino_t known[MAX_FILES]; /* files of the folder */
static int nknown;

/* Mapped first pages of files, and their contents at the last comparison. */
static struct {
  const uint8_t *at;
  ino_t file;
  uint8_t seen[PAGE];
} maps[MAX_FILES];
static int nmaps;


static void log_operation (const char *operation, ino_t file, long a, long b,
                           const char *name, const void *bytes, size_t size) {
  char line[1024];
  if (log_fd < 0 && getenv("DISK_LOG") != NULL)
    log_fd = REAL(open)(getenv("DISK_LOG"),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const int length =
      snprintf(line, sizeof line, "%s %lu %ld %ld %zu %s\n", operation,
               (unsigned long)file, a, b, size, name == NULL ? "-" : name);
  if (REAL(write)(log_fd, line, (size_t)length) != length ||
      (size > 0 && REAL(write)(log_fd, bytes, size) != (ssize_t)size))
    abort();
}


/* Log the sectors that have changed since the last comparison. */
static void log_stores (void) {
  for (int i = 0; i < nmaps; i++)
    for (size_t at = 0; at < PAGE && maps[i].at != NULL; at += SECTOR)
      if (memcmp(maps[i].seen + at, maps[i].at + at, SECTOR) != 0) {
        memcpy(maps[i].seen + at, maps[i].at + at, SECTOR);
        log_operation("write", maps[i].file, (long)at, 0, NULL,
                      maps[i].seen + at, SECTOR);
      }
}


static bool is_in_folder (const char *path) {
  const char *const folder = getenv("DISK_FOLDER");
  return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}


/* The inode of a descriptor if its file is in the folder, else 0. */
static ino_t file_of (int fd) {
  struct stat about;
  if (fstat(fd, &about) != 0)
    return 0;
  for (int i = 0; i < nknown; i++)
    if (known[i] == about.st_ino)
      return about.st_ino;
  return 0;
}


static ino_t file_at (const char *path) {
  struct stat about;
  return stat(path, &about) == 0 ? about.st_ino : 0;
}


SHOWN int open (const char *path, int flags, ...) {
  va_list list;
  struct stat about;
  va_start(list, flags);
  const mode_t mode = (mode_t)va_arg(list, int);
  va_end(list);
  pthread_mutex_lock(&lock);
  const bool is_new = (flags & O_CREAT) != 0 && stat(path, &about) != 0;
  const int fd = REAL(open)(path, flags, mode);
  if (fd >= 0 && is_in_folder(path) && (flags & (O_WRONLY | O_RDWR)) != 0 &&
      fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
    if (file_of(fd) == 0 && nknown < MAX_FILES)
      known[nknown++] = about.st_ino;
    log_stores();
    if (is_new)
      log_operation("name", about.st_ino, 0, 0, path, NULL, 0);
    if ((flags & O_TRUNC) != 0)
      log_operation("truncate", about.st_ino, 0, 0, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return fd;
}


SHOWN ssize_t write (int fd, const void *bytes, size_t size) {
  const off_t at = lseek(fd, 0, SEEK_CUR);
  pthread_mutex_lock(&lock);
  const ssize_t done = REAL(write)(fd, bytes, size);
  const ino_t file = done > 0 ? file_of(fd) : 0;
  if (file != 0) {
    log_stores();
    log_operation("write", file, (long)at, 0, NULL, bytes, (size_t)done);
  }
  pthread_mutex_unlock(&lock);
  return done;
}


SHOWN ssize_t pwrite (int fd, const void *bytes, size_t size, off_t at) {
  pthread_mutex_lock(&lock);
  const ssize_t done = REAL(pwrite)(fd, bytes, size, at);
  const ino_t file = done > 0 ? file_of(fd) : 0;
  if (file != 0) {
    log_stores();
    log_operation("write", file, (long)at, 0, NULL, bytes, (size_t)done);
  }
  pthread_mutex_unlock(&lock);
  return done;
}


/* Log an operation that has succeeded, and release the lock. */
static void log_done (int result, const char *operation, ino_t file, long a,
                      long b, const char *name) {
  const int errnum = errno;
  if (result == 0 && file != 0) {
    log_stores();
    log_operation(operation, file, a, b, name, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = errnum;
}


SHOWN int ftruncate (int fd, off_t size) {
  pthread_mutex_lock(&lock);
  const int result = REAL(ftruncate)(fd, size);
  log_done(result, "truncate", file_of(fd), (long)size, 0, NULL);
  return result;
}


SHOWN int posix_fallocate (int fd, off_t at, off_t size) {
  pthread_mutex_lock(&lock);
  const int result = REAL(posix_fallocate)(fd, at, size);
  log_done(result, "allocate", file_of(fd), (long)(at + size), 0, NULL);
  return result;
}


SHOWN int linkat (int from_fd, const char *from, int to_fd, const char *to,
                  int flags) {
  pthread_mutex_lock(&lock);
  const int result = REAL(linkat)(from_fd, from, to_fd, to, flags);
  log_done(result, "name", is_in_folder(to) ? file_at(to) : 0, 0, 0, to);
  return result;
}


SHOWN int rename (const char *from, const char *to) {
  pthread_mutex_lock(&lock);
  const ino_t file = is_in_folder(to) ? file_at(from) : 0;
  const int result = REAL(rename)(from, to);
  if (result == 0 && file != 0) {
    log_stores();
    log_operation("name", file, 0, 0, to, NULL, 0);
  }
  log_done(result, "remove", file, 0, 0, from);
  return result;
}


SHOWN int unlink (const char *path) {
  pthread_mutex_lock(&lock);
  const ino_t file = is_in_folder(path) ? file_at(path) : 0;
  const int result = REAL(unlink)(path);
  log_done(result, "remove", file, 0, 0, path);
  return result;
}


/* The inode of a descriptor to be synced; 1 for a folder. */
static ino_t synced (int fd) {
  struct stat about;
  return fstat(fd, &about) == 0 && S_ISDIR(about.st_mode) ? 1 : file_of(fd);
}


SHOWN int fsync (int fd) {
  pthread_mutex_lock(&lock);
  log_stores();
  log_done(0, "sync", synced(fd), 0, 0, NULL);
  return 0;
}


SHOWN int fdatasync (int fd) {
  return fsync(fd);
}


SHOWN int msync (void *at, size_t size, int flags) {
  const struct timespec moment = {0, 300000}; /* disks are slow */
  ino_t file = 0;
  (void)flags;
  nanosleep(&moment, NULL);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < nmaps; i++)
    if (maps[i].at == at && size >= PAGE)
      file = maps[i].file;
  log_stores();
  log_done(0, "sync", file, 0, 0, NULL);
  return 0;
}


SHOWN void *mmap (void *hint, size_t size, int access, int flags, int fd,
                  off_t at) {
  void *const memory = REAL(mmap)(hint, size, access, flags, fd, at);
  const ino_t file = fd >= 0 ? file_of(fd) : 0;
  if (memory == MAP_FAILED || file == 0 || at != 0 ||
      (access & PROT_WRITE) == 0)
    return memory;
  pthread_mutex_lock(&lock);
  if (nmaps < MAX_FILES) {
    maps[nmaps].at = memory;
    maps[nmaps++].file = file;
  }
  pthread_mutex_unlock(&lock);
  return memory;
}


SHOWN int munmap (void *at, size_t size) {
  pthread_mutex_lock(&lock);
  log_stores();
  for (int i = 0; i < nmaps; i++)
    if (maps[i].at == at)
      maps[i].at = NULL;
  const int result = REAL(munmap)(at, size);
  pthread_mutex_unlock(&lock);
  return result;
}


SHOWN FILE *fopen (const char *path, const char *mode) {
  if (strncmp(path, "/promise/", 9) != 0)
    return REAL(fopen)(path, mode);
  pthread_mutex_lock(&lock);
  log_operation("promise", 0, atol(path + 9), 0, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = ENOENT;
  return NULL;
}


SHOWN FILE *fopen64 (const char *path, const char *mode) {
  return fopen(path, mode);
}
