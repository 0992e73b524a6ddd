/*
** element_rows.c - reads the rows of an XML export by expat.
**
**   <MAPPING>    <AREA> <NAME>..</NAME> <HANDLE>..</HANDLE> ... </AREA> ...
**   <CONTEXTS>   <CONTEXT> <NAME>..</NAME> <HANDLE>..</HANDLE> </CONTEXT> ...
**   <STATISTICS> <AREA> <HANDLE>..</HANDLE> <COUNT>..</COUNT> <NET>..</NET> ...
**   <TIMELINE>   <T> <TIME>..</TIME> <EVENT>..</EVENT> <HANDLE>..</HANDLE> ...
**   <INFO>       <TOTAL_TIME>..</TOTAL_TIME> </INFO>
**
** The vendor's page names Mapping, Statistics and Timeline, and says that
** events have a core; a third-party reader uses AREA with NAME and HANDLE, and
** T with TIME, EVENT, HANDLE and VALUE. The schema is not public. Sections are
** therefore found at any depth, and fields by name (element_names.c). A row is
** an element AREA, T or (in CONTEXTS) CONTEXT, else an element of a section
** that has a HANDLE. An element CONTEXT around rows is the context of these.
**
** A document type declaration is refused, so no entity can be declared; the
** depth, and the bytes of a row, a tag or a comment are limited. Used through
** element_rows.h. A winidea_xml owns its parser and its buffers.
*/

#include <expat.h>
#include <stdlib.h>

#include "formats/winidea/xml/element_rows.h"
#include "model/base/memory.h"
#include "model/rows/trace.h"

#define CHUNK     65536   /* bytes parsed at a time */
#define MAX_DEPTH 255     /* of elements */
#define MAX_BYTES 1048576 /* of a row, a tag, a comment */

/* The texts of the fields of a row, in winidea_xml.bytes. */
typedef struct text_slot {
  size_t at, size;
  bool is_set;
} text_slot;

struct winidea_xml {
  XML_Parser parser;
  unsigned kinds, seen, empty; /* bits of sections; empty: without rows */
  bool is_head, is_last, is_suspended, is_whole, has_memory;
  uint64_t fed; /* bytes that the parser was given */
  unsigned depth;
  winidea_section_kind in; /* WINIDEA_SECTIONS: no section */
  unsigned section_depth;
  unsigned row_depth;          /* 0: no row; fields are those of the section */
  bool is_named;               /* the element is certainly a row */
  bool has_elements, has_rows; /* of the section */
  char path[WINIDEA_MAX_PATH + 1]; /* below the row: "NET.MIN" */
  size_t path_size;                /* more than WINIDEA_MAX_PATH: cut */
  size_t ends[MAX_DEPTH + 1];      /* of the path around each open element */
  uint8_t fields[MAX_DEPTH + 1];   /* of each open element */
  size_t text; /* where the text since the last tag begins */
  text_slot slots[WINIDEA_XML_FIELDS];
  uint8_t *bytes;
  size_t size, capacity;
  uint8_t *context; /* of the rows that follow */
  size_t context_size, context_capacity;
  uint64_t row_offset;
  bool is_ready; /* a row is complete: */
  winidea_section_kind ready;
  bool is_certain;
  const char *refusal;    /* why the parser was stopped, or NULL */
  enum XML_Error damage;  /* why it stopped */
  uint64_t damage_offset; /* where */
};


/* The byte at which the current tag begins. Positions of expat may have only 32
   bits. */
static uint64_t offset_of (const winidea_xml *self) {
  const uint32_t at = (uint32_t)XML_GetCurrentByteIndex(self->parser);
  return self->fed - (uint32_t)((uint32_t)self->fed - at);
}


static void refuse (winidea_xml *self, const char *why) {
  if (self->refusal == NULL)
    self->refusal = why;
  XML_StopParser(self->parser, XML_FALSE);
}


/* Adds bytes to those of the row. */
static bool add_bytes (winidea_xml *self, const void *bytes, size_t size) {
  if (self->size + size > MAX_BYTES) {
    refuse(self, "an element with more than 1 MiB of text");
    return false;
  }
  if (!pf_grow(&self->bytes, &self->capacity, self->size + size)) {
    self->has_memory = false;
    XML_StopParser(self->parser, XML_FALSE);
    return false;
  }
  if (size > 0)
    memcpy(self->bytes + self->size, bytes, size);
  self->size += size;
  return true;
}


