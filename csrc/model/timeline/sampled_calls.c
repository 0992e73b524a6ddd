/*
** sampled_calls.c - the open stack of each lane, and a heap of the times at
** which they end. A lane whose stack was sampled again has a newer entry in the
** heap; the number tells which one counts.
*/

#include "model/timeline/sampled_calls.h"

#include <stdlib.h>

#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "model/rows/heap.h"

const pf_field pf_sampled_fields[PF_SAMPLED_COLUMNS] =
    PF_COLUMN_FIELDS(PF_SAMPLED);

enum {
  ENTER,
  LEAVE,
  END,
  WORDS
};

/* A call begins or ends. */
typedef struct event {
  int64_t time;
  uint32_t lane, area;
  unsigned word;
} event;

typedef struct open_lane {
  uint32_t lane, stack;
  uint64_t number; /* of its last sample */
} open_lane;

typedef struct open_end {
  int64_t time;
  uint64_t number;
  uint32_t lane; /* an index */
} open_end;

struct pf_sampled {
  const pf_dictionary *dictionary;
  uint32_t words[WORDS]; /* names of events */
  pf_id_table known;     /* words: names of lanes */
  open_lane *lanes;
  size_t lane_capacity;
  open_end *ends; /* a heap, the earliest first */
  size_t nends, end_capacity;
  event *events;
  size_t nevents, at, event_capacity;
  int64_t time; /* of the last sample; */
  int64_t last; /* of the last event */
  uint64_t number;
  bool is_over; /* no more samples follow */
};


pf_sampled *pf_sampled_new (pf_dictionary *dictionary) {
  static const char *const words[] = {"enter", "leave", "end"};
  pf_sampled *const self = calloc(1, sizeof *self);
  pf_error error;
  if (self == NULL)
    return NULL;
  self->dictionary = dictionary;
  self->time = self->last = INT64_MIN;
  pf_id_table_init(&self->known);
  if (pf_intern_texts(dictionary, words, WORDS, self->words, &error) == PF_OK)
    return self;
  pf_sampled_close(self);
  return NULL;
}


void pf_sampled_close (pf_sampled *self) {
  if (self == NULL)
    return;
  pf_id_table_free(&self->known);
  free(self->lanes);
  free(self->ends);
  free(self->events);
  free(self);
}


/* {====== Ends ====== */

static bool ends_before (const void *context, const void *left,
                         const void *right) {
  (void)context;
  return ((const open_end *)left)->time < ((const open_end *)right)->time;
}


static bool push_end (pf_sampled *self, open_end end) {
  if (!pf_grow(&self->ends, &self->end_capacity, self->nends + 1))
    return false;
  pf_heap_push(self->ends, self->nends++, sizeof end, ends_before, NULL, &end);
  return true;
}


static open_end pop_end (pf_sampled *self) {
  const open_end first = self->ends[0], last = self->ends[--self->nends];
  if (self->nends > 0)
    pf_heap_sink(self->ends, self->nends, sizeof last, ends_before, NULL, 0,
                 &last);
  return first;
}


/* }====== */

/* {====== Events ====== */

static bool add (pf_sampled *self, int64_t time, uint32_t lane, uint32_t area,
                 unsigned word) {
  if (!pf_grow(&self->events, &self->event_capacity, self->nevents + 1))
    return false;
  self->events[self->nevents++] = (event){time, lane, area, word};
  self->last = time;
  return true;
}


static size_t depth_of (const pf_sampled *self, uint32_t stack) {
  return stack == PF_NO_STACK ? 0 : pf_stack_at(self->dictionary, stack)->depth;
}


/* The stack of the frames that two stacks have in common. */
static uint32_t common (const pf_sampled *self, uint32_t a, uint32_t b) {
  size_t of_a = depth_of(self, a), of_b = depth_of(self, b);
  while (a != b)
    if (of_a > of_b) {
      a = pf_stack_at(self->dictionary, a)->parent;
      of_a--;
    }
    else if (of_b > of_a) {
      b = pf_stack_at(self->dictionary, b)->parent;
      of_b--;
    }
    else {
      a = pf_stack_at(self->dictionary, a)->parent;
      b = pf_stack_at(self->dictionary, b)->parent;
    }
  return a;
}


