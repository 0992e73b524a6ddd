/*
** calls.c - runs the call machine over a few hundred events at a time and
** returns the calls as rows.
*/

#include "kernels/calls/calls.h"

#include <stddef.h>
#include <string.h>

#include "kernels/calls/events.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define MOST_PARAMS ((size_t)8 << 20) /* parameter bytes in one batch */

/* The columns, in order. */
enum {
  AREA,
  LANE,
  START,
  STOP,
  GROSS,
  NET,
  CALL,
  PERIOD,
  OUTSIDE,
  DEPTH,
  CALLER,
  FLAGS,
  COUNT,
  STACK,
  NCOLUMNS,
  MOST_COLUMNS = NCOLUMNS + 2 /* line and params, if the events have them */
};

static const pf_field columns[NCOLUMNS] = {
    {"area", PF_AREA, "the area that was called"},
    {"lane", PF_INT, "thread, core or context; missing for variables"},
    {"start", PF_INT, "time it was entered, ns"},
    {"stop", PF_INT, "time it was left, ns"},
    {"gross", PF_INT, "net, and the gross of its calls, ns"},
    {"net", PF_INT, "time in which it was active itself, ns"},
    {"call", PF_INT, "stop - start, if both ends were recorded, ns"},
    {"period", PF_INT, "time since the area's last enter in the lane, ns"},
    {"outside", PF_INT, "time since the area's last leave in the lane, ns"},
    {"depth", PF_INT, "1 is outermost"},
    {"caller", PF_AREA, "the function around it; missing at the top"},
    {"flags", PF_NAME, "cut gap lost open orphan unwound, or missing"},
    {"count", PF_INT, "1, or 0 when its enter was not recorded"},
    {"stack", PF_STACK,
     "the functions around it and itself; missing for lines"},
};

static const pf_field detail_columns[] = {
    {"line", PF_INT, "line of its enter"},
    {"params", PF_BYTES, "parameters with their values"}};

typedef struct calls_reader {
  pf_reader reader;
  pf_field fields[MOST_COLUMNS];
  size_t line, params; /* column indexes, or SIZE_MAX */
  pf_call_options options;
  pf_events events;
  pf_machine machine;
  bool begun, ended;
  pf_reader pushed_input; /* input of the machine while the caller reads the
                             events */
  bool *wanted; /* columns of the input that the caller reads; NULL: it does
                   not */
  const pf_batch *pushed; /* a batch that is not yet processed */
  pf_column *own;         /* the columns of events.batch while it borrows those
                             of `pushed` */
  bool is_over, is_reattached;     /* the input has ended; the reader reads it
                                  itself again */
  pf_details *details;             /* NULL: not wanted */
  uint32_t emitted[PF_BATCH_ROWS]; /* details of the rows of the last batch */
  size_t nemitted;
  size_t row; /* the next row of the events to process */
  size_t at;  /* the next call of the machine to return */
  uint32_t words[1 << PF_CALL_FLAG_NAMES]; /* ids of the names of flag sets, or
                                              PF_NO_NAME */
} calls_reader;


static void put_time (pf_column *column, size_t row, int64_t value) {
  pf_put_int(column, row, value, value != PF_NO_TIME);
}


static pf_status put_call (calls_reader *r, const pf_call *call, pf_column *c,
                           size_t row) {
  const pf_slot *const slot = &r->machine.lanes.slots[call->slot];
  uint32_t *const flags = &r->words[call->flags];
  if (c[FLAGS].data != NULL && call->flags != 0 && *flags == PF_NO_NAME) {
    char text[64];
    pf_call_flags_text(call->flags, text, sizeof text);
    *flags = pf_intern_text(r->reader.input->dictionary, text);
    if (*flags == PF_NO_NAME)
      return PF_ENOMEM;
  }
  pf_put_id(&c[AREA], row, slot->area);
  if (c[LANE].data != NULL)
    pf_events_put_lane(&r->events, slot->lane->number, &c[LANE], row);
  pf_put_int(&c[START], row, call->start, true);
  pf_put_int(&c[STOP], row, call->stop, true);
  put_time(&c[GROSS], row, call->durations[PF_GROSS]);
  put_time(&c[NET], row, call->durations[PF_NET]);
  put_time(&c[CALL], row, call->durations[PF_CALL]);
  put_time(&c[PERIOD], row, call->durations[PF_PERIOD]);
  put_time(&c[OUTSIDE], row, call->durations[PF_OUTSIDE]);
  pf_put_int(&c[DEPTH], row, call->depth, true);
  pf_put_id(&c[CALLER], row, call->caller);
  pf_put_id(&c[FLAGS], row, *flags);
  pf_put_int(&c[COUNT], row, call->count, true);
  pf_put_id(&c[STACK], row, call->stack);
  return PF_OK;
}


