/*
** encode.c - the way out: a group for each row, a mapping before the first
** line of each module. Backtraces are written with the innermost caller first.
**
** A row's own line may be missing where it has a stack, whose innermost frame
** it then is.
*/

#include <stdlib.h>

#include "bytes/sink.h"
#include "formats/br/br.h"

const pf_table br_written[BR_WRITTEN] = {
    {"samples", br_samples_fields, SAMPLES_COLUMNS, -1, NULL}};

typedef struct br_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  uint32_t routines[BR_ROUTINES]; /* their words, in the dictionary */
  uint32_t *numbers; /* by name: the module's number, 0: not mapped */
  uint32_t nnumbers; /* names there is room for */
  uint32_t mapped;   /* modules there are */
} br_writer;


/* {====== One frame ====== */

static pf_status too_large (pf_error *error, const char *what, int64_t value) {
  return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "%s is %lld: it cannot be written", what, (long long)value);
}


static bool reserve_number (br_writer *self, uint32_t name) {
  if (name < self->nnumbers)
    return true;
  const uint32_t room = pf_names_count(self->dictionary) + name / 2 + 64;
  uint32_t *const numbers = realloc(self->numbers, room * sizeof *numbers);
  if (numbers == NULL)
    return false;
  memset(numbers + self->nnumbers, 0,
         (room - self->nnumbers) * sizeof *numbers);
  self->numbers = numbers;
  self->nnumbers = room;
  return true;
}


static pf_status put_mapping (br_writer *self, uint32_t name, pf_sink *sink,
                              pf_error *error) {
  const pf_bytes text = pf_name(self->dictionary, name);
  if (text.size > BR_MODULE_MOST)
    return too_large(error, "the length of a module's name",
                     (int64_t)text.size);
  if (self->mapped == BR_MODULES - 1)
    return too_large(error, "the number of modules", BR_MODULES);
  if (!reserve_number(self, name))
    return br_no_memory(error);
  self->numbers[name] = ++self->mapped;
  (void)pf_sink_uint(sink, 1, true, BR_MODULE);
  (void)pf_sink_uint(sink, 2, true, self->mapped);
  (void)pf_sink_uint(sink, 2, true, text.size);
  (void)pf_sink_put(sink, text.at, text.size); /* flushing tells failures */
  return PF_OK;
}


/* Map the module of a frame, when it has not been. */
static pf_status map_module (br_writer *self, const br_frame *frame,
                             pf_sink *sink, pf_error *error) {
  if (frame->module < self->nnumbers && self->numbers[frame->module] != 0)
    return PF_OK;
  return put_mapping(self, frame->module, sink, error);
}


static void put_frame (const br_writer *self, br_type type,
                       const br_frame *frame, pf_sink *sink) {
  uint8_t bytes[10 + BR_NAME_MOST];
  size_t size = 8;
  bytes[0] = (uint8_t)type;
  pf_save(bytes + 1, 2, true, self->numbers[frame->module]);
  pf_save(bytes + 3, 4, true, frame->line);
  bytes[7] = (uint8_t)frame->clause;
  if (frame->routine == BR_IN_GOSUB || frame->routine == BR_IN_MAIN)
    bytes[size++] = frame->routine == BR_IN_MAIN ? BR_MAIN : BR_GOSUB;
  if (frame->routine == BR_IN_FUNCTION) {
    const pf_bytes name = pf_name(self->dictionary, frame->function);
    bytes[8] = BR_FUNCTION;
    bytes[9] = (uint8_t)name.size; /* checked by check_frame */
    memcpy(bytes + 10, name.at, name.size);
    size = 10 + name.size;
  }
  (void)pf_sink_put(sink, bytes, size);
}


static void put_time (int64_t spent, pf_sink *sink) {
  uint8_t bytes[9] = {BR_TIME};
  pf_save(bytes + 1, 8, true, (uint64_t)spent);
  (void)pf_sink_put(sink, bytes, sizeof bytes);
}

/* }====== */


/* {====== Frames of rows and of areas ====== */

static bool has (const pf_batch *batch, size_t column, size_t row) {
  return column < batch->ncolumns && batch->columns[column].data != NULL &&
         !pf_is_missing(&batch->columns[column], row);
}


/* Lines and clauses must fit; a frame in a function has its name. */
static pf_status check_frame (const br_writer *self, int64_t line,
                              int64_t clause, br_frame *frame,
                              pf_error *error) {
  if (line < 0 || line > UINT32_MAX)
    return too_large(error, "a line", line);
  if (clause < 0 || clause > UINT8_MAX)
    return too_large(error, "a clause", clause);
  if (frame->module == PF_NO_NAME)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a frame has no module");
  frame->line = (uint32_t)line;
  frame->clause = (uint16_t)clause;
  if (frame->routine != BR_IN_FUNCTION)
    return PF_OK;
  if (frame->function == PF_NO_NAME)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a frame is in a function that has no name");
  const size_t size = pf_name(self->dictionary, frame->function).size;
  if (size > BR_NAME_MOST)
    return too_large(error, "the length of a function's name", (int64_t)size);
  return PF_OK;
}


/* The routine of a word; BR_ROUTINES when it is none. */
static br_routine routine_of (const br_writer *self, uint32_t word) {
  unsigned i = 0;
  while (i < BR_ROUTINES && self->routines[i] != word)
    i++;
  return (br_routine)i;
}


/* A frame of a stack: the file and the line of its area are the module and the
   line, its class is the kind, its value the clause. */
