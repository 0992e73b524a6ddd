/*
** winidea.h - what the files of the format winidea share.
**
** An export of the winIDEA profiler is a main file (Text1 or XML: contexts,
** areas, statistics, perhaps the timeline) and perhaps a binary timeline
** beside it. Either may be opened; the other one is then a source with a role,
** "mapping" or "timeline".
**
**   winidea_open.c      the format: which file is what, header facts, tables
**   winidea_detect_layout.c    whether bytes are a binary timeline, and of which version
**   winidea_bin_timeline.c       the reader of a binary timeline; winidea_raw_records.c: of its raw records
**   winidea_decode.c    from records to columns
**   winidea_area_list.c   the list of areas
**   winidea_area_cache.c    which area a handle and a value mean
**   winidea_rowformat.c formats of rows, as Text1 files state them
**   winidea_text1.c      the sections of a Text1 file; winidea_mapping.c: their areas
**   winidea_text_timeline.c  the reader of a Text1 timeline; winidea_sections.c: of statistics and
**               contexts; winidea_raw_lines.c: of raw lines
**   winidea_xml.c       the areas of an XML export
**   winidea_live.c    files that grow while they are read
**   winidea_schemas.c    the schemas
**   winidea_encoder.c winidea_write_text1.c    the way out
*/

#ifndef winidea_h
#define winidea_h

#include <pthread.h>
#include <string.h>

#include "bytes/cursor.h"
#include "formats/winidea/winidea_rowformat.h"
#include "model/areas.h"
#include "model/interned.h"
#include "model/trace.h"
#include "profio.h"

/* The versions of a binary timeline: which bits of a word say what. */
typedef enum winidea_version {
  WINIDEA_1_0, /* event type in bits 24 to 27, no core */
  WINIDEA_1_1  /* event type in bits 0 to 3, core in bits 4 to 11 */
} winidea_version;

#define WINIDEA_NO_CORE   0xffu
#define WINIDEA_NO_HANDLE UINT32_MAX /* the vendor's invalid handle */
#define WINIDEA_KINDS     16         /* of areas: the top nibble of a handle */
#define WINIDEA_KIND_STEP 0x10000000u
#define WINIDEA_EVENTS    5 /* exit suspend resume enter write: types 0 to 4 */
#define WINIDEA_ENTER     3
#define WINIDEA_WRITE     4

/* How a binary timeline is laid out. */
typedef struct winidea_layout {
  winidea_version version;
  unsigned size;   /* bytes of a record: 24, or 20 with DATA of 4 bytes */
  bool is_swapped; /* types 1 and 2 mean the opposite of the documents */
} winidea_layout;

/* The kinds of areas that have names here. */
enum {
  WINIDEA_FUNCTION,
  WINIDEA_LINE,
  WINIDEA_VARIABLE,
  WINIDEA_STATE,
  WINIDEA_AUX,
  WINIDEA_AUX_STATE,
  WINIDEA_INSPECTOR,
  WINIDEA_INSPECTOR_STATE
};

static inline unsigned winidea_kind (uint32_t handle) {
  return handle >> 28;
}

/* States of one variable share a handle: the value tells them apart. */
static inline bool winidea_is_state (uint32_t handle) {
  return (0xa8u >> winidea_kind(handle) & 1) != 0;
}

/* The handle of a variable's states as a row states it, or WINIDEA_NO_HANDLE
   when it cannot be one. */
static inline uint32_t winidea_states_handle (uint32_t variable,
                                              uint32_t states) {
  const bool is_one = winidea_is_state(states) &&
                      winidea_kind(states) == winidea_kind(variable) + 1;
  return is_one ? states : WINIDEA_NO_HANDLE;
}

/* What other areas belong to: functions, variables, inputs, inspectors. */
static inline bool winidea_is_root (uint32_t handle) {
  return (winidea_kind(handle) & 1) == 0;
}

/* Of variables and inputs every event is a write, whatever its type. */
static inline bool winidea_has_writes (uint32_t handle) {
  return (0x14u >> winidea_kind(handle) & 1) != 0;
}

