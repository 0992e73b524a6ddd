/*
** samples_br.c - the reader of table samples: a row for each group, that is,
** each executed line or each sample.
*/

#include <stdlib.h>

#include "formats/br/columns.h"
#include "model/base/memory.h"

const pf_field br_samples_fields[SAMPLES_COLUMNS] = {
    {"module", PF_NAME, "file of the program, or module#N when N has no name"},
    {"line", PF_INT, "line number"},
    {"clause", PF_INT, "number of the clause in the line"},
    {"function", PF_NAME, "function the line is in"},
    {"kind", PF_NAME, "what the line is in: function, gosub, main or unknown"},
    {"spent", PF_INT, "time as stated, ns; missing in samples"},
    {"depth", PF_INT, "frames of the stack, the line itself included"},
    {"stack", PF_STACK, "the line and its callers"},
    {"self", PF_INT, "time of the line without what it called, ns"},
    {"offset", PF_INT, "byte at which the group begins"},
};

/* A frame of the last group, and the stack that ends with it. */
typedef struct known_frame {
  br_frame frame;
  uint32_t stack;
} known_frame;

typedef struct samples_reader {
  pf_reader reader;
  br_parser parser;
  const br_interpretation *interp;
  uint32_t routines[BR_ROUTINES]; /* ids of their names */
  known_frame *stack;             /* of the last group, outermost frame first */
  size_t nstack, stack_capacity;
  uint64_t *callees; /* by depth: time of the callees so far, ns */
  size_t callees_capacity;
  uint8_t name_buffer[BR_MAX_CONVERTED + 8];
} samples_reader;


/* {====== Stacks ====== */

/* A GOSUB has no name, so its area is called "MODULE gosub". */
static uint32_t gosub_name (samples_reader *self, uint32_t module) {
  static const char tail[] = " gosub";
  const pf_bytes name = pf_name(self->reader.dictionary, module);
  memcpy(self->name_buffer, name.at, name.size);
  memcpy(self->name_buffer + name.size, tail, sizeof tail);
  return pf_intern(self->reader.dictionary,
                   (pf_bytes){self->name_buffer, name.size + sizeof tail - 1});
}


static uint32_t frame_area (samples_reader *self, const br_frame *frame) {
  pf_area area = PF_AREA_NONE;
  area.name = frame->module;
  if (frame->routine == BR_IN_FUNCTION)
    area.name = frame->function;
  if (frame->routine == BR_IN_GOSUB)
    area.name = gosub_name(self, frame->module);
  if (area.name == PF_NO_NAME)
    return PF_NO_AREA;
  area.class = self->routines[frame->routine];
  area.file = frame->module;
  area.line = frame->line;
  area.has_value = true;
  area.value = frame->clause;
  return pf_area_add(self->reader.dictionary, &area);
}


/* Frame number `i` of the group, counted from the outermost. */
static const br_frame *frame_at (const samples_reader *self, size_t i) {
  const br_group *const group = &self->parser.group;
  return br_frame_of(group, self->interp, group->nframes - 1 - i);
}


static bool push_frame (samples_reader *self, size_t i) {
  const br_frame *const frame = frame_at(self, i);
  const uint32_t parent = i == 0 ? PF_NO_STACK : self->stack[i - 1].stack;
  const uint32_t area = frame_area(self, frame);
  if (area == PF_NO_AREA)
    return false;
  const uint32_t stack = pf_stack_push(self->reader.dictionary, parent, area);
  self->stack[i] = (known_frame){*frame, stack};
  return stack != PF_NO_STACK;
}


/* Sets *stack to the stack of the group. Most outer frames are those of the
   last group, so their stacks are reused. */
static pf_status find_stack (samples_reader *self, uint32_t *stack,
                             pf_error *error) {
  const size_t depth = self->parser.group.nframes;
  size_t i = 0;
  if (!pf_grow(&self->stack, &self->stack_capacity, depth))
    return pf_no_memory(error);
  while (i < depth && i < self->nstack &&
         memcmp(&self->stack[i].frame, frame_at(self, i), sizeof(br_frame)) ==
             0)
    i++;
  for (self->nstack = i; i < depth; i++) {
    if (!push_frame(self, i))
      return pf_no_memory(error);
    self->nstack = i + 1;
  }
  *stack = self->stack[depth - 1].stack;
  return PF_OK;
}

/* }====== */


/* {====== Times ====== */

/* Subtracts the time of the callees from an inclusive time. Lines are written
   when they end: the callees are the groups one frame deeper since the last
   group of this depth. */
