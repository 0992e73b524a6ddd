/*
** row_text.c - core.write_rows, core.write_listing and core.write_packets:
** convert a whole reader to text, RowBinary or packets of Perfetto, without a
** loop in Lua.
**
** core.write_rows(reader, options, file)      options, which may be absent:
**   output     "text" (an aligned table), "csv", "tsv", "json", "ndjson",
**              "rowbinary" (of ClickHouse)
**   columns    array of names in the order of output; default: all that are
**              visible, at most 4096
**   header     false: no header row
**   raw        true: csv and tsv keep bytes that are not UTF-8
**   no_formulas  true: csv and tsv have a ' before texts that are formulas
**   delimiter  csv: the byte between values, "," (default) ";" "|" or a tab
**   decimal    csv and tsv: the decimal sign, "." (default) or ","
**   bom        true: csv and tsv with a header begin with a byte order mark
**   color      true: the header of an aligned table is bold
**   max_width  maximum width of a cell of the aligned table; default: none
**   width      maximum width of its lines: texts are cut, and columns left
**              out, until a line fits
**   unit       "ns", "us", "ms" or "s": unit of times in the aligned table;
**              "auto": that of the largest one among the first rows
**   no_units   true: the header of the aligned table has no units
**   percent    array of columns with fractions that are shown as per cent
**   keys       rowbinary: array of columns that are never missing
**   depth      rowbinary: outermost frames that are written of a stack
**
** core.write_listing(reader, options, file)   options:
**   kind       the column (of names or areas) with the kind of a row
**   templates  { kind = template }, see listing_text.c; kinds are names, or ids
**              for a column of areas. Rows with another kind or without one are
**              skipped
**   template   instead of these two: the template of all rows
**   origin     subtracted from times that are written as us or ms
**   separator  a text between rows, provided that the first row is not skipped
**
** core.write_packets(reader, options, file)   options:
**   sequence   number of the packet sequence
**   time, kind, by, name, value, net, flags: names of columns; see row_packets
**   kinds      { kind = type of the event }
**   tracks     { value of column `by` = uuid }; without `by`: of one track
**   origin, last, stop: ns; flows, escaped: see row_packets
**
** All return the number of rows; without a file the text and that number. The
** next result is an array of the columns that were left out, if any.
** On failure: nil, message, code, and "EPIPE" if a pipe has no reader any more.
**
** Called by lua/profio/reports, exports and cli.
** A userdata owns the text buffers; reader and file stay on the Lua stack
** during the call.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/base/pipeline.h"
#include "lua/arguments.h"
#include "lua/system/file_handle.h"
#include "text/rows.h"

#define L_JOB     "profio.rows"
#define ALL_WIDTH 1048575  /* max_width when none is given */
#define MAX_AHEAD 1048576u /* of a batch that is written ahead */


static int job_gc (lua_State *L) {
  row_job *const job = luaL_checkudata(L, 1, L_JOB);
  for (size_t i = 0; job->batch_texts != NULL && i < PF_PIPELINE_SLOTS; i++)
    free(job->batch_texts[i].at);
  free(job->batch_texts);
  pf_id_table_free(&job->packets.keys);
  pf_id_table_free(&job->packets.names);
  free(job->packets.plain.at);
  free(job->text.at);
  free(job->waiting.at);
  free(job->cut.at);
  free(job->shared.files);
  free(job->full.at);
  free(job->cells);
  free(job->widths);
  memset(job, 0, sizeof *job);
  return 0;
}


/* Pushes an empty job for the arguments reader, options, file; it is at 4. */
static row_job *new_job (lua_State *L) {
  lua_settop(L, 3);
  pf_reader *const reader = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  const row_target target =
      lua_isnil(L, 3) ? ROW_IN_MEMORY : l_target_check(L, 3);
  row_job *const job = l_new(L, L_JOB, sizeof *job, 0);
  job->reader = reader;
  job->target = target;
  return job;
}


static pf_status fail_writing (const row_job *job, pf_status status,
                               pf_error *error) {
  if (status == PF_EIO)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "write failed: %s",
                   job->errnum == 0 ? "unknown reason" : strerror(job->errnum));
  if (status == PF_EUNSUPPORTED) {
    *error = job->refusal;
    return status;
  }
  return pf_no_memory(error);
}


