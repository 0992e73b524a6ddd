/*
** gzip.c - compression by blocks in two threads, at the highest speed of
** deflate.
**
** Each block is compressed on its own, with the 32 KiB before it as dictionary,
** and ends at a whole byte, so that the concatenated blocks are one deflate
** stream (the method of pigz). Full blocks wait for the second thread; if more
** than MOST_WAITING wait, the writer compresses blocks too.
**
**   OFFSET SIZE FIELD       of a gzip member (RFC 1952)
**   0      2    1f 8b
**   2      1    8: deflate
**   3      5    no flags, no time
**   8      1    4: compressed for speed
**   9      1    3: Unix
**   10     n    the stream
**   10+n   4    CRC-32 of the bytes, little-endian
**   14+n   4    number of bytes, modulo 2^32
*/

#include "model/base/gzip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/base/memory.h"
#include "model/system/parallel.h"
#include "os/os.h"

#define BLOCK        ((size_t)1 << 20)
#define WINDOW       ((size_t)1 << 15) /* history of deflate */
#define MOST_WAITING 4 /* blocks; if more wait, the writer helps */

/* A block and its compressed form. */
typedef struct block {
  uint8_t *bytes; /* WINDOW bytes of history, then its own; or NULL */
  size_t size;
  uint8_t *packed; /* NULL: not yet, or out of memory */
  size_t packed_size;
  uLong crc;
} block;

struct pf_gzip {
  pf_sink sink; /* its buffer is that of `filling` */
  block filling;
  bool has_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  /* Under the lock: */
  block *blocks; /* the full ones */
  size_t count, capacity;
  size_t next; /* the first block that no thread has taken */
  bool ended;  /* no more blocks will come */
};


static bool open_stream (z_stream *z) {
  memset(z, 0, sizeof *z);
  return deflateInit2(z, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8,
                      Z_DEFAULT_STRATEGY) == Z_OK;
}


