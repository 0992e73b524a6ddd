/*
** events.h - reads a table of events batch by batch, as words (event_words.h),
** which the call machine processes. Used by calls.c and by kernels/spans,
** kernels/statistics and kernels/explain: open, next until the end, close.
** Lanes get ids, dense from 0 in the order of first occurrence. A pf_events
** owns its batch and its tables of ids; pf_events_close frees them.
**
** Required columns: time (int, ns), event (name: enter, leave, suspend, resume,
** write; `end`, the end of the recording, and other names only advance the
** time), area (area or name). Optional columns: lane (int or name), flags
** (name: words of call.h; `gap` ends all open calls before the event, `lost`
** marks them, the others belong to the call that the event begins or ends). If
** rows are of several files (pf_concat_open), the first event of each file is
** marked PF_CALL_NEW_FILE.
*/

#ifndef events_h
#define events_h

#include "kernels/calls/state_machine.h"
#include "model/rows/batch.h"

/* Events that are processed before their calls are read: so few that the calls
   stay in the L1 cache. */
#define PF_EVENTS_AT_ONCE 512

typedef struct pf_events {
  pf_reader *reader; /* borrowed */
  pf_batch batch;
  size_t time, event, area, lane, flags; /* column indexes, or nfields */
  size_t file;                           /* the column of files, or nfields */
  uint32_t current_file;                 /* the file of the last row */
  size_t extra, number;                  /* see pf_events_open */
  size_t line, params;                   /* see pf_events_open */
  pf_id_table lanes;                     /* order words of lanes to ids */
  struct {
    uint64_t word;
    uint32_t id;    /* + 1, or 0: none */
  } lane_cache[64]; /* direct-mapped cache of ids, by the low bits of the
                       word */
  uint8_t *codes;   /* two for each name: event kind, flags */
  size_t ncodes;
  uint64_t words[PF_BATCH_ROWS];
  uint8_t kinds[PF_BATCH_ROWS];
  uint8_t flag_bits[PF_BATCH_ROWS];
  pf_event_rows rows; /* the batch at hand: points into the batch and the arrays
                         above, valid until the next pf_events_next */
} pf_events;

/* Only find the columns. PF_EUNSUPPORTED when they are not those of events. */
pf_status pf_events_columns (pf_events *events, pf_reader *reader,
                             pf_error *error);

/* Mark the columns in wanted[nfields + 1]; the last entry stands for columns
   that do not exist. */
void pf_events_want (const pf_events *events, bool *wanted);

/* Open a reader (borrowed). With `extra` and `number`, names or NULL, further
   columns of type int and num are read, and with `details` the columns line
   (int) and params (bytes); the index of a column that does not exist is
   nfields. PF_EUNSUPPORTED as above; PF_ENOMEM; close it then too. */
pf_status pf_events_open (pf_events *events, pf_reader *reader,
                          const char *extra, const char *number, bool details,
                          pf_error *error);

/* Find the columns line and params. */
void pf_events_find_details (pf_events *events);

/* Read the next batch into events->rows: events->batch.rows rows. PF_MORE,
   PF_END, PF_AGAIN or a failure. */
pf_status pf_events_next (pf_events *events, pf_error *error);

/* Convert a batch that the caller has read with the columns of
   pf_events_want, instead of pf_events_next. It is borrowed until
   events->rows has been processed. PF_ENOMEM. */
pf_status pf_events_take (pf_events *events, const pf_batch *batch,
                          pf_error *error);

/* Whether what was open before an event of the batch at hand has no known end:
   events are missing, or another file begins. */
static inline bool pf_events_begin_anew (const pf_events *events, size_t row) {
  const uint8_t *const flags = events->rows.flags;
  return flags != NULL &&
         (flags[row] & (PF_CALL_GAP | PF_CALL_LOST | PF_CALL_NEW_FILE)) != 0;
}

/* Whether later events cannot matter: the range of the machine has ended, and
   no other run can begin. */
bool pf_events_are_over (const pf_events *events, const pf_machine *machine);

/* Whether there is a column of lanes; its type, or PF_INT. */
bool pf_events_have_lanes (const pf_events *events);
pf_type pf_events_lane_type (const pf_events *events);

/* Write the value of the lane with id `lane` into a column of that type. */
void pf_events_put_lane (const pf_events *events, uint32_t lane,
                         pf_column *column, size_t row);

/* Find or create the id of a lane by its order word, or of "no value".
   PF_ENOMEM. */
pf_status pf_events_lane_id (pf_events *events, uint64_t word, bool missing,
                             uint32_t *id);

void pf_events_close (pf_events *events);

#endif
