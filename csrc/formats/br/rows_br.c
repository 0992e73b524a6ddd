/*
** rows_br.c - the readers of the tables: samples (a row for each group, that
** is, each executed line or each sample), frames (for each group its line, then
** its callers from the innermost to the outermost) and raw (the records of the
** file; the bytes of all rows together are the file). Opened through
** pf_table.open by lua/checked_reader.c, which calls `close`; that frees the
** reader and its parser.
*/

#include "formats/br/br.h"
#include "model/base/memory.h"
#include "model/dictionary/stacks.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"


#define MAX_LABELS 4096 /* bytes of the labels of a row */

static const pf_field samples_fields[] = PF_COLUMN_FIELDS(SAMPLES);

#define FRAMES_LIST(X, T)                                                   \
  X(T, offset, INT, "byte at which the group begins")                       \
  X(T, level, INT, "0: the line itself, 1: its caller, ...")                \
  X(T, frame, NAME, "line or caller")                                       \
  X(T, module, NAME, "file of the program, or module#N when N has no name") \
  X(T, line, INT, "line number")                                            \
  X(T, clause, INT, "number of the clause in the line")                     \
  X(T, function, NAME, "function the line is in")                           \
  X(T, kind, NAME, "what the line is in: function, gosub, main or unknown") \
  X(T, spent, INT, "of the line itself: time as stated, ns")
PF_COLUMN_INDEXES(FRAMES);
static const pf_field frames_fields[] = PF_COLUMN_FIELDS(FRAMES);

/* A frame of the last group, and the stack that ends with it. */
typedef struct known_frame {
  br_frame frame;
  uint32_t stack;
} known_frame;

/* The reader of samples and frames. */
typedef struct group_reader {
  pf_reader reader;
  br_parser parser;
  const br_interpretation *interp;
  bool has_warned;                /* of the order of backtraces */
  uint32_t routines[BR_ROUTINES]; /* ids of their names */

  /* Of frames. */
  uint32_t frame_ids[2]; /* ids of "line" and "caller" */
  size_t level, count;   /* next frame of the group, and number of frames */

  /* Of samples. */
  known_frame *stack; /* of the last group, outermost frame first */
  size_t nstack, stack_capacity;
  br_callees callees; /* owned */
  bool has_callers;   /* some group has had backtraces */
  bool has_clock;     /* a self time has been read */
  int64_t clock;      /* sum of the self times so far, at most INT64_MAX */
  uint32_t label_module;
  uint8_t name_buffer[BR_MAX_CONVERTED + 8];
} group_reader;


/* Returns the id of the name of a module's own lines: the base name of its
   file, and " gosub" for those of its subroutines. */
static uint32_t module_name (group_reader *self, const br_frame *frame) {
  static const char tail[] = " gosub";
  const pf_bytes file =
      pf_base_name(pf_name(self->reader.dictionary, frame->module));
  size_t size = file.size;
  memcpy(self->name_buffer, file.at, size);
  if (frame->routine == BR_IN_GOSUB) {
    memcpy(self->name_buffer + size, tail, sizeof tail - 1);
    size += sizeof tail - 1;
  }
  return pf_intern(self->reader.dictionary,
                   (pf_bytes){self->name_buffer, size});
}


/* Returns the id of the area of a frame. PF_NO_AREA when out of memory. */
static uint32_t frame_area (group_reader *self, const br_frame *frame) {
  pf_dictionary *const dictionary = self->reader.dictionary;
  pf_area area = PF_AREA_NONE;
  area.name = frame->routine == BR_IN_FUNCTION ? frame->function
                                               : module_name(self, frame);
  if (area.name == PF_NO_NAME)
    return PF_NO_AREA;
  area.class = self->routines[frame->routine];
  area.file = frame->module;
  area.line = frame->line;
  area.has_value = true;
  area.value = frame->clause;
  return pf_area_add(dictionary, &area);
}


/* Frame number `i` of the group, counted from the outermost. */
static const br_frame *frame_at (const group_reader *self, size_t i) {
  const br_group *const group = &self->parser.group;
  return br_frame_of(group, self->interp, group->nframes - 1 - i);
}


/* Sets *stack to the stack of the group. Most outer frames are those of the
   last group, so their stacks are reused. */
