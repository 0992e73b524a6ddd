/*
** spool.c - pipes and gzip data, copied into an unlinked temporary file.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

#include "bytes/sink.h"
#include "bytes/spool.h"

#define STEP         65536u
#define DEFAULT_SIZE ((uint64_t)64 << 30)
#define RATIO        1000u /* maximum ratio of decompressed to compressed bytes */
#define RESERVE      ((uint64_t)1 << 30) /* of free space */
#define LOOK         ((uint64_t)16 << 20)

/* The limits of a spool file. */
typedef struct allowance {
  uint64_t max_size;
  bool is_default;  /* max_size was not given */
  uint64_t reserve; /* bytes of the file system that must stay free */
  uint64_t next;    /* the file size at which free space is checked again */
} allowance;


/* Returns the free bytes of the file system; UINT64_MAX: not known. */
static uint64_t free_space (int fd) {
  struct statvfs found;
  return fstatvfs(fd, &found) == 0 && found.f_frsize > 0
             ? (uint64_t)found.f_bavail * found.f_frsize
             : UINT64_MAX;
}


static allowance allowance_of (uint64_t max_size, uint64_t fallback, int fd) {
  const uint64_t left = free_space(fd);
  return (allowance){.max_size =
                         max_size == PF_DEFAULT_MAX_SIZE ? fallback : max_size,
                     .is_default = max_size == PF_DEFAULT_MAX_SIZE,
                     .reserve = left / 16 < RESERVE ? left / 16 : RESERVE};
}


static pf_status too_large (const allowance *a, pf_error *error) {
  return pf_fail(error, PF_ELIMIT, a->max_size,
                 a->is_default
                     ? "unpacks to more than %llu bytes: max_size = BYTES "
                       "allows more"
                     : "more than the %llu bytes that max_size allows",
                 (unsigned long long)a->max_size);
}


/* Checks whether `n` more bytes may be written. Free space is checked
   repeatedly, since other processes use it too. PF_ELIMIT. */
static pf_status allow (allowance *a, const pf_sink *sink, size_t n,
                        pf_error *error) {
  if (n > a->max_size - sink->written)
    return too_large(a, error);
  if (sink->written + n < a->next)
    return PF_OK;
  const uint64_t left = free_space(sink->fd);
  if (left < a->reserve || left - a->reserve < sink->used + n)
    return pf_fail(
        error, PF_ELIMIT, sink->written,
        "does not fit into the temporary folder, of which %llu bytes "
        "stay free: TMPDIR names another one",
        (unsigned long long)a->reserve);
  const uint64_t step = (left - a->reserve - sink->used) / 2;
  a->next = sink->written + (step < LOOK ? step : LOOK);
  return PF_OK;
}


static pf_status out_of_memory (pf_error *error) {
  return pf_no_memory(error);
}


pf_status pf_spool_file (int *fd, pf_error *error) {
  const char *directory = getenv("TMPDIR");
  if (directory == NULL || directory[0] == '\0')
    directory = "/tmp";
  static const char tail[] = "/profio-XXXXXX";
  const size_t size = strlen(directory) + sizeof tail;
  char *const path = malloc(size);
  if (path == NULL)
    return out_of_memory(error);
  snprintf(path, size, "%s%s", directory, tail);
  *fd = mkstemp(path);
  const int errnum = errno;
  if (*fd >= 0)
    unlink(path);
  free(path);
  if (*fd < 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "no temporary file in TMPDIR or /tmp: %s", strerror(errnum));
  return PF_OK;
}


/* Copies all input to the sink, which the caller opens and closes. */
static pf_status copy_all (int from, allowance *allowed, pf_sink *sink,
                           pf_error *error) {
  uint8_t step[STEP];
  for (;;) {
    const ssize_t n = read(from, step, sizeof step);
    if (n == 0)
      return pf_sink_flush(sink, error);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return pf_fail(error, PF_EIO, sink->written, "read failed: %s",
                     strerror(errno));
    const pf_status status = allow(allowed, sink, (size_t)n, error);
    if (status != PF_OK)
      return status;
    if (pf_sink_put(sink, step, (size_t)n) != PF_OK)
      return pf_sink_flush(sink, error);
  }
}


