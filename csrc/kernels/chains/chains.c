/*
** chains.c - the instances of chains, event by event.
**
** A stage of a reaction holds the instances that have met its step and wait for
** the next one; a step moves all of the stage before to its own. A stage of an
** age holds the last one only, which steps copy.
*/

#include "kernels/chains/chains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

enum {
  CHAIN,
  START,
  STOP,
  DURATION,
  WAITED,
  LANE,
  EVENTS /* the columns of the events between follow, then those below */
};

enum {
  BOUND,
  LATE,
  OVERLAPS,
  LOST,
  LONGEST_AT,
  FLAGS,
  LAST
};

static const pf_field first_fields[EVENTS] = {
    {"chain", PF_NAME, "the chain"},
    {"start", PF_INT, "time of the stimulus, ns"},
    {"stop", PF_INT, "time of the response, ns; missing: there is none"},
    {"duration", PF_INT, "stop - start, ns"},
    {"waited", PF_INT,
     "the same; without a response the time for which it was awaited, ns"},
    {"lane", PF_INT, "the lane of the stimulus"},
};

static const pf_field last_fields[LAST] = {
    {"bound", PF_INT, "the longest duration that is allowed, ns"},
    {"late", PF_INT, "1: it is longer, 0: it is not; missing: no bound"},
    {"overlaps", PF_INT,
     "reaction: earlier stimuli that had no response when it began"},
    {"lost", PF_INT, "age: stimuli that were lost since the response before"},
    {"longest_at", PF_INT, "start of the longest one of the chain so far, ns"},
    {"flags", PF_NAME,
     "open gap unfollowed: why there is no response; missing: there is one"},
};

typedef enum chain_flag {
  COMPLETE,
  OPEN,
  GAP,
  UNFOLLOWED,
  NFLAGS
} chain_flag;

/* An instance of a chain. */
typedef struct instance {
  uint64_t number; /* of the stimulus, from 1 */
  uint32_t lane, overlaps;
  int64_t times[PF_CHAIN_STEPS];
} instance;

/* Instances of which only the times of the steps that they have met are kept,
   in words: number, lane and overlaps, times. */
typedef struct stage {
  uint64_t *words; /* owned */
  size_t count, capacity;
} stage;

typedef struct chain_state {
  stage *stages; /* owned; one for each step but the last */
  uint64_t stimuli;
  uint64_t reached; /* number of the stimulus of the last response */
  uint32_t waiting;
  uint32_t name;
  bool has_longest;
  int64_t longest, longest_at; /* duration and start of the longest row */
} chain_state;

/* A row. */
typedef struct chain_row {
  uint64_t number;
  uint32_t lane, overlaps;
  size_t chain;
  size_t times; /* index in `times` of the reader */
  chain_flag flag;
  uint64_t lost;
  int64_t until; /* the response, or the last event before the end or gap */
} chain_row;

typedef struct chains_reader {
  pf_reader reader;
  pf_chain_options options;
  pf_events events;
  pf_step_table table;
  chain_state *states;
  pf_field *fields;
  size_t between; /* columns of events between, and their names */
  char names[PF_CHAIN_STEPS][32];
  chain_row *rows;
  size_t nrows, at, row_capacity;
  int64_t *times; /* of the rows: of each as many as its chain has steps */
  size_t ntimes, time_capacity;
  uint32_t flags[NFLAGS]; /* names */
  int64_t last;           /* time of the last event */
  bool has_events, is_over;
} chains_reader;


/* {====== Stages ====== */

#define HEAD 2 /* words in front of the times */

static size_t words_of (size_t step) {
  return HEAD + step + 1;
}


static instance take (const stage *from, size_t step, size_t index) {
  const uint64_t *const words = from->words + index * words_of(step);
  instance i = {.number = words[0],
                .lane = (uint32_t)words[1],
                .overlaps = (uint32_t)(words[1] >> 32)};
  memcpy(i.times, words + HEAD, (step + 1) * sizeof *i.times);
  return i;
}


static bool put (stage *to, size_t step, const instance *i) {
  const size_t size = words_of(step);
  if (!pf_grow(&to->words, &to->capacity, (to->count + 1) * size))
    return false;
  uint64_t *const words = to->words + to->count++ * size;
  words[0] = i->number;
  words[1] = i->lane | (uint64_t)i->overlaps << 32;
  memcpy(words + HEAD, i->times, (step + 1) * sizeof *i->times);
  return true;
}


static bool add_row (chains_reader *self, size_t chain, const instance *i,
                     chain_flag flag, uint64_t lost) {
  if (i->times[0] < self->options.from || i->times[0] >= self->options.to)
    return true;
  const size_t steps = self->options.chains[chain].nsteps;
  if (!pf_grow(&self->rows, &self->row_capacity, self->nrows + 1) ||
      !pf_grow(&self->times, &self->time_capacity, self->ntimes + steps))
    return false;
  self->rows[self->nrows++] =
      (chain_row){.number = i->number,
                  .lane = i->lane,
                  .overlaps = i->overlaps,
                  .chain = chain,
                  .times = self->ntimes,
                  .flag = flag,
                  .lost = lost,
                  .until = flag == COMPLETE ? i->times[steps - 1] : self->last};
  memcpy(self->times + self->ntimes, i->times, steps * sizeof *i->times);
  self->ntimes += steps;
  return true;
}


