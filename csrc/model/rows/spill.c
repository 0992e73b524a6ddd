/*
** spill.c - buffers in memory whose full chunks go to a temporary file.
*/

#include "model/rows/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/temporary.h"
#include "model/base/memory.h"
#include "os/os.h"

#define FIRST_CHUNK 256u
#define SMALL_CHUNK 4096u /* largest chunk of more than MANY buffers */
#define MANY        256u  /* buffers */


void pf_spill_close (pf_spill *s) {
  for (size_t i = 0; i < s->count; i++) {
    free(s->buffers[i].last);
    free(s->buffers[i].chunks);
  }
  free(s->buffers);
  if (s->has_file)
    os_close(s->fd);
  memset(s, 0, sizeof *s);
}


/* Append the chunk in memory to the file. */
static pf_status write_out (pf_spill *s, pf_spill_buffer *b, pf_error *error) {
  pf_status status = s->has_file ? PF_OK : pf_temporary_file(&s->fd, error);
  s->has_file |= status == PF_OK;
  if (status != PF_OK)
    return status;
  if (!os_write(s->fd, b->last, b->used, s->end))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "the temporary file in TMPDIR or /tmp: %s", strerror(errno));
  if (!pf_grow(&b->chunks, &b->chunk_capacity, b->nchunks + 1))
    return pf_no_memory(error);
  b->chunks[b->nchunks++] = (pf_spill_chunk){s->end, b->used};
  s->end += b->used;
  b->used = 0;
  return PF_OK;
}


pf_status pf_spill_reserve (pf_spill *s, size_t number, pf_error *error) {
  const uint32_t most = s->count > MANY ? SMALL_CHUNK : PF_SPILL_CHUNK;
  if (!pf_grow_filled(&s->buffers, &s->capacity, number + 1, 0))
    return pf_no_memory(error);
  if (s->count <= number)
    s->count = number + 1;
  pf_spill_buffer *const b = &s->buffers[number];
  if (b->capacity - b->used >= PF_SPILL_STEP)
    return PF_OK;
  if (b->capacity >= most)
    return write_out(s, b, error);
  const size_t capacity = b->capacity == 0 ? FIRST_CHUNK : 2 * b->capacity;
  return pf_grow(&b->last, &b->capacity, capacity) ? PF_OK
                                                   : pf_no_memory(error);
}


/* Read a chunk from the file. */
static pf_status fetch (pf_spill_reader *r, const pf_spill_chunk *p,
                        pf_error *error) {
  for (size_t done = 0; done < p->size;) {
    const int64_t n =
        os_read(r->spill->fd, r->bytes + done, p->size - done, p->at + done);
    if (n <= 0)
      return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                     "the temporary file cannot be read again: %s",
                     n == 0 ? "it is shorter" : strerror(errno));
    done += (size_t)n;
  }
  r->at = r->bytes;
  r->end = r->bytes + p->size;
  return PF_MORE;
}


pf_status pf_spill_next (pf_spill_reader *r, pf_error *error) {
  if (r->number >= r->spill->count)
    return PF_END;
  const pf_spill_buffer *const b = &r->spill->buffers[r->number];
  if (r->next > b->nchunks)
    return PF_END;
  const size_t number = r->next++;
  if (number < b->nchunks)
    return fetch(r, &b->chunks[number], error);
  r->at = b->last;
  r->end = b->used == 0 ? b->last : b->last + b->used;
  return b->used > 0 ? PF_MORE : PF_END;
}
