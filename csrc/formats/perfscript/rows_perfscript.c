/*
** rows_perfscript.c - the readers of the tables samples and raw.
**
** Lines of frames repeat: each distinct one is parsed once, as is each distinct
** thread. The frames of a sample are collected, and pushed from the outermost
** one on when the sample ends; those that the sample before has too need no
** look-up.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`;
** that frees the reader and its arrays. Values of PF_BYTES are borrowed from
** the source.
*/

#include "formats/perfscript/perfscript.h"

#include <stdio.h>

#include "model/base/memory.h"

/* The names that a text stands for. */
typedef struct text_entry {
  pf_bytes text; /* borrowed from the file */
  uint32_t name; /* of a frame; of a lane: comm */
  uint32_t file; /* the module; of a lane: the thread */
  uint32_t area; /* PF_NO_AREA: the frame has no module of its own */
} text_entry;

/* Entries by their texts. */
typedef struct text_entries {
  pf_intern_table table;
  text_entry *entries;
  size_t capacity;
} text_entries;

/* A frame of the sample before, the outermost first. */
typedef struct path_frame {
  uint32_t entry, stack;
} path_frame;

typedef struct perfscript_reader {
  pf_reader reader;
  perfscript_parser parser;
  perfscript_line line;
  bool has_line;       /* `line` begins the next sample */
  size_t event;        /* index of the last one */
  pf_bytes event_name; /* and its name, with the id */
  uint32_t event_id;
  text_entries frames, lanes;
  uint32_t *chain; /* entries of the sample, the innermost first */
  size_t nchain, chain_capacity;
  path_frame *path;
  size_t npath, path_capacity;
  bool wants_stack; /* else the first frame is enough */
  bool has_addr;
  uint64_t addr;                    /* of the innermost frame */
  uint32_t kinds[PERFSCRIPT_KINDS]; /* names of table raw */
  pf_sampled *calls;                /* of table events; */
  int64_t gap;                      /* how long a stack lasts at most */
  bool is_over;
} perfscript_reader;


/* {====== Distinct texts ====== */

typedef struct text_key {
  const text_entry *entries;
  pf_bytes text;
} text_key;


static bool is_same_text (const void *context, uint32_t number) {
  const text_key *const key = context;
  return pf_bytes_equal(key->entries[number].text, key->text);
}


/* Sets *id to the entry of a text, and *is_new if it was added: the caller then
   sets what it stands for. False when out of memory. */
static bool find_text (text_entries *of, pf_bytes text, uint32_t *id,
                       bool *is_new) {
  const text_key key = {of->entries, text};
  const uint64_t hash =
      pf_mix(pf_mix_bytes(of->table.seed, text.at, text.size), text.size);
  *id = pf_intern_table_find(&of->table, hash, is_same_text, &key);
  *is_new = *id == PF_NOT_INTERNED;
  if (!*is_new)
    return true;
  if (!pf_grow(&of->entries, &of->capacity, (size_t)of->table.count + 1) ||
      !pf_intern_table_reserve(&of->table))
    return false;
  *id = pf_intern_table_add(&of->table, hash);
  of->entries[*id] = (text_entry){text, PF_NO_NAME, PF_NO_NAME, PF_NO_AREA};
  return true;
}


/* }====== */

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


/* Parses a frame that is seen for the first time. */
static bool set_frame (perfscript_reader *self, text_entry *entry) {
  pf_dictionary *const dictionary = self->reader.dictionary;
  perfscript_frame frame;
  (void)perfscript_parse_frame(entry->text, &frame);
  entry->name = name_of(dictionary, &frame);
  if (entry->name == PF_NO_NAME || frame.module.size == 0)
    return entry->name != PF_NO_NAME;
  entry->file = pf_intern(dictionary, frame.module);
  if (entry->file == PF_NO_NAME)
    return false;
  entry->area = area_of(self, entry->name, entry->file);
  return entry->area != PF_NO_AREA;
}


