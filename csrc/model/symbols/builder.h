/*
** builder.h - building of symbol tables. Used only inside model/symbols: the
** readers of ELF tables and of nm text add symbols in any order, and
** pf_symbols_build sorts them. Order of calls: size_hint, add, build. The
** caller owns the pf_symbols and frees it, also after a failure.
*/

#ifndef builder_h
#define builder_h

#include "model/symbols/elf_file.h"

/* A symbol as an input states it. */
typedef struct pf_found {
  uint64_t address;
  uint64_t size;  /* 0: not known */
  uint64_t limit; /* the end of its section; UINT64_MAX: not known */
  pf_bytes name;  /* borrowed until pf_symbols_build */
  bool is_function, is_global;
  bool is_dotted; /* put a dot before the name */
} pf_found;

/* Reserve capacity for about `count` symbols; a hint, failures are ignored. */
void pf_symbols_size_hint (pf_symbols *symbols, size_t count);

/* Append; PF_ENOMEM, or PF_ELIMIT at 2^32 symbols. */
pf_status pf_symbols_add (pf_symbols *symbols, const pf_found *found);

/* Read the symbol tables of an executable and its debug file. */
pf_status pf_symbols_read_elf (pf_symbols *symbols, const elf_pair *pair,
                               pf_symbol_rule rule, pf_error *error);

/* Read the text of nm. */
pf_status pf_symbols_read_nm (pf_symbols *symbols, pf_bytes text,
                              pf_symbol_rule rule, pf_error *error);

/* Sort the symbols, keep one per address, and set their ends. facts.text_end
   must be set before. PF_ENOMEM. */
pf_status pf_symbols_build (pf_symbols *symbols, pf_symbol_rule rule);

/* The decisions of gprof on the local names of a string table: a cache. */
typedef struct pf_gprof_names {
  pf_bytes strings;  /* borrowed: the string table of the ELF file */
  uint8_t *verdicts; /* owned, by offset of the string */
} pf_gprof_names;

pf_status pf_gprof_names_open (pf_gprof_names *names, pf_bytes strings);
void pf_gprof_names_close (pf_gprof_names *names);

/* Return whether gprof regards a local text symbol as a function, by its name
   at `offset` in the table. gprof reads beyond the end of some names, so the
   whole table is needed. */
bool pf_gprof_keeps_local (pf_gprof_names *names, size_t offset);

#endif
