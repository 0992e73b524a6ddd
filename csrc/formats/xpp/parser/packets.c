/*
** packets.c - finds the segments of a trace: the main file, then the
** packets, which are sources of the role "packet" in the order of their
** numbers. The number is the end of the file name: TEST.PRF.000001.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/xpp/parser/items.h"
#include "model/base/memory.h"

#define FEWEST_DIGITS 6


/* The packet number at the end of a path; 0: none, as in the main file. */
static uint64_t number_of (const char *path) {
  const size_t size = strlen(path);
  size_t first = size;
  uint64_t number = 0;
  while (first > 0 && path[first - 1] >= '0' && path[first - 1] <= '9')
    first--;
  if (first == 0 || path[first - 1] != '.' || size - first < FEWEST_DIGITS ||
      size - first > 18)
    return 0;
  for (size_t i = first; i < size; i++)
    number = number * 10 + (uint64_t)(path[i] - '0');
  return number;
}


/* Returns true if the main file was rebuilt from its packets up to this one:
   its rows are those of the packets before and then those of this one. */
static bool is_in_main (const pf_trace *trace, xpp_file *file, pf_bytes packet,
                        uint64_t number) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint64_t start = file->is_text ? 0 : file->dbf->start;
  const uint64_t at = start + file->repeated;
  if (packet.size == 0 || bytes.size < at || packet.size > bytes.size - at ||
      memcmp(bytes.at + at, packet.at, packet.size) != 0)
    return false;
  file->repeated += packet.size;
  file->last_repeated = number;
  return true;
}


/* Adds a segment, unless it repeats rows: it has the number or the content of the
   last one, or is part of the main file. */
static pf_status add_segment (pf_trace *trace, xpp_file *file, size_t source,
                              pf_error *error) {
  const pf_source *const from = &trace->sources[source];
  xpp_segment next = {source, number_of(from->path), false};
  if (!pf_grow(&file->segments, &file->segments_capacity, file->nsegments + 1))
    return pf_no_memory(error);
  if (file->nsegments > 0) {
    const xpp_segment *const last = &file->segments[file->nsegments - 1];
    const pf_bytes bytes = trace->sources[last->source].bytes;
    const bool is_repeated =
        last->source == 0
            ? is_in_main(trace, file, from->bytes, next.number)
            : next.number <= last->number ||
                  (bytes.size > 0 && bytes.size == from->bytes.size &&
                   memcmp(bytes.at, from->bytes.at, bytes.size) == 0);
    if (is_repeated)
      return pf_warn(
          trace, PF_DAMAGE, "xpp-packet-double", PF_EFORMAT, PF_NO_OFFSET,
          error, "%.120s: the packet repeats rows and is left out", from->path);
    const uint64_t expected =
        1 + (last->number > file->last_repeated ? last->number
                                                : file->last_repeated);
    next.has_gap = next.number != expected;
    const pf_status status =
        !next.has_gap
            ? PF_OK
            : pf_warn(trace, PF_DAMAGE, "xpp-packet-gap", PF_EFORMAT,
                      PF_NO_OFFSET, error,
                      "packet %06llu expected, found %06llu: the rows between "
                      "are lost",
                      (unsigned long long)expected,
                      (unsigned long long)next.number);
    if (status != PF_OK)
      return status;
  }
  file->segments[file->nsegments++] = next;
  return PF_OK;
}


pf_status xpp_find_segments (pf_trace *trace, xpp_file *file, pf_error *error) {
  pf_status status = PF_OK;
  for (; file->nsources < trace->nsources && status == PF_OK;
       file->nsources++) {
    const pf_source *const from = &trace->sources[file->nsources];
    if (file->nsources == 0 || strcmp(from->role, "packet") == 0)
      status = add_segment(trace, file, file->nsources, error);
  }
  return status;
}
