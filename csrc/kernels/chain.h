/*
** chain.h - readers of one schema in a row, as one reader: several files read
** as one table.
*/

#ifndef chain_h
#define chain_h

#include "model/batch.h"

/* The help of the first constant, the file that a row is from: so it is known
   among columns of that name. */
extern const char pf_chain_file[];

/* One reader of the row. */
typedef struct pf_chain_input {
  pf_reader *reader;         /* borrowed */
  const uint32_t *constants; /* a name of each constant, or PF_NO_NAME */
  uint64_t numbers_used;     /* by its columns with part_numbers */
  pf_reader **owner; /* its owner's pointer to it; NULL: it stays open */
} pf_chain_input;

/*
** A reader of all rows of all parts. The parts have the same fields and the
** same dictionary. Its fields are theirs and nconstants columns of names, one
** value per part; `constants` names them (strings are copied). Columns with
** part_numbers are raised by the numbers the parts before have used. A part that
** has ended is closed, and its owner's pointer becomes NULL: else thousands of
** files would keep their buffers until the last one is read.
*/
pf_status pf_chain_open (const pf_chain_input *parts, size_t nparts,
                         const char *const *constants, size_t nconstants,
                         pf_reader **reader, pf_error *error);

#endif