static void set_path (winidea_xml *self, size_t size) {
  self->path_size = size <= WINIDEA_MAX_PATH ? size : WINIDEA_MAX_PATH + 1;
  self->path[size <= WINIDEA_MAX_PATH ? size : WINIDEA_MAX_PATH] = '\0';
}


/* Appends a name to the path: in upper case, with points for _ - and before
   it. */
static void add_path (winidea_xml *self, const char *name) {
  size_t n = self->path_size;
  if (n > 0 && n < WINIDEA_MAX_PATH)
    self->path[n] = '.';
  n += n > 0;
  for (; *name != '\0'; name++, n++)
    if (n < WINIDEA_MAX_PATH)
      self->path[n] =
          *name == '_' || *name == '-' ? '.' : (char)pf_upper((uint8_t)*name);
  set_path(self, n);
}


static bool is_blank (uint8_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}


/* Sets a field to the last bytes, from `at` on. A free text is kept as it is,
   unless it begins with the end of a line. In a row, an element that has only
   others in it keeps what these have set. */
static void set_field (winidea_xml *self, unsigned field, size_t at) {
  const uint8_t *const bytes = self->bytes;
  const bool is_free = field >= MACRO_NAME && field < WINIDEA_XML_CORE &&
                       (at == self->size || bytes[at] != '\n');
  size_t end = self->size;
  while (!is_free && at < end && is_blank(bytes[at]))
    at++;
  while (!is_free && at < end && is_blank(bytes[end - 1]))
    end--;
  if (at == end && self->slots[field].is_set && self->row_depth != 0)
    return;
  self->slots[field] = (text_slot){at, end - at, true};
}


static void add_attributes (winidea_xml *self, const char **attributes) {
  const size_t size = self->path_size;
  for (; *attributes != NULL; attributes += 2) {
    add_path(self, attributes[0]);
    const unsigned field = winidea_xml_field(self->path, self->path_size);
    set_path(self, size);
    const size_t at = self->size;
    if (field == MACRO_UNKNOWN)
      continue;
    if (!add_bytes(self, attributes[1], strlen(attributes[1])))
      return;
    set_field(self, field, at);
  }
}


static void clear_row (winidea_xml *self) {
  memset(self->slots, 0, sizeof self->slots);
  self->size = self->text = 0;
  self->row_depth = 0;
  self->is_named = false;
}


/* An element begins a row. The context of what is around it becomes that of the
   rows from here on. */
static void begin_row (winidea_xml *self, bool is_named) {
  const text_slot context = self->slots[MACRO_CONTEXT];
  if (context.is_set) {
    if (!pf_grow(&self->context, &self->context_capacity, context.size + 1)) {
      self->has_memory = false;
      XML_StopParser(self->parser, XML_FALSE);
      return;
    }
    self->context_size = context.size;
    if (context.size > 0)
      memcpy(self->context, self->bytes + context.at, context.size);
  }
  clear_row(self);
  self->row_depth = self->depth;
  self->is_named = is_named;
  self->row_offset = offset_of(self);
  set_path(self, 0);
}


static void begin_section (winidea_xml *self, winidea_section_kind kind) {
  clear_row(self);
  self->in = kind;
  self->section_depth = self->depth;
  self->seen |= 1u << kind;
  set_path(self, 0);
  self->has_elements = self->has_rows = false;
  self->context_size = 0;
}


/* An element within a section: a row, or part of one. */
static void begin_element (winidea_xml *self, const char *name) {
  const bool is_row = !self->is_named && winidea_xml_is_row(name, self->in);
  unsigned field = MACRO_UNKNOWN;
  self->has_elements = true;
  if (!is_row) {
    add_path(self, name);
    field = winidea_xml_field(self->path, self->path_size);
  }
  self->fields[self->depth] = (uint8_t)field;
  if (is_row || (self->row_depth == 0 && self->in != WINIDEA_INFO &&
                 field == MACRO_UNKNOWN))
    begin_row(self, is_row);
}


static void XMLCALL on_start (void *context, const char *name,
                              const char **attributes) {
  winidea_xml *const self = context;
  if (self->depth == MAX_DEPTH) {
    refuse(self, "elements nested deeper than 255");
    return;
  }
  self->ends[++self->depth] = self->path_size;
  self->fields[self->depth] = MACRO_UNKNOWN;
  self->text = self->size;
  if (self->in != WINIDEA_SECTIONS) {
    if ((self->kinds >> self->in & 1) == 0)
      return;
    begin_element(self, name);
  }
  else if (winidea_xml_section(name) != WINIDEA_SECTIONS)
    begin_section(self, winidea_xml_section(name));
  else if (winidea_xml_is_row(name, WINIDEA_HANDLE)) { /* outside of MAPPING */
    begin_section(self, WINIDEA_HANDLE);
    begin_row(self, true);
  }
  if (self->in != WINIDEA_SECTIONS)
    add_attributes(self, attributes);
  self->text = self->size;
}


