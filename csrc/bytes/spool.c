/*
** spool.c - pipes and gzip data, copied into memory or an unlinked temporary
** file. The buffer of the sink is the memory: when it cannot grow any more, the
** file begins.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes/sink.h"
#include "bytes/spool.h"
#include "bytes/temporary.h"
#include "os/os.h"

#define STEP         65536u /* bytes copied at once */
#define MOST_MEMORY  ((size_t)1 << 20)
#define DEFAULT_SIZE ((uint64_t)64 << 30)
#define RATIO        1000u /* largest ratio of unpacked to packed bytes */
#define RESERVE      ((uint64_t)1 << 30)  /* of free space */
#define LOOK         ((uint64_t)16 << 20) /* written between two checks of it */

/* A copy and its limits. */
typedef struct spooling {
  pf_sink sink; /* the first member, for start_file */
  uint64_t max_size;
  bool is_default;  /* max_size was not given */
  uint64_t reserve; /* bytes of the file system that must stay free */
  uint64_t next;    /* the file size at which free space is checked again */
  pf_error no_file; /* why there is no file */
} spooling;


/* Checks whether the copy may have `n` more bytes. The free space for a file is
   checked repeatedly, since other processes use it too. PF_ELIMIT. */
static pf_status allow (spooling *s, size_t n, pf_error *error) {
  const pf_sink *const sink = &s->sink;
  if (n > s->max_size - sink->written)
    return pf_fail(error, PF_ELIMIT, s->max_size,
                   s->is_default
                       ? "unpacks to more than %llu bytes: max_size = BYTES "
                         "allows more"
                       : "more than the %llu bytes that max_size allows",
                   (unsigned long long)s->max_size);
  if (sink->fd < 0 || sink->written + n < s->next)
    return PF_OK;
  const uint64_t left = os_free_space(sink->fd);
  if (left < s->reserve || left - s->reserve < sink->used + n)
    return pf_fail(
        error, PF_ELIMIT, sink->written,
        "does not fit into the temporary folder, of which %llu bytes "
        "stay free: TMPDIR names another one",
        (unsigned long long)s->reserve);
  const uint64_t step = (left - s->reserve - sink->used) / 2;
  s->next = sink->written + (step < LOOK ? step : LOOK);
  return PF_OK;
}


/* Makes space in the full buffer: it grows up to MOST_MEMORY; then it is
   written to the file, which is created if there is none yet. */
static pf_status make_space (pf_sink *sink) {
  spooling *const s = (spooling *)(void *)sink;
  uint8_t *const larger = sink->fd >= 0 || sink->size >= MOST_MEMORY
                              ? NULL
                              : realloc(sink->buffer, 2 * sink->size);
  if (larger != NULL) {
    sink->buffer = larger;
    sink->size *= 2;
    return PF_OK;
  }
  if (sink->fd < 0) {
    sink->failed = pf_temporary_file(&sink->fd, &s->no_file);
    if (sink->failed != PF_OK)
      return sink->failed;
    const uint64_t left = os_free_space(sink->fd);
    s->reserve = left / 16 < RESERVE ? left / 16 : RESERVE;
  }
  pf_error error;
  return pf_sink_flush(sink, &error);
}


static pf_status put (spooling *s, const uint8_t *bytes, size_t n,
                      pf_error *error) {
  const pf_status status = allow(s, n, error);
  if (status != PF_OK || pf_sink_put(&s->sink, bytes, n) == PF_OK)
    return status;
  if (s->no_file.status != PF_OK) {
    *error = s->no_file;
    return error->status;
  }
  return pf_sink_flush(&s->sink, error);
}


static pf_status copy_pipe (spooling *s, int from, pf_error *error) {
  uint8_t step[STEP];
  for (;;) {
    const int64_t n = os_read(from, step, sizeof step, OS_HERE);
    if (n == 0)
      return PF_OK;
    if (n < 0)
      return pf_fail(error, PF_EIO, s->sink.written, "read failed: %s",
                     strerror(errno));
    const pf_status status = put(s, step, (size_t)n, error);
    if (status != PF_OK)
      return status;
  }
}


/* The state of decompression. */
typedef struct unpacking {
  z_stream stream;
  pf_bytes packed;
  size_t fed; /* bytes of `packed` given to the stream so far */
} unpacking;


static void feed (unpacking *u) {
  if (u->stream.avail_in > 0 || u->fed == u->packed.size)
    return;
  const size_t left = u->packed.size - u->fed;
  const size_t n = left < (1u << 30) ? left : 1u << 30;
  u->stream.next_in = (z_const Bytef *)(uintptr_t)(u->packed.at + u->fed);
  u->stream.avail_in = (uInt)n;
  u->fed += n;
}


