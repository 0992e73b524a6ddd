/*
** export_firefox.c - the tables and samples of a processed profile of the
** Firefox profiler (version 60): JSON tables stored by column. The parts around
** them are written by lua/profio/exports/firefox.lua.
**
** Called by firefox.lua. The userdata of export.h owns the text; the contexts
** are borrowed from their userdata during the call.
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
  uint32_t *functions; /* by row of a frame: the number of its function */
  uint32_t *rows;      /* by number of a function: the row of its first frame */
  uint32_t nfunctions;
  uint32_t *path; /* by depth: row of the current stack */
} firefox;


/* A column of a table: its values are equal, or `put` writes each of them. */
typedef struct table_column {
  const char *head; /* text before the values */
  const char *value;
  void (*put)(firefox *f, uint32_t row);
} table_column;

#define KEY(name) "\n\"" name "\":["


static void put_comma (const firefox *f, uint32_t row) {
  if (row > 0)
    l_export_text(f->out, ",");
}


/* Writes columns (one without a head ends the list) and the number of rows. */
static void put_table (firefox *f, const table_column *columns, uint32_t rows) {
  for (; columns->head != NULL; columns++) {
    l_export_text(f->out, columns->head);
    for (uint32_t row = 0; row < rows; row++) {
      put_comma(f, row);
      if (columns->put != NULL)
        columns->put(f, row);
      else
        l_export_text(f->out, columns->value);
    }
    l_export_text(f->out, "],");
  }
  l_export_put(f->out, "\n\"length\":%lld}", (long long)rows);
}


/* Writes a number, or null. */
static void put_optional (firefox *f, bool is_there, int64_t number) {
  if (is_there)
    l_export_int(f->out, number);
  else
    l_export_text(f->out, "null");
}


/* Stacks are the contexts without the root in depth-first order: a prefix
   precedes the stacks that extend it. */
static void put_stack_frame (firefox *f, uint32_t row) {
  const l_export *const e = f->out;
  l_export_int(f->out, e->ranks[e->contexts->frames[e->walk.order[row + 1]]]);
}


static void put_prefix (firefox *f, uint32_t row) {
  const uint32_t depth = f->out->walk.depths[row + 1];
  f->path[depth] = row;
  put_optional(f, depth > 1, f->path[depth - 1]);
}


static const pf_area *frame_at (const firefox *f, uint32_t row) {
  return pf_area_at(f->out->contexts->dictionary, f->out->sorted[row]);
}


static void put_line (firefox *f, uint32_t row) {
  put_optional(f, frame_at(f, row)->line > 0, frame_at(f, row)->line);
}


static void put_function (firefox *f, uint32_t row) {
  l_export_int(f->out, f->functions[row]);
}


static void put_name (firefox *f, uint32_t function) {
  l_export_int(f->out, f->strings + function);
}


static void put_source (firefox *f, uint32_t function) {
  const uint32_t file = frame_at(f, f->rows[function])->file;
  put_optional(f, file != PF_NO_NAME,
               file == PF_NO_NAME ? 0 : f->sources[file]);
}


static void put_file_name (firefox *f, uint32_t row) {
  l_export_int(f->out, f->strings + f->nfunctions + row);
}


static const table_column stack_table[] = {
    {"\n\"stackTable\":{\"frame\":[", NULL, put_stack_frame},
    {KEY("prefix"), NULL, put_prefix},
    {NULL, NULL, NULL}};

static const table_column frame_table[] = {
    {",\n\"frameTable\":{" KEY("address"), "-1", NULL},
    {KEY("inlineDepth"), "0", NULL},
    {KEY("category"), "0", NULL},
    {KEY("subcategory"), "0", NULL},
    {KEY("func"), NULL, put_function},
    {KEY("nativeSymbol"), "null", NULL},
    {KEY("innerWindowID"), "0", NULL},
    {KEY("line"), NULL, put_line},
    {KEY("column"), "null", NULL},
    {NULL, NULL, NULL}};

static const table_column func_table[] = {
    {",\n\"funcTable\":{" KEY("isJS"), "false", NULL},
    {KEY("relevantForJS"), "false", NULL},
    {KEY("name"), NULL, put_name},
    {KEY("resource"), "-1", NULL},
    {KEY("source"), NULL, put_source},
    {KEY("lineNumber"), "null", NULL},
    {KEY("columnNumber"), "null", NULL},
    {NULL, NULL, NULL}};

static const table_column sources[] = {
    {",\n\"resourceTable\":{\"lib\":[],\"name\":[],"
     "\"host\":[],\"type\":[],\"length\":0},"
     "\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],"
     "\"name\":[],\"functionSize\":[],\"length\":0},"
     "\n\"sources\":{" KEY("uuid"),
     "null", NULL},
    {KEY("filename"), NULL, put_file_name},
    {NULL, NULL, NULL}};