/* What the value of an area's events is. */
typedef enum winidea_value_kind {
  WINIDEA_UNRESOLVED,    /* the area is not known here yet */
  WINIDEA_NO_VALUE,      /* functions and lines: none, whatever DATA says */
  WINIDEA_DOUBLE,        /* DATA as a double of IEEE 754 */
  WINIDEA_STATE_VALUE,   /* the state's own value */
  WINIDEA_INTEGER = 0x80 /* DATA; only here the top bit of a byte is set */
} winidea_value_kind;

/* The bits that DATA gives to the value: all of an integer, else none. */
static inline int64_t winidea_mask (uint8_t value_kind) {
  return (int8_t)value_kind < 0 ? -1 : 0;
}

/* Type of the value in the field DATA of a record. */
typedef enum winidea_data_type {
  WINIDEA_DATA_NONE,    /* nothing: the row has no value */
  WINIDEA_DATA_INTEGER, /* a whole number, whatever the type of the area */
  WINIDEA_DATA_BITS,    /* of an area of type F64 the bits of a double */
  WINIDEA_DATA_DOUBLE   /* the bits of a double */
} winidea_data_type;

/* An area: a row of the mapping, or one that was met without. */
typedef struct winidea_entry {
  uint32_t handle;
  bool has_value;
  int64_t value;
  uint32_t area;          /* its number in the dictionary */
  uint32_t parent;        /* an entry, or WINIDEA_NO_ENTRY */
  uint32_t parent_handle; /* as the row names it, or WINIDEA_NO_HANDLE */
  bool names_parent;      /* whether it has a parent, and which */
  bool is_mapped;         /* it is a row of the mapping */
  uint32_t states;        /* of a variable: the handle of its states, or
                             WINIDEA_NO_HANDLE */
  uint32_t name; /* as the file has it, or PF_NO_NAME; these are names: */
  uint32_t file, type, unit, path, parent_name;
  winidea_value_kind value_kind;
} winidea_entry;

#define WINIDEA_NO_ENTRY UINT32_MAX

/* All entries of one handle. */
typedef struct winidea_handle_info {
  uint32_t handle;
  uint32_t entry;    /* the first, or WINIDEA_NO_ENTRY */
  uint32_t count;    /* states: how many of them the mapping has */
  uint32_t variable; /* the entry whose states have this handle, or
                        WINIDEA_NO_ENTRY */
} winidea_handle_info;

/*
** The areas of a file. Readers in several threads may meet new ones: whoever
** adds holds the mutex of the file.
*/
typedef struct winidea_areas {
  winidea_entry *list;
  uint32_t count, capacity;
  bool is_mapping;     /* they are being read from the mapping */
  uint32_t finished;   /* rows of the mapping before it have their areas */
  uint32_t mapped;     /* how many of them are rows of the mapping */
  uint32_t changes;    /* how often rows of the mapping were finished */
  pf_interned handles; /* by handle */
  winidea_handle_info *handle_list;
  uint32_t handles_capacity;
  pf_interned states;   /* by handle and value */
  uint32_t *state_list; /* their entries */
  uint32_t states_capacity;
} winidea_areas;

/* The sections of a Text1 file. */
typedef enum winidea_section_kind {
  WINIDEA_INFO,
  WINIDEA_CONTEXTS,
  WINIDEA_HANDLE,
  WINIDEA_STATISTICS,
  WINIDEA_TIMELINE,
  WINIDEA_SECTIONS
} winidea_section_kind;

typedef struct winidea_section {
  winidea_section_kind kind;
  uint32_t context;           /* of STATISTICS: a name, or PF_NO_NAME */
  uint64_t header, rows, end; /* bytes at which they begin; end may be
                                 WINIDEA_OPEN: not known yet */
  uint64_t taken;             /* rows before it have been taken */
  pf_bytes format;            /* of its rows, as the header has it */
  bool is_readable;           /* the format is one that rows can be read by */
} winidea_section;

#define WINIDEA_OPEN UINT64_MAX

typedef struct winidea_context {
  uint32_t handle;
  uint32_t name; /* or PF_NO_NAME */
} winidea_context;