static pf_status find_stack (group_reader *self, uint32_t *stack,
                             pf_error *error) {
  const size_t depth = self->parser.group.nframes;
  size_t i = 0;
  if (!pf_grow(&self->stack, &self->stack_capacity, depth))
    return pf_no_memory(error);
  while (i < depth && i < self->nstack &&
         memcmp(&self->stack[i].frame, frame_at(self, i), sizeof(br_frame)) ==
             0)
    i++;
  for (self->nstack = i; i < depth; self->nstack = ++i) {
    const br_frame *const frame = frame_at(self, i);
    const uint32_t parent = i == 0 ? PF_NO_STACK : self->stack[i - 1].stack;
    const uint32_t area = frame_area(self, frame);
    const uint32_t added =
        area == PF_NO_AREA
            ? PF_NO_STACK
            : pf_stack_push(self->reader.dictionary, parent, area);
    if (added == PF_NO_STACK)
      return pf_no_memory(error);
    self->stack[i] = (known_frame){*frame, added};
  }
  *stack = self->stack[depth - 1].stack;
  return PF_OK;
}


/* Puts the labels: the functions of the outermost frames that are labels, as
   key=value,key=value; those that MAX_LABELS bytes hold. */
static pf_status put_labels (group_reader *self, pf_column *column, size_t row,
                             pf_error *error) {
  pf_dictionary *const dictionary = self->reader.dictionary;
  uint8_t text[MAX_LABELS];
  size_t size = 0, i = 0;
  if (column->data == NULL)
    return PF_OK;
  for (; i < self->parser.group.nframes; i++) {
    const br_frame *const frame = frame_at(self, i);
    if (frame->module != self->label_module || frame->function == PF_NO_NAME)
      break;
    const pf_bytes label = pf_name(dictionary, frame->function);
    if (label.size + 1 > sizeof text - size)
      break;
    text[size] = ',';
    size += i > 0;
    memcpy(text + size, label.at, label.size);
    size += label.size;
  }
  return pf_put_text(dictionary, column, row, (pf_bytes){text, size}, i > 0)
             ? PF_OK
             : pf_no_memory(error);
}


/* Puts the self time of a group, and as its time the sum of those before it. */
static void put_self (group_reader *self, pf_column *columns, size_t row,
                      int64_t time, bool is_known) {
  self->has_clock |= is_known;
  pf_put_int(&columns[SAMPLES_self], row, time, is_known);
  pf_put_int(&columns[SAMPLES_time], row, self->clock, self->has_clock);
  if (is_known && __builtin_add_overflow(self->clock, time, &self->clock))
    self->clock = INT64_MAX;
}


/* Puts the times. Samples have none, and stand for the interval if it is known;
   self time can be computed from inclusive times only if backtraces state the
   callers, in a live trace from the first of them on. */
static pf_status put_times (group_reader *self, pf_column *columns, size_t row,
                            pf_error *error) {
  const br_group *const group = &self->parser.group;
  const bool has_time = br_has_time(group);
  const bool subtracts = self->interp->inclusive;
  self->has_callers |= group->nframes > 1;
  const bool has_self = has_time && (!subtracts || self->has_callers);
  uint64_t called = 0;
  pf_put_int(&columns[SAMPLES_spent], row, (int64_t)group->spent, has_time);
  if (subtracts &&
      (columns[SAMPLES_self].data != NULL ||
       columns[SAMPLES_time].data != NULL) &&
      !br_end_line(&self->callees, group, &called))
    return pf_no_memory(error);
  const bool is_less = has_time && called > group->spent;
  const int64_t interval = has_time ? 0 : self->interp->interval;
  put_self(self, columns, row,
           interval > 0 ? interval
           : is_less    ? 0
                        : (int64_t)(group->spent - called),
           has_self || interval > 0);
  if (!is_less)
    return PF_OK;
  return pf_warn(self->parser.trace, PF_NOTE, "br-not-inclusive", PF_EFORMAT,
                 group->offset, error,
                 "the line took %llu ns and what it called %llu ns: its self "
                 "time is set to 0",
                 (unsigned long long)group->spent, (unsigned long long)called);
}


/* Parses the next group. Warns once if it refutes an assumed order: its records
   were not there when the file was opened, or are after the pre-scan. */
static pf_status next_group (group_reader *self, pf_error *error) {
  const br_group *const group = &self->parser.group;
  const pf_status status = br_next_group(&self->parser, error);
  if (status != PF_MORE || self->has_warned || !self->interp->is_assumed ||
      !br_has_main_only(group, true))
    return status;
  self->has_warned = true;
  const pf_status warned = pf_warn(
      self->parser.trace, PF_NOTE, "br-order-contradicts", PF_EFORMAT,
      group->offset, error,
      "the main routine stands on the first backtrace, after the innermost "
      "caller was assumed to come first when the file was opened");
  return warned < 0 ? warned : PF_MORE;
}


