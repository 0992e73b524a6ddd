/*
** event_stages.c - functions of profio.core over events and over the entries of
** Xbase++: their conversion into each other, calls, statistics and their packed
** sums, load, the explanation of slow calls, rows of the Best Trace Format; and
** the number of processors. lua/profio has checked most options.
**
** Called by many modules of lua/profio. A reader userdata owns each stage and
** pins its input and arguments.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/btf/btf.h"
#include "kernels/calls/calls.h"
#include "kernels/explain/explain.h"
#include "kernels/group/aggregate.h"
#include "formats/xpp/operations/unfilter.h"
#include "kernels/spans/load.h"
#include "kernels/statistics/statistics.h"
#include "lua/arguments.h"
#include "lua/stages/timeline_spans.h"
#include "lua/stages/xpp_lines.h"
#include "model/system/parallel.h"
#include "model/rows/abilities.h"
#include "os/os.h"


/*
** core.unfilter(reader, ranges): of each entry (columns op and call, perhaps
** thread, time and flags) the enters and leaves, a row for each: one of the
** operations i and I is an enter, one of o and O a leave. Columns: those of
** the entries, flags, event, overhead, compiled. `ranges`: of
** core.line_ranges, to find the calls that a BREAK left, or nil.
*/
static int core_unfilter (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  xpp_line_ranges *const ranges = l_line_ranges(L, 2);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, xpp_unfilter_open(input, ranges, &r->reader, &r->error));
}


/* core.refilter(reader): the opposite, entries from enters and leaves: keeps
   the outer entry of each pair. */
static int core_refilter (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, xpp_refilter_open(input, &r->reader, &r->error));
}


/*
** core.events(reader, options): converts entries to a table of events: time,
** event, area, lane, flags. options.idle: names of functions in which threads
** wait, whose time is taken out of their clocks; options.by_line: calls that
** begin on different lines are different areas; options.details: with columns
** line and params; options.ranges: of core.line_ranges.
*/
static int core_events (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  xpp_unfilter_options options = {.by_line = l_option_flag(L, 2, "by_line"),
                                  .details = l_option_flag(L, 2, "details")};
  lua_settop(L, 2);
  if (lua_istable(L, 2) && lua_getfield(L, 2, "idle") == LUA_TTABLE)
    options.idle = l_texts_check(L, 3, &options.nidle);
  if (lua_istable(L, 2) && lua_getfield(L, 2, "ranges") != LUA_TNIL)
    options.ranges = l_line_ranges(L, -1);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, xpp_unfilter_events(input, &options, &r->reader, &r->error));
}


static bool is_option (lua_State *L, const char *name, const char *value) {
  return strcmp(l_option_text(L, 2, name, ""), value) == 0;
}


/*
** Reads the options of calls from the table at 2: recursion ("all" or
** "outermost"), partial ("include" or "exclude"), edges ("exclude" or
** "include"), max_depth (2 to 2^24), and those of l_call_times: from, to,
** last, in ns, and counts (of core.call_counts).
*/
static pf_call_options call_options (lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  pf_call_options options = {.outermost =
                                 is_option(L, "recursion", "outermost"),
                             .whole_only = is_option(L, "partial", "exclude"),
                             .edges = is_option(L, "edges", "include")};
  l_call_times(L, 2, &options);
  int64_t depth = 0;
  l_option_int(L, 2, "max_depth", &depth);
  luaL_argcheck(L, depth == 0 || (depth >= 2 && depth <= 1 << 24), 2,
                "max_depth must be 2 to 16777216");
  options.max_depth = (uint32_t)depth;
  return options;
}


/* core.calls(events, options): a reader of the calls in the events; options:
   see call_options. */
static int core_calls (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  const pf_call_options options = call_options(L);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_calls_open(events, &options, &r->reader, &r->error));
}


static uint32_t rank_of (lua_State *L, const char *name) {
  uint32_t rank;
  if (!pf_rank_named(name, &rank))
    luaL_error(L, "no quantile '%s'; there are p0 to p100", name);
  return rank;
}


/* Reads the option `quantiles`: "p50", ... The names are borrowed from the
   Lua list. */
static void read_ranks (lua_State *L, pf_statistics_options *options) {
  if (lua_getfield(L, 2, "quantiles") == LUA_TNIL)
    return;
  luaL_checktype(L, -1, LUA_TTABLE);
  const lua_Integer count = luaL_len(L, -1);
  luaL_argcheck(L, count <= PF_MAX_RANKS, 2, "more than 16 quantiles");
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, -1, i);
    const char *const name = luaL_checkstring(L, -1);
    options->ranks[options->nranks] = rank_of(L, name);
    options->rank_names[options->nranks++] = name;
    lua_pop(L, 1);
  }
}


