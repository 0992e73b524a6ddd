/*
** dwarf_functions.h - the function of each address by the debug information.
** Used only by dwarf_lines.c.
*/

#ifndef dwarf_functions_h
#define dwarf_functions_h

#include <elfutils/libdw.h>

#include "model/symbols/debug_info.h"

/* Sets *ranges to the ranges in order of address, which the caller frees.
   PF_ENOMEM, PF_ELIMIT. */
pf_status pf_read_functions (Dwarf *dwarf, pf_dictionary *dictionary,
                             const pf_executable *facts,
                             pf_function_range **ranges, size_t *count);

#endif