/* Write the line and the parameters of a call. Returns the size of the
   parameters. */
static size_t put_detail (calls_reader *r, const pf_call *call, pf_batch *batch,
                          size_t row) {
  const pf_detail detail = pf_details_at(r->details, call->detail);
  pf_column *const c = batch->columns;
  r->emitted[r->nemitted++] = call->detail;
  if (r->line < batch->ncolumns)
    pf_put_int(&c[r->line], row, detail.line, detail.has_line);
  if (r->params < batch->ncolumns)
    pf_put_bytes(&c[r->params], row, detail.params, detail.has_params);
  return detail.params.size;
}


/* A column of the events, or NULL. */
static const pf_column *column_at (const calls_reader *r, size_t column) {
  return column < r->reader.input->nfields ? &r->events.batch.columns[column]
                                           : NULL;
}


/* Process some more events, or finish: events after the range are not
   needed. */
static pf_status advance (calls_reader *r, pf_error *error) {
  r->at = 0;
  const bool is_over = pf_events_are_over(&r->events, &r->machine);
  if (is_over || r->row == r->events.batch.rows) {
    r->row = 0;
    r->machine.ncalls = 0;
    const pf_status status =
        is_over ? PF_END : pf_events_next(&r->events, error);
    if (status == PF_MORE && r->details != NULL)
      pf_details_read(r->details, column_at(r, r->events.line),
                      column_at(r, r->events.params));
    r->ended = status == PF_END;
    if (r->ended)
      return pf_machine_finish(&r->machine) == PF_OK ? PF_MORE
                                                     : pf_no_memory(error);
    if (status != PF_MORE) {
      r->events.batch.rows = 0;
      return status;
    }
  }
  const size_t left = r->events.batch.rows - r->row;
  const size_t to =
      r->row + (left < PF_EVENTS_AT_ONCE ? left : PF_EVENTS_AT_ONCE);
  const pf_status status =
      pf_machine_process(&r->machine, &r->events.rows, r->row, to);
  r->row = to;
  return status == PF_OK ? PF_MORE : pf_no_memory(error);
}


static bool is_wanted (const pf_batch *batch, size_t column) {
  return column < batch->ncolumns && batch->columns[column].data != NULL;
}


static pf_status begin (calls_reader *r, const pf_batch *batch,
                        pf_error *error) {
  pf_reader *const input =
      r->wanted == NULL ? r->reader.input : &r->pushed_input;
  const bool details = is_wanted(batch, r->line) || is_wanted(batch, r->params);
  if (details && (r->details = pf_details_new()) == NULL)
    return pf_no_memory(error);
  const pf_status status =
      pf_events_open(&r->events, input, NULL, NULL, details, error);
  if (status != PF_OK) {
    pf_events_close(&r->events);
    return status;
  }
  pf_machine_init(&r->machine, &r->options, r->reader.input->dictionary,
                  r->fields[AREA].type == PF_AREA);
  r->machine.has_stacks = is_wanted(batch, STACK);
  r->machine.details = r->details;
  r->own = r->events.batch.columns;
  r->begun = true;
  return PF_OK;
}


static pf_status calls_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  calls_reader *const r = (calls_reader *)(void *)self;
  pf_status status = r->begun ? PF_OK : begin(r, batch, error);
  pf_batch_clear(batch);
  /* Free the details of the last batch. */
  for (size_t i = 0; i < r->nemitted; i++)
    pf_details_drop(r->details, r->emitted[i]);
  r->nemitted = 0;
  while (status >= PF_OK) {
    /* Write calls until the batch is full or there are no more. */
    const pf_machine *const m = &r->machine;
    size_t bytes = 0;
    while (r->at < m->ncalls && batch->rows < PF_BATCH_ROWS &&
           bytes < MOST_PARAMS) {
      const pf_call *const call = &m->calls[r->at++];
      if (put_call(r, call, batch->columns, batch->rows) != PF_OK)
        return pf_no_memory(error);
      if (r->details != NULL)
        bytes += put_detail(r, call, batch, batch->rows);
      batch->rows++;
    }
    if (r->at < r->machine.ncalls || batch->rows == PF_BATCH_ROWS || r->ended)
      break;
    status = advance(r, error);
    if (status == PF_AGAIN)
      break;
  }
  if (status < PF_OK)
    return status;
  if (batch->rows > 0)
    return PF_MORE;
  return status == PF_AGAIN ? PF_AGAIN : PF_END;
}


