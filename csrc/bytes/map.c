/*
** map.c - mapped and copied files, and the SIGBUS handler that keeps a
** shrinking file from killing the process.
**
** The handler runs on the thread that accessed the lost page. It searches the
** list of guards, one for each mapping, for the address. If a guard contains
** it, the handler maps a zero page there and marks the guard; otherwise it
** calls the handler that was installed before, or restores the default action,
** which ends the process. It takes no lock, and other threads may open and
** close maps meanwhile: a guard is never freed or removed from the list. That
** of a closed map has size 0, and a later map uses it again.
*/

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes/map.h"
#include "bytes/output.h"
#include "bytes/spool.h"

#define SMALL 16384u /* bytes of files that are copied: mapping takes longer */

/* Address space to reserve for a growing file: the first size that the system
   grants. Bytes after it are not read. */
static const uint64_t reservations[] = {(uint64_t)1 << 40, (uint64_t)1 << 34,
                                        (uint64_t)1 << 30};

/* The address range of a mapping, for the handler. */
typedef struct guard {
  atomic_uintptr_t start;
  atomic_size_t size; /* 0: the guard is not used */
  atomic_bool faulted;
  struct guard *next;   /* in the list; never changes */
  struct guard *unused; /* the next one that is not used; under the lock */
} guard;

struct pf_map {
  pf_bytes bytes;
  size_t reserved; /* bytes mapped; pages after the file fault; 0: none */
  guard *guard;    /* of the mapping; NULL: there is none */
  uint8_t *memory; /* a copy of the bytes, owned; or NULL */
  pf_file_state file;
  int fd; /* of a growing file, else -1 */
};

/* The state of the process (see map.h). */
static _Atomic(guard *) guards;
static guard *unused_guards;
static pthread_mutex_t guards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static bool handler_installed;


/* Whether a guard contains an address. The size is loaded again, since another
   thread may have given the guard to another mapping meanwhile. */
static bool contains (guard *g, uintptr_t address) {
  const size_t size = atomic_load(&g->size);
  return address - atomic_load(&g->start) < size &&
         atomic_load(&g->size) == size;
}


static void on_fault (int number, siginfo_t *info, void *context) {
  const int errnum = errno;
  guard *g = atomic_load(&guards);
  while (g != NULL && !contains(g, (uintptr_t)info->si_addr))
    g = g->next;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t start = (uintptr_t)info->si_addr & ~(page - 1);
  const int zero = g == NULL ? -1 : open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (zero >= 0 && mmap((void *)start, page, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                        zero, 0) != MAP_FAILED)
    atomic_store(&g->faulted, true);
  else if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
  else
    sigaction(number, &before, NULL); /* the repeated access then ends it */
  if (zero >= 0)
    close(zero);
  errno = errnum;
}


/* Gives a mapping of `reserved` bytes its guard; false when out of memory. */
static bool set_guard (pf_map *map, void *at) {
  pthread_mutex_lock(&guards_lock);
  if (!handler_installed) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    handler_installed = sigaction(SIGBUS, &action, &before) == 0;
  }
  guard *g = unused_guards;
  if (g != NULL)
    unused_guards = g->unused;
  else if ((g = calloc(1, sizeof *g)) != NULL) {
    g->next = atomic_load(&guards);
    atomic_store(&guards, g);
  }
  if (g != NULL) {
    atomic_store(&g->faulted, false);
    atomic_store(&g->start, (uintptr_t)at);
    atomic_store(&g->size, map->reserved);
  }
  pthread_mutex_unlock(&guards_lock);
  map->guard = g;
  return g != NULL;
}


static void release_guard (guard *g) {
  pthread_mutex_lock(&guards_lock);
  atomic_store(&g->size, 0);
  g->unused = unused_guards;
  unused_guards = g;
  pthread_mutex_unlock(&guards_lock);
}


/* Copies the bytes of a small file of `size` bytes. */
static pf_status copy_file (int fd, size_t size, pf_map *map, pf_error *error) {
  map->memory = malloc(size + 1);
  if (map->memory == NULL)
    return pf_no_memory(error);
  size_t used = 0;
  for (ssize_t n = 1; n != 0 && used < size;) {
    n = pread(fd, map->memory + used, size - used, (off_t)used);
    if (n < 0 && errno != EINTR)
      return pf_fail(error, PF_EIO, used, "read failed: %s", strerror(errno));
    used += n > 0 ? (size_t)n : 0;
  }
  map->bytes = (pf_bytes){map->memory, used};
  return PF_OK;
}


