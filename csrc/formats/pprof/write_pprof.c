/*
** write_pprof.c - writes contexts as a profile: sample types, attributes,
** samples, mapping, locations, functions, and at last the strings in use.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pprof/write_pprof.h"
#include "model/contexts/tree_order.h"
#include "model/base/gzip.h"
#include "model/base/memory.h"


typedef struct profile {
  const pf_contexts *contexts;
  const pf_dictionary *dictionary;
  pf_sink *sink;
  pprof_strings strings;
  size_t *metrics;          /* in output order */
  uint8_t *values;          /* scratch: values of a sample */
  uint32_t *ranks, *sorted; /* rank by area, area by rank */
  uint32_t *ids;            /* by rank: location id; 0: not used */
  uint32_t nframes;
  uint32_t *functions; /* by rank: function id; 0: an address */
  uint32_t *order;     /* nodes in output order, and their depths */
  uint32_t *depths;
  uint32_t deepest;
  uint8_t *path;  /* location ids of a sample as written, the outermost last,
                     at the end of the array */
  size_t *starts; /* by depth: offset of the ids in `path` */
  uint64_t (*labels)[4]; /* labels of the current path, as their fields */
  uint32_t nlabels;
} profile;


static pprof_value_type type_of (profile *p, size_t index) {
  const pf_context_metric *const metric =
      &p->contexts->metrics[p->metrics[index]];
  const uint32_t name = pf_intern_text(p->strings.dictionary, metric->name);
  const uint32_t unit = pf_intern_text(
      p->strings.dictionary,
      strcmp(metric->unit, "ns") == 0 ? "nanoseconds" : metric->unit);
  p->strings.failed |= name == PF_NO_NAME || unit == PF_NO_NAME;
  return (pprof_value_type){name, unit};
}


/* Order the metrics. If no file states a default, "time" comes last, because
   pprof shows the last one. */
static void order_metrics (profile *p) {
  const pf_contexts *const c = p->contexts;
  const size_t last = c->default_metric == PF_NO_METRIC
                          ? pf_metric_named(c, "time")
                          : PF_NO_METRIC;
  size_t n = 0;
  for (size_t m = 0; m < c->nmetrics; m++)
    if (m != last)
      p->metrics[n++] = m;
  if (last != PF_NO_METRIC)
    p->metrics[n++] = last;
}


static bool is_label (const profile *p, const pf_area *area) {
  static const char file[] = PF_LABEL_FILE;
  const pf_bytes name = pf_name(p->dictionary, area->file);
  return name.size == sizeof file - 1 && memcmp(name.at, file, name.size) == 0;
}


/* Updates the labels of the path for a node at a depth. */
static void note_label (profile *p, uint32_t node, uint32_t depth) {
  const pf_area *const area =
      pf_area_at(p->dictionary, p->contexts->frames[node]);
  if (depth - 1 > p->nlabels)
    return;
  p->nlabels = depth - 1;
  if (area->file == PF_NO_NAME || !is_label(p, area))
    return;
  const pf_bytes name = pf_name(p->dictionary, area->name);
  const uint8_t *const sign = memchr(name.at, '=', name.size);
  if (sign == NULL)
    return;
  const size_t size = (size_t)(sign - name.at);
  pf_dictionary *const d = p->strings.dictionary;
  const uint32_t key = pf_intern(d, (pf_bytes){name.at, size});
  const uint32_t text =
      pf_intern(d, (pf_bytes){sign + 1, name.size - size - 1});
  p->strings.failed |= key == PF_NO_NAME || text == PF_NO_NAME;
  uint64_t *const fields = p->labels[p->nlabels++];
  fields[0] = pprof_string_index(&p->strings, key);
  fields[1] = pprof_string_index(&p->strings, text);
}


/* Put the id of a node before that of its caller into `path`. If the node has
   weights, write its sample. */
static void put_context (profile *p, uint32_t node, uint32_t depth) {
  if (depth > 0) {
    note_label(p, node, depth);
    const uint64_t id = p->ids[p->ranks[p->contexts->frames[node]]];
    p->starts[depth] = p->starts[depth - 1] - pprof_varint_size(id);
    pf_save_varint(p->path + p->starts[depth], id);
  }
  if (!pf_context_has_weight(p->contexts, node, PF_NO_METRIC))
    return;
  const size_t from = p->starts[depth];
  uint8_t *to = p->values;
  for (size_t m = 0; m < p->contexts->nmetrics; m++)
    to =
        pf_save_varint(to, (uint64_t)p->contexts->weights[p->metrics[m]][node]);
  size_t rest = 0;
  for (uint32_t i = 0; i < p->nlabels; i++) {
    const size_t size = pprof_numbers_size(p->labels[i], 4);
    rest += 1 + pprof_varint_size(size) + size;
  }
  pprof_put_sample(p->sink, (pf_bytes){p->path + from, p->starts[0] - from},
                   (pf_bytes){p->values, (size_t)(to - p->values)}, rest);
  for (uint32_t i = 0; i < p->nlabels; i++)
    pprof_put_numbers(p->sink, 3, p->labels[i], 4);
}


