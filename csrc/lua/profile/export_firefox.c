/*
** export_firefox.c - the tables and samples of a processed profile of the
** Firefox profiler (version 60): JSON tables stored by column. The parts around
** them are written by lua/profio/exports/firefox.lua.
*/

#include "lua/arguments.h"
#include "lua/profile/export.h"

#define NO_SOURCE UINT32_MAX

typedef struct firefox {
  l_export *out;
  lua_Integer strings; /* strings in the table before the frames' names */
  uint32_t *sources;   /* by name id of a file: its number, or NO_SOURCE */
  uint32_t *files;     /* by number of a source: its name id */
  uint32_t nsources;
  uint32_t *path; /* by depth: row of the current stack */
} firefox;


/* {====== Columns ====== */

static void put_key (firefox *f, const char *key) {
  l_export_text(f->out, "\n\"");
  l_export_text(f->out, key);
  l_export_text(f->out, "\":");
}


static void put_comma (firefox *f, uint32_t row) {
  if (row > 0)
    l_export_text(f->out, ",");
}


/* Writes a column with the same value in all rows. */
static void put_same (firefox *f, const char *key, const char *value,
                      uint32_t rows) {
  put_key(f, key);
  l_export_text(f->out, "[");
  for (uint32_t row = 0; row < rows; row++) {
    put_comma(f, row);
    l_export_text(f->out, value);
  }
  l_export_text(f->out, "],");
}


/* Writes a column of consecutive integers. */
static void put_counted (firefox *f, const char *key, lua_Integer first,
                         uint32_t rows) {
  put_key(f, key);
  l_export_text(f->out, "[");
  for (uint32_t row = 0; row < rows; row++) {
    put_comma(f, row);
    l_export_int(f->out, first + row);
  }
  l_export_text(f->out, "],");
}


static void put_length (firefox *f, uint32_t rows) {
  put_key(f, "length");
  l_export_int(f->out, rows);
  l_export_text(f->out, "}");
}

/* }====== */


/* {====== Tables ====== */

static const pf_area *frame_at (const firefox *f, uint32_t row) {
  return pf_area_at(f->out->contexts->dictionary, f->out->sorted[row]);
}


/* Numbers the files of all frames. */
static void find_sources (firefox *f) {
  for (uint32_t row = 0; row < f->out->nframes; row++) {
    const uint32_t file = frame_at(f, row)->file;
    if (file != PF_NO_NAME && f->sources[file] == NO_SOURCE) {
      f->sources[file] = f->nsources;
      f->files[f->nsources++] = file;
    }
  }
}


/* Writes the remaining strings: names of frames, then of files. */
static void put_strings (firefox *f) {
  const pf_dictionary *const d = f->out->contexts->dictionary;
  for (uint32_t row = 0; row < f->out->nframes; row++) {
    l_export_text(f->out, ",\n");
    l_export_json(f->out, pf_text(d, PF_AREA, f->out->sorted[row]));
  }
  for (uint32_t source = 0; source < f->nsources; source++) {
    l_export_text(f->out, ",\n");
    l_export_json(f->out, pf_name(d, f->files[source]));
  }
  l_export_text(f->out, "],");
}


/* Writes a column of the stacks, which are the contexts without the root in
   depth-first order: a prefix precedes the stacks that extend it. */
static void put_stacks (firefox *f, bool prefixes) {
  const l_export *const e = f->out;
  for (uint32_t i = 1; i < e->contexts->count; i++) {
    const uint32_t depth = e->walk.depths[i];
    put_comma(f, i - 1);
    f->path[depth] = i - 1;
    if (!prefixes)
      l_export_int(f->out, e->ranks[e->contexts->frames[e->walk.order[i]]]);
    else if (depth == 1)
      l_export_text(f->out, "null");
    else
      l_export_int(f->out, f->path[depth - 1]);
  }
  l_export_text(f->out, "],");
}


static void put_stack_table (firefox *f) {
  put_key(f, "stackTable");
  l_export_text(f->out, "{\"frame\":[");
  put_stacks(f, false);
  put_key(f, "prefix");
  l_export_text(f->out, "[");
  put_stacks(f, true);
  put_length(f, f->out->contexts->count - 1);
  l_export_text(f->out, ",");
}


static void put_lines (firefox *f) {
  put_key(f, "line");
  l_export_text(f->out, "[");
  for (uint32_t row = 0; row < f->out->nframes; row++) {
    put_comma(f, row);
    if (frame_at(f, row)->line > 0)
      l_export_int(f->out, frame_at(f, row)->line);
    else
      l_export_text(f->out, "null");
  }
  l_export_text(f->out, "],");
}


static void put_frame_table (firefox *f) {
  const uint32_t rows = f->out->nframes;
  put_key(f, "frameTable");
  l_export_text(f->out, "{");
  put_same(f, "address", "-1", rows);
  put_same(f, "inlineDepth", "0", rows);
  put_same(f, "category", "0", rows);
  put_same(f, "subcategory", "0", rows);
  put_counted(f, "func", 0, rows);
  put_same(f, "nativeSymbol", "null", rows);
  put_same(f, "innerWindowID", "0", rows);
  put_lines(f);
  put_same(f, "column", "null", rows);
  put_length(f, rows);
  l_export_text(f->out, ",");
}


