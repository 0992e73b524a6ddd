/*
** compare.c - explain the differences between exact profiles and gprof's.
**
** Functions are paired by address. gprof attributes the time of an exact
** function without a partner to the symbol before it. The compat graph has,
** beside gprof's samples (ticks), the samples if parts added up (even_ticks)
** and if also the bins lay where they are (right_ticks): each step that changes
** the number is a reason.
*/

#include "kernels/listing/compare.h"

#include <stdio.h>
#include <string.h>

#include "kernels/listing/row_fill.h"

/* clang-format off */
enum {
  FUNCTION, EXACT_SELF, GPROF_SELF, EXACT_CALLS, GPROF_CALLS, WHY, NFIELDS
};

static const pf_field fields[NFIELDS] = {
  {"function", PF_NAME, "the function"},
  {"exact_self", PF_INT, "exact, ns"},
  {"gprof_self", PF_INT, "as gprof computes it, ns"},
  {"exact_calls", PF_INT, "exact"},
  {"gprof_calls", PF_INT, "as gprof counts them"},
  {"why", PF_NAME, "the reasons for the difference"},
};
/* clang-format on */

#define NONE    UINT32_MAX
#define EPSILON 1e-6 /* relative difference; less is rounding of doubles */

/* A function that differs; `exact` or `gprof` may be NONE, but not both. */
typedef struct difference {
  uint32_t exact, gprof;
  double size;
} difference;

typedef struct compare_reader {
  listing_reader listing; /* of the exact profile */
  pf_listing compat;
  uint32_t *partner;  /* of exact functions: the gprof function, or NONE */
  uint32_t *paired;   /* of gprof functions: the exact function, or NONE */
  uint32_t *absorbed; /* of gprof functions: the first exact one it absorbs, */
  double *samples;    /* and the samples of all that it absorbs */
  bool *outside;      /* of exact functions: called from outside all symbols */
  difference *rows;
  size_t count, at;
} compare_reader;

static const pf_graph *exact_graph (const compare_reader *self) {
  return self->listing.listing.flow->graph;
}


static const pf_graph *gprof_graph (const compare_reader *self) {
  return self->compat.flow->graph;
}


