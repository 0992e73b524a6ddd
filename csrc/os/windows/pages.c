/*
** pages.c - memory in pages.
*/

#include "os/windows/wide.h"


/* A process has no copies of itself here. */
void *os_pages_new (size_t size, bool is_private) {
  (void)is_private;
  return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}


void os_pages_free (void *at, size_t size) {
  (void)size;
  if (at != NULL)
    VirtualFree(at, 0, MEM_RELEASE);
}


void *os_large_memory (size_t size) {
  return malloc(size);
}


void os_prefer_large_pages (void *at, size_t size) {
  (void)at;
  (void)size;
}
