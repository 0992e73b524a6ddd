/*
** width.c - detects version, byte order and address width of files that begin
** with "gmon".
**
** The version determines the byte order, except version 0, for which both are
** tried. For the width the file is parsed with both widths. A plausible
** histogram header (printable dimension, rate below 2^29) decides: at one
** offset it cannot be plausible in both widths. (If it were, byte 7 of the wide
** dimension would be the narrow abbreviation and printable, hence also its
** first 7 bytes; they are bytes 8 to 14 of the narrow dimension, whose first 8
** bytes, the wide number of bins and the wide rate, would be printable as well:
** a rate of 0x20202020 or more.) Without a histogram the width is taken that
** parses to the end of the file, else the one that parses further. If both are
** equal, the executable and the addresses decide, in this order. The options
** address_size and byte_order override all of this. Called by gmon_detect;
** nothing is allocated.
*/

#include "formats/gmon/gmon.h"

/* The result of parsing the file with one layout. */
typedef struct trial {
  gmon_layout layout;
  bool has_histogram;
  bool is_complete;   /* parsing reached the end of the file */
  bool is_invalid;    /* parsing ended at bytes that are not a record */
  bool has_records;   /* there are arcs or blocks */
  uint64_t valid_end; /* end of the last complete record */
} trial;


/* Parse the whole file with a width. `is_strict`: stop at an implausible
   histogram header. A parser without a trace cannot fail. */
static trial try_width (const gmon_layout *layout, unsigned width,
                        bool is_strict, pf_bytes bytes) {
  trial result = {.layout = *layout};
  result.layout.width = width;
  result.layout.is_strict = is_strict;
  gmon_parser parser = gmon_new_parser(&result.layout, bytes, NULL, NULL);
  gmon_segment segment;
  while (gmon_next_segment(&parser, &segment) == PF_MORE) {
    if (segment.kind == GMON_HISTOGRAM)
      result.has_histogram = true;
    if (segment.kind == GMON_ARCS || segment.kind == GMON_BLOCKS)
      result.has_records |= segment.count > 0;
  }
  result.is_complete = parser.end == GMON_COMPLETE;
  result.is_invalid = parser.end == GMON_INVALID;
  result.valid_end = parser.valid_end;
  result.layout.is_strict = false;
  return result;
}


/* Returns a value above 0 if `a` is the better trial, 0 if both are equal. */
static int compare (const trial *a, const trial *b) {
  if (a->has_histogram != b->has_histogram)
    return a->has_histogram ? 1 : -1;
  if (a->is_complete != b->is_complete)
    return a->is_complete ? 1 : -1;
  return (a->valid_end > b->valid_end) - (a->valid_end < b->valid_end);
}


/* Whether the addresses of all arcs, read as 8 bytes, are plausible for one
   program: all in one window of 4 GiB, or all below 2^47 with calls of less
   than 4 GiB. */
static bool is_plausible (const gmon_layout *layout, pf_bytes bytes) {
  bool has_one_window = true, is_low = true;
  uint64_t first = UINT64_MAX; /* upper half of the first address */
  gmon_parser parser = gmon_new_parser(layout, bytes, NULL, NULL);
  gmon_segment segment;
  while (gmon_next_segment(&parser, &segment) == PF_MORE) {
    if (segment.kind != GMON_ARCS)
      continue;
    for (uint64_t i = 0; i < segment.count; i++) {
      const uint8_t *const arc =
          bytes.at + segment.items_at + i * segment.stride;
      const uint64_t from = gmon_address(layout, arc);
      const uint64_t to = gmon_address(layout, arc + layout->width);
      const uint64_t distance = from > to ? from - to : to - from;
      if (first == UINT64_MAX)
        first = from >> 32;
      has_one_window &= from >> 32 == first && to >> 32 == first;
      is_low &= (from | to) >> 47 == 0 && distance >> 32 == 0;
    }
  }
  return has_one_window || is_low;
}


/* Decide between two widths that fit equally well. PF_EFORMAT if the addresses
   do not decide. */
static pf_status decide_width (pf_trace *trace, const gmon_options *options,
                               const trial *narrow, const trial *wide,
                               gmon_layout *layout, pf_error *error) {
  *layout = wide->layout;
  if (!narrow->has_records && !wide->has_records) {
    if (options->elf_width == 4)
      *layout = narrow->layout;
    return PF_OK;
  }
  if (options->elf_width == 4 || options->elf_width == 8) {
    *layout = options->elf_width == 4 ? narrow->layout : wide->layout;
    return pf_warn(trace, PF_NOTE, "gmon-address-size-guessed", PF_EFORMAT,
                   GMON_GNU_HEADER, error,
                   "addresses may be 4 or 8 bytes wide; taken as %u, as in "
                   "the executable",
                   layout->width);
  }
  if (is_plausible(&wide->layout, trace->sources[0].bytes))
    return pf_fail(error, PF_EFORMAT, GMON_GNU_HEADER,
                   "addresses may be 4 or 8 bytes wide, the file is valid with "
                   "both: pass address_size = 4 or address_size = 8");
  *layout = narrow->layout;
  return pf_warn(trace, PF_NOTE, "gmon-address-size-guessed", PF_EFORMAT,
                 GMON_GNU_HEADER, error,
                 "addresses may be 4 or 8 bytes wide; taken as 4: with 8 they "
                 "would not be plausible");
}


