/*
** ldprofile.c - what ld.so writes for LD_PROFILE=lib.so, read by sprof.
**
** As GNU gmon.out (gnu.c), but with tags of 4 bytes and one table of arcs. The
** histogram has addresses as the library was linked. The addresses of arcs count
** from the start of the text segment, which is `low` of the histogram; from = 0
** is a call from outside of the library. Table `arcs` has addresses as linked,
** table `raw` as the file states them.
**
**   OFFSET    SIZE  FIELD
**        0       4  "gmon"
**        4       4  version: 0x1ffff
**        8      12  spare
**       20       4  tag 0
**       24   24+2A  histogram header, and bins
**        q       4  tag 1
**      q+4       4  number of arcs in use
**      q+8  (2A+4)  arcs: from, to, count of 4 bytes; the table was made with
**                   room for many more, and the file keeps them all
**
** From the source of ld.so and from files that glibc 2.36 wrote.
*/

#include "formats/gmon/gmon.h"

/* What a walk comes to next. */
enum {
  HEADER,
  HISTOGRAM,
  ARCS_HEADER,
  ARCS,
  UNUSED
};


static uint32_t number_here (const gmon_walk *walk, unsigned offset) {
  return pf_load32(gmon_here(walk) + offset, walk->layout->big);
}


/* The 4 bytes of tag at the walk are `tag`; else the rest is no use. */
static bool has_tag (gmon_walk *walk, gmon_part *part, uint32_t tag,
                     pf_status *status) {
  *status = PF_OK;
  if (gmon_left(walk) < 4) {
    *status = gmon_cut(walk, part, "a tag", 4);
    return false;
  }
  const uint32_t found = number_here(walk, 0);
  if (found == tag)
    return true;
  gmon_take_rest(walk, part, GMON_BAD);
  *status = gmon_report(walk, PF_DAMAGE, "gmon-bad-tag", PF_EFORMAT,
                        part->offset, "tag %u of 4 bytes expected, found %u",
                        (unsigned)tag, (unsigned)found);
  return false;
}


static pf_status take_histogram (gmon_walk *walk, gmon_part *part) {
  pf_status status;
  walk->phase = ARCS_HEADER;
  if (!has_tag(walk, part, 0, &status))
    return status;
  status = gmon_gnu_histogram(walk, part, 4);
  walk->base = part->low;
  return status;
}


static pf_status take_arcs_header (gmon_walk *walk, gmon_part *part) {
  const uint64_t arc = 2 * (uint64_t)walk->layout->width + 4;
  pf_status status;
  walk->phase = UNUSED;
  if (!has_tag(walk, part, 1, &status))
    return status;
  if (gmon_left(walk) < 8)
    return gmon_cut(walk, part, "a number of arcs", 8);
  const uint64_t stated = number_here(walk, 4);
  gmon_take_part(walk, part, GMON_HEADER, 8);
  const uint64_t most = gmon_left(walk) / arc;
  walk->inside = (stated < most ? stated : most) * arc;
  walk->phase = walk->inside > 0 ? ARCS : UNUSED;
  if (stated <= most)
    return PF_OK;
  walk->end = GMON_CUT;
  return gmon_report(walk, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED,
                     part->offset,
                     "%llu arcs are stated, the file ends after %llu of them",
                     (unsigned long long)stated, (unsigned long long)most);
}


static pf_status take_arcs (gmon_walk *walk, gmon_part *part) {
  part->stride = 2 * (uint64_t)walk->layout->width + 4;
  part->items = walk->at;
  part->count_width = 4;
  part->base = walk->base;
  const uint64_t count = walk->inside / part->stride;
  part->count = part->declared = count < GMON_RUN ? count : GMON_RUN;
  gmon_take_part(walk, part, GMON_ARCS, part->count * part->stride);
  walk->inside -= part->size;
  if (walk->inside == 0)
    walk->phase = UNUSED;
  return PF_OK;
}


pf_status gmon_ld_part (gmon_walk *walk, gmon_part *part) {
  switch (walk->phase) {
    case HEADER:
      if (gmon_left(walk) < GMON_GNU_HEADER)
        return gmon_cut(walk, part, "a header", GMON_GNU_HEADER);
      walk->phase = HISTOGRAM;
      gmon_take_part(walk, part, GMON_HEADER, GMON_GNU_HEADER);
      return PF_OK;
    case HISTOGRAM: return take_histogram(walk, part);
    case ARCS_HEADER: return take_arcs_header(walk, part);
    case ARCS:
      if (walk->inside <= gmon_left(walk))
        return take_arcs(walk, part);
      return gmon_cut(walk, part, "a table of arcs", walk->inside);
    default: gmon_take_rest(walk, part, walk->end); return PF_OK;
  }
}
