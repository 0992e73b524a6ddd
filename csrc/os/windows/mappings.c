/*
** mappings.c - mapped files. Files of another computer, and those of which the
** mapping would keep a writer from shortening or replacing them, are copied.
*/

#include "os/windows/wide.h"

#include <stdlib.h>

#define COPIED  ((uint64_t)64 << 20) /* bytes of files that are copied */
#define GROWS   ((size_t)1 << 36) /* bytes of addresses for a file that grows */
#define GROWS32 ((size_t)1 << 29)
#define UNIT    ((uint64_t)65536) /* offsets of views are multiples of it */

struct os_guard {
  bool has_faulted;
  bool is_copy; /* the bytes are in reserved memory */
  HANDLE file;  /* of its own, so that a file that is removed when it is closed
                   stays */
};


bool os_prefers_copy (int fd, uint64_t size) {
  FILE_REMOTE_PROTOCOL_INFO remote;
  return size <= COPIED ||
         GetFileInformationByHandleEx(wide_handle(fd), FileRemoteProtocolInfo,
                                      &remote, sizeof remote);
}


/* Makes bytes of a reserved view valid. */
static bool read_more (const os_view *view, int fd, uint64_t from,
                       uint64_t size) {
  uint8_t *const at = (uint8_t *)(uintptr_t)view->at;
  if (from == size)
    return true;
  if (VirtualAlloc(at + from, (size_t)(size - from), MEM_COMMIT,
                   PAGE_READWRITE) == NULL)
    return wide_failed();
  while (from < size) {
    const int64_t n = os_read(fd, at + from, (size_t)(size - from), from);
    if (n <= 0)
      return n == 0;
    from += (uint64_t)n;
  }
  return true;
}


static bool map_whole (os_view *view, int fd) {
  const HANDLE mapping =
      CreateFileMappingW(wide_handle(fd), NULL, PAGE_READONLY, 0, 0, NULL);
  if (mapping == NULL)
    return wide_failed();
  view->at = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  const DWORD code = GetLastError();
  CloseHandle(mapping);
  SetLastError(code);
  const HANDLE self = GetCurrentProcess();
  return (view->at != NULL &&
          DuplicateHandle(self, wide_handle(fd), self, &view->guard->file, 0,
                          FALSE, DUPLICATE_SAME_ACCESS)) ||
         wide_failed();
}


bool os_view_open (os_view *view, int fd, uint64_t size, bool grows) {
  *view = (os_view){.size = (size_t)size};
  view->guard = calloc(1, sizeof *view->guard);
  if (view->guard == NULL)
    return false;
  bool done;
  if (grows) {
    view->size = sizeof(size_t) > 4 ? GROWS : GROWS32;
    view->guard->is_copy = true;
    view->at = VirtualAlloc(NULL, view->size, MEM_RESERVE, PAGE_READWRITE);
    done = view->at == NULL ? wide_failed()
                            : size <= view->size &&
                                  (size == 0 || read_more(view, fd, 0, size));
  }
  else
    done = map_whole(view, fd);
  const int errnum = errno;
  if (!done)
    os_view_close(view);
  errno = errnum;
  return done;
}


/* Writers change the head of a file and the mark at its end. */
bool os_view_grow (os_view *view, int fd, uint64_t before, uint64_t size) {
  const uint64_t head = before < UNIT ? before : UNIT;
  const uint64_t tail = before - head < UNIT ? head : before - UNIT;
  return read_more(view, fd, 0, head) && read_more(view, fd, tail, size);
}


bool os_view_has_faulted (const os_view *view) {
  return view->guard != NULL && view->guard->has_faulted;
}


void os_view_set_faulted (os_view *view) {
  view->guard->has_faulted = true;
}


void os_view_close (os_view *view) {
  os_guard *const guard = view->guard;
  void *const at = (void *)(uintptr_t)view->at;
  if (at != NULL && guard->is_copy)
    VirtualFree(at, 0, MEM_RELEASE);
  else if (at != NULL)
    UnmapViewOfFile(at);
  if (guard != NULL && guard->file != NULL)
    CloseHandle(guard->file);
  free(guard);
  *view = (os_view){.at = NULL};
}


void *os_share (int fd, uint64_t offset, size_t size, bool writes) {
  const uint64_t start = offset & ~(UNIT - 1), skipped = offset - start;
  const HANDLE mapping =
      CreateFileMappingW(wide_handle(fd), NULL,
                         writes ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
  if (mapping == NULL) {
    (void)wide_failed();
    return NULL;
  }
  uint8_t *const at =
      MapViewOfFile(mapping, writes ? FILE_MAP_WRITE : FILE_MAP_READ,
                    (DWORD)(start >> 32), (DWORD)start, size + (size_t)skipped);
  if (at == NULL)
    (void)wide_failed();
  CloseHandle(mapping);
  return at == NULL ? NULL : at + skipped;
}


void os_unshare (void *at, size_t size) {
  (void)size;
  UnmapViewOfFile((void *)((uintptr_t)at & ~(uintptr_t)(UNIT - 1)));
}


bool os_sync_shared (void *at, size_t size) {
  return FlushViewOfFile(at, size) || wide_failed();
}
