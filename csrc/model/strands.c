/*
** strands.c - strands of bytes, in memory and behind that in a file.
*/

#include "model/strands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes/spool.h"
#include "model/memory.h"

#define FIRST_PIECE 256u
#define SMALL_PIECE 4096u /* where strands are many */
#define MANY        256u


static pf_status out_of_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


void pf_strands_close (pf_strands *s) {
  for (size_t i = 0; i < s->count; i++) {
    free(s->strands[i].last);
    free(s->strands[i].pieces);
  }
  free(s->strands);
  if (s->has_file)
    close(s->fd);
  memset(s, 0, sizeof *s);
}


/* {====== Writing ====== */

static bool add_piece (pf_strand *l, uint64_t at) {
  void *pieces = l->pieces;
  const bool grown = pf_array_widen(&pieces, &l->pieces_room, l->npieces + 1,
                                    sizeof *l->pieces);
  l->pieces = pieces;
  if (grown)
    l->pieces[l->npieces++] = (pf_strand_piece){at, l->used};
  return grown;
}


static pf_status write_at (const pf_strands *s, const uint8_t *bytes,
                           size_t size, pf_error *error) {
  for (size_t done = 0; done < size;) {
    const ssize_t n =
        pwrite(s->fd, bytes + done, size - done, (off_t)(s->end + done));
    if (n < 0 && errno != EINTR)
      return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                     "the temporary file in TMPDIR or /tmp: %s",
                     strerror(errno));
    done += n < 0 ? 0 : (size_t)n;
  }
  return PF_OK;
}


/* Move what a strand has in memory behind the end of the file. */
static pf_status put_away (pf_strands *s, pf_strand *l, pf_error *error) {
  pf_status status = s->has_file ? PF_OK : pf_spool_file(&s->fd, error);
  s->has_file |= status == PF_OK;
  if (status == PF_OK)
    status = write_at(s, l->last, l->used, error);
  if (status != PF_OK)
    return status;
  if (!add_piece(l, s->end))
    return out_of_memory(error);
  s->end += l->used;
  l->used = 0;
  return PF_OK;
}


static bool add_strands (pf_strands *s, size_t count) {
  void *strands = s->strands;
  const bool grown =
      pf_array_widen(&strands, &s->room, count, sizeof *s->strands);
  s->strands = strands;
  for (; grown && s->count < count; s->count++)
    memset(&s->strands[s->count], 0, sizeof *s->strands);
  return grown;
}


pf_status pf_strands_reserve (pf_strands *s, size_t number, pf_error *error) {
  const uint32_t most = s->count > MANY ? SMALL_PIECE : PF_STRAND_PIECE;
  if (number >= s->count && !add_strands(s, number + 1))
    return out_of_memory(error);
  pf_strand *const l = &s->strands[number];
  if (l->room - l->used >= PF_STRAND_ROOM)
    return PF_OK;
  if (l->room >= most)
    return put_away(s, l, error);
  const uint32_t room = l->room == 0 ? FIRST_PIECE : 2 * l->room;
  uint8_t *const last = realloc(l->last, room);
  if (last == NULL)
    return out_of_memory(error);
  l->last = last;
  l->room = room;
  return PF_OK;
}

/* }====== */


/* Fetch a piece from the file. */
static pf_status fetch (pf_strand_reader *r, const pf_strand_piece *p,
                        pf_error *error) {
  for (size_t done = 0; done < p->size;) {
    const ssize_t n = pread(r->strands->fd, r->bytes + done, p->size - done,
                            (off_t)(p->at + done));
    if (n == 0 || (n < 0 && errno != EINTR))
      return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                     "the temporary file cannot be read again: %s",
                     n == 0 ? "it is shorter" : strerror(errno));
    done += n < 0 ? 0 : (size_t)n;
  }
  r->at = r->bytes;
  r->end = r->bytes + p->size;
  return PF_MORE;
}


pf_status pf_strand_next (pf_strand_reader *r, pf_error *error) {
  if (r->number >= r->strands->count)
    return PF_END;
  const pf_strand *const l = &r->strands->strands[r->number];
  if (r->next > l->npieces)
    return PF_END;
  const size_t number = r->next++;
  if (number < l->npieces)
    return fetch(r, &l->pieces[number], error);
  r->at = l->last;
  r->end = l->used == 0 ? l->last : l->last + l->used;
  return l->used > 0 ? PF_MORE : PF_END;
}