/* Whether a frame is an address without a known name, "0x4010". */
static bool is_address (const profile *p, const pf_area *area,
                        uint64_t *address) {
  const pf_bytes name = pf_name(p->dictionary, area->name);
  char text[24];
  if (area->file != PF_NO_NAME || area->line != 0 || name.size < 3 ||
      memcmp(name.at, "0x", 2) != 0)
    return false;
  *address = strtoull((const char *)name.at, NULL, 16);
  const int size =
      snprintf(text, sizeof text, "0x%llx", (unsigned long long)*address);
  return name.size == (size_t)size && memcmp(name.at, text, name.size) == 0;
}


/* Write the locations: one line of a function, or an address. */
static void put_locations (const profile *p, bool has_mapping) {
  for (uint32_t i = 0; i < p->nframes; i++) {
    if (p->ids[i] == 0)
      continue;
    const pf_area *const area = pf_area_at(p->dictionary, p->sorted[i]);
    const pprof_line line = {p->functions[i], area->line, 0};
    pprof_location_message message = {.id = p->ids[i],
                                      .mapping = has_mapping,
                                      .lines = &line,
                                      .nlines = p->functions[i] != 0};
    if (message.nlines == 0)
      (void)is_address(p, area, &message.address);
    pprof_put_location(p->sink, &message);
  }
}


/* Assign ids to the locations in use and to their functions. Frames of equal
   name and file are adjacent: they are one function. */
static void assign_frame_ids (profile *p) {
  const pf_area *last = NULL;
  uint64_t address;
  uint32_t nfunctions = 0, nlocations = 0;
  for (uint32_t i = 0; i < p->nframes; i++) {
    if (p->ids[i] == 0)
      continue;
    p->ids[i] = ++nlocations;
    const pf_area *const a = pf_area_at(p->dictionary, p->sorted[i]);
    if (is_address(p, a, &address))
      continue;
    nfunctions +=
        last == NULL || a->name != last->name || a->file != last->file;
    p->functions[i] = nfunctions;
    last = a;
  }
}


/* Write the attributes, completed by the contexts: the default metric and a
   unit of the period. */
static void put_attributes (profile *p, const pprof_header *stated) {
  const pf_contexts *const c = p->contexts;
  pprof_header header = *stated; /* shares the comments */
  if (header.period != 0 && header.period_type.type == PF_NO_NAME &&
      c->nmetrics > 0)
    header.period_type = type_of(p, c->nmetrics - 1);
  if (c->default_metric != PF_NO_METRIC && c->default_metric + 1 != c->nmetrics)
    header.default_type = (uint32_t)type_of(p, c->default_metric).type;
  else if (header.default_type != PF_NO_NAME &&
           pf_metric_named(
               c,
               (const char *)pf_name(p->dictionary, header.default_type).at) ==
               PF_NO_METRIC)
    header.default_type = PF_NO_NAME;
  pprof_put_header(p->sink, &p->strings, &header);
}


static void put_all (profile *p, const pprof_attributes *attributes) {
  for (size_t m = 0; m < p->contexts->nmetrics; m++) {
    const pprof_value_type type = type_of(p, m);
    pprof_put_record(p->sink, &p->strings, PPROF_SAMPLE_TYPE, &type);
  }
  put_attributes(p, attributes->header);
  for (uint32_t i = 0; i < p->contexts->count; i++)
    put_context(p, p->order[i], p->depths[i]);
  if (attributes->mapping != NULL) {
    pprof_mapping mapping = *attributes->mapping;
    mapping.id = 1;
    pprof_put_record(p->sink, &p->strings, PPROF_MAPPING, &mapping);
  }
  put_locations(p, attributes->mapping != NULL);
  for (uint32_t i = 0, last = 0; i < p->nframes; i++) {
    if (p->functions[i] == last || p->functions[i] == 0)
      continue;
    const pf_area *const a = pf_area_at(p->dictionary, p->sorted[i]);
    const pprof_function_message function = {.id = p->functions[i],
                                             .name = a->name,
                                             .system_name = PF_NO_NAME,
                                             .file = a->file};
    pprof_put_record(p->sink, &p->strings, PPROF_FUNCTION, &function);
    last = p->functions[i];
  }
  pprof_put_strings(&p->strings, p->sink);
}


