/*
** spans.c - a stack of open areas for each lane; what an event closes may be
** more than fits a batch, and is given in the next ones.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/spans.h"

enum {
  KIND,
  TIME,
  AREA,
  FRAME,
  LANE,
  NFIELDS
};

typedef struct open_stack {
  uint32_t *areas; /* what is open, the outermost first */
  uint32_t depth, room;
} open_stack;

typedef struct spans_reader {
  pf_reader reader;
  pf_field fields[NFIELDS];
  pf_spans options;
  pf_events events;
  bool has_batch, has_areas, has_ended;
  size_t row;        /* of the batch of events */
  uint32_t closing;  /* how many of the stack are to be closed first */
  bool opens;        /* then the event's area opens */
  open_stack *lanes; /* by number */
  uint32_t nlanes;
  uint32_t ending;  /* the lane whose stack is closed at the end */
  uint32_t *frames; /* by area: its number, or 0 */
  uint32_t nframes_room, nframes;
  uint8_t *shown; /* by area: 0 not known, 1 no, 2 yes */
  int64_t last;   /* time */
  uint32_t words[2];
} spans_reader;


/* {====== Memory ====== */

static bool widen_areas (spans_reader *r, uint32_t area) {
  if (area < r->nframes_room)
    return true;
  uint32_t room = r->nframes_room == 0 ? 256 : r->nframes_room;
  while (room <= area)
    room *= 2;
  uint32_t *const frames = realloc(r->frames, room * sizeof *frames);
  if (frames == NULL)
    return false;
  r->frames = frames;
  uint8_t *const shown = realloc(r->shown, room);
  if (shown == NULL)
    return false;
  r->shown = shown;
  const size_t more = room - r->nframes_room;
  memset(frames + r->nframes_room, 0, more * sizeof *frames);
  memset(shown + r->nframes_room, 0, more);
  r->nframes_room = room;
  return true;
}


static bool widen_lanes (spans_reader *r, uint32_t lane) {
  if (lane < r->nlanes)
    return true;
  const uint32_t count = lane + 1;
  open_stack *const lanes = realloc(r->lanes, count * sizeof *lanes);
  if (lanes == NULL)
    return false;
  memset(lanes + r->nlanes, 0, (count - r->nlanes) * sizeof *lanes);
  r->lanes = lanes;
  r->nlanes = count;
  return true;
}


static bool push (open_stack *s, uint32_t area) {
  if (s->depth == s->room) {
    const uint32_t room = s->room == 0 ? 64 : s->room * 2;
    uint32_t *const areas = realloc(s->areas, room * sizeof *areas);
    if (areas == NULL)
      return false;
    s->areas = areas;
    s->room = room;
  }
  s->areas[s->depth++] = area;
  return true;
}

/* }====== */


/* {====== What an event does ====== */

static bool is_shown (spans_reader *r, uint32_t area) {
  if (r->shown[area] == 0) {
    const pf_area_kind kind =
        pf_area_kind_of(r->reader.dictionary, r->has_areas, area);
    r->shown[area] =
        kind == PF_KIND_FUNCTION || (kind == PF_KIND_LINE && r->options.lines)
            ? 2
            : 1;
  }
  return r->shown[area] == 2;
}


/* How many of the stack a leave of the area closes; 0: it is not open. */
static uint32_t closed_by (const open_stack *s, uint32_t area) {
  for (uint32_t i = s->depth; i-- > 0;)
    if (s->areas[i] == area)
      return s->depth - i;
  return 0;
}


/* Look at the event at r->row: what is to be given because of it. */
static pf_status look (spans_reader *r) {
  const pf_event_rows *const rows = &r->events.rows;
  const uint32_t area = rows->areas[r->row], lane = rows->lanes[r->row];
  const uint8_t kind = rows->kinds[r->row];
  const bool is_gap =
      rows->flags != NULL && (rows->flags[r->row] & PF_CALL_GAP) != 0;
  r->closing = 0;
  r->opens = false;
  if (kind == PF_EVENT_NONE)
    return PF_OK;
  r->last = rows->times[r->row];
  if (kind > PF_EVENT_LEAVE && !is_gap)
    return PF_OK;
  if (!widen_lanes(r, lane) || !widen_areas(r, area))
    return PF_ENOMEM;
  open_stack *const s = &r->lanes[lane];
  const bool shown = kind <= PF_EVENT_LEAVE && is_shown(r, area);
  if (is_gap)
    r->closing = s->depth;
  else if (shown && kind == PF_EVENT_LEAVE)
    r->closing = closed_by(s, area);
  r->opens = shown && kind == PF_EVENT_ENTER;
  return PF_OK;
}

/* }====== */


/* {====== Rows ====== */

