/*
** rows_perfscript.c - the readers of the tables samples and raw.
**
** Lines of frames repeat: each distinct one is parsed once, as is each distinct
** thread. The frames of a sample are collected until it ends.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`;
** that frees the reader and its arrays. Values of PF_BYTES are borrowed from
** the source.
*/

#include "formats/perfscript/perfscript.h"

#include <stdio.h>

#include "model/dictionary/text_ids.h"

/* A thread, by what stands in front of the time. */
typedef struct known_lane {
  uint32_t comm, thread; /* names */
} known_lane;

typedef struct perfscript_reader {
  pf_reader reader;
  perfscript_parser parser;
  perfscript_line line;
  bool has_line;       /* `line` begins the next sample */
  size_t event;        /* index of the last one */
  pf_bytes event_name; /* and its name, with the id */
  uint32_t event_id;
  pf_text_ids frame_texts, lane_texts;
  uint32_t *frames;  /* areas, by id of the text */
  known_lane *lanes; /* likewise */
  size_t frame_capacity, lane_capacity;
  uint32_t *chain; /* frames of the sample, the innermost first; then areas */
  size_t nchain, chain_capacity;
  pf_stack_path path;
  bool wants_stack; /* else the first frame is enough */
  bool has_addr;
  uint64_t addr;                    /* of the innermost frame */
  uint32_t kinds[PERFSCRIPT_KINDS]; /* names of table raw */
  pf_sampled *calls;                /* of table events; */
  int64_t gap;                      /* how long a stack lasts at most */
} perfscript_reader;


/* {====== Frames ====== */

/* The id of an area, or PF_NO_AREA when out of memory. */
static uint32_t area_of (const perfscript_reader *self, uint32_t name,
                         uint32_t module) {
  pf_area area = PF_AREA_NONE;
  area.name = name;
  area.file = module;
  return pf_area_add(self->reader.dictionary, &area);
}


/* The name of a frame: the symbol; if it is not known, the file name of the
   module in brackets, or the address. PF_NO_NAME when out of memory. */
static uint32_t name_of (pf_dictionary *dictionary,
                         const perfscript_frame *frame) {
  char text[128];
  const pf_bytes unknown = pf_bytes_of("[unknown]");
  const bool has_symbol =
      frame->symbol.size > 0 && !pf_bytes_equal(frame->symbol, unknown);
  const pf_bytes module =
      frame->module.size > 0 ? pf_base_name(frame->module) : frame->module;
  if (has_symbol)
    return pf_intern(dictionary, frame->symbol);
  if (module.size == 0 && frame->symbol.size > 0)
    return pf_intern(dictionary, unknown);
  if (module.size > 0 && module.at[0] == '[')
    return pf_intern(dictionary, module);
  if (module.size > 0)
    snprintf(text, sizeof text, "[%.*s]", PF_SHOWN(module, 120));
  else
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)frame->addr);
  return pf_intern_text(dictionary, text);
}


/* Parses a frame that is seen for the first time. False when out of memory. */
static bool set_frame (perfscript_reader *self, pf_bytes text, uint32_t *area) {
  pf_dictionary *const dictionary = self->reader.dictionary;
  perfscript_frame frame;
  (void)perfscript_parse_frame(text, &frame);
  const uint32_t name = name_of(dictionary, &frame);
  const bool has_module = frame.module.size > 0;
  const uint32_t module =
      has_module ? pf_intern(dictionary, frame.module) : PF_NO_NAME;
  *area = name == PF_NO_NAME || (has_module && module == PF_NO_NAME)
              ? PF_NO_AREA
              : area_of(self, name, module);
  return *area != PF_NO_AREA;
}


/* Adds a frame, which is outside of those before, to the sample. */
static pf_status add_frame (perfscript_reader *self, pf_bytes text,
                            pf_error *error) {
  uint32_t id;
  bool is_new;
  text = pf_trim(text);
  if (!pf_text_id(&self->frame_texts, text, &id, &is_new) ||
      !pf_grow(&self->frames, &self->frame_capacity, (size_t)id + 1) ||
      !pf_grow(&self->chain, &self->chain_capacity, self->nchain + 1) ||
      (is_new && !set_frame(self, text, &self->frames[id])))
    return pf_no_memory(error);
  if (self->nchain == 0) {
    perfscript_frame frame;
    self->has_addr = perfscript_parse_frame(text, &frame);
    self->addr = frame.addr;
  }
  self->chain[self->nchain++] = id;
  return PF_OK;
}


/* Sets *stack to that of the collected frames. A frame without a module has
   that of the frame around it, into which it was inlined. */
static pf_status set_stack (perfscript_reader *self, uint32_t *stack,
                            pf_error *error) {
  uint32_t module = PF_NO_NAME;
  for (size_t i = self->nchain; i-- > 0;) {
    uint32_t *const frame = &self->chain[i];
    *frame = self->frames[*frame];
    const pf_area *const area = pf_area_at(self->reader.dictionary, *frame);
    if (area->file != PF_NO_NAME)
      module = area->file;
    else if (module != PF_NO_NAME)
      *frame = area_of(self, area->name, module);
    if (*frame == PF_NO_AREA)
      return pf_no_memory(error);
  }
  return pf_stack_of(self->reader.dictionary, &self->path, self->chain,
                     self->nchain, stack)
             ? PF_OK
             : pf_no_memory(error);
}


