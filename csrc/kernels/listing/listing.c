/*
** listing.c - functions that all listings share.
*/

#include "kernels/listing/row_fill.h"

#include <string.h>

#include "model/rows/batch.h"

#define NS_PER_SECOND 1e9


/* Whether a column of the places of functions is wanted. */
static bool wants_places (const pf_reader *reader, const pf_batch *batch) {
  static const char *const names[] = {"file", "line", "caller_file",
                                      "callee_file"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t at = pf_field_index(reader->fields, reader->nfields, names[i]);
    if (at < reader->nfields && batch->columns[at].data != NULL)
      return true;
  }
  return false;
}


/* Call `make` until the batch is full. The dictionary lacks memory when a name
   could not be demangled or added. */
static pf_status listing_next (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  listing_reader *self = (listing_reader *)reader;
  pf_batch_clear(batch);
  if (self->has_places && wants_places(reader, batch) &&
      pf_graph_locate(self->listing.flow->graph) != PF_OK)
    return pf_no_memory(error);
  while (batch->rows < PF_BATCH_ROWS && self->make(self, batch))
    batch->rows++;
  return reader->dictionary->lacks_memory ? pf_no_memory(error)
                                          : pf_batch_status(batch, PF_END);
}


/* Whether the metric that a flow shows is a time. */
static bool is_time (const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  if (graph->facts.compat)
    return graph->facts.is_seconds;
  return graph->nmetrics == 0 ||
         strcmp(graph->metrics[flow->metric].unit, "ns") == 0;
}


void *listing_new (size_t size, const pf_listing *listing,
                   const pf_field *fields, size_t nfields,
                   bool (*make)(listing_reader *self, pf_batch *batch),
                   pf_error *error) {
  listing_reader *const self =
      pf_reader_of(size, NULL, nfields, listing->flow->graph->dictionary,
                   listing_next, error);
  if (self == NULL)
    return NULL;
  self->listing = *listing;
  self->make = make;
  self->has_places = true;
  /* Text output formats a column as a time if its help ends with ", ns", so a
     metric that is no time must have another help. */
  static const char in_ns[] = ", ns";
  const pf_graph *const graph = listing->flow->graph;
  const bool has_metric = listing->flow->metric < graph->nmetrics;
  pf_help_of_weight(
      self->help, sizeof self->help, "in the unit of the metric",
      has_metric ? graph->metrics[listing->flow->metric].name : "",
      has_metric ? graph->metrics[listing->flow->metric].unit : "");
  for (size_t i = 0; i < nfields; i++) {
    const size_t length = strlen(fields[i].help);
    self->fields[i] = fields[i];
    if (!is_time(listing->flow) && length >= sizeof in_ns - 1 &&
        strcmp(fields[i].help + length - (sizeof in_ns - 1), in_ns) == 0)
      self->fields[i].help = self->help;
  }
  self->base.fields = self->fields;
  return self;
}


uint32_t listing_text (const pf_listing *listing, const char *text) {
  pf_dictionary *const dictionary = listing->flow->graph->dictionary;
  const uint32_t name = pf_intern_text(dictionary, text);
  dictionary->lacks_memory |= name == PF_NO_NAME;
  return name;
}


/* The node is tested first, because callers have it in the cache. */
uint32_t listing_name (const pf_listing *listing, size_t function) {
  const pf_graph *graph = listing->flow->graph;
  const uint32_t known = listing->flow->nodes[function].name;
  const uint32_t name = known != PF_NO_NAME ? known : graph->names[function];
  if (listing->shown == NULL || !graph->dictionary->has_mangled)
    return name;
  uint32_t *shown = &listing->shown[function];
  if (*shown == PF_NO_NAME)
    *shown = pf_demangle(graph->dictionary, name);
  return *shown == PF_NO_NAME ? name : *shown;
}


size_t listing_label (char *label, uint32_t index, bool has_entry) {
  char digits[12];
  size_t n = 0, size = 0;
  do
    digits[n++] = (char)('0' + index % 10);
  while ((index /= 10) != 0);
  label[size++] = has_entry ? '[' : '(';
  while (n > 0)
    label[size++] = digits[--n];
  label[size++] = has_entry ? ']' : ')';
  return size;
}


bool listing_whole (const pf_flow *flow, double time, int64_t *whole) {
  if (flow->graph->facts.compat)
    time = time / flow->per_second * (is_time(flow) ? NS_PER_SECOND : 1);
  if (!(fabs(time) < 9223372036854775807.0))
    return false;
  *whole = llround(time);
  return true;
}