static void calls_close (pf_reader *self) {
  calls_reader *const r = (calls_reader *)(void *)self;
  if (r->begun) {
    pf_machine_free(&r->machine);
    r->events.batch.columns = r->own;
  }
  pf_events_close(&r->events);
  pf_details_free(r->details);
  free(r->wanted);
  free(r);
}


static calls_reader *of_pushed (pf_reader *pushed) {
  return (calls_reader *)(void *)((char *)pushed -
                                  offsetof(calls_reader, pushed_input));
}


/* The batch that was pushed, without a copy. */
static pf_status pushed_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  calls_reader *const r = of_pushed(self);
  if (r->pushed == NULL) {
    batch->columns = r->own;
    if (r->is_over)
      return PF_END;
    return r->is_reattached
               ? r->reader.input->next(r->reader.input, batch, error)
               : PF_AGAIN;
  }
  batch->columns = r->pushed->columns;
  batch->rows = r->pushed->rows;
  r->pushed = NULL;
  return PF_MORE;
}


static void pushed_want (pf_reader *self, bool *wanted) {
  const calls_reader *const r = of_pushed(self);
  for (size_t i = 0; i < self->nfields; i++)
    wanted[i] |= r->wanted[i];
}


static pf_status calls_detach_input (pf_reader *reader, const bool *wanted,
                                     pf_reader **events, bool **wants) {
  calls_reader *const r = (calls_reader *)(void *)reader;
  *events = NULL;
  /* Calls can be computed in another thread if no new name, stack or detail is
     needed, and no range ends early. */
  bool can_detach =
      !r->begun && r->wanted == NULL && !wanted[FLAGS] && !r->options.has_to;
  for (size_t i = STACK; i < r->reader.nfields; i++)
    can_detach &= !wanted[i];
  if (!can_detach)
    return PF_OK;
  r->wanted = calloc(r->reader.input->nfields + 1, sizeof *r->wanted);
  if (r->wanted == NULL)
    return PF_ENOMEM;
  pf_events_want(&r->events, r->wanted);
  r->pushed_input = *r->reader.input;
  r->pushed_input.next = pushed_next;
  r->pushed_input.want = pushed_want;
  r->pushed_input.can = NULL;
  *events = r->reader.input;
  *wants = r->wanted;
  return PF_OK;
}


static const pf_abilities abilities = {.detach_input = calls_detach_input};


void pf_calls_push (pf_reader *reader, const pf_batch *events) {
  calls_reader *const r = (calls_reader *)(void *)reader;
  r->pushed = events;
}


void pf_calls_reattach_input (pf_reader *reader, bool is_over) {
  calls_reader *const r = (calls_reader *)(void *)reader;
  r->is_over = is_over;
  r->is_reattached = true;
}


pf_status pf_calls_open (pf_reader *input, const pf_call_options *options,
                         pf_reader **reader, pf_error *error) {
  calls_reader *const r = pf_stage_new(sizeof *r, input, calls_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->options = *options;
  const pf_status status = pf_events_columns(&r->events, input, error);
  if (status != PF_OK) {
    free(r);
    return status;
  }
  memset(r->words, 0xff, sizeof r->words);
  r->reader.fields = r->fields;
  r->reader.want = NULL; /* it reads the events into a batch of its own */
  r->reader.close = calls_close;
  r->reader.can = &abilities;
  /* Areas and lanes have the types of the columns of events. */
  memcpy(r->fields, columns, sizeof columns);
  const pf_type area = r->reader.input->fields[r->events.area].type;
  r->fields[AREA].type = r->fields[CALLER].type = area;
  r->fields[LANE].type = pf_events_lane_type(&r->events);
  /* Line and params, which only some events have, are read if they are wanted
     (begin). */
  pf_events *const events = &r->events;
  pf_events_find_details(events);
  r->reader.nfields = NCOLUMNS;
  r->line = r->params = SIZE_MAX;
  if (events->line < input->nfields) {
    r->line = r->reader.nfields++;
    r->fields[r->line] = detail_columns[0];
  }
  if (events->params < input->nfields) {
    r->params = r->reader.nfields++;
    r->fields[r->params] = detail_columns[1];
  }
  events->line = events->params = input->nfields;
  events->reader = NULL;
  *reader = &r->reader;
  return PF_OK;
}