/* Adds a frame, which is outside of those before, to the sample. */
static pf_status add_frame (perfscript_reader *self, pf_bytes text,
                            pf_error *error) {
  uint32_t id;
  bool is_new;
  text = pf_trim(text);
  if (!find_text(&self->frames, text, &id, &is_new) ||
      !pf_grow(&self->chain, &self->chain_capacity, self->nchain + 1) ||
      (is_new && !set_frame(self, &self->frames.entries[id])))
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
  const size_t depth = self->nchain;
  uint32_t module = PF_NO_NAME;
  bool is_same = true;
  *stack = PF_NO_STACK;
  if (!pf_grow(&self->path, &self->path_capacity, depth))
    return pf_no_memory(error);
  for (size_t i = 0; i < depth; i++) {
    const uint32_t id = self->chain[depth - 1 - i];
    const text_entry *const entry = &self->frames.entries[id];
    path_frame *const at = &self->path[i];
    if (entry->area != PF_NO_AREA)
      module = entry->file;
    is_same = is_same && i < self->npath && at->entry == id;
    if (!is_same) {
      const uint32_t area = entry->area != PF_NO_AREA
                                ? entry->area
                                : area_of(self, entry->name, module);
      at->entry = id;
      at->stack = area == PF_NO_AREA
                      ? PF_NO_STACK
                      : pf_stack_push(self->reader.dictionary, *stack, area);
      self->npath = i;
      if (at->stack == PF_NO_STACK)
        return pf_no_memory(error);
    }
    *stack = at->stack;
  }
  self->npath = is_same && self->npath > depth ? self->npath : depth;
  return PF_OK;
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
  char number[24];
  if (!find_text(&self->lanes, h->lane, id, &is_new))
    return false;
  if (!is_new)
    return true;
  text_entry *const entry = &self->lanes.entries[*id];
  const size_t comm = h->comm.size < 200 ? h->comm.size : 200;
  uint8_t name[256];
  const int size =
      h->has_tid ? snprintf(number, sizeof number, " %lld", (long long)h->tid)
                 : 0;
  if (comm > 0)
    memcpy(name, h->comm.at, comm);
  memcpy(name + comm, number, (size_t)size);
  const size_t skipped = comm == 0 && size > 0; /* the blank */
  entry->name = pf_intern(dictionary, h->comm);
  entry->file = pf_intern(
      dictionary, (pf_bytes){name + skipped, comm + (size_t)size - skipped});
  return entry->name != PF_NO_NAME && entry->file != PF_NO_NAME;
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
  while (self->event < file->nevents &&
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
  const text_entry none = {{NULL, 0}, PF_NO_NAME, PF_NO_NAME, 0};
  const text_entry *const entry = has_lane ? &self->lanes.entries[lane] : &none;
  pf_put_id(&c[PERFSCRIPT_SAMPLES_thread], row, entry->file);
  pf_put_id(&c[PERFSCRIPT_SAMPLES_comm], row,
            h->comm.size > 0 ? entry->name : PF_NO_NAME);
  pf_put_id(&c[PERFSCRIPT_SAMPLES_event], row,
            h->has_event ? self->event_id : PF_NO_NAME);
  return true;
}


/* Puts the period into the column of its event, and 1 into that of its count.
 */
static void put_events (const perfscript_reader *self, pf_column *c, size_t row,
                        const perfscript_header *h) {
  const perfscript_file *const file = self->parser.file;
  for (size_t i = 0; i < file->nevents; i++)
    pf_put_int(&c[i], row, h->period, h->has_period && self->event == i);
  for (size_t i = 0; i < file->ncounted; i++)
    pf_put_int(&c[file->nevents + i], row, 1, h->has_event && self->event == i);
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


static pf_status step_events (pf_reader *reader, pf_batch *batch,
                              pf_error *error) {
  perfscript_reader *const self = (perfscript_reader *)(void *)reader;
  perfscript_header h;
  uint32_t stack, lane = 0;
  int64_t until;
  if (pf_sampled_row(self->calls, batch))
    return PF_MORE;
  if (self->is_over)
    return PF_END;
  self->wants_stack = true;
  const pf_status status = next_sample(self, &h, &stack, error);
  if (status < 0)
    return status;
  self->is_over = status == PF_END;
  if (self->is_over)
    return pf_sampled_end(self->calls) ? PF_MORE : pf_no_memory(error);
  if (self->parser.is_cut || !h.has_time || h.is_late)
    return PF_MORE;
  if (!set_lane(self, &h, &lane))
    return pf_no_memory(error);
  if (__builtin_add_overflow(h.time, self->gap, &until))
    until = INT64_MAX;
  return pf_sampled_put(self->calls, self->lanes.entries[lane].file, h.time,
                        stack, until)
             ? PF_MORE
             : pf_no_memory(error);
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
  pf_column *const c = batch->columns;
  const pf_status status = perfscript_next(&self->parser, &self->line, error);
  if (status != PF_MORE)
    return status;
  const size_t row = batch->rows++;
  const bool has_feed = line->text.at[line->size - 1] == '\n';
  const pf_bytes text = {line->text.at, line->size - has_feed};
  pf_put_int(&c[PERFSCRIPT_RAW_offset], row, (int64_t)line->at, true);
  pf_put_int(&c[PERFSCRIPT_RAW_size], row, (int64_t)line->size, true);
  pf_put_id(&c[PERFSCRIPT_RAW_kind], row, self->kinds[line->kind]);
  pf_put_bytes(&c[PERFSCRIPT_RAW_text], row, text, true);
  return PF_MORE;
}


PF_NEXT_BY_STEPS(next_samples, step_samples)
PF_NEXT_BY_STEPS(next_raw, step_raw)
PF_NEXT_BY_STEPS(next_events, step_events)


/* {====== Readers ====== */

static void close_reader (pf_reader *reader) {
  perfscript_reader *const self = (perfscript_reader *)(void *)reader;
  pf_intern_table_free(&self->frames.table);
  pf_intern_table_free(&self->lanes.table);
  free(self->frames.entries);
  free(self->lanes.entries);
  free(self->chain);
  free(self->path);
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
  self->frames.table.seed = self->lanes.table.seed = trace->dictionary->seed;
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
