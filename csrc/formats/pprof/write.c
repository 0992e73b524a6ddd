/*
** write.c - the bytes of a profile: sample types, samples, locations,
** functions and then the texts, which get their numbers on the way.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/pprof/write.h"
#include "formats/pprof/wire.h"
#include "model/contexts_order.h"
#include "model/gzip.h"
#include "model/memory.h"

enum {
  SAMPLE_TYPE = 1,
  SAMPLE = 2,
  LOCATION = 4,
  FUNCTION = 5,
  STRING = 6,
  TIME_NANOS = 9,
  DURATION_NANOS = 10,
  PERIOD_TYPE = 11,
  PERIOD = 12,
  COMMENT = 13,
  DEFAULT_TYPE = 14
};

#define SOON 12 /* how many samples ahead memory is asked for */

typedef struct profile {
  const pf_contexts *contexts;
  const pf_dictionary *dictionary;
  pf_sink *sink;
  size_t *metrics;          /* in the order they are written */
  uint8_t *values;          /* scratch: those of a sample */
  uint32_t *ranks, *sorted; /* frames: locations are rank + 1 */
  uint32_t nframes;
  uint32_t *functions; /* by rank: the function, from 1 */
  uint32_t *order;     /* of the nodes; NULL: as they are numbered, */
  pf_descent way;      /* and that is the way along them, */
  uint32_t *depths;    /* else their depths in that order */
  uint32_t deepest;
  uint8_t *ids;        /* locations of a sample as they are written: the
                          outermost last, at the end of the array */
  size_t *starts;      /* by depth: where they begin there */
  uint32_t *string_of; /* by name: its number, or 0 */
  uint32_t *names;     /* by number, from 1: the name */
  uint32_t nnames;
  pf_bytes *own; /* texts behind those names */
  uint32_t nown;
} profile;


/* {====== Pieces ====== */

static size_t varint_size (uint64_t value) {
  const size_t bits = 64 - (size_t)__builtin_clzll(value | 1);
  return (bits + 6) / 7;
}


#define VARINT_SIZE 10 /* at most */

/* Write a number at `to`; answers what is behind it. */
static uint8_t *write_varint (uint8_t *to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    *to++ = (uint8_t)(value | 0x80);
  *to++ = (uint8_t)value;
  return to;
}


static void put_varint (pf_sink *sink, uint64_t value) {
  uint8_t bytes[VARINT_SIZE];
  const uint8_t *const end = write_varint(bytes, value);
  (void)pf_sink_put(sink, bytes, (size_t)(end - bytes)); /* it keeps failures */
}


static void put_tag (pf_sink *sink, unsigned number, pprof_wire wire) {
  put_varint(sink, (uint64_t)number << 3 | wire);
}


/* A number, left out when it is 0, as protocol buffers do. */
static void put_number (pf_sink *sink, unsigned number, uint64_t value) {
  if (value == 0)
    return;
  put_tag(sink, number, PPROF_VARINT);
  put_varint(sink, value);
}


static size_t number_size (uint64_t value) {
  return value == 0 ? 0 : 1 + varint_size(value); /* tags below 16 */
}


static void put_message (pf_sink *sink, unsigned number, size_t size) {
  put_tag(sink, number, PPROF_BYTES);
  put_varint(sink, size);
}

/* }====== */


/* {====== Texts ====== */

/* The number of a name's text. */
static uint64_t string_of (profile *p, uint32_t name) {
  if (name == PF_NO_NAME || pf_name(p->dictionary, name).size == 0)
    return 0;
  if (p->string_of[name] == 0) {
    p->names[p->nnames] = name;
    p->string_of[name] = ++p->nnames;
  }
  return p->string_of[name];
}


/* The number of a text that is no name: these stand first, right behind the
   empty one, and are all known before the first name is asked for. */
static uint64_t own_string (profile *p, const char *text) {
  if (text[0] == '\0')
    return 0;
  for (uint32_t i = 0; i < p->nown; i++)
    if (p->own[i].size == strlen(text) &&
        memcmp(p->own[i].at, text, p->own[i].size) == 0)
      return i + 1;
  p->own[p->nown] = (pf_bytes){(const uint8_t *)text, strlen(text)};
  return ++p->nown;
}


