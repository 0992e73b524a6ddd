/*
** graph.h - a profile as a call graph: functions and the arcs between them,
** with whole-number weights. A struct of arrays; functions and arcs are
** indices.
**
** Order of calls: open; add metrics; add functions, weights and arcs; finish;
** then it is only read (and pf_graph_parents and pf_graph_locate may be
** called); close. The graph owns all arrays and borrows the dictionary of the
** trace and the symbols.
**
** Built by kernels/graph and read by kernels/graph, kernels/listing and
** lua/profile, whose userdata owns the graph and closes it.
*/

#ifndef graph_h
#define graph_h

#include "model/base/id_table.h"
#include "model/symbols/symbols.h"
#include "profio.h"

#define PF_NO_FUNCTION UINT32_MAX
#define PF_MAX_METRICS 8

/* Flags of a function. */
enum {
  PF_FUNCTION_PSEUDO = 1,   /* an address range that no symbol covers */
  PF_FUNCTION_LOCAL = 2,    /* a static one */
  PF_FUNCTION_CALLABLE = 4, /* the symbol is marked as a function */
  PF_FUNCTION_USED = 8      /* has a weight, ticks or an arc; set by finish */
};

typedef struct pf_metric {
  char name[48]; /* "samples", "time", or the dimension of a histogram */
  char unit[48]; /* "count", "ns", or what one count is */
  /* Of a dimension other than seconds: */
  double rate;        /* counts per unit; else 0 */
  uint32_t dimension; /* names */
  uint32_t abbreviation;
} pf_metric;

/* Facts of the whole profile, for headings. */
typedef struct pf_graph_facts {
  bool compat;     /* computed as gprof does */
  bool by_line;    /* functions are pieces of one source line each */
  bool has_time;   /* the metric "time" is there */
  bool same_rates; /* all sets have one sampling rate */
  bool
      truncated_bins; /* gprof's bins have other addresses than the real ones */
  size_t sets;        /* histograms read */
  size_t arc_rows;    /* arcs read, with those that were dropped */
  int64_t samples;    /* sum of all counts */
  double rate;        /* samples per second of the first set; 0: not known */
  double scale;       /* 2-byte units per bin, as gprof divides the range */
  double ticks;       /* gprof's total: may differ from `samples` */
  uint32_t dimension; /* "seconds", in the dictionary */
  uint32_t abbreviation;
  bool is_seconds; /* the dimension is seconds: then, and only then, the
                      metrics are "samples" and "time" */
} pf_graph_facts;

/* The weights of a source line: one row per file, line and function. */
typedef struct pf_graph_line {
  uint32_t file; /* PF_NO_NAME: not known */
  uint32_t line;
  uint32_t function;
  int64_t weights[PF_MAX_METRICS];
} pf_graph_line;

/* Calls of a function by another. */
typedef struct pf_arc {
  uint32_t caller; /* PF_NO_FUNCTION: outside the program */
  uint32_t callee;
  int64_t count;
} pf_arc;

typedef struct pf_graph {
  pf_dictionary *dictionary; /* borrowed */
  pf_graph_facts facts;

  size_t nmetrics;
  pf_metric metrics[PF_MAX_METRICS];

  size_t nfunctions, functions_capacity;
  uint32_t *names;     /* linker names */
  uint64_t *addresses; /* of the first byte, as in the trace */
  uint32_t *files;     /* PF_NO_NAME: not known; NULL: see pf_graph_locate */
  uint32_t *lines;     /* NULL if files is */
  pf_symbols *symbols; /* know where functions begin; borrowed, or NULL */
  uint64_t bias; /* address of a function = address of its symbol + bias */
  uint8_t *flags;
  int64_t *weights[PF_MAX_METRICS];
  double *ticks;       /* compat only: gprof's samples, with fractions */
  double *even_ticks;  /* compat only: if the shares of a bin added up to 1 */
  double *right_ticks; /* compat only: and bins were at their real addresses */

  /* Set by finish. */
  int64_t totals[PF_MAX_METRICS]; /* the sums of the weights */
  bool has_overflowed; /* a total or number of calls is a limit of int64_t */
  size_t nused;        /* functions that are used */
  int64_t *calls;      /* by other functions and from outside */
  int64_t *self_calls; /* by itself */

  /* While it is built: the arcs in input order. From finish on: one per caller
     and callee, in compressed sparse rows by caller. Arcs out of function f are
     arcs[child_first[f]] to arcs[child_first[f + 1] - 1], the newest first;
     arcs from outside follow those of the last function. From pf_graph_parents
     on, the arcs into f are arcs[parents[i]] for i from parent_first[f] to
     parent_first[f + 1] - 1, the newest first. */
  size_t narcs;
  pf_arc *arcs;
  uint32_t *child_first;
  uint32_t *parent_first, *parents;
  uint32_t *input_numbers; /* until then, by arc: its number in input order */
  size_t ninputs;          /* arcs in input order */

  pf_graph_line *line_rows; /* by file, line, function; NULL: not asked for */
  size_t nline_rows;

  /* While it is built. */
  size_t arcs_capacity;
  pf_id_table pseudo; /* addresses of the pseudo functions, the last ones */
  size_t npseudo;
} pf_graph;


