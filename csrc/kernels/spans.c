/*
** spans.c - a stack of open areas for each lane; what an event closes may be
** more than fits a batch, and is given in the next ones.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/spans.h"

typedef struct open_stack {
  uint32_t *areas; /* what is open, the outermost first */
  uint32_t depth, room;
  int64_t last; /* time; there is none before the first event */
  bool has_last;
} open_stack;

typedef struct spans_reader {
  pf_reader reader;
  pf_field fields[PF_SPAN_FIELDS];
  pf_spans options;
  pf_events events;
  bool has_areas, has_ended;
  size_t row;        /* of the batch of events */
  size_t rows;       /* in it */
  bool is_at_hand;   /* the row has been looked at, and not all given yet */
  uint32_t closing;  /* how many of the stack are to be closed first */
  bool opens;        /* then the event's area opens */
  open_stack *lanes; /* by number */
  uint32_t nlanes;
  bool is_before;            /* the range asked for has not begun */
  bool begins;               /* what was open before it is being given: up to */
  uint32_t beginning, begun; /* ... that many of the stack of that lane */
  bool has_gap;              /* all stacks are being closed, at: */
  int64_t gap_time;
  uint32_t ending;  /* the lane whose stack is closed at the end, or a gap */
  uint32_t *frames; /* by area: its number, or 0 */
  uint32_t nframes_room, nframes;
  uint8_t *shown;      /* by area: 0 not known, 1 no, 2 yes */
  int64_t now;         /* the time of the event at hand */
  int64_t first, last; /* of all times, when there was an event */
  bool has_first;
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


/* The range begins with what is open. */
static void begin_range (spans_reader *r) {
  r->is_before = false;
  r->begins = true;
  for (uint32_t i = 0; i < r->nlanes; i++)
    r->lanes[i].last = r->options.from;
  if (r->has_first)
    r->first = r->last = r->options.from;
}


static void note_time (spans_reader *r, int64_t time) {
  if (!r->has_first || time < r->first)
    r->first = time;
  if (!r->has_first || time > r->last)
    r->last = time;
  r->has_first = true;
}


/* Note the time of an event, which begins the range or lies in it. False: it
   lies behind, and so does what follows. */
static bool reach (spans_reader *r, int64_t time) {
  const pf_spans *const o = &r->options;
  if (r->is_before && time >= o->from)
    begin_range(r);
  if (o->has_to && time >= o->to) {
    if (r->last < o->to)
      r->last = o->to;
    return false;
  }
  const bool is_late = o->has_from && !r->is_before && time < o->from;
  r->now = is_late ? o->from : time;
  note_time(r, r->now);
  return true;
}


/* The time of an event in its lane, where time does not go back. */
static void note_lane_time (open_stack *s, int64_t time) {
  if (!s->has_last || time > s->last)
    s->last = time;
  s->has_last = true;
}


/* What an enter or a leave does to its lane. */
static pf_status look_at_lane (spans_reader *r, uint8_t kind) {
  const pf_event_rows *const rows = &r->events.rows;
  const uint32_t area = rows->areas[r->row], lane = rows->lanes[r->row];
  if (!widen_lanes(r, lane) || !widen_areas(r, area))
    return PF_ENOMEM;
  if (!is_shown(r, area))
    return PF_OK;
  open_stack *const s = &r->lanes[lane];
  note_lane_time(s, r->now);
  r->opens = kind == PF_EVENT_ENTER;
  r->closing = r->opens ? 0 : closed_by(s, area);
  return PF_OK;
}


/* What was open ends where it was last heard of. */
static void begin_gap (spans_reader *r) {
  r->has_gap = r->has_first && !r->is_before;
  r->gap_time = r->last;
  for (uint32_t i = 0; r->is_before && i < r->nlanes; i++)
    r->lanes[i].depth = 0;
}


/* Look at the event at r->row: what is to be given because of it. PF_END: it
   lies behind the range. */
static pf_status look (spans_reader *r) {
  const pf_event_rows *const rows = &r->events.rows;
  const uint8_t kind = rows->kinds[r->row];
  r->closing = 0;
  r->opens = false;
  if (rows->flags != NULL &&
      (rows->flags[r->row] & (PF_CALL_GAP | PF_CALL_ANEW)) != 0)
    begin_gap(r);
  if (kind == PF_EVENT_NONE)
    return PF_OK;
  if (!reach(r, rows->times[r->row]))
    return PF_END;
  return kind == PF_EVENT_ENTER || kind == PF_EVENT_LEAVE
             ? look_at_lane(r, kind)
             : PF_OK;
}

/* }====== */


/* {====== Rows ====== */

static void put (const spans_reader *r, pf_batch *batch, bool opens,
                 uint32_t area, uint32_t lane, int64_t time) {
  pf_column *const c = batch->columns;
  const size_t row = batch->rows++;
  if (c[PF_SPAN_KIND].data != NULL)
    c[PF_SPAN_KIND].ids[row] = r->words[opens];
  if (c[PF_SPAN_TIME].data != NULL)
    c[PF_SPAN_TIME].ints[row] = time;
  if (c[PF_SPAN_AREA].data != NULL)
    c[PF_SPAN_AREA].ids[row] = area;
  if (c[PF_SPAN_FRAME].data != NULL)
    c[PF_SPAN_FRAME].ints[row] = r->frames[area];
  if (c[PF_SPAN_LANE].data != NULL)
    c[PF_SPAN_LANE].ints[row] = lane;
}


static void put_open (spans_reader *r, pf_batch *batch, uint32_t area,
                      uint32_t lane, int64_t time) {
  if (r->frames[area] == 0)
    r->frames[area] = ++r->nframes;
  put(r, batch, true, area, lane, time);
}


/* Close one of a lane's stack. */
static void close_one (const spans_reader *r, pf_batch *batch, uint32_t lane,
                       int64_t time) {
  open_stack *const s = &r->lanes[lane];
  put(r, batch, false, s->areas[--s->depth], lane, time);
}


/* Open what was open before the range; true when all of it is. */
static bool give_open (spans_reader *r, pf_batch *batch) {
  for (; r->beginning < r->nlanes; r->beginning++, r->begun = 0) {
    const open_stack *const s = &r->lanes[r->beginning];
    for (; r->begun < s->depth; r->begun++) {
      if (batch->rows == PF_BATCH_ROWS)
        return false;
      put_open(r, batch, s->areas[r->begun], r->beginning, r->options.from);
    }
  }
  r->begins = false;
  return true;
}


/* Before the range stacks change, and nothing is given. */
static pf_status follow (spans_reader *r) {
  if (r->closing == 0 && !r->opens)
    return PF_OK;
  open_stack *const s = &r->lanes[r->events.rows.lanes[r->row]];
  s->depth -= r->closing;
  return !r->opens || push(s, r->events.rows.areas[r->row]) ? PF_OK : PF_ENOMEM;
}


/* Close all stacks; true when that is done. */
static bool close_all (spans_reader *r, pf_batch *batch, int64_t time) {
  for (; r->ending < r->nlanes; r->ending++)
    while (r->lanes[r->ending].depth > 0) {
      if (batch->rows == PF_BATCH_ROWS)
        return false;
      close_one(r, batch, r->ending, time);
    }
  return true;
}


static bool give_gap (spans_reader *r, pf_batch *batch) {
  if (!close_all(r, batch, r->gap_time))
    return false;
  r->has_gap = false;
  r->ending = 0;
  r->closing = 0; /* nothing is left of what the event would close */
  return true;
}


/* Give what the event at hand wants; true when all of it has been given. */
static bool give (spans_reader *r, pf_batch *batch, pf_status *status) {
  const uint32_t lane = r->events.rows.lanes[r->row];
  if (r->is_before) {
    *status = follow(r);
    return true;
  }
  if ((r->begins && !give_open(r, batch)) ||
      (r->has_gap && !give_gap(r, batch)))
    return false;
  for (; r->closing > 0 && batch->rows < PF_BATCH_ROWS; r->closing--)
    close_one(r, batch, lane, r->lanes[lane].last);
  if (r->closing > 0 || (r->opens && batch->rows == PF_BATCH_ROWS))
    return false;
  if (r->opens) {
    const uint32_t area = r->events.rows.areas[r->row];
    if (!push(&r->lanes[lane], area))
      *status = PF_ENOMEM;
    put_open(r, batch, area, lane, r->lanes[lane].last);
    r->opens = false;
  }
  return true;
}


/* Close what is open at the end; of a range that has not begun nothing was
   given. */
static void finish (spans_reader *r, pf_batch *batch) {
  if (r->is_before || (r->begins && !give_open(r, batch)) ||
      (r->has_gap && !give_gap(r, batch)))
    return;
  close_all(r, batch, r->last);
}


/* }====== */


/* {====== Packed events ====== */

/* A lane while its events follow each other. */
typedef struct lane_run {
  open_stack *stack; /* NULL: none so far */
  uint32_t bits;     /* of the lane in words (model/packed.h) */
  uint32_t number;
} lane_run;


/* Go to the lane of a row. PF_ENOMEM. */
static pf_status begin_run (spans_reader *r, size_t row, lane_run *run) {
  if (pf_events_lane(&r->events, row, &run->number) != PF_OK ||
      !widen_lanes(r, run->number))
    return PF_ENOMEM;
  run->stack = &r->lanes[run->number];
  run->bits = r->events.packed.words[row] & PF_PACKED_LANES;
  return PF_OK;
}


/* Enter a function, or leave the topmost one of the stack; false: that is not
   all there is to be done. Which of them comes is chance, so both are done
   alike: a leave writes what stands there. */
static inline bool step (spans_reader *r, pf_batch *batch, const lane_run *run,
                         uint32_t word, int64_t time) {
  open_stack *const s = run->stack;
  const uint32_t area = pf_packed_area(word), depth = s->depth;
  const bool opens = pf_packed_kind(word) == PF_EVENT_ENTER;
  const bool is_within = depth > 0;
  if (area >= r->nframes_room || r->shown[area] != 2 || r->frames[area] == 0 ||
      s->room == 0)
    return false;
  const bool is_top = (is_within & (s->areas[depth - is_within] == area)) != 0;
  if (pf_select(opens, depth < s->room, is_top) == 0)
    return false;
  s->areas[depth - !opens] = area;
  s->depth = pf_select(opens, depth + 1, depth - 1);
  note_lane_time(s, time);
  put(r, batch, opens, area, run->number, s->last);
  return true;
}


/* Take packed events from r->row on, as far as there is room and nothing else
   to be done than to open or close one area. PF_ENOMEM. */
static pf_status take_packed (spans_reader *r, pf_batch *batch) {
  const pf_packed *const packed = &r->events.packed;
  lane_run run = {NULL, 0, 0};
  size_t row = r->row;
  for (; row < r->rows && batch->rows < PF_BATCH_ROWS; row++) {
    const uint32_t word = packed->words[row], kind = pf_packed_kind(word);
    if (kind != PF_EVENT_ENTER && kind != PF_EVENT_LEAVE)
      continue;
    if ((run.stack == NULL || (word & PF_PACKED_LANES) != run.bits) &&
        begin_run(r, row, &run) != PF_OK)
      return PF_ENOMEM;
    if (!step(r, batch, &run, word, packed->times[row]))
      break;
  }
  if (row > r->row) {
    note_time(r, packed->times[r->row]);
    note_time(r, packed->times[row - 1]);
  }
  r->row = row;
  return PF_OK;
}

/* }====== */


/* {====== The reader ====== */

/* The next batch of events; packed, where there is no range to look at. */
static pf_status pull (spans_reader *r, pf_error *error) {
  const bool may_pack = !r->options.has_from && !r->options.has_to;
  const pf_status status = pf_events_pull(&r->events, may_pack, error);
  r->row = 0;
  r->rows = status == PF_MORE ? r->events.batch.rows : 0;
  if (status != PF_MORE || r->events.is_packed)
    return status;
  return pf_events_arrange(&r->events, 0, r->rows);
}


/* Have an event at hand that has been looked at, if there is one that was not
   given at once. PF_END: there are no more. */
static pf_status next_event (spans_reader *r, pf_batch *batch,
                             pf_error *error) {
  pf_status status = r->row < r->rows ? PF_MORE : pull(r, error);
  if (status == PF_MORE && r->events.is_packed)
    status = take_packed(r, batch);
  r->is_at_hand =
      status == PF_MORE && r->row < r->rows && batch->rows < PF_BATCH_ROWS;
  if (!r->is_at_hand)
    return status;
  if (r->events.is_packed)
    status = pf_events_arrange(&r->events, r->row, r->row + 1);
  return status == PF_OK ? look(r) : status;
}


static pf_status spans_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  spans_reader *const r = (spans_reader *)(void *)self;
  pf_status status = PF_OK;
  pf_batch_clear(batch);
  while (!r->has_ended && status == PF_OK) {
    if (r->is_at_hand && !give(r, batch, &status))
      return PF_MORE; /* the batch is full */
    r->row += r->is_at_hand;
    r->is_at_hand = false;
    if (status == PF_OK && batch->rows == PF_BATCH_ROWS)
      return PF_MORE;
    if (status == PF_OK)
      status = next_event(r, batch, error);
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


const pf_events *pf_spans_events (const pf_reader *spans) {
  return &((const spans_reader *)(const void *)spans)->events;
}


void pf_spans_ends (const pf_reader *spans, int64_t *first, int64_t *last) {
  const spans_reader *const r = (const spans_reader *)(const void *)spans;
  const bool is_empty = !r->has_first || r->is_before;
  *first = is_empty ? 0 : r->first;
  *last = is_empty ? 0 : r->last;
}


static pf_status set_fields (spans_reader *r, const pf_reader *events) {
  const pf_type area = events->fields[r->events.area].type;
  r->has_areas = area == PF_AREA;
  r->fields[PF_SPAN_KIND] = (pf_field){"kind", PF_NAME, "open or close", false};
  r->fields[PF_SPAN_TIME] = (pf_field){"time", PF_INT, "when, ns", false};
  r->fields[PF_SPAN_AREA] = (pf_field){"area", area, "of what", false};
  r->fields[PF_SPAN_FRAME] =
      (pf_field){"frame", PF_INT, "its number, by first sight", false};
  r->fields[PF_SPAN_LANE] =
      (pf_field){"lane", PF_INT, "whose stack, by first sight", false};
  r->words[0] = pf_intern_text(events->dictionary, "close");
  r->words[1] = pf_intern_text(events->dictionary, "open");
  r->reader = (pf_reader){.fields = r->fields,
                          .nfields = PF_SPAN_FIELDS,
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
  r->is_before = options->has_from;
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
