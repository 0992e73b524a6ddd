/*
** listing.h - readers of the rows of a profile: flat profile, call graph, its
** text listing and index, source lines, functions. Used by
** lua/profile/profile.c. The caller closes the readers.
**
** The flow and the listing's arrays are borrowed and must outlive the reader.
** Most readers compute rows on demand, so memory does not grow with the report.
** Functions that open a reader return PF_OK or PF_ENOMEM.
**
** Times in columns self and total are whole nanoseconds, or in the unit of a
** metric that is no time; columns with seconds in their name are numbers for
** printing. Column percent is a share times 100, computed in gprof's order, so
** that it is rounded as gprof does.
*/

#ifndef listing_h
#define listing_h

#include "kernels/graph/propagate.h"

/* The input of a listing. */
typedef struct pf_listing {
  const pf_flow *flow;
  bool zeros; /* include functions without time and calls */
  /* Cache of demangled names by function, filled on demand; PF_NO_NAME: not
     known yet. NULL: symbols are shown as they are. */
  uint32_t *shown;
} pf_listing;

/*
** The flat profile: kind ("function"), function, calls (by others), self,
** total, self_share, total_share, file, line, recursive_calls (by itself),
** percent, cumulative_seconds, self_seconds, self_per_call, total_per_call.
** The last two are in the unit of pf_flat_unit. They and calls are missing if
** others have not called the function.
*/
pf_status pf_listing_flat (const pf_listing *listing, pf_reader **reader,
                           pf_error *error);

/* Returns the SI prefix of the unit of the columns per call, in which their
   maximum is from 1 to below 1,000 if possible; ' ' for seconds. *per_second is
   set to the units in a second. */
char pf_flat_unit (const pf_flow *flow, double *per_second);

/*
** The arcs: caller, callee, calls, self, total, and the files of both
** functions. Self and total are the times
** that the callee propagates to the caller, without and with the functions that
** it called; they are missing for arcs inside a cycle or from a function to
** itself. A function without callers has a row without caller and calls, if it
** has time or `zeros` is set. Rows are in the order of the text listing, by
** caller.
*/
pf_status pf_listing_graph (const pf_listing *listing, pf_reader **reader,
                            pf_error *error);

/* The same rows for some functions, such as those of one name: their callers,
   or their callees. */
pf_status pf_listing_callers (const pf_listing *listing,
                              const uint32_t *functions, size_t count,
                              pf_reader **reader, pf_error *error);
pf_status pf_listing_callees (const pf_listing *listing,
                              const uint32_t *functions, size_t count,
                              pf_reader **reader, pf_error *error);

/*
** The text of the call graph, a row for each line of gprof's, in gprof's order:
** kind, label ("[1]"), percent, self_seconds, children_seconds, count, of,
** name, cycle, reference (the index number).
**
** Kinds: cycle and cycle_recursive (header of a cycle), member and
** member_recursive, spontaneous (no callers), outside (called from outside the
** program), caller and caller_inner (in the same cycle, or itself), function
** and function_recursive (the entry itself), callee and callee_inner,
** separator. Those with a name (all but cycle..., spontaneous, outside and
** separator) have three variants: ..._in_cycle, ..._hidden when the index
** number refers to no entry, ..._in_cycle_hidden. The flow must have been
** ranked (pf_flow_rank), also for the index and the arcs.
*/
pf_status pf_listing_text (const pf_listing *listing, pf_reader **reader,
                           pf_error *error);

/*
** The index by function name, a row for each cell; names run down three
** columns: kind (cell, cell_file, row_end), pad (spaces before the cell), label
** ("[1]", or "(1)" if there is no entry), name ("<cycle 1>" of a cycle), file
** (of static functions with known source, without folders; kind cell_file).
*/
pf_status pf_listing_index (const pf_listing *listing, pf_reader **reader,
                            pf_error *error);

/*
** The source lines with a weight, by descending self: file, line, count, self,
** self_share, function.
*/
pf_status pf_listing_lines (const pf_listing *listing, pf_reader **reader,
                            pf_error *error);

/*
** For annotated source, by file and line: the same columns, then calls (of the
** function that begins on the line, by others; missing for other lines). Lines
** without calls and weight are left out.
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

#endif
