/*
** read_btf.c - the reader of BTF rows: pf_btf_open of btf.h. The reader owns
** the machine and two blocks, and frees them in `close`.
**
** A suspend is a call if the next event of the same lane is an enter, so events
** are read one block ahead; a lane without events in the next block counts as
** preempted. A block is a batch with the ids of the lanes, cores and slots (a
** lane and an area) and the kinds of its rows, so that look-ups are array
** accesses.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/btf/machine.h"
#include "kernels/calls/call.h"
#include "kernels/base/order.h"
#include "kernels/base/pull.h"
#include "model/base/memory.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define BTF_FIELDS 10

/* The columns of the events. */
enum {
  TIME,
  EVENT,
  AREA,
  AREA_NAME, /* `area` as a name */
  LANE,      /* as a name, an area or an integer */
  LANE_AREA,
  LANE_INT,
  VALUE,
  VALUE_NUM,
  NUMBER,
  CORE,
  FLAGS,
  COLUMNS
};

static const pf_want wants[COLUMNS] = {
    {"time", PF_INT, true},   {"event", PF_NAME, true},
    {"area", PF_AREA, false}, {"area", PF_NAME, false},
    {"lane", PF_NAME, false}, {"lane", PF_AREA, false},
    {"lane", PF_INT, false},  {"value", PF_INT, false},
    {"value", PF_NUM, false}, {"number", PF_NUM, false},
    {"core", PF_INT, false},  {"flags", PF_NAME, false},
};

static const pf_field fields[BTF_FIELDS] = {
    {"kind", PF_NAME, "event, write, number or comment"},
    {"time", PF_INT, "ns since the base"},
    {"source", PF_NAME, "name of the source; of a comment its text"},
    {"source_instance", PF_INT, "its instance"},
    {"type", PF_NAME, "type of the target: T, I, R, SIG or STI"},
    {"target", PF_NAME, "name of the target"},
    {"target_instance", PF_INT, "its instance"},
    {"event", PF_NAME, "what happens to the target"},
    {"note", PF_INT, "the value of a write"},
    {"number", PF_NUM, "the value of a write that is not an integer"},
};

typedef struct block {
  pf_pull pull;
  bool is_open; /* `pull` is open */
  uint32_t lanes[PF_BATCH_ROWS], cores[PF_BATCH_ROWS], slots[PF_BATCH_ROWS];
  uint8_t kinds[PF_BATCH_ROWS];
  bool is_call[PF_BATCH_ROWS];
} block;

typedef struct btf_reader {
  pf_reader reader;
  btf_machine machine;
  block *current, *ahead; /* the current block, and the next one */
  size_t row;             /* the next row of `current` */
  bool started, at_end, ended;
  pf_id_table lanes, cores, slots;
  uint32_t events[BTF_WRITE + 1]; /* names of the kinds */
  uint8_t *following;             /* by lane: the kind of its next event */
  size_t nfollowing;
  uint64_t words[PF_BATCH_ROWS];
  bool missing[PF_BATCH_ROWS];
} btf_reader;


static const pf_column *lane_column (const block *b) {
  for (size_t i = LANE; i <= LANE_INT; i++)
    if (b->pull.columns[i] != NULL)
      return b->pull.columns[i];
  return NULL;
}


static uint32_t area_of (const block *b, size_t row) {
  return pf_pull_id(
      b->pull.columns[b->pull.columns[AREA] != NULL ? AREA : AREA_NAME], row);
}


/* The kind of an event in BTF: entering a state writes its variable; other
   events of states, variables and omitted areas are ignored. */
static pf_status find_kind (btf_reader *r, block *b, size_t row) {
  const uint32_t area = area_of(b, row);
  const pf_column *const event = b->pull.columns[EVENT];
  btf_kind kind =
      area == PF_NO_AREA || pf_is_missing(event, row) ? BTF_NOTHING : BTF_WRITE;
  while (kind != BTF_NOTHING && event->ids[row] != r->events[kind])
    kind--;
  if (kind != BTF_NOTHING) {
    const btf_entity *const entity = btf_entity_of(&r->machine, area);
    if (entity == NULL)
      return PF_ENOMEM;
    if (entity->role == BTF_STATE && kind == BTF_ENTER)
      kind = BTF_WRITE;
    else if (entity->role == BTF_OMITTED ||
             (entity->role != BTF_RUNNABLE && kind != BTF_WRITE))
      kind = BTF_NOTHING;
  }
  b->kinds[row] = (uint8_t)kind;
  return PF_OK;
}


