/*
** apple.c - gmon.out of macOS and NeXTSTEP: pieces behind a magic number,
** one or more for each loaded image. A is the width of an address.
**
**   OFFSET  SIZE  FIELD
**        0     4  magic: 0xbeefbabe (A = 4) or 0xbeefbabf (A = 8), in the
**                 byte order of the machine
**        4     *  pieces:
**        0     4    type
**        4     4    size of what follows
**        8  size    by type:
**     1 samples        a 4.4BSD header (bsd.c) and its bins
**     2 raw arcs       from A, to A, count 4 (A = 8: and 4 of padding)
**     3 ordered arcs   from A, to A, count 4, order of the first call 4
**     4, 5 images      number 4, then an address A and a name that ends in
**                      NUL for each
**
** From the sources of cctools and Libc and one file of bash for PowerPC.
** Whether type 5 differs from 4 in more than the meaning of the address
** (header of the image instead of how far it was moved) is not known.
*/

#include "formats/gmon/gmon.h"

enum {
  SAMPLES = 1,
  RAW_ARCS,
  ORDERED_ARCS,
  IMAGES,
  IMAGES_2
};


/* The bins of a piece of samples: within the piece and what it states. */
static pf_status take_samples (gmon_walk *walk, gmon_part *part,
                               uint64_t size) {
  const gmon_layout *const layout = walk->layout;
  if (size < layout->header) {
    gmon_take_part(walk, part, GMON_UNKNOWN, 8 + size);
    return gmon_report(walk, PF_DAMAGE, "gmon-bad-piece", PF_EFORMAT,
                       part->offset,
                       "samples of %u bytes or more expected, found %llu",
                       layout->header, (unsigned long long)size);
  }
  const gmon_bsd header = gmon_bsd_header(layout, gmon_here(walk) + 8);
  const uint64_t room = size - layout->header;
  part->low = header.low;
  part->high = header.high;
  part->rate = header.rate;
  part->abbreviation = 's';
  part->items = walk->at + 8 + layout->header;
  part->stride = layout->counter;
  part->declared = header.ncnt < layout->header
                       ? 0
                       : (header.ncnt - layout->header) / layout->counter;
  const uint64_t most = room / layout->counter;
  part->count = part->declared < most ? part->declared : most;
  gmon_take_part(walk, part, GMON_HISTOGRAM, 8 + size);
  return gmon_check_histogram(walk, part);
}


/* The head of a table of arcs: the arcs are the parts that follow. */
static pf_status take_arcs_head (gmon_walk *walk, gmon_part *part,
                                 uint32_t type, uint64_t size) {
  gmon_take_part(walk, part, GMON_HEADER, 8);
  walk->phase = size > 0 ? type : 0;
  walk->inside = size;
  return PF_OK;
}


/* Arcs of the table the walk is in. What is left of it is there. */
static pf_status take_arcs (gmon_walk *walk, gmon_part *part) {
  const unsigned width = walk->layout->width;
  part->has_order = walk->phase == ORDERED_ARCS;
  part->stride = 2 * width + (width == 8 || part->has_order ? 8 : 4);
  const uint64_t count = walk->inside / part->stride;
  part->items = walk->at;
  part->count_width = 4;
  part->count = part->declared = count < GMON_RUN ? count : GMON_RUN;
  if (count > 0)
    gmon_take_part(walk, part, GMON_ARCS, part->count * part->stride);
  else
    gmon_take_part(walk, part, GMON_UNKNOWN, walk->inside);
  walk->inside -= part->size;
  if (walk->inside == 0)
    walk->phase = 0;
  if (count > 0 || walk->end == GMON_CUT)
    return PF_OK;
  return gmon_report(walk, PF_DAMAGE, "gmon-bad-piece", PF_EFORMAT,
                     part->offset, "arcs of %llu bytes expected, found %llu",
                     (unsigned long long)part->stride,
                     (unsigned long long)part->size);
}


static pf_status take_images (gmon_walk *walk, gmon_part *part, uint64_t size) {
  if (size >= 4)
    part->declared = pf_load32(gmon_here(walk) + 8, walk->layout->big);
  part->items = walk->at + 12;
  gmon_take_part(walk, part, size < 4 ? GMON_UNKNOWN : GMON_IMAGES, 8 + size);
  return PF_OK;
}


/* The length of the piece at the walk goes past the end of the bytes: keep
   what can be kept as if the piece ended there. */
static pf_status shorten (gmon_walk *walk, uint64_t *size) {
  const uint64_t stated = *size;
  *size = gmon_left(walk) - 8;
  walk->end = GMON_CUT;
  return gmon_report(walk, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, walk->at,
                     "a piece of %llu bytes is stated, the file ends after "
                     "%llu of them",
                     (unsigned long long)stated, (unsigned long long)*size);
}


static pf_status take_piece (gmon_walk *walk, gmon_part *part) {
  if (gmon_left(walk) < 8)
    return gmon_cut(walk, part, "the head of a piece", 8);
  const uint32_t type = pf_load32(gmon_here(walk), walk->layout->big);
  uint64_t size = pf_load32(gmon_here(walk) + 4, walk->layout->big);
  if (size > gmon_left(walk) - 8) {
    const pf_status status = shorten(walk, &size);
    if (status < 0)
      return status;
  }
  switch (type) {
    case SAMPLES: return take_samples(walk, part, size);
    case RAW_ARCS:
    case ORDERED_ARCS: return take_arcs_head(walk, part, type, size);
    case IMAGES:
    case IMAGES_2: return take_images(walk, part, size);
    default: break;
  }
  gmon_take_part(walk, part, GMON_UNKNOWN, 8 + size);
  return gmon_report(
      walk, PF_DAMAGE, "gmon-bad-piece", PF_EFORMAT, part->offset,
      "a piece of type 1 to 5 expected, found type %u", (unsigned)type);
}


pf_status gmon_apple_part (gmon_walk *walk, gmon_part *part) {
  if (walk->at == 0 && gmon_left(walk) < 4)
    return gmon_cut(walk, part, "a magic number", 4);
  if (walk->at == 0) {
    gmon_take_part(walk, part, GMON_HEADER, 4);
    return PF_OK;
  }
  if (walk->phase == 0)
    return take_piece(walk, part);
  if (walk->inside > gmon_left(walk)) /* the bytes have shrunk */
    return gmon_cut(walk, part, "a table of arcs", walk->inside);
  return take_arcs(walk, part);
}