/* Reads the options `parts` (a list of readers), `rows` and `threads`. */
static void read_parts (lua_State *L, pf_statistics_options *options) {
  int64_t rows = 0, threads = 1;
  l_option_int(L, 2, "rows", &rows);
  l_option_int(L, 2, "threads", &threads);
  options->rows = (uint64_t)rows;
  options->threads = (size_t)threads;
  if (lua_getfield(L, 2, "parts") == LUA_TNIL)
    return;
  const int list = lua_gettop(L);
  luaL_checktype(L, list, LUA_TTABLE);
  options->nchunks = l_length(L, list);
  pf_reader **const parts = l_scratch(L, options->nchunks, sizeof *parts);
  for (size_t i = 0; i < options->nchunks; i++) {
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    l_reader *const part = l_reader_check(L, -1);
    part->is_input = true;
    parts[i] = part->reader;
    luaL_argcheck(L, pf_can(parts[i])->seek != NULL, 2,
                  "a reader of parts cannot seek");
    lua_pop(L, 1);
  }
  options->chunks = parts;
}


/* Reads the options at 2, except those of chunks. A context is a lane. */
static pf_statistics_options statistics_options (lua_State *L) {
  pf_statistics_options options = {.calls = call_options(L)};
  if (is_option(L, "by", "context"))
    options.by = PF_BY_LANE;
  else if (is_option(L, "by", "caller"))
    options.by = PF_BY_CALLER;
  options.by_content = !is_option(L, "order", "first");
  options.without_end = is_option(L, "recording", "events");
  read_ranks(L, &options);
  return options;
}


/*
** core.statistics(events, options): a reader of the calls summed up by area.
** Options in addition to those of calls: by, quantiles, order ("first": by
** first use; else the canonical order, packed_sums.h); and for reading a file
** in chunks with several threads: parts (more readers of the same events), rows
** (their number) and threads. With a progress stage as `events`, the progress
** of all threads is shown, not only of the first.
*/
static int core_statistics (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  pf_statistics_options options = statistics_options(L);
  read_parts(L, &options);
  if (l_reader_check(L, 1)->is_progress)
    options.progress = (pf_progress){l_progress_is_cancelled, events};
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_statistics_open(events, &options, &r->reader, &r->error));
}


#define L_SUMS "profio.sums"

/* Memory that is freed also after an error of Lua. */
typedef struct l_sums {
  pf_dictionary *dictionary;
  pf_scan scan;
  pf_sums sums;
} l_sums;


static void free_sums (l_sums *s) {
  pf_scan_close(&s->scan);
  if (s->dictionary != NULL)
    pf_dictionary_free(s->dictionary);
  *s = (l_sums){0};
}


static int sums_gc (lua_State *L) {
  free_sums(luaL_checkudata(L, 1, L_SUMS));
  return 0;
}


/* core.packed_sums(events, options): the packed sums (packed_sums.h) of the
   calls in the events, as a string. Options as those of core.statistics, and
   recording ("events": the events come without those named `end`). The sums by
   area and by context are the same bytes. */
static int core_packed_sums (lua_State *L) {
  core_statistics(L);
  const int reader = lua_gettop(L);
  l_reader *const r = l_reader_check(L, reader);
  pf_packed *const packed = l_packed_new(L);
  if (pf_statistics_pack(r->reader, packed, &r->error) != PF_OK)
    return l_throw(L, &r->error, reader);
  return l_push_packed(L, packed);
}


static pf_status add_sums (l_sums *s, pf_bytes packed, pf_error *error) {
  if (s->dictionary == NULL) {
    pf_sums_form form;
    const pf_status status = pf_sums_form_of(packed, &form, error);
    if (status != PF_OK)
      return status;
    s->dictionary = pf_dictionary_new();
    if (s->dictionary == NULL)
      return pf_no_memory(error);
    const pf_scan_options options = {form.calls, form.by, pf_sums_aggregates};
    const pf_status opened =
        pf_sums_open(&s->sums, &s->scan, &form, &options, s->dictionary, error);
    if (opened != PF_OK)
      return opened;
  }
  return pf_sums_add(&s->sums, packed, error);
}


/* core.merged_sums(list): the sum of the packed sums in an array that is not
   empty. It depends neither on their order nor on which of them were added up
   before. Returns nil, message, code if they cannot be added. */
static int core_merged_sums (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const lua_Integer count = luaL_len(L, 1);
  luaL_argcheck(L, count > 0, 1, "there is nothing to add");
  lua_settop(L, 1);
  l_sums *const s = l_new(L, L_SUMS, sizeof *s, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    pf_error error;
    lua_rawgeti(L, 1, i);
    if (add_sums(s, l_text_check(L, 3), &error) != PF_OK)
      return l_failure(L, &error, NULL);
    lua_pop(L, 1);
  }
  pf_packed *const packed = l_packed_new(L);
  if (pf_sums_pack(&s->scan, &s->sums.form, packed) != PF_OK)
    l_no_memory(L);
  free_sums(s);
  return l_push_packed(L, packed);
}


