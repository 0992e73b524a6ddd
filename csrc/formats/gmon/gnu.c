/*
** gnu.c - the records of GNU gmon.out, version 1 (and 0).
**
** A is the width of an address, 4 or 8; all numbers are in the byte order of
** the machine that was profiled. Nothing is padded and nothing is aligned.
**
**   header           OFFSET  SIZE  FIELD
**                         0     4  "gmon"
**                         4     4  version: 1 (0 in very old files)
**                         8    12  spare; some writers leave garbage
**
** Then records in any order and number, each behind one byte of tag:
**
**   0 histogram           1     A  lowest address
**                       1+A     A  highest address, exclusive
**                      1+2A     4  number of bins
**                      5+2A     4  rate in hertz; 0: counts are ticks
**                      9+2A    15  dimension, NUL padded, maybe without NUL
**                     24+2A     1  its abbreviation
**                     25+2A    2n  bins
**
**   1 arc                 1     A  from: a place in the caller, often rounded
**                       1+A     A  to: a place in the callee
**                      1+2A     4  count
**
**   2 basic blocks        1     4  number of blocks (glibc on 64 bits: 8)
**                         5   2An  pairs of an address and a count of A bytes
**
** From the glibc manual and source, and from files of 16 machines. What the
** spare bytes were meant for is not known.
*/

#include "formats/gmon/gmon.h"

enum {
  TAG_HISTOGRAM,
  TAG_ARC,
  TAG_BLOCKS
};


/* P+ N* : printable bytes, at least one, and then only NULs. */
static bool is_padded_text (const uint8_t *text, size_t size) {
  size_t i = 0;
  while (i < size && text[i] >= 0x20 && text[i] < 0x7f)
    i++;
  if (i == 0)
    return false;
  while (i < size && text[i] == 0)
    i++;
  return i == size;
}


bool gmon_plausible_histogram (const gmon_layout *layout,
                               const uint8_t *header) {
  const uint8_t *const tail = header + 2 * layout->width;
  const uint8_t abbreviation = tail[8 + GMON_DIMENSION];
  return pf_load32(tail + 4, layout->big) < GMON_RATE_LIMIT &&
         is_padded_text(tail + 8, GMON_DIMENSION) && abbreviation >= 0x20 &&
         abbreviation < 0x7f;
}


/* Up to the first NUL. */
static pf_bytes dimension_of (const uint8_t *text) {
  size_t size = 0;
  while (size < GMON_DIMENSION && text[size] != 0)
    size++;
  return (pf_bytes){text, size};
}


static void read_header (const gmon_layout *layout, const uint8_t *header,
                         gmon_part *part) {
  const uint8_t *const tail = header + 2 * layout->width;
  part->low = gmon_address(layout, header);
  part->high = gmon_address(layout, header + layout->width);
  part->declared = pf_load32(tail, layout->big);
  part->rate = pf_load32(tail + 4, layout->big);
  part->dimension = dimension_of(tail + 8);
  part->abbreviation = tail[8 + GMON_DIMENSION];
}


/* The bins behind the header, as many as are there. */
static void take_bins (gmon_walk *walk, gmon_part *part, uint64_t header) {
  const uint64_t room = gmon_left(walk) - header;
  const bool is_whole = part->declared <= room / 2;
  const uint64_t whole = walk->whole;
  part->items = walk->at + header;
  part->stride = 2;
  part->count = is_whole ? part->declared : room / 2;
  gmon_take_part(walk, part, GMON_HISTOGRAM,
                 is_whole ? header + 2 * part->count : gmon_left(walk));
  if (!is_whole) {
    walk->end = GMON_CUT;
    walk->whole = whole;
  }
}


pf_status gmon_gnu_histogram (gmon_walk *walk, gmon_part *part, unsigned tag) {
  const uint64_t size = tag + gmon_histogram_header(walk->layout);
  if (gmon_left(walk) < size)
    return gmon_cut(walk, part, "a histogram header", size);
  const uint8_t *const header = gmon_here(walk) + tag;
  const bool is_plausible = gmon_plausible_histogram(walk->layout, header);
  if (!is_plausible && walk->layout->is_trial) {
    gmon_take_rest(walk, part, GMON_BAD);
    return PF_OK;
  }
  read_header(walk->layout, header, part);
  take_bins(walk, part, size);
  if (!is_plausible) {
    const pf_status status = gmon_report(
        walk, PF_DAMAGE, "gmon-odd-histogram", PF_EFORMAT, part->offset,
        "a dimension in letters and a rate below 2^29 expected, found rate "
        "%u",
        (unsigned)part->rate);
    if (status < 0)
      return status;
  }
  return gmon_check_histogram(walk, part);
}


/* As many arcs in a row as there are, up to GMON_RUN. */
static pf_status take_arcs (gmon_walk *walk, gmon_part *part) {
  const uint64_t size = 5 + 2 * (uint64_t)walk->layout->width;
  const uint8_t *at = gmon_here(walk);
  const uint64_t most = gmon_left(walk) / size;
  uint64_t count = 0;
  while (count < most && count < GMON_RUN && *at == TAG_ARC) {
    count++;
    at += size;
  }
  if (count == 0)
    return gmon_cut(walk, part, "an arc", size);
  part->items = walk->at + 1;
  part->stride = size;
  part->count = part->declared = count;
  part->count_width = 4;
  gmon_take_part(walk, part, GMON_ARCS, count * size);
  return PF_OK;
}


