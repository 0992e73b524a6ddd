/*
** debug_info.h - lines and functions from the debug information of a program,
** as dwarf_lines.c gives them to line_table.c. Used only by these and dwarf.h.
*/

#ifndef debug_info_h
#define debug_info_h

#include "model/symbols/builder.h"

/* Code of one function, without those that were inlined into it. */
typedef struct pf_function_range {
  uint64_t start, end; /* [start, end) */
  uint64_t low;        /* where the function begins: its first range */
  uint32_t name;       /* id in the dictionary */
  bool has_own_name;   /* the name of a symbol at `low` does not replace it */
} pf_function_range;

/* Read the lines of a file and, if the symbols are split by line by the rule of
   gprof, its functions. Files without lines have none. PF_ELIMIT, PF_ENOMEM. */
pf_status pf_read_dwarf (pf_symbols *symbols, pf_bytes file);

/* line_table.c: set the lines of the symbols, from rows in any order, and open
   their index. PF_ENOMEM. */
pf_status pf_symbols_set_lines (pf_symbols *symbols, const pf_line_row *rows,
                                size_t count);

#endif
