/*
** encoder.c - the encoder: writes a group for each row, and a mapping before
** the first line of each module. Backtraces begin with the innermost caller.
**
** A row with a stack needs no line of its own: its innermost frame is the line.
**
** A refused row leaves nothing in the file: its modules get numbers, and their
** mappings are written when the whole row has been checked. Opened through
** pf_format_br by lua/writer/file_writer.c and model/writer/ring_encoder.c,
** which call its `close`; that frees all arrays of the br_writer.
*/

#include <stdlib.h>

#include "bytes/sink.h"
#include "formats/br/br.h"
#include "model/base/memory.h"
#include "model/dictionary/stacks.h"
#include "model/writer/encoder.h"

typedef struct br_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  uint32_t routines[BR_ROUTINES]; /* ids of their names */
  uint32_t *numbers;              /* by name: number of the module, 0: none */
  size_t numbers_capacity;        /* of `numbers` */
  uint32_t *names;                /* by number - 1: name of the module */
  size_t names_capacity;          /* of `names` */
  uint32_t numbered;              /* how many modules have numbers */
  uint32_t mapped; /* how many of these have mappings in the file */
  /* The encoded frames of areas: a frame_head, then the frame, which begins
     with BR_LINE. */
  uint8_t *frames;
  size_t frames_used, frames_capacity;
  uint32_t *frame_of;       /* by area: offset of its frame, 0: not encoded */
  size_t frame_of_capacity; /* of `frame_of` */
  uint32_t recorder;        /* name of the unwritten first mapping */
  pf_charset charset;       /* of the names in the file */
  pf_converter to_page;
  uint8_t *text; /* buffer for a converted name */
  size_t text_capacity;
  uint8_t function[BR_MAX_NAME]; /* of the last checked frame */
  size_t function_size;
  pf_sink *sink;   /* during `put` and `finish` */
  pf_error *error; /* of the current call */
} br_writer;


static pf_status refuse_value (const br_writer *self, const char *what,
                               int64_t value) {
  return pf_refuse(self->error, "%s is %lld: it cannot be written", what,
                   (long long)value);
}


/* Converts a name to the code page of the file; valid until the next call.
   PF_EUNSUPPORTED for a character that is not in it, PF_ENOMEM. */
static pf_status to_page (br_writer *self, uint32_t name, pf_bytes *out) {
  const pf_bytes text = pf_name(self->dictionary, name);
  size_t size;
  *out = text;
  if (pf_is_same_in_utf8(&self->charset, text))
    return PF_OK;
  if (PF_CONVERTED_MAX(text.size) > self->text_capacity) {
    free(self->text);
    self->text_capacity = PF_CONVERTED_MAX(text.size);
    self->text = malloc(self->text_capacity);
  }
  if (self->text == NULL) {
    self->text_capacity = 0;
    return pf_no_memory(self->error);
  }
  if (!pf_convert_back(&self->to_page, text, self->text, &size))
    return pf_refuse(self->error,
                     "%.*s: a character is not in code page %s: write with "
                     "another code_page, or with raw",
                     PF_SHOWN(text, 80), self->charset.name);
  *out = (pf_bytes){self->text, size};
  return PF_OK;
}


static pf_status number_module (br_writer *self, uint32_t name) {
  pf_bytes text;
  if (name < self->numbers_capacity && self->numbers[name] != 0)
    return PF_OK;
  const pf_status status = to_page(self, name, &text);
  if (status != PF_OK)
    return status;
  if (text.size > BR_MAX_MODULE_NAME)
    return refuse_value(self, "the length of a module's name",
                        (int64_t)text.size);
  if (self->numbered == BR_MODULES - 1)
    return refuse_value(self, "the number of modules", BR_MODULES);
  if (!pf_grow_filled(&self->numbers, &self->numbers_capacity, (size_t)name + 1,
                      0) ||
      !pf_grow(&self->names, &self->names_capacity, (size_t)self->numbered + 1))
    return pf_no_memory(self->error);
  self->names[self->numbered] = name;
  self->numbers[name] = ++self->numbered;
  return PF_OK;
}


/* Writes the mappings of new modules. Flushing the sink reports its
   failures. */
static pf_status write_mappings (br_writer *self) {
  for (; self->mapped < self->numbered; self->encoder.count = self->mapped) {
    pf_bytes text;
    const pf_status status = to_page(self, self->names[self->mapped], &text);
    if (status != PF_OK)
      return status;
    (void)pf_sink_uint(self->sink, 1, true, BR_MODULE);
    (void)pf_sink_uint(self->sink, 2, true, ++self->mapped);
    (void)pf_sink_uint(self->sink, 2, true, text.size);
    (void)pf_sink_put(self->sink, text.at, text.size);
  }
  return PF_OK;
}


