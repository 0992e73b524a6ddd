/*
** rows_cpuprofile.c - the readers of the tables samples, stacks, raw and
** events.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`.
** Values of PF_BYTES are borrowed from the source.
*/

#include "formats/cpuprofile/cpuprofile.h"

#include "model/base/wide.h"

typedef struct v8_reader {
  pf_reader reader;
  v8_cursor cursor;
  uint32_t node;           /* of table stacks: the one that is read; */
  bool is_open;            /* all are summed, */
  bool is_begun;           /* it has begun */
  const uint8_t *tick;     /* its next line, or NULL */
  int64_t ticks;           /* of the lines so far */
  int64_t samples, amount; /* what is left of it */
  pf_sampled *calls;       /* of table events, */
  uint32_t lane;           /* and its only lane */
  size_t done;             /* of table raw: bytes that are in rows; */
  const uint8_t *member;   /* the key that is next, or NULL */
} v8_reader;


/* {====== Samples ====== */

/* Adds the time from one sample to the next; without one, none passes. Times
   are limited to their range. */
static void add_delta (v8_cursor *self, const uint8_t *end) {
  pf_json value = {.kind = PF_JSON_NONE};
  int64_t delta;
  int rest;
  if (self->delta != NULL)
    self->delta = pf_json_element(self->delta, end, &value);
  self->has_time &= self->delta != NULL;
  if (self->delta != NULL &&
      pf_parse_scaled(value.text, 3, &delta, &rest) == PF_OK &&
      __builtin_add_overflow(self->time, delta, &self->time))
    self->time = delta < 0 ? INT64_MIN : INT64_MAX;
}


static v8_cursor begin_samples (pf_trace *trace) {
  const v8_file *const file = trace->state;
  const uint8_t *const at = file->bytes.at, *const end = at + file->bytes.size;
  v8_cursor cursor = {
      .trace = trace,
      .sample = file->samples_at > 0 ? at + file->samples_at : NULL,
      .delta = file->deltas_at > 0 ? at + file->deltas_at : NULL,
      .has_time = true};
  cursor.latest = cursor.time = file->start;
  if (!file->is_heap)
    add_delta(&cursor, end);
  return cursor;
}


static int64_t member_of (const pf_json *object, const char *name) {
  pf_json value;
  int64_t whole;
  int rest;
  return object->kind == PF_JSON_OBJECT &&
                 pf_json_member(object->text, pf_bytes_of(name), &value) &&
                 pf_parse_scaled(value.text, 0, &whole, &rest) == PF_OK
             ? whole
             : -1;
}


/* Sets the time of a sample and how long it lasts. Times never fall: what is
   earlier than the sample before counts from there. */
static pf_status set_time (v8_cursor *self, v8_sample *sample,
                           const uint8_t *at, pf_error *error) {
  const v8_file *const file = self->trace->state;
  const uint8_t *const end = file->bytes.at + file->bytes.size;
  const bool falls = self->time < self->latest;
  pf_json value;
  sample->time = falls ? self->latest : self->time;
  const bool is_last = pf_json_element(self->sample, end, &value) == NULL;
  self->latest = sample->time;
  if (!is_last)
    add_delta(self, end);
  else
    self->time = file->has_end ? file->end : sample->time;
  if (self->time <= sample->time)
    sample->duration = 0;
  else if (__builtin_sub_overflow(self->time, sample->time, &sample->duration))
    sample->duration = INT64_MAX;
  return falls ? v8_warn(self->trace, PF_NOTE, "cpuprofile-time-falls", at,
                         "a sample is earlier than the one before it", error)
               : PF_OK;
}


/* Sets the next sample. PF_MORE, PF_END, or a failure. */
static pf_status next_sample (v8_cursor *self, v8_sample *sample,
                              pf_error *error) {
  const v8_file *const file = self->trace->state;
  const uint8_t *const end = file->bytes.at + file->bytes.size;
  const uint8_t *const at = self->sample;
  pf_json value;
  int64_t id = -1;
  int rest;
  if (at != NULL)
    self->sample = pf_json_element(at, end, &value);
  if (self->sample == NULL)
    return PF_END;
  if (file->is_heap) {
    id = member_of(&value, "nodeId");
    sample->time = member_of(&value, "ordinal");
    sample->duration = member_of(&value, "size");
  }
  else if (pf_parse_scaled(value.text, 0, &id, &rest) != PF_OK)
    id = -1;
  sample->id = (uint64_t)id;
  sample->node = pf_id_table_find(&file->ids, sample->id);
  pf_status status = PF_OK;
  if (sample->node == PF_NO_ID && !file->is_heap) /* V8 drops nodes of those */
    status = v8_warn(self->trace, PF_DAMAGE, "cpuprofile-no-node", at,
                     "a sample is of no node that is known", error);
  if (status == PF_OK && !file->is_heap)
    status = set_time(self, sample, at, error);
  return status;
}