static void put (spans_reader *r, pf_batch *batch, bool opens, uint32_t area,
                 uint32_t lane, int64_t time) {
  pf_column *const c = batch->columns;
  if (r->options.has_lane && lane != r->options.lane)
    return;
  const size_t row = batch->rows++;
  if (c[KIND].data != NULL)
    c[KIND].ids[row] = r->words[opens];
  if (c[TIME].data != NULL)
    c[TIME].ints[row] = (int64_t)((uint64_t)time - (uint64_t)r->options.origin);
  if (c[AREA].data != NULL)
    c[AREA].ids[row] = area;
  if (c[FRAME].data != NULL)
    c[FRAME].ints[row] = r->frames[area];
  if (c[LANE].data != NULL && pf_events_have_lanes(&r->events))
    pf_events_put_lane(&r->events, lane, &c[LANE], row);
  else if (c[LANE].data != NULL)
    pf_set_missing(&c[LANE], row);
}


/* Close one of a lane's stack. */
static void close_one (spans_reader *r, pf_batch *batch, uint32_t lane) {
  open_stack *const s = &r->lanes[lane];
  put(r, batch, false, s->areas[--s->depth], lane, r->last);
}


/* Give what the event at hand wants; true when all of it has been given. */
static bool give (spans_reader *r, pf_batch *batch, pf_status *status) {
  const uint32_t lane = r->events.rows.lanes[r->row];
  for (; r->closing > 0 && batch->rows < PF_BATCH_ROWS; r->closing--)
    close_one(r, batch, lane);
  if (r->closing > 0 || (r->opens && batch->rows == PF_BATCH_ROWS))
    return false;
  if (r->opens) {
    const uint32_t area = r->events.rows.areas[r->row];
    if (!push(&r->lanes[lane], area))
      *status = PF_ENOMEM;
    if (r->frames[area] == 0)
      r->frames[area] = ++r->nframes;
    put(r, batch, true, area, lane, r->last);
    r->opens = false;
  }
  return true;
}


/* Close what is open at the end. */
static void finish (spans_reader *r, pf_batch *batch) {
  for (; r->ending < r->nlanes; r->ending++)
    while (r->lanes[r->ending].depth > 0) {
      if (batch->rows == PF_BATCH_ROWS)
        return;
      close_one(r, batch, r->ending);
    }
}


/* Have an event at hand that has been looked at; PF_END: there is none. */
static pf_status next_event (spans_reader *r, pf_error *error) {
  if (r->has_batch && ++r->row < r->events.batch.rows)
    return look(r);
  const pf_status status = pf_events_next(&r->events, error);
  r->has_batch = status == PF_MORE;
  r->row = 0;
  return status == PF_MORE ? look(r) : status;
}


static pf_status spans_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  spans_reader *const r = (spans_reader *)(void *)self;
  pf_status status = PF_OK;
  pf_batch_clear(batch);
  while (!r->has_ended && status == PF_OK) {
    if (r->has_batch && !give(r, batch, &status))
      return PF_MORE; /* the batch is full */
    if (status == PF_OK)
      status = next_event(r, error);
    r->has_ended = status == PF_END;
  }
  if (status == PF_ENOMEM)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  if (status < 0)
    return status;
  if (r->has_ended)
    finish(r, batch);
  if (batch->rows > 0)
    return PF_MORE;
  return r->has_ended ? PF_END : PF_AGAIN;
}


static void spans_close (pf_reader *self) {
  spans_reader *const r = (spans_reader *)(void *)self;
  for (uint32_t i = 0; i < r->nlanes; i++)
    free(r->lanes[i].areas);
  free(r->lanes);
  free(r->frames);
  free(r->shown);
  pf_events_close(&r->events);
  free(r);
}

/* }====== */


static pf_status set_fields (spans_reader *r, const pf_reader *events) {
  const pf_type area = events->fields[r->events.area].type;
  const bool has_lanes = pf_events_have_lanes(&r->events);
  r->has_areas = area == PF_AREA;
  r->fields[KIND] = (pf_field){"kind", PF_NAME, "open or close", false};
  r->fields[TIME] = (pf_field){"time", PF_INT, "when, ns", false};
  r->fields[AREA] = (pf_field){"area", area, "of what", false};
  r->fields[FRAME] =
      (pf_field){"frame", PF_INT, "its number, by first sight", false};
  r->fields[LANE] =
      (pf_field){"lane", has_lanes ? pf_events_lane_type(&r->events) : PF_INT,
                 "whose stack", false};
  r->words[0] = pf_intern_text(events->dictionary, "close");
  r->words[1] = pf_intern_text(events->dictionary, "open");
  r->reader = (pf_reader){.fields = r->fields,
                          .nfields = NFIELDS,
                          .dictionary = events->dictionary,
                          .next = spans_next,
                          .close = spans_close};
  return r->words[0] == PF_NO_NAME || r->words[1] == PF_NO_NAME ? PF_ENOMEM
                                                                : PF_OK;
}


pf_status pf_spans_open (pf_reader *events, const pf_spans *options,
                         pf_reader **reader, pf_error *error) {
  spans_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  r->options = *options;
  pf_status status = pf_events_open(&r->events, events, error);
  if (status == PF_OK && set_fields(r, events) != PF_OK)
    status = pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  if (status != PF_OK) {
    spans_close(&r->reader);
    return status;
  }
  *reader = &r->reader;
  return PF_OK;
}