static pf_status put_group (pf_reader *reader, pf_batch *batch,
                            pf_error *error) {
  group_reader *const self = (group_reader *)(void *)reader;
  pf_column *const columns = batch->columns;
  pf_status status = next_group(self, error);
  if (status != PF_MORE)
    return status;
  const br_group *const group = &self->parser.group;
  const br_frame *const line = &group->frames[0];
  const size_t row = batch->rows++;
  pf_put_id(&columns[SAMPLES_module], row, line->module);
  pf_put_int(&columns[SAMPLES_line], row, line->line, true);
  pf_put_int(&columns[SAMPLES_clause], row, line->clause, true);
  pf_put_id(&columns[SAMPLES_kind], row, self->routines[line->routine]);
  pf_put_int(&columns[SAMPLES_depth], row,
             (int64_t)(group->nframes + group->dropped), true);
  pf_put_int(&columns[SAMPLES_offset], row, (int64_t)group->offset, true);
  pf_put_id(&columns[SAMPLES_function], row, line->function);
  status = put_times(self, columns, row, error);
  if (status == PF_OK)
    status = put_labels(self, &columns[SAMPLES_labels], row, error);
  if (status == PF_OK && columns[SAMPLES_stack].data != NULL)
    status = find_stack(self, &columns[SAMPLES_stack].ids[row], error);
  return status;
}


PF_NEXT_BY_STEPS(next_samples, put_group)


static pf_status put_frame (pf_reader *reader, pf_batch *batch,
                            pf_error *error) {
  group_reader *const self = (group_reader *)(void *)reader;
  const br_group *const group = &self->parser.group;
  pf_column *const columns = batch->columns;
  if (self->level == self->count) {
    const pf_status status = next_group(self, error);
    self->level = 0;
    self->count = status == PF_MORE ? group->nframes : 0;
    if (status != PF_MORE)
      return status;
  }
  const size_t level = self->level++;
  const br_frame *const frame = br_frame_of(group, self->interp, level);
  const size_t row = batch->rows++;
  pf_put_int(&columns[FRAMES_offset], row, (int64_t)group->offset, true);
  pf_put_int(&columns[FRAMES_level], row, (int64_t)level, true);
  pf_put_id(&columns[FRAMES_frame], row, self->frame_ids[level > 0]);
  pf_put_id(&columns[FRAMES_module], row, frame->module);
  pf_put_int(&columns[FRAMES_line], row, frame->line, true);
  pf_put_int(&columns[FRAMES_clause], row, frame->clause, true);
  pf_put_id(&columns[FRAMES_function], row, frame->function);
  pf_put_id(&columns[FRAMES_kind], row, self->routines[frame->routine]);
  pf_put_int(&columns[FRAMES_spent], row, (int64_t)group->spent,
             level == 0 && br_has_time(group));
  return PF_MORE;
}


PF_NEXT_BY_STEPS(next_frames, put_frame)


static void close_groups (pf_reader *reader) {
  group_reader *const self = (group_reader *)(void *)reader;
  br_parser_close(&self->parser);
  free(self->stack);
  free(self->callees.times);
  free(self);
}


