/*
** winidea.h - the state of an opened winIDEA trace and the functions that the
** files of this format share.
**
** An export of the winIDEA profiler is a main file (Text1 or XML: contexts,
** areas, statistics, possibly the timeline) and possibly a binary timeline
** beside it. Either may be opened; the other one is then a source with the role
** "mapping" or "timeline". The rows of the main file that describe areas are
** called the mapping. All times are in nanoseconds.
**
** Readers may run in several threads. winidea_file.mutex protects all that
** grows while they run.
**
**   open_winidea.c      the format: which file is what, facts, tables
**   detect_winidea.c    detection of binary timelines and their version
**   text1.c             sections of a Text1 file
**   headers.c           their headers
**   rowformat.c         the formats of the rows of sections
**   mapping.c           areas and contexts of Text1
**   task_contexts.c     the context of each event
**   context_scan.c      contexts that run on several cores at once
**   area_list.c         the list of areas of a file
**   area_cache.c        from handle and value to area, with a cache for each
**                       reader
**   decode.c            from records to columns
**   decode_events.c     from records to event words
**   bin_timeline.c      reader of a binary timeline
**   text_timeline.c     reader of the timeline of a main file
**   areas_table.c       reader of table areas
**   sections.c          readers of tables statistics and contexts
**   raw_winidea.c       readers of table raw
**   schemas.c           the schemas
**   xml/                element_rows.c: rows of XML; element_names.c: names of
**                       elements; open_export.c: areas, and detection;
**                       export_events.c: events
**   encoder/            encode_winidea.c: the encoder; write_text1.c: rows of
**                       Text1; write_handles.c: new handles, states as writes
**
** lua/trace_part.c and checked_reader.c open and close a trace and its readers
** through pf_format_winidea. The trace owns the winidea_file; `close` of
** open_winidea.c frees its areas, contexts and sections.
*/

#ifndef winidea_h
#define winidea_h

#include <pthread.h>
#include <string.h>

#include "bytes/cursor.h"
#include "bytes/text.h"
#include "formats/winidea/task_contexts.h"
#include "formats/winidea/rowformat.h"
#include "model/dictionary/areas.h"
#include "model/base/id_table.h"
#include "model/base/intern_table.h"
#include "model/rows/batch.h"
#include "model/rows/trace.h"
#include "profio.h"

/* The versions of a binary timeline; they differ in the second word of a
   record. */
typedef enum winidea_version {
  WINIDEA_1_0, /* bits 24 to 27: type; no core */
  WINIDEA_1_1  /* bits 0 to 3: type; bits 4 to 11: core */
} winidea_version;

#define WINIDEA_NO_CORE   0xffu
#define WINIDEA_NO_HANDLE UINT32_MAX /* the vendor's invalid handle */
#define WINIDEA_KINDS     16         /* the top 4 bits of a handle */
#define WINIDEA_KIND_STEP 0x10000000u
#define WINIDEA_EVENTS    5 /* exit, suspend, resume, enter, write */
#define WINIDEA_ENTER     3
#define WINIDEA_WRITE     4

/* The layout of a binary timeline. */
typedef struct winidea_layout {
  winidea_version version;
  unsigned size;   /* bytes of a record: 24, or 20 with 4 bytes of DATA */
  bool is_swapped; /* types 1 and 2 are exchanged */
} winidea_layout;

/* The documented kinds of areas. */
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

/* Returns true for a state. The states of one variable share a handle and
   differ in their value. */
static inline bool winidea_is_state (uint32_t handle) {
  return (0xa8u >> winidea_kind(handle) & 1) != 0;
}

/* Whether areas of a kind have no parent: functions, variables, inputs,
   inspectors, and the unknown even kinds. */
static inline bool winidea_is_root (uint32_t handle) {
  return (winidea_kind(handle) & 1) == 0;
}

/* Variables and inputs: all their events are writes. Version 1.0 has no type
   for these; in version 1.1 any type that exists is taken for one. */
static inline bool winidea_has_writes (uint32_t handle) {
  return (0x14u >> winidea_kind(handle) & 1) != 0;
}