/* The state of decompression. */
typedef struct unpacking {
  z_stream stream;
  pf_bytes packed;
  size_t fed; /* bytes of `packed` given to the stream so far */
  uint64_t max_size;
  allowance allowed;
  pf_sink *sink;
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


/* Whether another gzip member follows the one that has ended. */
static bool next_member (unpacking *u) {
  feed(u);
  return u->stream.avail_in > 0 && u->stream.next_in[0] == 0x1f &&
         inflateReset(&u->stream) == Z_OK;
}


static pf_status unpack_all (unpacking *u, pf_error *error) {
  uint8_t step[STEP];
  for (;;) {
    feed(u);
    u->stream.next_out = step;
    u->stream.avail_out = STEP;
    const int answer = inflate(&u->stream, Z_NO_FLUSH);
    const size_t n = STEP - u->stream.avail_out;
    const pf_status status = allow(&u->allowed, u->sink, n, error);
    if (status != PF_OK)
      return status;
    if (pf_sink_put(u->sink, step, n) != PF_OK)
      return pf_sink_flush(u->sink, error);
    if (answer != Z_OK && answer != Z_STREAM_END) {
      /* The failure for a result of inflate. */
      const uint64_t offset = u->fed - u->stream.avail_in;
      if (answer == Z_MEM_ERROR)
        return out_of_memory(error);
      if (answer == Z_BUF_ERROR)
        return pf_fail(error, PF_ETRUNCATED, offset, "gzip data ends early");
      return pf_fail(error, PF_EFORMAT, offset, "gzip data is damaged: %s",
                     u->stream.msg == NULL ? "unknown reason" : u->stream.msg);
    }
    if (answer == Z_STREAM_END && !next_member(u))
      return pf_sink_flush(u->sink, error);
  }
}


/* Returns whether the output before a failure can be kept: the input is damaged
   or truncated, and there is some output. */
static bool is_part (pf_status status, pf_sink *sink) {
  pf_error error;
  return (status == PF_ETRUNCATED || status == PF_EFORMAT) &&
         sink->written > 0 && pf_sink_flush(sink, &error) == PF_OK;
}


/* Creates the spool file and fills it. On failure the file is closed, unless a
   part of it can be kept. */
static pf_status spool (pf_status (*fill)(void *context, pf_sink *sink,
                                          pf_error *error),
                        void *context, int *to, pf_error *error) {
  pf_sink sink;
  pf_status status = pf_spool_file(to, error);
  if (status != PF_OK)
    return status;
  status = pf_sink_open(&sink, *to) == PF_OK ? fill(context, &sink, error)
                                             : out_of_memory(error);
  if (status != PF_OK && !is_part(status, &sink)) {
    close(*to);
    *to = -1;
  }
  pf_sink_close(&sink);
  return status;
}


typedef struct piping {
  int from;
  uint64_t max_size;
} piping;


static pf_status fill_from_pipe (void *context, pf_sink *sink,
                                 pf_error *error) {
  const piping *const p = context;
  allowance allowed = allowance_of(p->max_size, UINT64_MAX, sink->fd);
  return copy_all(p->from, &allowed, sink, error);
}


static pf_status fill_from_gzip (void *context, pf_sink *sink,
                                 pf_error *error) {
  unpacking *const u = context;
  u->sink = sink;
  u->allowed = allowance_of(u->max_size,
                            (u->packed.size > DEFAULT_SIZE / RATIO
                                 ? u->packed.size * RATIO
                                 : DEFAULT_SIZE),
                            sink->fd);
  if (inflateInit2(&u->stream, 15 + 16) != Z_OK)
    return out_of_memory(error);
  const pf_status status = unpack_all(u, error);
  inflateEnd(&u->stream);
  return status;
}


pf_status pf_spool_pipe (int from, uint64_t max_size, int *to,
                         pf_error *error) {
  piping p = {from, max_size};
  return spool(fill_from_pipe, &p, to, error);
}


pf_status pf_spool_gzip (pf_bytes packed, uint64_t max_size, int *to,
                         pf_error *error) {
  unpacking u;
  memset(&u, 0, sizeof u);
  u.packed = packed;
  u.max_size = max_size;
  return spool(fill_from_gzip, &u, to, error);
}