static pf_status analyse_block (btf_reader *r, block *b) {
  const size_t rows = b->pull.batch.rows;
  const pf_column *const lanes = lane_column(b);
  if (lanes != NULL)
    pf_order_column(lanes, rows, r->words);
  for (size_t i = 0; i < rows; i++)
    r->missing[i] = lanes == NULL || pf_is_missing(lanes, i);
  pf_status status =
      pf_id_table_nullable(&r->lanes, r->words, r->missing, rows, b->lanes);
  /* Unknown cores (missing, or below 0) are core 0; without a column the lanes
     are the cores. */
  const pf_column *const cores = b->pull.columns[CORE];
  for (size_t i = 0; cores != NULL && i < rows; i++) {
    const int64_t core = pf_pull_int(cores, i, 0);
    r->words[i] = core < 0 ? 0 : (uint64_t)core;
  }
  if (cores == NULL)
    memcpy(b->cores, b->lanes, rows * sizeof *b->cores);
  else if (status == PF_OK)
    status = pf_id_table_words(&r->cores, r->words, rows, b->cores);
  for (size_t i = 0; status == PF_OK && i < rows; i++) {
    status = find_kind(r, b, i);
    r->words[i] = (uint64_t)b->lanes[i] << 32 | area_of(b, i);
  }
  return status == PF_OK
             ? pf_id_table_words(&r->slots, r->words, rows, b->slots)
             : status;
}


static pf_bytes number_text (char *text, size_t size, int64_t number) {
  const int length = snprintf(text, size, "%lld", (long long)number);
  return (pf_bytes){(const uint8_t *)text, (size_t)length};
}


/* Set type and name of a lane from its value. False when out of memory. */
static bool name_lane (btf_reader *r, const pf_column *column,
                       uint32_t number) {
  const pf_btf_options *const o = &r->machine.options;
  const bool is_missing = number == r->lanes.missing;
  const bool is_int = !is_missing && column->type == PF_INT;
  const uint64_t word = is_missing ? 0 : r->lanes.words[number];
  char text[24];
  const pf_bytes name =
      is_missing ? (pf_bytes){NULL, 0}
      : is_int   ? number_text(text, sizeof text, pf_unorder_int(word))
                 : pf_text(r->reader.dictionary, column->type, (uint32_t)word);
  const char *const prefix = is_missing ? "Task" : is_int ? "Task_" : "";
  btf_lane *const lane = &r->machine.lanes[number];
  lane->type = WORD_T;
  for (size_t i = 0; name.size > 0 && i < o->ninterrupts; i++)
    if (o->interrupts[i].size == name.size &&
        memcmp(o->interrupts[i].at, name.at, name.size) == 0)
      lane->type = WORD_I;
  lane->name = btf_name(&r->machine.names, 'T', prefix, name);
  return lane->name != PF_NO_NAME;
}


/* Create the lanes, cores and slots that are new in a block. PF_ENOMEM. */
static pf_status name_new_things (btf_reader *r, const block *b) {
  btf_machine *const m = &r->machine;
  const bool has_cores = b->pull.columns[CORE] != NULL;
  const size_t lanes = m->nlanes, cores = m->ncores;
  if (btf_machine_grow(m, r->lanes.count,
                       has_cores ? r->cores.count : r->lanes.count,
                       r->slots.count) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = lanes; i < m->nlanes; i++)
    if (!name_lane(r, lane_column(b), (uint32_t)i))
      return PF_ENOMEM;
  for (size_t i = cores; i < m->ncores; i++) {
    const uint64_t core = has_cores ? r->cores.words[i] : i;
    char text[24];
    m->cores[i].name = btf_name(&m->names, 'C', "Core_",
                                number_text(text, sizeof text, (int64_t)core));
    if (m->cores[i].name == PF_NO_NAME)
      return PF_ENOMEM;
  }
  return PF_OK;
}


/* Set is_call for the rows of the current block. First `following` becomes the
   kind of the first event of each lane in the next block. */
