/*
** compare.h - explain the differences between an exact profile and the profile
** that gprof computes. Used by lua/profile/profile.c. The caller closes the
** reader, which frees its own arrays.
*/

#ifndef compare_h
#define compare_h

#include "kernels/listing/listing.h"

/*
** Open a reader of the functions whose times differ by more than 1 ns (or unit
** of the metric), or whose calls differ, between an exact profile and a compat
** profile of the same files, the largest difference of times first: function,
** exact_self, gprof_self, exact_calls, gprof_calls (by others; missing if the
** profile has no such function), why. `why` is a list of these reasons, joined
** by ", ", of at most 400 bytes:
**
**   bin drift             gprof divides the range evenly; real bins differ
**   credit not conserved  gprof's parts of a bin do not add up to its count
**   bin shared            a bin over several functions: whole numbers in the
**                         exact profile, fractions in gprof's
**   last symbol           gprof attributes nothing to the last symbol
**   local suffix dropped  gprof drops local symbols with a dotted suffix
**   symbol dropped        any other symbol that gprof does not count
**   absorbs NAME          gprof adds such a symbol to the one before it
**   absorbs a gap         gprof adds a gap to the symbol before it
**   outside symbols       addresses in no symbol
**   caller outside        calls from outside all symbols, which gprof drops
**   different rates       gprof adds samples of different rates
**   excluded              one of the profiler's own functions
**   not a function        a symbol that only gprof counts
**   not explained         none of these
**
** The profiles share a dictionary; both flows are borrowed and must outlive the
** reader. PF_ENOMEM.
*/
pf_status pf_compare (const pf_listing *exact, const pf_listing *compat,
                      pf_reader **reader, pf_error *error);

#endif
