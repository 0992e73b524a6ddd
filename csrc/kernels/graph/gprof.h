/*
** gprof.h - attribute histogram counts to functions as gprof 2.40 does, with
** its arithmetic, order and defects, so that all digits are the same as
** gprof's. Used by assemble.c for compat profiles: pf_gprof_check, then
** pf_gprof_histogram. All arguments are borrowed during the call. The source is
** hist.c of GNU binutils:
**
**   - Addresses are counted in units of 2 bytes. The range of the first
**     histogram is divided evenly: scale = ((high - low) / 2) / bins, a
**     double; bin i is [low/2 + trunc(scale*i), low/2 + trunc(scale*(i+1))).
**     The real bins of profil() may lie elsewhere.
**   - A function gets count * overlap / scale, though the bin may be a unit
**     wider or narrower than scale: the parts need not add up to the count.
**   - The last symbol gets nothing: gprof reads its end after the table's end.
**   - Histograms of the same range are summed first, modulo 2^32.
*/

#ifndef gprof_h
#define gprof_h

#include "kernels/graph/attribute.h"

/* PF_EUNSUPPORTED, with gprof's message, when gprof refuses these sets. Sets
   `is_repeated` and the `first` of sets whose range is repeated. PF_ENOMEM. */
pf_status pf_gprof_check (pf_histograms *sets, pf_error *error);

/*
** Attribute all rows of table `histogram` to graph->ticks; function i of the
** graph covers range i of the index. Two more results explain differences from
** the exact profile: even_ticks are what gprof would compute if the parts of
** each bin added up to its count, right_ticks if also the bins lay where
** profil() puts them. PF_EUNSUPPORTED without the columns set, low, high, count
** and bin, or if a row names a set that `sets` lack; PF_ENOMEM; or the reader's
** error.
*/
pf_status pf_gprof_histogram (pf_graph *graph, const pf_address_index *index,
                              const pf_histograms *sets, pf_reader *histogram,
                              pf_error *error);

#endif
