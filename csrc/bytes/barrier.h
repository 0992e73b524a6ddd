/*
** barrier.h - numbers that two threads share, or two processes through a
** mapped file: the only place where the order of memory is spoken of.
**
** Who publishes a number says: what I wrote before it is there. Who observes
** it may look at all of that.
*/

#ifndef barrier_h
#define barrier_h

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint64_t pf_shared;
typedef _Atomic(uint8_t *) pf_shared_bytes; /* a pointer; same rules */

static inline void pf_publish (pf_shared *number, uint64_t value) {
  atomic_store_explicit(number, value, memory_order_release);
}

static inline uint64_t pf_observe (const pf_shared *number) {
  return atomic_load_explicit(number, memory_order_acquire);
}

static inline void pf_publish_bytes (pf_shared_bytes *at, uint8_t *bytes) {
  atomic_store_explicit(at, bytes, memory_order_release);
}

static inline uint8_t *pf_observe_bytes (const pf_shared_bytes *at) {
  return atomic_load_explicit(at, memory_order_acquire);
}

/* Without saying anything about other memory. */
static inline void pf_note (pf_shared *number, uint64_t value) {
  atomic_store_explicit(number, value, memory_order_relaxed);
}

static inline uint64_t pf_glance (const pf_shared *number) {
  return atomic_load_explicit(number, memory_order_relaxed);
}

/* The other way round: what I write from here on comes later than this. */
static inline void pf_announce (pf_shared *number, uint64_t value) {
  (void)atomic_exchange_explicit(number, value, memory_order_acq_rel);
}

/* What I have looked at so far is older than what I observe from here on. */
static inline void pf_have_looked (void) {
  atomic_thread_fence(memory_order_acquire);
}

#endif
