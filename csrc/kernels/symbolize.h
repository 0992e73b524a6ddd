/*
** symbolize.h - the stage that adds function, file and line of addresses.
*/

#ifndef symbolize_h
#define symbolize_h

#include "model/symbols.h"

/* A column of addresses, and what the names of its new columns begin with. */
typedef struct pf_derived {
  size_t column;      /* of type PF_ADDR */
  const char *prefix; /* "" or, say, "from_" */
} pf_derived;

/*
** A reader of the rows of `input` (borrowed, as the symbols are) with three
** columns more for each derived[0..count-1]: function (a name, readable
** unless `raw`), file (a name) and line (a number). A name that the input has
** already is preceded by "source_". An address in no symbol, or without a
** line, leaves them missing. Symbols are at (address - bias). Only wanted
** columns are looked up.
**
** PF_EUNSUPPORTED when a column holds no addresses, or the symbols' names are
** in another dictionary than the input's.
*/
pf_status pf_symbolize_open (pf_reader *input, pf_symbols *symbols,
                             uint64_t bias, bool raw, const pf_derived *derived,
                             size_t count, pf_reader **reader, pf_error *error);

#endif