static void put_string (pf_sink *sink, pf_bytes text) {
  put_message(sink, STRING, text.size);
  (void)pf_sink_put(sink, text.at, text.size);
}


static void put_strings (const profile *p) {
  put_string(p->sink, (pf_bytes){(const uint8_t *)"", 0});
  for (uint32_t i = 0; i < p->nown; i++)
    put_string(p->sink, p->own[i]);
  for (uint32_t i = 0; i < p->nnames; i++)
    put_string(p->sink, pf_name(p->dictionary, p->names[i]));
}


static uint64_t name_number (profile *p, uint32_t name) {
  const uint64_t number = string_of(p, name);
  return number == 0 ? 0 : number + p->nown;
}

/* }====== */


/* {====== The parts ====== */

static const char *unit_of (const pf_context_metric *metric) {
  return strcmp(metric->unit, "ns") == 0 ? "nanoseconds" : metric->unit;
}


static void put_value_type (profile *p, unsigned number,
                            const pf_context_metric *metric) {
  const uint64_t type = own_string(p, metric->name);
  const uint64_t unit = own_string(p, unit_of(metric));
  put_message(p->sink, number, number_size(type) + number_size(unit));
  put_number(p->sink, 1, type);
  put_number(p->sink, 2, unit);
}


/* The metrics in their order. Where no file states which one is shown first, the
   time stands last, because pprof shows the last one. */
static void order_metrics (profile *p) {
  const pf_contexts *const c = p->contexts;
  const size_t last =
      c->usual == PF_NO_METRIC ? pf_metric_named(c, "time") : PF_NO_METRIC;
  size_t n = 0;
  for (size_t m = 0; m < c->nmetrics; m++)
    if (m != last)
      p->metrics[n++] = m;
  if (last != PF_NO_METRIC)
    p->metrics[n++] = last;
}


/* The name of the metric that is shown first, where that is not the last. */
static const char *default_type (const profile *p) {
  const pf_contexts *const c = p->contexts;
  return c->usual == PF_NO_METRIC || c->usual + 1 == c->nmetrics
             ? ""
             : c->metrics[c->usual].name;
}


static bool has_weight (const pf_contexts *c, uint32_t node) {
  for (size_t m = 0; m < c->nmetrics; m++)
    if (c->weights[m][node] != 0)
      return true;
  return false;
}


/* A message whose size stands in one byte, or in more. */
static uint8_t *write_message (uint8_t *to, unsigned number, size_t size) {
  *to++ = (uint8_t)(number << 3 | PPROF_BYTES);
  return write_varint(to, size);
}


static uint8_t *write_values (const profile *p, uint32_t node, uint8_t *to) {
  for (size_t m = 0; m < p->contexts->nmetrics; m++)
    to = write_varint(to, (uint64_t)p->contexts->weights[p->metrics[m]][node]);
  return to;
}


/* A sample: the locations, the leaf first, and its values, both packed. */
static void put_sample (const profile *p, uint32_t node, size_t depth) {
  uint8_t head[4 + 3 * VARINT_SIZE];
  const size_t nvalues = (size_t)(write_values(p, node, p->values) - p->values);
  const size_t from = p->starts[depth], ids = p->starts[0] - from;
  const size_t id_field = ids == 0 ? 0 : 1 + varint_size(ids) + ids;
  uint8_t *at = write_message(head, SAMPLE,
                              id_field + 1 + varint_size(nvalues) + nvalues);
  if (ids > 0) {
    at = write_message(at, 1, ids);
    (void)pf_sink_put(p->sink, head, (size_t)(at - head));
    (void)pf_sink_put(p->sink, p->ids + from, ids);
    at = head;
  }
  at = write_message(at, 2, nvalues);
  (void)pf_sink_put(p->sink, head, (size_t)(at - head));
  (void)pf_sink_put(p->sink, p->values, nvalues);
}