#define MAX_FRAME (10 + BR_MAX_NAME)

/* Precedes the encoded frame of an area. */
typedef struct frame_head {
  uint32_t area, size;
} frame_head;


/* Encodes the frame that was prepared last, as a line. Returns its size. */
static size_t encode_frame (const br_writer *self, const br_frame *frame,
                            uint8_t bytes[MAX_FRAME]) {
  size_t size = 8;
  bytes[0] = BR_LINE;
  pf_save(bytes + 1, 2, true, self->numbers[frame->module]);
  pf_save(bytes + 3, 4, true, frame->line);
  bytes[7] = (uint8_t)frame->clause;
  if (frame->routine == BR_IN_GOSUB || frame->routine == BR_IN_MAIN)
    bytes[size++] = frame->routine == BR_IN_MAIN ? BR_MAIN : BR_GOSUB;
  if (frame->routine == BR_IN_FUNCTION) {
    bytes[8] = BR_FUNCTION;
    bytes[9] = (uint8_t)self->function_size; /* see prepare_frame */
    memcpy(bytes + 10, self->function, self->function_size);
    size = 10 + self->function_size;
  }
  return size;
}


/* Checks a frame for encode_frame: sets its line and clause, keeps the name of
   its function, and numbers its module. */
static pf_status prepare_frame (br_writer *self, int64_t line, int64_t clause,
                                br_frame *frame) {
  if (line < 0 || line > UINT32_MAX)
    return refuse_value(self, "a line", line);
  if (clause < 0 || clause > UINT8_MAX)
    return refuse_value(self, "a clause", clause);
  if (frame->module == PF_NO_NAME)
    return pf_refuse(self->error, "a frame has no module");
  frame->line = (uint32_t)line;
  frame->clause = (uint16_t)clause;
  if (frame->routine != BR_IN_FUNCTION)
    return number_module(self, frame->module);
  if (frame->function == PF_NO_NAME)
    return pf_refuse(self->error, "a frame is in a function that has no name");
  pf_bytes name;
  const pf_status status = to_page(self, frame->function, &name);
  if (status != PF_OK)
    return status;
  if (name.size > BR_MAX_NAME)
    return refuse_value(self, "the length of a function's name",
                        (int64_t)name.size);
  memcpy(self->function, name.at, name.size);
  self->function_size = name.size;
  return number_module(self, frame->module);
}


/* The routine with this name, or BR_ROUTINES. */
static br_routine routine_of (const br_writer *self, uint32_t word) {
  unsigned i = 0;
  while (i < BR_ROUTINES && self->routines[i] != word)
    i++;
  return (br_routine)i;
}


/* Encodes the frame of an area. The file of the area is the module, its line
   the line, its class the routine, its value the clause. Areas of other
   classes, as other formats have them, are functions. */
static pf_status encode_area (br_writer *self, uint32_t number) {
  const pf_area *const area = pf_area_at(self->dictionary, number);
  br_routine routine = routine_of(self, area->class);
  if (routine == BR_ROUTINES)
    routine = BR_IN_FUNCTION;
  br_frame frame = {area->file, 0, area->name, 0, (uint16_t)routine};
  if (number >= pf_areas_count(self->dictionary))
    return pf_refuse(self->error, "a row has a stack that does not exist");
  const pf_status status = prepare_frame(
      self, area->line, area->has_value ? area->value : 0, &frame);
  if (status != PF_OK)
    return status;
  if (self->frames_used > UINT32_MAX - sizeof(frame_head))
    return pf_refuse(self->error,
                     "the different frames need more than 4 GiB: write several "
                     "files");
  if (!pf_grow(&self->frames, &self->frames_capacity,
               self->frames_used + sizeof(frame_head) + MAX_FRAME) ||
      !pf_grow_filled(&self->frame_of, &self->frame_of_capacity,
                      (size_t)number + 1, 0))
    return pf_no_memory(self->error);
  uint8_t *const at = self->frames + self->frames_used + sizeof(frame_head);
  const frame_head head = {number, (uint32_t)encode_frame(self, &frame, at)};
  memcpy(at - sizeof head, &head, sizeof head);
  self->frame_of[number] = (uint32_t)(self->frames_used + sizeof head);
  self->frames_used += sizeof head + head.size;
  return PF_OK;
}


static pf_bytes frame_of (const br_writer *self, uint32_t number) {
  frame_head head;
  const uint8_t *const at = self->frames + self->frame_of[number];
  memcpy(&head, at - sizeof head, sizeof head);
  return (pf_bytes){at, head.size};
}


