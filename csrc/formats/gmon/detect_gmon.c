/*
** detect_gmon.c - scores a file, and detects the dialect of any file; for BSD
** and Apple also byte order and address width, which width.c detects for GNU
** and LD_PROFILE. counters.c then completes the layout.
**
** open_gmon.c calls gmon_score and gmon_detect; encode_gmon.c also uses
** gmon_width_option. Nothing is allocated: the layout belongs to the caller,
** the bytes to the trace.
**
** The options dialect, byte_order and address_size are used as given; only what
** they leave open is detected. Apple's magic number determines order and width,
** so these two options do not apply to its files.
*/

#include <stdio.h>
#include <string.h>

#include "formats/gmon/gmon.h"

/* Above it, "gmon" begins a text; up to it, it is the file of a later writer,
   which opening refuses by its version. */
#define MAX_VERSION 0xffff

const char *const gmon_dialect_names[GMON_DIALECTS] = {"gnu", "4.4bsd", "bsd",
                                                       "apple", "ld-profile"};


/* Whether `data` bytes of bins fit an address range: 1/4, 1/2, 1 or 2 bytes of
   bins for each byte of code. As writers round both sizes, the bins may cover
   16 bytes of code less than the range, or 128 more. */
static bool fits_range (uint64_t data, uint64_t range) {
  for (uint64_t factor = 1; factor <= 8; factor *= 2) {
    const uint64_t ideal = range / 4 * factor;
    if (data + 16 / 4 * factor >= ideal && data <= ideal + 128 / 4 * factor)
      return true;
  }
  return false;
}


/* Whether the sizes in a header are consistent with each other. */
static bool is_consistent (const gmon_layout *layout, const gmon_bsd *header,
                           uint64_t size) {
  return header->low < header->high && header->ncnt >= layout->header_size &&
         header->ncnt <= size &&
         (header->ncnt - layout->header_size) % 2 == 0 &&
         fits_range(header->ncnt - layout->header_size,
                    header->high - header->low);
}


/* Whether 4 bytes of padding follow the header (OSF/1): they are 0, and what
   remains for bins is a multiple of 8 bytes and enough for the range. */
static bool has_padding (const gmon_layout *layout, pf_bytes head) {
  if (layout->width != 8 || head.size < 24 || pf_load32le(head.at + 20) != 0)
    return false;
  const gmon_bsd header = gmon_bsd_header(layout, head.at);
  return header.high > header.low && header.ncnt >= 24 &&
         (header.ncnt - 24) % 8 == 0 &&
         header.ncnt - 24 >= (header.high - header.low) / 2;
}


/* Iterate over the widths and byte orders that the options leave open. Width 4
   comes first: at byte 20, where files of width 8 have the signature, those of
   width 4 may hold anything, also the signature. */
static bool next_candidate (const gmon_options *options, unsigned *candidate,
                            gmon_layout *layout) {
  while (*candidate < 4) {
    const unsigned number = (*candidate)++;
    layout->width = number < 2 ? 4 : 8;
    layout->big = number % 2 == 1;
    if ((options->width == 0 || options->width == layout->width) &&
        (options->order < 0 || options->order == layout->big))
      return true;
  }
  return false;
}


/* Returns the match of a 4.4BSD header: 2 if it is consistent, 1 if it only has
   the signature, else 0. */
static int match_bsd44 (gmon_layout *layout, pf_bytes head, uint64_t size) {
  layout->header_size = 2 * layout->width + 24;
  const unsigned at = 2 * layout->width + 4;
  if (head.size < at + 4 ||
      pf_load32(head.at + at, layout->big) != GMON_SIGNATURE)
    return 0;
  if (head.size < layout->header_size)
    return 1;
  const gmon_bsd header = gmon_bsd_header(layout, head.at);
  return is_consistent(layout, &header, size) ? 2 : 1;
}


/* Find the layout of a 4.4BSD file that matches best, and return its match. */
static int find_bsd44 (const gmon_options *options, pf_bytes head,
                       uint64_t size, gmon_layout *layout) {
  int best = 0;
  unsigned candidate = 0;
  gmon_layout tried = *layout;
  while (best < 2 && next_candidate(options, &candidate, &tried)) {
    const int match = match_bsd44(&tried, head, size);
    if (match <= best)
      continue;
    best = match;
    *layout = tried;
  }
  layout->dialect = GMON_BSD44;
  return best;
}


/* Find the layout in which an old BSD header (low, high, ncnt) agrees with the
   size of the file: after header and bins, the rest is whole arcs. */
static bool find_bsd (const gmon_options *options, pf_bytes head, uint64_t size,
                      gmon_layout *layout) {
  unsigned candidate = 0;
  layout->dialect = GMON_BSD;
  while (next_candidate(options, &candidate, layout)) {
    layout->header_size = 2 * layout->width + 4;
    if (head.size < layout->header_size)
      continue;
    if (has_padding(layout, head))
      layout->header_size = 24;
    const gmon_bsd header = gmon_bsd_header(layout, head.at);
    if (is_consistent(layout, &header, size) &&
        (size - header.ncnt) % gmon_bsd_arc(layout) == 0)
      return true;
  }
  return false;
}