static void mark_calls (btf_reader *r, block *current, const block *ahead) {
  for (size_t i = 0; i < current->pull.batch.rows; i++)
    r->following[current->lanes[i]] = BTF_NOTHING;
  for (size_t i = ahead->pull.batch.rows; i-- > 0;)
    if (ahead->kinds[i] != BTF_NOTHING && ahead->kinds[i] != BTF_WRITE)
      r->following[ahead->lanes[i]] = ahead->kinds[i];
  for (size_t i = current->pull.batch.rows; i-- > 0;) {
    uint8_t *const next = &r->following[current->lanes[i]];
    current->is_call[i] =
        current->kinds[i] == BTF_SUSPEND && *next == BTF_ENTER;
    if (current->kinds[i] != BTF_NOTHING && current->kinds[i] != BTF_WRITE)
      *next = current->kinds[i];
  }
}


/* Read the next block; at the end it is empty. */
static pf_status read_ahead (btf_reader *r, pf_error *error) {
  block *const b = r->ahead;
  b->pull.batch.rows = 0;
  pf_status status = r->at_end ? PF_END : pf_pull_next(&b->pull, error);
  if (status < 0)
    return status;
  r->at_end = status == PF_END;
  if (r->at_end) {
    b->pull.batch.rows = 0;
    return PF_OK;
  }
  status = analyse_block(r, b);
  if (status == PF_OK)
    status = name_new_things(r, b);
  if (status == PF_OK &&
      !pf_grow(&r->following, &r->nfollowing, r->machine.nlanes))
    status = PF_ENOMEM;
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


/* Make the next block the current one, and read another. */
static pf_status advance (btf_reader *r, pf_error *error) {
  pf_status status = r->started ? PF_OK : read_ahead(r, error);
  r->started = true;
  if (status != PF_OK)
    return status;
  block *const done = r->current;
  r->current = r->ahead;
  r->ahead = done;
  r->row = 0;
  status = read_ahead(r, error);
  if (status == PF_OK)
    mark_calls(r, r->current, r->ahead);
  return status;
}


/* The value of a write: that of the event, else that of the state. */
static void set_value (const btf_reader *r, const block *b, size_t row,
                       btf_event *e) {
  const pf_column *const value = b->pull.columns[VALUE];
  const pf_column *number = b->pull.columns[VALUE_NUM];
  if (number == NULL)
    number = b->pull.columns[NUMBER];
  if (value != NULL && !pf_is_missing(value, row)) {
    e->note = WORD_WRITE;
    e->value = value->ints[row];
  }
  else if (number != NULL && !pf_is_missing(number, row)) {
    e->note = WORD_NUMBER;
    e->number = number->nums[row];
  }
  else if (r->machine.area_type == PF_AREA) {
    const pf_area *const area = pf_area_at(r->reader.dictionary, e->area);
    e->note = area->has_value ? WORD_WRITE : WORD_EVENT;
    e->value = area->value;
  }
}


static pf_status step (btf_reader *r, pf_error *error) {
  const block *const b = r->current;
  const size_t row = r->row++;
  const pf_column *const flags = b->pull.columns[FLAGS];
  if (flags != NULL && !pf_is_missing(flags, row) &&
      (pf_call_flags_of(pf_name(r->reader.dictionary, flags->ids[row])) &
       PF_CALL_GAP) != 0 &&
      btf_machine_gap(&r->machine) != PF_OK)
    return pf_no_memory(error);
  btf_event e;
  memset(&e, 0, sizeof e);
  const pf_column *const time = b->pull.columns[TIME];
  e.kind = (btf_kind)b->kinds[row];
  if (e.kind == BTF_NOTHING || pf_is_missing(time, row))
    return PF_OK;
  e.is_call = b->is_call[row];
  e.area = area_of(b, row);
  e.slot = b->slots[row];
  e.lane = b->lanes[row];
  e.core = b->cores[row];
  e.note = WORD_EVENT;
  if (e.kind == BTF_WRITE)
    set_value(r, b, row, &e);
  const btf_machine *const m = &r->machine;
  const int64_t since =
      (int64_t)((uint64_t)time->ints[row] - (uint64_t)m->options.base);
  pf_status status = PF_OK;
  if (m->before_range && time->ints[row] >= m->options.from)
    status = btf_machine_begin(&r->machine);
  if (status == PF_OK)
    status = btf_machine_step(&r->machine, since, &e);
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


/* Move rows into the free part of the batch. */
static void take_rows (btf_queue *q, pf_batch *batch) {
  pf_column *const c = batch->columns;
  for (; q->head < q->count && batch->rows < PF_BATCH_ROWS; batch->rows++) {
    const btf_row *const from = &q->rows[q->head++];
    const size_t row = batch->rows;
    pf_put_id(&c[0], row, from->kind);
    pf_put_int(&c[1], row, from->time, true);
    pf_put_id(&c[2], row, from->source);
    pf_put_int(&c[3], row, from->source_instance, true);
    pf_put_id(&c[4], row, from->type);
    pf_put_id(&c[5], row, from->target);
    pf_put_int(&c[6], row, from->target_instance, true);
    pf_put_id(&c[7], row, from->event);
    pf_put_int(&c[8], row, from->note, from->has_note);
    pf_put_num(&c[9], row, from->number, from->has_number);
  }
  if (q->head == q->count)
    q->head = q->count = 0;
}


static pf_status btf_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  btf_reader *const r = (btf_reader *)(void *)self;
  pf_batch_clear(batch);
  for (;;) {
    take_rows(&r->machine.queue, batch);
    if (batch->rows == PF_BATCH_ROWS)
      return PF_MORE;
    if (r->ended)
      return batch->rows > 0 ? PF_MORE : PF_END;
    const bool has_event = r->started && r->row < r->current->pull.batch.rows;
    pf_status status = has_event ? step(r, error) : advance(r, error);
    r->ended =
        !has_event && status == PF_OK && r->current->pull.batch.rows == 0;
    if (r->ended && btf_machine_end(&r->machine) != PF_OK)
      status = pf_no_memory(error);
    if (status != PF_OK)
      return status;
  }
}


static void close_block (block *b) {
  if (b != NULL && b->is_open)
    pf_pull_close(&b->pull);
  free(b);
}


static void btf_close (pf_reader *self) {
  btf_reader *const r = (btf_reader *)(void *)self;
  close_block(r->current);
  close_block(r->ahead);
  btf_machine_close(&r->machine);
  pf_id_table_free(&r->lanes);
  pf_id_table_free(&r->cores);
  pf_id_table_free(&r->slots);
  free(r->following);
  free(r);
}


static pf_status open_blocks (btf_reader *r, pf_reader *events,
                              pf_error *error) {
  r->current = calloc(1, sizeof *r->current);
  r->ahead = calloc(1, sizeof *r->ahead);
  if (r->current == NULL || r->ahead == NULL)
    return pf_no_memory(error);
  pf_status status =
      pf_pull_open(&r->current->pull, events, wants, COLUMNS, error);
  r->current->is_open = status == PF_OK;
  if (status != PF_OK)
    return status;
  if (r->current->pull.columns[AREA] == NULL &&
      r->current->pull.columns[AREA_NAME] == NULL)
    return pf_refuse(error, "a column \"area\" of areas or names is needed");
  status = pf_pull_clone(&r->ahead->pull, &r->current->pull, error);
  r->ahead->is_open = status == PF_OK;
  return status;
}


pf_status pf_btf_open (pf_reader *events, const pf_btf_options *options,
                       pf_reader **reader, pf_error *error) {
  btf_reader *const r = pf_reader_of(sizeof *r, fields, BTF_FIELDS,
                                     events->dictionary, btf_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  static const char *const kinds[BTF_WRITE + 1] = {
      "", "enter", "leave", "suspend", "resume", "write"};
  r->reader.close = btf_close;
  r->machine.options = *options;
  r->machine.before_range = options->has_from;
  pf_id_table_init(&r->lanes);
  pf_id_table_init(&r->cores);
  pf_id_table_init(&r->slots);
  pf_status status = open_blocks(r, events, error);
  if (status == PF_OK)
    status = pf_intern_texts(events->dictionary, kinds, BTF_WRITE + 1,
                             r->events, error);
  if (status == PF_OK) {
    r->machine.area_type =
        r->current->pull.columns[AREA] != NULL ? PF_AREA : PF_NAME;
    status = btf_machine_open(&r->machine, events->dictionary, error);
  }
  return pf_reader_opened(&r->reader, status, reader);
}