/* The state of an opened trace. */
typedef struct winidea_file {
  pthread_mutex_t mutex; /* of everything that grows while readers read: areas,
                            lanes, and of the trace the dictionary and notes */
  bool has_mutex;
  bool is_live; /* more may come: what is cut is waited for (winidea_live.c) */
  bool is_version_pending; /* live: too little has come to tell the version */
  size_t at[3];  /* live: where timeline, text and xml are among the sources */
  uint64_t seen; /* live: so many bytes of the text have been looked at */
  const pf_source *timeline; /* the binary timeline, or NULL */
  winidea_layout layout;     /* of the timeline */
  const pf_source *text;     /* the main file, when it is Text1, or NULL */
  const pf_source *xml;      /* the main file, when it is XML, or NULL */
  winidea_section *sections; /* of the text, as far as it is scanned */
  size_t nsections, capacity;
  uint64_t scanned;                  /* the text is up to here */
  bool is_scanned;                   /* to its end */
  bool has_format[WINIDEA_SECTIONS]; /* its format is among the facts */
  winidea_context *contexts;         /* each handle once */
  pf_interned context_index;         /* by handle */
  uint32_t switches; /* handle of the variable that has the context of a core,
                        or WINIDEA_NO_HANDLE */
  uint32_t switch_states; /* handle of its states, likewise */
  bool has_total;         /* the file states how long the recording lasted: */
  int64_t total_time;     /* so many ns */
  bool has_end;           /* of a binary timeline: its events end with one at */
  int64_t end;            /* this time, when the recording ended */
  winidea_areas areas;
  winidea_value_kind
      input_value_kind; /* of inputs whose type is not state_values */
  uint32_t events[WINIDEA_EVENTS]; /* the words for them, by type */
  uint32_t lanes[256];             /* the words for cores, or PF_NO_NAME */
  uint32_t classes[WINIDEA_KINDS]; /* the words for kinds of areas */
  uint32_t end_word;               /* the event of the recording's end */
  uint32_t record_word, rest_word; /* the words for kinds of raw rows */
  uint32_t header_word, blank_word;
  uint32_t line_words[WINIDEA_SECTIONS];
  pf_table tables[6];
} winidea_file;

/* The time of a record of the binary timeline. */
static inline int64_t winidea_time_at (const winidea_file *file, uint64_t row) {
  const size_t size = file->layout.size;
  return (int64_t)pf_load64le(file->timeline->bytes.at + (row + 1) * size - 8);
}


/* winidea_open.c */

static inline pf_status winidea_no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}

static inline pf_bytes winidea_text (const char *text) {
  return (pf_bytes){(const uint8_t *)text, strlen(text)};
}

/* When the recording ended, which began at 0 or, before the trigger, with the
   first event; INT64_MIN where the file does not state it. */
static inline int64_t winidea_recording_end (const winidea_file *file,
                                             int64_t first) {
  if (!file->has_total || file->total_time < 0)
    return INT64_MIN;
  return first < 0 ? file->total_time + first : file->total_time;
}

/* The records that are whole. */
static inline uint64_t winidea_records (const winidea_file *file) {
  return file->timeline->bytes.size / file->layout.size;
}


/* Whether bytes are the main file of an export: if so file->text or file->xml is
   set. */
bool winidea_is_main (winidea_file *file, const pf_source *source);


/* winidea_open.c: look at a binary timeline, file->timeline: its version, and what info
   says of it. */
pf_status winidea_open_records (pf_trace *trace, winidea_file *file,
                                pf_error *error);

/* winidea_open.c: the first timeline of the main file that has been scanned, or NULL. */
const winidea_section *winidea_first_timeline (const winidea_file *file);

/* winidea_live.c */

/* The bytes of the text, in a live trace those of whole lines. */
pf_bytes winidea_complete_lines (const winidea_file *file);

/* Look at what has come since the last time: readers of a live trace do so
   first. PF_AGAIN: there is too little to tell what it is. */
pf_status winidea_update_live (pf_trace *trace, pf_error *error);


/* winidea_detect_layout.c */

