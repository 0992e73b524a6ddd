/*
** pages.c - memory in pages.
*/

#define _DEFAULT_SOURCE /* madvise */

#include "os/os.h"

#include <stdlib.h>
#include <sys/mman.h>


/* MADV_WIPEONFORK is an advice of Linux; elsewhere a forked child is not
   noticed. */
void *os_pages_new (size_t size, bool is_private) {
  void *const at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return NULL;
#ifdef MADV_WIPEONFORK
  if (is_private)
    (void)madvise(at, size, MADV_WIPEONFORK);
#else
  (void)is_private;
#endif
  return at;
}


void os_pages_free (void *at, size_t size) {
  if (at != NULL)
    munmap(at, size);
}


void *os_large_memory (size_t size) {
  void *at = NULL;
  if (posix_memalign(&at, OS_LARGE_PAGE, size) != 0)
    return NULL;
  os_prefer_large_pages(at, size);
  return at;
}


void os_prefer_large_pages (void *at, size_t size) {
  const size_t skipped = (0 - (uintptr_t)at) & (OS_LARGE_PAGE - 1);
  if (at == NULL || skipped > size)
    return;
#ifdef MADV_HUGEPAGE
  (void)madvise((uint8_t *)at + skipped,
                (size - skipped) & ~(OS_LARGE_PAGE - 1), MADV_HUGEPAGE);
#endif
}
