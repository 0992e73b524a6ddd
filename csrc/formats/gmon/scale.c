/*
** scale.c - converts bins to addresses and back.
**
** profil(2) counts a sample at pc in bin ((pc - low) / 2 * s) / 65536, in
** integer arithmetic. The C library computes s in single precision:
**
**   s = (int)((float)size_of_bins / range * 65536)     size = 2 * bins
**
** So bin i begins at low + 2 * ceil(i * 65536 / s). gprof divides the range
** evenly instead. The difference accumulates: at the end of 440 kB of code the
** bins of a real file begin 8 bytes too low, and time is attributed to the
** wrong function. Writers that do not call profil (debuggers, simulators,
** firmware) divide the range evenly: bin (pc - low) * bins / range begins at
** low + ceil(i * range / bins). They are recognised by a number of bins that
** monstartup of no C library chooses for the range. Used by histogram.c and
** encode_gmon.c. Nothing is allocated.
*/

#include "formats/gmon/gmon.h"

#define FULL_SCALE 65536 /* one bin for each 2 bytes */


/* profil's scale as computed in single precision. `volatile` keeps the compiler
   from using more precision. */
static uint64_t single_scale (uint64_t size, uint64_t range) {
  volatile float quotient = (float)size;
  volatile float divisor = (float)range;
  quotient /= divisor;
  quotient *= (float)FULL_SCALE;
  return (uint64_t)quotient;
}


/* Whether monstartup of a C library can have chosen this number of bins, of 2
   bytes each. It extends the range to a multiple of 4 bytes, and rounds half of
   it (HISTFRACTION is 2), the size of the bins, up to the size of an entry of
   `froms`: 4 or 8 bytes in glibc. Elsewhere it is not rounded, or to 2 bytes:
   then a bin has exactly 4 bytes. */
static bool fits_monstartup (uint64_t range, uint64_t bins) {
  const uint64_t half = range / 2;
  return range % 4 == 0 &&
         (2 * bins == (half + 3) / 4 * 4 || 2 * bins == (half + 7) / 8 * 8);
}


/* Extended precision gives the exact quotient: a 64-bit mantissa never rounds
   it up to an integer, because the operands have 32 bits. */
gmon_scale gmon_scale_of (uint64_t low, uint64_t high, uint64_t bins,
                          bool extended) {
  gmon_scale scale = {.low = low, .bins = bins};
  if (high <= low || bins == 0)
    return scale;
  scale.range = high - low;
  if (scale.range % (2 * bins) == 0)
    scale.bin_size = scale.range / bins;
  else if (bins <= scale.range && !fits_monstartup(scale.range, bins))
    return scale; /* divided evenly */
  else if (2 * bins >= scale.range)
    scale.factor = FULL_SCALE;
  else
    scale.factor = extended ? 2 * bins * FULL_SCALE / scale.range
                            : single_scale(2 * bins, scale.range);
  return scale;
}


uint64_t gmon_bin_start (const gmon_scale *scale, uint64_t bin) {
  if (scale->range == 0)
    return scale->low;
  if (scale->bin_size != 0)
    return scale->low + scale->bin_size * bin;
  if (scale->factor == 0) {
    /* rest * bin stays below 2^64 */
    const uint64_t whole = scale->range / scale->bins;
    const uint64_t rest = scale->range % scale->bins * bin;
    return scale->low + whole * bin + rest / scale->bins +
           (rest % scale->bins != 0);
  }
  return scale->low +
         2 * ((bin * FULL_SCALE + scale->factor - 1) / scale->factor);
}


/* Returns a bin close to the one that begins `distance` bytes after `low`. */
static uint64_t estimate_bin (const gmon_scale *scale, uint64_t distance) {
  if (scale->bin_size != 0)
    return distance / scale->bin_size;
  if (scale->factor != 0)
    return distance / 2 > UINT64_MAX / FULL_SCALE
               ? UINT64_MAX
               : distance / 2 * scale->factor / FULL_SCALE;
  return distance / (scale->range / scale->bins);
}


/* Whether `cut` places its first `bins` bins as `scale` does. Equal factors
   imply it; other scales are compared bin by bin. */
static bool is_prefix (const gmon_scale *scale, const gmon_scale *cut,
                       uint64_t bins) {
  if (cut->bin_size == 0 && scale->bin_size == 0 && cut->factor != 0 &&
      scale->factor != 0)
    return cut->factor == scale->factor;
  for (uint64_t i = 0; i <= bins; i++)
    if (gmon_bin_start(scale, i) != gmon_bin_start(cut, i))
      return false;
  return true;
}


/* gmon_scale_shorten for a range that is divided evenly. All starts are kept by
   any bytes per bin up to the minimum of start(i) / i, which is itself a
   quotient of a range and a number of bins; the two are doubled, tripled and so
   on until there are enough bins. */
static bool shorten_evenly (const gmon_scale *scale, bool extended,
                            uint64_t *bins, uint64_t *high) {
  const uint64_t needed = *bins, rest = scale->range % scale->bins;
  uint64_t part = 1, part_gap = scale->bins;
  for (uint64_t i = 1; i <= needed; i++) {
    /* start(i) is gap / scale->bins above the exact quotient */
    const uint64_t over = rest * i % scale->bins;
    const uint64_t gap = over == 0 ? 0 : scale->bins - over;
    if (gap * part < part_gap * i) {
      part = i;
      part_gap = gap;
    }
  }
  const uint64_t size = gmon_bin_start(scale, part) - scale->low;
  for (uint64_t n = (needed + part - 1) / part; n * part <= 2 * needed; n++) {
    const gmon_scale cut =
        gmon_scale_of(scale->low, scale->low + n * size, n * part, extended);
    if (!is_prefix(scale, &cut, needed))
      continue;
    *bins = n * part;
    *high = scale->low + n * size;
    return true;
  }
  return false;
}


/* Tries ranges up to 16 bytes shorter or longer, because scales are rounded,
   and more bins, because the scale of few bins is coarse. */
bool gmon_scale_shorten (const gmon_scale *scale, bool extended, uint64_t *bins,
                         uint64_t *high) {
  const uint64_t needed = *bins;
  if (scale->range != 0 && scale->factor == 0)
    return shorten_evenly(scale, extended, bins, high);
  for (uint64_t count = needed; count <= 2 * needed + 4096;
       count += count / 64 + 1) {
    const uint64_t end = gmon_bin_start(scale, count);
    for (uint64_t range = end - scale->low < 16 ? 2 : end - scale->low - 16;
         range <= end - scale->low + 16; range += 2) {
      const gmon_scale cut =
          gmon_scale_of(scale->low, scale->low + range, count, extended);
      if (!is_prefix(scale, &cut, needed))
        continue;
      *bins = count;
      *high = scale->low + range;
      return true;
    }
  }
  return false;
}


bool gmon_bin_at (const gmon_scale *scale, uint64_t address, uint64_t *bin) {
  if (scale->range == 0 || address < scale->low)
    return false;
  uint64_t guess = estimate_bin(scale, address - scale->low);
  if (guess > scale->bins)
    return false;
  while (guess > 0 && gmon_bin_start(scale, guess) > address)
    guess--;
  while (guess < scale->bins && gmon_bin_start(scale, guess) < address)
    guess++;
  *bin = guess;
  return guess < scale->bins && gmon_bin_start(scale, guess) == address;
}