/* Compresses a block; b->packed stays NULL when out of memory. */
static void deflate_block (z_stream *z, block *b, bool is_first, bool is_last) {
  const size_t capacity =
      deflateBound(z, (uLong)b->size) + 16; /* and the flush marker */
  uint8_t *const packed = malloc(capacity);
  if (packed == NULL)
    return;
  if (!is_first)
    (void)deflateSetDictionary(z, b->bytes, (uInt)WINDOW);
  z->next_in = b->bytes + WINDOW;
  z->avail_in = (uInt)b->size;
  z->next_out = packed;
  z->avail_out = (uInt)capacity;
  (void)deflate(z, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  b->packed_size = capacity - z->avail_out;
  b->crc = crc32(0, b->bytes + WINDOW, (uInt)b->size);
  uint8_t *const shrunk = realloc(packed, b->packed_size);
  b->packed = packed; /* as large as before, if that failed */
  if (shrunk != NULL)
    b->packed = shrunk;
  (void)deflateReset(z); /* fails only for an invalid stream */
}


/* Compresses the next waiting block. The caller has the lock, which is released
   during the compression. */
static void take_block (pf_gzip *g, z_stream *z) {
  const size_t number = g->next++;
  block b = g->blocks[number];
  pthread_mutex_unlock(&g->lock);
  deflate_block(z, &b, number == 0, false);
  free(b.bytes);
  b.bytes = NULL;
  pthread_mutex_lock(&g->lock);
  g->blocks[number] = b;
}


/* The second thread: compresses waiting blocks until the end is announced. */
static void *take_all (void *argument) {
  pf_gzip *const g = argument;
  z_stream z;
  if (!open_stream(&z))
    return NULL;
  pthread_mutex_lock(&g->lock);
  for (;;) {
    while (g->next == g->count && !g->ended)
      pthread_cond_wait(&g->changed, &g->lock);
    if (g->next == g->count)
      break;
    take_block(g, &z);
  }
  pthread_mutex_unlock(&g->lock);
  deflateEnd(&z);
  return NULL;
}


/* Compresses blocks in the caller until at most `most` blocks wait. */
static void help (pf_gzip *g, size_t most) {
  z_stream z;
  pthread_mutex_lock(&g->lock);
  if (g->count - g->next > most && open_stream(&z)) {
    while (g->count - g->next > most)
      take_block(g, &z);
    deflateEnd(&z);
  }
  pthread_mutex_unlock(&g->lock);
}


static bool open_block (pf_gzip *g) {
  g->filling = (block){.bytes = malloc(WINDOW + BLOCK)};
  g->sink.buffer = g->filling.bytes == NULL ? NULL : g->filling.bytes + WINDOW;
  g->sink.used = 0;
  return g->filling.bytes != NULL;
}


/* Callback of the sink: the block is full, and more bytes follow. */
static pf_status next_block (pf_sink *sink) {
  pf_gzip *const g = (pf_gzip *)(void *)sink;
  block full = g->filling;
  full.size = sink->used;
  if (!g->has_thread)
    g->has_thread = os_thread_start(&g->thread, take_all, g);
  if (!open_block(g)) {
    g->filling = full;
    return sink->failed = PF_ENOMEM;
  }
  memcpy(g->filling.bytes, full.bytes + full.size, WINDOW);
  pthread_mutex_lock(&g->lock);
  const bool ok = pf_grow(&g->blocks, &g->capacity, g->count + 1);
  if (ok)
    g->blocks[g->count++] = full;
  pthread_cond_signal(&g->changed);
  pthread_mutex_unlock(&g->lock);
  if (!ok) {
    free(full.bytes);
    return sink->failed = PF_ENOMEM;
  }
  help(g, MOST_WAITING);
  return PF_OK;
}


pf_gzip *pf_gzip_open (void) {
  pf_gzip *const g = calloc(1, sizeof *g);
  if (g == NULL)
    return NULL;
  g->sink = (pf_sink){.size = BLOCK, .fd = -1, .full = next_block};
  if (!open_block(g)) {
    free(g);
    return NULL;
  }
  (void)pthread_mutex_init(&g->lock, NULL);
  (void)pthread_cond_init(&g->changed, NULL);
  return g;
}


pf_sink *pf_gzip_sink (pf_gzip *g) {
  return &g->sink;
}


/* Stops the second thread after its last block. */
static void send_home (pf_gzip *g) {
  if (!g->has_thread)
    return;
  pthread_mutex_lock(&g->lock);
  g->ended = true;
  pthread_cond_signal(&g->changed);
  pthread_mutex_unlock(&g->lock);
  pthread_join(g->thread, NULL);
  g->has_thread = false;
}


pf_status pf_gzip_finish (pf_gzip *g, pf_sink *to, pf_error *error) {
  pf_status status = g->sink.failed;
  if (status == PF_OK) {
    /* Compress the last block, and then help the second thread with those that
       wait. */
    z_stream z;
    g->filling.size = g->sink.used;
    if (open_stream(&z)) {
      deflate_block(&z, &g->filling, g->count == 0, true);
      deflateEnd(&z);
    }
    help(g, 0);
    send_home(g);
    status = g->filling.packed == NULL ? PF_ENOMEM : PF_OK;
    for (size_t i = 0; i < g->count; i++)
      if (g->blocks[i].packed == NULL)
        status = PF_ENOMEM;
  }
  if (status != PF_OK) /* a sink into memory has no other failure */
    return pf_no_memory(error);
  static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};
  uLong crc = crc32(0, NULL, 0);
  (void)pf_sink_put(to, head, sizeof head);
  for (size_t i = 0; i <= g->count; i++) {
    const block *const b = i < g->count ? &g->blocks[i] : &g->filling;
    (void)pf_sink_put(to, b->packed, b->packed_size);
    crc = crc32_combine(crc, b->crc, (z_off_t)b->size);
  }
  (void)pf_sink_uint(to, 4, false, crc);
  (void)pf_sink_uint(to, 4, false, g->sink.written & UINT32_MAX);
  return pf_sink_flush(to, error); /* the sink keeps its first failure */
}


static void free_block (block *b) {
  free(b->bytes);
  free(b->packed);
}


void pf_gzip_close (pf_gzip *g) {
  if (g == NULL)
    return;
  send_home(g);
  for (size_t i = 0; i < g->count; i++)
    free_block(&g->blocks[i]);
  free_block(&g->filling);
  free(g->blocks);
  pthread_mutex_destroy(&g->lock);
  pthread_cond_destroy(&g->changed);
  free(g);
}
