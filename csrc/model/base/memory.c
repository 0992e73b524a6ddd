/*
** memory.c - allocation of arrays.
*/

#include "model/base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define LONG (OS_LARGE_PAGE / 2) /* from this size on, large pages pay */

#define FIRST_CAPACITY 16 /* elements of an array that grows */


/* Returns the bytes to allocate: 1 for an empty array; 0 for more than SIZE_MAX
   / 2. */
static size_t bytes_of (size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size)
    return 0;
  return count == 0 ? 1 : count * size;
}


void *pf_array (size_t count, size_t size) {
  const size_t bytes = bytes_of(count, size);
  return bytes == 0 ? NULL : malloc(bytes);
}


void *pf_array_of_zeros (size_t count, size_t size) {
  const size_t bytes = bytes_of(count, size);
  return bytes == 0 ? NULL : calloc(bytes, 1);
}


void *pf_array_resize (void *old, size_t count, size_t size) {
  const size_t bytes = bytes_of(count, size);
  return bytes == 0 ? NULL : realloc(old, bytes);
}


/* Returns the bytes to allocate, rounded up to large pages for a long array. */
static size_t large_bytes_of (size_t count, size_t size) {
  const size_t bytes = bytes_of(count, size);
  return bytes < LONG ? bytes
                      : (bytes + OS_LARGE_PAGE - 1) & ~(OS_LARGE_PAGE - 1);
}


void *pf_large_array (size_t count, size_t size) {
  const size_t bytes = large_bytes_of(count, size);
  if (bytes < LONG)
    return bytes == 0 ? NULL : malloc(bytes);
  return os_large_memory(bytes);
}


void *pf_large_array_of_zeros (size_t count, size_t size) {
  const size_t bytes = large_bytes_of(count, size);
  void *const array = bytes == 0 ? NULL : calloc(bytes, 1);
  if (bytes >= LONG)
    os_prefer_large_pages(array, bytes);
  return array;
}


void *pf_large_array_resize (void *old, size_t used, size_t count,
                             size_t size) {
  const size_t bytes = large_bytes_of(count, size);
  if (bytes < LONG)
    return bytes == 0 ? NULL : realloc(old, bytes);
  void *const array = pf_large_array(count, size); /* aligned to large pages */
  if (array == NULL)
    return NULL;
  if (used > 0)
    memcpy(array, old, used * size);
  free(old);
  return array;
}


/* Resizes the array whose pointer is at `array`; all bytes of the elements
   after the first `before` become `byte`. */
static bool resize_filled (void *array, size_t before, size_t count,
                           size_t size, int byte) {
  uint8_t *at;
  memcpy(&at, array, sizeof at); /* a pointer of any type */
  at = pf_array_resize(at, count, size);
  if (at == NULL)
    return false;
  memcpy(array, &at, sizeof at);
  if (count > before)
    memset(at + before * size, byte, (count - before) * size);
  return true;
}


/* As pf_grow_filled_array, for the elements from `before` on. */
static bool grow_filled (void *array, size_t *capacity, size_t before,
                         size_t wanted, int byte, size_t size) {
  size_t next = *capacity < FIRST_CAPACITY / 2 ? FIRST_CAPACITY : 2 * *capacity;
  if (next < wanted)
    next = wanted;
  if (!resize_filled(array, before, next, size, byte))
    return false;
  *capacity = next;
  return true;
}


bool pf_grow_array (void *array, size_t *capacity, size_t wanted, size_t size) {
  return grow_filled(array, capacity, SIZE_MAX, wanted, 0, size);
}


bool pf_grow_filled_array (void *array, size_t *capacity, size_t wanted,
                           int byte, size_t size) {
  return grow_filled(array, capacity, *capacity, wanted, byte, size);
}


bool pf_widen_array (void *array, size_t before, size_t count, size_t size) {
  return resize_filled(array, before, count, size, 0);
}
