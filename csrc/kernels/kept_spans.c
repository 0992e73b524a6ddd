/*
** kept_spans.c - spans by lane, a strand of bytes for each.
**
** A span's beginning or end is two numbers of 7 bits a byte, the low ones
** first: the time since the one before it in its lane, and twice its frame,
** plus 1 where it opens.
*/

#include "kernels/kept_spans.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/relay.h"
#include "model/areas.h"
#include "model/memory.h"
#include "model/strands.h"

typedef struct kept_lane {
  uint64_t rows;
  int64_t time; /* of the last one */
} kept_lane;

struct pf_kept_spans {
  pf_reader *spans;
  pf_strands strands;
  kept_lane *lanes;
  size_t nlanes, lanes_room;
  uint32_t *frames; /* the area of each, the first one that of frame 1 */
  size_t nframes, frames_room;
  uint32_t opens; /* the name "open" */
};


/* {====== Writing ====== */

static pf_status out_of_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


static bool add_lanes (pf_kept_spans *k, size_t count) {
  void *lanes = k->lanes;
  const bool grown =
      pf_array_widen(&lanes, &k->lanes_room, count, sizeof *k->lanes);
  k->lanes = lanes;
  for (; grown && k->nlanes < count; k->nlanes++)
    k->lanes[k->nlanes] = (kept_lane){0, 0};
  return grown;
}


/* Frames come in the order of their numbers. */
static bool add_frame (pf_kept_spans *k, uint32_t area) {
  void *frames = k->frames;
  const bool grown = pf_array_widen(&frames, &k->frames_room, k->nframes + 1,
                                    sizeof *k->frames);
  k->frames = frames;
  if (grown)
    k->frames[k->nframes++] = area;
  return grown;
}


static void put_number (pf_strand *s, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    s->last[s->used++] = (uint8_t)(value | 0x80);
  s->last[s->used++] = (uint8_t)value;
}


static pf_status keep (pf_kept_spans *k, const pf_column *c, size_t row,
                       pf_error *error) {
  const size_t lane = (size_t)c[PF_SPAN_LANE].ints[row];
  const uint64_t frame = (uint64_t)c[PF_SPAN_FRAME].ints[row];
  const int64_t time = c[PF_SPAN_TIME].ints[row];
  const bool opens = c[PF_SPAN_KIND].ids[row] == k->opens;
  if ((lane >= k->nlanes && !add_lanes(k, lane + 1)) ||
      (frame > k->nframes && !add_frame(k, c[PF_SPAN_AREA].ids[row])))
    return out_of_memory(error);
  const pf_status status = pf_strands_reserve(&k->strands, lane, error);
  if (status != PF_OK)
    return status;
  kept_lane *const l = &k->lanes[lane];
  put_number(&k->strands.strands[lane], (uint64_t)time - (uint64_t)l->time);
  put_number(&k->strands.strands[lane], frame << 1 | (opens ? 1 : 0));
  l->time = time;
  l->rows++;
  return PF_OK;
}


/* Keep a batch of spans; in any thread. */
static pf_status keep_batch (void *context, const pf_pull *pull,
                             const uint32_t *notes, pf_error *error) {
  pf_status status = PF_OK;
  (void)notes;
  for (size_t row = 0; row < pull->batch.rows && status == PF_OK; row++)
    status = keep(context, pull->batch.columns, row, error);
  return status;
}


static pf_status keep_all (pf_kept_spans *k, pf_error *error) {
  bool wanted[PF_SPAN_FIELDS];
  memset(wanted, true, sizeof wanted);
  const pf_relay relay = {
      .wanted = wanted, .sparse = -1, .take = keep_batch, .context = k};
  k->opens = pf_intern_text(k->spans->dictionary, "open");
  if (k->opens == PF_NO_NAME)
    return out_of_memory(error);
  return pf_relay_read(&relay, k->spans, error);
}


pf_status pf_kept_spans_open (pf_reader *events, const pf_spans *options,
                              pf_kept_spans **kept, pf_error *error) {
  pf_kept_spans *const k = calloc(1, sizeof *k);
  if (k == NULL)
    return out_of_memory(error);
  pf_status status = pf_spans_open(events, options, &k->spans, error);
  if (status == PF_OK)
    status = keep_all(k, error);
  if (status != PF_OK) {
    pf_kept_spans_close(k);
    return status;
  }
  *kept = k;
  return PF_OK;
}


void pf_kept_spans_close (pf_kept_spans *k) {
  if (k == NULL)
    return;
  pf_strands_close(&k->strands);
  free(k->lanes);
  free(k->frames);
  if (k->spans != NULL)
    k->spans->close(k->spans);
  free(k);
}

/* }====== */


/* {====== What there is ====== */