/* The source of an event's value, which depends on its area. */
typedef enum winidea_value_kind {
  WINIDEA_UNRESOLVED,    /* the area is not in the cache */
  WINIDEA_NO_VALUE,      /* functions and lines: DATA is ignored */
  WINIDEA_DOUBLE,        /* DATA is a double (IEEE 754) */
  WINIDEA_STATE_VALUE,   /* the value of the state in the mapping */
  WINIDEA_INTEGER = 0x80 /* DATA is an integer; see winidea_mask */
} winidea_value_kind;

/* A mask for DATA: all bits for an integer, else 0. Only WINIDEA_INTEGER has
   the top bit of a byte. */
static inline int64_t winidea_mask (uint8_t value_kind) {
  return (int8_t)value_kind < 0 ? -1 : 0;
}

/* The type of the value in DATA of a record that was built from a Text1 row. */
typedef enum winidea_data_type {
  WINIDEA_DATA_NONE,    /* the row has no value */
  WINIDEA_DATA_INTEGER, /* an integer, whatever the type of the area */
  WINIDEA_DATA_BITS,    /* a double if the type of the area is F64 */
  WINIDEA_DATA_DOUBLE   /* bits of a double */
} winidea_data_type;

/* An entry: a row of the mapping, or an area of an event that has no such
   row. */
typedef struct winidea_entry {
  uint32_t handle;
  bool has_value;
  int64_t value;
  uint32_t area;          /* its area in the dictionary */
  uint32_t parent;        /* index of an entry, or WINIDEA_NO_ENTRY */
  uint32_t parent_handle; /* as the row states it, or WINIDEA_NO_HANDLE */
  bool names_parent;      /* the format of the row includes the parent */
  bool is_mapped;         /* it is a row of the mapping */
  uint32_t states;        /* handle of its states, or WINIDEA_NO_HANDLE */
  uint32_t name; /* name as the file has it, or PF_NO_NAME; so are these: */
  uint32_t file, type, unit, path, parent_name;
  winidea_value_kind value_kind;
} winidea_entry;

#define WINIDEA_NO_ENTRY UINT32_MAX

/* An entry of which nothing is known. */
#define WINIDEA_ENTRY_NONE                             \
  ((winidea_entry){.area = PF_NO_AREA,                 \
                   .parent = WINIDEA_NO_ENTRY,         \
                   .parent_handle = WINIDEA_NO_HANDLE, \
                   .states = WINIDEA_NO_HANDLE,        \
                   .name = PF_NO_NAME,                 \
                   .file = PF_NO_NAME,                 \
                   .type = PF_NO_NAME,                 \
                   .unit = PF_NO_NAME,                 \
                   .path = PF_NO_NAME,                 \
                   .parent_name = PF_NO_NAME})

/* The entries of a handle. */
typedef struct winidea_handle_info {
  uint32_t entry;    /* its first row of the mapping, else first entry */
  uint32_t count;    /* of states: different values in the mapping */
  uint32_t variable; /* of states: their variable, or WINIDEA_NO_ENTRY */
} winidea_handle_info;

/* The last rows of the mapping that may be parents of the next ones. */
typedef struct winidea_parents {
  uint32_t function; /* the last function, or WINIDEA_NO_ENTRY */
  uint32_t root;     /* the last other entry that may be a parent */
} winidea_parents;

#define WINIDEA_NO_PARENTS \
  ((winidea_parents){WINIDEA_NO_ENTRY, WINIDEA_NO_ENTRY})

/*
** The areas of a file. Readers in several threads may add entries; they hold
** the mutex of the file. winidea_areas_free frees all arrays.
*/
typedef struct winidea_areas {
  winidea_entry *list;
  uint32_t count;
  size_t capacity;
  bool is_mapping;        /* the mapping is being read */
  uint32_t finished;      /* entries before it have their parent and area */
  winidea_parents before; /* among the rows since the last TIMELINE */
  uint32_t mapped;        /* number of entries that are rows of the mapping */
  uint32_t changes;       /* incremented for each finished row of the mapping */
  pf_id_table handles;    /* ids: indices of `handle_list` */
  winidea_handle_info *handle_list;
  size_t handles_capacity;
  pf_intern_table states; /* index of `state_list` by handle and value */
  uint32_t *state_list;   /* entries */
  size_t states_capacity;
} winidea_areas;