/* Encodes the frames of a stack and adds their sizes to *size. */
static pf_status encode_stack (br_writer *self, uint32_t stack, size_t *size) {
  while (stack != PF_NO_STACK) {
    const pf_stack *const s = pf_stack_at(self->dictionary, stack);
    if (s->frame >= self->frame_of_capacity || self->frame_of[s->frame] == 0) {
      const pf_status status = encode_area(self, s->frame);
      if (status != PF_OK)
        return status;
    }
    *size += frame_of(self, s->frame).size;
    stack = s->parent;
  }
  return PF_OK;
}


#define TIME_SIZE 9

/* A checked group, ready to be written. */
typedef struct group {
  uint8_t own[MAX_FRAME]; /* the frame of a row that has its own line */
  pf_bytes line;
  uint32_t callers; /* a stack with encoded frames */
  size_t size;      /* bytes of the group */
  bool has_time;
  int64_t spent;
} group;


/* Determines the line and the callers of a row: from its own columns and its
   stack, or both from its stack. All their modules have numbers afterwards. */
static pf_status read_frames (br_writer *self, const pf_batch *batch,
                              size_t row, group *g) {
  const uint32_t stack = pf_id_at(batch, SAMPLES_stack, row);
  const pf_stack *const first = pf_stack_at(self->dictionary, stack);
  g->callers = first->parent;
  if (pf_has_value(batch, SAMPLES_module, row)) {
    const uint32_t function = pf_id_at(batch, SAMPLES_function, row);
    br_routine routine = function != PF_NO_NAME ? BR_IN_FUNCTION : BR_UNKNOWN;
    if (pf_has_value(batch, SAMPLES_kind, row))
      routine = routine_of(self, batch->columns[SAMPLES_kind].ids[row]);
    if (routine == BR_ROUTINES)
      return pf_refuse(self->error,
                       "a kind of function, gosub, main or unknown expected");
    if (function != PF_NO_NAME && routine != BR_IN_FUNCTION)
      return pf_refuse(self->error,
                       "a row with a function is of kind %s: only kind "
                       "function has a name",
                       br_routine_names[routine]);
    br_frame line = {.module = batch->columns[SAMPLES_module].ids[row],
                     .function = function,
                     .routine = (uint16_t)routine};
    const pf_status status =
        prepare_frame(self, pf_int_at(batch, SAMPLES_line, row, 0),
                      pf_int_at(batch, SAMPLES_clause, row, 0), &line);
    if (status != PF_OK)
      return status;
    g->line = (pf_bytes){g->own, encode_frame(self, &line, g->own)};
    g->size += g->line.size;
    return encode_stack(self, g->callers, &g->size);
  }
  if (stack == PF_NO_STACK)
    return pf_refuse(self->error,
                     "a row of samples has no module and no stack");
  const pf_status status = encode_stack(self, stack, &g->size);
  if (status == PF_OK)
    g->line = frame_of(self, first->frame);
  return status;
}


static void encode_group (const br_writer *self, const group *g, uint8_t *at) {
  if (g->line.size > 0)
    memcpy(at, g->line.at, g->line.size);
  at += g->line.size;
  if (g->has_time) {
    *at = BR_TIME;
    pf_save(at + 1, 8, true, (uint64_t)g->spent);
    at += TIME_SIZE;
  }
  for (uint32_t stack = g->callers; stack != PF_NO_STACK;) {
    const pf_stack *const s = pf_stack_at(self->dictionary, stack);
    const pf_bytes frame = frame_of(self, s->frame);
    memcpy(at, frame.at, frame.size);
    *at = BR_BACKTRACE;
    at += frame.size;
    stack = s->parent;
  }
  *at = BR_END;
}


/* Forgets the modules and the frames of areas that a refused row has added; it
   found `frames_used` bytes of frames. */
static void undo_row (br_writer *self, size_t frames_used) {
  while (self->numbered > self->mapped)
    self->numbers[self->names[--self->numbered]] = 0;
  for (size_t at = frames_used; at < self->frames_used;) {
    frame_head head;
    memcpy(&head, self->frames + at, sizeof head);
    self->frame_of[head.area] = 0;
    at += sizeof head + head.size;
  }
  self->frames_used = frames_used;
}