/* A job used by the caller's thread and the worker thread. */
typedef struct shared_job {
  row_job *job;
  row_job ahead; /* for the caller's thread; its text is in job->batch_texts */
  bool has_given_up; /* the caller's thread writes no more batches */
} shared_job;


/* Note 0: the batch has not been written ahead. */
static void clear_note (void *context, const pf_pull *pull, uint32_t *notes) {
  (void)context;
  (void)pull;
  notes[0] = 0;
}


/* Writes a batch in the caller's thread; the note is the index of its text plus
   1. If that fails, write_batch writes the batch in its turn, or fails, and no
   more batches are written ahead. */
static void write_ahead (void *context, const pf_pull *pull, size_t number,
                         uint32_t *notes) {
  shared_job *const shared = context;
  row_job *const ahead = &shared->ahead;
  row_text *const text = &shared->job->batch_texts[number];
  if (shared->has_given_up)
    return;
  ahead->text = *text;
  ahead->text.used = 0;
  ahead->batch = pull->batch;
  shared->has_given_up = ahead->format->rows(ahead) != PF_OK;
  if (shared->has_given_up) {
    free(ahead->text.at);
    *text = (row_text){NULL, 0, 0};
    return;
  }
  notes[0] = (uint32_t)number + 1;
  *text = ahead->text;
}


/* Writes a batch, possibly in the worker thread. */
static pf_status write_batch (void *context, const pf_pull *pull,
                              const uint32_t *notes, pf_error *error) {
  row_job *const job = ((const shared_job *)context)->job;
  job->batch = pull->batch;
  job->failed = notes[0] == 0
                    ? job->format->rows(job)
                    : row_put_text(job, &job->batch_texts[notes[0] - 1]);
  job->count += job->batch.rows;
  return job->failed == PF_OK ? PF_OK : fail_writing(job, job->failed, error);
}


/* Writes all rows; returns the failure of the reader, if any. */
static pf_status write_batches (row_job *job, pf_error *error) {
  shared_job shared = {.job = job, .ahead = *job};
  shared.ahead.target = ROW_IN_MEMORY;
  shared.ahead.max_size = MAX_AHEAD;
  shared.ahead.count = 1; /* not 0: an earlier row exists */
  if (job->format->is_independent)
    job->batch_texts = calloc(PF_PIPELINE_SLOTS, sizeof *job->batch_texts);
  const pf_pipeline pipeline = {
      .wanted = job->wanted,
      .notes = 1,
      .in_caller = job->has_stacks || job->target.write != NULL,
      .prepare = clear_note,
      .process_in_caller = job->batch_texts != NULL ? write_ahead : NULL,
      .process = write_batch,
      .context = &shared};
  return pf_pipeline_run(&pipeline, job->reader, error);
}


/* Runs the job. Rows that were read before the reader failed are written. */
static pf_status run (row_job *job, pf_error *error) {
  pf_error failed;
  pf_status read = PF_OK;
  const row_format *const format = job->format;
  job->failed = format->begin == NULL ? PF_OK : format->begin(job);
  if (job->failed == PF_OK)
    read = write_batches(job, &failed);
  if (job->failed == PF_OK && format->end != NULL)
    job->failed = format->end(job);
  if (job->failed == PF_OK)
    job->failed = row_flush(job, true);
  if (job->failed != PF_OK)
    return fail_writing(job, job->failed, error);
  if (read != PF_OK)
    *error = failed;
  return read;
}


/* Runs the job and pushes the results. Meanwhile Lua functions called by the
   reader cannot close the file at 3. */
