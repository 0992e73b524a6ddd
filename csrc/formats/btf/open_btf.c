/*
** open_btf.c - the format btf: score, header and tables. lua/trace_part.c and
** checked_reader.c call it through pf_format_btf. The trace owns the btf_file.
*/

#include <stdlib.h>

#include "formats/btf/format_btf.h"
#include "model/base/memory.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SCANNED      (1 << 20) /* bytes in which has_tasks looks */

static const pf_field events[] = PF_COLUMN_FIELDS(BTF_EVENTS);
static const pf_field entries[] = PF_COLUMN_FIELDS(BTF_ENTRIES);
static const pf_field raw[] =
    PF_RAW_FIELDS("header, comment, event, blank or rest");

static const pf_table tables[] = {
    {"events", events, COUNT(events), -1, btf_open_table},
    {"entries", entries, COUNT(entries), -1, btf_open_table},
    {"raw", raw, COUNT(raw), -1, btf_open_table}};


/* Take the next line that is not blank, without its end. */
static bool next_line (pf_bytes bytes, size_t *at, pf_bytes *line) {
  while (*at < bytes.size) {
    size_t size;
    *line = pf_trim(pf_line_at(bytes, *at, &size));
    *at += size;
    if (line->size > 0)
      return true;
  }
  return false;
}


/* Split a line "#keyword value", with or without a colon. */
static bool split_header (pf_bytes line, pf_bytes *key, pf_bytes *value) {
  pf_bytes rest = pf_text_after(line, 1);
  if (line.at[0] != '#' || rest.size == 0 || rest.at[0] == ' ' ||
      !pf_next_word(&rest, key))
    return false;
  *value = pf_trim(rest);
  if (key->at[key->size - 1] == ':')
    key->size--;
  return key->size > 0;
}


static bool is_key (pf_bytes key, const char *name) {
  return pf_bytes_alike(key, pf_bytes_of(name));
}


/* Whether a line has the structure of an event. */
static bool is_event (pf_bytes line, bool has_types) {
  pf_bytes fields[BTF_FIELDS];
  int64_t number;
  if (btf_split(line, fields) + 1 < BTF_FIELDS ||
      !pf_parse_int(fields[0], &number))
    return false;
  const btf_type type = btf_type_of(fields[3]);
  const bool is_task = type <= BTF_TYPE_SIG;
  const bool has_type = type != BTF_TYPE_UNKNOWN ||
                        (has_types && pf_parse_int(fields[3], &number));
  for (size_t i = 2; i <= 5; i += 3)
    if (fields[i].size > 0 && !pf_parse_int(fields[i], &number))
      return false;
  return has_type && fields[1].size > 0 && fields[4].size > 0 &&
         fields[6].size > 0 &&
         (!is_task || btf_word_of(fields[6]) != BTF_NO_WORD);
}


/* The first line that is no header must be an event; without one the version
   and the time scale must be stated. */
static int score (pf_bytes head, uint64_t size) {
  size_t at = 0;
  pf_bytes line, key, value;
  bool has_version = false, has_scale = false, has_types = false;
  while (next_line(head, &at, &line)) {
    if (at == head.size && head.size < size)
      return 0;
    if (line.at[0] != '#')
      return !is_event(line, has_types) ? 0 : has_version ? 95 : 80;
    if (!split_header(line, &key, &value))
      continue;
    has_version |=
        is_key(key, "version") && value.size > 0 && pf_digit(value.at[0]) < 10;
    has_scale |= is_key(key, "timescale");
    has_types |= is_key(key, "typetable") || is_key(key, "typemapping");
  }
  return has_version && has_scale && head.size == size ? 60 : 0;
}


/* {====== Header ====== */

static pf_status set_scale (pf_trace *trace, btf_file *file, size_t at,
                            pf_bytes value, pf_error *error) {
  static const struct {
    const char *name;
    uint64_t factor, divisor;
  } scales[] = {{"ps", 1, 1000},
                {"ns", 1, 1},
                {"us", 1000, 1},
                {"ms", 1000000, 1},
                {"s", 1000000000, 1}};
  file->factor = file->divisor = 1;
  for (size_t i = 0; i < COUNT(scales); i++)
    if (is_key(value, scales[i].name)) {
      file->factor = scales[i].factor;
      file->divisor = scales[i].divisor;
      return PF_OK;
    }
  return pf_warn(trace, PF_DAMAGE, "btf-time-scale", PF_EFORMAT, at, error,
                 "the time scale is none of ps, ns, us, ms and s, and times "
                 "are taken as ns: %.*s",
                 PF_SHOWN(value, 40));
}


