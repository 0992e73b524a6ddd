/*
** unfilter_columns.c - the columns of the readers of unfilter: creates the
** readers, and writes output rows.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/xpp/operations/unfilter.h"
#include "formats/xpp/operations/unfilter_state.h"

/* {====== Output rows ====== */

uint32_t xpp_unfilter_flags (const unfilter *self, size_t row) {
  if (self->at.flags >= self->in.ncolumns)
    return self->flag_names[0];
  const pf_column *const flags = &self->in.columns[self->at.flags];
  return pf_is_missing(flags, row) ? self->flag_names[0] : flags->ids[row];
}


static pf_column *wanted (pf_batch *out, size_t column) {
  if (column >= out->ncolumns || out->columns[column].data == NULL)
    return NULL;
  return &out->columns[column];
}


static void put_int (pf_batch *out, size_t column, size_t row, bool known,
                     int64_t value) {
  pf_column *const to = wanted(out, column);
  if (to == NULL)
    return;
  to->ints[row] = known ? value : 0;
  if (!known)
    pf_set_missing(to, row);
}


static void put_name (pf_batch *out, size_t column, size_t row, uint32_t name) {
  pf_column *const to = wanted(out, column);
  if (to == NULL)
    return;
  to->ids[row] = name == PF_NO_NAME ? 0 : name;
  if (name == PF_NO_NAME)
    pf_set_missing(to, row);
}


/* Copy a value from row `from` of a column of the input, or set it missing. */
static void copy_value (pf_column *to, size_t row, const pf_column *source,
                        size_t from) {
  const size_t size = pf_type_size(to->type);
  uint8_t *const place = (uint8_t *)to->data + row * size;
  if (from == NO_ROW || pf_is_missing(source, from)) {
    memset(place, 0, size);
    pf_set_missing(to, row);
  }
  else
    memcpy(place, (const uint8_t *)source->data + from * size, size);
}


/* Copy the columns of the input other than flags from row `from`, or set those
   missing that xpp_unfilter_put does not fill. */
static void copy_row (const unfilter *self, pf_batch *out, size_t row,
                      size_t from) {
  const out_columns *const our = &self->to;
  for (size_t i = 0; i < self->copied; i++) {
    pf_column *const to = wanted(out, i);
    const bool is_filled = from == NO_ROW && (i == our->thread ||
                                              i == our->time || i == our->call);
    if (to != NULL && i != our->flags && !is_filled)
      copy_value(to, row, &self->in.columns[i], from);
  }
}


/* The ns between the codes of each complete pair. False when there is none. */
static bool overhead_of (const xpp_open_call *frame, int64_t *overhead) {
  const bool *const seen = frame->seen;
  const int64_t *const time = frame->time;
  uint64_t sum = 0;
  if (seen[XPP_CALLING] && seen[XPP_ENTERED])
    sum += (uint64_t)time[XPP_ENTERED] - (uint64_t)time[XPP_CALLING];
  if (seen[XPP_RETURNING] && seen[XPP_RETURNED])
    sum += (uint64_t)time[XPP_RETURNED] - (uint64_t)time[XPP_RETURNING];
  *overhead = (int64_t)sum;
  return (seen[XPP_CALLING] && seen[XPP_ENTERED]) ||
         (seen[XPP_RETURNING] && seen[XPP_RETURNED]);
}


/* Write overhead and compiled of a leave. */
static void put_call (const unfilter *self, pf_batch *out, size_t row,
                      const out_row *l) {
  int64_t overhead = 0;
  const xpp_open_call *const frame = l->frame;
  const bool known = frame != NULL && overhead_of(frame, &overhead);
  const bool spoke =
      frame != NULL && (frame->seen[XPP_ENTERED] || frame->seen[XPP_RETURNING]);
  pf_column *const compiled = wanted(out, self->to.compiled);
  put_int(out, self->to.overhead, row, known, overhead);
  if (compiled == NULL)
    return;
  compiled->bools[row] = spoke;
  if (frame == NULL)
    pf_set_missing(compiled, row);
}


/* The flags of an event as kernels/calls defines them: `gap` there ends all
   open calls before the event, so only the first event after a gap has it. */