/* A row, or section INFO, has ended: it is given if it has what makes a row. */
static void end_row (winidea_xml *self) {
  const bool is_info = self->in == WINIDEA_INFO;
  const int needed = is_info ? MACRO_TOTAL_TIME : MACRO_HANDLE;
  self->is_ready = self->is_named || self->slots[needed].is_set;
  self->ready = self->in;
  self->is_certain = self->is_named && self->row_depth > self->section_depth;
  self->has_rows |= self->is_ready;
  if (self->is_ready)
    XML_StopParser(self->parser, XML_TRUE);
  else
    clear_row(self);
}


static void XMLCALL on_end (void *context, const char *name) {
  winidea_xml *const self = context;
  const bool is_wanted =
      self->in != WINIDEA_SECTIONS && (self->kinds >> self->in & 1) != 0;
  const unsigned field = self->fields[self->depth];
  (void)name;
  if (is_wanted && field != MACRO_UNKNOWN)
    set_field(self, field, self->text);
  self->text = self->size;
  const bool is_info =
      self->in == WINIDEA_INFO && self->depth == self->section_depth;
  if (is_wanted && (self->depth == self->row_depth || is_info))
    end_row(self);
  if (self->in != WINIDEA_SECTIONS && self->depth == self->section_depth) {
    if (is_wanted && self->has_elements && !self->has_rows)
      self->empty |= 1u << self->in;
    self->in = WINIDEA_SECTIONS;
  }
  set_path(self, self->ends[self->depth--]);
  self->is_whole |= self->depth == 0;
}


/* Collects the text of an element that is a field. */
static void XMLCALL on_text (void *context, const char *text, int size) {
  winidea_xml *const self = context;
  if (self->in != WINIDEA_SECTIONS && self->depth > 0 &&
      self->fields[self->depth] != MACRO_UNKNOWN)
    (void)add_bytes(self, text, (size_t)size);
}


static void XMLCALL on_doctype (void *context, const char *name,
                                const char *system, const char *public,
                                int has_subset) {
  (void)name, (void)system, (void)public, (void)has_subset;
  refuse(context, "a document type declaration");
}


winidea_xml *winidea_xml_new (unsigned kinds, uint64_t seed, bool is_head) {
  /* those of this object, so that specs can let them fail */
  static const XML_Memory_Handling_Suite memory = {malloc, realloc, free};
  winidea_xml *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
  if (self->parser == NULL) {
    free(self);
    return NULL;
  }
  self->kinds = kinds;
  self->is_head = is_head;
  self->in = WINIDEA_SECTIONS;
  self->has_memory = true;
  (void)XML_SetHashSalt(self->parser, (unsigned long)(seed | 1));
  XML_SetUserData(self->parser, self);
  XML_SetElementHandler(self->parser, on_start, on_end);
  XML_SetCharacterDataHandler(self->parser, on_text);
  XML_SetStartDoctypeDeclHandler(self->parser, on_doctype);
  return self;
}


void winidea_xml_free (winidea_xml *self) {
  if (self == NULL)
    return;
  XML_ParserFree(self->parser);
  free(self->bytes);
  free(self->context);
  free(self);
}


/* Parses on, to the end of a row or of a chunk. */
static enum XML_Status parse (winidea_xml *self, pf_bytes text) {
  if (self->is_suspended)
    return XML_ResumeParser(self->parser);
  const uint64_t left = /* a live file may have been cut */
      self->fed < text.size ? text.size - self->fed : 0;
  const int size = left < CHUNK ? (int)left : CHUNK;
  const char *const at = size == 0 ? "" : (const char *)text.at + self->fed;
  self->is_last = (uint64_t)size == left;
  self->fed += (uint64_t)size;
  return XML_Parse(self->parser, at, size, self->is_last && !self->is_head);
}