static int finish (lua_State *L, row_job *job) {
  pf_error error;
  const bool is_text = !row_has_target(&job->target);
  lua_CFunction const held = l_target_hold(L, 3);
  const pf_status status = run(job, &error);
  l_target_release(L, 3, held);
  if (status != PF_OK) {
    if (job->failed == PF_EIO)
      return l_write_failure(L, 3, job->errnum);
    return l_failure_of(L, &error, 1);
  }
  if (is_text)
    lua_pushlstring(L, job->text.at == NULL ? "" : job->text.at,
                    job->text.used);
  lua_pushinteger(L, (lua_Integer)job->count);
  if (job->nhidden == 0)
    return is_text ? 2 : 1;
  lua_createtable(L, (int)job->nhidden, 0);
  for (size_t i = 0; i < job->ncolumns; i++)
    if (job->widths[job->ncolumns + i] == 0) {
      lua_pushstring(L, job->columns[i].name);
      l_append(L, lua_gettop(L) - 1);
    }
  return is_text ? 3 : 2;
}


/* Whether the array options[key] contains `name`. */
static bool lists (lua_State *L, const char *key, const char *name) {
  bool found = false;
  if (lua_getfield(L, 2, key) == LUA_TTABLE)
    for (lua_Integer i = 1; !found && lua_geti(L, -1, i) != LUA_TNIL; i++) {
      found = lua_type(L, -1) == LUA_TSTRING &&
              strcmp(lua_tostring(L, -1), name) == 0;
      lua_pop(L, 1);
    }
  return found;
}


static void read_columns (lua_State *L, row_job *job) {
  static const char *const names[] = {"ns", "us", "ms", "s", "auto", NULL};
  const bool has_unit = *l_option_text(L, 2, "unit", "") != '\0';
  const int unit = l_option_word(L, 2, "unit", "ns", names);
  int count;
  const bool is_all = lua_getfield(L, 2, "columns") == LUA_TNIL;
  size_t *const numbers = l_columns_at(L, lua_gettop(L), job->reader, &count);
  for (int i = 0; is_all && i < count; i++)
    if (numbers[i] == job->about) /* a table marks the estimates instead */
      memmove(numbers + i, numbers + i + 1,
              (size_t)(--count - i) * sizeof *numbers);
  row_column *const columns = l_scratch(L, (size_t)count, sizeof *columns);
  bool *const wanted = l_scratch(L, job->reader->nfields, sizeof *wanted);
  const int top = lua_gettop(L);
  for (int i = 0; i < count; i++) {
    const pf_field *const field = &job->reader->fields[numbers[i]];
    const bool is_date = !has_unit && pf_is_date(field);
    columns[i] = (row_column){
        .unit = 1,
        .field = numbers[i],
        .name = field->name,
        .type = field->type,
        .suffix = is_date ? pf_bytes_of("UTC") : pf_unit_of(field),
        .is_date = is_date,
        .is_time = !is_date && pf_is_time(field),
        .is_share = field->type == PF_NUM && lists(L, "percent", field->name),
        .is_key = lists(L, "keys", field->name)};
    job->has_stacks |= field->type == PF_STACK;
    wanted[numbers[i]] = true;
    lua_settop(L, top);
  }
  if (job->about < job->reader->nfields)
    wanted[job->about] = true;
  job->columns = columns;
  job->ncolumns = (size_t)count;
  job->chooses_unit = unit == ROW_UNITS;
  row_set_unit(job, job->chooses_unit ? 0 : (size_t)unit);
  for (int i = 0; l_option_flag(L, 2, "no_units") && i < count; i++)
    columns[i].suffix = (pf_bytes){NULL, 0};
  job->wanted = wanted;
}


/* Reads the delimiter and the decimal sign of csv and tsv. */
static void read_signs (lua_State *L, row_job *job) {
  static const char *const delimiters[] = {",", ";", "|", "\t", NULL};
  static const char *const decimals[] = {".", ",", NULL};
  job->has_bom = l_option_flag(L, 2, "bom");
  job->delimiter =
      *delimiters[l_option_word(L, 2, "delimiter", ",", delimiters)];
  job->decimal = *decimals[l_option_word(L, 2, "decimal", ".", decimals)];
  if (job->format == &row_tsv)
    job->delimiter = '\t';
  luaL_argcheck(L, job->delimiter != job->decimal, 2,
                "the delimiter is the decimal sign");
}


