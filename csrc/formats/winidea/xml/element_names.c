/*
** element_names.c - the names of elements and attributes of an XML export, in
** any case. Those of fields are the macros of Text1: with points or
** underscores, with or without T., nested (<NET><MIN>) or as attributes. Called
** by element_rows.c.
*/

#include "formats/winidea/xml/element_rows.h"

const char *const winidea_xml_sections[WINIDEA_SECTIONS] = {
    "INFO", "CONTEXTS", "MAPPING", "STATISTICS", "TIMELINE"};


unsigned winidea_xml_field (const char *path, size_t size) {
  static const struct {
    const char *path;
    unsigned field;
  } others[] = {{"PARENT", MACRO_PARENT},
                {"PARENT.HANDLE", MACRO_PARENT},
                {"PARENT.NAME", MACRO_PARENT_NAME},
                {"STATE.HANDLE", MACRO_STATE},
                {"TYPE", MACRO_TYPE},
                {"UNIT", MACRO_UNIT},
                {"CONTEXT.NAME", MACRO_CONTEXT},
                {"TOTAL.TIME", MACRO_TOTAL_TIME},
                {"CORE", WINIDEA_XML_CORE},
                {"CORE.INDEX", WINIDEA_XML_CORE},
                {"COREINDEX", WINIDEA_XML_CORE},
                {"HITS", MACRO_COUNT}};
  char name[WINIDEA_MAX_PATH + 1];
  if (size == 0 || size > WINIDEA_MAX_PATH)
    return MACRO_UNKNOWN;
  if (size > 6 && memcmp(path + size - 6, ".TOTAL", 6) == 0)
    size -= 6;
  memcpy(name, path, size);
  name[size] = '\0';
  const winidea_macro macro = winidea_find_macro(name);
  if (macro != MACRO_UNKNOWN)
    return macro < MACRO_CLASS ? macro : MACRO_UNKNOWN;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(name, others[i].path) == 0)
      return others[i].field;
  return MACRO_UNKNOWN;
}


static bool is_name (const char *name, const char *upper) {
  while (*upper != '\0' && (char)pf_upper((uint8_t)*name) == *upper)
    name++, upper++;
  return *upper == '\0' && *name == '\0';
}


winidea_section_kind winidea_xml_section (const char *name) {
  int kind = 0;
  while (kind < WINIDEA_SECTIONS && !is_name(name, winidea_xml_sections[kind]))
    kind++;
  return (winidea_section_kind)kind;
}


bool winidea_xml_is_row (const char *name, winidea_section_kind section) {
  static const char *const rows[WINIDEA_SECTIONS] = {"", "CONTEXT", "AREA",
                                                     "AREA", "T"};
  return is_name(name, rows[section]);
}