/* An empty graph. */
void pf_graph_open (pf_graph *graph, pf_dictionary *dictionary);
void pf_graph_close (pf_graph *graph);

/* Add a metric, before the first function; returns its index. Long names are
   truncated. The caller adds at most PF_MAX_METRICS. */
size_t pf_graph_metric (pf_graph *graph, const char *name, const char *unit);

/* Copy the metrics of another graph of the same dictionary to one without
   metrics. */
void pf_graph_copy_metrics (pf_graph *graph, const pf_graph *other);

/* The index of the default metric: time, else the first. */
static inline size_t pf_graph_default_metric (const pf_graph *graph) {
  return graph->facts.has_time && graph->nmetrics > 1 ? 1 : 0;
}

/* Reserve capacity for `count` more functions. PF_ENOMEM. */
pf_status pf_graph_reserve (pf_graph *graph, size_t count);

/* Add a function; PF_NO_FUNCTION when out of memory. */
uint32_t pf_graph_function (pf_graph *graph, uint32_t name, uint64_t address,
                            uint8_t flags);

/* The pseudo function of an address, which is added if it is new. All other
   functions must have been added. PF_NO_FUNCTION when out of memory. */
uint32_t pf_graph_pseudo (pf_graph *graph, uint64_t address);

/* Name all pseudo functions after their addresses. No other function of the
   graph adds names to the dictionary, so that other threads may use it before
   this call. PF_ENOMEM. */
pf_status pf_graph_name_pseudo (pf_graph *graph);

/* Add an arc; counts of arcs with equal caller and callee are added.
   PF_ENOMEM. */
pf_status pf_graph_arc (pf_graph *graph, uint32_t caller, uint32_t callee,
                        int64_t count);

/* Finish the graph: sort and merge the arcs, sum the calls of each function,
   and set totals, flags and nused. PF_ENOMEM. */
pf_status pf_graph_finish (pf_graph *graph);

/* Build the index of arcs by callee, if there is none yet. PF_ENOMEM: a later
   call tries again. */
pf_status pf_graph_parents (pf_graph *graph);

/* Look up the files and lines in which functions begin, at the first call if
   there are symbols: before pf_graph_file and pf_graph_first_line. It reads all
   line tables of the program, which takes most of the time of a flat profile.
   PF_ENOMEM: a later call tries again. */
pf_status pf_graph_locate (pf_graph *graph);

/* The file and the line at which a function begins, or PF_NO_NAME and 0. */
static inline uint32_t pf_graph_file (const pf_graph *graph, size_t function) {
  return graph->files == NULL ? UINT32_MAX : graph->files[function];
}

static inline uint32_t pf_graph_first_line (const pf_graph *graph,
                                            size_t function) {
  return graph->lines == NULL ? 0 : graph->lines[function];
}

/* left + right; it saturates at the limits of int64_t. */
static inline int64_t pf_add (int64_t left, int64_t right) {
  int64_t sum;
  if (__builtin_add_overflow(left, right, &sum))
    return right > 0 ? INT64_MAX : INT64_MIN;
  return sum;
}

#endif