/* Whether the records tell their version, or an option does. */
bool winidea_has_version (const pf_trace *trace, pf_bytes bytes, unsigned size);

/* How sure it is, 0 to 100, that these are the first bytes of a binary
   timeline of `size` bytes. */
int winidea_score_records (pf_bytes head, uint64_t size);

/* Decide how the timeline's bytes are to be read: by the options, else by what
   stands in them. */
pf_status winidea_detect_layout (pf_trace *trace, pf_bytes bytes,
                                 winidea_layout *layout, pf_error *error);


/* winidea_area_cache.c */

/* The words for a kind of area: "function", "line", ... */
extern const char *const winidea_class_names[WINIDEA_KINDS];

/* Where a reader finds areas: what it has met, in arrays of its own. */
typedef struct winidea_handle_array {
  uint32_t *areas;
  uint8_t *value_kinds; /* winidea_value_kind */
  uint32_t size;
} winidea_handle_array;

typedef struct winidea_cached_area {
  uint32_t handle;
  uint32_t area;
  int64_t data; /* of the event */
  int64_t value;
  uint8_t value_kind; /* WINIDEA_UNRESOLVED: the slot is free */
} winidea_cached_area;

typedef struct winidea_area_cache {
  pf_trace *trace;
  winidea_file *file;
  uint32_t changes; /* of the areas, when they were met */
  bool
      derives_states; /* a write to a variable is one to the state that it begins */
  winidea_handle_array
      arrays[WINIDEA_KINDS];  /* by kind and index: no states, and no
                                          variables of which they are derived */
  winidea_cached_area *slots; /* by handle and data: states, and high indices */
  uint32_t mask, count;       /* slots are mask + 1, once there are any */
} winidea_area_cache;

/* Where in the slots to begin to look. */
static inline uint32_t winidea_cache_slot (const winidea_area_cache *cache,
                                           uint32_t handle, int64_t data) {
  const uint64_t hash =
      pf_mix(cache->trace->dictionary->seed ^ handle, (uint64_t)data);
  return (uint32_t)(hash ^ hash >> 32) & cache->mask;
}

/* Look up what is not in the arrays. PF_ENOMEM, or a warning's failure. */
pf_status winidea_resolve (winidea_area_cache *cache, uint32_t handle,
                           int64_t data, winidea_cached_area *cached,
                           pf_error *error);

/*
** Look up a write to a variable, when the reader derives_states states: `cached` gets
** the state of the variable whose value is `data`, and `kind` is the type of
** `data`. The value_kind of the cached is WINIDEA_UNRESOLVED when the mapping has no
** states of the variable, or the value is not an integer. PF_ENOMEM, or the
** failure of a warning.
*/
pf_status winidea_resolve_write (winidea_area_cache *cache, uint32_t handle,
                                 int64_t data, winidea_data_type kind,
                                 winidea_cached_area *cached, pf_error *error);

void winidea_cache_free (winidea_area_cache *cache);

/* Forget what was met, if the mapping has got more rows since. */
void winidea_cache_refresh (winidea_area_cache *cache);


/* winidea_area_list.c */

/* Add an entry; its area is made by the caller. PF_ENOMEM. */
pf_status winidea_add_entry (winidea_file *file, uint64_t seed,
                             const winidea_entry *entry);

/* The first entry of a handle, or NULL. */
const winidea_entry *winidea_first_entry (const winidea_file *file,
                                          uint64_t seed, uint32_t handle);

/* All that is known of a handle, or NULL. */
winidea_handle_info *winidea_find_handle (const winidea_areas *areas,
                                          uint64_t seed, uint32_t handle);

/* The entry of a state, or NULL; `value` is 0 when it has none. */
const winidea_entry *winidea_find_state (const winidea_areas *areas,
                                         uint64_t seed, uint32_t handle,
                                         bool has_value, int64_t value);

/* Note that the states of a variable (an entry's number) have a handle, unless
   another variable's have it. PF_ENOMEM. */
pf_status winidea_set_states (winidea_file *file, uint64_t seed,
                              uint32_t variable, uint32_t handle);

