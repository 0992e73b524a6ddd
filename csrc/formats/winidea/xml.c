/*
** xml.c - reads the areas of an XML export.
**
**   <MAPPING> <AREA> <NAME>..</NAME> <HANDLE>..</HANDLE> ... </AREA> ...
**
** The vendor's page names the nodes, and a third-party reader uses the elements
** MAPPING, AREA, NAME and HANDLE; the schema is not public. Elements are
** therefore found by name, in any case and at any depth: within an area also
** VALUE, FILE, PATH, PARENT or PARENT_HANDLE, STATE_HANDLE or HANDLE_STATE, and
** VALUE_TYPE and VALUE_UNIT with or without `VALUE_`. The timeline of an XML
** export and all after it are not read: a binary timeline says the same in a
** tenth of the size. Called by open_winidea.c. The winidea_file owns the areas.
*/

#include <stdlib.h>

#include "formats/winidea/text1.h"

#define MAX_NAME 32 /* bytes of an element name that are examined */

typedef struct element {
  char name[MAX_NAME]; /* upper case; "" for comments and the like */
  bool is_end;         /* </name> */
  bool is_empty;       /* <name/> */
  pf_bytes text;       /* the text up to the next < */
  pf_bytes verbatim;   /* of <![CDATA[...]]> its contents, else `at` is NULL */
  uint64_t offset;
} element;

/* A position in the file. */
typedef struct xml_parser {
  pf_bytes bytes;
  size_t at;
} xml_parser;