/* The failure for a result of inflate. */
static pf_status damage (const unpacking *u, int answer, pf_error *error) {
  const uint64_t offset = u->fed - u->stream.avail_in;
  if (answer == Z_MEM_ERROR)
    return pf_no_memory(error);
  if (answer == Z_BUF_ERROR)
    return pf_fail(error, PF_ETRUNCATED, offset, "gzip data ends early");
  return pf_fail(error, PF_EFORMAT, offset, "gzip data is damaged: %s",
                 u->stream.msg == NULL ? "unknown reason" : u->stream.msg);
}


/* Ends the unpacking after the last member. Zeros may follow it, as for
   gzip(1); other bytes are damage, such as a member whose first byte is
   wrong. */
static pf_status end_members (const unpacking *u, pf_error *error) {
  const size_t end = u->fed - u->stream.avail_in;
  for (size_t i = end; i < u->packed.size; i++)
    if (u->packed.at[i] != 0)
      return pf_fail(error, PF_EFORMAT, i,
                     "gzip data is damaged: bytes of no member follow");
  return PF_OK;
}


static pf_status unpack_all (spooling *s, unpacking *u, pf_error *error) {
  uint8_t step[STEP];
  for (;;) {
    feed(u);
    u->stream.next_out = step;
    u->stream.avail_out = STEP;
    const int answer = inflate(&u->stream, Z_NO_FLUSH);
    const pf_status status = put(s, step, STEP - u->stream.avail_out, error);
    if (status != PF_OK)
      return status;
    if (answer != Z_OK && answer != Z_STREAM_END)
      return damage(u, answer, error);
    if (answer != Z_STREAM_END)
      continue;
    feed(u); /* another gzip member may follow */
    if (u->stream.avail_in == 0 || u->stream.next_in[0] != 0x1f)
      return end_members(u, error);
    if (inflateReset(&u->stream) != Z_OK)
      return damage(u, Z_STREAM_ERROR, error);
  }
}


static pf_status begin (spooling *s, uint64_t max_size, uint64_t fallback,
                        pf_error *error) {
  s->is_default = max_size == PF_DEFAULT_MAX_SIZE;
  s->max_size = s->is_default ? fallback : max_size;
  s->next = 0;
  s->no_file.status = PF_OK;
  if (pf_sink_open(&s->sink, -1) != PF_OK)
    return pf_no_memory(error);
  s->sink.full = make_space;
  return PF_OK;
}


/* Gives the copy to the caller. After a failure it is freed, unless it has some
   bytes of damaged or truncated data. */
static pf_status finish (spooling *s, pf_status status, pf_spooled *to,
                         pf_error *error) {
  pf_error unwritten;
  pf_sink *const sink = &s->sink;
  *to = (pf_spooled){-1, NULL, sink->written};
  if (status == PF_OK)
    status = pf_sink_flush(sink, error);
  else if ((status != PF_ETRUNCATED && status != PF_EFORMAT) ||
           sink->written == 0 || pf_sink_flush(sink, &unwritten) != PF_OK)
    sink->failed = PF_EIO;
  if (sink->failed == PF_OK && sink->fd < 0) {
    to->memory = realloc(sink->buffer, sink->used + 1);
    if (to->memory == NULL)
      to->memory = sink->buffer;
    sink->buffer = NULL;
  }
  else if (sink->failed == PF_OK) {
    to->fd = sink->fd;
  }
  else if (sink->fd >= 0) {
    os_close(sink->fd);
  }
  pf_sink_close(sink);
  return status;
}


pf_status pf_spool_pipe (int from, uint64_t max_size, pf_spooled *to,
                         pf_error *error) {
  spooling s;
  pf_status status = begin(&s, max_size, UINT64_MAX, error);
  if (status == PF_OK)
    status = copy_pipe(&s, from, error);
  return finish(&s, status, to, error);
}


pf_status pf_spool_gzip (pf_bytes packed, uint64_t max_size, pf_spooled *to,
                         pf_error *error) {
  spooling s;
  unpacking u;
  const bool is_large = packed.size > DEFAULT_SIZE / RATIO;
  pf_status status =
      begin(&s, max_size, is_large ? packed.size * RATIO : DEFAULT_SIZE, error);
  memset(&u, 0, sizeof u);
  u.packed = packed;
  if (status == PF_OK && inflateInit2(&u.stream, 15 + 16) != Z_OK)
    status = pf_no_memory(error);
  if (status == PF_OK)
    status = unpack_all(&s, &u, error);
  inflateEnd(&u.stream);
  return finish(&s, status, to, error);
}
