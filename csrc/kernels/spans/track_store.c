/*
** track_store.c - stores the spans of each track in a spill buffer.
**
** A row is a list of variable-length integers (LEB128): the time since the
** previous row on the track; 8 times the frame, plus the kind; for a close also
** the net time plus 1, or 0 if it is missing, and the flags.
*/

#include "kernels/spans/spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/dictionary/areas.h"
#include "model/base/memory.h"
#include "model/rows/spill.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

/* A call without an enter, which is opened at a base. */
typedef struct late_span {
  uint32_t base; /* number of bases of the track up to its base */
  uint32_t frame;
} late_span;

typedef struct stored_track {
  uint64_t rows; /* opens and closes */
  int64_t time;  /* of the last row */
  uint32_t bases;
  late_span *late; /* the outermost of a base last */
  size_t nlate, late_capacity;
} stored_track;

struct pf_span_store {
  pf_dictionary *dictionary;
  char *(*put_number)(char *at, double value);
  pf_span_tracks known;
  pf_spill spill;
  stored_track *tracks;
  size_t ntracks;        /* capacity; tracks without rows are zeros */
  pf_span_frame *frames; /* index 0 is frame 1 */
  size_t nframes, frames_capacity;
  uint32_t words[PF_SPAN_RUN + 1];         /* names of the kinds */
  uint32_t flags[1 << PF_CALL_FLAG_NAMES]; /* names of flag sets, or
                                              PF_NO_NAME */
};


static void put_row (pf_spill_buffer *s, stored_track *t, const pf_span *span) {
  uint8_t *at = s->last + s->used;
  at = pf_save_varint(at, (uint64_t)span->time - (uint64_t)t->time);
  at = pf_save_varint(at, (uint64_t)span->frame << 3 | span->kind);
  t->time = span->time;
  if (span->kind == PF_SPAN_CLOSE) {
    at = pf_save_varint(at,
                        span->net == PF_NO_TIME ? 0 : (uint64_t)span->net + 1);
    at = pf_save_varint(at, span->flags);
  }
  s->used = (uint32_t)(at - s->last);
}


/* Frames come in the order of their ids. */
static pf_status store_span (void *context, const pf_span *span,
                             pf_error *error) {
  pf_span_store *const k = context;
  if (!pf_grow_filled(&k->tracks, &k->ntracks, (size_t)span->track + 1, 0) ||
      !pf_grow(&k->frames, &k->frames_capacity, (size_t)span->frame))
    return pf_no_memory(error);
  if (span->frame > k->nframes)
    k->frames[k->nframes++] = (pf_span_frame){
        .area = span->area, .name = PF_NO_NAME, .value = span->value};
  stored_track *const t = &k->tracks[span->track];
  t->rows += span->kind <= PF_SPAN_LATE;
  t->bases += span->kind == PF_SPAN_BASE;
  if (span->kind == PF_SPAN_LATE) {
    if (!pf_grow(&t->late, &t->late_capacity, t->nlate + 1))
      return pf_no_memory(error);
    t->late[t->nlate++] = (late_span){t->bases, span->frame};
    return PF_OK;
  }
  const pf_status status = pf_spill_reserve(&k->spill, span->track, error);
  if (status == PF_OK)
    put_row(&k->spill.buffers[span->track], t, span);
  return status;
}


/* The name of a frame: the name of its area, followed by its value. */
static uint32_t frame_name (const pf_span_store *k,
                            const pf_span_frame *frame) {
  pf_dictionary *const d = k->dictionary;
  const pf_events *const events = &k->known.events;
  const pf_type type = events->reader->fields[events->area].type;
  const uint32_t name =
      type == PF_AREA ? pf_area_name(d, frame->area) : frame->area;
  if (!frame->value.is_known)
    return name;
  const pf_bytes text = pf_name(d, name);
  char *const both = malloc(text.size + 32);
  if (both == NULL)
    return PF_NO_NAME;
  if (text.size > 0)
    memcpy(both, text.at, text.size);
  char *end = both + text.size;
  *end++ = '=';
  end = frame->value.is_number
            ? k->put_number(end, pf_span_number(&frame->value))
            : end + snprintf(end, 31, "%" PRId64, frame->value.bits);
  const uint32_t number =
      pf_intern(d, (pf_bytes){(const uint8_t *)both, (size_t)(end - both)});
  free(both);
  return number;
}