/* Whether a file whose sizes agree looks like old BSD: the range begins and
   ends at multiples of 4, there are arcs in `head` or bins, and at least half
   of these arcs call into the range, once or more. */
static bool is_plausible_bsd (const gmon_layout *layout, pf_bytes head) {
  const gmon_bsd header = gmon_bsd_header(layout, head.at);
  const uint64_t size = gmon_bsd_arc(layout);
  uint64_t arcs = 0, good = 0;
  if (header.low % 4 != 0 || header.high % 4 != 0)
    return false;
  for (uint64_t at = header.ncnt; at < head.size && head.size - at >= size;
       at += size) {
    const pf_bytes arc = {head.at + at, (size_t)size};
    pf_cursor c = pf_cursor_over(arc, layout->big);
    uint64_t from, self, count;
    if (!pf_take_uint(&c, layout->width, &from) ||
        !pf_take_uint(&c, layout->width, &self) ||
        !pf_take_uint(&c, layout->width, &count))
      return false;
    arcs++;
    good += self >= header.low && self < header.high && count > 0;
  }
  return good * 2 >= arcs && (arcs > 0 || header.ncnt > layout->header_size);
}


static bool is_gnu (pf_bytes head) {
  return head.size >= 4 && memcmp(head.at, "gmon", 4) == 0;
}


/* The magic number determines byte order and width. */
static bool find_apple (pf_bytes head, gmon_layout *layout) {
  layout->dialect = GMON_APPLE;
  if (head.size < 4)
    return false;
  for (unsigned big = 0; big < 2; big++) {
    const uint32_t magic = pf_load32(head.at, big);
    layout->big = big;
    layout->width = magic == GMON_APPLE_MAGIC ? 4 : 8;
    layout->header_size = 2 * layout->width + 24;
    if (magic == GMON_APPLE_MAGIC || magic == GMON_APPLE_MAGIC + 1)
      return true;
  }
  return false;
}


int gmon_score (pf_bytes head, uint64_t size) {
  const gmon_options nothing = {.dialect = -1, .order = -1};
  gmon_layout layout = {.dialect = GMON_GNU};
  if (is_gnu(head)) {
    if (head.size < 8)
      return 60; /* truncated inside its header */
    const uint32_t little = pf_load32le(head.at + 4);
    const uint32_t big = pf_load32be(head.at + 4);
    const uint32_t version = little < big ? little : big;
    if (version <= 1 || version == GMON_LD_VERSION)
      return 100;
    /* A large version number means that a text begins with "gmon". */
    return version <= MAX_VERSION ? 70 : 0;
  }
  if (find_apple(head, &layout))
    return 90;
  const int match = find_bsd44(&nothing, head, size, &layout);
  if (match > 0)
    return match == 2 ? 95 : 75;
  return find_bsd(&nothing, head, size, &layout) &&
                 is_plausible_bsd(&layout, head)
             ? 15 /* only sizes agree: any format with a signature wins */
             : 0;
}


static int order_of (const pf_trace *trace, const char *option) {
  return pf_option_is(trace, option, "big")      ? 1
         : pf_option_is(trace, option, "little") ? 0
                                                 : -1;
}


pf_status gmon_width_option (const pf_trace *trace, const char *name,
                             unsigned *width, pf_error *error) {
  const int64_t asked = pf_option_int(trace, name, 0);
  *width = (unsigned)asked;
  if (asked == 0 || asked == 4 || asked == 8)
    return PF_OK;
  return pf_refuse(error, "%s 4 or 8 expected, found %lld", name,
                   (long long)asked);
}


/* Read the options that choose a layout, and check their numbers. */
static pf_status read_options (const pf_trace *trace, gmon_options *options,
                               pf_error *error) {
  if (gmon_width_option(trace, "address_size", &options->width, error) !=
          PF_OK ||
      gmon_width_option(trace, "elf_class", &options->elf_width, error) !=
          PF_OK)
    return error->status;
  options->order = order_of(trace, "byte_order");
  options->elf_order = order_of(trace, "elf_order");
  options->dialect = -1;
  for (int i = 0; i < GMON_DIALECTS; i++)
    if (pf_option_is(trace, "dialect", gmon_dialect_names[i]))
      options->dialect = i;
  return PF_OK;
}


/* Returns the detected dialect, or -1. An old BSD file only needs sizes that
   agree: the format has been decided by the caller or by gmon_score, which is
   stricter. */