/* core.sums_statistics(packed, options, dictionary): a reader of the statistics
   in packed sums, as core.statistics returns it, with the rows in the canonical
   order (packed_sums.h). Returns nil, message, code if the bytes are damaged or
   were computed with other options. */
static int core_sums_statistics (lua_State *L) {
  const pf_bytes packed = l_text_check(L, 1);
  pf_dictionary *const dictionary = l_dictionary_check(L, 3);
  const pf_statistics_options options = statistics_options(L);
  l_reader *const r = l_reader_new(L);
  const pf_status status = pf_statistics_of_sums(packed, dictionary, &options,
                                                 &r->reader, &r->error);
  return status == PF_OK ? 1 : l_failure(L, &r->error, NULL);
}


/* core.processors(): the number of processors that the process may use, as
   nproc counts them. */
static int core_processors (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)os_processors());
  return 1;
}


/* core.btf(events, options): the rows described in btf.h. Options: base, from,
   close, lines, stimuli, activations, interrupts (an array of names of lanes,
   which must not be changed). */
static int core_btf (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  pf_btf_options options = {.close = l_option_flag(L, 2, "close"),
                            .lines = l_option_flag(L, 2, "lines"),
                            .stimuli = l_option_flag(L, 2, "stimuli"),
                            .activations = l_option_flag(L, 2, "activations")};
  l_option_int(L, 2, "base", &options.base);
  options.has_from = l_option_int(L, 2, "from", &options.from);
  lua_getfield(L, 2, "interrupts");
  options.interrupts = l_texts_check(L, 3, &options.ninterrupts);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L,
                         pf_btf_open(input, &options, &r->reader, &r->error));
}


/* core.load(events, options): the rows described in load.h. Options: from, to,
   width (ns), by_core. */
static int core_load (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  pf_load_options options = {.by_core = l_option_flag(L, 2, "by_core")};
  l_option_int(L, 2, "from", &options.from);
  l_option_int(L, 2, "to", &options.to);
  l_option_int(L, 2, "width", &options.width);
  luaL_argcheck(L, options.width > 0, 2, "width must be above 0");
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L,
                         pf_load_open(input, &options, &r->reader, &r->error));
}


/* Reads the option `lanes`, values of column lane, as order words. The Lua
   stack keeps the array. NULL if it is absent. */
static const uint64_t *read_lanes (lua_State *L, const pf_reader *events,
                                   size_t *count) {
  if (lua_getfield(L, 2, "lanes") == LUA_TNIL)
    return NULL;
  const int list = lua_gettop(L);
  const size_t field = pf_field_index(events->fields, events->nfields, "lane");
  luaL_checktype(L, list, LUA_TTABLE);
  luaL_argcheck(L, field < events->nfields, 2, "the events have no lanes");
  *count = l_length(L, list);
  uint64_t *const words = l_scratch(L, *count + 1, sizeof *words);
  for (size_t i = 0; i < *count; i++) {
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    words[i] = events->fields[field].type == PF_INT
                   ? pf_order_int(luaL_checkinteger(L, -1))
                   : l_name_check(L, -1, events->dictionary);
    lua_pop(L, 1);
  }
  return words;
}


/* core.explain(events, options, again): the rows described in explain.h;
   `again` is another reader of the same events. Options: area, quantile
   ("p99"), lanes (an array, default: all), and those of calls. */
static int core_explain (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  pf_explain_options options = {
      .calls = call_options(L),
      .area = l_option_text(L, 2, "area", ""),
      .rank = rank_of(L, l_option_text(L, 2, "quantile", "p99"))};
  options.lanes = read_lanes(L, events, &options.nlanes);
  pf_reader *const again = l_reader_check(L, 3)->reader;
  luaL_argcheck(L, again->dictionary == events->dictionary, 3,
                "the readers have different dictionaries");
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_explain_open(events, again, &options, &r->reader, &r->error));
}


void l_open_event_stages (lua_State *L) {
  L_ADD(L, {"btf", core_btf}, {"calls", core_calls}, {"events", core_events},
        {"explain", core_explain}, {"load", core_load},

        {"merged_sums", core_merged_sums}, {"packed_sums", core_packed_sums},
        {"processors", core_processors}, {"refilter", core_refilter},
        {"statistics", core_statistics},
        {"sums_statistics", core_sums_statistics}, {"unfilter", core_unfilter});
  l_class(L, L_SUMS, NULL, sums_gc, NULL);
}
