/*
** pack.c - deflate in pieces, so that nothing is held twice; fast rather than
** small, as the writers of profiles do it.
*/

#include <string.h>
#include <zlib.h>

#include "bytes/pack.h"

#define PIECE      ((size_t)1 << 16)
#define GZIP_FRAME 16 /* added to the window bits: a gzip header and trailer */


static pf_status fail (pf_error *error, pf_status status) {
  return pf_fail(error, status, PF_NO_OFFSET,
                 status == PF_ENOMEM ? "out of memory" : "cannot be packed");
}


/* Feed one piece; `last` ends the member. */
static pf_status put_piece (z_stream *z, pf_sink *sink, bool last,
                            pf_error *error) {
  uint8_t out[4096];
  int answer;
  do {
    z->next_out = out;
    z->avail_out = sizeof out;
    answer = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
    if (answer == Z_STREAM_ERROR)
      return fail(error, PF_EIO);
    const pf_status status = pf_sink_put(sink, out, sizeof out - z->avail_out);
    if (status != PF_OK)
      return fail(error, status);
  } while (z->avail_out == 0 || (last && answer != Z_STREAM_END));
  return PF_OK;
}


pf_status pf_put_gzip (pf_sink *sink, pf_bytes bytes, pf_error *error) {
  z_stream z;
  memset(&z, 0, sizeof z);
  if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_FRAME, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(error, PF_ENOMEM);
  pf_status status = PF_OK;
  size_t at = 0;
  do {
    const size_t left = bytes.size - at;
    const size_t size = left < PIECE ? left : PIECE;
    uint8_t piece[PIECE]; /* zlib's pointer is not to const bytes */
    memcpy(piece, bytes.at + at, size);
    z.next_in = piece;
    z.avail_in = (unsigned)size;
    at += size;
    status = put_piece(&z, sink, at == bytes.size, error);
  } while (status == PF_OK && at < bytes.size);
  deflateEnd(&z);
  return status;
}