/* Mark the frames of contexts with weights, and of their callers. PF_ENOMEM. */
static pf_status mark_frames (profile *p) {
  const pf_contexts *const c = p->contexts;
  bool *const is_kept = calloc(c->count, sizeof *is_kept);
  if (is_kept == NULL)
    return PF_ENOMEM;
  for (uint32_t i = c->count; i-- > 1;)
    if (is_kept[i] || pf_context_has_weight(c, i, PF_NO_METRIC)) {
      is_kept[c->parents[i]] = true;
      p->ids[p->ranks[c->frames[i]]] = 1;
    }
  free(is_kept);
  return PF_OK;
}


/* Allocate the arrays, rank the frames, order the nodes and mark the frames in
   use. PF_ENOMEM. */
static pf_status prepare (profile *p) {
  const pf_contexts *const c = p->contexts;
  const size_t nareas = (size_t)pf_areas_count(p->dictionary) + 1;
  p->metrics = pf_array_of_zeros(p->contexts->nmetrics + 1, sizeof *p->metrics);
  p->values = pf_array_of_zeros(p->contexts->nmetrics + 1, PF_VARINT_SIZE);
  p->ranks = pf_array_of_zeros(nareas, sizeof *p->ranks);
  p->sorted = pf_array_of_zeros(nareas, sizeof *p->sorted);
  p->ids = pf_array_of_zeros(nareas, sizeof *p->ids);
  p->functions = pf_array_of_zeros(nareas, sizeof *p->functions);
  p->order = pf_large_array(c->count, sizeof *p->order);
  p->depths = pf_large_array(c->count, sizeof *p->depths);
  if (p->order == NULL || p->depths == NULL || p->metrics == NULL ||
      p->values == NULL || p->ranks == NULL || p->sorted == NULL ||
      p->ids == NULL || p->functions == NULL)
    return PF_ENOMEM;
  pf_status status =
      pf_contexts_rank(p->contexts, p->ranks, p->sorted, &p->nframes);
  if (status == PF_OK)
    status = pf_contexts_order(c, p->ranks, NULL, p->order, p->depths);
  if (status != PF_OK)
    return status;
  for (uint32_t i = 0; i < c->count; i++)
    if (p->depths[i] > p->deepest)
      p->deepest = p->depths[i];
  const size_t id_size = pprof_varint_size((uint64_t)p->nframes + 1);
  p->path = pf_array_of_zeros((size_t)p->deepest + 1, id_size);
  p->starts = pf_array_of_zeros((size_t)p->deepest + 1, sizeof *p->starts);
  p->labels = pf_array_of_zeros((size_t)p->deepest + 1, sizeof *p->labels);
  if (p->path == NULL || p->starts == NULL || p->labels == NULL)
    return PF_ENOMEM;
  p->starts[0] = ((size_t)p->deepest + 1) * id_size; /* the end of `path` */
  return mark_frames(p);
}


pf_status pf_pprof_write (const pf_contexts *contexts,
                          const pprof_attributes *attributes, pf_sink *sink,
                          pf_error *error) {
  profile p = {.contexts = contexts,
               .dictionary = contexts->dictionary,
               .sink = sink,
               .strings = {.dictionary = contexts->dictionary}};
  pf_status status = prepare(&p) == PF_OK ? PF_OK : pf_no_memory(error);
  if (status == PF_OK) {
    assign_frame_ids(&p);
    order_metrics(&p);
    put_all(&p, attributes);
    status =
        p.strings.failed ? pf_no_memory(error) : pf_sink_flush(sink, error);
  }
  pprof_strings_close(&p.strings);
  free(p.metrics);
  free(p.values);
  free(p.ranks);
  free(p.sorted);
  free(p.ids);
  free(p.functions);
  free(p.order);
  free(p.depths);
  free(p.path);
  free(p.starts);
  free(p.labels);
  return status;
}


pf_status pf_pprof_write_gzip (const pf_contexts *contexts,
                               const pprof_attributes *attributes,
                               pf_sink *sink, pf_error *error) {
  pf_gzip *const gzip = pf_gzip_open();
  if (gzip == NULL)
    return pf_no_memory(error);
  pf_status status =
      pf_pprof_write(contexts, attributes, pf_gzip_sink(gzip), error);
  if (status == PF_OK)
    status = pf_gzip_finish(gzip, sink, error);
  pf_gzip_close(gzip);
  return status;
}