/* }====== */

/* {====== Steps ====== */

/* A stimulus. */
static bool begin (chains_reader *self, size_t c, int64_t time, uint32_t lane) {
  const pf_chain *const chain = &self->options.chains[c];
  chain_state *const state = &self->states[c];
  const instance i = {.number = ++state->stimuli,
                      .lane = lane,
                      .overlaps = state->waiting,
                      .times = {time}};
  if (chain->is_age)
    state->stages[0].count = 0;
  else if (state->waiting == PF_CHAIN_WAITING)
    return add_row(self, c, &i, UNFOLLOWED, 0);
  else
    state->waiting++;
  return put(&state->stages[0], 0, &i);
}


/* Moves the instances of the stage before `step`, or copies the one of an
   age. */
static bool advance (chains_reader *self, size_t c, size_t step, int64_t time) {
  const pf_chain *const chain = &self->options.chains[c];
  chain_state *const state = &self->states[c];
  stage *const from = &state->stages[step - 1];
  const bool is_last = step + 1 == chain->nsteps;
  if (chain->is_age && !is_last && from->count > 0)
    state->stages[step].count = 0;
  for (size_t k = 0; k < from->count; k++) {
    instance i = take(from, step - 1, k);
    i.times[step] = time;
    uint64_t lost = 0;
    if (is_last && chain->is_age) {
      lost = i.number > state->reached ? i.number - state->reached - 1 : 0;
      state->reached = i.number;
    }
    if (!(is_last ? add_row(self, c, &i, COMPLETE, lost)
                  : put(&state->stages[step], step, &i)))
      return false;
  }
  if (chain->is_age)
    return true;
  state->waiting -= is_last ? (uint32_t)from->count : 0;
  from->count = 0;
  return true;
}


static pf_status take_step (void *context, size_t chain, size_t step,
                            int64_t time, uint32_t lane) {
  chains_reader *const self = context;
  return (step == 0 ? begin(self, chain, time, lane)
                    : advance(self, chain, step, time))
             ? PF_OK
             : PF_ENOMEM;
}


static int by_number (const void *left, const void *right) {
  const chain_row *const a = left, *const b = right;
  return a->number < b->number ? -1 : a->number > b->number;
}


/* Ends all instances, at the end of the trace or where events are missing:
   those of reactions are rows. */
static bool end_all (chains_reader *self, chain_flag flag) {
  for (size_t c = 0; c < self->options.count; c++) {
    const pf_chain *const chain = &self->options.chains[c];
    chain_state *const state = &self->states[c];
    const size_t first = self->nrows;
    for (size_t s = 0; s + 1 < chain->nsteps; s++) {
      stage *const from = &state->stages[s];
      for (size_t k = 0; !chain->is_age && k < from->count; k++) {
        const instance i = take(from, s, k);
        if (!add_row(self, c, &i, flag, 0))
          return false;
      }
      from->count = 0;
    }
    state->waiting = 0;
    state->reached = state->stimuli;
    if (self->nrows > first)
      qsort(self->rows + first, self->nrows - first, sizeof *self->rows,
            by_number);
  }
  return true;
}


/* }====== */

/* {====== Rows ====== */

/* Keeps the longest instance of a chain. */
static void note_longest (chain_state *state, int64_t start, int64_t duration) {
  if (state->has_longest && duration <= state->longest)
    return;
  state->has_longest = true;
  state->longest = duration;
  state->longest_at = start;
}


static void put_row (const chains_reader *self, pf_batch *batch,
                     const chain_row *r) {
  chain_state *const state = &self->states[r->chain];
  const pf_chain *const chain = &self->options.chains[r->chain];
  const bool is_complete = r->flag == COMPLETE;
  const int64_t *const times = self->times + r->times;
  int64_t waited = 0;
  const bool has_waited = r->flag != UNFOLLOWED &&
                          !__builtin_sub_overflow(r->until, times[0], &waited);
  const bool is_late = has_waited && waited > chain->bound;
  const size_t row = batch->rows++;
  pf_column *const c = batch->columns;
  pf_column *const last = &c[EVENTS + self->between];
  if (has_waited)
    note_longest(state, times[0], waited);
  pf_put_id(&c[CHAIN], row, state->name);
  pf_put_int(&c[START], row, times[0], true);
  pf_put_int(&c[STOP], row, r->until, is_complete);
  pf_put_int(&c[DURATION], row, waited, is_complete && has_waited);
  pf_put_int(&c[WAITED], row, waited, has_waited);
  if (c[LANE].data != NULL)
    pf_events_put_lane(&self->events, r->lane, &c[LANE], row);
  for (size_t i = 0; i < self->between; i++) {
    const bool has = is_complete && i + 2 < chain->nsteps;
    pf_put_int(&c[EVENTS + i], row, has ? times[i + 1] : 0, has);
  }
  pf_put_int(&last[BOUND], row, chain->bound, chain->has_bound);
  pf_put_int(&last[LATE], row, is_late,
             chain->has_bound && has_waited && (is_complete || is_late));
  pf_put_int(&last[OVERLAPS], row, r->overlaps, !chain->is_age);
  pf_put_int(&last[LOST], row, (int64_t)r->lost, chain->is_age);
  pf_put_int(&last[LONGEST_AT], row, state->longest_at, state->has_longest);
  pf_put_id(&last[FLAGS], row, is_complete ? PF_NO_NAME : self->flags[r->flag]);
}


