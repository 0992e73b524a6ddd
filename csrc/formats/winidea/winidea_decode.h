/*
** winidea_decode.h - what turns records into columns: part of every reader of events.
*/

#ifndef winidea_decode_h
#define winidea_decode_h

#include "formats/winidea/winidea.h"
#include "model/batch.h"
#include "model/packed.h"

/* What is decoded, wherever the schema of a reader has it. */
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

/* Where the tables timeline and events have these; -1: nowhere. */
extern const int winidea_timeline_columns[COLS];
extern const int winidea_events_columns[COLS];

/* A slice of records, all of them there. */
typedef struct winidea_slice {
  const uint8_t *at;
  size_t count; /* PF_BATCH_ROWS at most */
  size_t size;  /* of a record */
} winidea_slice;

typedef struct winidea_decoder {
  pf_trace *trace;
  winidea_file *file;
  winidea_layout layout;
  const int *columns;   /* winidea_timeline_columns or winidea_events_columns */
  int64_t last;         /* the time before: none shall be earlier */
  unsigned shift;       /* of the type in a word */
  uint32_t unused;      /* bits of a word that are 0 */
  uint32_t events[256]; /* by kind and type: the word for it */
  uint32_t lanes[256];  /* by core: the word, once it was met */
  uint16_t kinds_of_word[4096]; /* by type and core: winidea_decode_fast.c */
  bool tracks_contexts;         /* contexts come from switches of tasks */
  uint32_t running[256]; /* then: the context of each core, or PF_NO_NAME */
  winidea_area_cache cache;

  /* The slice at hand, for messages: its first byte in the file, or where
     each row begins. */
  uint64_t offset;
  const uint64_t *offsets;
  const uint8_t *kinds; /* winidea_data_type of each row; NULL: all are bits */

  /* What is found out about it. */
  bool has_contexts; /* contexts[] are known, or PF_NO_NAME */
  uint32_t contexts[PF_BATCH_ROWS];
  bool
      has_state_values; /* some are states: their values are in state_values[] */
  bool has_missing_areas; /* some are of no area */
  uint32_t *areas;        /* the column's, or where nobody looks */
  uint32_t hidden_areas[PF_BATCH_ROWS];
  int64_t state_values[PF_BATCH_ROWS];
  uint8_t value_kinds[PF_BATCH_ROWS]; /* winidea_value_kind */
} winidea_decoder;

/* Begin: zero but for this. */
void winidea_decoder_init (winidea_decoder *self, pf_trace *trace,
                           const winidea_layout *layout, const pf_table *table);

void winidea_decoder_free (winidea_decoder *self);

/* Fill the wanted columns of a batch from its first row on. Contexts are
   tracked, or the caller has set has_contexts and contexts[]. */
pf_status winidea_decode (winidea_decoder *self, winidea_slice records,
                          const pf_batch *batch, pf_error *error);

/* winidea_decode_areas.c: the areas of a slice, and how the values of each are
   read. */
pf_status winidea_find_areas (winidea_decoder *self, winidea_slice records,
                              pf_error *error);

/* Fill the first row of a batch of the table events with the end of the
   recording, at `time`, in the lane of `last`, the last record. `context`: that
   of this record, if the decoder has contexts. */
pf_status winidea_decode_end (winidea_decoder *self, const uint8_t *last,
                              uint32_t context, int64_t time,
                              const pf_batch *batch, pf_error *error);

/* Fills the columns time, event, area and lane of plain records: in one
   look at each. False, and nothing is filled that will not be filled again,
   where others are wanted or the columns must be filled one by one. */
bool winidea_decode_fast (const winidea_decoder *self, winidea_slice records,
                          const pf_batch *batch);

/* The next events of the table events packed: pf_reader.pack. There must be
   some. */
bool winidea_pack (winidea_decoder *self, winidea_slice records,
                   pf_packed *events);

/* The column to fill with something, or NULL. */
static inline pf_column *winidea_wanted (const winidea_decoder *self,
                                         const pf_batch *batch, int what) {
  const int column = self->columns[what];
  if (column < 0 || batch->columns[column].data == NULL)
    return NULL;
  return &batch->columns[column];
}

/* DATA of a record. */
static inline int64_t winidea_data (const uint8_t *record, size_t size) {
  return size == 20 ? (int64_t)pf_load32le(record + 8)
                    : (int64_t)pf_load64le(record + 8);
}

/* The context in which a core runs now, or PF_NO_NAME: of a record, where
   contexts are tracked. */
static inline uint32_t winidea_last_context (const winidea_decoder *self,
                                             const uint8_t *record) {
  const bool has_core = self->layout.version == WINIDEA_1_1;
  return self->running[has_core ? pf_load32le(record + 4) >> 4 & 0xff
                                : WINIDEA_NO_CORE];
}

/* Mark the first `count` values of a column as missing. */
void winidea_fill_missing (pf_column *column, size_t count);

#endif