/* Turns the stack of a lane into another one. */
static bool change (pf_sampled *self, open_lane *lane, int64_t time,
                    uint32_t stack) {
  const uint32_t stays = common(self, lane->stack, stack);
  while (lane->stack != stays) {
    const pf_stack *const top = pf_stack_at(self->dictionary, lane->stack);
    if (!add(self, time, lane->lane, top->frame, LEAVE))
      return false;
    lane->stack = top->parent;
  }
  const size_t first = self->nevents;
  for (uint32_t at = stack; at != stays;
       at = pf_stack_at(self->dictionary, at)->parent)
    if (!add(self, time, lane->lane, pf_stack_at(self->dictionary, at)->frame,
             ENTER))
      return false;
  for (size_t i = first, k = self->nevents; i + 1 < k; i++) { /* outer first */
    const event kept = self->events[i];
    self->events[i] = self->events[--k];
    self->events[k] = kept;
  }
  lane->stack = stack;
  return true;
}


/* Ends the stacks that end before a time. */
static bool end_before (pf_sampled *self, int64_t time) {
  while (self->nends > 0 && self->ends[0].time < time) {
    const open_end end = pop_end(self);
    open_lane *const lane = &self->lanes[end.lane];
    if (lane->number == end.number &&
        !change(self, lane, end.time, PF_NO_STACK))
      return false;
  }
  return true;
}


/* Takes a sample. One that is earlier than the sample before it counts from
   there. False when out of memory. */
static bool put (pf_sampled *self, const pf_sample *sample) {
  const uint64_t word = sample->lane;
  const uint32_t count = self->known.count;
  uint32_t index;
  self->time = sample->time > self->time ? sample->time : self->time;
  self->at = self->nevents = 0;
  if (!end_before(self, self->time) ||
      pf_id_table_words(&self->known, &word, 1, &index) != PF_OK ||
      !pf_grow(&self->lanes, &self->lane_capacity, self->known.count))
    return false;
  open_lane *const open = &self->lanes[index];
  if (self->known.count > count)
    *open = (open_lane){sample->lane, PF_NO_STACK, 0};
  open->number = ++self->number;
  const int64_t until = sample->until;
  return change(self, open, self->time, sample->stack) &&
         push_end(self, (open_end){until > self->time ? until : self->time,
                                   open->number, index});
}


/* Ends all stacks after the last sample. False when out of memory. */
static bool end_all (pf_sampled *self) {
  self->at = self->nevents = 0;
  return end_before(self, INT64_MAX) &&
         (self->last == INT64_MIN ||
          add(self, self->last, PF_NO_NAME, PF_NO_AREA, END));
}


/* Adds the next event as a row; rows are in the order of time. */
static bool put_row (pf_sampled *self, pf_batch *batch) {
  if (self->at == self->nevents)
    return false;
  const event *const e = &self->events[self->at++];
  const size_t row = batch->rows++;
  pf_column *const c = batch->columns;
  pf_put_int(&c[PF_SAMPLED_time], row, e->time, true);
  pf_put_id(&c[PF_SAMPLED_event], row, self->words[e->word]);
  pf_put_id(&c[PF_SAMPLED_area], row, e->area);
  pf_put_id(&c[PF_SAMPLED_lane], row, e->lane);
  return true;
}


pf_status pf_sampled_step (pf_sampled *self, pf_reader *reader,
                           pf_next_sample *next, pf_batch *batch,
                           pf_error *error) {
  pf_sample s;
  if (put_row(self, batch))
    return PF_MORE;
  if (self->is_over)
    return PF_END;
  const pf_status status = next(reader, &s, error);
  if (status < 0 || status == PF_AGAIN)
    return status == PF_AGAIN ? PF_MORE : status;
  self->is_over = status == PF_END;
  return (self->is_over ? end_all(self) : put(self, &s)) ? PF_MORE
                                                         : pf_no_memory(error);
}


/* }====== */
