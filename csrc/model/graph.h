/*
** graph.h - the graph body of a profile: functions and the arcs between them,
** with whole-number weights.
**
** A plain struct of arrays that owns its numbers. It needs nothing of the
** trace it came from but the dictionary, which it borrows. The order of use
** is: open, add functions, weights and arcs, finish; after that it is only
** read. Functions and arcs are known by number, in the order they were added.
*/

#ifndef graph_h
#define graph_h

#include "profio.h"

#define PF_NO_FUNCTION UINT32_MAX
#define PF_MAX_METRICS 8

/* What is known of a function beside its numbers. */
enum {
  PF_FUNCTION_PSEUDO = 1,   /* an address range that no symbol covers */
  PF_FUNCTION_LOCAL = 2,    /* a static one */
  PF_FUNCTION_CALLABLE = 4, /* the symbol is marked as a function */
  PF_FUNCTION_USED = 8      /* has a weight or an arc; set by finish */
};

/* What the weights measure. */
typedef struct pf_metric {
  char name[48]; /* "samples", "time", or the dimension of a histogram */
  char unit[48]; /* "count", "ns", or what one count is */
  /* Of a dimension other than seconds: */
  double rate;        /* counts that are one of its units; else 0 */
  uint32_t dimension; /* in the dictionary */
  uint32_t abbreviation;
} pf_metric;

/* Numbers of the whole profile, for headings. */
typedef struct pf_graph_facts {
  bool compat;         /* computed as gprof does */
  bool has_time;       /* the metric "time" is there */
  bool same_rates;     /* all sets have one sampling rate */
  bool truncated_bins; /* gprof's bins lie elsewhere than the real ones */
  size_t sets;         /* histograms read */
  size_t arc_rows;     /* arcs read, also those that were dropped */
  int64_t samples;     /* sum of all counts */
  double rate;         /* samples a second, of the first set; 0 unknown */
  double scale;        /* 2-byte units a bin, as gprof divides the range */
  double ticks;        /* gprof's total: may differ from `samples` */
  uint32_t dimension;  /* "seconds", in the dictionary */
  uint32_t abbreviation;
  bool is_seconds; /* that dimension is seconds; histograms of these and of
                      no others have the metrics "samples" and "time" */
} pf_graph_facts;

/* A source line and what it cost: one per file, line and function. */
typedef struct pf_graph_line {
  uint32_t file; /* PF_NO_NAME: not known */
  uint32_t line;
  uint32_t function;
  int64_t weights[PF_MAX_METRICS];
} pf_graph_line;

/* Calls of one function by another. */
typedef struct pf_arc {
  uint32_t caller; /* PF_NO_FUNCTION: from outside the program */
  uint32_t callee;
  int64_t count;
} pf_arc;

typedef struct pf_graph {
  pf_dictionary *dictionary; /* borrowed */
  pf_graph_facts facts;

  size_t nmetrics;
  pf_metric metrics[PF_MAX_METRICS];

  size_t nfunctions, functions_room;
  uint32_t *names;     /* as the linker has them */
  uint64_t *addresses; /* where each begins, as the trace counts */
  uint32_t *files;     /* PF_NO_NAME: not known; NULL: none is, */
  uint32_t *lines;     /* and this is NULL too */
  uint8_t *flags;
  int64_t *weights[PF_MAX_METRICS];
  double *ticks;       /* compat only: gprof's samples, with fractions */
  double *even_ticks;  /* compat only: if its credit added up to 1 */
  double *right_ticks; /* compat only: and its bins lay where they are */

  /* From finish on. */
  int64_t totals[PF_MAX_METRICS]; /* the sums of the weights */
  size_t nused;                   /* functions that are used */
  int64_t *calls;                 /* by others, and from outside the program */
  int64_t *self_calls;            /* by itself */

  /* While it is built: the arcs as they came. From finish on: one for any two
     functions. Those out of function f are arcs[child_first[f]] up to
     arcs[child_first[f + 1] - 1], the newest first; behind those of the last
     function stand the arcs from outside. From pf_graph_parents on, the arcs
     into f are, the newest first, arcs[parents[i]] for i from parent_first[f]
     on. */
  size_t narcs;
  pf_arc *arcs;
  uint32_t *child_first;
  uint32_t *parent_first, *parents;
  uint32_t *numbers; /* until then: of each arc, which it was as they came, of
                        so many; NULL: by caller, each the newest first, that is
                        the order turned round */
  size_t narrivals;

  pf_graph_line *line_rows; /* by file, line, function; NULL: not asked for */
  size_t nline_rows;

  /* While it is built: a hash table of pseudo functions. */
  bool is_scrambled; /* a caller came behind one with a greater number */
  size_t arcs_room;
  struct pf_graph_slot *pseudo_slots;
  size_t pseudo_slots_size, npseudo;
} pf_graph;


/* An empty graph. */
void pf_graph_open (pf_graph *graph, pf_dictionary *dictionary);
void pf_graph_close (pf_graph *graph);

/* Add a metric before the first function; returns its number. Names that are too
   long are cut. At most PF_MAX_METRICS of them. */
size_t pf_graph_metric (pf_graph *graph, const char *name, const char *unit);

/* Add all metrics of another graph. */
void pf_graph_copy_metrics (pf_graph *graph, const pf_graph *other);

/* The metric that is shown when none is named: time, else the first. */
static inline size_t pf_graph_default_metric (const pf_graph *graph) {
  return graph->facts.has_time && graph->nmetrics > 1 ? 1 : 0;
}

/* Room for `count` more functions; compat graphs have ticks as well. */
pf_status pf_graph_reserve (pf_graph *graph, size_t count);

/* Add a function; PF_NO_FUNCTION when out of memory. */
uint32_t pf_graph_function (pf_graph *graph, uint32_t name, uint64_t address,
                            uint8_t flags);

/* The pseudo function of an address; it is added when it is not there, behind
   all other functions. PF_NO_FUNCTION when out of memory. */
uint32_t pf_graph_pseudo (pf_graph *graph, uint64_t address);

/* Name all pseudo functions after their addresses. What adds functions leaves
   the dictionary alone: somebody else may use it meanwhile. PF_ENOMEM. */
pf_status pf_graph_name_pseudo (pf_graph *graph);

/* Count calls along an arc; arcs between the same two functions add up. */
pf_status pf_graph_arc (pf_graph *graph, uint32_t caller, uint32_t callee,
                        int64_t count);

/* All is added: add up the calls of each function, those by itself apart from
   those by others, and list the arcs by caller. PF_ENOMEM. */
pf_status pf_graph_finish (pf_graph *graph);

/* List the arcs by callee too, if they are not. Only the first call changes the
   graph. PF_ENOMEM. */
pf_status pf_graph_parents (pf_graph *graph);

/* Make room for files and lines, when all functions are there: none is known
   yet. PF_ENOMEM. */
pf_status pf_graph_add_locations (pf_graph *graph);

/* The file in which a function begins, or PF_NO_NAME; and the line. */
static inline uint32_t pf_graph_file (const pf_graph *graph, size_t function) {
  return graph->files == NULL ? UINT32_MAX : graph->files[function];
}

static inline uint32_t pf_graph_first_line (const pf_graph *graph,
                                            size_t function) {
  return graph->lines == NULL ? 0 : graph->lines[function];
}

/* left + right, kept within 64 bits. */
static inline int64_t pf_add (int64_t left, int64_t right) {
  int64_t sum;
  if (__builtin_add_overflow(left, right, &sum))
    return right > 0 ? INT64_MAX : INT64_MIN;
  return sum;
}

#endif