/* Intern the names of all frames and kinds. */
static pf_status find_names (pf_span_store *k, pf_error *error) {
  static const char *const words[] = {"open", "close", "open",
                                      "",     "idle",  "run"};
  if (pf_intern_texts(k->dictionary, words, PF_SPAN_RUN + 1, k->words, error) !=
      PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < k->nframes; i++) {
    pf_span_frame *const frame = &k->frames[i];
    frame->name = frame_name(k, frame);
    if (frame->name == PF_NO_NAME && frame->value.is_known)
      return PF_ENOMEM;
  }
  for (unsigned i = 1; i < 1u << PF_CALL_FLAG_NAMES; i++) {
    char text[64];
    pf_call_flags_text(i, text, sizeof text);
    k->flags[i] = pf_intern_text(k->dictionary, text);
    if (k->flags[i] == PF_NO_NAME)
      return PF_ENOMEM;
  }
  k->flags[0] = PF_NO_NAME;
  return PF_OK;
}


pf_status pf_span_store_open (pf_reader *events, const pf_spans *options,
                              pf_span_store **store, pf_error *error) {
  pf_span_store *const k = calloc(1, sizeof *k);
  if (k == NULL)
    return pf_no_memory(error);
  k->dictionary = events->dictionary;
  k->put_number = options->put_number;
  pf_status status =
      pf_spans_read(events, options, store_span, k, &k->known, error);
  if (status == PF_OK && find_names(k, error) != PF_OK)
    status = pf_no_memory(error);
  if (status != PF_OK) {
    pf_span_store_close(k);
    return status;
  }
  *store = k;
  return PF_OK;
}


void pf_span_store_close (pf_span_store *k) {
  if (k == NULL)
    return;
  pf_spill_close(&k->spill);
  for (size_t i = 0; i < k->ntracks; i++)
    free(k->tracks[i].late);
  free(k->tracks);
  free(k->frames);
  pf_span_tracks_close(&k->known);
  free(k);
}


const pf_span_tracks *pf_span_store_tracks (const pf_span_store *k) {
  return &k->known;
}


uint64_t pf_span_store_rows (const pf_span_store *k, uint32_t track) {
  return track < k->ntracks ? k->tracks[track].rows : 0;
}


uint32_t pf_span_store_frame_count (const pf_span_store *k) {
  return (uint32_t)k->nframes;
}


const pf_span_frame *pf_span_store_frame (const pf_span_store *k,
                                          uint32_t frame) {
  return &k->frames[frame];
}


static const pf_field track_fields[PF_TRACK_FIELDS] = {
    {"kind", PF_NAME, "open, close, idle or run"},
    {"time", PF_INT, "since the origin, ns"},
    {"frame", PF_INT, "id of the frame, from 0"},
    {"name", PF_NAME, "name of the frame"},
    {"net", PF_INT, "time in which the call was active, ns"},
    {"flags", PF_NAME, "cut gap lost open orphan unwound, or missing"},
    {"depth", PF_INT, "depth of the call, from 1"},
};

typedef struct track_reader {
  pf_reader reader;
  const pf_span_store *store;
  const stored_track *track;
  pf_spill_reader spill;
  int64_t time, depth; /* `depth`: calls that are open */
  uint32_t bases;
  size_t late_first, late, late_next; /* calls without an enter: those from
                                         late_first to late - 1 are still to be
                                         written, the last one first */
} track_reader;


static uint64_t read_number (pf_spill_reader *s) {
  uint64_t value = 0;
  unsigned shift = 0;
  for (; (*s->at & 0x80) != 0; shift += 7)
    value |= (uint64_t)(*s->at++ & 0x7f) << shift;
  return value | (uint64_t)*s->at++ << shift;
}