/* The kinds of sections of a Text1 file. */
typedef enum winidea_section_kind {
  WINIDEA_INFO,
  WINIDEA_CONTEXTS,
  WINIDEA_HANDLE,
  WINIDEA_STATISTICS,
  WINIDEA_TIMELINE,
  WINIDEA_SECTIONS
} winidea_section_kind;

/* The headers of a file that are not the usual ones. */
typedef struct winidea_headers {
  bool is_changed; /* no header is usual; a line with macros is one */
  pf_bytes
      formats[WINIDEA_SECTIONS]; /* of rows, as options state; empty: as the
                                         headers state; borrowed */
} winidea_headers;

typedef struct winidea_section {
  winidea_section_kind kind;
  uint32_t context;           /* of STATISTICS: a name, or PF_NO_NAME */
  uint64_t header, rows, end; /* bytes at which these begin; `end` is
                                 WINIDEA_OPEN while it is not known */
  uint64_t parsed;            /* rows before this byte have been parsed */
  pf_bytes format;            /* format of its rows, from the header */
  bool is_readable;           /* its format is valid */
} winidea_section;

#define WINIDEA_OPEN UINT64_MAX

/* The state of a trace (trace->state), which the trace owns. */
typedef struct winidea_file {
  pthread_mutex_t mutex; /* of areas, contexts, lanes, sections, names and
                            notes */
  bool has_mutex;
  bool is_live;            /* the file may grow: its end may be incomplete */
  bool is_version_pending; /* live: too few records to detect the version */
  size_t at[3];            /* sources of timeline, text and xml, or SIZE_MAX */
  bool has_read_xml;       /* the areas of the XML file have been read */
  bool has_xml_timeline;   /* it has events, */
  bool has_xml_statistics; /* and statistics before them */
  uint64_t nseen_bytes;    /* live: bytes of the text that have been scanned, or
                              of the XML file when it was not complete */
  const pf_source *timeline; /* the binary timeline, or NULL */
  winidea_layout layout;     /* of the binary timeline */
  const pf_source *text;     /* the main file if it is Text1, or NULL */
  const pf_source *xml;      /* the main file if it is XML, or NULL */
  winidea_headers headers;
  winidea_section *sections; /* owned; those that have been scanned */
  size_t nsections, capacity;
  uint64_t scanned;                  /* the text is scanned up to this byte */
  bool is_scanned;                   /* the main file is scanned to its end */
  bool has_format[WINIDEA_SECTIONS]; /* stated in a fact */
  winidea_contexts contexts;
  bool has_total;     /* the file states total_time */
  int64_t total_time; /* duration of the recording, ns */
  bool has_end;       /* events of the binary timeline end with "end" */
  int64_t end;        /* time of that event, ns */
  winidea_areas areas;
  winidea_value_kind input_value_kind; /* of inputs without a type */
  winidea_base mapping_base;           /* of values in the mapping */
  uint32_t events[WINIDEA_EVENTS];     /* ids of the names of events, by type */
  uint32_t lanes[256];                 /* ids of the names of cores, or none */
  uint32_t classes[WINIDEA_KINDS]; /* ids of the classes of areas, by kind */
  uint32_t end_id;                 /* id of the event "end" */
  uint32_t record_id, rest_id;     /* ids of the kinds of raw rows: */
  uint32_t header_id, blank_id;
  uint32_t section_ids[WINIDEA_SECTIONS];
  pf_table tables[6];
} winidea_file;

/* DATA of a record of `size` bytes. */
static inline int64_t winidea_data (const uint8_t *record, size_t size) {
  return size == 20 ? (int64_t)pf_load32le(record + 8)
                    : (int64_t)pf_load64le(record + 8);
}

/* The time of a record of the binary timeline, ns. */
static inline int64_t winidea_time_at (const winidea_file *file, uint64_t row) {
  const size_t size = file->layout.size;
  return (int64_t)pf_load64le(file->timeline->bytes.at + (row + 1) * size - 8);
}


/* The time at which the recording ended; it began at 0 or, if there are events
   before the trigger, with the first event. INT64_MIN: there is no duration. */
