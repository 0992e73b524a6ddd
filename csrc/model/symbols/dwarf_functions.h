/*
** dwarf_functions.h - the function of each address by the debug information.
** Used only by line_table.c.
*/

#ifndef dwarf_functions_h
#define dwarf_functions_h

#include <elfutils/libdw.h>

#include "model/symbols/symbols.h"

/* Code of one function, without those that were inlined into it. */
typedef struct pf_function_range {
  uint64_t start, end; /* [start, end) */
  uint64_t low;        /* where the function begins: its first range */
  uint32_t name;       /* id in the dictionary */
  bool has_own_name;   /* the name of a symbol at `low` does not replace it */
} pf_function_range;

/* Sets *ranges to the ranges in order of address, which the caller frees.
   PF_ENOMEM, PF_ELIMIT. */
pf_status pf_read_functions (Dwarf *dwarf, pf_dictionary *dictionary,
                             const pf_executable *facts,
                             pf_function_range **ranges, size_t *count);

#endif