void pf_kept_spans_ends (const pf_kept_spans *k, int64_t *first,
                         int64_t *last) {
  pf_spans_ends(k->spans, first, last);
}


const pf_events *pf_kept_spans_events (const pf_kept_spans *k) {
  return pf_spans_events(k->spans);
}


uint32_t pf_kept_spans_lanes (const pf_kept_spans *k) {
  const pf_events *const events = pf_kept_spans_events(k);
  return pf_events_have_lanes(events) ? (uint32_t)events->lanes.count : 1;
}


uint64_t pf_kept_spans_rows (const pf_kept_spans *k, uint32_t lane) {
  return lane < k->nlanes ? k->lanes[lane].rows : 0;
}

/* }====== */


/* {====== The reader of a lane ====== */

enum {
  KIND,
  TIME,
  FRAME,
  LANE_FIELDS
};

static const pf_field lane_fields[LANE_FIELDS] = {
    {"kind", PF_NAME, "open or close", false},
    {"time", PF_INT, "since the origin, ns", false},
    {"frame", PF_INT, "of what, by first sight", false},
};

typedef struct lane_reader {
  pf_reader reader;
  pf_strand_reader strand;
  int64_t time;
  uint32_t words[2]; /* close, open */
} lane_reader;


static uint64_t take_number (pf_strand_reader *s) {
  uint64_t value = 0;
  unsigned shift = 0;
  for (; (*s->at & 0x80) != 0; shift += 7)
    value |= (uint64_t)(*s->at++ & 0x7f) << shift;
  return value | (uint64_t)*s->at++ << shift;
}


static void take_row (lane_reader *r, pf_column *c, size_t row) {
  r->time = (int64_t)((uint64_t)r->time + take_number(&r->strand));
  const uint64_t frame = take_number(&r->strand);
  if (c[KIND].data != NULL)
    c[KIND].ids[row] = r->words[frame & 1];
  if (c[TIME].data != NULL)
    c[TIME].ints[row] = r->time;
  if (c[FRAME].data != NULL)
    c[FRAME].ints[row] = (int64_t)(frame >> 1);
}


static pf_status lane_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  lane_reader *const r = (lane_reader *)(void *)self;
  pf_status status = PF_OK;
  pf_batch_clear(batch);
  while (batch->rows < PF_BATCH_ROWS && status == PF_OK)
    if (r->strand.at < r->strand.end)
      take_row(r, batch->columns, batch->rows++);
    else
      status = pf_strand_next(&r->strand, error);
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : PF_END;
}


static void free_reader (pf_reader *self) {
  free(self);
}


pf_status pf_kept_spans_reader (const pf_kept_spans *k, uint32_t lane,
                                int64_t origin, pf_reader **reader,
                                pf_error *error) {
  lane_reader *const r = calloc(1, sizeof *r);
  pf_dictionary *const dictionary = k->spans->dictionary;
  if (r == NULL)
    return out_of_memory(error);
  r->reader = (pf_reader){.fields = lane_fields,
                          .nfields = LANE_FIELDS,
                          .dictionary = dictionary,
                          .next = lane_next,
                          .close = free_reader};
  r->strand.strands = &k->strands;
  r->strand.number = lane;
  r->time = (int64_t)(0 - (uint64_t)origin);
  r->words[0] = pf_intern_text(dictionary, "close"); /* known already */
  r->words[1] = k->opens;
  *reader = &r->reader;
  return PF_OK;
}

/* }====== */


/* {====== The reader of frames ====== */

typedef struct frames_reader {
  pf_reader reader;
  const pf_kept_spans *kept;
  pf_field fields[2]; /* frame, area */
  uint32_t next;
} frames_reader;


static pf_status frames_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  frames_reader *const r = (frames_reader *)(void *)self;
  pf_column *const c = batch->columns;
  (void)error;
  pf_batch_clear(batch);
  for (; batch->rows < PF_BATCH_ROWS && r->next < r->kept->nframes; r->next++) {
    const size_t row = batch->rows++;
    if (c[0].data != NULL)
      c[0].ints[row] = (int64_t)r->next + 1;
    if (c[1].data != NULL)
      c[1].ids[row] = r->kept->frames[r->next];
  }
  return batch->rows > 0 ? PF_MORE : PF_END;
}


pf_status pf_kept_spans_frames (const pf_kept_spans *k, pf_reader **reader,
                                pf_error *error) {
  frames_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return out_of_memory(error);
  r->kept = k;
  r->fields[0] = (pf_field){"frame", PF_INT, "its number, from 1", false};
  r->fields[1] = k->spans->fields[PF_SPAN_AREA];
  r->reader = (pf_reader){.fields = r->fields,
                          .nfields = 2,
                          .dictionary = k->spans->dictionary,
                          .next = frames_next,
                          .close = free_reader};
  *reader = &r->reader;
  return PF_OK;
}

/* }====== */