/*
** Parse the file with both widths. Returns a value above 0 if the narrow one is
** better, 0 if both are equal. If both stop at an invalid record without a
** histogram, the writer may have left the dimension empty: then the width is
** preferred that reaches the end of the file if implausible headers are
** accepted.
*/
static int try_both_widths (const gmon_layout *layout, pf_bytes bytes,
                            trial *narrow, trial *wide) {
  *narrow = try_width(layout, 4, true, bytes);
  *wide = try_width(layout, 8, true, bytes);
  const int order = compare(narrow, wide);
  if (narrow->has_histogram || wide->has_histogram || !narrow->is_invalid ||
      !wide->is_invalid)
    return order;
  const trial lenient_narrow = try_width(layout, 4, false, bytes);
  const trial lenient_wide = try_width(layout, 8, false, bytes);
  if (lenient_narrow.is_complete == lenient_wide.is_complete)
    return order;
  *narrow = lenient_narrow;
  *wide = lenient_wide;
  return lenient_narrow.is_complete ? 1 : -1;
}


/* Detect the width for the byte order in `layout`; *best is the trial with
   it. */
static pf_status find_width (pf_trace *trace, const gmon_options *options,
                             gmon_layout *layout, trial *best,
                             pf_error *error) {
  trial narrow, wide;
  int order = try_both_widths(layout, trace->sources[0].bytes, &narrow, &wide);
  if (options->width != 0)
    order = options->width == 4 ? 1 : -1;
  *best = order > 0 ? narrow : wide;
  *layout = best->layout;
  if (order != 0)
    return PF_OK;
  return decide_width(trace, options, &narrow, &wide, layout, error);
}


/* Version 0 does not determine the byte order: try both. */
static pf_status find_order (pf_trace *trace, const gmon_options *options,
                             gmon_layout *layout, pf_error *error) {
  gmon_layout little = *layout, big = *layout;
  trial as_little, as_big;
  little.big = false;
  big.big = true;
  pf_status status = find_width(trace, options, &little, &as_little, error);
  if (status < 0)
    return status;
  status = find_width(trace, options, &big, &as_big, error);
  if (status < 0)
    return status;
  const int order = compare(&as_big, &as_little);
  const bool is_decided = order != 0 || options->elf_order >= 0;
  *layout = order > 0 || (order == 0 && options->elf_order == 1) ? big : little;
  if (is_decided || !(as_little.has_records || as_little.has_histogram))
    return PF_OK;
  return pf_fail(
      error, PF_EFORMAT, 4,
      "version 0 does not determine the byte order, the file is valid with "
      "both: pass byte_order = \"little\" or byte_order = \"big\"");
}


/* Detect the version, and by it the byte order. */
static pf_status find_version (const gmon_options *options, pf_bytes bytes,
                               gmon_layout *layout, pf_error *error) {
  const uint32_t wanted = layout->dialect == GMON_LD ? GMON_LD_VERSION : 1;
  const uint32_t little = pf_load32le(bytes.at + 4);
  const uint32_t big = pf_load32be(bytes.at + 4);
  layout->big = options->order >= 0 ? options->order == 1
                                    : little != wanted && big == wanted;
  layout->version = layout->big ? big : little;
  if (layout->version == wanted ||
      (layout->version == 0 && layout->dialect == GMON_GNU))
    return PF_OK;
  const uint32_t found = options->order >= 0 ? layout->version
                         : little < big      ? little
                                             : big;
  return pf_fail(error, PF_EUNSUPPORTED, 4,
                 "version 0, 1 or 0x1ffff expected, found %u", (unsigned)found);
}


pf_status gmon_detect_gnu (pf_trace *trace, const gmon_options *options,
                           gmon_layout *layout, pf_error *error) {
  trial best;
  pf_status status =
      find_version(options, trace->sources[0].bytes, layout, error);
  if (status < 0)
    return status;
  if (layout->version != 0)
    return find_width(trace, options, layout, &best, error);
  status = pf_warn(trace, PF_NOTE, "gmon-version-0", PF_EFORMAT, 4, error,
                   "version 0 is read as version 1");
  if (status < 0)
    return status;
  if (options->order >= 0)
    return find_width(trace, options, layout, &best, error);
  return find_order(trace, options, layout, error);
}