/* Map or copy a plain file of `size` bytes; the descriptor may be closed after.
   */
static pf_status map_file (int fd, uint64_t size, pf_map **map,
                           pf_error *error) {
  if (size > SIZE_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "too large for the addresses of this machine");
  pf_map *const m = calloc(1, sizeof *m);
  if (m == NULL)
    return pf_no_memory(error);
  m->fd = -1;
  if (size <= SMALL) {
    const pf_status status = copy_file(fd, (size_t)size, m, error);
    if (status != PF_OK) {
      pf_map_close(m);
      return status;
    }
  }
  else {
    void *const at = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
      free(m);
      return pf_fail(error, PF_EIO, PF_NO_OFFSET, "cannot be mapped: %s",
                     strerror(errno));
    }
    m->bytes = (pf_bytes){at, (size_t)size};
    m->reserved = m->bytes.size;
    if (!set_guard(m, at)) {
      pf_map_close(m);
      return pf_no_memory(error);
    }
  }
  *map = m;
  return PF_OK;
}


/* Map a copy; its memory, or the file without a name, then belongs to the
   map. */
static pf_status map_spooled (const pf_spooled *spooled, pf_map **map,
                              pf_error *error) {
  if (spooled->fd >= 0) {
    const pf_status status = map_file(spooled->fd, spooled->size, map, error);
    close(spooled->fd);
    return status;
  }
  pf_map *const m = calloc(1, sizeof *m);
  if (m == NULL) {
    free(spooled->memory);
    return pf_no_memory(error);
  }
  m->fd = -1;
  m->memory = spooled->memory;
  m->bytes = (pf_bytes){spooled->memory, (size_t)spooled->size};
  *map = m;
  return PF_OK;
}


bool pf_is_gzip (pf_bytes bytes) {
  return bytes.size >= 3 && bytes.at[0] == 0x1f && bytes.at[1] == 0x8b &&
         bytes.at[2] == 8;
}


pf_status pf_map_gzip (pf_bytes packed, uint64_t max_size, pf_map **map,
                       pf_error *error) {
  pf_spooled spooled;
  pf_error unmapped;
  *map = NULL;
  const pf_status status = pf_spool_gzip(packed, max_size, &spooled, error);
  if (status == PF_OK)
    return map_spooled(&spooled, map, error);
  if ((spooled.fd >= 0 || spooled.memory != NULL) &&
      map_spooled(&spooled, map, &unmapped) != PF_OK)
    *map = NULL;
  return status;
}


/* Maps or copies a plain file or a pipe, and unpacks gzip data. *found becomes
   the state of the file before its bytes are read, so that later changes are
   noticed. */
static pf_status map_descriptor (int fd, uint64_t max_size, struct stat *found,
                                 pf_map **map, pf_error *error) {
  pf_status status;
  *map = NULL;
  if (fstat(fd, found) != 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  if (S_ISDIR(found->st_mode))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "is a directory; give a file of it");
  if (S_ISREG(found->st_mode))
    status = map_file(fd, (uint64_t)found->st_size, map, error);
  else {
    pf_spooled spooled;
    status = pf_spool_pipe(fd, max_size, &spooled, error);
    if (status == PF_OK)
      status = map_spooled(&spooled, map, error);
  }
  if (*map != NULL && pf_is_gzip((*map)->bytes)) {
    pf_map *const packed = *map;
    status = pf_map_gzip(packed->bytes, max_size, map, error);
    if (pf_map_faulted(packed)) { /* zeros were unpacked instead */
      pf_map_close(*map);
      *map = NULL;
      status = pf_fail(error, PF_EIO, PF_NO_OFFSET, PF_MAP_LOST);
    }
    pf_map_close(packed);
  }
  return status;
}


pf_status pf_map_descriptor (int fd, uint64_t max_size, pf_map **map,
                             pf_error *error) {
  struct stat found;
  return map_descriptor(fd, max_size, &found, map, error);
}