static inline int64_t winidea_recording_end (const winidea_file *file,
                                             int64_t first) {
  if (!file->has_total || file->total_time < 0)
    return INT64_MIN;
  return first < 0 ? file->total_time + first : file->total_time;
}

/* The number of complete records in the binary timeline. */
static inline uint64_t winidea_records (const winidea_file *file) {
  return file->timeline->bytes.size / file->layout.size;
}


/* open_winidea.c: the bytes of a main file; in a live trace only complete
   lines. */
pf_bytes winidea_complete_lines (const winidea_file *file, pf_bytes text);

/* open_winidea.c: in a live trace, processes what was written to the files
   since the last call; readers of timelines, sections and raw records call it
   before each batch. PF_OK, a failure, or PF_AGAIN while the version cannot be
   detected. */
pf_status winidea_update_live (pf_trace *trace, pf_error *error);


/* detect_winidea.c: sets the version of a layout, whose size is set, from the
   option, else by counting words. Returns false if the counts are equal; then
   it is 1.1. */
bool winidea_find_version (const pf_trace *trace, pf_bytes bytes,
                           winidea_layout *layout);

/* The confidence (0 to 100) that `head` begins a timeline of `size` bytes. */
int winidea_score_records (pf_bytes head, uint64_t size);

/* Sets the layout from the options, else from the records. PF_OK or a
   failure. */
pf_status winidea_detect_layout (pf_trace *trace, pf_bytes bytes,
                                 winidea_layout *layout, pf_error *error);


/* The names of the events, by type. */
extern const char *const winidea_event_names[WINIDEA_EVENTS];

/* area_list.c: the class of a kind of area: "function", "line", ... */
extern const char *const winidea_class_names[WINIDEA_KINDS];


/* area_list.c: appends an entry. The caller builds its area, before or
   later. PF_OK or PF_ENOMEM. */
pf_status winidea_add_entry (winidea_file *file, const winidea_entry *entry);

/* The first entry of a handle, or NULL. */
const winidea_entry *winidea_first_entry (const winidea_file *file,
                                          uint32_t handle);

/* The entries of a handle, or NULL. */
winidea_handle_info *winidea_find_handle (const winidea_areas *areas,
                                          uint32_t handle);

/* The entry of a state, or NULL; pass 0 as `value` if it has none. */
const winidea_entry *winidea_find_state (const winidea_areas *areas,
                                         uint32_t handle, bool has_value,
                                         int64_t value);

/* Links a variable (an index of an entry) and the handle of its states. Each of
   the two keeps the first partner that it gets. PF_OK or PF_ENOMEM. */
pf_status winidea_set_states (winidea_file *file, uint32_t variable,
                              uint32_t handle);

/* Returns the line of an entry: the value of a line, and of a function that has
   a file; 0: it has none. */
int64_t winidea_line_of (const winidea_entry *entry);

/* Adds the area of an entry to the dictionary, with its name, or with one built
   from its parent and value, and sets entry->area. PF_OK or PF_ENOMEM. */
pf_status winidea_build_area (pf_trace *trace, winidea_entry *entry);

void winidea_areas_free (winidea_areas *areas);


/* The source of values of an area whose row states no type. */
winidea_value_kind winidea_default_value_kind (const winidea_file *file,
                                               uint32_t handle);


/* mapping.c: parses the new rows of a section INFO, CONTEXTS or HANDLE; the
   others are parsed by readers. PF_OK or a failure. */
pf_status winidea_parse_section (pf_trace *trace,
                                 const winidea_section *section,
                                 pf_error *error);


/* bin_timeline.c: readers of timeline and events, for pf_table.open.
   Several may run in threads of their own. */
pf_status winidea_open_bin (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);


/* The other readers: text_timeline.c (timeline and events of a text),
   areas_table.c, sections.c and raw_winidea.c. */
