/*
** disk.c - for specs, loaded before all others (LD_PRELOAD): what a process
** asks of the files in a folder, in its order, so that a power failure can be
** played at any point of it.
**
**   DISK_FOLDER   the folder
**   DISK_LOG      where it is written: lines `operation inode a b size name`, each
**                 with `size` bytes behind it
**
** Stores into the first page of a file that is mapped are seen by looking at it
** at each operation, by sectors. Opening /promise/N says that N records have been
** promised.
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

#define PAGE   4096
#define SECTOR 512
#define MOST   256

#define SHOWN      __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static ino_t known[MOST]; /* files of the folder */
static int nknown;

/* First pages that are mapped. */
static struct {
  const uint8_t *at;
  ino_t file;
  uint8_t seen[PAGE];
} maps[MOST];
static int nmaps;


static void say (const char *operation, ino_t file, long a, long b,
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


/* Stores since the last look. */
static void look (void) {
  for (int i = 0; i < nmaps; i++)
    for (size_t at = 0; at < PAGE && maps[i].at != NULL; at += SECTOR)
      if (memcmp(maps[i].seen + at, maps[i].at + at, SECTOR) != 0) {
        memcpy(maps[i].seen + at, maps[i].at + at, SECTOR);
        say("write", maps[i].file, (long)at, 0, NULL, maps[i].seen + at,
            SECTOR);
      }
}


static bool is_in_folder (const char *path) {
  const char *const folder = getenv("DISK_FOLDER");
  return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}


/* The file of a descriptor when it is one of the folder, else 0. */
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
    if (file_of(fd) == 0 && nknown < MOST)
      known[nknown++] = about.st_ino;
    look();
    if (is_new)
      say("name", about.st_ino, 0, 0, path, NULL, 0);
    if ((flags & O_TRUNC) != 0)
      say("truncate", about.st_ino, 0, 0, NULL, NULL, 0);
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
    look();
    say("write", file, (long)at, 0, NULL, bytes, (size_t)done);
  }
  pthread_mutex_unlock(&lock);
  return done;
}


SHOWN ssize_t pwrite (int fd, const void *bytes, size_t size, off_t at) {
  pthread_mutex_lock(&lock);
  const ssize_t done = REAL(pwrite)(fd, bytes, size, at);
  const ino_t file = done > 0 ? file_of(fd) : 0;
  if (file != 0) {
    look();
    say("write", file, (long)at, 0, NULL, bytes, (size_t)done);
  }
  pthread_mutex_unlock(&lock);
  return done;
}


/* Whatever was done to a file: say so. */
static void said (int result, const char *operation, ino_t file, long a, long b,
                  const char *name) {
  const int errnum = errno;
  if (result == 0 && file != 0) {
    look();
    say(operation, file, a, b, name, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = errnum;
}


SHOWN int ftruncate (int fd, off_t size) {
  pthread_mutex_lock(&lock);
  const int result = REAL(ftruncate)(fd, size);
  said(result, "truncate", file_of(fd), (long)size, 0, NULL);
  return result;
}


SHOWN int posix_fallocate (int fd, off_t at, off_t size) {
  pthread_mutex_lock(&lock);
  const int result = REAL(posix_fallocate)(fd, at, size);
  said(result, "allocate", file_of(fd), (long)(at + size), 0, NULL);
  return result;
}


SHOWN int linkat (int from_fd, const char *from, int to_fd, const char *to,
                  int flags) {
  pthread_mutex_lock(&lock);
  const int result = REAL(linkat)(from_fd, from, to_fd, to, flags);
  said(result, "name", is_in_folder(to) ? file_at(to) : 0, 0, 0, to);
  return result;
}


SHOWN int rename (const char *from, const char *to) {
  pthread_mutex_lock(&lock);
  const ino_t file = is_in_folder(to) ? file_at(from) : 0;
  const int result = REAL(rename)(from, to);
  if (result == 0 && file != 0) {
    look();
    say("name", file, 0, 0, to, NULL, 0);
  }
  said(result, "remove", file, 0, 0, from);
  return result;
}


SHOWN int unlink (const char *path) {
  pthread_mutex_lock(&lock);
  const ino_t file = is_in_folder(path) ? file_at(path) : 0;
  const int result = REAL(unlink)(path);
  said(result, "remove", file, 0, 0, path);
  return result;
}


/* A folder has number 1. */
static ino_t synced (int fd) {
  struct stat about;
  return fstat(fd, &about) == 0 && S_ISDIR(about.st_mode) ? 1 : file_of(fd);
}


SHOWN int fsync (int fd) {
  pthread_mutex_lock(&lock);
  look();
  said(0, "sync", synced(fd), 0, 0, NULL);
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
  look();
  said(0, "sync", file, 0, 0, NULL);
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
  if (nmaps < MOST) {
    maps[nmaps].at = memory;
    maps[nmaps++].file = file;
  }
  pthread_mutex_unlock(&lock);
  return memory;
}


SHOWN int munmap (void *at, size_t size) {
  pthread_mutex_lock(&lock);
  look();
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
  say("promise", 0, atol(path + 9), 0, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = ENOENT;
  return NULL;
}


SHOWN FILE *fopen64 (const char *path, const char *mode) {
  return fopen(path, mode);
}
