/*
** barrier.h - atomic numbers that two threads share, or two processes through
** a mapped file. All explicit memory orders of rings are here.
**
** A store with release order pairs with a load with acquire order: a thread
** that reads the stored value also sees all writes made before the store.
**
** Used by the other files of bytes/ring and by model/writer. Nothing is
** allocated: the numbers are in the mapped ring or in structs of the caller.
*/

#ifndef barrier_h
#define barrier_h

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint64_t pf_shared;
typedef _Atomic(uint8_t *) pf_shared_bytes; /* an atomic pointer */

static inline void pf_store_release (pf_shared *number, uint64_t value) {
  atomic_store_explicit(number, value, memory_order_release);
}

static inline uint64_t pf_load_acquire (const pf_shared *number) {
  return atomic_load_explicit(number, memory_order_acquire);
}

static inline void pf_store_release_bytes (pf_shared_bytes *at,
                                           uint8_t *bytes) {
  atomic_store_explicit(at, bytes, memory_order_release);
}

static inline uint8_t *pf_load_acquire_bytes (const pf_shared_bytes *at) {
  return atomic_load_explicit(at, memory_order_acquire);
}

/* Relaxed order: nothing is said about other memory. */
static inline void pf_store_relaxed (pf_shared *number, uint64_t value) {
  atomic_store_explicit(number, value, memory_order_relaxed);
}

static inline uint64_t pf_load_relaxed (const pf_shared *number) {
  return atomic_load_explicit(number, memory_order_relaxed);
}

/* An exchange: writes after it become visible no earlier than `value`. */
static inline void pf_exchange_acq_rel (pf_shared *number, uint64_t value) {
  (void)atomic_exchange_explicit(number, value, memory_order_acq_rel);
}

/* Loads before the fence are done before loads and stores after it. */
static inline void pf_fence_acquire (void) {
  atomic_thread_fence(memory_order_acquire);
}

#endif