static void put_func_sources (firefox *f) {
  put_key(f, "source");
  l_export_text(f->out, "[");
  for (uint32_t row = 0; row < f->out->nframes; row++) {
    const uint32_t file = frame_at(f, row)->file;
    put_comma(f, row);
    if (file == PF_NO_NAME)
      l_export_text(f->out, "null");
    else
      l_export_int(f->out, f->sources[file]);
  }
  l_export_text(f->out, "],");
}


static void put_func_table (firefox *f) {
  const uint32_t rows = f->out->nframes;
  put_key(f, "funcTable");
  l_export_text(f->out, "{");
  put_same(f, "isJS", "false", rows);
  put_same(f, "relevantForJS", "false", rows);
  put_counted(f, "name", f->strings, rows);
  put_same(f, "resource", "-1", rows);
  put_func_sources(f);
  put_same(f, "lineNumber", "null", rows);
  put_same(f, "columnNumber", "null", rows);
  put_length(f, rows);
  l_export_text(f->out, ",");
}


static void put_other_tables (firefox *f) {
  l_export_text(f->out, "\n\"resourceTable\":{\"lib\":[],\"name\":[],"
                        "\"host\":[],\"type\":[],\"length\":0},"
                        "\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],"
                        "\"name\":[],\"functionSize\":[],\"length\":0},"
                        "\n\"sources\":{");
  put_same(f, "uuid", "null", f->nsources);
  put_counted(f, "filename", f->strings + f->out->nframes, f->nsources);
  put_length(f, f->nsources);
}

/* }====== */


/* {====== Samples ====== */

typedef enum sample_column {
  STACK,
  TIME,
  WEIGHT
} sample_column;


/* Writes a column of the samples, one for each context with a weight. For
   metrics that are not times the samples are 1 ms apart. Returns their
   number. */
static uint32_t put_samples (firefox *f, sample_column column, bool has_times) {
  const l_export *const e = f->out;
  bool overflow = false;
  uint32_t rows = 0;
  int64_t time = 0;
  for (uint32_t i = 1; i < e->contexts->count; i++) {
    const int64_t weight = e->contexts->weights[e->metric][e->walk.order[i]];
    if (weight == 0)
      continue;
    put_comma(f, rows++);
    if (column == STACK)
      l_export_int(f->out, i - 1);
    else if (column == TIME)
      l_export_ms(f->out, time);
    else if (has_times)
      l_export_ms(f->out, weight);
    else
      l_export_int(f->out, weight);
    time = pf_weight_add(time, has_times ? (weight > 0 ? weight : 0) : 1000000,
                         &overflow);
  }
  l_export_text(f->out, "],");
  return rows;
}


static void put_sample_table (firefox *f) {
  const char *const unit = f->out->contexts->metrics[f->out->metric].unit;
  const bool has_times = strcmp(unit, "ns") == 0;
  put_key(f, "samples");
  l_export_text(f->out, "{\"stack\":[");
  put_samples(f, STACK, has_times);
  put_key(f, "time");
  l_export_text(f->out, "[");
  put_samples(f, TIME, has_times);
  put_key(f, "weight");
  l_export_text(f->out, "[");
  const uint32_t rows = put_samples(f, WEIGHT, has_times);
  put_key(f, "weightType");
  l_export_text(f->out, has_times                    ? "\"tracing-ms\","
                        : strcmp(unit, "bytes") == 0 ? "\"bytes\","
                                                     : "\"samples\",");
  put_length(f, rows);
}


static void put_thread (firefox *f, const char *name) {
  l_export_text(f->out, "{\"name\":");
  l_export_json(f->out, l_bytes_of(name));
  l_export_text(f->out,
                ",\"isMainThread\":true,\"processType\":\"default\","
                "\"processStartupTime\":0,\"processShutdownTime\":null,"
                "\"registerTime\":0,\"unregisterTime\":null,"
                "\"pausedRanges\":[],\"pid\":\"1\",\"tid\":0,"
                "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],"
                "\"endTime\":[],\"phase\":[],\"category\":[],\"length\":0},");
  put_sample_table(f);
  l_export_text(f->out, "}");
}

/* }====== */


/*
** core.write_firefox(contexts, options, file): writes the remaining strings,
** all tables, the beginning of the list of threads and, if option `thread` is a
** name, the thread with the samples. Options: metric, strings (number of
** strings already written, at least one), thread.
*/
static int core_write_firefox (lua_State *L) {
  lua_settop(L, 3);
  firefox f = {.out = l_export_new(L, 1, 2, 3)};
  const size_t nnames = pf_names_count(f.out->contexts->dictionary);
  lua_getfield(L, 2, "strings");
  f.strings = luaL_checkinteger(L, -1);
  f.sources = l_scratch(L, nnames, sizeof *f.sources);
  memset(f.sources, 0xff, nnames * sizeof *f.sources); /* NO_SOURCE */
  f.files = l_scratch(L, f.out->nframes, sizeof *f.files);
  f.path = l_scratch(L, (size_t)f.out->walk.max_depth + 1, sizeof *f.path);
  find_sources(&f);
  put_strings(&f);
  put_stack_table(&f);
  put_frame_table(&f);
  put_func_table(&f);
  put_other_tables(&f);
  l_export_text(f.out, "},\n\"threads\":[\n");
  const char *const thread = l_option_text(L, 2, "thread", NULL);
  if (thread != NULL)
    put_thread(&f, thread);
  return l_export_finish(L, f.out);
}


void l_open_export_firefox (lua_State *L) {
  lua_pushcfunction(L, core_write_firefox);
  lua_setfield(L, -2, "write_firefox");
}