static uint32_t event_flags (unfilter *self, const out_row *l) {
  unsigned flags = l->flags & ~(unsigned)XPP_FLAG_GAP;
  if (l->flags == XPP_FLAG_GAP)
    flags = XPP_FLAG_UNWOUND;
  if (l->event == self->enter && self->frames.slots[l->slot].is_holder)
    flags |= XPP_FLAG_LOST;
  if (self->has_gap)
    flags |= XPP_FLAG_GAP;
  self->has_gap = false;
  return self->flag_names[flags];
}


/* The flags of an entry: ours merged with those of the row. */
static uint32_t entry_flags (const unfilter *self, const out_row *l) {
  const uint32_t ours = self->flag_names[l->flags];
  const uint32_t none = self->flag_names[0];
  const uint32_t given =
      l->row == NO_ROW ? none : xpp_unfilter_flags(self, l->row);
  if (given == none || ours == none)
    return given == none ? ours : given;
  return xpp_flags_merge(self->reader.dictionary, given, ours);
}


static bool put_flags (unfilter *self, pf_batch *out, size_t row,
                       const out_row *l) {
  const uint32_t name =
      self->copied == 0 ? event_flags(self, l) : entry_flags(self, l);
  put_name(out, self->to.flags, row,
           name == self->flag_names[0] ? PF_NO_NAME : name);
  return name != PF_NO_NAME;
}


/* The time of the row on the clock of its thread, which stops while the thread
   waits and never goes back. */
static int64_t clock_of (const unfilter *self, const out_row *l) {
  xpp_call_stack *const lane = l->lane;
  if (self->frames.nidle == 0)
    return l->time;
  const int64_t time = l->time - lane->idle;
  lane->shown = time > lane->shown ? time : lane->shown;
  return lane->shown;
}


/* Copy line and params from row `from`, or set them missing. */
static void put_details (const unfilter *self, pf_batch *out, size_t row,
                         size_t from) {
  const size_t columns[2][2] = {{self->to.line, self->lines},
                                {self->to.params, self->params}};
  for (size_t i = 0; self->has_details && i < 2; i++) {
    pf_column *const to = wanted(out, columns[i][0]);
    if (to != NULL)
      copy_value(to, row, &self->in.columns[columns[i][1]], from);
  }
}


pf_status xpp_unfilter_put (unfilter *self, pf_batch *out, const out_row *l,
                            pf_error *error) {
  const size_t row = out->rows++;
  const out_columns *const to = &self->to;
  copy_row(self, out, row, l->row);
  if (l->row == NO_ROW || self->copied == 0) {
    put_int(out, to->thread, row, l->lane->has_thread, l->lane->thread);
    put_int(out, to->time, row, true, clock_of(self, l));
    put_name(out, to->call, row, self->frames.slots[l->slot].name);
  }
  put_name(out, to->event, row, l->event);
  put_call(self, out, row, l);
  put_name(out, to->area, row, l->area);
  put_details(self, out, row, l->row);
  if (put_flags(self, out, row, l))
    return PF_OK;
  return pf_no_memory(error);
}

/* }====== */


/* {====== Opening ====== */

/* Intern the names that are written. */
static bool intern_words (unfilter *self, pf_dictionary *dictionary) {
  self->enter = pf_intern_text(dictionary, "enter");
  self->leave = pf_intern_text(dictionary, "leave");
  return self->enter != PF_NO_NAME && self->leave != PF_NO_NAME &&
         xpp_flag_names(dictionary, self->flag_names);
}


/* Create a reader with memory for `more` fields in addition to those of the
   input; NULL with a message in `error`. */
static unfilter *new_reader (pf_reader *input, size_t more, pf_error *error) {
  xpp_entry_columns at;
  if (xpp_entry_columns_of(input, &at, error) != PF_OK)
    return NULL;
  unfilter *const self =
      calloc(1, sizeof *self + (input->nfields + more) * sizeof(pf_field));
  if (self != NULL) {
    self->reader = (pf_reader){.fields = self->fields,
                               .dictionary = input->dictionary,
                               .next = xpp_unfilter_next,
                               .close = xpp_unfilter_close};
    self->input = input;
    self->at = at;
    self->line = self->lines = self->params = NO_COLUMN;
    self->to.line = self->to.params = NO_COLUMN;
    if (xpp_frames_open(&self->frames, input->dictionary) == PF_OK &&
        intern_words(self, input->dictionary))
      return self;
    xpp_unfilter_close(&self->reader);
  }
  pf_no_memory(error);
  return NULL;
}