static pf_status put_row (br_writer *self, const pf_batch *batch, size_t row) {
  group g = {.size = 0};
  g.has_time = pf_has_value(batch, SAMPLES_spent, row);
  g.spent = pf_int_at(batch, SAMPLES_spent, row, 0);
  if (g.spent < 0)
    return refuse_value(self, "a time", g.spent);
  const size_t frames_used = self->frames_used;
  pf_status status = read_frames(self, batch, row, &g);
  if (status == PF_OK)
    status = write_mappings(self);
  if (status != PF_OK) {
    undo_row(self, frames_used);
    return status;
  }
  g.size += (g.has_time ? TIME_SIZE : 0) + 1; /* and BR_END */
  uint8_t *const reserved = pf_sink_reserve(self->sink, g.size);
  if (reserved != NULL) {
    encode_group(self, &g, reserved);
    pf_sink_advance(self->sink, g.size);
    return PF_OK;
  }
  /* The group is larger than the buffer of the sink, or the sink has failed: it
     then accepts anything, and flushing reports the failure. */
  uint8_t *const bytes = malloc(g.size);
  if (bytes == NULL)
    return pf_no_memory(self->error);
  encode_group(self, &g, bytes);
  (void)pf_sink_put(self->sink, bytes, g.size);
  free(bytes);
  return PF_OK;
}


/* New modules get the numbers after those that have been mapped. */
static void resume (pf_encoder *encoder, const pf_sink *sink, uint64_t count) {
  br_writer *const self = (br_writer *)(void *)encoder;
  (void)sink;
  self->mapped = self->numbered = (uint32_t)count;
  self->encoder.count = count;
  if (count > 0)
    self->recorder = PF_NO_NAME;
}


/* Begins a call of the encoder. The first one writes the mapping that states
   which program wrote the file; lines do not use it. */
static pf_status begin (br_writer *self, pf_sink *sink, pf_error *error) {
  const uint32_t recorder = self->recorder;
  self->sink = sink;
  self->error = error;
  self->recorder = PF_NO_NAME;
  if (recorder == PF_NO_NAME)
    return PF_OK;
  const pf_status status = number_module(self, recorder);
  return status == PF_OK ? write_mappings(self) : status;
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  br_writer *const self = (br_writer *)(void *)encoder;
  pf_status status = begin(self, sink, error);
  (void)table; /* there is only one */
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    status = put_row(self, batch, row);
  return status;
}


/* Files have neither an end record nor a count, so this also is `flush`. A file
   without rows gets the mapping of its recorder here. */
static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  return begin((br_writer *)(void *)encoder, sink, error);
}


static void close_writer (pf_encoder *encoder) {
  br_writer *const self = (br_writer *)(void *)encoder;
  free(self->numbers);
  free(self->names);
  free(self->frames);
  free(self->frame_of);
  free(self->text);
  pf_converter_close(&self->to_page);
  free(self);
}


/* Reads the name of the recorder and the code page, and interns the names of
   routines. PF_EUNSUPPORTED or PF_ENOMEM. */
static pf_status read_options (br_writer *self, const pf_trace *opts) {
  pf_bytes recorder, page;
  const bool has_recorder =
      pf_option_text(opts, "recorded_by", &recorder) && recorder.size > 0;
  pf_status status = PF_OK;
  if (pf_option_text(opts, "code_page", &page))
    status = pf_charset_open_given(&self->charset, page, self->error);
  if (status != PF_OK)
    return status;
  if (has_recorder && self->charset.kind != PF_TEXT_AS_BYTES)
    return pf_refuse(self->error,
                     "the names of a recording are UTF-8: write it without "
                     "code_page, or without recorded_by");
  status = pf_converter_open_back(&self->to_page, &self->charset);
  if (status != PF_OK)
    return pf_fail(self->error, status, PF_NO_OFFSET,
                   "this system cannot write code page %s", self->charset.name);
  if (has_recorder)
    self->recorder = pf_intern(self->dictionary, recorder);
  if (has_recorder && self->recorder == PF_NO_NAME)
    return pf_no_memory(self->error);
  return pf_intern_texts(self->dictionary, br_routine_names, BR_ROUTINES,
                         self->routines, self->error);
}


pf_status br_encoder (const pf_option *options, size_t noptions,
                      pf_dictionary *dictionary, pf_encoder **encoder,
                      pf_error *error) {
  br_writer *const self = calloc(1, sizeof *self);
  const pf_trace opts = {.options = options, /* for pf_option_text */
                         .noptions = noptions};
  if (self == NULL)
    return pf_no_memory(error);
  self->encoder = (pf_encoder){.put = put,
                               .finish = finish,
                               .close = close_writer,
                               .flush = finish,
                               .resume = resume};
  self->dictionary = dictionary;
  self->error = error;
  self->recorder = PF_NO_NAME;
  self->to_page = (pf_converter){.charset = &self->charset};
  const pf_status status = read_options(self, &opts);
  return pf_encoder_opened(&self->encoder, status, encoder);
}
