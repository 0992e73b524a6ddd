/*
** unfilter_open.c - creates unfilter readers and their columns.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/operations/unfilter.h"
#include "kernels/operations/unfilter_put.h"

/* Intern the names that are written. */
static bool intern_words (unfilter *self, pf_dictionary *dictionary) {
  self->enter = pf_intern_text(dictionary, "enter");
  self->leave = pf_intern_text(dictionary, "leave");
  return self->enter != PF_NO_NAME && self->leave != PF_NO_NAME &&
         pf_flag_names(dictionary, self->flag_names);
}


/* Create a reader with memory for `more` fields in addition to those of the
   input; NULL with a message in `error`. */
static unfilter *new_reader (pf_reader *input, size_t more, pf_error *error) {
  pf_entry_columns at;
  if (pf_entry_columns_of(input, &at, error) != PF_OK)
    return NULL;
  unfilter *const self =
      calloc(1, sizeof *self + (input->nfields + more) * sizeof(pf_field));
  if (self != NULL) {
    self->reader = (pf_reader){.fields = self->fields,
                               .dictionary = input->dictionary,
                               .next = pf_unfilter_next,
                               .close = pf_unfilter_close};
    self->input = input;
    self->at = at;
    self->line = self->lines = self->params = NO_COLUMN;
    self->to.line = self->to.params = NO_COLUMN;
    if (pf_frames_open(&self->frames, input->dictionary) == PF_OK &&
        intern_words(self, input->dictionary))
      return self;
    pf_unfilter_close(&self->reader);
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


pf_status pf_unfilter_open (pf_reader *input, pf_reader **reader,
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
static bool keep_idle (unfilter *self, const pf_unfilter_options *options) {
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


pf_status pf_unfilter_events (pf_reader *input,
                              const pf_unfilter_options *options,
                              pf_reader **reader, pf_error *error) {
  unfilter *const self = new_reader(input, 7, error);
  if (self == NULL)
    return error->status;
  if (!keep_idle(self, options)) {
    pf_unfilter_close(&self->reader);
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
