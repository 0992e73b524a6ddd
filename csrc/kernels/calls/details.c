/*
** details.c - kept details in slots that are used again; long parameters give
** their memory back.
*/

#include "kernels/calls/details.h"

#include <stdlib.h>
#include <string.h>

#include "model/batch.h"

#define KEPT_ROOM 256 /* bytes that a free slot keeps for the next one */

typedef struct slot {
  pf_detail detail;
  uint8_t *bytes;
  size_t room;
  uint32_t next; /* of a free slot: the next free one, or 0 */
} slot;

struct pf_details {
  slot *slots; /* by number - 1 */
  uint32_t count, room;
  uint32_t free; /* the first free slot, by its number; 0: none */
  const pf_column *lines, *params;
};


pf_details *pf_details_new (void) {
  return calloc(1, sizeof(pf_details));
}


void pf_details_free (pf_details *d) {
  if (d == NULL)
    return;
  for (uint32_t i = 0; i < d->count; i++)
    free(d->slots[i].bytes);
  free(d->slots);
  free(d);
}


void pf_details_read (pf_details *d, const pf_column *lines,
                      const pf_column *params) {
  d->lines = lines;
  d->params = params;
}


/* The number of a slot that is free; 0 when out of memory. */
static uint32_t free_slot (pf_details *d) {
  if (d->free != 0)
    return d->free;
  if (d->count == d->room) {
    if (d->room > UINT32_MAX / 4)
      return 0;
    const uint32_t room = d->room * 2 + 64;
    slot *const slots = realloc(d->slots, room * sizeof *slots);
    if (slots == NULL)
      return 0;
    d->slots = slots;
    d->room = room;
  }
  d->slots[d->count] = (slot){.next = 0};
  return d->free = ++d->count;
}


static bool copy_params (slot *s, pf_bytes params) {
  if (params.size > s->room) {
    uint8_t *const bytes = realloc(s->bytes, params.size);
    if (bytes == NULL)
      return false;
    s->bytes = bytes;
    s->room = params.size;
  }
  if (params.size > 0)
    memcpy(s->bytes, params.at, params.size);
  s->detail.params = (pf_bytes){s->bytes, params.size};
  return true;
}


uint32_t pf_details_keep (pf_details *d, size_t row) {
  const uint32_t number = free_slot(d);
  if (number == 0)
    return 0;
  slot *const s = &d->slots[number - 1];
  pf_detail *const detail = &s->detail;
  *detail = (pf_detail){.has_line = false};
  detail->has_line = d->lines != NULL && !pf_is_missing(d->lines, row);
  detail->has_params = d->params != NULL && !pf_is_missing(d->params, row);
  if (detail->has_line)
    detail->line = d->lines->ints[row];
  if (detail->has_params && !copy_params(s, d->params->bytes[row]))
    return 0;
  d->free = s->next;
  return number;
}


pf_detail pf_details_at (const pf_details *d, uint32_t number) {
  static const pf_detail none = {.has_line = false};
  return number == 0 ? none : d->slots[number - 1].detail;
}


void pf_details_drop (pf_details *d, uint32_t number) {
  if (number == 0)
    return;
  slot *const s = &d->slots[number - 1];
  if (s->room > KEPT_ROOM) {
    free(s->bytes);
    s->bytes = NULL;
    s->room = 0;
  }
  s->next = d->free;
  d->free = number;
}