static pf_status open_groups (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  static const char *const words[] = {"line", "caller"};
  const bool is_frames = table->fields == frames_fields;
  group_reader *const self =
      pf_reader_new(sizeof *self, trace, table,
                    is_frames ? next_frames : next_samples, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_groups;
  self->interp = &((const br_file *)trace->state)->interp;
  self->has_callers = self->interp->has_callers;
  pf_status status = br_parser_open(&self->parser, trace, error);
  if (status == PF_OK)
    status = pf_intern_texts(trace->dictionary, br_routine_names, BR_ROUTINES,
                             self->routines, error);
  if (status == PF_OK) {
    self->label_module = pf_intern_text(trace->dictionary, PF_LABEL_FILE);
    status = self->label_module == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
  }
  if (status == PF_OK && is_frames)
    status =
        pf_intern_texts(trace->dictionary, words, 2, self->frame_ids, error);
  return pf_reader_opened(&self->reader, status, reader);
}


#define RAW_LIST(X, T)                                                    \
  X(T, offset, INT, "byte at which it begins")                            \
  X(T, size, INT, "bytes")                                                \
  X(T, kind, NAME,                                                        \
    "module, line, time, backtrace, end, function, gosub, main, or rest") \
  X(T, module_number, INT, "of a module, a line, a backtrace")            \
  X(T, line, INT, "of a line, a backtrace")                               \
  X(T, clause, INT, "of a line, a backtrace")                             \
  X(T, spent, INT, "of a time, ns")                                       \
  X(T, name, NAME, "of a module, a function")                             \
  X(T, bytes, BYTES, "all its bytes")
PF_COLUMN_INDEXES(RAW);
static const pf_field raw_fields[] = PF_COLUMN_FIELDS(RAW);

static const char *const kind_names[BR_TYPES] = {
    [BR_REST] = "rest",
    [BR_MODULE] = "module",
    [2] = "rest", /* of no record */
    [BR_LINE] = "line",
    [BR_TIME] = "time",
    [BR_BACKTRACE] = "backtrace",
    [BR_END] = "end",
    [BR_FUNCTION] = "function",
    [BR_GOSUB] = "gosub",
    [BR_MAIN] = "main"};

typedef struct raw_reader {
  pf_reader reader;
  const pf_trace *trace;
  br_names names;
  uint64_t at;
  bool is_live;
  uint32_t kinds[BR_TYPES]; /* ids of their names */
} raw_reader;


/* Puts the record at the position of the reader. Bytes that cannot be read are
   one row, BR_REST. In a live trace an incomplete record gives PF_AGAIN. */
static pf_status put_record (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  const pf_bytes bytes = self->trace->sources[0].bytes;
  pf_column *const columns = batch->columns;
  br_record record;
  if (self->at == bytes.size)
    return self->is_live ? PF_AGAIN : PF_END;
  const br_result found = br_record_at(bytes, self->at, &record);
  if (found == BR_TRUNCATED && self->is_live)
    return PF_AGAIN;
  if (found != BR_COMPLETE)
    record = (br_record){
        .type = BR_REST, .offset = self->at, .size = bytes.size - self->at};
  self->at += record.size;
  const br_type type = record.type;
  const bool has_line = type == BR_LINE || type == BR_BACKTRACE;
  const pf_bytes all = {bytes.at + record.offset, (size_t)record.size};
  const size_t row = batch->rows++;
  pf_put_int(&columns[RAW_offset], row, (int64_t)record.offset, true);
  pf_put_int(&columns[RAW_size], row, (int64_t)record.size, true);
  pf_put_id(&columns[RAW_kind], row, self->kinds[type]);
  pf_put_int(&columns[RAW_module_number], row, record.module,
             has_line || type == BR_MODULE);
  pf_put_int(&columns[RAW_line], row, record.line, has_line);
  pf_put_int(&columns[RAW_clause], row, record.clause, has_line);
  pf_put_int(&columns[RAW_spent], row, (int64_t)record.spent,
             type == BR_TIME && record.spent <= INT64_MAX);
  pf_put_bytes(&columns[RAW_bytes], row, all, true);
  const bool is_named = (type == BR_MODULE || type == BR_FUNCTION) &&
                        columns[RAW_name].data != NULL;
  const uint32_t name =
      is_named ? br_intern(&self->names, record.name) : PF_NO_NAME;
  pf_put_id(&columns[RAW_name], row, name);
  return is_named && name == PF_NO_NAME ? pf_no_memory(error) : PF_MORE;
}


PF_NEXT_BY_STEPS(next_records, put_record)


static void close_records (pf_reader *reader) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  br_names_close(&self->names);
  free(self);
}


static pf_status open_raw (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error) {
  raw_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next_records, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_records;
  self->trace = trace;
  self->is_live = pf_option_int(trace, "live", 0) != 0;
  pf_status status = br_names_open(&self->names, trace, error);
  if (status == PF_OK)
    status = pf_intern_texts(trace->dictionary, kind_names, BR_TYPES,
                             self->kinds, error);
  return pf_reader_opened(&self->reader, status, reader);
}


const pf_table br_tables[BR_TABLES] = {
    {"samples", samples_fields, SAMPLES_COLUMNS, -1, open_groups},
    {"frames", frames_fields, FRAMES_COLUMNS, -1, open_groups},
    {"raw", raw_fields, RAW_COLUMNS, -1, open_raw},
};