/* Sets the name of a tag, the text between < and >. */
static void read_name (pf_bytes tag, element *e) {
  size_t n = 0;
  e->is_end = tag.size > 0 && tag.at[0] == '/';
  e->is_empty = tag.size > 0 && tag.at[tag.size - 1] == '/';
  for (size_t i = e->is_end; i < tag.size; i++) {
    const uint8_t c = pf_upper(tag.at[i]);
    if (!(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_' &&
        c != '.' && c != '-' && c != ':')
      break;
    if (n + 1 < MAX_NAME) /* a cut name is longer than all known ones */
      e->name[n++] = (char)c;
  }
  e->name[n] = '\0';
}


/* The end of a tag: after `>`, or after the whole comment or CDATA section. */
static size_t end_of_tag (const xml_parser *w, size_t start) {
  static const struct {
    const char *begin, *end;
  } verbatim[] = {{"!--", "-->"}, {"![CDATA[", "]]>"}};
  const pf_bytes b = w->bytes;
  for (size_t k = 0; k < 2; k++) {
    const size_t size = strlen(verbatim[k].begin);
    if (b.size - start < size ||
        memcmp(b.at + start, verbatim[k].begin, size) != 0)
      continue;
    for (size_t i = start + size; b.size - i >= 3; i++)
      if (memcmp(b.at + i, verbatim[k].end, 3) == 0)
        return i + 3;
    return b.size;
  }
  const uint8_t *const end = memchr(b.at + start, '>', b.size - start);
  return end == NULL ? b.size : (size_t)(end - b.at) + 1;
}


/* Parses the next element. Returns false at the end of the file. */
static bool next_element (xml_parser *w, element *e) {
  const pf_bytes b = w->bytes;
  const uint8_t *const open =
      w->at == b.size ? NULL : memchr(b.at + w->at, '<', b.size - w->at);
  if (open == NULL)
    return false;
  const size_t start = (size_t)(open - b.at) + 1;
  const size_t end = end_of_tag(w, start);
  const bool is_verbatim =
      end >= start + 11 && memcmp(b.at + start, "![CDATA[", 8) == 0;
  e->verbatim = is_verbatim ? (pf_bytes){b.at + start + 8, end - start - 11}
                            : (pf_bytes){NULL, 0};
  e->offset = start - 1;
  read_name((pf_bytes){b.at + start, end > start ? end - start - 1 : 0}, e);
  const uint8_t *const stop =
      end == b.size ? NULL : memchr(b.at + end, '<', b.size - end);
  const size_t size = stop == NULL ? b.size - end : (size_t)(stop - b.at) - end;
  e->text = (pf_bytes){b.at + end, size};
  w->at = end + size;
  return true;
}


/* Decodes the five named entities of *text into `to`, and sets *text to the
   result. Returns its end. */
static uint8_t *decode (pf_bytes *text, uint8_t *to) {
  static const struct {
    const char *name;
    char byte;
  } entities[] = {{"&lt;", '<'},
                  {"&gt;", '>'},
                  {"&amp;", '&'},
                  {"&quot;", '"'},
                  {"&apos;", '\''}};
  uint8_t *const start = to;
  for (size_t i = 0, size; i < text->size; i += size, to++) {
    const uint8_t *const at = text->at + i;
    *to = *at;
    size = 1;
    for (size_t k = 0; *at == '&' && k < sizeof entities / sizeof *entities;
         k++) {
      const size_t length = strlen(entities[k].name);
      if (text->size - i < length || memcmp(at, entities[k].name, length) != 0)
        continue;
      *to = (uint8_t)entities[k].byte;
      size = length;
    }
  }
  *text = (pf_bytes){start, (size_t)(to - start)};
  return to;
}


/* The field of an element, or MACRO_UNKNOWN. */
static winidea_macro field_of (const char *name) {
  static const struct {
    const char *name;
    winidea_macro macro;
  } known[] = {{"NAME", MACRO_NAME},          {"HANDLE", MACRO_HANDLE},
               {"VALUE", MACRO_VALUE},        {"FILE", MACRO_FILE},
               {"PATH", MACRO_PATH},          {"PARENT_HANDLE", MACRO_PARENT},
               {"PARENT", MACRO_PARENT},      {"STATE_HANDLE", MACRO_STATE},
               {"HANDLE_STATE", MACRO_STATE}, {"VALUE_TYPE", MACRO_TYPE},
               {"TYPE", MACRO_TYPE},          {"VALUE_UNIT", MACRO_UNIT},
               {"UNIT", MACRO_UNIT}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(name, known[i].name) == 0)
      return known[i].macro;
  return MACRO_UNKNOWN;
}


bool winidea_read_xml_handle (pf_bytes text, uint32_t *handle) {
  int64_t number;
  if (!winidea_read_value(text, WINIDEA_BASE_AUTO, &number) || number < 0 ||
      number > UINT32_MAX)
    return false;
  *handle = (uint32_t)number;
  return true;
}


/* `verbatim`: a bit for each field whose entities are not decoded. */
static pf_status add_area (pf_trace *trace, winidea_fields *fields,
                           uint64_t verbatim, uint64_t offset,
                           pf_error *error) {
  bool is_good;
  size_t size = 1;
  for (int i = MACRO_TYPE; i < MACROS; i++)
    size += fields->of[i].size;
  uint8_t *const decoded = malloc(size);
  if (decoded == NULL)
    return pf_no_memory(error);
  uint8_t *end = decoded;
  for (int i = MACRO_TYPE; i < MACROS; i++) /* all texts */
    if ((verbatim >> i & 1) == 0)
      end = decode(&fields->of[i], end);
  const pf_status status =
      winidea_add_area(trace, fields, true, &is_good, error);
  free(decoded);
  if (status < 0 || is_good)
    return status;
  return winidea_bad_row(trace, offset, fields->of[MACRO_HANDLE],
                         WINIDEA_SECTIONS, error);
}


bool winidea_is_complete_xml (pf_bytes text) {
  xml_parser w = {text, 0};
  element e, first = {.name = ""};
  bool is_complete = false;
  while (next_element(&w, &e)) {
    if (first.name[0] == '\0' && !e.is_end)
      first = e;
    is_complete = e.is_end && strcmp(e.name, first.name) == 0 &&
                  text.at[w.at - e.text.size - 1] == '>';
  }
  return is_complete;
}


/* Sets the fields of an area, up to its end. Returns a bit for each field that
   is a CDATA section. */
static uint64_t read_fields (xml_parser *w, winidea_fields *fields) {
  uint64_t verbatim = 0;
  element e;
  winidea_macro open = MACRO_UNKNOWN; /* the field that has begun */
  memset(fields, 0, sizeof *fields);
  while (next_element(w, &e) && !(e.is_end && strcmp(e.name, "AREA") == 0)) {
    const winidea_macro field = field_of(e.name);
    if (e.verbatim.at != NULL && open != MACRO_UNKNOWN &&
        fields->of[open].size == 0) {
      fields->of[open] = e.verbatim;
      verbatim |= (uint64_t)1 << open;
    }
    else if (e.name[0] != '\0')
      open = e.is_end || e.is_empty ? MACRO_UNKNOWN : field;
    if (field != MACRO_UNKNOWN && !e.is_end && !e.is_empty)
      fields->of[field] = pf_trim(e.text);
  }
  return verbatim;
}


pf_status winidea_read_xml (pf_trace *trace, pf_bytes text, pf_error *error) {
  winidea_file *const file = trace->state;
  xml_parser w = {text, 0};
  element e;
  winidea_fields fields;
  pf_status status = PF_OK;
  file->areas.is_mapping = true;
  while (status == PF_OK && next_element(&w, &e)) {
    if (strcmp(e.name, "TIMELINE") == 0 && !e.is_empty) {
      status = pf_warn(trace, PF_NOTE, "winidea-xml-timeline", PF_EUNSUPPORTED,
                       e.offset, error,
                       "the timeline of an XML export and what follows it are "
                       "not read: export it as Text1, or as a binary timeline");
      break;
    }
    if (strcmp(e.name, "AREA") != 0 || e.is_end || e.is_empty)
      continue;
    const uint64_t offset = e.offset;
    const uint64_t verbatim = read_fields(&w, &fields);
    status = add_area(trace, &fields, verbatim, offset, error);
  }
  file->areas.is_mapping = false;
  file->has_read_xml = true;
  return status < 0 ? status : winidea_finish_areas(trace, error);
}


/* Returns true if bytes begin as XML, possibly after a byte order mark. */
static bool begins_as_xml (pf_bytes head) {
  const size_t mark = head.size > 3 && head.at[0] == 0xef ? 3 : 0;
  return head.size > mark && head.at[mark] == '<';
}


bool winidea_has_areas (pf_bytes head) {
  xml_parser w = {head, 0};
  element e;
  while (begins_as_xml(head) && next_element(&w, &e))
    if (strcmp(e.name, "AREA") == 0)
      return true;
  return false;
}


/* The first area must be one of winIDEA: it has a name and a handle. */
int winidea_score_xml (pf_bytes head) {
  xml_parser w = {head, 0};
  element e = {.is_end = true};
  uint32_t handle;
  bool in_mapping = false, has_name = false, has_handle = false;
  if (!begins_as_xml(head))
    return 0;
  while (next_element(&w, &e) && !(in_mapping && strcmp(e.name, "AREA") == 0))
    if (strcmp(e.name, "MAPPING") == 0)
      in_mapping = !e.is_end && !e.is_empty;
  if (!in_mapping || strcmp(e.name, "AREA") != 0 || e.is_end || e.is_empty)
    return 0;
  while (next_element(&w, &e) && strcmp(e.name, "AREA") != 0) {
    has_name |= !e.is_end && field_of(e.name) == MACRO_NAME;
    has_handle |= !e.is_end && field_of(e.name) == MACRO_HANDLE &&
                  winidea_read_xml_handle(pf_trim(e.text), &handle);
  }
  return e.is_end && has_name && has_handle ? 60 : 0;
}
