/*
** gzip.c - deflate by blocks, in two threads; fast rather than small, as the
** writers of profiles do it.
**
** A block is deflated by itself, with the bytes before it as its dictionary,
** and ends at a whole byte: so the blocks behind one another are one stream.
**
**   OFFSET SIZE FIELD       of a gzip member
**   0      2    1f 8b
**   2      1    8: deflate
**   3      5    no flags, no time
**   8      1    4: packed for speed
**   9      1    3: Unix
**   10     n    the stream
**   10+n   4    CRC-32 of the bytes, little-endian
**   14+n   4    how many they are, modulo 2^32
*/

#include "model/gzip.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes/cursor.h"
#include "model/parallel.h"

#define BLOCK  ((size_t)1 << 20)
#define WINDOW ((size_t)1 << 15) /* how far deflate looks back */

/* A block and what it has become. */
typedef struct block {
  uint8_t *packed; /* NULL: memory was short */
  size_t size;
  uLong crc;
} block;

typedef struct packing {
  pf_bytes bytes;
  block *blocks;
  size_t count;
  atomic_size_t next; /* the first block that nobody has taken */
} packing;


/* {====== A block ====== */

static pf_bytes bytes_of (const packing *p, size_t number) {
  const size_t from = number * BLOCK, left = p->bytes.size - from;
  return (pf_bytes){p->bytes.at + from, left < BLOCK ? left : BLOCK};
}


/* zlib's pointers are not to const bytes; it writes nothing there. */
static Bytef *unconst (const uint8_t *at) {
  return (Bytef *)(uintptr_t)at;
}


static bool look_back (const packing *p, z_stream *z, size_t number) {
  return number == 0 ||
         deflateSetDictionary(z, p->bytes.at + number * BLOCK - WINDOW,
                              (uInt)WINDOW) == Z_OK;
}


static void deflate_block (const packing *p, z_stream *z, size_t number) {
  block *const b = &p->blocks[number];
  const pf_bytes bytes = bytes_of(p, number);
  const size_t room = deflateBound(z, bytes.size) + 16; /* and the flush */
  uint8_t *const packed = malloc(room);
  if (packed == NULL || !look_back(p, z, number)) {
    free(packed);
    return;
  }
  z->next_in = unconst(bytes.at);
  z->avail_in = (uInt)bytes.size;
  z->next_out = packed;
  z->avail_out = (uInt)room;
  (void)deflate(z, number + 1 == p->count ? Z_FINISH : Z_SYNC_FLUSH);
  b->size = room - z->avail_out;
  b->crc = crc32(0, bytes.at, (uInt)bytes.size);
  b->packed = realloc(packed, b->size);
  if (b->packed == NULL) /* it would not even become smaller */
    b->packed = packed;
  (void)deflateReset(z); /* fails for a stream that is none */
}


/* Deflate blocks until all are taken. */
static void deflate_some (void *context) {
  packing *const p = context;
  z_stream z;
  memset(&z, 0, sizeof z);
  if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return;
  for (;;) {
    const size_t number = atomic_fetch_add(&p->next, 1);
    if (number >= p->count)
      break;
    deflate_block(p, &z, number);
  }
  deflateEnd(&z);
}

/* }====== */


/* {====== The member ====== */

static bool is_whole (const packing *p) {
  for (size_t i = 0; i < p->count; i++)
    if (p->blocks[i].packed == NULL)
      return false;
  return true;
}


/* The sink keeps its first failure. */
static void put_member (const packing *p, pf_sink *sink) {
  static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};
  uLong crc = crc32(0, NULL, 0);
  (void)pf_sink_put(sink, head, sizeof head);
  for (size_t i = 0; i < p->count; i++) {
    const block *const b = &p->blocks[i];
    (void)pf_sink_put(sink, b->packed, b->size);
    crc = crc32_combine(crc, b->crc, (z_off_t)bytes_of(p, i).size);
  }
  (void)pf_sink_uint(sink, 4, false, crc);
  (void)pf_sink_uint(sink, 4, false, p->bytes.size & UINT32_MAX);
}


pf_status pf_put_gzip (pf_sink *sink, pf_bytes bytes, pf_error *error) {
  packing p = {.bytes = bytes, .count = 1};
  if (bytes.size > BLOCK)
    p.count = (bytes.size - 1) / BLOCK + 1;
  p.blocks = calloc(p.count, sizeof *p.blocks);
  pf_status status = PF_ENOMEM;
  if (p.blocks != NULL) {
    if (p.count == 1)
      deflate_some(&p);
    else
      pf_both(deflate_some, &p, deflate_some, &p);
    if (is_whole(&p)) {
      put_member(&p, sink);
      status = sink->failed;
    }
    for (size_t i = 0; i < p.count; i++)
      free(p.blocks[i].packed);
  }
  free(p.blocks);
  return status == PF_OK ? PF_OK
                         : pf_fail(error, status, PF_NO_OFFSET,
                                   status == PF_ENOMEM ? "out of memory"
                                                       : "cannot be packed");
}

/* }====== */