/* Have what a node soon needs on its way: nodes come in no order. */
static void ask_for (const pf_contexts *c, uint32_t node) {
  __builtin_prefetch(&c->frames[node]);
  for (size_t m = 0; m < c->nmetrics; m++)
    __builtin_prefetch(&c->weights[m][node]);
}


/* The ids of a context are its own, before those of its caller. */
static void put_context (const profile *p, uint32_t node, uint32_t depth) {
  if (depth > 0) {
    const uint64_t id = (uint64_t)p->ranks[p->contexts->frames[node]] + 1;
    p->starts[depth] = p->starts[depth - 1] - varint_size(id);
    write_varint(p->ids + p->starts[depth], id);
  }
  if (has_weight(p->contexts, node))
    put_sample(p, node, depth);
}


static void put_samples (profile *p) {
  const pf_contexts *const c = p->contexts;
  if (p->order == NULL)
    put_context(p, 0, 0);
  for (uint32_t i = 1; p->order == NULL && i < c->count; i++) {
    (void)pf_descend(&p->way, i); /* it is in order */
    put_context(p, i, p->way.depth);
  }
  for (uint32_t i = 0; p->order != NULL && i < c->count; i++) {
    if (i + SOON < c->count)
      ask_for(c, p->order[i + SOON]);
    put_context(p, p->order[i], p->depths[i]);
  }
}


/* A location is one line of a function. */
static void put_locations (const profile *p) {
  for (uint32_t i = 0; i < p->nframes; i++) {
    const uint64_t line =
        (uint64_t)pf_area_at(p->dictionary, p->sorted[i])->line;
    const size_t inner = number_size(p->functions[i]) + number_size(line);
    put_message(p->sink, LOCATION,
                number_size(i + 1u) + 1 + varint_size(inner) + inner);
    put_number(p->sink, 1, i + 1u);
    put_message(p->sink, 4, inner);
    put_number(p->sink, 1, p->functions[i]);
    put_number(p->sink, 2, line);
  }
}


/* Frames of one name and file stand together: they are one function. */
static void number_functions (profile *p) {
  const pf_area *last = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nframes; i++) {
    const pf_area *const a = pf_area_at(p->dictionary, p->sorted[i]);
    n += last == NULL || a->name != last->name || a->file != last->file;
    p->functions[i] = n;
    last = a;
  }
}


static void put_functions (profile *p) {
  for (uint32_t i = 0; i < p->nframes; i++) {
    if (i > 0 && p->functions[i] == p->functions[i - 1])
      continue;
    const pf_area *const a = pf_area_at(p->dictionary, p->sorted[i]);
    const uint64_t name = name_number(p, a->name);
    const uint64_t file = name_number(p, a->file);
    put_message(p->sink, FUNCTION,
                number_size(p->functions[i]) + 2 * number_size(name) +
                    number_size(file));
    put_number(p->sink, 1, p->functions[i]);
    put_number(p->sink, 2, name);
    put_number(p->sink, 3, name);
    put_number(p->sink, 4, file);
  }
}


static void put_facts (profile *p, const pprof_facts *facts,
                       const uint64_t *comments, size_t ncomments) {
  put_number(p->sink, TIME_NANOS, (uint64_t)facts->time_nanos);
  put_number(p->sink, DURATION_NANOS, (uint64_t)facts->duration_nanos);
  if (facts->period != 0 && p->contexts->nmetrics > 0)
    put_value_type(
        p, PERIOD_TYPE,
        &p->contexts->metrics[p->metrics[p->contexts->nmetrics - 1]]);
  put_number(p->sink, PERIOD, (uint64_t)facts->period);
  for (size_t i = 0; i < ncomments; i++)
    put_number(p->sink, COMMENT, comments[i]);
  put_number(p->sink, DEFAULT_TYPE, own_string(p, default_type(p)));
}

/* }====== */


static void put_all (profile *p, const pprof_facts *facts) {
  uint64_t comments[8];
  size_t ncomments = 0;
  order_metrics(p);
  for (size_t m = 0; m < p->contexts->nmetrics; m++)
    put_value_type(p, SAMPLE_TYPE, &p->contexts->metrics[p->metrics[m]]);
  for (; facts->comments != NULL && facts->comments[ncomments] != NULL &&
         ncomments < 8;
       ncomments++)
    comments[ncomments] = own_string(p, facts->comments[ncomments]);
  put_facts(p, facts, comments, ncomments);
  put_samples(p);
  put_locations(p);
  put_functions(p);
  put_strings(p);
}


