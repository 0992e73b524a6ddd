/*
** open_winidea.c - the format winidea: exports of the winIDEA profiler. Files
** may grow while they are read: a binary timeline, a Text1 file, and the file
** beside either.
*/

#include <stdlib.h>

#include "formats/winidea/text1.h"
#include "model/dictionary/names.h"

#define HEAD_BYTES  65536 /* bytes examined for detection */
#define MIN_RECORDS 16    /* records after which the version is guessed */
#define TAIL_BYTES  4096  /* bytes examined for the last time of a Text1 file */

const char *const winidea_event_names[WINIDEA_EVENTS] = {
    "leave", "suspend", "resume", "enter", "write"};


static int score (pf_bytes head, uint64_t size) {
  const int text = winidea_score_text(head);
  const int xml = text > 0 ? 0 : winidea_score_xml(head);
  return text > 0 ? text : xml > 0 ? xml : winidea_score_records(head, size);
}


/* Interns the words for columns in advance, because readers run in threads. */
static pf_status intern_names (const pf_trace *trace, winidea_file *file,
                               pf_error *error) {
  static const char *const line_names[WINIDEA_SECTIONS] = {
      "info", "contexts", "handle", "statistics", "timeline"};
  static const char *const words[] = {"end", "record", "rest", "header",
                                      "blank"};
  pf_dictionary *const d = trace->dictionary;
  uint32_t ids[5];
  pf_status status = pf_intern_texts(d, winidea_event_names, WINIDEA_EVENTS,
                                     file->events, error);
  if (status == PF_OK)
    status = pf_intern_texts(d, winidea_class_names, WINIDEA_KINDS,
                             file->classes, error);
  if (status == PF_OK)
    status = pf_intern_texts(d, line_names, WINIDEA_SECTIONS, file->section_ids,
                             error);
  if (status == PF_OK)
    status = pf_intern_texts(d, words, 5, ids, error);
  if (status != PF_OK)
    return status;
  file->end_id = ids[0];
  file->record_id = ids[1];
  file->rest_id = ids[2];
  file->header_id = ids[3];
  file->blank_id = ids[4];
  memset(file->lanes, 0xff, sizeof file->lanes); /* PF_NO_NAME */
  return PF_OK;
}


/* Detects the layout of file->timeline and sets the facts. */
static pf_status open_records (pf_trace *trace, winidea_file *file,
                               pf_error *error) {
  const pf_bytes bytes = file->timeline->bytes;
  const unsigned size =
      (unsigned)pf_option_int(trace, "record_size", 24) == 20 ? 20 : 24;
  pf_status status = PF_OK;
  file->layout.size = size;
  /* a live trace with few records leaves the version open */
  file->is_version_pending =
      !winidea_find_version(trace, bytes, &file->layout) && file->is_live;
  if (!file->is_version_pending)
    status = winidea_detect_layout(trace, bytes, &file->layout, error);
  if (status < 0)
    return status;
  const size_t over = bytes.size % file->layout.size;
  if (over != 0 && !file->is_live)
    status = pf_warn(trace, PF_DAMAGE, "winidea-truncated", PF_ETRUNCATED,
                     bytes.size - over, error,
                     "a record of %u bytes expected, the file has %zu more",
                     file->layout.size, over);
  if (status < 0)
    return status;
  const uint64_t records = winidea_records(file);
  const bool is_old = file->layout.version == WINIDEA_1_0;
  if (!file->is_version_pending)
    pf_info_text(trace, "version", pf_bytes_of(is_old ? "1.0" : "1.1"));
  pf_info_text(trace, "byte_order", pf_bytes_of("little"));
  pf_info_int(trace, "record_size", file->layout.size);
  pf_info_int(trace, "records", (int64_t)records);
  if (records == 0)
    return PF_OK;
  pf_info_int(trace, "first", winidea_time_at(file, 0));
  pf_info_int(trace, "last", winidea_time_at(file, records - 1));
  file->end = winidea_recording_end(file, winidea_time_at(file, 0));
  file->has_end =
      !file->is_live && file->end > winidea_time_at(file, records - 1);
  return PF_OK;
}


static const winidea_section *first_timeline (const winidea_file *file) {
  for (size_t i = 0; i < file->nsections; i++)
    if (file->sections[i].kind == WINIDEA_TIMELINE)
      return &file->sections[i];
  return NULL;
}


/* Parses the time of a timeline row. Returns false if it has none, or no
   event. */
