/*
** open_export.c - what is read when an XML export is opened: facts, contexts
** and areas; and the detection of such files. The rows come from
** element_rows.c, the areas go into the winidea_file, which owns them. Called
** by open_winidea.c.
*/

#include "formats/winidea/text1.h"
#include "formats/winidea/xml/element_rows.h"

#define ALL_KINDS ((1u << WINIDEA_SECTIONS) - 1)
#define MAPPING_KINDS \
  (1u << WINIDEA_INFO | 1u << WINIDEA_CONTEXTS | 1u << WINIDEA_HANDLE)


pf_status winidea_bad_xml_row (pf_trace *trace, uint64_t offset,
                               winidea_section_kind kind, pf_error *error) {
  static const char *const expected[WINIDEA_SECTIONS] = {
      "TOTAL_TIME", "a context with a HANDLE", "an area with a HANDLE",
      "statistics with a HANDLE and whole numbers",
      "an event with HANDLE, EVENT (E, S, R, X or W) and TIME"};
  const winidea_file *const file = trace->state;
  return pf_warn(trace, PF_DAMAGE, "winidea-bad-row", PF_EFORMAT, offset, error,
                 "%s expected, found %.*s", expected[kind],
                 PF_SHOWN(pf_line_from(file->xml->bytes, offset), 80));
}


/* Sets the fact of when the timeline begins. */
static void set_first (pf_trace *trace, const winidea_fields *fields) {
  int64_t time;
  winidea_file *const file = trace->state;
  file->has_xml_timeline = true;
  if (file->timeline != trace->sources && winidea_read_time(fields, &time))
    pf_info_int(trace, "first", time);
}


/* Takes all rows that are wanted at the open. */
static pf_status read_rows (pf_trace *trace, winidea_xml *xml, pf_bytes text,
                            pf_error *error) {
  winidea_file *const file = trace->state;
  winidea_xml_row row;
  pf_status status;
  while ((status = winidea_xml_next(xml, text, &row)) == PF_OK) {
    bool is_good = true;
    if (row.kind == WINIDEA_STATISTICS)
      file->has_xml_statistics = true;
    else if (row.kind != WINIDEA_TIMELINE)
      status =
          winidea_take_fields(trace, row.kind, &row.fields, &is_good, error);
    else if (!file->has_xml_timeline) {
      set_first(trace, &row.fields);
      if (file->areas.mapped > 0)
        return PF_OK;
      winidea_xml_want(xml, MAPPING_KINDS);
    }
    if (status == PF_OK && !is_good)
      status = winidea_bad_xml_row(trace, row.offset, row.kind, error);
    if (status < 0)
      return status;
  }
  file->is_scanned = true;
  return status < 0 ? pf_no_memory(error)
                    : winidea_xml_end(xml, trace, text, error);
}


pf_status winidea_read_xml (pf_trace *trace, pf_bytes text, pf_error *error) {
  winidea_file *const file = trace->state;
  winidea_xml *const xml =
      winidea_xml_new(ALL_KINDS, trace->dictionary->seed, false);
  if (xml == NULL)
    return pf_no_memory(error);
  file->areas.is_mapping = true;
  const pf_status status = read_rows(trace, xml, text, error);
  file->areas.is_mapping = false;
  file->has_read_xml = true;
  winidea_xml_free(xml);
  return status < 0 ? status : winidea_finish_areas(trace, error);
}


bool winidea_is_complete_xml (pf_bytes text) {
  winidea_xml_row row;
  size_t size = text.size;
  while (size > 0 && memchr("\n\r\t ", text.at[size - 1], 5) != NULL)
    size--; /* and the zeros of UTF-16 */
  if (size == 0 || text.at[size - 1] != '>')
    return false;
  winidea_xml *const xml = winidea_xml_new(0, 0, false);
  while (xml != NULL && winidea_xml_next(xml, text, &row) == PF_OK) {
  }
  const bool is_whole = xml != NULL && winidea_xml_is_whole(xml);
  winidea_xml_free(xml);
  return is_whole;
}


/* Returns true if bytes begin as XML, possibly after a byte order mark. */
static bool begins_as_xml (pf_bytes head) {
  static const pf_bytes starts[] = {{(const uint8_t *)"<", 1},
                                    {(const uint8_t *)"\xef\xbb\xbf<", 4},
                                    {(const uint8_t *)"\xff\xfe<", 4},
                                    {(const uint8_t *)"\xfe\xff\0<", 4}};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (head.size > starts[i].size &&
        memcmp(head.at, starts[i].at, starts[i].size) == 0)
      return true;
  return false;
}


/* When out of memory: true, and the open fails by that. */
bool winidea_has_areas (pf_bytes head) {
  winidea_xml_row row;
  pf_status status = PF_OK;
  if (!begins_as_xml(head))
    return false;
  winidea_xml *const xml = winidea_xml_new(0, 0, true);
  while (xml != NULL && status == PF_OK)
    status = winidea_xml_next(xml, head, &row);
  const bool has_any = xml == NULL || status == PF_ENOMEM ||
                       winidea_xml_seen(xml) != 0 ||
                       winidea_xml_is_refused(xml);
  winidea_xml_free(xml);
  return has_any;
}


/* Returns true if a row is one of winIDEA: an area with a name and a handle, or
   an event. */
static bool is_winidea (const winidea_xml_row *row) {
  const winidea_fields *const f = &row->fields;
  const pf_bytes event = f->of[MACRO_EVENT];
  uint32_t handle;
  int64_t time;
  if (!winidea_read_handle_of(f, MACRO_HANDLE, &handle))
    return false;
  if (row->kind == WINIDEA_HANDLE)
    return f->of[MACRO_NAME].at != NULL;
  return event.size == 1 && memchr("ERSXW", pf_upper(event.at[0]), 5) != NULL &&
         winidea_read_time(f, &time);
}


/* The first area or event must be one of winIDEA. When out of memory, the open
   fails by that. */
int winidea_score_xml (pf_bytes head) {
  winidea_xml_row row;
  if (!begins_as_xml(head))
    return 0;
  winidea_xml *const xml =
      winidea_xml_new(1u << WINIDEA_HANDLE | 1u << WINIDEA_TIMELINE, 0, true);
  const pf_status status =
      xml == NULL ? PF_ENOMEM : winidea_xml_next(xml, head, &row);
  const bool is_good = status == PF_ENOMEM ||
                       (status == PF_OK && row.is_certain && is_winidea(&row));
  winidea_xml_free(xml);
  return is_good ? 60 : 0;
}