static int guess_dialect (const gmon_options *options, pf_bytes bytes) {
  gmon_layout layout = {.dialect = GMON_GNU};
  if (is_gnu(bytes)) {
    if (bytes.size < 8)
      return GMON_GNU;
    return pf_load32le(bytes.at + 4) == GMON_LD_VERSION ||
                   pf_load32be(bytes.at + 4) == GMON_LD_VERSION
               ? GMON_LD
               : GMON_GNU;
  }
  if (find_apple(bytes, &layout))
    return GMON_APPLE;
  if (find_bsd44(options, bytes, bytes.size, &layout) > 0)
    return GMON_BSD44;
  return find_bsd(options, bytes, bytes.size, &layout) ? GMON_BSD : -1;
}


/* Fail with a message of what was expected and found. */
static pf_status reject (pf_bytes bytes, const char *expected,
                         pf_error *error) {
  char found[64];
  if (bytes.size == 0)
    return pf_fail(error, PF_ETRUNCATED, 0, "%s expected, the file is empty",
                   expected);
  int used = 0;
  for (size_t i = 0; i < bytes.size && i < 8; i++)
    used += snprintf(found + used, sizeof found - (size_t)used, "%s%02x",
                     i > 0 ? " " : "", bytes.at[i]);
  return pf_fail(error, PF_EFORMAT, 0, "%s expected, found bytes %s", expected,
                 found);
}


static pf_status detect_bsd44 (const gmon_options *options, pf_bytes bytes,
                               gmon_layout *layout, pf_error *error) {
  if (find_bsd44(options, bytes, bytes.size, layout) == 0)
    return reject(bytes, "a 4.4BSD header with 0x00051879 at byte 12 or 20",
                  error);
  if (bytes.size < layout->header_size)
    return pf_fail(error, PF_ETRUNCATED, bytes.size,
                   "a 4.4BSD header of %u bytes expected, the file has %llu",
                   layout->header_size, (unsigned long long)bytes.size);
  const gmon_bsd header = gmon_bsd_header(layout, bytes.at);
  layout->version = header.signature;
  if (header.ncnt < layout->header_size)
    return pf_fail(error, PF_EFORMAT, 2 * layout->width,
                   "a size of header and bins of %u or more expected, found %u",
                   layout->header_size, (unsigned)header.ncnt);
  return PF_OK;
}


/* Determine the layout of an old BSD file. If none fits the size, address_size
   and byte_order must both be given. */
static pf_status detect_bsd (const gmon_options *options, pf_bytes bytes,
                             gmon_layout *layout, pf_error *error) {
  if (find_bsd(options, bytes, bytes.size, layout))
    return PF_OK;
  if (options->width == 0 || options->order < 0)
    return reject(bytes,
                  "an old BSD header that agrees with the size of the file "
                  "(or address_size and byte_order given)",
                  error);
  layout->width = options->width;
  layout->big = options->order == 1;
  layout->header_size = 2 * layout->width + 4;
  if (bytes.size < layout->header_size)
    return pf_fail(error, PF_ETRUNCATED, bytes.size,
                   "a header of %u bytes expected, the file has %llu",
                   layout->header_size, (unsigned long long)bytes.size);
  if (has_padding(layout, bytes))
    layout->header_size = 24;
  const gmon_bsd header = gmon_bsd_header(layout, bytes.at);
  if (header.ncnt >= layout->header_size && header.low <= header.high)
    return PF_OK;
  return reject(bytes, "an old BSD header: low, high, size", error);
}


pf_status gmon_detect (pf_trace *trace, gmon_layout *layout, pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  gmon_options options = {.dialect = -1};
  const pf_status status = read_options(trace, &options, error);
  if (status < 0)
    return status;
  *layout = (gmon_layout){.dialect = GMON_GNU, .counter = 2, .arc_count = 4};
  const int dialect =
      options.dialect >= 0 ? options.dialect : guess_dialect(&options, bytes);
  if (dialect < 0)
    return reject(bytes,
                  "\"gmon\", Apple's 0xbeefbabe, a 4.4BSD header with "
                  "0x00051879 at byte 12 or 20, or an old BSD header that "
                  "agrees with the size of the file",
                  error);
  layout->dialect = (gmon_dialect)dialect;
  if (dialect == GMON_GNU && pf_option_int(trace, "counter_bits", 0) == 64)
    layout->counter = layout->arc_count = 8;
  switch (layout->dialect) {
    case GMON_APPLE:
      if (!find_apple(bytes, layout))
        return reject(bytes, "Apple's 0xbeefbabe or 0xbeefbabf", error);
      layout->version = pf_load32(bytes.at, layout->big);
      return PF_OK;
    case GMON_BSD44: return detect_bsd44(&options, bytes, layout, error);
    case GMON_BSD: return detect_bsd(&options, bytes, layout, error);
    default: break;
  }
  if (!is_gnu(bytes))
    return reject(bytes, "\"gmon\"", error);
  if (bytes.size < GMON_GNU_HEADER)
    return pf_fail(error, PF_ETRUNCATED, bytes.size,
                   "a header of %d bytes expected, the file has %llu",
                   GMON_GNU_HEADER, (unsigned long long)bytes.size);
  return gmon_detect_gnu(trace, &options, layout, error);
}