/* Names the former file where a command was killed while it replaced the one at
   the path. */
static pf_status fail_to_open (const char *path, int errnum, pf_error *error) {
  char *former = NULL;
  if (errnum == ENOENT)
    pf_output_former(path, &former);
  const pf_status status =
      former == NULL
          ? pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errnum))
          : pf_fail(error, PF_EIO, PF_NO_OFFSET,
                    "%s: a command that replaced it was interrupted; the "
                    "former file is %s",
                    strerror(errnum), former);
  free(former);
  return status;
}


pf_status pf_map_open (const char *path, uint64_t max_size, pf_map **map,
                       pf_error *error) {
  *map = NULL;
  if (strcmp(path, "-") == 0)
    return pf_map_descriptor(STDIN_FILENO, max_size, map, error);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail_to_open(path, errno, error);
  struct stat found;
  const pf_status status = map_descriptor(fd, max_size, &found, map, error);
  if (status == PF_OK && *map != NULL && S_ISREG(found.st_mode))
    (*map)->file = (pf_file_state){.is_plain = true,
                                   .device = found.st_dev,
                                   .inode = found.st_ino,
                                   .size = (uint64_t)found.st_size,
                                   .seconds = found.st_mtim.tv_sec,
                                   .nanoseconds = found.st_mtim.tv_nsec};
  close(fd);
  return status;
}


pf_status pf_map_live_descriptor (int fd, pf_map **map, pf_error *error) {
  struct stat status;
  if (fstat(fd, &status) != 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  if (!S_ISREG(status.st_mode))
    return pf_refuse(error, "only a plain file can be followed");
  pf_map *const m = calloc(1, sizeof *m);
  if (m == NULL)
    return pf_no_memory(error);
  const uint64_t size = (uint64_t)status.st_size;
  const size_t count = sizeof reservations / sizeof *reservations;
  void *at = MAP_FAILED;
  for (size_t i = 0; i < count && at == MAP_FAILED; i++) {
    m->reserved = (size_t)reservations[i];
    if (m->reserved == reservations[i] && m->reserved > size)
      at = mmap(NULL, m->reserved, PROT_READ, MAP_SHARED, fd, 0);
  }
  if (at == MAP_FAILED) {
    free(m);
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "cannot be mapped: %s",
                   strerror(errno));
  }
  m->bytes = (pf_bytes){at, (size_t)status.st_size};
  m->fd = -1; /* the caller closes it after a failure */
  if (!set_guard(m, at)) {
    pf_map_close(m);
    return pf_no_memory(error);
  }
  m->fd = fd;
  *map = m;
  return PF_OK;
}


pf_status pf_map_live (const char *path, pf_map **map, pf_error *error) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail_to_open(path, errno, error);
  const pf_status status = pf_map_live_descriptor(fd, map, error);
  if (status != PF_OK)
    close(fd);
  return status;
}


bool pf_map_grow (pf_map *map) {
  struct stat status;
  if (map->fd < 0 || fstat(map->fd, &status) != 0)
    return false;
  const uint64_t size = (uint64_t)status.st_size;
  const size_t known = map->bytes.size;
  if (size < known)
    atomic_store(&map->guard->faulted, true);
  map->bytes.size = size < map->reserved ? (size_t)size : map->reserved;
  return map->bytes.size > known;
}


const pf_file_state *pf_map_file_state (const pf_map *map) {
  return &map->file;
}


pf_bytes pf_map_bytes (const pf_map *map) {
  return map->bytes;
}


size_t pf_map_memory (const pf_map *map) {
  return map->memory != NULL ? map->bytes.size : 0;
}


bool pf_map_faulted (const pf_map *map) {
  return map->guard != NULL && atomic_load(&map->guard->faulted);
}


void pf_map_close (pf_map *map) {
  if (map == NULL)
    return;
  if (map->guard != NULL)
    release_guard(map->guard); /* before another mapping gets the addresses */
  if (map->reserved > 0)
    munmap((void *)(uintptr_t)map->bytes.at, map->reserved);
  if (map->fd >= 0)
    close(map->fd);
  free(map->memory);
  free(map);
}
