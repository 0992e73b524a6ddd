/*
** sink.h - buffered writing into a file descriptor or into memory. Used by the
** encoders and all that packs data into bytes. The first failure is kept in the
** sink: later calls return it again and write nothing. PF_EIO, PF_ENOMEM.
**
** Order of calls: open; put, uint, fill, reserve with advance, patch; flush;
** close.
**
** csrc/lua, spool.c and gzip.c open and close a sink; all others borrow it. A
** sink owns only its buffer; it borrows the descriptor, the role, the path and
** the side files.
*/

#ifndef sink_h
#define sink_h

#include "profio.h"

typedef struct pf_sink pf_sink;

struct pf_sink {
  uint8_t *buffer;   /* owned, unless `full` sets another one */
  size_t used, size; /* bytes */
  int fd;            /* -1: into memory, the buffer grows */
  bool is_in_place;  /* the file may have other bytes: never truncate it */
  bool kept;         /* all bytes are buffered until the flush (pf_sink_hold) */
  uint64_t written;  /* bytes put so far, with the buffered ones */
  pf_status failed;  /* PF_OK until the first failure */
  int errnum;        /* errno of that failure */
  const char *role;  /* of a side file: "memo", ... */
  const char
      *path;     /* of the file, for messages; NULL: the main file or memory */
  pf_sink *side; /* the next side file, or NULL */
  /* End the file and continue in the next of several numbered files; NULL:
     there is one file. */
  pf_status (*cut)(pf_sink *sink, pf_error *error);
  /* Called when all files are complete, while the ring is still locked: removes
     files that are not needed; or NULL. */
  void (*end)(pf_sink *sink);
  uint64_t before; /* bytes in the numbered files before this one */
  /* Called when the buffer is full and more bytes follow: empties it, or sets
     another buffer, of the same or a larger size. NULL: it is written, or
     grows. */
  pf_status (*full)(pf_sink *sink);
};

/* Open a sink into an open file descriptor (which the sink does not close), or
   with fd -1 into memory. PF_ENOMEM. */
pf_status pf_sink_open (pf_sink *sink, int fd);

/* Append bytes. */
pf_status pf_sink_put (pf_sink *sink, const void *bytes, size_t size);

/* Reserve `size` bytes of the buffer, to be written in place and then counted
   by pf_sink_advance. NULL: the sink has failed, `size` is larger than the
   buffer, or the buffer of a sink with `full` has too little space; use put. */
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

/* Append an unsigned number of `width` bytes. */
pf_status pf_sink_uint (pf_sink *sink, unsigned width, bool big,
                        uint64_t value);

/* Announce before the first byte that pf_sink_patch will be used. If written
   bytes cannot be overwritten (a pipe, a file opened for appending or not at
   its beginning), all bytes are then buffered until the flush. */
void pf_sink_hold (pf_sink *sink);

/* Overwrite `size` bytes at offset `at` that have all been put, such as a count
   in a header. PF_EIO for a pipe without pf_sink_hold, and after a flush if
   pf_sink_hold has found that written bytes cannot be overwritten. */
pf_status pf_sink_patch (pf_sink *sink, uint64_t at, const void *bytes,
                         size_t size);

/* The sink of a side file by its role; NULL: there is none. */
pf_sink *pf_sink_side (pf_sink *sink, const char *role);

/* Append `count` bytes of value `byte`. */
pf_status pf_sink_fill (pf_sink *sink, uint8_t byte, size_t count);

/* Write the buffer; a sink into memory keeps it. Returns the failure of the
   sink, if it has one. The message names the file if the sink has a path; the
   caller adds the name of the main file. */
pf_status pf_sink_flush (pf_sink *sink, pf_error *error);

/* The bytes of a sink into memory, until the next put. */
pf_bytes pf_sink_bytes (const pf_sink *sink);

void pf_sink_close (pf_sink *sink);

#endif
