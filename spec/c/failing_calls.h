/*
** failing_calls.h - wrappers of system calls that fail when spec/c/oom.c wants.
**
** The objects of the core are linked with --wrap for the first argument of each
** FAULT below (the Makefile reads them from here). A failing call returns the
** last argument of FAULT, with errno EIO.
*/
#ifndef FAILING_CALLS_H
#define FAILING_CALLS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/* Count a system call; returns true if it must fail. */
bool call_fails (void);

#define FAULT(name, type, parameters, arguments, failure) \
  type __real_##name parameters;                          \
  type __wrap_##name parameters;                          \
  type __wrap_##name parameters {                         \
    if (call_fails()) {                                   \
      errno = EIO;                                        \
      return failure;                                     \
    }                                                     \
    return __real_##name arguments;                       \
  }

typedef struct stat status_of_file;
typedef struct statvfs status_of_system;
typedef struct sigaction action_of_signal;

/* clang-format off */
FAULT(access, int, (const char *p, int mode), (p, mode), -1)
FAULT(deflateInit2_, int, (z_stream *z, int level, int method, int bits, int memory,
      int strategy, const char *version, int size),
      (z, level, method, bits, memory, strategy, version, size), Z_MEM_ERROR)
FAULT(fchmod, int, (int fd, mode_t mode), (fd, mode), -1)
FAULT(fdatasync, int, (int fd), (fd), -1)
FAULT(fdopen, FILE *, (int fd, const char *mode), (fd, mode), NULL)
FAULT(fdopendir, DIR *, (int fd), (fd), NULL)
FAULT(flock, int, (int fd, int what), (fd, what), -1)
FAULT(fstat, int, (int fd, status_of_file *s), (fd, s), -1)
FAULT(fstatvfs, int, (int fd, status_of_system *s), (fd, s), -1)
FAULT(ftruncate, int, (int fd, off_t size), (fd, size), -1)
FAULT(iconv_open, iconv_t, (const char *to, const char *from), (to, from), (iconv_t)-1)
FAULT(inflateInit2_, int, (z_stream *z, int bits, const char *version, int size),
      (z, bits, version, size), Z_MEM_ERROR)
FAULT(linkat, int, (int a, const char *from, int b, const char *to, int flags),
      (a, from, b, to, flags), -1)
FAULT(lseek, off_t, (int fd, off_t at, int whence), (fd, at, whence), -1)
FAULT(lstat, int, (const char *path, status_of_file *s), (path, s), -1)
FAULT(madvise, int, (void *at, size_t size, int advice), (at, size, advice), -1)
FAULT(mkostemp, int, (char *path, int flags), (path, flags), -1)
FAULT(mmap, void *, (void *at, size_t size, int kind, int flags, int fd, off_t from),
      (at, size, kind, flags, fd, from), MAP_FAILED)
/* the mode is read only where a file is created */
FAULT(open, int, (const char *path, int flags, mode_t mode), (path, flags, mode), -1)
FAULT(posix_fallocate, int, (int fd, off_t at, off_t size), (fd, at, size), EIO)
FAULT(pread, ssize_t, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), -1)
FAULT(pthread_create, int, (pthread_t *t, const pthread_attr_t *a,
      void *(*f) (void *), void *context), (t, a, f, context), EAGAIN)
FAULT(pwrite, ssize_t, (int fd, const void *from, size_t size, off_t at),
      (fd, from, size, at), -1)
FAULT(read, ssize_t, (int fd, void *to, size_t size), (fd, to, size), -1)
FAULT(readlink, ssize_t, (const char *path, char *to, size_t size), (path, to, size), -1)
FAULT(realpath, char *, (const char *path, char *to), (path, to), NULL)
FAULT(rename, int, (const char *from, const char *to), (from, to), -1)
FAULT(sigaction, int, (int number, const action_of_signal *new, action_of_signal *old),
      (number, new, old), -1)
FAULT(stat, int, (const char *path, status_of_file *s), (path, s), -1)
FAULT(timer_create, int, (clockid_t clock, struct sigevent *event, timer_t *timer),
      (clock, event, timer), -1)
FAULT(write, ssize_t, (int fd, const void *from, size_t size), (fd, from, size), -1)
/* clang-format on */

#endif
