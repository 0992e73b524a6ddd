/*
** places.c - a page table over sorted address ranges.
*/

#include "kernels/places.h"

#include <stdlib.h>
#include <string.h>


pf_status pf_places_open (pf_places *places, size_t count) {
  memset(places, 0, sizeof *places);
  if (count >= UINT32_MAX / 2)
    return PF_ENOMEM;
  places->starts = malloc((count + 1) * sizeof(uint64_t));
  places->ends = malloc((count + 1) * sizeof(uint64_t));
  if (places->starts == NULL || places->ends == NULL)
    return PF_ENOMEM;
  places->count = count;
  places->starts[count] = UINT64_MAX;
  places->ends[count] = UINT64_MAX;
  return PF_OK;
}


void pf_places_close (pf_places *places) {
  free(places->starts);
  free(places->ends);
  free(places->pages);
  memset(places, 0, sizeof *places);
}


static bool clip_ends (pf_places *places) {
  for (size_t i = 0; i < places->count; i++) {
    if (i + 1 < places->count && places->starts[i] >= places->starts[i + 1])
      return false;
    if (places->ends[i] > places->starts[i + 1])
      places->ends[i] = places->starts[i + 1];
  }
  return true;
}


/* Pages as small as 2 * count of them allow. */
static bool make_pages (pf_places *places) {
  const uint64_t span = places->starts[places->count - 1] - places->starts[0];
  while ((span >> places->shift) / 2 >= places->count)
    places->shift++;
  places->npages = (size_t)(span >> places->shift) + 1;
  places->pages = malloc((places->npages + 1) * sizeof(uint32_t));
  if (places->pages == NULL)
    return false;
  size_t at = 0;
  for (size_t page = 0; page < places->npages; page++) {
    const uint64_t offset = (uint64_t)page << places->shift;
    while (at + 1 < places->count &&
           places->starts[at + 1] - places->starts[0] <= offset)
      at++;
    places->pages[page] = (uint32_t)at;
  }
  places->pages[places->npages] = (uint32_t)(places->count - 1);
  return true;
}


bool pf_places_index (pf_places *places) {
  if (places->count == 0)
    return true;
  /* Without the table (no memory) look-ups search all ranges. */
  return clip_ends(places) && (make_pages(places) || true);
}


/* Between which ranges the answer lies; the address is not before all. */
static void narrow (const pf_places *places, uint64_t address, size_t *low,
                    size_t *high) {
  const uint64_t page = (address - places->starts[0]) >> places->shift;
  *low = 0;
  *high = places->count - 1;
  if (places->pages == NULL)
    return;
  *low = *high;
  if (page < places->npages) {
    *low = places->pages[page];
    *high = places->pages[page + 1];
  }
}


static size_t search (const pf_places *places, uint64_t address, size_t low,
                      size_t high) {
  while (low < high) {
    const size_t middle = low + (high - low + 1) / 2;
    if (places->starts[middle] <= address)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}


size_t pf_places_before (const pf_places *places, uint64_t address) {
  size_t low, high;
  if (places->count == 0 || address < places->starts[0])
    return PF_NO_PLACE;
  narrow(places, address, &low, &high);
  return search(places, address, low, high);
}


/* Ask for the page of each address, then for its first range, then search:
   by then the memory has arrived. */
void pf_places_before_all (const pf_places *places, const uint64_t *addresses,
                           size_t count, uint32_t *found) {
  size_t low[PF_PLACES_AT_ONCE], high[PF_PLACES_AT_ONCE];
  const uint64_t base = places->count == 0 ? UINT64_MAX : places->starts[0];
  for (size_t i = 0; places->pages != NULL && i < count; i++) {
    const uint64_t page = (addresses[i] - base) >> places->shift;
    if (page < places->npages)
      __builtin_prefetch(&places->pages[page]);
  }
  for (size_t i = 0; i < count; i++) {
    found[i] = UINT32_MAX;
    if (places->count == 0 || addresses[i] < base)
      continue;
    narrow(places, addresses[i], &low[i], &high[i]);
    found[i] = 0;
    __builtin_prefetch(&places->starts[low[i]]);
    __builtin_prefetch(&places->ends[low[i]]);
  }
  for (size_t i = 0; i < count; i++)
    if (found[i] == 0)
      found[i] = (uint32_t)search(places, addresses[i], low[i], high[i]);
}