static bool time_of (const winidea_rowformat *format, pf_bytes row,
                     int64_t *time) {
  winidea_fields fields;
  if (!winidea_split(format, row, &fields))
    return false;
  const pf_bytes event = pf_trim(fields.of[MACRO_EVENT]);
  return event.size == 1 && memchr("ERSXW", pf_upper(event.at[0]), 5) != NULL &&
         winidea_read_decimal(fields.of[MACRO_TIME], time);
}


/* Parses the time of the last row without a scan. All lines of the last 4 KiB
   must be rows of a timeline, or headers of one with this format. Otherwise the
   last line may be of another section, and the result is false. */
static bool last_time (const winidea_file *file, const winidea_section *section,
                       const winidea_rowformat *format, int64_t *time) {
  pf_bytes text = winidea_complete_lines(file, file->text->bytes);
  uint64_t next, at = section->rows;
  bool found = false;
  const pf_bytes header = winidea_line(text, section->header, &next);
  if (text.size > TAIL_BYTES && text.size - TAIL_BYTES > at)
    (void)winidea_line(text, text.size - TAIL_BYTES, &at);
  for (; at < text.size; at = next) {
    const pf_bytes line = winidea_line(text, at, &next);
    if (line.size == 0)
      continue;
    if (winidea_header_kind(&file->headers, line) != WINIDEA_SECTIONS) {
      if (pf_text_compare(line, header) != 0)
        return false;
      found = false;
    }
    else if (!time_of(format, line, time))
      return false;
    else
      found = true;
  }
  return found;
}


/* Sets the facts first and last, unless they are not known without a scan. */
static void set_span (pf_trace *trace, const winidea_file *file) {
  const winidea_section *const section = first_timeline(file);
  winidea_rowformat format;
  int64_t time;
  uint64_t next;
  if (section == NULL || !section->is_readable ||
      !winidea_compile(&format, section->format))
    return;
  if (time_of(&format, winidea_line(file->text->bytes, section->rows, &next),
              &time))
    pf_info_int(trace, "first", time);
  if (last_time(file, section, &format, &time))
    pf_info_int(trace, "last", time);
}


static void list_tables (pf_trace *trace, winidea_file *file) {
  const bool is_bin = file->timeline != NULL;
  const bool is_raw_bin = file->timeline == trace->sources;
  const bool has_count = is_bin && !file->is_live; /* else rows are unknown */
  const int64_t records = has_count ? (int64_t)winidea_records(file) : -1;
  const bool is_main_text = file->text != NULL || file->xml != NULL;
  pf_table *next = file->tables;
  if (is_bin || file->has_xml_timeline ||
      (is_main_text && (first_timeline(file) != NULL || file->is_live))) {
    *next++ =
        (pf_table){"timeline", winidea_timeline_fields, TIMELINE_COLUMNS,
                   records, is_bin ? winidea_open_bin : winidea_open_timeline};
    *next++ = (pf_table){"events", winidea_events_fields, EVENTS_COLUMNS,
                         has_count ? records + file->has_end : -1,
                         is_bin ? winidea_open_bin : winidea_open_timeline};
  }
  *next++ = (pf_table){"areas", winidea_areas_fields, AREAS_COLUMNS, -1,
                       winidea_open_areas};
  if (is_main_text) {
    *next++ = (pf_table){"statistics", winidea_statistics_fields,
                         STATISTICS_COLUMNS, -1, winidea_open_section};
    *next++ = (pf_table){"contexts", winidea_contexts_fields, CONTEXTS_COLUMNS,
                         -1, winidea_open_section};
  }
  const bool has_rest =
      has_count && file->timeline->bytes.size % file->layout.size != 0;
  *next++ = (pf_table){"raw", winidea_raw_fields, RAW_COLUMNS,
                       is_raw_bin && has_count ? records + has_rest : -1,
                       winidea_open_raw};
  trace->tables = file->tables;
  trace->ntables = (size_t)(next - file->tables);
}


/* Returns true and sets file->text or file->xml if the source is a main
   file. */
static bool is_main (winidea_file *file, const pf_source *source) {
  const size_t size = source->bytes.size;
  const pf_bytes head = {source->bytes.at,
                         size < HEAD_BYTES ? size : HEAD_BYTES};
  for (int is_changed = 0; is_changed < 2 && file->text != source;
       is_changed++) {
    file->headers.is_changed = is_changed != 0;
    if (winidea_has_sections(&file->headers, head))
      file->text = source;
  }
  if (file->text == source)
    return true;
  file->headers.is_changed = false;
  if (winidea_has_areas(head))
    file->xml = source;
  return file->text == source || file->xml == source;
}


/* Returns true if the other half of an export should be beside the main source,
   `path`: that is a file that does not grow, and not a ring. */
