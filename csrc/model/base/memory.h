/*
** memory.h - allocation of arrays, also of those that grow, for all layers
** above bytes. The caller owns the memory and frees it with free.
**
** Large pages (THP) save TLB misses in arrays that are read many times in
** random order. But the kernel zeroes a large page as a whole at the first
** access, which is slow in a virtual machine that has returned its free memory
** to the host. So only the functions pf_large_... ask for them, for arrays of
** 1 MiB or more.
*/

#ifndef memory_h
#define memory_h

#include "profio.h"

/* Allocate `count` values of `size` bytes, not initialised; NULL when out of
   memory. An array of 0 values is not NULL. */
void *pf_array (size_t count, size_t size);

/* As pf_array, with all bytes 0. Pages that are never accessed take no memory.
   */
void *pf_array_of_zeros (size_t count, size_t size);

/* Resize an array (`old` NULL: allocate it). NULL when out of memory: `old`
   stays valid. */
void *pf_array_resize (void *old, size_t count, size_t size);

/* As pf_array and pf_array_of_zeros, in large pages if the system has them. */
void *pf_large_array (size_t count, size_t size);
void *pf_large_array_of_zeros (size_t count, size_t size);

/* Replace an array by one in large pages, with its first `used` values. `old`
   is freed unless the result is NULL. */
void *pf_large_array_resize (void *old, size_t used, size_t count, size_t size);

/*
** Make the capacity of an array at least `wanted` elements. `array` is the
** address of its pointer (NULL: nothing is allocated yet), `capacity` the
** address of a size_t. If it has to grow, it at least doubles. False when out
** of memory: nothing has changed.
*/
#define pf_grow(array, capacity, wanted) \
  ((wanted) <= *(capacity) ||            \
   pf_grow_array((array), (capacity), (wanted), sizeof **(array)))
bool pf_grow_array (void *array, size_t *capacity, size_t wanted, size_t size);

/* As pf_grow; all bytes of the new elements are `byte`. */
#define pf_grow_filled(array, capacity, wanted, byte)          \
  ((wanted) <= *(capacity) ||                                  \
   pf_grow_filled_array((array), (capacity), (wanted), (byte), \
                        sizeof **(array)))
bool pf_grow_filled_array (void *array, size_t *capacity, size_t wanted,
                           int byte, size_t size);

/* Several arrays may share a capacity. Resize one of them from `before` to
   `count` elements; all bytes of the new elements are 0. The caller updates the
   capacity after the last array. False when out of memory: the array has not
   changed. */
#define pf_widen(array, before, count) \
  pf_widen_array((array), (before), (count), sizeof **(array))
bool pf_widen_array (void *array, size_t before, size_t count, size_t size);

/* The next capacity of a full array, for callers that allocate it themselves; 0
   stays 0. It is twice the old one, and from 65,536 elements on four times,
   since unused pages take no memory and each copy needs new pages. */
static inline size_t pf_next_capacity (size_t capacity) {
  return capacity < 65536 ? capacity * 2 : capacity * 4;
}

#endif