/* Add a row "number name" to one of the mappings. */
static pf_status add_mapping (pf_trace *trace, btf_file *file, size_t kind,
                              pf_bytes row, pf_error *error) {
  pf_bytes word;
  uint64_t number;
  uint32_t id;
  if (!pf_next_word(&row, &word) || pf_parse_uint(word, 10, &number) != PF_OK)
    return PF_OK;
  if (pf_id_table_words(&file->mapped[kind], &number, 1, &id) != PF_OK ||
      !pf_grow(&file->names[kind], &file->capacities[kind], (size_t)id + 1))
    return pf_no_memory(error);
  file->names[kind][id] = pf_intern(trace->dictionary, pf_trim(row));
  return file->names[kind][id] == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


static pf_status take_header (pf_trace *trace, btf_file *file, size_t at,
                              pf_bytes key, pf_bytes value, pf_error *error) {
  static const pf_known_fact known[] = {{"version", "version"},
                                        {"creator", "creator"},
                                        {"creationdate", "creation_date"},
                                        {"inputfile", "input_file"},
                                        {"timescale", "time_scale"}};
  pf_info_known(trace, known, COUNT(known), key, value);
  if (is_key(key, "timescale"))
    return set_scale(trace, file, at, value, error);
  if (is_key(key, "entitymapping") || is_key(key, "typemapping"))
    return add_mapping(trace, file, is_key(key, "typemapping"), value, error);
  return PF_OK;
}


/* Read the lines in front of the first event. */
static pf_status read_header (pf_trace *trace, btf_file *file,
                              pf_error *error) {
  static const char *const escapes = "# in names %XX is the byte XX";
  size_t at = 0, before = 0;
  pf_bytes line, key, value;
  int table = -1; /* the mapping to which rows belong */
  pf_status status = PF_OK;
  for (; status == PF_OK && next_line(file->bytes, &at, &line) &&
         line.at[0] == '#';
       before = at) {
    file->is_escaped |= pf_begins_with(line, escapes);
    if (line.size > 1 && line.at[1] == '-' && table >= 0)
      status = add_mapping(trace, file, (size_t)table, pf_text_after(line, 2),
                           error);
    else if (split_header(line, &key, &value)) {
      table = is_key(key, "entitytable") ? 0
              : is_key(key, "typetable") ? 1
                                         : -1;
      status = take_header(trace, file, before, key, value, error);
    }
  }
  if (status == PF_OK && file->factor == 0)
    status =
        pf_warn(trace, PF_NOTE, "btf-no-time-scale", PF_EFORMAT, PF_NO_OFFSET,
                error, "the file states no time scale; times are taken as ns");
  if (file->factor == 0)
    file->factor = file->divisor = 1;
  return status;
}


/* }====== */

/* Whether one of the first lines is an event of a task. */
static bool has_tasks (const btf_file *file) {
  size_t at = 0;
  pf_bytes line, fields[BTF_FIELDS];
  while (at < SCANNED && next_line(file->bytes, &at, &line)) {
    const bool has_fields =
        line.at[0] != '#' && btf_split(line, fields) + 1 >= BTF_FIELDS;
    uint64_t number;
    pf_bytes type = has_fields ? fields[3] : (pf_bytes){NULL, 0};
    if (has_fields && file->mapped[1].count > 0 &&
        pf_parse_uint(type, 10, &number) == PF_OK)
      return true;
    if (has_fields && btf_type_of(type) <= BTF_TYPE_I)
      return true;
  }
  return false;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  btf_file *const file = trace->state;
  size_t at = 0;
  pf_bytes line;
  file->bytes = trace->sources[0].bytes;
  pf_id_table_init(&file->mapped[0]);
  pf_id_table_init(&file->mapped[1]);
  if (!next_line(file->bytes, &at, &line))
    return pf_fail(error, PF_EFORMAT, 0, "the file has no lines");
  const pf_status status = read_header(trace, file, error);
  file->has_tasks = has_tasks(file);
  trace->tables = tables;
  trace->ntables = COUNT(tables);
  return status;
}


static void close_trace (pf_trace *trace) {
  btf_file *const file = trace->state;
  for (size_t i = 0; i < COUNT(file->mapped); i++) {
    pf_id_table_free(&file->mapped[i]);
    free(file->names[i]);
  }
}


const pf_format pf_format_btf = {.name = "btf",
                                 .score = score,
                                 .open = open_trace,
                                 .close = close_trace,
                                 .state_size = sizeof(btf_file)};