static bool may_have_half (const winidea_file *file, const char *path) {
  static const char ring[] = ".ring";
  const size_t size = strlen(path), end = sizeof ring - 1;
  const bool is_ring = size >= end && strcmp(path + size - end, ring) == 0;
  return !file->is_live && size > 0 && !is_ring && strcmp(path, "-") != 0 &&
         strcmp(path, "(data)") != 0;
}


/* Notes that a main file has only names: its binary timeline is missing. A file
   with statistics is complete without a timeline. */
static pf_status note_no_timeline (pf_trace *trace, const winidea_file *file,
                                   pf_error *error) {
  const pf_source *const main = file->text != NULL ? file->text : file->xml;
  bool has_names = file->xml != NULL && file->areas.mapped > 0;
  if (file->has_xml_timeline || file->has_xml_statistics)
    return PF_OK;
  for (size_t i = 0; i < file->nsections; i++) {
    has_names |= file->sections[i].kind == WINIDEA_HANDLE;
    if (file->sections[i].kind == WINIDEA_STATISTICS ||
        file->sections[i].kind == WINIDEA_TIMELINE)
      return PF_OK;
  }
  if (!has_names || !may_have_half(file, main->path))
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "winidea-no-timeline", PF_EFORMAT,
                 PF_NO_OFFSET, error,
                 "the file has names, but no timeline and no statistics, and "
                 "%s.BIN is not there",
                 main->path);
}


/* Assigns the sources: the main file by its contents, the others by role. Adds
   a note if a binary timeline has no main file beside it, if the file there is
   none, or if a mapping is given for a main file. */
static pf_status find_sources (pf_trace *trace, winidea_file *file,
                               pf_error *error) {
  const pf_source *const mapping = pf_source_of(trace, "mapping");
  if (!pf_option_is(trace, "dialect", "bin") && is_main(file, trace->sources)) {
    file->timeline = pf_source_of(trace, "timeline");
    return mapping == NULL
               ? PF_OK
               : pf_warn(trace, PF_NOTE, "winidea-unused-mapping", PF_EFORMAT,
                         PF_NO_OFFSET, error,
                         "%s is not read: this file itself names its areas",
                         mapping->path);
  }
  file->timeline = trace->sources;
  if (mapping == NULL && may_have_half(file, trace->sources->path) &&
      trace->sources->bytes.size > 0)
    return pf_warn(trace, PF_NOTE, "winidea-no-names", PF_EFORMAT, PF_NO_OFFSET,
                   error,
                   "the main file of this binary timeline is not there: areas "
                   "are named by their handles");
  if (mapping == NULL || is_main(file, mapping) || file->is_live)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "winidea-no-mapping", PF_EFORMAT, PF_NO_OFFSET,
                 error,
                 "%s: sections of a Text1 file or the areas of an XML "
                 "export expected, found neither",
                 mapping->path);
}


/* Reads the areas of the XML file; in a live trace once it is complete. */
static pf_status read_xml (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  const pf_bytes text = file->xml->bytes;
  if (file->has_read_xml || (file->is_live && text.size == file->nseen_bytes))
    return PF_OK;
  file->nseen_bytes = text.size;
  return file->is_live && !winidea_is_complete_xml(text)
             ? PF_OK
             : winidea_read_xml(trace, text, error);
}


static pf_status find_contexts (pf_trace *trace, pf_error *error) {
  const pf_status status = winidea_find_switches(trace, error);
  return status == PF_OK ? winidea_note_contexts(trace, error) : status;
}


