/*
** export_samples.c - converts the spans of a timeline to samples of stacks:
** which stack ran on a track in which interval.
**
** Called by lua/profio/exports/firefox.lua. The spans are borrowed from their
** userdata, whose dictionary gets new areas and names; the result belongs to a
** userdata of contexts. A scan owns its reader and batch until it returns, and
** calls nothing that raises meanwhile. All other memory is on the Lua stack.
*/

#include "lua/arguments.h"
#include "lua/profile/export.h"
#include "lua/stages/timeline_spans.h"

/* A scan over the spans of a track. */
typedef struct track_scan track_scan;

struct track_scan {
  const pf_span_store *store;
  pf_contexts *contexts;
  uint32_t *frames;  /* by frame of the spans: frame of the contexts */
  uint32_t kinds[4]; /* name ids of the kinds, in the order below */
  uint32_t node;     /* current stack; 0: nothing is open */
  bool is_idle;      /* the track is suspended */
  int64_t since;     /* begin of the current interval */
  /* Called for each interval in which one stack ran, or none (node 0). */
  void (*emit)(track_scan *scan, uint32_t node, int64_t from, int64_t to);
  l_export *out;        /* for samples only: */
  const uint32_t *rows; /* by node: row in the table of stacks */
  int column;
  uint32_t count;
};

enum {
  OPEN,
  CLOSE,
  IDLE,
  RUN,
  NKINDS
};


/* Returns the area of the contexts for a frame of the spans: its area, or a new
   area for the name if the frame has a value. PF_NO_AREA: out of memory. */
static uint32_t frame_of (const pf_span_store *store, uint32_t frame) {
  const pf_events *const events = &pf_span_store_tracks(store)->events;
  pf_dictionary *const d = events->reader->dictionary;
  const pf_span_frame *const f = pf_span_store_frame(store, frame);
  if ((events->reader->fields[events->area].type == PF_AREA) &&
      pf_area_name(d, f->area) == f->name)
    return pf_frame_of(d, f->area);
  pf_area named = PF_AREA_NONE;
  named.name = f->name;
  return pf_area_add(d, &named);
}


/* Pushes the memory of the areas of all frames, and fills it. */
static uint32_t *push_frames (lua_State *L, const pf_span_store *store) {
  const uint32_t count = pf_span_store_frame_count(store);
  uint32_t *const frames = l_scratch(L, count, sizeof *frames);
  for (uint32_t i = 0; i < count; i++) {
    frames[i] = frame_of(store, i);
    if (frames[i] == PF_NO_AREA)
      l_no_memory(L);
  }
  return frames;
}


static void find_kinds (lua_State *L, track_scan *w) {
  static const char *const names[NKINDS] = {"open", "close", "idle", "run"};
  pf_dictionary *const d =
      pf_span_store_tracks(w->store)->events.reader->dictionary;
  for (size_t i = 0; i < NKINDS; i++) {
    w->kinds[i] = pf_intern_text(d, names[i]);
    if (w->kinds[i] == PF_NO_NAME)
      l_no_memory(L);
  }
}


/* Handles a row of the track. PF_OK or PF_ENOMEM. */
static pf_status read_row (track_scan *w, const pf_column *c, size_t row) {
  const int64_t time = c[PF_TRACK_TIME].ints[row];
  const uint32_t kind = c[PF_TRACK_KIND].ids[row];
  if (time > w->since)
    w->emit(w, w->is_idle ? 0 : w->node, w->since, time);
  w->since = time;
  if (kind == w->kinds[OPEN])
    w->node = pf_context_of(w->contexts, w->node,
                            w->frames[c[PF_TRACK_FRAME].ints[row]]);
  else if (kind == w->kinds[CLOSE])
    w->node = w->contexts->parents[w->node];
  else
    w->is_idle = kind == w->kinds[IDLE];
  return w->node == PF_NO_CONTEXT ? PF_ENOMEM : PF_OK;
}


/* Scans a track; `origin` is subtracted from all times. */
static pf_status scan_track (track_scan *w, uint32_t track, int64_t origin,
                             pf_error *error) {
  pf_reader *reader;
  pf_batch batch = {.columns = NULL};
  bool wanted[PF_TRACK_FIELDS] = {true, true, true};
  pf_status status =
      pf_span_store_reader(w->store, track, origin, &reader, error);
  if (status != PF_OK)
    return status;
  w->node = 0;
  w->is_idle = false;
  w->since = 0;
  status = pf_batch_for(&batch, reader, wanted);
  if (status == PF_OK)
    status = PF_MORE;
  while (status == PF_MORE &&
         (status = reader->next(reader, &batch, error)) == PF_MORE)
    for (size_t i = 0; i < batch.rows && status == PF_MORE; i++)
      if (read_row(w, batch.columns, i) != PF_OK)
        status = PF_ENOMEM;
  pf_batch_close(&batch);
  reader->close(reader);
  if (status == PF_ENOMEM)
    return pf_no_memory(error);
  return status == PF_END ? PF_OK : status;
}