static int core_write_rows (lua_State *L) {
  static const row_format *const formats[] = {
      &row_table, &row_csv, &row_tsv, &row_json, &row_ndjson, &row_rowbinary};
  static const char *const names[] = {"text",   "csv",       "tsv", "json",
                                      "ndjson", "rowbinary", NULL};
  int64_t width = ALL_WIDTH, line = 0, depth = 0;
  row_job *const job = new_job(L);
  job->format = formats[l_option_word(L, 2, "output", "text", names)];
  job->header =
      lua_getfield(L, 2, "header") == LUA_TNIL || lua_toboolean(L, -1);
  job->color = l_option_flag(L, 2, "color");
  job->is_raw = l_option_flag(L, 2, "raw");
  job->no_formulas = l_option_flag(L, 2, "no_formulas");
  read_signs(L, job);
  l_option_int(L, 2, "max_width", &width);
  luaL_argcheck(L, width > 0 && width < 1 << 20, 2, "max_width out of range");
  job->max_width = (size_t)width;
  l_option_int(L, 2, "width", &line);
  luaL_argcheck(L, line >= 0 && line < 1 << 20, 2, "width out of range");
  job->line_width = (size_t)line;
  l_option_int(L, 2, "depth", &depth);
  luaL_argcheck(L, depth >= 0 && depth < UINT32_MAX, 2, "depth out of range");
  job->max_depth = (uint32_t)depth;
  job->about =
      job->format == &row_table ? row_about(job->reader) : job->reader->nfields;
  read_columns(L, job);
  return finish(L, job);
}


/* Compiles the template on top of the stack and pops it. The table at `keep`
   keeps its text and the segments, which point into the text. */
static row_template compile (lua_State *L, const row_job *job, bool *wanted,
                             int keep) {
  luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2, "templates are strings");
  const pf_bytes source = l_text_check(L, -1);
  row_template template = {PF_NO_NAME, NULL, 0};
  row_segment *const segments = l_scratch(L, source.size, sizeof *segments);
  pf_error error;
  if (row_compile(source, job->reader, segments, &template.nsegments, &error) !=
      PF_OK)
    luaL_argerror(L, 2, error.what);
  for (size_t i = 0; i < template.nsegments; i++)
    if (segments[i].field != SIZE_MAX)
      wanted[segments[i].field] = true;
  template.segments = segments;
  l_append(L, keep);
  l_append(L, keep);
  return template;
}


/* Returns the kind at `index`: the id of a name, or, for the type of a column
   of areas, an area id. */
static uint32_t check_kind (lua_State *L, int index, const row_job *job,
                            pf_type type) {
  if (type == PF_AREA) {
    luaL_argcheck(L, lua_isinteger(L, index), 2, "kinds are numbers of areas");
    return (uint32_t)lua_tointeger(L, index);
  }
  luaL_argcheck(L, lua_type(L, index) == LUA_TSTRING, 2, "kinds are strings");
  return l_name_check(L, index, job->reader->dictionary);
}


/* Reads options.kind and options.templates. */
static void read_templates (lua_State *L, row_job *job, bool *wanted,
                            int keep) {
  job->kind = l_option_field(L, 2, "kind", job->reader);
  const pf_type type = job->reader->fields[job->kind].type;
  luaL_argcheck(L, type == PF_NAME || type == PF_AREA, 2,
                "the column `kind` must hold names or areas");
  wanted[job->kind] = true;
  lua_getfield(L, 2, "templates");
  luaL_argcheck(L, lua_istable(L, -1), 2, "no templates");
  const int table = lua_gettop(L);
  size_t count = 0;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1))
    count++;
  row_template *const templates = l_scratch(L, count, sizeof *templates);
  lua_pushnil(L);
  while (job->ntemplates < count && lua_next(L, table) != 0) {
    row_template *const template = &templates[job->ntemplates++];
    *template = compile(L, job, wanted, keep);
    template->kind = check_kind(L, -1, job, type);
  }
  job->templates = templates;
}


