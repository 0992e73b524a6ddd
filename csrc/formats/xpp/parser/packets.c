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


static bool is_digit (char c) {
  return c >= '0' && c <= '9';
}


/* The packet number at the end of a path; 0: none, as in the main file. */
static uint64_t number_of (const char *path) {
  const size_t size = strlen(path);
  size_t first = size;
  uint64_t number = 0;
  while (first > 0 && is_digit(path[first - 1]))
    first--;
  if (first == 0 || path[first - 1] != '.' || size - first < FEWEST_DIGITS ||
      size - first > 18)
    return 0;
  for (size_t i = first; i < size; i++)
    number = number * 10 + (uint64_t)(path[i] - '0');
  return number;
}


static bool are_same (pf_bytes left, pf_bytes right) {
  return left.size > 0 && left.size == right.size &&
         memcmp(left.at, right.at, left.size) == 0;
}


/* The bytes of the main file after the table header. */
static pf_bytes rows_of_header (const pf_trace *trace, const xpp_file *file) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const size_t start = file->is_text ? 0 : file->dbf->start;
  if (bytes.size <= start)
    return (pf_bytes){bytes.at, 0};
  return (pf_bytes){bytes.at + start, bytes.size - start};
}


/* Returns true if the main file was rebuilt from its packets up to this one:
   its rows are those of the packets before and then those of this one. */
static bool is_in_main (const pf_trace *trace, xpp_file *file, pf_bytes packet,
                        uint64_t number) {
  const pf_bytes rows = rows_of_header(trace, file);
  if (packet.size == 0 || rows.size < file->repeated ||
      packet.size > rows.size - file->repeated ||
      memcmp(rows.at + file->repeated, packet.at, packet.size) != 0)
    return false;
  file->repeated += packet.size;
  file->last_repeated = number;
  return true;
}


static pf_status warn (pf_trace *trace, const char *code, pf_error *error,
                       const char *path, const char *message) {
  return pf_warn(trace, PF_DAMAGE, code, PF_EFORMAT, PF_NO_OFFSET, error,
                 "%.120s: %s", path, message);
}


static pf_status warn_gap (pf_trace *trace, uint64_t last, uint64_t next,
                           pf_error *error) {
  return pf_warn(trace, PF_DAMAGE, "xpp-packet-gap", PF_EFORMAT, PF_NO_OFFSET,
                 error,
                 "packet %06llu expected, found %06llu: the rows between are "
                 "lost",
                 (unsigned long long)(last + 1), (unsigned long long)next);
}


/* Returns true if a packet repeats rows: it has the number or the content of
   the last one, or is part of the main file. */
static bool is_duplicate (const pf_trace *trace, xpp_file *file, size_t source,
                          uint64_t number) {
  const xpp_segment *const last = &file->segments[file->nsegments - 1];
  const pf_bytes bytes = trace->sources[source].bytes;
  if (last->source == 0)
    return is_in_main(trace, file, bytes, number);
  return number <= last->number ||
         are_same(bytes, trace->sources[last->source].bytes);
}


static pf_status add_segment (pf_trace *trace, xpp_file *file, size_t source,
                              pf_error *error) {
  const pf_source *const from = &trace->sources[source];
  xpp_segment next = {source, number_of(from->path), false};
  if (file->nsegments > 0 && is_duplicate(trace, file, source, next.number))
    return warn(trace, "xpp-packet-double", error, from->path,
                "the packet repeats rows and is left out");
  if (file->nsegments > 0) {
    const uint64_t last = file->segments[file->nsegments - 1].number;
    const uint64_t before =
        last > file->last_repeated ? last : file->last_repeated;
    next.has_gap = next.number != before + 1;
    if (next.has_gap) {
      const pf_status status = warn_gap(trace, before, next.number, error);
      if (status != PF_OK)
        return status;
    }
  }
  if (!pf_grow(&file->segments, &file->segments_capacity, file->nsegments + 1))
    return pf_no_memory(error);
  file->segments[file->nsegments++] = next;
  return PF_OK;
}


pf_status xpp_find_segments (pf_trace *trace, xpp_file *file, pf_error *error) {
  pf_status status = PF_OK;
  for (; file->nsources < trace->nsources && status == PF_OK;
       file->nsources++) {
    const pf_source *const from = &trace->sources[file->nsources];
    const bool is_packet = strcmp(from->role, "packet") == 0;
    if (file->nsources > 0 && !is_packet)
      continue;
    file->npackets += is_packet;
    status = add_segment(trace, file, file->nsources, error);
  }
  return status;
}
