/*
** sum_gmon.c - pf_format.sum: adds up files of one program, such as thousands
** of small ones, without opening each as a trace.
**
** A file is added if it equals the first one up to the bins of its only
** histogram, and has nothing but arcs after them. These bytes determine the
** layout: the histogram header is plausible in one width (see width.c). So the
** file is read as the first one is, and without warnings.
**
** The sum is a file with counts of 8 bytes (see gnu.c). Called by
** lua/file_sum.c, which owns the sum; `close` frees all its memory.
*/

#include <stdlib.h>

#include "formats/gmon/gmon.h"
#include "model/base/memory.h"
#include "model/base/pair_counts.h"
#include "model/base/switches.h"
#include "model/dictionary/names.h"
#include "model/rows/sum.h"

typedef struct gmon_sum {
  pf_sum sum;
  gmon_layout layout;
  uint64_t nbins;
  uint64_t *bins;      /* their sums */
  uint8_t *start;      /* the first bytes of each file: both headers */
  size_t start_size;   /* bytes before the bins */
  size_t arcs_at;      /* bytes before the arcs */
  size_t stride;       /* bytes of an arc */
  pf_pair_counts arcs; /* in the order of first occurrence */
} gmon_sum;


/* Whether the file has the headers of the first one, all bins, and then only
   arcs. */
static bool is_like_first (const gmon_sum *self, pf_bytes bytes) {
  if (bytes.size < self->arcs_at ||
      (bytes.size - self->arcs_at) % self->stride != 0 ||
      memcmp(bytes.at, self->start, self->start_size) != 0)
    return false;
  for (size_t at = self->arcs_at; at < bytes.size; at += self->stride)
    if (bytes.at[at] != 1)
      return false;
  return true;
}


/* Adds bins to their sums. Most of them are 0, so four are skipped at once. */
static void add_bins (uint64_t *sums, const uint8_t *bins, uint64_t count,
                      bool big) {
  uint64_t i = 0;
  while (i < count)
    if (count - i >= 4 && pf_load64le(bins + 2 * i) == 0)
      i += 4;
    else {
      sums[i] += pf_load16(bins + 2 * i, big);
      i++;
    }
}


static pf_status add (pf_sum *sum, pf_bytes bytes, pf_error *error) {
  gmon_sum *const self = (gmon_sum *)sum;
  const gmon_layout *const layout = &self->layout;
  if (!is_like_first(self, bytes))
    return PF_END;
  add_bins(self->bins, bytes.at + self->start_size, self->nbins, layout->big);
  for (const uint8_t *at = bytes.at + self->arcs_at; at < bytes.at + bytes.size;
       at += self->stride) {
    pf_pair_count *const arc =
        pf_pair_counts_get(&self->arcs, gmon_address(layout, at + 1),
                           gmon_address(layout, at + 1 + layout->width));
    if (arc == NULL)
      return pf_no_memory(error);
    arc->count += pf_load32(at + 1 + 2 * layout->width, layout->big);
    sum->arcs++;
  }
  return PF_MORE;
}


static pf_status merge (pf_sum *sum, const pf_sum *other, pf_error *error) {
  gmon_sum *const self = (gmon_sum *)sum;
  const gmon_sum *const more = (const gmon_sum *)other;
  for (uint64_t i = 0; i < self->nbins; i++)
    self->bins[i] += more->bins[i];
  for (uint32_t i = 0; i < more->arcs.known.count; i++) {
    const pf_pair_count *const arc = &more->arcs.list[i];
    pf_pair_count *const sums = pf_pair_counts_get(&self->arcs, arc->a, arc->b);
    if (sums == NULL)
      return pf_no_memory(error);
    sums->count += arc->count;
  }
  sum->arcs += other->arcs;
  return PF_OK;
}


