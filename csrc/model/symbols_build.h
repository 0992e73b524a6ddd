/*
** symbols_build.h - what the files behind symbols.h share: the readers of ELF
** tables and of nm text add what they find to the array, in any order, and
** pf_symbols_build makes it the sorted one. Nobody else includes this.
*/

#ifndef symbols_build_h
#define symbols_build_h

#include "model/ranges.h"
#include "model/symbols.h"

#define PF_FOUND_AT_ONCE 256 /* names are interned together: it is faster */

struct pf_symbols {
  pf_executable facts;
  pf_dictionary *dictionary;
  pf_bytes executable, debug; /* may be empty; lines are read from them, */
  const bool *open[2];        /* while these are set or NULL */
  pf_symbol *all;
  size_t count, room;
  pf_bytes unnamed[PF_FOUND_AT_ONCE]; /* the names of the last ones in `all` */
  size_t nunnamed;
  uint64_t last_start; /* of the one that came last */
  bool unsorted;       /* some came after one of a greater start */
  pf_ranges ranges;    /* over all */
  pf_line_row *lines;
  size_t nlines;
  pf_ranges line_ranges; /* over lines */
  bool lines_read;
};


/* A symbol as a table has it. */
typedef struct pf_found {
  uint64_t address;
  uint64_t size;  /* 0: not known */
  uint64_t limit; /* the end of its section; UINT64_MAX: not known */
  pf_bytes name;  /* borrowed until the array is made */
  bool is_function, is_global;
  bool is_dotted; /* a dot is to be put before the name */
} pf_found;

/* Make room for about `count` symbols, and `spare` ones that have no names yet:
   only to be faster. */
void pf_symbols_size_hint (pf_symbols *symbols, size_t count, size_t spare);

/* Append; PF_ENOMEM, or PF_ELIMIT at 2^32 symbols. */
pf_status pf_symbols_add (pf_symbols *symbols, const pf_found *found);

/* The same in two steps, for many. Make room for `count` symbols behind the
   last, as pf_symbols_add fails; write there what is made of each that was
   found (its name has no dot), in any thread; then append them by their names,
   PF_ENOMEM. */
pf_status pf_symbols_reserve (pf_symbols *symbols, size_t count);
pf_symbol pf_symbol_of (const pf_found *found);
pf_status pf_symbols_append (pf_symbols *symbols, const pf_bytes *names,
                             size_t count);


/* Symbols without any symbol; NULL when out of memory. */
pf_symbols *pf_symbols_new (pf_dictionary *dictionary);

/* Set the facts, and where lines are read from, by an executable and its
   debug file; both may be empty. */
pf_status pf_symbols_attach (pf_symbols *symbols, pf_bytes executable,
                             pf_bytes debug, pf_error *error);

/* Make the array of what was added: sort, keep one symbol per address, find
   the ends. facts.text_end must be set before. */
pf_status pf_symbols_build (pf_symbols *symbols, pf_symbol_rule rule);

/* What gprof makes of the local names of a string table. */
typedef struct pf_gprof_names {
  pf_bytes strings;
  uint8_t *verdicts; /* by byte, of the string that starts there */
} pf_gprof_names;

pf_status pf_gprof_names_open (pf_gprof_names *names, pf_bytes strings);
void pf_gprof_names_close (pf_gprof_names *names);

/*
** Whether gprof takes a local text symbol for a function, by its name at
** `offset` in the table. The table is needed because gprof reads on behind
** the end of some names.
*/
bool pf_gprof_keeps_local (pf_gprof_names *names, size_t offset);

#endif