/* A file whose nodes have what no sample has: those are not written. */
static void take_hits (const v8_file *file) {
  for (size_t i = 0; i < file->nnodes; i++)
    file->nodes[i].samples = file->nodes[i].hits;
}


/* Adds up samples and amounts of all nodes, once. */
static pf_status sum_nodes (pf_trace *trace, pf_error *error) {
  v8_file *const file = trace->state;
  v8_cursor cursor = begin_samples(trace);
  v8_sample sample;
  pf_status status = PF_OK;
  if (file->is_summed)
    return PF_OK;
  for (size_t i = 0; i < file->nnodes; i++) {
    file->nodes[i].samples = 0;
    file->nodes[i].amount = file->is_heap ? file->nodes[i].size : 0;
  }
  while (status == PF_OK &&
         (status = next_sample(&cursor, &sample, error)) == PF_MORE)
    if (sample.node != PF_NO_ID) {
      v8_node *const node = &file->nodes[sample.node];
      node->samples++;
      if (!file->is_heap &&
          __builtin_add_overflow(node->amount, sample.duration, &node->amount))
        node->amount = INT64_MAX;
    }
  if (status != PF_END)
    return status;
  if (file->samples_at == 0)
    take_hits(file);
  file->is_summed = true;
  return cursor.has_time || file->is_heap || file->samples_at == 0
             ? PF_OK
             : v8_warn(trace, PF_DAMAGE, "cpuprofile-times", NULL,
                       "there are fewer times than samples", error);
}


static pf_status step_samples (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  v8_reader *const self = (v8_reader *)(void *)reader;
  const v8_file *const file = self->cursor.trace->state;
  pf_column *const c = batch->columns;
  v8_sample sample;
  const pf_status status = next_sample(&self->cursor, &sample, error);
  if (status != PF_MORE)
    return status;
  const size_t row = batch->rows++;
  const bool has_time = file->is_heap || file->deltas_at > 0;
  const uint32_t stack =
      sample.node == PF_NO_ID ? PF_NO_STACK : file->nodes[sample.node].stack;
  pf_put_int(&c[V8_SAMPLES_time], row, sample.time, has_time);
  pf_put_int(&c[V8_SAMPLES_duration], row, sample.duration, has_time);
  pf_put_id(&c[V8_SAMPLES_stack], row, stack);
  pf_put_int(&c[V8_SAMPLES_node], row, (int64_t)sample.id, true);
  return PF_MORE;
}


/* }====== */

/* {====== Events ====== */

static pf_status next_stack (pf_reader *reader, pf_sample *result,
                             pf_error *error) {
  v8_reader *const self = (v8_reader *)(void *)reader;
  const v8_file *const file = self->cursor.trace->state;
  v8_sample sample = {.node = PF_NO_ID};
  const pf_status status = next_sample(&self->cursor, &sample, error);
  *result = (pf_sample){
      self->lane,
      sample.node == PF_NO_ID ? PF_NO_STACK : file->nodes[sample.node].stack,
      sample.time, self->cursor.time};
  return status;
}


static pf_status step_events (pf_reader *reader, pf_batch *batch,
                              pf_error *error) {
  return pf_sampled_step(((v8_reader *)(void *)reader)->calls, reader,
                         next_stack, batch, error);
}


/* }====== */

/* {====== Stacks ====== */

/* Puts a stack with a part of a node's samples and amount, and the line. */
static pf_status put_stack (v8_reader *self, pf_batch *batch, int64_t samples,
                            int64_t amount, int64_t line, pf_error *error) {
  const v8_file *const file = self->cursor.trace->state;
  const v8_node *const node = &file->nodes[self->node];
  pf_dictionary *const d = self->reader.dictionary;
  pf_column *const c = batch->columns;
  uint32_t stack = node->stack;
  if (line > 0 && stack != PF_NO_STACK) {
    pf_area area = *pf_area_at(d, node->area);
    area.line = line;
    const uint32_t frame = pf_area_add(d, &area);
    if (frame == PF_NO_AREA)
      return pf_no_memory(error);
    stack = pf_stack_push(d, pf_stack_at(d, stack)->parent, frame);
    if (stack == PF_NO_STACK)
      return pf_no_memory(error);
  }
  const size_t row = batch->rows++;
  self->samples -= samples;
  self->amount -= amount;
  pf_put_id(&c[V8_STACKS_stack], row, stack);
  pf_put_int(&c[V8_STACKS_samples], row, samples, true);
  pf_put_int(&c[V8_STACKS_amount], row, amount,
             file->is_heap || file->deltas_at > 0);
  return PF_OK;
}


/* The next line of the node, and its part of the samples and of the amount, by
   its share of the ticks. */