/* The last gprof function that begins at or before an address. */
static uint32_t owner_of (const pf_graph *gprof, uint64_t address) {
  size_t low = 0, high = gprof->nfunctions;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (gprof->addresses[middle] <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NONE : (uint32_t)(low - 1);
}


static void pair_up (compare_reader *self) {
  const pf_graph *exact = exact_graph(self), *gprof = gprof_graph(self);
  memset(self->paired, 0xff, gprof->nfunctions * sizeof *self->paired);
  memset(self->absorbed, 0xff, gprof->nfunctions * sizeof *self->absorbed);
  for (uint32_t e = 0; e < exact->nfunctions; e++) {
    const uint32_t g = owner_of(gprof, exact->addresses[e]);
    const bool is_pair = g != NONE &&
                         gprof->addresses[g] == exact->addresses[e] &&
                         (exact->flags[e] & PF_FUNCTION_PSEUDO) == 0;
    self->partner[e] = is_pair ? g : NONE;
    if (is_pair)
      self->paired[g] = e;
    else if (g != NONE && (exact->flags[e] & PF_FUNCTION_USED) != 0) {
      self->samples[g] += (double)exact->weights[0][e];
      if (self->absorbed[g] == NONE)
        self->absorbed[g] = e;
    }
  }
  for (size_t i = exact->child_first[exact->nfunctions]; i < exact->narcs; i++)
    self->outside[exact->arcs[i].callee] = true;
}


/* gprof's time of a function, in the unit of the exact profile. */
static double gprof_self (const compare_reader *self, uint32_t g) {
  const pf_flow *exact = self->listing.listing.flow, *gprof = self->compat.flow;
  return gprof->nodes[g].self / gprof->per_second *
         (exact->per_second == 1 ? gprof->per_second : exact->per_second);
}


static void add_difference (compare_reader *self, uint32_t e, uint32_t g) {
  const pf_graph *exact = exact_graph(self), *gprof = gprof_graph(self);
  const double left = e == NONE ? 0 : self->listing.listing.flow->nodes[e].self;
  const double right = g == NONE ? 0 : gprof_self(self, g);
  const int64_t calls = e == NONE ? 0 : exact->calls[e];
  const int64_t other = g == NONE ? 0 : gprof->calls[g];
  if (fabs(left - right) > 1 || calls != other)
    self->rows[self->count++] = (difference){e, g, fabs(left - right)};
}


static int compare_sizes (const void *left, const void *right) {
  const difference *a = left, *b = right;
  if (a->size != b->size)
    return a->size > b->size ? -1 : 1;
  if (a->exact != b->exact)
    return a->exact < b->exact ? -1 : 1;
  return a->gprof < b->gprof ? -1 : a->gprof > b->gprof;
}


typedef struct reasons {
  char text[400];
  size_t size;
} reasons;


static void add_reason (reasons *list, const char *reason) {
  if (list->size + strlen(reason) + 3 > sizeof list->text)
    return;
  list->size +=
      (size_t)snprintf(list->text + list->size, sizeof list->text - list->size,
                       "%s%s", list->size == 0 ? "" : ", ", reason);
}


static void explain_absorbed (const compare_reader *self, uint32_t g,
                              reasons *list) {
  const pf_graph *exact = exact_graph(self);
  const uint32_t e = self->absorbed[g];
  char text[300];
  if (e == NONE)
    return;
  if ((exact->flags[e] & PF_FUNCTION_PSEUDO) != 0) {
    add_reason(list, "absorbs a gap");
    return;
  }
  const pf_bytes name =
      pf_name(exact->dictionary, listing_name(&self->listing.listing, e));
  snprintf(text, sizeof text, "absorbs %s", (const char *)name.at);
  add_reason(list, text);
}


static bool differ (double left, double right) {
  return fabs(left - right) > EPSILON * (1 + fabs(left) + fabs(right));
}


/* Add the reasons for a difference in time, one for each step from gprof's
   samples to the exact ones that changes the number. */
static void explain_time (const compare_reader *self, uint32_t e, uint32_t g,
                          reasons *list) {
  const pf_graph *exact = exact_graph(self), *gprof = gprof_graph(self);
  const pf_flow *flow = self->listing.listing.flow;
  const double samples = (double)exact->weights[0][e];
  if (!pf_flow_in_flat(self->compat.flow, g))
    add_reason(list, "excluded");
  else if (g + 1 == gprof->nfunctions &&
           differ(gprof->ticks[g], gprof->even_ticks[g]))
    add_reason(list, "last symbol");
  else if (differ(gprof->ticks[g], gprof->even_ticks[g]))
    add_reason(list, "credit not conserved");
  if (differ(gprof->even_ticks[g], gprof->right_ticks[g]))
    add_reason(list, "bin drift");
  if (self->absorbed[g] != NONE && self->samples[g] != 0)
    explain_absorbed(self, g, list);
  if (differ(gprof->right_ticks[g], samples + self->samples[g]))
    add_reason(list, "bin shared");
  if (!exact->facts.same_rates && flow->per_second != 1 &&
      fabs(flow->nodes[e].self -
           samples / exact->facts.rate * flow->per_second) > 1)
    add_reason(list, "different rates");
}


static uint32_t explain (const compare_reader *self, const difference *row) {
  const pf_graph *exact = exact_graph(self), *gprof = gprof_graph(self);
  reasons list = {"", 0};
  if (row->exact == NONE)
    add_reason(&list, "not a function");
  else if (row->gprof == NONE) {
    const uint32_t e = row->exact;
    const pf_graph *graph = exact_graph(self);
    const pf_bytes name = pf_name(graph->dictionary, graph->names[e]);
    if ((graph->flags[e] & PF_FUNCTION_PSEUDO) != 0)
      add_reason(&list, "outside symbols");
    else if ((graph->flags[e] & PF_FUNCTION_LOCAL) != 0 &&
             memchr(name.at, '.', name.size) != NULL)
      add_reason(&list, "local suffix dropped");
    else
      add_reason(&list, "symbol dropped");
  }
  else {
    if (row->size > 1)
      explain_time(self, row->exact, row->gprof, &list);
    if (exact->calls[row->exact] != gprof->calls[row->gprof]) {
      const uint32_t g = row->gprof;
      if (self->outside[row->exact])
        add_reason(&list, "caller outside");
      if (self->absorbed[g] != NONE && self->samples[g] == 0)
        explain_absorbed(self, g, &list);
    }
  }
  if (list.size == 0)
    add_reason(&list, "not explained");
  return listing_text(&self->listing.listing, list.text);
}


static bool make_difference (listing_reader *reader, pf_batch *batch) {
  compare_reader *self = (compare_reader *)reader;
  if (self->at == self->count)
    return false;
  const difference *row = &self->rows[self->at++];
  const uint32_t e = row->exact, g = row->gprof;
  put_name(batch, FUNCTION,
           e != NONE ? listing_name(&reader->listing, e)
                     : listing_name(&self->compat, g));
  put_name(batch, WHY, explain(self, row));
  if (e == NONE) {
    put_missing(batch, EXACT_SELF);
    put_missing(batch, EXACT_CALLS);
  }
  else {
    put_int(batch, EXACT_SELF,
            exact_graph(self)->weights[reader->listing.flow->metric][e]);
    put_int(batch, EXACT_CALLS, exact_graph(self)->calls[e]);
  }
  if (g == NONE) {
    put_missing(batch, GPROF_SELF);
    put_missing(batch, GPROF_CALLS);
  }
  else {
    put_time(batch, GPROF_SELF, reader->listing.flow, gprof_self(self, g));
    put_int(batch, GPROF_CALLS, gprof_graph(self)->calls[g]);
  }
  return true;
}


static void close_compare (pf_reader *reader) {
  compare_reader *self = (compare_reader *)reader;
  free(self->partner);
  free(self->paired);
  free(self->absorbed);
  free(self->samples);
  free(self->outside);
  free(self->rows);
  free(self);
}


pf_status pf_compare (const pf_listing *exact, const pf_listing *compat,
                      pf_reader **reader, pf_error *error) {
  compare_reader *const self =
      listing_new(sizeof *self, exact, fields, NFIELDS, make_difference, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->listing.base.close = close_compare;
  self->compat = *compat;
  const size_t n = exact_graph(self)->nfunctions + 1;
  const size_t m = gprof_graph(self)->nfunctions + 1;
  self->partner = malloc(n * sizeof *self->partner);
  self->outside = calloc(n, sizeof *self->outside);
  self->paired = malloc(m * sizeof *self->paired);
  self->absorbed = malloc(m * sizeof *self->absorbed);
  self->samples = calloc(m, sizeof *self->samples);
  self->rows = malloc((n + m) * sizeof *self->rows);
  if (self->partner == NULL || self->outside == NULL || self->paired == NULL ||
      self->absorbed == NULL || self->samples == NULL || self->rows == NULL) {
    close_compare(&self->listing.base);
    return pf_no_memory(error);
  }
  pair_up(self);
  for (uint32_t e = 0; e < exact_graph(self)->nfunctions; e++)
    add_difference(self, e, self->partner[e]);
  for (uint32_t g = 0; g < gprof_graph(self)->nfunctions; g++)
    if (self->paired[g] == NONE)
      add_difference(self, NONE, g);
  if (self->count > 0)
    qsort(self->rows, self->count, sizeof *self->rows, compare_sizes);
  *reader = &self->listing.base;
  return PF_OK;
}
