/*
** events.h - a table of events, batch by batch, as the machine wants them.
**
** Needed columns: time (int), event (name: enter, leave, suspend, resume,
** write; `end`, when the recording ended, and others only show that time goes
** on), area (area or name). If they are
** there: lane (int or name), flags (name: words of call.h; `gap` ends all open
** calls before the event, `lost` marks them, the others are those of the call
** that the event begins or ends). Where rows are of several files (chain.h), the
** first one of each file is marked PF_CALL_NEW_FILE.
*/

#ifndef events_h
#define events_h

#include "kernels/calls/call_machine.h"
#include "model/batch.h"

typedef struct pf_events {
  pf_reader *reader; /* borrowed */
  pf_batch batch;
  size_t time, event, area, lane, flags; /* columns, or nfields */
  size_t file;                           /* of chain.h, or nfields */
  uint32_t now;                          /* the file of the last row */
  size_t also;                           /* of pf_events_open_with */
  size_t line, params;                   /* of pf_events_open_details */
  pf_id_table lanes;                     /* order words of lanes to numbers */
  struct {
    uint64_t word;
    uint32_t number; /* + 1, or 0: none */
  } recent[64];      /* of lanes, by the low bits of the word */
  uint8_t *meanings; /* of names: of events below, of flags above */
  size_t nmeanings;
  uint8_t kinds[PF_BATCH_ROWS];
  uint8_t bits[PF_BATCH_ROWS];
  uint32_t numbers[PF_BATCH_ROWS];
  pf_event_rows rows; /* of the batch at hand */
  bool is_packed;     /* the rows are packed, and not in the batch */
  size_t slow;        /* of packed rows: how many needed a closer look */
  unsigned waits;     /* batches that are not packed, for too many did */
  pf_packed packed;
  uint32_t areas[PF_PACKED_ROWS]; /* of packed rows that were arranged */
} pf_events;

/* Find the columns, and no more. PF_EUNSUPPORTED when they are not those of
   events. */
pf_status pf_events_columns (pf_events *events, pf_reader *reader,
                             pf_error *error);

/* Mark the columns in wanted[nfields + 1]; the last stands for those that are
   not there. */
void pf_events_want (const pf_events *events, bool *wanted);

/* Begin to read. */
pf_status pf_events_open (pf_events *events, pf_reader *reader,
                          pf_error *error);

/* The same with one column more, `also`, of type int; events->also is nfields
   when there is none. */
pf_status pf_events_open_with (pf_events *events, pf_reader *reader,
                               const char *also, pf_error *error);

/* The same with the columns line (int) and params (bytes), where there are
   some; else events->line or events->params is nfields. */
pf_status pf_events_open_details (pf_events *events, pf_reader *reader,
                                  pf_error *error);

/* Which columns those are. */
void pf_events_find_details (pf_events *events);

/* The next batch, as events->rows: events->batch.rows of them. PF_MORE,
   PF_END, PF_AGAIN or a failure. */
pf_status pf_events_next (pf_events *events, pf_error *error);

/* The same in two steps: the batch, perhaps `packed`, then as events->rows the
   rows from..to-1 of it, or all rows if they are not packed. PF_ENOMEM of the
   second. Where more than the eighth part of packed rows were counted as slow,
   the next batches are not packed: mostly it is so with them too. */
pf_status pf_events_pull (pf_events *events, bool packed, pf_error *error);
pf_status pf_events_convert (pf_events *events, size_t from, size_t to);

/* The number of the lane of a packed row. PF_ENOMEM. */
pf_status pf_events_lane (pf_events *events, size_t row, uint32_t *number);

/* Whether what comes behind the span of a machine cannot matter: it has ended,
   and no other run may begin. */
bool pf_events_are_over (const pf_events *events, const pf_machine *machine);

/* Whether lanes have values, and their type. */
bool pf_events_have_lanes (const pf_events *events);
pf_type pf_events_lane_type (const pf_events *events);

/* Put the value of a lane, by its number, into a column of that type. */
void pf_events_put_lane (const pf_events *events, uint32_t lane,
                         pf_column *column, size_t row);

/* The number that a lane of other events has among these. PF_ENOMEM. */
pf_status pf_events_same_lane (pf_events *events, const pf_events *others,
                               uint32_t lane, uint32_t *same);

void pf_events_close (pf_events *events);

#endif
