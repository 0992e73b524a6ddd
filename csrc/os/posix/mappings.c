/*
** mappings.c - mapped files, and the SIGBUS handler that keeps a shrinking file
** from killing the process.
**
** The handler runs on the thread that accessed the lost page. It searches the
** list of guards, one for each view, for the address. If a guard contains it,
** the handler maps a zero page there and marks the guard; otherwise it calls
** the handler that was installed before, or restores the default action, which
** ends the process. It takes no lock, and other threads may open and close
** views meanwhile: a guard is never freed or removed from the list. That of a
** closed view has size 0, and a later view uses it again.
*/

#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL 16384u /* bytes of files that are copied: mapping takes longer */

/* Address space to reserve for a growing file: the first size that the system
   grants. Bytes after it are not read. */
static const uint64_t reservations[] = {(uint64_t)1 << 40, (uint64_t)1 << 34,
                                        (uint64_t)1 << 30};

/* The address range of a view, for the handler. */
struct os_guard {
  atomic_uintptr_t start;
  atomic_size_t size; /* 0: the guard is not used */
  atomic_bool faulted;
  os_guard *next;   /* in the list; never changes */
  os_guard *unused; /* the next one that is not used; under the lock */
};

/* The state of the process. */
static _Atomic(os_guard *) guards;
static os_guard *unused_guards;
static pthread_mutex_t guards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static bool handler_installed;


/* Whether a guard contains an address. The size is loaded again, since another
   thread may have given the guard to another view meanwhile. */
static bool contains (os_guard *g, uintptr_t address) {
  const size_t size = atomic_load(&g->size);
  return address - atomic_load(&g->start) < size &&
         atomic_load(&g->size) == size;
}


static void on_fault (int number, siginfo_t *info, void *context) {
  const int errnum = errno;
  os_guard *g = atomic_load(&guards);
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


/* Gives a view its guard; false when out of memory. */
static bool set_guard (os_view *view) {
  pthread_mutex_lock(&guards_lock);
  if (!handler_installed) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    handler_installed = sigaction(SIGBUS, &action, &before) == 0;
  }
  os_guard *g = unused_guards;
  if (g != NULL)
    unused_guards = g->unused;
  else if ((g = calloc(1, sizeof *g)) != NULL) {
    g->next = atomic_load(&guards);
    atomic_store(&guards, g);
  }
  if (g != NULL) {
    atomic_store(&g->faulted, false);
    atomic_store(&g->start, (uintptr_t)view->at);
    atomic_store(&g->size, view->size);
  }
  pthread_mutex_unlock(&guards_lock);
  view->guard = g;
  return g != NULL;
}


static void release_guard (os_guard *g) {
  pthread_mutex_lock(&guards_lock);
  atomic_store(&g->size, 0);
  g->unused = unused_guards;
  unused_guards = g;
  pthread_mutex_unlock(&guards_lock);
}


bool os_prefers_copy (int fd, uint64_t size) {
  (void)fd;
  return size <= SMALL;
}


static void *map (int fd, uint64_t offset, size_t size, int protection) {
  void *const at = mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)offset);
  return at == MAP_FAILED ? NULL : at;
}


bool os_view_open (os_view *view, int fd, uint64_t size, bool grows) {
  *view = (os_view){.size = (size_t)size};
  if (!grows)
    view->at = map(fd, 0, view->size, PROT_READ);
  const size_t count = sizeof reservations / sizeof *reservations;
  for (size_t i = 0; grows && i < count && view->at == NULL; i++) {
    view->size = (size_t)reservations[i];
    if (view->size == reservations[i] && view->size > size)
      view->at = map(fd, 0, view->size, PROT_READ);
  }
  if (view->at == NULL)
    return false;
  if (set_guard(view))
    return true;
  os_view_close(view);
  errno = ENOMEM;
  return false;
}


/* The pages after the end of the file become valid by themselves. */
bool os_view_grow (os_view *view, int fd, uint64_t from, uint64_t size) {
  (void)view;
  (void)fd;
  (void)from;
  (void)size;
  return true;
}


bool os_view_has_faulted (const os_view *view) {
  return view->guard != NULL && atomic_load(&view->guard->faulted);
}


void os_view_set_faulted (os_view *view) {
  atomic_store(&view->guard->faulted, true);
}


void os_view_close (os_view *view) {
  if (view->guard != NULL)
    release_guard(view->guard); /* before another view gets the addresses */
  if (view->at != NULL)
    munmap((void *)(uintptr_t)view->at, view->size);
  *view = (os_view){.at = NULL};
}


void *os_share (int fd, uint64_t offset, size_t size, bool writes) {
  return map(fd, offset, size, writes ? PROT_READ | PROT_WRITE : PROT_READ);
}


void os_unshare (void *at, size_t size) {
  munmap(at, size);
}


bool os_sync_shared (void *at, size_t size) {
  return msync(at, size, MS_SYNC) == 0;
}
