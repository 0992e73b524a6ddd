/*
** details.c - stores details in slots that are reused; slots with long
** parameters free their memory.
*/

#include "kernels/calls/state_machine.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/rows/batch.h"

#define RETAINED_BYTES 256 /* bytes that a free slot retains for its next use */

typedef struct slot {
  pf_detail detail;
  uint8_t *bytes;
  size_t capacity;
  uint32_t next; /* of a free slot: id of the next free one, or 0 */
} slot;

struct pf_details {
  slot *slots; /* by id - 1 */
  uint32_t count;
  size_t slots_capacity;
  uint32_t free; /* id of the first free slot, or 0 */
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


uint32_t pf_details_keep (pf_details *d, size_t row) {
  if (d->free == 0) {
    if (d->count > UINT32_MAX / 4 ||
        !pf_grow(&d->slots, &d->slots_capacity, (size_t)d->count + 1))
      return 0;
    d->slots[d->count] = (slot){.next = 0};
    d->free = ++d->count;
  }
  const uint32_t number = d->free;
  slot *const s = &d->slots[number - 1];
  pf_detail *const detail = &s->detail;
  *detail = (pf_detail){.has_line = false};
  if (d->lines != NULL && !pf_is_missing(d->lines, row)) {
    detail->has_line = true;
    detail->line = d->lines->ints[row];
  }
  if (d->params != NULL && !pf_is_missing(d->params, row)) {
    const pf_bytes params = d->params->bytes[row];
    if (!pf_grow(&s->bytes, &s->capacity, params.size))
      return 0;
    if (params.size > 0)
      memcpy(s->bytes, params.at, params.size);
    detail->has_params = true;
    detail->params = (pf_bytes){s->bytes, params.size};
  }
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
  if (s->capacity > RETAINED_BYTES) {
    free(s->bytes);
    s->bytes = NULL;
    s->capacity = 0;
  }
  s->next = d->free;
  d->free = number;
}