/* Whether the bytes at `at` end there or go on with a record. */
static bool goes_on (const gmon_walk *walk, uint64_t at) {
  const gmon_layout *const layout = walk->layout;
  if (at >= walk->bytes.size)
    return at == walk->bytes.size;
  const uint8_t *const tag = walk->bytes.at + at;
  if (*tag != TAG_HISTOGRAM)
    return *tag <= TAG_BLOCKS;
  return walk->bytes.size - at > gmon_histogram_header(layout) &&
         gmon_plausible_histogram(layout, tag + 1);
}


/*
** glibc on 64 bits writes the number of blocks in 8 bytes, gprof reads 4.
** The upper half of the long form is 0; the short form is believed when the
** file goes on well behind it. The 5 bytes of tag and number are there.
*/
static bool has_wide_number (const gmon_walk *walk) {
  const gmon_layout *const layout = walk->layout;
  const uint8_t *const at = gmon_here(walk) + 1;
  const uint64_t left = gmon_left(walk);
  if (layout->width != 8 || left < 9)
    return false;
  const uint64_t narrow = 5 + 16 * (uint64_t)pf_load32(at, layout->big);
  const uint64_t count = pf_load64(at, layout->big);
  if (count > UINT32_MAX || goes_on(walk, walk->at + narrow))
    return false;
  const uint64_t wide = 9 + 16 * count;
  return wide > left || goes_on(walk, walk->at + wide);
}


/* Report what is odd about blocks that have been taken. */
static pf_status check_blocks (gmon_walk *walk, const gmon_part *part,
                               bool is_wide) {
  pf_status status = PF_OK;
  if (is_wide)
    status = gmon_report(walk, PF_NOTE, "gmon-wide-block-number", PF_EFORMAT,
                         part->offset,
                         "the number of basic blocks takes 8 bytes, as glibc "
                         "writes it; gprof reads 4");
  if (status < 0 || part->count == part->declared)
    return status;
  return gmon_report(
      walk, PF_DAMAGE, "gmon-truncated", PF_ETRUNCATED, part->offset,
      "%llu basic blocks are stated, the file ends after %llu of them",
      (unsigned long long)part->declared, (unsigned long long)part->count);
}


static pf_status take_blocks (gmon_walk *walk, gmon_part *part) {
  const gmon_layout *const layout = walk->layout;
  const uint64_t whole = walk->whole;
  if (gmon_left(walk) < 5)
    return gmon_cut(walk, part, "a number of basic blocks", 5);
  const bool is_wide = has_wide_number(walk);
  const uint64_t header = is_wide ? 9 : 5;
  const uint64_t left = gmon_left(walk);
  part->stride = 2 * (uint64_t)layout->width;
  part->items = walk->at + header;
  part->declared = pf_load(gmon_here(walk) + 1, is_wide ? 8 : 4, layout->big);
  const uint64_t most = (left - header) / part->stride;
  const bool is_cut = part->declared > most;
  part->count = is_cut ? most : part->declared;
  gmon_take_part(walk, part, GMON_BLOCKS,
                 is_cut ? left : header + part->count * part->stride);
  if (is_cut) {
    walk->end = GMON_CUT;
    walk->whole = whole;
  }
  return check_blocks(walk, part, is_wide);
}


/* Version 0 had blocks of another form: names as text, numbers as wide as
   the profiled machine liked. */
static pf_status refuse_old_blocks (gmon_walk *walk, gmon_part *part) {
  gmon_take_rest(walk, part, GMON_BAD);
  return gmon_report(walk, PF_DAMAGE, "gmon-old-blocks", PF_EUNSUPPORTED,
                     part->offset,
                     "basic blocks of version 0 cannot be read: %llu bytes "
                     "are left",
                     (unsigned long long)part->size);
}


static pf_status refuse_tag (gmon_walk *walk, gmon_part *part) {
  const unsigned tag = *gmon_here(walk);
  gmon_take_rest(walk, part, GMON_BAD);
  return gmon_report(walk, PF_DAMAGE, "gmon-bad-tag", PF_EFORMAT, part->offset,
                     "tag 0, 1 or 2 expected, found %u; %llu bytes are left",
                     tag, (unsigned long long)part->size);
}


pf_status gmon_gnu_part (gmon_walk *walk, gmon_part *part) {
  if (walk->at == 0 && gmon_left(walk) < GMON_GNU_HEADER)
    return gmon_cut(walk, part, "a header", GMON_GNU_HEADER);
  if (walk->at == 0) {
    gmon_take_part(walk, part, GMON_HEADER, GMON_GNU_HEADER);
    return PF_OK;
  }
  switch (*gmon_here(walk)) {
    case TAG_HISTOGRAM: return gmon_gnu_histogram(walk, part, 1);
    case TAG_ARC: return take_arcs(walk, part);
    case TAG_BLOCKS:
      if (walk->layout->version == 0)
        return refuse_old_blocks(walk, part);
      return take_blocks(walk, part);
    default: return refuse_tag(walk, part);
  }
}
