/*
** compare.h - where gprof's numbers differ from the exact ones, and why.
*/

#ifndef compare_h
#define compare_h

#include "kernels/graph/listing.h"

/*
** A reader of the functions whose time or calls differ between an exact
** profile and a compat one of the same files: function, exact_self,
** gprof_self (ns), exact_calls, gprof_calls (by others; missing where the
** profile has no such function), why. It is `why` that is told from evidence:
**
**   bin drift             gprof divides the range evenly; the bins lie elsewhere
**   credit not conserved  the parts gprof gives out of a bin do not add up
**   bin shared            a straddling bin's part, whole here, a fraction there
**   last symbol           gprof gives the last symbol nothing
**   local suffix dropped  a local symbol with a dotted suffix that gprof loses
**   symbol dropped        any other symbol gprof does not count
**   absorbs NAME          what such a symbol spent, credited to the one before
**   absorbs a gap         the same of addresses in no symbol
**   outside symbols       addresses in no symbol
**   caller outside        calls from outside all symbols, which gprof drops
**   different rates       files sampled at different rates, added up as one
**   excluded              one of the profiler's own functions
**   not a function        a symbol that only gprof counts
**   not explained         none of these
**
** joined by ", ". The two profiles share a dictionary; both flows must outlive
** the reader. The largest difference comes first.
*/
pf_status pf_compare (const pf_listing *exact, const pf_listing *compat,
                      pf_reader **reader, pf_error *error);

#endif