static void add_time (track_scan *w, uint32_t node, int64_t from, int64_t to) {
  if (node != 0)
    pf_context_add(w->contexts, node, 0, to - from);
}


/* core.span_contexts(spans): a profile of the stacks of all tracks with the
   time that each of them ran as metric "time", in ns. */
static int core_span_contexts (lua_State *L) {
  track_scan w = {.store = l_spans_check(L, 1), .emit = add_time};
  pf_error error;
  lua_settop(L, 1);
  w.frames = push_frames(L, w.store);
  find_kinds(L, &w);
  lua_getiuservalue(L, 1, 1);
  l_reader_push_dictionary(L, lua_gettop(L));
  w.contexts = l_contexts_new(L, lua_gettop(L));
  if (pf_metric_of(w.contexts, "time", "ns") != 0)
    l_no_memory(L);
  const pf_span_tracks *const tracks = pf_span_store_tracks(w.store);
  for (uint32_t i = 0; i < tracks->count; i++)
    if (scan_track(&w, i, tracks->first, &error) != PF_OK)
      return l_failure(L, &error, NULL);
  return 1;
}


enum {
  STACK,
  TIME,
  WEIGHT,
  NCOLUMNS
};


static void put_sample (track_scan *w, uint32_t node, int64_t time,
                        int64_t weight) {
  l_export_text(w->out, w->count++ > 0 ? "," : "");
  if (w->column == TIME)
    l_export_ms(w->out, time);
  else if (w->column == WEIGHT)
    l_export_ms(w->out, weight);
  else if (node == 0)
    l_export_text(w->out, "null");
  else
    l_export_int(w->out, w->rows[node]);
}


/* A stack has a sample at its begin, which has all of its time as weight, and
   one at its end: viewers draw a sample from halfway to the previous one. */
static void put_time (track_scan *w, uint32_t node, int64_t from, int64_t to) {
  put_sample(w, node, from, node == 0 ? 0 : to - from);
  put_sample(w, node, to, 0);
}


/*
** core.write_firefox_samples(contexts, options, file): writes the member
** "samples" of a thread. The contexts are those of core.span_contexts. Options:
** spans, track (from 1), origin (ns, subtracted), length (ns, time of the last
** sample).
*/
static int core_write_firefox_samples (lua_State *L) {
  static const char *const names[NCOLUMNS] = {
      "\"samples\":{\"stack\":[", "],\n\"time\":[", "],\n\"weight\":["};
  pf_error error;
  lua_settop(L, 3);
  track_scan w = {.contexts = l_contexts_check(L, 1), .emit = put_time};
  w.out = l_export_new(L, 1, 2, 3);
  lua_getfield(L, 2, "spans");
  w.store = l_spans_check(L, lua_gettop(L));
  lua_getfield(L, 2, "track");
  const uint32_t track = (uint32_t)luaL_checkinteger(L, -1) - 1;
  lua_getfield(L, 2, "origin");
  const int64_t origin = luaL_checkinteger(L, -1);
  lua_getfield(L, 2, "length");
  const int64_t length = luaL_checkinteger(L, -1);
  w.frames = push_frames(L, w.store);
  uint32_t *const rows = l_scratch(L, w.contexts->count, sizeof *rows);
  for (uint32_t i = 0; i < w.contexts->count; i++)
    rows[w.out->walk.order[i]] = i - 1; /* the table has no root */
  w.rows = rows;
  find_kinds(L, &w);
  for (w.column = STACK; w.column < NCOLUMNS; w.column++) {
    l_export_text(w.out, names[w.column]);
    w.count = 0;
    if (scan_track(&w, track, origin, &error) != PF_OK)
      return l_failure(L, &error, NULL);
    if (length > w.since)
      put_time(&w, 0, w.since, length);
    put_sample(&w, 0, length, 0);
  }
  l_export_put(w.out, "],\n\"weightType\":\"tracing-ms\",\"length\":%lld}",
               (long long)w.count);
  return l_export_finish(L, w.out);
}


void l_open_export_samples (lua_State *L) {
  L_ADD(L, {"span_contexts", core_span_contexts},
        {"write_firefox_samples", core_write_firefox_samples});
}