/* Takes the next batch of events. */
static pf_status read_events (chains_reader *self, pf_error *error) {
  pf_events *const events = &self->events;
  pf_status status = pf_events_next(events, error);
  self->nrows = self->at = self->ntimes = 0;
  if (status == PF_END) {
    self->is_over = true;
    return end_all(self, OPEN) ? PF_MORE : pf_no_memory(error);
  }
  const pf_event_rows *const rows = &events->rows;
  for (size_t i = 0; i < events->batch.rows && status == PF_MORE; i++) {
    const bool begins = pf_events_begin_anew(events, i);
    if (begins && self->has_events && !end_all(self, GAP))
      status = pf_no_memory(error);
    if (pf_event_kind_of(rows->words[i]) == PF_EVENT_NONE)
      continue;
    self->last = begins || !self->has_events || rows->times[i] > self->last
                     ? rows->times[i]
                     : self->last;
    self->has_events = true;
    if (status == PF_MORE)
      status = pf_steps_of(&self->table, events, i, take_step, self, error);
  }
  return status;
}


static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  chains_reader *const self = (chains_reader *)(void *)reader;
  if (self->at < self->nrows) {
    put_row(self, batch, &self->rows[self->at++]);
    return PF_MORE;
  }
  return self->is_over ? PF_END : read_events(self, error);
}


PF_NEXT_BY_STEPS(chains_next, step)


/* }====== */

static void chains_close (pf_reader *reader) {
  chains_reader *const self = (chains_reader *)(void *)reader;
  for (size_t c = 0; self->states != NULL && c < self->options.count; c++) {
    for (size_t s = 0; self->states[c].stages != NULL &&
                       s + 1 < self->options.chains[c].nsteps;
         s++)
      free(self->states[c].stages[s].words);
    free(self->states[c].stages);
  }
  free(self->states);
  free(self->fields);
  free(self->rows);
  free(self->times);
  pf_step_table_free(&self->table);
  pf_events_close(&self->events);
  free(self);
}


static pf_status open_states (chains_reader *self, pf_error *error) {
  static const char *const flags[NFLAGS] = {"", "open", "gap", "unfollowed"};
  pf_dictionary *const d = self->reader.dictionary;
  const pf_chain *const chains = self->options.chains;
  self->states = calloc(self->options.count + 1, sizeof *self->states);
  for (size_t c = 0; self->states != NULL && c < self->options.count; c++) {
    chain_state *const state = &self->states[c];
    state->stages = calloc(chains[c].nsteps, sizeof *state->stages);
    state->name = pf_intern_text(d, chains[c].name);
    if (state->stages == NULL || state->name == PF_NO_NAME)
      return pf_no_memory(error);
    if (chains[c].nsteps - 2 > self->between)
      self->between = chains[c].nsteps - 2;
  }
  return self->states == NULL
             ? pf_no_memory(error)
             : pf_intern_texts(d, flags, NFLAGS, self->flags, error);
}


static pf_status open_fields (chains_reader *self, pf_error *error) {
  const size_t count = EVENTS + self->between + LAST;
  self->fields = calloc(count, sizeof *self->fields);
  if (self->fields == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < self->between; i++) {
    snprintf(self->names[i], sizeof *self->names, "event_%zu", i + 2);
    self->fields[EVENTS + i] = (pf_field){
        self->names[i], PF_INT, "time of this event of the chain, ns"};
  }
  memcpy(self->fields, first_fields, sizeof first_fields);
  memcpy(self->fields + EVENTS + self->between, last_fields,
         sizeof last_fields);
  self->fields[LANE].type = pf_events_lane_type(&self->events);
  self->reader.fields = self->fields;
  self->reader.nfields = count;
  return PF_OK;
}


pf_status pf_chains_open (pf_reader *events, const pf_chain_options *options,
                          pf_reader **reader, pf_error *error) {
  chains_reader *const self = pf_reader_of(
      sizeof *self, NULL, 0, events->dictionary, chains_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = chains_close;
  self->options = *options;
  pf_status status =
      pf_events_open(&self->events, events, "value", "number", false, error);
  if (status == PF_OK)
    status = pf_step_table_open(&self->table, &self->options,
                                events->dictionary, error);
  if (status == PF_OK)
    status = open_states(self, error);
  if (status == PF_OK)
    status = open_fields(self, error);
  return pf_reader_opened(&self->reader, status, reader);
}