static pf_status open_sources (pf_trace *trace, winidea_file *file,
                               pf_error *error) {
  pf_status status = find_sources(trace, file, error);
  pf_info_text(trace, "dialect",
               pf_bytes_of(file->timeline == trace->sources ? "bin"
                           : file->text != NULL             ? "text1"
                                                            : "xml"));
  if (status == PF_OK && file->xml != NULL) {
    status = read_xml(trace, error);
    if (file->has_xml_timeline && file->timeline != trace->sources)
      file->timeline = NULL; /* as below */
  }
  else if (status == PF_OK && file->text != NULL) {
    status = winidea_scan(trace, error);
    if (status >= 0 && file->timeline != trace->sources &&
        first_timeline(file) != NULL) {
      file->timeline = NULL; /* a timeline in the main file has priority */
      set_span(trace, file);
    }
    status = status < 0 ? status : PF_OK;
  }
  if (status == PF_OK && file->timeline != NULL)
    status = open_records(trace, file, error);
  else if (status == PF_OK && (file->text != NULL || file->xml != NULL))
    status = note_no_timeline(trace, file, error);
  const pf_source *const found[3] = {file->timeline, file->text, file->xml};
  for (int i = 0; i < 3; i++) /* sources may be reallocated */
    file->at[i] =
        found[i] == NULL ? SIZE_MAX : (size_t)(found[i] - trace->sources);
  return status == PF_OK ? find_contexts(trace, error) : status;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  if (pthread_mutex_init(&file->mutex, NULL) != 0)
    return pf_no_memory(error);
  file->has_mutex = true;
  file->is_live = pf_option_int(trace, "live", 0) != 0;
  winidea_contexts_init(&file->contexts);
  pf_id_table_init(&file->areas.handles);
  file->areas.states.seed = trace->dictionary->seed;
  file->areas.before = WINIDEA_NO_PARENTS;
  file->input_value_kind = pf_option_is(trace, "input_type", "F64")
                               ? WINIDEA_DOUBLE
                               : WINIDEA_INTEGER;
  file->mapping_base = winidea_base_option(trace, "mapping_base");
  for (int i = 0; i < WINIDEA_SECTIONS; i++)
    if (!pf_option_text(trace, winidea_format_names[i],
                        &file->headers.formats[i]))
      file->headers.formats[i] = (pf_bytes){NULL, 0};
  pf_status status = intern_names(trace, file, error);
  if (status == PF_OK)
    status = open_sources(trace, file, error);
  if (status == PF_OK)
    list_tables(trace, file);
  return status;
}


static void close_trace (pf_trace *trace) {
  winidea_file *const file = trace->state;
  if (file->has_mutex)
    pthread_mutex_destroy(&file->mutex);
  winidea_areas_free(&file->areas);
  winidea_contexts_free(&file->contexts);
  free(file->sections);
}


pf_bytes winidea_complete_lines (const winidea_file *file, pf_bytes text) {
  while (file->is_live && text.size > 0 && text.at[text.size - 1] != '\n')
    text.size--;
  return text;
}


static const pf_source *source_at (const pf_trace *trace, size_t number) {
  return number < trace->nsources ? &trace->sources[number] : NULL;
}


/* Detects the version once there are enough records; PF_AGAIN before. */
static pf_status find_version (pf_trace *trace, winidea_file *file,
                               pf_error *error) {
  const pf_bytes bytes = file->timeline->bytes;
  if (!winidea_find_version(trace, bytes, &file->layout) &&
      winidea_records(file) < MIN_RECORDS)
    return PF_AGAIN;
  file->is_version_pending = false;
  const pf_status status =
      winidea_detect_layout(trace, bytes, &file->layout, error);
  if (status == PF_OK)
    pf_info_text(
        trace, "version",
        pf_bytes_of(file->layout.version == WINIDEA_1_0 ? "1.0" : "1.1"));
  return status;
}


pf_status winidea_update_live (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  if (!file->is_live)
    return PF_OK;
  file->timeline = source_at(trace, file->at[0]);
  file->text = source_at(trace, file->at[1]);
  file->xml = source_at(trace, file->at[2]);
  const pf_source *const mapping = pf_source_of(trace, "mapping");
  /* a main file may be created after its timeline */
  if (file->timeline == trace->sources && file->text == NULL &&
      file->xml == NULL && mapping != NULL && is_main(file, mapping))
    file->at[file->text != NULL ? 1 : 2] = (size_t)(mapping - trace->sources);
  const pf_source *const timeline = pf_source_of(trace, "timeline");
  pf_status status = PF_OK;
  /* or a timeline after its main file, unless that has a timeline section */
  if (file->timeline == NULL && file->text == trace->sources &&
      timeline != NULL && first_timeline(file) == NULL) {
    file->timeline = timeline;
    file->at[0] = (size_t)(timeline - trace->sources);
    status = open_records(trace, file, error);
  }
  pthread_mutex_lock(&file->mutex);
  if (status == PF_OK && file->xml != NULL)
    status = read_xml(trace, error);
  else if (status == PF_OK && file->text != NULL && file->timeline != NULL &&
           file->text->bytes.size != file->nseen_bytes) {
    file->nseen_bytes = file->text->bytes.size;
    status = winidea_scan_all(trace, error);
  }
  pthread_mutex_unlock(&file->mutex);
  if (status < 0 || !file->is_version_pending || file->timeline == NULL)
    return status;
  return find_version(trace, file, error);
}


const pf_format pf_format_winidea = {
    .name = "winidea",
    .score = score,
    .open = open_trace,
    .close = close_trace,
    .state_size = sizeof(winidea_file),
    .written = winidea_written,
    .nwritten = WINIDEA_WRITTEN,
    .encoder = winidea_encoder,
    .parallel = true,
};