/* Sets the fields of the row that has ended. */
static void fill_row (const winidea_xml *self, winidea_xml_row *row) {
  memset(row, 0, sizeof *row);
  row->kind = self->ready;
  row->offset = self->row_offset;
  row->fields.is_xml = true;
  row->is_certain = self->is_certain;
  for (int i = 0; i < WINIDEA_XML_FIELDS; i++) {
    const text_slot slot = self->slots[i];
    pf_bytes *const to =
        i == WINIDEA_XML_CORE ? &row->fields.core : &row->fields.of[i];
    if (slot.is_set)
      *to = (pf_bytes){self->bytes == NULL ? (const uint8_t *)""
                                           : self->bytes + slot.at,
                       slot.size};
  }
  if (row->fields.of[MACRO_CONTEXT].size == 0 && self->context_size > 0)
    row->fields.of[MACRO_CONTEXT] =
        (pf_bytes){self->context, self->context_size};
}


pf_status winidea_xml_next (winidea_xml *self, pf_bytes text,
                            winidea_xml_row *row) {
  clear_row(self);
  while (self->refusal == NULL && self->damage == XML_ERROR_NONE &&
         (self->is_suspended || !self->is_last)) {
    self->is_ready = false;
    const enum XML_Status status = parse(self, text);
    self->is_suspended = status == XML_STATUS_SUSPENDED;
    if (self->is_ready && status != XML_STATUS_ERROR) {
      fill_row(self, row);
      return PF_OK;
    }
    const uint64_t at = offset_of(self);
    if (status == XML_STATUS_ERROR) {
      self->damage = XML_GetErrorCode(self->parser);
      self->damage_offset = at;
    }
    else if (self->fed - at > MAX_BYTES) {
      self->refusal = "a tag or comment of more than 1 MiB";
      self->damage_offset = at;
    }
    if (!self->has_memory || self->damage == XML_ERROR_NO_MEMORY)
      return PF_ENOMEM;
  }
  return PF_END;
}


void winidea_xml_want (winidea_xml *self, unsigned kinds) {
  self->kinds = kinds;
}


bool winidea_xml_is_whole (const winidea_xml *self) {
  return self->is_whole && self->refusal == NULL &&
         self->damage == XML_ERROR_NONE;
}


bool winidea_xml_is_refused (const winidea_xml *self) {
  return self->refusal != NULL || self->damage == XML_ERROR_UNKNOWN_ENCODING;
}


unsigned winidea_xml_seen (const winidea_xml *self) {
  return self->seen;
}


static pf_status warn_damage (const winidea_xml *self, pf_trace *trace,
                              pf_bytes text, pf_error *error) {
  const uint64_t at = self->damage_offset;
  const pf_bytes line = pf_line_from(text, at);
  const enum XML_Error e = self->damage;
  if (winidea_xml_is_refused(self))
    return pf_warn(trace, PF_DAMAGE, "winidea-xml-refused", PF_EUNSUPPORTED, at,
                   error, "found %s; the rest is not read: %.*s",
                   self->refusal != NULL ? self->refusal
                                         : "an unknown encoding",
                   PF_SHOWN(line, 60));
  if (e == XML_ERROR_NO_ELEMENTS || e == XML_ERROR_UNCLOSED_TOKEN ||
      e == XML_ERROR_PARTIAL_CHAR || e == XML_ERROR_UNCLOSED_CDATA_SECTION)
    return pf_warn(trace, PF_DAMAGE, "winidea-xml-damage", PF_ETRUNCATED, at,
                   error, "the file ends before its first element has ended");
  return pf_warn(trace, PF_DAMAGE, "winidea-xml-damage", PF_EFORMAT, at, error,
                 "no XML from here on (%s), the rest is not read: %.*s",
                 XML_ErrorString(e), PF_SHOWN(line, 60));
}


pf_status winidea_xml_end (const winidea_xml *self, pf_trace *trace,
                           pf_bytes text, pf_error *error) {
  const winidea_file *const file = trace->state;
  /* the timeline may be the binary one */
  const unsigned empty =
      self->empty & ~(file->timeline != NULL ? 1u << WINIDEA_TIMELINE : 0u);
  pf_status status = PF_OK;
  for (int i = WINIDEA_CONTEXTS; i < WINIDEA_SECTIONS && status == PF_OK; i++)
    if ((empty >> i & 1) != 0)
      status = pf_warn(trace, PF_NOTE, "winidea-xml-unknown", PF_EFORMAT,
                       PF_NO_OFFSET, error,
                       "section %s has elements, but none with a HANDLE that "
                       "could be a row",
                       winidea_xml_sections[i]);
  if (status == PF_OK &&
      (self->refusal != NULL || self->damage != XML_ERROR_NONE))
    status = warn_damage(self, trace, text, error);
  return status;
}