static pf_status compute_self (samples_reader *self, int64_t *self_ns,
                               pf_error *error) {
  const br_group *const group = &self->parser.group;
  const size_t depth = group->nframes;
  if (!pf_grow_filled(&self->callees, &self->callees_capacity, depth + 2, 0))
    return pf_no_memory(error);
  const uint64_t called = self->callees[depth + 1];
  self->callees[depth + 1] = 0;
  self->callees[depth] += group->spent; /* less than 2^63 each; may wrap */
  *self_ns = (int64_t)(group->spent - called);
  if (called <= group->spent)
    return PF_OK;
  *self_ns = 0;
  return pf_warn(self->parser.trace, PF_NOTE, "br-not-inclusive", PF_EFORMAT,
                 group->offset, error,
                 "the line took %llu ns and what it called %llu ns: its self "
                 "time is set to 0",
                 (unsigned long long)group->spent, (unsigned long long)called);
}


/* Sets the times. Samples have none; self time can be computed from inclusive
   times only if backtraces state the callers. */
static pf_status put_times (samples_reader *self, pf_batch *batch, size_t row,
                            pf_error *error) {
  const br_group *const group = &self->parser.group;
  int64_t self_ns = (int64_t)group->spent;
  pf_status status = PF_OK;
  if (!group->has_time || group->spent > INT64_MAX) {
    br_put_missing(batch, SAMPLES_SPENT, row);
    br_put_missing(batch, SAMPLES_SELF, row);
    return PF_OK;
  }
  br_put_int(batch, SAMPLES_SPENT, row, self_ns);
  if (!br_wanted(batch, SAMPLES_SELF))
    return PF_OK;
  if (self->interp->inclusive)
    status = compute_self(self, &self_ns, error);
  br_put_int(batch, SAMPLES_SELF, row, self_ns);
  if (self->interp->inclusive &&
      (group->dropped > 0 || !self->interp->has_callers))
    br_put_missing(batch, SAMPLES_SELF, row);
  return status;
}

/* }====== */


static pf_status put_group (samples_reader *self, pf_batch *batch,
                            pf_error *error) {
  const br_group *const group = &self->parser.group;
  const br_frame *const line = &group->frames[0];
  const size_t row = batch->rows++;
  br_put_id(batch, SAMPLES_MODULE, row, line->module);
  br_put_int(batch, SAMPLES_LINE, row, line->line);
  br_put_int(batch, SAMPLES_CLAUSE, row, line->clause);
  br_put_id(batch, SAMPLES_KIND, row, self->routines[line->routine]);
  br_put_int(batch, SAMPLES_DEPTH, row,
             (int64_t)(group->nframes + group->dropped));
  br_put_int(batch, SAMPLES_OFFSET, row, (int64_t)group->offset);
  if (line->function == PF_NO_NAME)
    br_put_missing(batch, SAMPLES_FUNCTION, row);
  else
    br_put_id(batch, SAMPLES_FUNCTION, row, line->function);
  const pf_status status = put_times(self, batch, row, error);
  if (status < 0 || !br_wanted(batch, SAMPLES_STACK))
    return status;
  return find_stack(self, &batch->columns[SAMPLES_STACK].ids[row], error);
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  samples_reader *const self = (samples_reader *)(void *)reader;
  pf_status status = PF_MORE;
  pf_batch_clear(batch);
  while (status == PF_MORE && batch->rows < PF_BATCH_ROWS) {
    status = br_next_group(&self->parser, error);
    if (status == PF_MORE)
      status = put_group(self, batch, error);
  }
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : status;
}


static void close_reader (pf_reader *reader) {
  samples_reader *const self = (samples_reader *)(void *)reader;
  br_parser_close(&self->parser);
  free(self->stack);
  free(self->callees);
  free(self);
}


pf_status br_open_samples (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error) {
  samples_reader *const self = malloc(sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  memset(self, 0, offsetof(samples_reader, name_buffer));
  self->reader.fields = table->fields;
  self->reader.nfields = table->nfields;
  self->reader.dictionary = trace->dictionary;
  self->reader.next = next;
  self->reader.close = close_reader;
  self->interp = &((const br_file *)trace->state)->interp;
  pf_status status = br_parser_open(&self->parser, trace, error);
  if (status == PF_OK)
    status = br_intern_routines(trace->dictionary, self->routines, error);
  if (status == PF_OK)
    *reader = &self->reader;
  else
    close_reader(&self->reader);
  return status;
}
