/*
** unfilter_columns.c - the columns of the readers of unfilter: creates the
** readers, and writes output rows.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/xpp/operations/unfilter.h"
#include "formats/xpp/operations/unfilter_state.h"
#include "model/rows/put_values.h"

/* A column of the output, which may have no memory. */
static pf_column *column_of (const pf_batch *out, size_t column) {
  static pf_column none;
  return column < out->ncolumns ? &out->columns[column] : &none;
}


/* Copy a value from row `from` of a column of the input, or set it missing. */
static void copy_value (pf_column *to, size_t row, const pf_column *source,
                        size_t from) {
  if (to->data == NULL)
    return;
  if (from == NO_ROW || pf_is_missing(source, from)) {
    pf_put_none(to, row, 1);
    return;
  }
  const size_t size = pf_type_size(to->type);
  memcpy((uint8_t *)to->data + row * size,
         (const uint8_t *)source->data + from * size, size);
}


/* Write overhead and compiled of a leave. The overhead is the ns between the
   codes of each complete pair. */
static void put_call (const unfilter *self, const pf_batch *out, size_t row,
                      const xpp_open_call *frame) {
  static const xpp_open_call none;
  const xpp_open_call *const call = frame == NULL ? &none : frame;
  const bool *const seen = call->seen;
  const int64_t *const time = call->time;
  const bool has_enter = seen[XPP_CALLING] && seen[XPP_ENTERED];
  const bool has_leave = seen[XPP_RETURNING] && seen[XPP_RETURNED];
  uint64_t sum = 0;
  if (has_enter)
    sum += (uint64_t)time[XPP_ENTERED] - (uint64_t)time[XPP_CALLING];
  if (has_leave)
    sum += (uint64_t)time[XPP_RETURNED] - (uint64_t)time[XPP_RETURNING];
  pf_put_int(column_of(out, self->to.overhead), row, (int64_t)sum,
             has_enter || has_leave);
  pf_put_bool(column_of(out, self->to.compiled), row,
              seen[XPP_ENTERED] || seen[XPP_RETURNING], frame != NULL);
}


/* The flags of a row as a name; PF_NO_NAME when out of memory. `gap` of an
   event ends all open calls before it (kernels/calls), so only the first event
   after a gap has it. The flags of an entry are merged with those of its
   row. */
static uint32_t flags_of (unfilter *self, const out_row *l) {
  const uint32_t none = self->flag_names[0];
  if (self->copied > 0) {
    const uint32_t ours = self->flag_names[l->flags];
    const bool has_flags =
        l->row != NO_ROW && pf_has_value(&self->in, self->at.flags, l->row);
    const uint32_t given =
        has_flags ? self->in.columns[self->at.flags].ids[l->row] : none;
    if (given == none || ours == none)
      return given == none ? ours : given;
    return xpp_flags_merge(self->reader.dictionary, given, ours);
  }
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


pf_status xpp_unfilter_put (unfilter *self, pf_batch *out, const out_row *l,
                            pf_error *error) {
  const size_t row = out->rows++;
  const out_columns *const to = &self->to;
  xpp_call_stack *const lane = l->lane;
  const bool is_ours = l->row == NO_ROW || self->copied == 0;
  for (size_t i = 0; i < self->copied; i++)
    if (i != to->flags &&
        !(is_ours && (i == to->thread || i == to->time || i == to->call)))
      copy_value(column_of(out, i), row, &self->in.columns[i], l->row);
  if (is_ours) {
    int64_t time = l->time;
    if (self->frames.nidle > 0) {
      /* the clock of the thread stops while it waits, and never goes back */
      const int64_t shown = time - lane->idle;
      time = lane->shown = shown > lane->shown ? shown : lane->shown;
    }
    pf_put_int(column_of(out, to->thread), row, lane->thread, lane->has_thread);
    pf_put_int(column_of(out, to->time), row, time, true);
    pf_put_id(column_of(out, to->call), row, self->frames.slots[l->slot].name);
  }
  pf_put_id(column_of(out, to->event), row, l->event);
  put_call(self, out, row, l->frame);
  pf_put_id(column_of(out, to->area), row, l->area);
  if (self->has_details) {
    copy_value(column_of(out, to->line), row, column_of(&self->in, self->line),
               l->row);
    copy_value(column_of(out, to->params), row,
               column_of(&self->in, self->params), l->row);
  }
  const uint32_t flags = flags_of(self, l);
  pf_put_id(column_of(out, to->flags), row,
            flags == self->flag_names[0] ? PF_NO_NAME : flags);
  if (flags == PF_NO_NAME)
    return pf_no_memory(error);
  return PF_OK;
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
    self->kept = NO_BREAK;
    self->to.line = self->to.params = NO_COLUMN;
    self->enter = pf_intern_text(input->dictionary, "enter");
    self->leave = pf_intern_text(input->dictionary, "leave");
    if (xpp_frames_open(&self->frames, input->dictionary, error) == PF_OK &&
        self->enter != PF_NO_NAME && self->leave != PF_NO_NAME &&
        xpp_flag_names(input->dictionary, self->flag_names))
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


pf_status xpp_unfilter_open (pf_reader *input, xpp_line_ranges *ranges,
                             pf_reader **reader, pf_error *error) {
  static const char *const ours[] = {"event", "overhead", "compiled"};
  for (size_t i = 0; i < 3; i++)
    if (pf_field_index(input->fields, input->nfields, ours[i]) < input->nfields)
      return pf_refuse(error, "there is a column \"%s\" already", ours[i]);
  unfilter *const self = new_reader(input, 4, error);
  if (self == NULL)
    return error->status;
  self->frames.ranges = ranges;
  for (size_t i = 0; i < input->nfields; i++)
    self->fields[i] = input->fields[i];
  self->reader.nfields = self->copied = input->nfields;
  out_columns *const to = &self->to;
  to->thread = self->at.thread;
  to->time = self->at.time;
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
  out_columns *const to = &self->to;
  self->frames.ranges = options->ranges;
  self->line = self->at.line;
  self->params = xpp_entry_column(input, "params", PF_BYTES);
  self->by_line = options->by_line && self->line != NO_COLUMN;
  to->call = to->overhead = to->compiled = NO_COLUMN;
  to->time = add_field(self, "time", PF_INT, "ns since the trace began");
  to->event = add_field(self, "event", PF_NAME, event_help);
  to->area = add_field(self, "area", PF_AREA, "the function");
  to->thread = add_field(self, "lane", PF_INT, "the thread");
  to->flags = add_field(self, "flags", PF_NAME, flags_help);
  if (options->details && self->line != NO_COLUMN)
    to->line = add_field(self, "line", PF_INT, "line of the entry");
  if (options->details && self->params != NO_COLUMN)
    to->params =
        add_field(self, "params", PF_BYTES, "parameters with their values");
  *reader = &self->reader;
  return PF_OK;
}