static int core_write_listing (lua_State *L) {
  row_job *const job = new_job(L);
  job->format = &row_listing;
  l_option_int(L, 2, "origin", &job->origin);
  if (lua_getfield(L, 2, "separator") != LUA_TNIL)
    job->separator = l_text_check(L, -1); /* the table keeps the string */
  bool *const wanted = l_scratch(L, job->reader->nfields, sizeof *wanted);
  row_template *const all = l_scratch(L, 1, sizeof *all);
  lua_newtable(L);
  const int keep = lua_gettop(L);
  if (lua_getfield(L, 2, "template") == LUA_TNIL)
    read_templates(L, job, wanted, keep);
  else {
    *all = compile(L, job, wanted, keep);
    job->templates = all;
    job->ntemplates = 1;
    job->kind = SIZE_MAX;
  }
  job->wanted = wanted;
  return finish(L, job);
}


/* Returns the field that an option names, and marks it as wanted: a column of
   names or areas, or of numbers. SIZE_MAX: the option is not given. */
static size_t wanted_field (lua_State *L, const row_job *job, bool *wanted,
                            const char *option, bool is_name) {
  if (l_option_text(L, 2, option, NULL) == NULL)
    return SIZE_MAX;
  const size_t field = l_option_field(L, 2, option, job->reader);
  const pf_type type = job->reader->fields[field].type;
  luaL_argcheck(L,
                is_name ? type == PF_NAME || type == PF_AREA
                        : type == PF_INT || type == PF_NUM,
                2, option);
  wanted[field] = true;
  return field;
}


/* Reads the table of an option, whose keys are values of a column, to an
   array. Returns their number. */
static size_t read_entries (lua_State *L, const row_job *job,
                            const char *option, size_t field,
                            row_entry **entries) {
  size_t count = 0;
  if (field == SIZE_MAX)
    return 0;
  luaL_argcheck(L, lua_getfield(L, 2, option) == LUA_TTABLE, 2, option);
  const int table = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1))
    count++;
  *entries = l_scratch(L, count, sizeof **entries);
  lua_pushnil(L);
  for (size_t i = 0; i < count && lua_next(L, table) != 0; i++) {
    (*entries)[i].value = (uint64_t)luaL_checkinteger(L, -1);
    (*entries)[i].key = check_kind(L, -2, job, job->reader->fields[field].type);
    lua_pop(L, 1);
  }
  return count;
}


static int core_write_packets (lua_State *L) {
  row_job *const job = new_job(L);
  bool *const wanted = l_scratch(L, job->reader->nfields, sizeof *wanted);
  row_packets *const k = &job->packets;
  row_entry *const one = l_scratch(L, 1, sizeof *one);
  int64_t sequence = 1;
  pf_id_table_init(&k->keys);
  pf_id_table_init(&k->names);
  job->format = &row_track_packets;
  job->wanted = wanted;
  l_option_int(L, 2, "sequence", &sequence);
  l_option_int(L, 2, "origin", &k->origin);
  l_option_int(L, 2, "last", &k->last);
  l_option_int(L, 2, "stop", &k->stop);
  k->sequence = (uint64_t)sequence;
  k->has_flows = l_option_flag(L, 2, "flows");
  k->is_escaped = l_option_flag(L, 2, "escaped");
  k->time = wanted_field(L, job, wanted, "time", false);
  k->kind = wanted_field(L, job, wanted, "kind", true);
  k->by = wanted_field(L, job, wanted, "by", true);
  k->name = wanted_field(L, job, wanted, "name", true);
  k->value = wanted_field(L, job, wanted, "value", false);
  k->net = wanted_field(L, job, wanted, "net", false);
  k->flags = wanted_field(L, job, wanted, "flags", true);
  k->tracks = one;
  k->nkinds = read_entries(L, job, "kinds", k->kind, &k->kinds);
  k->ntracks = read_entries(L, job, "tracks", k->by, &k->tracks);
  for (size_t i = 0; i < k->ntracks; i++) {
    const uint64_t key = k->tracks[i].key;
    uint32_t id;
    if (pf_id_table_words(&k->keys, &key, 1, &id) != PF_OK)
      l_no_memory(L);
  }
  return finish(L, job);
}


void l_open_rows (lua_State *L) {
  l_class(L, L_JOB, NULL, job_gc, job_gc);
  L_ADD(L, {"write_listing", core_write_listing},
        {"write_packets", core_write_packets}, {"write_rows", core_write_rows});
}