/* Write a row; `net` is that of a close plus 1, or 0. */
static void write_row (track_reader *r, pf_batch *batch, unsigned kind,
                       uint64_t frame, uint64_t net, uint64_t flags) {
  pf_column *const c = batch->columns;
  const size_t row = batch->rows++;
  r->depth += kind == PF_SPAN_OPEN;
  pf_put_id(&c[PF_TRACK_KIND], row, r->store->words[kind]);
  pf_put_int(&c[PF_TRACK_TIME], row, r->time, true);
  pf_put_int(&c[PF_TRACK_FRAME], row, (int64_t)frame - 1, frame != 0);
  pf_put_id(&c[PF_TRACK_NAME], row,
            frame == 0 ? PF_NO_NAME : r->store->frames[frame - 1].name);
  pf_put_int(&c[PF_TRACK_NET], row, (int64_t)(net - 1), net != 0);
  pf_put_id(&c[PF_TRACK_FLAGS], row, r->store->flags[flags]);
  pf_put_int(&c[PF_TRACK_DEPTH], row, r->depth, frame != 0);
  r->depth -= kind == PF_SPAN_CLOSE;
}


/* Read the next row that is stored. */
static void read_row (track_reader *r, pf_batch *batch) {
  const stored_track *const t = r->track;
  r->time = (int64_t)((uint64_t)r->time + read_number(&r->spill));
  const uint64_t word = read_number(&r->spill);
  const unsigned kind = word & 7;
  if (kind == PF_SPAN_BASE) { /* find the calls that begin here */
    r->bases++;
    r->late_first = r->late_next;
    while (r->late_next < t->nlate && t->late[r->late_next].base == r->bases)
      r->late_next++;
    r->late = r->late_next;
    return;
  }
  const bool is_close = kind == PF_SPAN_CLOSE;
  const uint64_t net = is_close ? read_number(&r->spill) : 0;
  const uint64_t flags = is_close ? read_number(&r->spill) : 0;
  write_row(r, batch, kind, word >> 3, net, flags);
}


static pf_status track_step (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  track_reader *const r = (track_reader *)(void *)self;
  if (r->late > r->late_first)
    write_row(r, batch, PF_SPAN_OPEN, r->track->late[--r->late].frame, 0, 0);
  else if (r->spill.at < r->spill.end)
    read_row(r, batch);
  else
    return pf_spill_next(&r->spill, error);
  return PF_OK;
}


PF_NEXT_BY_STEPS(track_next, track_step)


pf_status pf_span_store_reader (const pf_span_store *k, uint32_t track,
                                int64_t origin, pf_reader **reader,
                                pf_error *error) {
  track_reader *const r = pf_reader_of(sizeof *r, track_fields, PF_TRACK_FIELDS,
                                       k->dictionary, track_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->store = k;
  r->track = &k->tracks[track];
  r->spill.spill = &k->spill;
  r->spill.number = track;
  r->time = (int64_t)(0 - (uint64_t)origin);
  *reader = &r->reader;
  return PF_OK;
}


static const pf_field frame_fields[] = {
    {"frame", PF_INT, "id of the frame, from 0"},
    {"area", PF_AREA, "area of the frame"},
    {"name", PF_NAME, "name of its area, and its value"},
};

#define FRAME_FIELDS (sizeof frame_fields / sizeof *frame_fields)

typedef struct frames_reader {
  pf_reader reader;
  const pf_span_store *store;
  pf_field fields[FRAME_FIELDS];
  uint32_t next;
} frames_reader;


static pf_status frames_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  frames_reader *const r = (frames_reader *)(void *)self;
  pf_column *const c = batch->columns;
  (void)error;
  pf_batch_clear(batch);
  for (; batch->rows < PF_BATCH_ROWS && r->next < r->store->nframes;
       r->next++) {
    const size_t row = batch->rows++;
    pf_put_int(&c[0], row, (int64_t)r->next, true);
    pf_put_id(&c[1], row, r->store->frames[r->next].area);
    pf_put_id(&c[2], row, r->store->frames[r->next].name);
  }
  return pf_batch_status(batch, PF_END);
}


pf_status pf_span_store_frames (const pf_span_store *k, pf_reader **reader,
                                pf_error *error) {
  frames_reader *const r = pf_reader_of(sizeof *r, NULL, FRAME_FIELDS,
                                        k->dictionary, frames_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  const pf_events *const events = &k->known.events;
  r->store = k;
  memcpy(r->fields, frame_fields, sizeof frame_fields);
  r->fields[1].type = events->reader->fields[events->area].type;
  r->reader.fields = r->fields;
  *reader = &r->reader;
  return PF_OK;
}