static void write_sum (pf_sum *sum, pf_sink *sink) {
  const gmon_sum *const self = (const gmon_sum *)sum;
  const gmon_layout *const layout = &self->layout;
  (void)pf_sink_put(sink, self->start, self->start_size);
  for (uint64_t i = 0; i < self->nbins; i++)
    (void)pf_sink_uint(sink, 8, layout->big, self->bins[i]);
  for (uint32_t i = 0; i < self->arcs.known.count; i++) {
    const pf_pair_count *const arc = &self->arcs.list[i];
    (void)pf_sink_uint(sink, 1, layout->big, 1);
    (void)pf_sink_uint(sink, layout->width, layout->big, arc->a);
    (void)pf_sink_uint(sink, layout->width, layout->big, arc->b);
    (void)pf_sink_uint(sink, 8, layout->big, arc->count);
  }
}


static void close_sum (pf_sum *sum) {
  gmon_sum *const self = (gmon_sum *)sum;
  pf_pair_counts_close(&self->arcs);
  free(self->bins);
  free(self->start);
  free(self);
}


/* Opens an empty sum with the fixed members of `like`; `start` are the first
   bytes of each file. */
static pf_status open_sum (const gmon_sum *like, const uint8_t *start,
                           pf_sum **sum, pf_error *error);


static pf_status open_like (const pf_sum *sum, pf_sum **other,
                            pf_error *error) {
  const gmon_sum *const like = (const gmon_sum *)sum;
  return open_sum(like, like->start, other, error);
}


static pf_status open_sum (const gmon_sum *like, const uint8_t *start,
                           pf_sum **sum, pf_error *error) {
  gmon_sum *const self = calloc(1, sizeof *self);
  *sum = NULL;
  if (self == NULL)
    return pf_no_memory(error);
  self->sum = (pf_sum){.add = add,
                       .open_like = open_like,
                       .merge = merge,
                       .write = write_sum,
                       .close = close_sum};
  self->layout = like->layout;
  self->nbins = like->nbins;
  self->start_size = like->start_size;
  self->arcs_at = like->arcs_at;
  self->stride = like->stride;
  self->arcs.known.seed = like->arcs.known.seed;
  self->bins = self->nbins <= SIZE_MAX
                   ? calloc((size_t)self->nbins, sizeof *self->bins)
                   : NULL;
  self->start = malloc(self->start_size);
  if (self->bins == NULL || self->start == NULL) {
    close_sum(&self->sum);
    return pf_no_memory(error);
  }
  memcpy(self->start, start, self->start_size);
  *sum = &self->sum;
  return PF_OK;
}


/* Finds the histogram of the first file; returns whether files like it can be
   added up: there are no warnings, one histogram, and then only arcs. */
static bool find_histogram (const pf_trace *first, gmon_segment *histogram) {
  const gmon_file *const file = first->state;
  const gmon_layout *const layout = &file->layout;
  if (!PF_FAST(FILES) || layout->dialect != GMON_GNU || layout->version != 1 ||
      layout->counter != 2 || layout->arc_count != 4 ||
      pf_warning_count(first->notes) > 0 || file->totals.sets != 1)
    return false;
  gmon_parser parser =
      gmon_new_parser(layout, first->sources[0].bytes, NULL, NULL);
  gmon_segment header, rest = {.kind = GMON_ARCS};
  (void)gmon_next_segment(&parser, &header);
  if (gmon_next_segment(&parser, histogram) != PF_MORE ||
      histogram->kind != GMON_HISTOGRAM)
    return false;
  while (rest.kind == GMON_ARCS)
    if (gmon_next_segment(&parser, &rest) != PF_MORE)
      return true;
  return false;
}


pf_status gmon_open_sum (const pf_trace *first, pf_sum **sum, pf_error *error) {
  gmon_segment histogram;
  *sum = NULL;
  if (!find_histogram(first, &histogram))
    return PF_OK;
  gmon_sum like = {.layout = ((const gmon_file *)first->state)->layout,
                   .nbins = histogram.count,
                   .start_size = (size_t)histogram.items_at};
  like.arcs_at = like.start_size + 2 * (size_t)like.nbins;
  like.stride = 1 + 2 * like.layout.width + 4;
  like.arcs.known.seed = first->dictionary->seed;
  return open_sum(&like, first->sources[0].bytes.at, sum, error);
}
