/*
** memory.h - memory for arrays that may be long. It comes from malloc and goes
** by free.
**
** Where the system has large pages, an array that is read in no order again and
** again is better off in them: who reads a small page waits for its address
** besides waiting for the bytes. But a large page is cleared whole when it is
** first touched, which takes very long in a virtual machine that has given its
** free memory back to its host. So what is read once or twice does not ask for
** them, and lies in them where the system gives them to everybody.
*/

#ifndef memory_h
#define memory_h

#include "profio.h"

/* An array of `count` values of `size` bytes, none of them set; NULL when out
   of memory. */
void *pf_array (size_t count, size_t size);

/* The same with all bytes 0; those that are never touched take no memory. */
void *pf_array_of_zeros (size_t count, size_t size);

/* An array that begins with the values of `old` (NULL: none), which is gone
   then; NULL when out of memory, and `old` stays. */
void *pf_array_resize (void *old, size_t count, size_t size);

/* The same three in large pages, if there are; of `old` the first `used` values
   are kept. */
void *pf_large_array (size_t count, size_t size);
void *pf_large_array_of_zeros (size_t count, size_t size);
void *pf_large_array_resize (void *old, size_t used, size_t count, size_t size);

/* Have room for `wanted` values in an array (NULL, with no room, at first) that
   grows twofold. False when out of memory: the array stays as it is. */
bool pf_array_reserve (void **array, size_t *room, size_t wanted, size_t size);

/* Bring in memory, none of it set so far, that another thread will write next:
   that thread would have to wait until it is cleared. */
void pf_array_prefault (void *from, size_t bytes);

/* How many values an array of `room` should have room for when it is full: more
   of them where they are many, since what is never touched takes no memory and
   each copy of the others is new memory to be cleared. */
static inline size_t pf_next_capacity (size_t room) {
  return room < 65536 ? room * 2 : room * 4;
}

#endif
