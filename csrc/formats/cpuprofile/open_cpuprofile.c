/*
** open_cpuprofile.c - the format cpuprofile: score, members and tables.
** lua/trace_part.c and checked_reader.c call it through pf_format_cpuprofile.
** The trace owns the v8_file.
*/

#include <stdlib.h>

#include "formats/cpuprofile/cpuprofile.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const pf_field samples[] = PF_COLUMN_FIELDS(V8_SAMPLES);
static const pf_field allocations[] = PF_COLUMN_FIELDS(V8_ALLOCATIONS);
static const pf_field stacks[] = PF_COLUMN_FIELDS(V8_STACKS);
static const pf_field raw[] =
    PF_RAW_FIELDS("head, the name of a member of the object, or rest");


pf_status v8_warn (pf_trace *trace, pf_note_kind kind, const char *code,
                   const uint8_t *at, const char *what, pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  if (at == NULL)
    return pf_warn(trace, kind, code, PF_EFORMAT, PF_NO_OFFSET, error, "%s",
                   what);
  const size_t offset = (size_t)(at - bytes.at);
  const pf_bytes text = pf_line_from(bytes, offset);
  return pf_warn(trace, kind, code, PF_EFORMAT, offset, error, "%s: %.*s", what,
                 PF_SHOWN(text, 40));
}


/* {====== Members ====== */

/* A time in microseconds, as ns. */
static bool read_time (const pf_json *value, int64_t *time) {
  int rest;
  return value->kind == PF_JSON_NUMBER &&
         pf_parse_scaled(value->text, 3, time, &rest) == PF_OK;
}


/* Takes a member whose value is at `p`. */
static void set_member (v8_file *file, pf_bytes key, const uint8_t *p,
                        const pf_json *value) {
  const struct {
    const char *name;
    size_t *at;
    uint8_t bracket;
  } parts[] = {{"nodes", &file->nodes_at, '['},
               {"head", &file->nodes_at, '{'},
               {"samples", &file->samples_at, '['},
               {"timeDeltas", &file->deltas_at, '['}};
  for (size_t i = 0; i < COUNT(parts); i++)
    if (pf_bytes_equal(key, pf_bytes_of(parts[i].name)) &&
        *p == parts[i].bracket && *parts[i].at == 0) {
      *parts[i].at = (size_t)(p - file->bytes.at);
      file->is_heap |= i == 1;
    }
  if (pf_bytes_equal(key, pf_bytes_of("startTime")))
    (void)read_time(value, &file->start);
  if (pf_bytes_equal(key, pf_bytes_of("endTime")))
    file->has_end = read_time(value, &file->end);
}


/* The end of a value: nested ones may be as deep as stacks are. NULL: the text
   ends inside. */
static const uint8_t *end_of (const uint8_t *p, const uint8_t *end,
                              pf_json *value) {
  size_t depth = 0;
  *value = (pf_json){.kind = PF_JSON_NONE};
  if (p == end || (*p != '{' && *p != '['))
    return pf_json_value(p, end, value);
  do {
    p = pf_json_mark(p, end);
    if (p == end)
      return NULL;
    if (*p == '"') {
      p = pf_json_string(p, end, value);
      if (p == NULL)
        return NULL;
      continue;
    }
    depth += *p == '{' || *p == '[' ? 1 : (size_t)-1;
    p++;
  } while (depth > 0);
  return p;
}


const uint8_t *v8_next_member (const uint8_t *p, const uint8_t *end,
                               pf_json *key, const uint8_t **begin,
                               pf_json *value) {
  *begin = p = pf_json_key(p, end, key);
  return p == NULL ? NULL : end_of(p, end, value);
}


/* Reads the members of the outer object. The last one may be cut. */
static void read_members (v8_file *file) {
  const uint8_t *const end = file->bytes.at + file->bytes.size;
  const uint8_t *begin;
  pf_json key, value;
  bool has;
  const uint8_t *p =
      pf_json_begin(pf_json_blanks(file->bytes.at, end), end, '{', &has);
  while (p != NULL && has) {
    p = v8_next_member(p, end, &key, &begin, &value);
    if (begin != NULL && begin < end)
      set_member(file, key.text, begin, &value);
    if (p != NULL)
      p = pf_json_more(p, end, '}', &has);
  }
  file->is_cut = p == NULL;
}


/* }====== */

/* An object with nodes, the first of which has a callFrame. */
static int score (pf_bytes head, uint64_t size) {
  v8_file file = {.bytes = head};
  (void)size;
  if (head.size == 0)
    return 0;
  read_members(&file);
  if (file.nodes_at == 0)
    return 0;
  pf_bytes nodes = pf_text_after(head, file.nodes_at);
  nodes.size = nodes.size < 1024 ? nodes.size : 1024;
  return pf_has_text(nodes, "\"callFrame\"") ? 90 : 0;
}


/* Sets the tables; the amount of a stack is a time or a size. */
static void set_tables (pf_trace *trace) {
  v8_file *const file = trace->state;
  const bool is_heap = file->is_heap;
  memcpy(file->stacks, stacks, sizeof stacks);
  file->stacks[V8_STACKS_amount] =
      is_heap ? (pf_field){"size", PF_INT, "what they allocated, in bytes"}
              : (pf_field){"time", PF_INT, "how long they ran, in ns"};
  file->tables[0] = (pf_table){"samples", is_heap ? allocations : samples,
                               is_heap ? COUNT(allocations) : COUNT(samples),
                               -1, v8_open_table};
  file->tables[1] =
      (pf_table){"stacks", file->stacks, COUNT(stacks), -1, v8_open_table};
  file->tables[2] = (pf_table){"raw", raw, COUNT(raw), -1, v8_open_table};
  file->tables[3] = (pf_table){"events", pf_sampled_fields, PF_SAMPLED_COLUMNS,
                               -1, v8_open_table};
  const bool has_timeline =
      !is_heap && pf_option_int(trace, "timeline", 0) != 0;
  trace->tables = file->tables;
  trace->ntables = has_timeline ? 4 : 3;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  v8_file *const file = trace->state;
  int64_t length;
  file->bytes = trace->sources[0].bytes;
  pf_id_table_init(&file->ids);
  if (file->bytes.size > 0)
    read_members(file);
  if (file->nodes_at == 0)
    return pf_fail(error, PF_EFORMAT, 0,
                   "an object with the member nodes or head expected");
  pf_info_text(trace, "kind",
               pf_bytes_of(file->is_heap ? "allocations" : "samples in time"));
  set_tables(trace);
  pf_status status = v8_read_nodes(trace, error);
  pf_info_int(trace, "nodes", (int64_t)file->nnodes);
  pf_info_bool(trace, "times", file->deltas_at > 0);
  if (file->has_end && !__builtin_sub_overflow(file->end, file->start, &length))
    pf_info_int(trace, "duration", length);
  if (status == PF_OK && file->is_cut)
    status = pf_warn(trace, PF_DAMAGE, "cpuprofile-truncated", PF_ETRUNCATED,
                     file->bytes.size, error,
                     "the file ends before the end of its object");
  return status;
}


static void close_trace (pf_trace *trace) {
  v8_file *const file = trace->state;
  pf_id_table_free(&file->ids);
  free(file->nodes);
}


const pf_format pf_format_cpuprofile = {.name = "cpuprofile",
                                        .score = score,
                                        .open = open_trace,
                                        .close = close_trace,
                                        .state_size = sizeof(v8_file)};
