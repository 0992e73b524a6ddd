/*
** sink.h - where written bytes go: a file descriptor or memory, buffered.
** The first failure is kept: later calls answer it again and write nothing.
*/

#ifndef sink_h
#define sink_h

#include "profio.h"

struct pf_sink {
  uint8_t *buffer;
  size_t used, size;
  int fd;           /* -1: the buffer grows and keeps everything */
  bool kept;        /* it does so with a descriptor too, until it is flushed */
  uint64_t written; /* bytes given so far, the buffered ones too */
  pf_status failed; /* PF_OK until the first failure */
  int errnum;       /* errno of that failure */
  const char *role; /* of a sink beside a main one: "memo", ... */
  const char *path; /* its file, for messages; NULL: the main file or memory */
  pf_sink *side;    /* the next sink beside this one, or NULL */
  /* End the file and go on in the next one of the row; NULL: there is only this
     one. */
  pf_status (*cut)(pf_sink *sink, pf_error *error);
  /* All files are complete, and are still this writer's: NULL, or remove what
     is of no use. */
  void (*end)(pf_sink *sink);
  uint64_t before; /* bytes in the files of the row before this one */
  /* The buffer is full and more comes: empty it, or give another one of the same
     size; NULL: it is written out, or grows. */
  pf_status (*full)(pf_sink *sink);
};

/* A sink into an open file descriptor (not closed by the sink), or with
   fd -1 into memory. PF_ENOMEM when there is no room for the buffer. */
pf_status pf_sink_open (pf_sink *sink, int fd);

/* Append bytes. */
pf_status pf_sink_put (pf_sink *sink, const void *bytes, size_t size);

/* Room for some bytes in the buffer, to be filled in place, and then how many
   were. NULL: it cannot be had, for a failure or because they are too many;
   put them. */
uint8_t *pf_sink_reserve_slow (pf_sink *sink, size_t size);

static inline uint8_t *pf_sink_reserve (pf_sink *sink, size_t size) {
  if (sink->failed != PF_OK || size > sink->size - sink->used)
    return pf_sink_reserve_slow(sink, size);
  return sink->buffer + sink->used;
}

static inline void pf_sink_advance (pf_sink *sink, size_t size) {
  sink->used += size;
  sink->written += size;
}

/* Append an unsigned number of `width` bytes in the byte order asked for. */
pf_status pf_sink_uint (pf_sink *sink, unsigned width, bool big,
                        uint64_t value);

/* Say before the first byte that some will be written over: what goes into a
   pipe is then kept until it is flushed. */
void pf_sink_hold (pf_sink *sink);

/* Write over bytes that have been given: a count in a header, say. They must
   all be there; into a pipe that was not told to keep them it is PF_EIO. */
pf_status pf_sink_patch (pf_sink *sink, uint64_t at, const void *bytes,
                         size_t size);

/* The sink of a role beside a main one, a memo file's; NULL: there is none. */
pf_sink *pf_sink_side (pf_sink *sink, const char *role);

/* Append `count` bytes of value `byte`. */
pf_status pf_sink_fill (pf_sink *sink, uint8_t byte, size_t count);

/* Write out what is buffered. A failure says "write failed" and names the file
   of a sink that has a path; the caller knows the name of the main file. */
pf_status pf_sink_flush (pf_sink *sink, pf_error *error);

/* What a memory sink holds. */
pf_bytes pf_sink_bytes (const pf_sink *sink);

void pf_sink_close (pf_sink *sink);

#endif