/* Numbers the functions, whose frames differ in their lines only. */
static void find_functions (lua_State *L, firefox *f) {
  const l_export *const e = f->out;
  bool has_lines;
  const uint32_t *const frames = l_function_frames(L, e->contexts, &has_lines);
  const uint32_t count = pf_areas_count(e->contexts->dictionary);
  uint32_t *const numbers = l_scratch(L, (size_t)count + 1, sizeof *numbers);
  f->functions = l_scratch(L, e->nframes, sizeof *f->functions);
  f->rows = l_scratch(L, e->nframes, sizeof *f->rows);
  for (uint32_t row = 0; row < e->nframes; row++) {
    uint32_t *const number = &numbers[frames[e->sorted[row]]]; /* plus 1 */
    if (*number == 0) {
      f->rows[f->nfunctions++] = row;
      *number = f->nfunctions;
    }
    f->functions[row] = *number - 1;
  }
}


/* Numbers the files of all functions, and writes the remaining strings: names
   of functions, then of files. */
static void put_strings (firefox *f) {
  const pf_dictionary *const d = f->out->contexts->dictionary;
  for (uint32_t i = 0; i < f->nfunctions; i++) {
    const uint32_t row = f->rows[i], file = frame_at(f, row)->file;
    if (file != PF_NO_NAME && f->sources[file] == NO_SOURCE) {
      f->sources[file] = f->nsources;
      f->files[f->nsources++] = file;
    }
    l_export_text(f->out, ",\n");
    l_export_json(f->out, pf_text(d, PF_AREA, f->out->sorted[row]));
  }
  for (uint32_t source = 0; source < f->nsources; source++) {
    l_export_text(f->out, ",\n");
    l_export_json(f->out, pf_name(d, f->files[source]));
  }
  l_export_text(f->out, "],");
}


typedef enum sample_column {
  STACK,
  TIME,
  WEIGHT
} sample_column;


/* Writes a column of the samples, one for each context with a weight; the root,
   that of rows without a stack, has the stack null. For other metrics than
   times they are 1 ms apart. Returns their number. */
static uint32_t put_samples (firefox *f, sample_column column, bool has_times) {
  const l_export *const e = f->out;
  bool overflow = false;
  uint32_t rows = 0;
  int64_t time = 0;
  for (uint32_t i = 0; i < e->contexts->count; i++) {
    const int64_t weight = e->contexts->weights[e->metric][e->walk.order[i]];
    if (weight == 0)
      continue;
    put_comma(f, rows++);
    if (column == STACK)
      put_optional(f, i > 0, (int64_t)i - 1);
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
  l_export_text(f->out, "\n\"samples\":{\"stack\":[");
  put_samples(f, STACK, has_times);
  l_export_text(f->out, KEY("time"));
  put_samples(f, TIME, has_times);
  l_export_text(f->out, KEY("weight"));
  const uint32_t rows = put_samples(f, WEIGHT, has_times);
  l_export_put(f->out, "\n\"weightType\":\"%s\",\n\"length\":%lld}",
               has_times                    ? "tracing-ms"
               : strcmp(unit, "bytes") == 0 ? "bytes"
                                            : "samples",
               (long long)rows);
}


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
  find_functions(L, &f);
  put_strings(&f);
  put_table(&f, stack_table, f.out->contexts->count - 1);
  put_table(&f, frame_table, f.out->nframes);
  put_table(&f, func_table, f.nfunctions);
  put_table(&f, sources, f.nsources);
  l_export_text(f.out, "},\n\"threads\":[\n");
  const char *const thread = l_option_text(L, 2, "thread", NULL);
  if (thread != NULL) {
    l_export_text(f.out, "{\"name\":");
    l_export_json(f.out, pf_bytes_of(thread));
    l_export_text(f.out,
                  ",\"isMainThread\":true,\"processType\":\"default\","
                  "\"processStartupTime\":0,\"processShutdownTime\":null,"
                  "\"registerTime\":0,\"unregisterTime\":null,"
                  "\"pausedRanges\":[],\"pid\":\"1\",\"tid\":0,"
                  "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],"
                  "\"endTime\":[],\"phase\":[],\"category\":[],\"length\":0},");
    put_sample_table(&f);
    l_export_text(f.out, "}");
  }
  return l_export_finish(L, f.out);
}


void l_open_export_firefox (lua_State *L) {
  L_ADD(L, {"write_firefox", core_write_firefox});
}