/* }====== */

/* {====== Rows of samples ====== */

/* Reads the lines of a sample up to its end; *h is its header. PF_END: there is
   no further sample. */
static pf_status read_sample (perfscript_reader *self, perfscript_header *h,
                              pf_error *error) {
  perfscript_line *const line = &self->line;
  pf_status status = PF_MORE;
  bool is_open = self->has_line;
  self->nchain = 0;
  self->has_addr = self->has_line = false;
  *h = line->header;
  while ((status = perfscript_next(&self->parser, line, error)) == PF_MORE) {
    const bool begins = line->kind == PERFSCRIPT_SAMPLE || line->is_first;
    if (line->kind == PERFSCRIPT_SAMPLE && is_open) {
      self->has_line = true;
      return PF_MORE;
    }
    if (begins) {
      is_open = true;
      *h = line->kind == PERFSCRIPT_SAMPLE
               ? line->header
               : (perfscript_header){.has_time = false};
    }
    if (line->kind == PERFSCRIPT_FRAME &&
        (self->wants_stack || self->nchain == 0))
      status = add_frame(self, line->text, error);
    if (status != PF_MORE || (is_open && !self->parser.is_open))
      return status;
  }
  return status == PF_END && is_open ? PF_MORE : status;
}


/* Sets the entry of the thread. False when out of memory. */
static bool set_lane (perfscript_reader *self, const perfscript_header *h,
                      uint32_t *id) {
  pf_dictionary *const dictionary = self->reader.dictionary;
  bool is_new;
  char name[256];
  if (!pf_text_id(&self->lane_texts, h->lane, id, &is_new) ||
      !pf_grow(&self->lanes, &self->lane_capacity, (size_t)*id + 1))
    return false;
  if (!is_new)
    return true;
  known_lane *const lane = &self->lanes[*id];
  const int size = snprintf(name, sizeof name, "%.*s", PF_SHOWN(h->comm, 200));
  if (h->has_tid)
    snprintf(name + size, sizeof name - (size_t)size, " %lld",
             (long long)h->tid);
  lane->comm = pf_intern(dictionary, h->comm);
  lane->thread = pf_intern(dictionary, pf_trim(pf_bytes_of(name)));
  return lane->comm != PF_NO_NAME && lane->thread != PF_NO_NAME;
}


/* Finds the column of the event, which is mostly that of the sample before.
   False when out of memory. */
static bool set_event (perfscript_reader *self, pf_bytes name) {
  const perfscript_file *const file = self->parser.file;
  if (self->event_id != PF_NO_NAME && pf_bytes_equal(self->event_name, name))
    return true;
  self->event_name = name;
  self->event_id = pf_intern(self->reader.dictionary, name);
  self->event = 0;
  while (self->event < file->columns.count &&
         !pf_bytes_equal(file->events[self->event].name, name))
    self->event++;
  return self->event_id != PF_NO_NAME;
}


static bool put_names (perfscript_reader *self, pf_column *c, size_t row,
                       const perfscript_header *h) {
  uint32_t lane = 0;
  const bool has_lane = h->lane.size > 0;
  if ((has_lane && !set_lane(self, h, &lane)) ||
      (h->has_event && !set_event(self, h->event)))
    return false;
  const known_lane known =
      has_lane ? self->lanes[lane] : (known_lane){PF_NO_NAME, PF_NO_NAME};
  pf_put_id(&c[PERFSCRIPT_SAMPLES_thread], row, known.thread);
  pf_put_id(&c[PERFSCRIPT_SAMPLES_comm], row,
            h->comm.size > 0 ? known.comm : PF_NO_NAME);
  pf_put_id(&c[PERFSCRIPT_SAMPLES_event], row,
            h->has_event ? self->event_id : PF_NO_NAME);
  return true;
}


/* Puts the period into the column of its event, and 1 into that of its count.
 */
static void put_events (const perfscript_reader *self, pf_column *c, size_t row,
                        const perfscript_header *h) {
  const perfscript_file *const file = self->parser.file;
  for (size_t i = 0; i < file->columns.count; i++)
    pf_put_int(&c[i], row, h->period, h->has_period && self->event == i);
  for (size_t i = 0; i < file->ncounted; i++)
    pf_put_int(&c[file->columns.count + i], row, 1,
               h->has_event && self->event == i);
}


/* Reads the next sample, and its stack if it is wanted. */
static pf_status next_sample (perfscript_reader *self, perfscript_header *h,
                              uint32_t *stack, pf_error *error) {
  *stack = PF_NO_STACK;
  pf_status status = read_sample(self, h, error);
  if (status == PF_MORE && self->nchain == 0 && h->frame.size > 0)
    status = add_frame(self, h->frame, error);
  if (status == PF_MORE && self->wants_stack)
    status = set_stack(self, stack, error);
  return status;
}


