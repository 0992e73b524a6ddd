/*
** counters.c - detects what most BSD headers do not state: the width of bins
** and of arc counts, and the rate of old files; and applies the options
** counter_bits, arc_count_bits and rate. Guesses are reported as notes. Called
** by open_gmon.c; nothing is allocated.
*/

#include "formats/gmon/gmon.h"

/* Minimum of an upper half that is taken as garbage if the only two arcs share
   it: no program makes 2^40 calls over each of its arcs. */
#define GARBAGE_HALF 256


static bool is_counter_type (int64_t bits) {
  if (bits < -64 || bits > 64)
    return false;
  const int64_t size = bits < 0 ? -bits : bits;
  return size == 0 || size == 8 || size == 16 || size == 32 || size == 64;
}


static unsigned bytes_of (int64_t bits) {
  return (unsigned)((bits < 0 ? -bits : bits) / 8);
}


static void set_counter (gmon_layout *layout, int64_t bits) {
  layout->is_signed = bits < 0;
  layout->counter = bytes_of(bits);
}


/* Whether the sizes agree with the stated counter type: it divides the stated
   bytes of bins, and either whole arcs fill the rest of the file or each bin
   has 4 bytes of code. */
static bool matches_sizes (const gmon_layout *layout, const gmon_bsd *header,
                           uint64_t size) {
  if (!is_counter_type(header->counter) || header->ncnt < layout->header_size)
    return false;
  const uint64_t width = bytes_of(header->counter);
  const uint64_t data = header->ncnt - layout->header_size;
  const uint64_t range = header->high - header->low;
  if (width == 0 || data % width != 0)
    return false;
  if (header->ncnt <= size && (size - header->ncnt) % gmon_bsd_arc(layout) == 0)
    return true;
  return data / width >= range / 4 && data / width <= range / 4 + 16;
}


/* Handheld consoles write 32-bit bins without stating it: give a hint. */
static pf_status note_wide_bins (pf_trace *trace, const gmon_layout *layout,
                                 const gmon_bsd *header, pf_error *error) {
  const uint64_t range = header->high - header->low;
  if (layout->width != 4 || header->high <= header->low ||
      header->ncnt < layout->header_size ||
      header->ncnt - layout->header_size != (range + 3) / 4 * 4)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "gmon-counter-32", PF_EFORMAT,
                 2 * layout->width, error,
                 "the bins take as many bytes as the code: if this is from a "
                 "PSP or PS Vita pass counter_bits = 32");
}


static pf_status detect_bins (pf_trace *trace, gmon_layout *layout,
                              pf_error *error) {
  const int64_t asked = pf_option_int(trace, "counter_bits", 0);
  const pf_bytes bytes = trace->sources[0].bytes;
  if (!is_counter_type(asked))
    return pf_refuse(error,
                     "counter_bits 8, 16, 32 or 64 expected, or one of these "
                     "below 0, found %lld",
                     (long long)asked);
  if (asked != 0) {
    set_counter(layout, asked);
    return PF_OK;
  }
  if (layout->dialect == GMON_APPLE)
    return PF_OK;
  const gmon_bsd header = gmon_bsd_header(layout, bytes.at);
  if (layout->dialect == GMON_BSD44) {
    if (matches_sizes(layout, &header, bytes.size)) {
      set_counter(layout, header.counter);
      return PF_OK;
    }
    const pf_status status =
        header.counter == 0
            ? PF_OK
            : pf_warn(trace, PF_NOTE, "gmon-counter-type", PF_EFORMAT,
                      2 * layout->width + 12, error,
                      "the spare word 0x%08x is not a type of counter that "
                      "fits the sizes: bins are taken as 16 bits",
                      (unsigned)header.counter);
    if (status < 0)
      return status;
  }
  return note_wide_bins(trace, layout, &header, error);
}


/* Whether the counts of all arcs have the same upper half, as in files of
   64-bit Windows, and it cannot be part of them: of at least three arcs it is
   not 0, of two it is large. */
static bool has_garbage_halves (const gmon_layout *layout, pf_bytes bytes) {
  gmon_parser parser = gmon_new_parser(layout, bytes, NULL, NULL);
  gmon_segment segment;
  uint64_t arcs = 0;
  uint32_t first = 0;
  while (gmon_next_segment(&parser, &segment) == PF_MORE) {
    if (segment.kind != GMON_ARCS)
      continue;
    for (uint64_t i = 0; i < segment.count; i++) {
      const uint8_t *const arc =
          bytes.at + segment.items_at + i * segment.stride;
      const uint32_t half = pf_load32le(arc + 20);
      if (arcs++ == 0)
        first = half;
      if (half == 0 || half != first)
        return false;
    }
  }
  return arcs >= 3 || (arcs == 2 && first >= GARBAGE_HALF);
}


static pf_status detect_arc_counts (pf_trace *trace, gmon_layout *layout,
                                    pf_error *error) {
  const int64_t asked = pf_option_int(trace, "arc_count_bits", 0);
  if (asked != 0 && asked != 32 && asked != 64)
    return pf_refuse(error, "arc_count_bits 32 or 64 expected, found %lld",
                     (long long)asked);
  layout->arc_count = layout->width;
  if (layout->width != 8 || asked == 64)
    return PF_OK;
  if (asked != 32) {
    if (layout->big || !has_garbage_halves(layout, trace->sources[0].bytes))
      return PF_OK;
    const pf_status status = pf_warn(
        trace, PF_NOTE, "gmon-arc-padding", PF_EFORMAT, PF_NO_OFFSET, error,
        "all counts of arcs have the same upper half: taken as padding after "
        "counts of 32 bits; pass arc_count_bits = 64 to keep it");
    if (status < 0)
      return status;
  }
  /* in big-endian files too, the count precedes the padding */
  layout->arc_count = 4;
  return PF_OK;
}


pf_status gmon_detect_counters (pf_trace *trace, gmon_layout *layout,
                                pf_error *error) {
  const int64_t rate = pf_option_int(trace, "rate", 0);
  if (rate < 0 || rate > UINT32_MAX)
    return pf_refuse(error,
                     "rate: 1 to %lld expected, or 0 for the rate of the "
                     "file, found %lld",
                     (long long)UINT32_MAX, (long long)rate);
  layout->rate = (uint32_t)rate;
  if (layout->dialect == GMON_GNU || layout->dialect == GMON_LD)
    return PF_OK;
  pf_status status = detect_bins(trace, layout, error);
  if (status < 0 || layout->dialect == GMON_APPLE)
    return status;
  status = detect_arc_counts(trace, layout, error);
  if (status < 0 || layout->dialect != GMON_BSD || layout->rate != 0)
    return status;
  return pf_warn(trace, PF_NOTE, "gmon-rate-guessed", PF_EFORMAT, PF_NO_OFFSET,
                 error,
                 "the file does not state its sampling rate: %d Hz is taken; "
                 "give another with rate = N",
                 GMON_BSD_RATE);
}