static pf_status put_line (v8_reader *self, pf_batch *batch,
                           const pf_json *tick, pf_error *error) {
  const v8_file *const file = self->cursor.trace->state;
  const v8_node *const node = &file->nodes[self->node];
  const int64_t ticks = member_of(tick, "ticks");
  const int64_t line = member_of(tick, "line");
  const int64_t whole = node->hits > node->samples ? node->hits : node->samples;
  if (ticks <= 0 || ticks > whole - self->ticks || line <= 0 ||
      line > INT32_MAX)
    return PF_OK;
  self->ticks += ticks; /* the parts of all so far have no rounding errors */
  const pf_wide of = self->ticks;
  const int64_t samples =
      self->samples - (node->samples - (int64_t)(of * node->samples / whole));
  const int64_t amount =
      self->amount - (node->amount - (int64_t)(of * node->amount / whole));
  return put_stack(self, batch, samples, amount, line, error);
}


static pf_status step_stacks (pf_reader *reader, pf_batch *batch,
                              pf_error *error) {
  v8_reader *const self = (v8_reader *)(void *)reader;
  const v8_file *const file = self->cursor.trace->state;
  pf_json tick;
  if (!self->is_open) {
    const pf_status status = sum_nodes(self->cursor.trace, error);
    if (status != PF_OK)
      return status;
  }
  self->is_open = true;
  if (self->node == file->nnodes)
    return PF_END;
  const v8_node *const node = &file->nodes[self->node];
  if (!self->is_begun) {
    self->is_begun = true;
    self->ticks = 0;
    self->samples = node->samples;
    self->amount = node->amount;
    self->tick = node->ticks.size > 0 ? node->ticks.at : NULL;
  }
  if (self->tick != NULL)
    self->tick =
        pf_json_element(self->tick, node->ticks.at + node->ticks.size, &tick);
  if (self->tick != NULL)
    return put_line(self, batch, &tick, error);
  pf_status status = PF_OK;
  if (self->samples > 0 || self->amount > 0)
    status = put_stack(self, batch, self->samples, self->amount, 0, error);
  self->is_begun = false;
  self->node++;
  return status;
}


/* }====== */

/* {====== raw ====== */

static pf_status put_raw (v8_reader *self, pf_batch *batch, const uint8_t *end,
                          pf_bytes kind, pf_error *error) {
  const pf_bytes bytes = self->cursor.trace->sources[0].bytes;
  const pf_bytes rest = pf_text_after(bytes, self->done);
  const size_t size = (size_t)(end - rest.at), at = self->done;
  const uint32_t id = pf_intern(self->reader.dictionary, kind);
  self->done += size;
  return id == PF_NO_NAME
             ? pf_no_memory(error)
             : pf_put_raw(batch, at, size, id, (pf_bytes){rest.at, size});
}


static pf_status step_raw (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  v8_reader *const self = (v8_reader *)(void *)reader;
  const pf_bytes bytes = self->cursor.trace->sources[0].bytes;
  const uint8_t *const end = bytes.at + bytes.size, *begin;
  pf_json key, value;
  bool has = false;
  if (self->done == bytes.size)
    return PF_END;
  if (self->done == 0) {
    const uint8_t *const p =
        pf_json_begin(pf_json_blanks(bytes.at, end), end, '{', &has);
    self->member = has ? p : NULL;
    if (has)
      return put_raw(self, batch, p, pf_bytes_of("head"), error);
  }
  const uint8_t *p = self->member;
  if (p != NULL)
    p = v8_next_member(p, end, &key, &begin, &value);
  if (p != NULL)
    p = pf_json_more(p, end, '}', &has);
  self->member = has ? p : NULL;
  return p != NULL ? put_raw(self, batch, p, key.text, error)
                   : put_raw(self, batch, end, pf_bytes_of("rest"), error);
}


/* }====== */

PF_NEXT_BY_STEPS(next_samples, step_samples)
PF_NEXT_BY_STEPS(next_stacks, step_stacks)
PF_NEXT_BY_STEPS(next_raw, step_raw)
PF_NEXT_BY_STEPS(next_events, step_events)


static void close_reader (pf_reader *reader) {
  pf_sampled_close(((v8_reader *)(void *)reader)->calls);
  free(reader);
}


pf_status v8_open_table (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error) {
  static pf_next *const nexts[] = {next_samples, next_stacks, next_raw,
                                   next_events};
  v8_reader *const self = pf_reader_new(sizeof *self, trace, table,
                                        nexts[table - trace->tables], error);
  if (self == NULL)
    return PF_ENOMEM;
  self->cursor = begin_samples(trace);
  self->reader.close = close_reader;
  self->lane = pf_intern_text(trace->dictionary, "main");
  self->calls = pf_sampled_new(trace->dictionary);
  pf_status status = self->calls == NULL || self->lane == PF_NO_NAME
                         ? pf_no_memory(error)
                         : PF_OK;
  if (status == PF_OK && nexts[table - trace->tables] == next_events)
    status = v8_warn(trace, PF_NOTE, "cpuprofile-timeline", NULL,
                     PF_SAMPLED_NOTE, error);
  return pf_reader_opened(&self->reader, status, reader);
}
