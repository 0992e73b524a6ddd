/*
** gprof.h - histogram rows into weights of functions as gprof 2.40 does it,
** with its arithmetic, order and defects, so that its digits come out.
**
**   - Addresses are counted in units of 2 bytes. The range of the first
**     histogram is divided evenly: scale = ((high - low) / 2) / bins, a
**     double; bin i is [low/2 + trunc(scale*i), low/2 + trunc(scale*(i+1))).
**     The real bins of profil() may lie elsewhere.
**   - A function gets count * overlap / scale, though the bin may be a unit
**     wider or narrower than scale: the parts need not add up to the count.
**   - The last symbol gets nothing: its end is read behind the table.
**   - Histograms of one range are added up, modulo 2^32, before all this.
*/

#ifndef gprof_h
#define gprof_h

#include "kernels/graph/address_index.h"
#include "kernels/graph/histograms.h"

/* PF_EUNSUPPORTED, with the words gprof would stop with, when it refuses
   these sets. Marks repeated ranges. */
pf_status pf_gprof_check (pf_histograms *sets, pf_error *error);

/*
** Credit all rows of table `histogram` to graph->ticks; function i of the
** graph covers range i of the index. Beside it compute what would come out
** if the parts of each bin added up (even_ticks), and if moreover the bins
** lay where profil() puts them (right_ticks): what differs tells why.
*/
pf_status pf_gprof_histogram (pf_graph *graph, const pf_address_index *index,
                              const pf_histograms *sets, pf_reader *histogram,
                              pf_error *error);

#endif
