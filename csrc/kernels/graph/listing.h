/*
** listing.h - a profile as rows: the flat profile, the call graph, its text
** listing and index, and the source lines.
**
** The readers compute rows when asked, from a flow that must outlive them;
** none of them keeps the text or the rows of the whole report.
**
** Times of columns self and total are whole nanoseconds (or the metric's own
** unit, when that is no time); columns with seconds in their name are numbers
** for printing. A column beginning `percent` is a share times 100, computed as
** gprof does, so that it rounds as gprof's.
*/

#ifndef listing_h
#define listing_h

#include "kernels/graph/propagate.h"

/* What a listing shows. */
typedef struct pf_listing {
  const pf_flow *flow;
  bool zeros; /* also functions without time and calls */
  /* Readable names by function, as they become known: PF_NO_NAME where not
     yet. NULL: names are shown as the linker has them. */
  uint32_t *shown;
} pf_listing;

/* How to print a kind of row: text with {column:width.digits}, as
   core.write_listing takes it. */
typedef struct pf_template {
  const char *kind;
  const char *text;
} pf_template;


/*
** The flat profile: kind ("function"), function, calls (by others), self,
** total, self_share, total_share, file, line, recursive_calls (by itself),
** percent, cumulative_seconds, self_seconds, self_per_call, total_per_call.
** The last two are in the unit of pf_flat_unit, and missing like calls when
** nobody calls the function.
*/
pf_status pf_listing_flat (const pf_listing *listing, pf_reader **reader,
                           pf_error *error);

/* The unit of the columns per call: 's' with the prefix that fits the largest
   of them. Answers the prefix and how many of the unit are a second. */
char pf_flat_unit (const pf_flow *flow, double *per_second);

/*
** The arcs: caller, callee, calls, self, total: what the callee handed to the
** caller, without and with what it called in turn. Missing for arcs inside a
** cycle, along which nothing is handed. A function without callers has a row
** without caller and calls. Callers come in the order of the listing.
*/
pf_status pf_listing_graph (const pf_listing *listing, pf_reader **reader,
                            pf_error *error);

/* The same rows for one function: its callers, or its callees. */
pf_status pf_listing_callers (const pf_listing *listing, uint32_t function,
                              pf_reader **reader, pf_error *error);
pf_status pf_listing_callees (const pf_listing *listing, uint32_t function,
                              pf_reader **reader, pf_error *error);

/*
** The text of the call graph, a row for each line of gprof's, in its order:
** kind, label ("[1]"), percent, self_seconds, children_seconds, count, of,
** name, cycle, reference (the index number).
**
** Kinds: cycle and cycle_recursive (header of a cycle), member and
** member_recursive, spontaneous (no callers), outside (called from outside the
** program), caller and caller_inner (in the same cycle, or itself), function
** and function_recursive (the entry itself), callee and callee_inner,
** separator. Those with a name (all but cycle..., spontaneous, outside and
** separator) have three variants: ..._in_cycle, ..._hidden when the index
** number refers to no entry, ..._in_cycle_hidden. Flows are to be ranked
** (rank.h), here and for the index.
*/
pf_status pf_listing_text (const pf_listing *listing, pf_reader **reader,
                           pf_error *error);

/*
** The index by function name, a row for each cell, in three columns that run
** down: kind (cell, cell_file, row_end), pad (spaces before it), label ("[1]",
** or "(1)" when it has no entry), name ("<cycle 1>" of a cycle), file (of
** static functions whose source is known, without folders; kind cell_file).
*/
pf_status pf_listing_index (const pf_listing *listing, pf_reader **reader,
                            pf_error *error);

/*
** The source lines with a weight, most first: file, line, count, self,
** self_share, function.
*/
pf_status pf_listing_lines (const pf_listing *listing, pf_reader **reader,
                            pf_error *error);

/*
** For annotated source: file, line, calls (by others, of the functions that
** begin on the line; else missing), count, self, function, by file and line.
** Lines with neither calls nor weight are left out.
*/
pf_status pf_listing_annotations (const pf_listing *listing, pf_reader **reader,
                                  pf_error *error);

/*
** The functions with a weight or an arc (or all), in the order of their
** numbers: number, function, symbol (its name as the linker has it), address,
** file, line, calls, recursive_calls, cycle, is_pseudo, is_local.
*/
pf_status pf_listing_functions (const pf_listing *listing, pf_reader **reader,
                                pf_error *error);

/* The reports that have templates. */
typedef enum pf_listing_report {
  PF_LISTING_FLAT,
  PF_LISTING_TEXT,
  PF_LISTING_INDEX
} pf_listing_report;

/* The templates of all kinds of a report, as gprof prints them; `traditional`:
   as its option -T does. `count` of them. */
const pf_template *pf_listing_templates (pf_listing_report report,
                                         bool traditional, size_t *count);

#endif
