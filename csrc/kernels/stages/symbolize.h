/*
** symbolize.h - the stage that adds function, file and line of addresses. Used
** by csrc/lua/symbol_table.c. The columns and prefixes are copied.
*/

#ifndef symbolize_h
#define symbolize_h

#include "model/symbols/symbols.h"

/* A column of addresses, and the prefix of the names of its new columns. */
typedef struct pf_address_column {
  size_t column;      /* of type PF_ADDR */
  const char *prefix; /* "" or, say, "from_" */
} pf_address_column;

/*
** Open a reader of the rows of `input` (borrowed, like the symbols) with three
** further columns for each of columns[0..count-1]: function (a name, demangled
** unless `raw`), file (a name) and line (a number). A name that the input
** already has gets the prefix "source_". They are missing for an address in no
** symbol, or without a line. Addresses are looked up as (address - bias). Only
** wanted columns are looked up.
**
** PF_EUNSUPPORTED when a column does not hold addresses, or the names of the
** symbols are in another dictionary than those of the input; PF_ENOMEM.
*/
pf_status pf_symbolize_open (pf_reader *input, pf_symbols *symbols,
                             uint64_t bias, bool raw,
                             const pf_address_column *columns, size_t count,
                             pf_reader **reader, pf_error *error);

#endif