static pf_status area_frame (const br_writer *self, uint32_t number,
                             br_frame *frame, pf_error *error) {
  const pf_area *const area = pf_area_at(self->dictionary, number);
  br_routine routine = routine_of(self, area->class);
  if (routine == BR_ROUTINES)
    routine = BR_IN_FUNCTION;
  *frame = (br_frame){area->file, 0, area->name, 0, (uint16_t)routine};
  return check_frame(self, area->line, area->has_value ? area->value : 0, frame,
                     error);
}


static pf_status row_frame (const br_writer *self, const pf_batch *batch,
                            size_t row, br_frame *frame, pf_error *error) {
  const pf_column *const c = batch->columns;
  const bool has_function = has(batch, SAMPLES_FUNCTION, row);
  br_routine routine = has_function ? BR_IN_FUNCTION : BR_UNKNOWN;
  if (has(batch, SAMPLES_KIND, row))
    routine = routine_of(self, c[SAMPLES_KIND].ids[row]);
  if (routine == BR_ROUTINES)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a kind of function, gosub, main or unknown expected");
  *frame = (br_frame){c[SAMPLES_MODULE].ids[row], 0,
                      has_function ? c[SAMPLES_FUNCTION].ids[row] : PF_NO_NAME,
                      0, (uint16_t)routine};
  return check_frame(
      self, has(batch, SAMPLES_LINE, row) ? c[SAMPLES_LINE].ints[row] : 0,
      has(batch, SAMPLES_CLAUSE, row) ? c[SAMPLES_CLAUSE].ints[row] : 0, frame,
      error);
}

/* }====== */


/* {====== One row ====== */

/* Check the callers of a stack, and map their modules. */
static pf_status map_callers (br_writer *self, uint32_t stack, pf_sink *sink,
                              pf_error *error) {
  br_frame frame = {.module = PF_NO_NAME};
  pf_status status = PF_OK;
  for (uint32_t s = stack; s != PF_NO_STACK && status == PF_OK;
       s = pf_stack_at(self->dictionary, s)->parent) {
    status = area_frame(self, pf_stack_at(self->dictionary, s)->frame, &frame,
                        error);
    if (status == PF_OK)
      status = map_module(self, &frame, sink, error);
  }
  return status;
}


static void put_callers (const br_writer *self, uint32_t stack, pf_sink *sink) {
  br_frame frame = {.module = PF_NO_NAME};
  pf_error none;
  for (uint32_t s = stack; s != PF_NO_STACK;
       s = pf_stack_at(self->dictionary, s)->parent) {
    (void)area_frame(self, pf_stack_at(self->dictionary, s)->frame, &frame,
                     &none); /* checked by map_callers */
    put_frame(self, BR_BACKTRACE, &frame, sink);
  }
}


/* The row's line: from its own columns, or from its stack. */
static pf_status line_of (const br_writer *self, const pf_batch *batch,
                          size_t row, br_frame *frame, pf_error *error) {
  if (has(batch, SAMPLES_MODULE, row))
    return row_frame(self, batch, row, frame, error);
  if (!has(batch, SAMPLES_STACK, row))
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a row of samples has no module and no stack");
  const pf_stack *const stack =
      pf_stack_at(self->dictionary, batch->columns[SAMPLES_STACK].ids[row]);
  return area_frame(self, stack->frame, frame, error);
}


/* Everything is checked, and all modules are mapped, before the group begins:
   a row that is refused leaves none. */
static pf_status put_row (br_writer *self, const pf_batch *batch, size_t row,
                          pf_sink *sink, pf_error *error) {
  br_frame line = {.module = PF_NO_NAME};
  uint32_t callers = PF_NO_STACK;
  if (has(batch, SAMPLES_STACK, row))
    callers =
        pf_stack_at(self->dictionary, batch->columns[SAMPLES_STACK].ids[row])
            ->parent;
  const bool has_time = has(batch, SAMPLES_SPENT, row);
  if (has_time && batch->columns[SAMPLES_SPENT].ints[row] < 0)
    return too_large(error, "a time", batch->columns[SAMPLES_SPENT].ints[row]);
  pf_status status = line_of(self, batch, row, &line, error);
  if (status == PF_OK)
    status = map_module(self, &line, sink, error);
  if (status == PF_OK)
    status = map_callers(self, callers, sink, error);
  if (status != PF_OK)
    return status;
  put_frame(self, BR_LINE, &line, sink);
  if (has_time)
    put_time(batch->columns[SAMPLES_SPENT].ints[row], sink);
  put_callers(self, callers, sink);
  (void)pf_sink_uint(sink, 1, true, BR_END);
  return PF_OK;
}

/* }====== */


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  br_writer *const self = (br_writer *)(void *)encoder;
  pf_status status = PF_OK;
  (void)table; /* there is one */
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    status = put_row(self, batch, row, sink, error);
  return status;
}


/* No record ends a file, and no header counts: flushing and finishing. */
static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  (void)encoder;
  (void)sink;
  (void)error;
  return PF_OK;
}


static void close_writer (pf_encoder *encoder) {
  br_writer *const self = (br_writer *)(void *)encoder;
  free(self->numbers);
  free(self);
}


pf_status br_encoder (const pf_option *options, size_t noptions,
                      pf_dictionary *dictionary, pf_encoder **encoder,
                      pf_error *error) {
  br_writer *const self = calloc(1, sizeof *self);
  (void)options; /* there are none */
  (void)noptions;
  if (self == NULL)
    return br_no_memory(error);
  self->encoder = (pf_encoder){
      .put = put, .finish = finish, .close = close_writer, .flush = finish};
  self->dictionary = dictionary;
  if (br_intern_routines(dictionary, self->routines, error) != PF_OK) {
    free(self);
    return error->status;
  }
  *encoder = &self->encoder;
  return PF_OK;
}