static void *room (size_t count, size_t size) {
  return calloc(count + 1, size);
}


/* Room for the ids of the longest stack. */
static bool make_path (profile *p) {
  const size_t each = varint_size((uint64_t)p->nframes + 1);
  p->ids = room(p->deepest, each);
  p->starts = room(p->deepest, sizeof *p->starts);
  if (p->ids == NULL || p->starts == NULL)
    return false;
  p->starts[0] = ((size_t)p->deepest + 1) * each; /* its end */
  return true;
}


static bool make_room (profile *p) {
  const size_t nareas = pf_areas_count(p->dictionary);
  const size_t nnames = pf_names_count(p->dictionary);
  p->ranks = room(nareas, sizeof *p->ranks);
  p->sorted = room(nareas, sizeof *p->sorted);
  p->functions = room(nareas, sizeof *p->functions);
  p->string_of = room(nnames, sizeof *p->string_of);
  p->names = room(nnames, sizeof *p->names);
  p->metrics = room(p->contexts->nmetrics, sizeof *p->metrics);
  p->values = room(p->contexts->nmetrics, VARINT_SIZE);
  p->own = room(2 * p->contexts->nmetrics + 16, sizeof *p->own);
  return p->metrics != NULL && p->values != NULL && p->own != NULL &&
         p->ranks != NULL && p->sorted != NULL && p->functions != NULL &&
         p->string_of != NULL && p->names != NULL;
}


static void free_room (profile *p) {
  free(p->metrics);
  free(p->values);
  free(p->own);
  free(p->ranks);
  free(p->sorted);
  free(p->functions);
  free(p->order);
  pf_descent_close(&p->way);
  free(p->depths);
  free(p->ids);
  free(p->starts);
  free(p->string_of);
  free(p->names);
}


static pf_status order_nodes (profile *p) {
  const pf_contexts *const c = p->contexts;
  if (pf_contexts_in_order(c, p->ranks, &p->deepest) &&
      pf_descent_open(&p->way, c))
    return PF_OK;
  p->order = pf_large_array(c->count, sizeof *p->order);
  p->depths = pf_large_array(c->count, sizeof *p->depths);
  if (p->order == NULL || p->depths == NULL ||
      pf_contexts_order(c, p->ranks, NULL, p->order, p->depths) != PF_OK)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < c->count; i++)
    if (p->depths[i] > p->deepest)
      p->deepest = p->depths[i];
  return PF_OK;
}


pf_status pf_pprof_write (const pf_contexts *contexts, const pprof_facts *facts,
                          pf_sink *sink, pf_error *error) {
  profile p = {
      .contexts = contexts, .dictionary = contexts->dictionary, .sink = sink};
  pf_status status = PF_ENOMEM;
  if (make_room(&p))
    status = pf_contexts_rank(contexts, p.ranks, p.sorted, &p.nframes);
  if (status == PF_OK)
    status = order_nodes(&p);
  if (status == PF_OK && !make_path(&p))
    status = PF_ENOMEM;
  if (status == PF_OK) {
    number_functions(&p);
    put_all(&p, facts);
    status = sink->failed;
  }
  free_room(&p);
  if (status == PF_OK)
    return PF_OK;
  return pf_fail(error, status, PF_NO_OFFSET,
                 status == PF_ENOMEM ? "out of memory" : "write failed");
}


pf_status pf_pprof_write_packed (const pf_contexts *contexts,
                                 const pprof_facts *facts, pf_sink *sink,
                                 pf_error *error) {
  pf_gzip *const gzip = pf_gzip_open();
  if (gzip == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  pf_status status = pf_pprof_write(contexts, facts, pf_gzip_sink(gzip), error);
  if (status == PF_OK)
    status = pf_gzip_finish(gzip, sink, error);
  pf_gzip_close(gzip);
  return status;
}