/* winidea_area_cache.c: make an entry's area in the dictionary: its name is the one it has, or one
   made of its parent and its value. PF_ENOMEM. */
pf_status winidea_build_area (pf_trace *trace, winidea_entry *entry);

void winidea_areas_free (winidea_areas *areas);


/* How the values of an area are read when nothing says so. */
winidea_value_kind winidea_default_value_kind (const winidea_file *file,
                                               uint32_t handle);


/* winidea_mapping.c: take the areas, contexts and facts of a section. */
pf_status winidea_parse_section (pf_trace *trace,
                                 const winidea_section *section,
                                 pf_error *error);

/* The name of a context, or PF_NO_NAME. */
uint32_t winidea_context_name (const winidea_file *file, int64_t handle);


/* winidea_bin_timeline.c: the reader of timeline and events, for pf_table.open. Several of them
   may be opened and run in threads of their own. */
pf_status winidea_open_bin (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);


/* The other readers: winidea_text_timeline.c (timeline and events of a text), winidea_areas_table.c,
   winidea_sections.c, winidea_raw_records.c, winidea_raw_lines.c (raw rows of a main file). */
pf_status winidea_open_timeline (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error);
pf_status winidea_open_areas (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
pf_status winidea_open_statistics (pf_trace *trace, const pf_table *table,
                                   pf_reader **reader, pf_error *error);
pf_status winidea_open_contexts (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error);
pf_status winidea_open_raw (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);
pf_status winidea_open_lines (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);


/* winidea_encoder.c, winidea_write_text1.c: the way out. */
#define WINIDEA_WRITTEN 4
extern const pf_table winidea_written[WINIDEA_WRITTEN];
pf_status winidea_encoder (const pf_option *options, size_t noptions,
                           pf_dictionary *dictionary, pf_encoder **encoder,
                           pf_error *error);


/* winidea_schemas.c: the schemas, and the numbers of their columns. */

enum {
  TIMELINE_TIME,
  TIMELINE_EVENT,
  TIMELINE_HANDLE,
  TIMELINE_CORE,
  TIMELINE_VALUE,
  TIMELINE_AREA,
  TIMELINE_CONTEXT,
  TIMELINE_NUMBER,
  TIMELINE_COLUMNS
};
enum {
  EVENTS_TIME,
  EVENTS_EVENT,
  EVENTS_AREA,
  EVENTS_LANE,
  EVENTS_VALUE,
  EVENTS_CORE,
  EVENTS_NUMBER,
  EVENTS_COLUMNS
};
enum {
  AREAS_AREA,
  AREAS_HANDLE,
  AREAS_VALUE,
  AREAS_NAME,
  AREAS_CLASS,
  AREAS_PARENT,
  AREAS_FILE,
  AREAS_LINE,
  AREAS_TYPE,
  AREAS_UNIT,
  AREAS_PATH,
  AREAS_STATES,
  AREAS_COLUMNS
};
enum {
  STATISTICS_AREA,
  STATISTICS_HANDLE,
  STATISTICS_VALUE,
  STATISTICS_CONTEXT,
  STATISTICS_NAME,
  STATISTICS_COUNT,
  STATISTICS_NET, /* and, as in the macros, four of each */
  STATISTICS_COLUMNS = STATISTICS_NET + 20
};
enum {
  CONTEXTS_NAME,
  CONTEXTS_HANDLE,
  CONTEXTS_COLUMNS
};
enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_HANDLE,
  RAW_FLAGS,
  RAW_DATA,
  RAW_TIME,
  RAW_BYTES,
  RAW_COLUMNS
};

extern const pf_field winidea_timeline_fields[TIMELINE_COLUMNS];
extern const pf_field winidea_events_fields[EVENTS_COLUMNS];
extern const pf_field winidea_areas_fields[AREAS_COLUMNS];
extern const pf_field winidea_statistics_fields[STATISTICS_COLUMNS];
extern const pf_field winidea_contexts_fields[CONTEXTS_COLUMNS];
extern const pf_field winidea_raw_fields[RAW_COLUMNS];

#endif
