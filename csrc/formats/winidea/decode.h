/*
** decode.h - the area cache of a reader, and the conversion of records to
** columns and to event words. The readers of events (bin_timeline.c,
** text_timeline.c) own a winidea_decoder: call winidea_decoder_init,
** winidea_decode or winidea_decode_events for each batch, winidea_decoder_free.
** sections.c uses only the cache.
*/

#ifndef decode_h
#define decode_h

#include "formats/winidea/winidea.h"
#include "model/rows/batch.h"
#include "model/rows/event_words.h"

/* Areas of one kind in an area cache, by the index part of the handle. Both
   arrays are owned by the cache. */
typedef struct winidea_handle_array {
  uint32_t *areas;
  uint8_t *value_kinds; /* winidea_value_kind of each */
  uint32_t size;
} winidea_handle_array;

typedef struct winidea_cached_area {
  uint32_t handle;
  uint32_t area;
  int64_t data; /* DATA of a state, or of a write that begins one; else 0 */
  int64_t value;
  uint8_t value_kind;
} winidea_cached_area;

/* winidea_cache_free frees its arrays; trace and file are borrowed. */
typedef struct winidea_area_cache {
  pf_trace *trace;
  winidea_file *file;
  uint32_t changes;    /* winidea_areas.changes when the areas were cached */
  bool derives_states; /* writes to a variable become events of its states */
  bool is_bypassed;    /* store nothing: each look-up uses the list of areas */
  winidea_handle_array
      arrays[WINIDEA_KINDS];   /* areas with small indices, but no states and
                                  no variables whose writes begin states */
  winidea_cached_area *others; /* all others */
  size_t others_capacity;
  pf_intern_table others_known; /* index of `others` by handle and DATA */
} winidea_area_cache;

/* Looks up a handle (of a state with the value `data`) in the list of areas,
   adds its area if needed, and caches it unless it is a variable with derived
   states. The invalid handle has PF_NO_AREA. PF_OK or a failure. Takes the
   mutex. */
pf_status winidea_resolve (winidea_area_cache *cache, uint32_t handle,
                           int64_t data, winidea_cached_area *cached,
                           pf_error *error);

void winidea_cache_free (winidea_area_cache *cache);

/* Empties the cache if the mapping has more rows than when it was filled. */
void winidea_cache_refresh (winidea_area_cache *cache);

/* The values that can be decoded from a record. */
enum {
  COL_TIME,
  COL_EVENT,
  COL_HANDLE,
  COL_CORE,
  COL_VALUE,
  COL_NUMBER,
  COL_AREA,
  COL_LANE,
  COL_CONTEXT,
  COLS
};

/* The columns of tables timeline and events with these; -1: none. */
extern const int winidea_timeline_columns[COLS];
extern const int winidea_events_columns[COLS];

/* For the loops over records, which are compiled for each size of record. */
#define WINIDEA_ALWAYS_INLINE static inline __attribute__((always_inline))

#define WINIDEA_AHEAD 192 /* records: distance of the prefetch */

/* Consecutive complete records. */
struct winidea_slice {
  const uint8_t *at;
  size_t count; /* at most PF_BATCH_ROWS */
  size_t size;  /* bytes of a record */
};

struct winidea_decoder {
  pf_trace *trace;
  winidea_file *file;
  winidea_layout layout;
  const int *columns;   /* winidea_timeline_columns or winidea_events_columns */
  int64_t last;         /* time of the record before; times must not decrease */
  unsigned shift;       /* position of the type in the second word */
  uint32_t unused;      /* bits of the second word that must be 0 */
  uint32_t events[256]; /* id of the event, by kind of area << 4 | type */
  uint64_t event_kinds[256]; /* likewise: its kind as in event words, or
                                WINIDEA_BAD_WORD */
  uint32_t lanes[256];       /* by core: id, or PF_NO_NAME */
  bool tracks_contexts;      /* from writes to file->contexts.switches */
  winidea_tracker tracker;
  winidea_area_cache cache;

  /* The current slice, for messages: the byte at which it begins or, if not
     NULL, the byte at which each row begins. */
  uint64_t offset;
  const uint64_t *offsets;
  const uint8_t *kinds; /* winidea_data_type of each row; NULL: the kinds of
                           values follow from the areas */

  bool has_contexts; /* contexts[] is set (a name, or PF_NO_NAME) */
  uint32_t contexts[PF_BATCH_ROWS];
  bool has_state_values;  /* some rows are states */
  bool has_missing_areas; /* some rows have no area */
  uint32_t *areas;        /* of the column, or hidden_areas */
  uint32_t hidden_areas[PF_BATCH_ROWS];
  int64_t state_values[PF_BATCH_ROWS];
  uint8_t value_kinds[PF_BATCH_ROWS]; /* winidea_value_kind of each row */
};

/* Initialises a decoder, which is zeroed, for a table; and frees what it
   owns. */
void winidea_decoder_init (winidea_decoder *self, pf_trace *trace,
                           const winidea_layout *layout, const pf_table *table);
void winidea_decoder_free (winidea_decoder *self);

/* Fills the wanted columns of the batch from its first row on. If contexts are
   not tracked, the caller sets has_contexts and contexts[] before. PF_OK or a
   failure. */
pf_status winidea_decode (winidea_decoder *self, winidea_slice records,
                          const pf_batch *batch, pf_error *error);

/* Bits of the second word that must be 0. */
#define WINIDEA_UNUSED_1_0 (~0x0f000000u)
#define WINIDEA_UNUSED_1_1 (~0xfffu)

/* An event word without an area, and all above it. */
#define WINIDEA_BAD_WORD pf_event_word(0, 0, PF_NO_AREA)

/* decode_events.c: the fast path for events: fills to->times and to->words in
   one loop over the records. Returns false if contexts are tracked, and at the
   first record that needs the general path: a decreasing time, an invalid word,
   a state, or an area or core that is not cached; winidea_decode then decodes
   the same records. */
bool winidea_decode_events (winidea_decoder *self, winidea_slice records,
                            const pf_event_target *to);

/* area_cache.c: sets areas, value_kinds and state_values of a slice. */
pf_status winidea_find_areas (winidea_decoder *self, winidea_slice records,
                              pf_error *error);

/* Fills the first row of a batch of table events with the event "end" at
   `time`, in the lane of `last`, the last record. `context`: that of this
   record, if the decoder has contexts and does not track them. */
pf_status winidea_decode_end (winidea_decoder *self, const uint8_t *last,
                              uint32_t context, int64_t time,
                              const pf_batch *batch, pf_error *error);

/* The core of a record, or WINIDEA_NO_CORE. */
static inline unsigned winidea_core_of (const winidea_decoder *self,
                                        const uint8_t *record) {
  return self->layout.version == WINIDEA_1_0
             ? WINIDEA_NO_CORE
             : pf_load32le(record + 4) >> 4 & 0xff;
}

/* As winidea_core_of; an unknown core is the only core of the file, if contexts
   are tracked. */
static inline unsigned winidea_known_core (const winidea_decoder *self,
                                           const uint8_t *record) {
  const unsigned core = winidea_core_of(self, record);
  return core == WINIDEA_NO_CORE ? self->file->contexts.core : core;
}

/* The column to fill, or NULL if it is not wanted. */
static inline pf_column *winidea_wanted (const winidea_decoder *self,
                                         const pf_batch *batch, int what) {
  const int column = self->columns[what];
  if (column < 0 || batch->columns[column].data == NULL)
    return NULL;
  return &batch->columns[column];
}

#endif