/* Append a field. Returns its index. */
static size_t add_field (unfilter *self, const char *name, pf_type type,
                         const char *help) {
  self->fields[self->reader.nfields] = (pf_field){name, type, help};
  return self->reader.nfields++;
}


static const char flags_help[] = "gap, open, orphan, unwound";
static const char event_help[] = "enter or leave";


/* Add the fields of the input, then our own. */
static void add_entry_fields (unfilter *self) {
  const pf_reader *const input = self->input;
  out_columns *const to = &self->to;
  for (size_t i = 0; i < input->nfields; i++)
    self->fields[i] = input->fields[i];
  self->reader.nfields = self->copied = input->nfields;
  to->thread = self->at.thread < input->nfields ? self->at.thread : NO_COLUMN;
  to->time = self->at.time < input->nfields ? self->at.time : NO_COLUMN;
  to->call = self->at.call;
  to->area = NO_COLUMN;
  to->flags = self->at.flags < input->nfields
                  ? self->at.flags
                  : add_field(self, "flags", PF_NAME, flags_help);
  to->event = add_field(self, "event", PF_NAME, event_help);
  to->overhead =
      add_field(self, "overhead", PF_INT, "ns of the call itself, at its end");
  to->compiled = add_field(self, "compiled", PF_BOOL,
                           "the function was compiled with /profile, at its "
                           "end");
}


static void add_event_fields (unfilter *self) {
  out_columns *const to = &self->to;
  to->call = to->overhead = to->compiled = NO_COLUMN;
  to->time = add_field(self, "time", PF_INT, "ns since the trace began");
  to->event = add_field(self, "event", PF_NAME, event_help);
  to->area = add_field(self, "area", PF_AREA, "the function");
  to->thread = add_field(self, "lane", PF_INT, "the thread");
  to->flags = add_field(self, "flags", PF_NAME, flags_help);
  if (self->lines != NO_COLUMN)
    to->line = add_field(self, "line", PF_INT, "line of the entry");
  if (self->params != NO_COLUMN)
    to->params =
        add_field(self, "params", PF_BYTES, "parameters with their values");
}


/* The index of a column with a name and a type, or NO_COLUMN. */
static size_t column_named (const pf_reader *input, const char *name,
                            pf_type type) {
  const size_t i = pf_field_index(input->fields, input->nfields, name);
  return i < input->nfields && input->fields[i].type == type ? i : NO_COLUMN;
}


pf_status xpp_unfilter_open (pf_reader *input, pf_reader **reader,
                             pf_error *error) {
  static const char *const ours[] = {"event", "overhead", "compiled"};
  for (size_t i = 0; i < 3; i++)
    if (pf_field_index(input->fields, input->nfields, ours[i]) < input->nfields)
      return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                     "there is a column \"%s\" already", ours[i]);
  unfilter *const self = new_reader(input, 4, error);
  if (self == NULL)
    return error->status;
  add_entry_fields(self);
  *reader = &self->reader;
  return PF_OK;
}


/* Copy the names of functions in which threads wait. */
static bool keep_idle (unfilter *self, const xpp_unfilter_options *options) {
  size_t size = 0;
  for (size_t i = 0; i < options->nidle; i++)
    size += options->idle[i].size;
  self->idle = malloc(options->nidle * sizeof *self->idle + size + 1);
  if (self->idle == NULL)
    return false;
  uint8_t *bytes = (uint8_t *)(self->idle + options->nidle);
  for (size_t i = 0; i < options->nidle; i++) {
    const pf_bytes name = options->idle[i];
    memcpy(bytes, name.at, name.size);
    self->idle[i] = (pf_bytes){bytes, name.size};
    bytes += name.size;
  }
  self->frames.idle = self->idle;
  self->frames.nidle = options->nidle;
  return true;
}


pf_status xpp_unfilter_events (pf_reader *input,
                               const xpp_unfilter_options *options,
                               pf_reader **reader, pf_error *error) {
  unfilter *const self = new_reader(input, 7, error);
  if (self == NULL)
    return error->status;
  if (!keep_idle(self, options)) {
    xpp_unfilter_close(&self->reader);
    return pf_no_memory(error);
  }
  if (options->by_line)
    self->line = column_named(input, "line", PF_INT);
  if (options->details) {
    self->lines = column_named(input, "line", PF_INT);
    self->params = column_named(input, "params", PF_BYTES);
  }
  add_event_fields(self);
  *reader = &self->reader;
  return PF_OK;
}

/* }====== */
