/*
** sink.c - buffered writing into a descriptor or into memory.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "bytes/sink.h"
#include "os/os.h"

#define BUFFER_SIZE 65536u


pf_status pf_sink_open (pf_sink *sink, int fd) {
  *sink =
      (pf_sink){.buffer = malloc(BUFFER_SIZE), .size = BUFFER_SIZE, .fd = fd};
  if (sink->buffer == NULL)
    sink->failed = PF_ENOMEM;
  return sink->failed;
}


static pf_status write_out (pf_sink *sink, const uint8_t *at, size_t size,
                            uint64_t offset) {
  if (os_write(sink->fd, at, size, offset))
    return PF_OK;
  sink->errnum = errno;
  return sink->failed = PF_EIO;
}


static pf_status empty_buffer (pf_sink *sink) {
  const size_t used = sink->used;
  sink->used = 0;
  return write_out(sink, sink->buffer, used, OS_HERE);
}


/* Make space in the buffer: grow it so that `size` more bytes fit, or write it;
   then `size` may still be larger than the buffer. */
static pf_status make_space (pf_sink *sink, size_t size) {
  if (sink->fd >= 0 && !sink->kept)
    return empty_buffer(sink);
  size_t wanted = sink->size;
  while (wanted - sink->used < size)
    if (wanted > SIZE_MAX / 2)
      return sink->failed = PF_ENOMEM;
    else
      wanted *= 2;
  uint8_t *const buffer = realloc(sink->buffer, wanted);
  if (buffer == NULL)
    return sink->failed = PF_ENOMEM;
  sink->buffer = buffer;
  sink->size = wanted;
  return PF_OK;
}


uint8_t *pf_sink_reserve_slow (pf_sink *sink, size_t size) {
  if (sink->failed != PF_OK || sink->full != NULL ||
      make_space(sink, size) != PF_OK || size > sink->size - sink->used)
    return NULL;
  return sink->buffer + sink->used;
}


/* Put more bytes than there is space for into a sink with `full`. */
static pf_status put_by_buffers (pf_sink *sink, const uint8_t *bytes,
                                 size_t size) {
  while (size > 0) {
    const size_t left = sink->size - sink->used;
    const size_t n = size < left ? size : left;
    memcpy(sink->buffer + sink->used, bytes, n);
    sink->used += n;
    sink->written += n;
    bytes += n;
    size -= n;
    if (size > 0 && sink->full(sink) != PF_OK)
      return sink->failed;
  }
  return PF_OK;
}


pf_status pf_sink_put (pf_sink *sink, const void *bytes, size_t size) {
  if (sink->failed != PF_OK)
    return sink->failed;
  if (size == 0)
    return PF_OK;
  if (size > sink->size - sink->used && sink->full != NULL)
    return put_by_buffers(sink, bytes, size);
  if (size > sink->size - sink->used && make_space(sink, size) != PF_OK)
    return sink->failed;
  sink->written += size;
  if (size > sink->size) /* only with a descriptor: too large to buffer */
    return write_out(sink, bytes, size, OS_HERE);
  memcpy(sink->buffer + sink->used, bytes, size);
  sink->used += size;
  return PF_OK;
}


pf_status pf_sink_uint (pf_sink *sink, unsigned width, bool big,
                        uint64_t value) {
  uint8_t bytes[8];
  pf_save(bytes, width, big, value);
  return pf_sink_put(sink, bytes, width);
}


void pf_sink_hold (pf_sink *sink) {
  sink->kept = sink->fd >= 0 && !os_can_overwrite(sink->fd);
}


pf_status pf_sink_patch (pf_sink *sink, uint64_t at, const void *bytes,
                         size_t size) {
  if (sink->failed != PF_OK || size == 0)
    return sink->failed;
  const uint64_t buffered = sink->written - sink->used;
  if (at < buffered && sink->kept) { /* written bytes cannot be overwritten */
    sink->errnum = ESPIPE;
    return sink->failed = PF_EIO;
  }
  if (at < buffered && at + size > buffered && empty_buffer(sink) != PF_OK)
    return sink->failed;
  if (at < sink->written - sink->used)
    return write_out(sink, bytes, size, at);
  memcpy(sink->buffer + (at - buffered), bytes, size);
  return PF_OK;
}


pf_sink *pf_sink_side (pf_sink *sink, const char *role) {
  pf_sink *side = sink->side;
  while (side != NULL && strcmp(side->role, role) != 0)
    side = side->side;
  return side;
}


pf_status pf_sink_fill (pf_sink *sink, uint8_t byte, size_t count) {
  uint8_t some[256];
  memset(some, byte, sizeof some);
  for (; count > 0 && sink->failed == PF_OK;) {
    const size_t n = count < sizeof some ? count : sizeof some;
    (void)pf_sink_put(sink, some, n); /* a failure stays in sink->failed */
    count -= n;
  }
  return sink->failed;
}


pf_status pf_sink_flush (pf_sink *sink, pf_error *error) {
  if (sink->failed == PF_OK && sink->fd >= 0)
    (void)empty_buffer(sink);
  if (sink->failed == PF_ENOMEM)
    return pf_no_memory(error);
  if (sink->failed != PF_OK)
    return pf_fail(error, sink->failed, PF_NO_OFFSET,
                   "%.120s%swrite failed: %s",
                   sink->path == NULL ? "" : sink->path,
                   sink->path == NULL ? "" : ": ", strerror(sink->errnum));
  return PF_OK;
}


pf_bytes pf_sink_bytes (const pf_sink *sink) {
  return (pf_bytes){sink->buffer, sink->used};
}


void pf_sink_close (pf_sink *sink) {
  free(sink->buffer);
  sink->buffer = NULL;
}