static pf_status next_stack (pf_reader *reader, pf_sample *result,
                             pf_error *error) {
  perfscript_reader *const self = (perfscript_reader *)(void *)reader;
  perfscript_header h;
  uint32_t lane = 0;
  self->wants_stack = true;
  const pf_status status = next_sample(self, &h, &result->stack, error);
  if (status != PF_MORE)
    return status;
  if (self->parser.is_cut || !h.has_time || h.is_late)
    return PF_AGAIN;
  if (!set_lane(self, &h, &lane))
    return pf_no_memory(error);
  result->lane = self->lanes[lane].thread;
  result->time = h.time;
  if (__builtin_add_overflow(h.time, self->gap, &result->until))
    result->until = INT64_MAX;
  return PF_MORE;
}


static pf_status step_events (pf_reader *reader, pf_batch *batch,
                              pf_error *error) {
  return pf_sampled_step(((perfscript_reader *)(void *)reader)->calls, reader,
                         next_stack, batch, error);
}


static pf_status step_samples (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  perfscript_reader *const self = (perfscript_reader *)(void *)reader;
  pf_column *const c = batch->columns;
  perfscript_header h;
  uint32_t stack;
  self->wants_stack = c[PERFSCRIPT_SAMPLES_stack].data != NULL;
  const pf_status status = next_sample(self, &h, &stack, error);
  if (status != PF_MORE || self->parser.is_cut)
    return status;
  const size_t row = batch->rows++;
  pf_put_int(&c[PERFSCRIPT_SAMPLES_time], row, h.time,
             h.has_time && !h.is_late);
  pf_put_int(&c[PERFSCRIPT_SAMPLES_pid], row, h.pid, h.has_pid);
  pf_put_int(&c[PERFSCRIPT_SAMPLES_tid], row, h.tid, h.has_tid);
  pf_put_int(&c[PERFSCRIPT_SAMPLES_cpu], row, h.cpu, h.has_cpu);
  pf_put_int(&c[PERFSCRIPT_SAMPLES_period], row, h.period, h.has_period);
  pf_put_id(&c[PERFSCRIPT_SAMPLES_stack], row, stack);
  pf_put_addr(&c[PERFSCRIPT_SAMPLES_addr], row, self->addr, self->has_addr);
  pf_put_bytes(&c[PERFSCRIPT_SAMPLES_detail], row, h.detail, h.detail.size > 0);
  if (!put_names(self, c, row, &h))
    return pf_no_memory(error);
  put_events(self, &c[PERFSCRIPT_SAMPLES_COLUMNS], row, &h);
  return PF_MORE;
}


/* }====== */

static pf_status step_raw (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  perfscript_reader *const self = (perfscript_reader *)(void *)reader;
  const perfscript_line *const line = &self->line;
  const pf_status status = perfscript_next(&self->parser, &self->line, error);
  if (status != PF_MORE)
    return status;
  const bool has_feed = line->text.at[line->size - 1] == '\n';
  const pf_bytes text = {line->text.at, line->size - has_feed};
  return pf_put_raw(batch, line->at, line->size, self->kinds[line->kind], text);
}


PF_NEXT_BY_STEPS(next_samples, step_samples)
PF_NEXT_BY_STEPS(next_raw, step_raw)
PF_NEXT_BY_STEPS(next_events, step_events)


/* {====== Readers ====== */

static void close_reader (pf_reader *reader) {
  perfscript_reader *const self = (perfscript_reader *)(void *)reader;
  pf_text_ids_free(&self->frame_texts);
  pf_text_ids_free(&self->lane_texts);
  pf_stack_path_free(&self->path);
  free(self->frames);
  free(self->lanes);
  free(self->chain);
  pf_sampled_close(self->calls);
  free(reader);
}


pf_status perfscript_open_table (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error) {
  static pf_next *const nexts[] = {next_samples, next_raw, next_events};
  static const char *const kinds[] = {"comment", "sample", "frame", "source",
                                      "record",  "blank",  "rest"};
  perfscript_reader *const self = pf_reader_new(
      sizeof *self, trace, table, nexts[table - trace->tables], error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  self->parser = (perfscript_parser){.trace = trace, .file = trace->state};
  self->frame_texts.table.seed = self->lane_texts.table.seed =
      trace->dictionary->seed;
  self->event_id = PF_NO_NAME;
  self->gap = pf_option_int(trace, "gap", 10000000);
  self->calls = pf_sampled_new(trace->dictionary);
  pf_status status =
      self->calls == NULL
          ? pf_no_memory(error)
          : pf_intern_texts(trace->dictionary, kinds, PERFSCRIPT_KINDS,
                            self->kinds, error);
  if (status == PF_OK && nexts[table - trace->tables] == next_events)
    status = pf_warn(trace, PF_NOTE, "perfscript-timeline", PF_EFORMAT,
                     PF_NO_OFFSET, error, PF_SAMPLED_NOTE);
  return pf_reader_opened(&self->reader, status, reader);
}


/* }====== */
