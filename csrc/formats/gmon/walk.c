/*
** walk.c - from part to part of a gmon file: the dispatch to the dialects
** and what they share about damage. A walk never looks at a byte it has not
** compared with the length of the bytes, and holds no memory.
*/

#include <stdarg.h>
#include <stdio.h>

#include "formats/gmon/gmon.h"


gmon_walk gmon_walk_over (const gmon_layout *layout, pf_bytes bytes,
                          pf_trace *trace, pf_error *error) {
  return (gmon_walk){.layout = layout,
                     .bytes = bytes,
                     .end = GMON_AT_END,
                     .trace = trace,
                     .error = error};
}


pf_status gmon_next_part (gmon_walk *walk, gmon_part *part) {
  if (gmon_left(walk) == 0)
    return PF_END;
  *part = (gmon_part){.offset = walk->at};
  switch (walk->layout->dialect) {
    case GMON_GNU: return gmon_gnu_part(walk, part);
    case GMON_APPLE: return gmon_apple_part(walk, part);
    case GMON_LD: return gmon_ld_part(walk, part);
    default: return gmon_bsd_part(walk, part);
  }
}


pf_status gmon_report (gmon_walk *walk, pf_note_kind kind, const char *code,
                       pf_status status, uint64_t offset, const char *format,
                       ...) {
  char words[200];
  va_list arguments;
  if (walk->trace == NULL)
    return PF_OK;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  return pf_warn(walk->trace, kind, code, status, offset, walk->error, "%s",
                 words);
}


void gmon_take_part (gmon_walk *walk, gmon_part *part, gmon_kind kind,
                     uint64_t size) {
  part->kind = kind;
  part->size = size;
  walk->at += size;
  walk->whole = walk->at;
}


void gmon_take_rest (gmon_walk *walk, gmon_part *part, gmon_end end) {
  const uint64_t whole = walk->whole;
  gmon_take_part(walk, part, GMON_REST, gmon_left(walk));
  walk->whole = whole;
  walk->end = end;
}


pf_status gmon_cut (gmon_walk *walk, gmon_part *part, const char *what,
                    uint64_t needed) {
  const uint64_t left = gmon_left(walk);
  gmon_take_rest(walk, part, GMON_CUT);
  return gmon_report(
      walk, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, part->offset,
      "%s of %llu bytes expected, the file ends after %llu", what,
      (unsigned long long)needed, (unsigned long long)left);
}


/* Report bins that are not there although the header states them. */
static pf_status check_bins (gmon_walk *walk, const gmon_part *part) {
  if (part->count < part->declared)
    return gmon_report(
        walk, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, part->offset,
        "the histogram states %llu bins, the file ends after %llu of them",
        (unsigned long long)part->declared, (unsigned long long)part->count);
  if (part->declared == 0)
    return gmon_report(walk, PF_NOTE, "gmon-no-bins", PF_EFORMAT, part->offset,
                       "the histogram has no bins");
  return PF_OK;
}


/* Report a range that is none, and a rate that gives no seconds. */
static pf_status check_header (gmon_walk *walk, const gmon_part *part) {
  if (part->high < part->low)
    return gmon_report(
        walk, PF_DAMAGE, "gmon-reversed-range", PF_EFORMAT, part->offset,
        "the histogram ends at 0x%llx, below its start 0x%llx: "
        "its bins have no addresses",
        (unsigned long long)part->high, (unsigned long long)part->low);
  if (gmon_rate(walk->layout, part) == 0)
    return gmon_report(walk, PF_NOTE, "gmon-no-rate", PF_EFORMAT, part->offset,
                       "the sampling rate is 0: counts are ticks and have no "
                       "seconds; give one with rate = N");
  return PF_OK;
}


pf_status gmon_check_histogram (gmon_walk *walk, const gmon_part *part) {
  const pf_status status = check_header(walk, part);
  return status < 0 ? status : check_bins(walk, part);
}