pf_status winidea_open_timeline (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error);
pf_status winidea_open_areas (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
pf_status winidea_open_section (pf_trace *trace, const pf_table *table,
                                pf_reader **reader, pf_error *error);
pf_status winidea_open_raw (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);


/* encode_winidea.c: the encoder, for pf_format.encoder. */
#define WINIDEA_WRITTEN 4
extern const pf_table winidea_written[WINIDEA_WRITTEN];
pf_status winidea_encoder (const pf_option *options, size_t noptions,
                           pf_dictionary *dictionary, pf_encoder **encoder,
                           pf_error *error);


/* schemas.c: the schemas. Their columns: */

#define TIMELINE_LIST(X, T)                                   \
  X(T, time, INT, "time, ns; negative before the trigger")    \
  X(T, event, NAME, "enter, leave, suspend, resume or write") \
  X(T, handle, HANDLE, "the vendor's number of the area")     \
  X(T, core, INT, "the core; -1: unknown")                    \
  X(T, value, INT, "what was written, or the state's value")  \
  X(T, area, AREA, "function, line, variable, state, ...")    \
  X(T, context, NAME, "the task, if it is known")             \
  X(T, number, NUM,                                           \
    "the value as a double; for areas of type F64 only this column has it")
PF_COLUMN_INDEXES(TIMELINE);

#define EVENTS_LIST(X, T)                                                    \
  X(T, time, INT, "time, ns")                                                \
  X(T, event, NAME,                                                          \
    "enter, leave, suspend, resume or write; end: when the recording ended") \
  X(T, area, AREA,                                                           \
    "function, line, variable, ...; for a write to a variable with states, " \
    "the state")                                                             \
  X(T, lane, NAME, "the context or, if it is not known, the core")           \
  X(T, value, INT, "what was written, or the state's value")                 \
  X(T, core, INT, "the core; -1: unknown")                                   \
  X(T, number, NUM,                                                          \
    "the value as a double; for areas of type F64 only this column has it")
PF_COLUMN_INDEXES(EVENTS);

#define AREAS_LIST(X, T)                                                \
  X(T, area, AREA, "the area, under the name it is shown by")           \
  X(T, handle, HANDLE, "the vendor's number of it")                     \
  X(T, value, INT, "the number of a line, the value of a state")        \
  X(T, name, NAME, "its name as the file has it")                       \
  X(T, class, NAME, "function, line, variable, state, aux, ...")        \
  X(T, parent, AREA, "the function of a line, the variable of a state") \
  X(T, file, NAME, "the source file")                                   \
  X(T, line, INT, "the number of a line")                               \
  X(T, type, NAME, "of its values: I64 or F64")                         \
  X(T, unit, NAME, "of its values")                                     \
  X(T, path, NAME, "where the profiler lists it")                       \
  X(T, states, HANDLE, "of a variable: the vendor's number of its states")
PF_COLUMN_INDEXES(AREAS);

enum {
  STATISTICS_AREA,
  STATISTICS_HANDLE,
  STATISTICS_VALUE,
  STATISTICS_CONTEXT,
  STATISTICS_NAME,
  STATISTICS_COUNT,
  STATISTICS_NET, /* five times, each as sum, minimum, maximum, mean */
  STATISTICS_COLUMNS = STATISTICS_NET + 20
};
#define CONTEXTS_LIST(X, T)    \
  X(T, name, NAME, "the task") \
  X(T, handle, ADDR, "the vendor's number of it")
PF_COLUMN_INDEXES(CONTEXTS);

#define RAW_LIST(X, T)                                                      \
  X(T, offset, INT, "byte at which it begins")                              \
  X(T, size, INT, "bytes")                                                  \
  X(T, kind, NAME,                                                          \
    "record, or rest: an incomplete record; of lines header, blank or the " \
    "section: info, contexts, handle, statistics, timeline")                \
  X(T, handle, HANDLE, "HANDLE, as stated")                                 \
  X(T, flags, ADDR, "FLAGS or EVENT, as stated")                            \
  X(T, data, ADDR, "DATA, as stated")                                       \
  X(T, time, INT, "TIME, as stated")                                        \
  X(T, bytes, BYTES, "all its bytes")
PF_COLUMN_INDEXES(RAW);

extern const pf_field winidea_timeline_fields[TIMELINE_COLUMNS];
extern const pf_field winidea_events_fields[EVENTS_COLUMNS];
extern const pf_field winidea_areas_fields[AREAS_COLUMNS];
extern const pf_field winidea_statistics_fields[STATISTICS_COLUMNS];
extern const pf_field winidea_contexts_fields[CONTEXTS_COLUMNS];
extern const pf_field winidea_raw_fields[RAW_COLUMNS];

#endif
