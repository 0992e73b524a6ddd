/*
** builder.h - what the files of model/symbols share: ELF files in memory
** (elf_file.c), and the building of symbol tables. Used only inside this
** folder.
**
** pf_symbols_open (symbols.c) calls pf_symbols_read_elf (elf_symbols.c) or
** pf_symbols_read_nm (nm_text.c). Either gives a size hint, adds symbols in any
** order and calls pf_symbols_build, after which the symbols are complete.
** pf_symbols_open allocates the pf_symbols, and frees it after a failure.
*/

#ifndef builder_h
#define builder_h

#include "model/symbols/symbols.h"

/* elf_file.c: an ELF file in memory. The bytes are borrowed until the file is
   closed. */

/* A section; zeros and the name "" if it could not be read. */
typedef struct elf_section {
  uint64_t start, end; /* addresses */
  uint32_t type, link;
  bool is_code, is_loaded, is_packed;
  uint64_t entry_size; /* of a table */
  pf_bytes contents;   /* in the file; empty if it has none there */
  const char *name;    /* borrowed from the file; "": no name */
} elf_section;

/* The loaded segments and notes of a program. */
typedef struct elf_segment {
  uint32_t type, flags; /* type 0: none */
  uint64_t address, offset, memory_size, file_size;
} elf_segment;

typedef struct elf_file {
  pf_bytes bytes; /* empty: the file is not open */
  bool is_64, is_big;
  uint16_t type, machine;
  uint32_t flags;
  uint64_t entry;
  elf_section *sections; /* owned, by section number */
  size_t nsections, nsegments;
  uint64_t segments_at; /* offset of their headers */
} elf_file;

/* A symbol of a table. */
typedef struct elf_symbol {
  uint32_t name; /* offset in the strings */
  unsigned type, bind, section;
  uint64_t value, size;
} elf_symbol;

/* Return the bytes of an entry of a symbol table; and read entry `number`.
   False if the table is shorter. */
size_t elf_symbol_size (const elf_file *file);
bool elf_symbol_at (const elf_file *file, pf_bytes table, size_t number,
                    elf_symbol *symbol);

/* Return the string at an offset of a section; NULL: it has none there. */
const char *elf_string (const elf_file *file, size_t section, uint64_t offset);

/* Return the first section of a type (`name` NULL) or with a name; NULL: none.
   */
const elf_section *elf_file_section (const elf_file *file, uint32_t type,
                                     const char *name);


/* An executable and its debug file. */
typedef struct elf_pair {
  elf_file main, debug; /* the bytes of `debug` are empty when there is none */
} elf_pair;

/* Open both; a debug file that is empty or cannot be read is ignored.
   PF_EUNSUPPORTED: a program of another format; PF_EFORMAT: no program, or a
   damaged one; PF_ENOMEM. Close the struct after a failure, too. */
pf_status elf_pair_open (elf_pair *pair, pf_bytes executable, pf_bytes debug,
                         pf_error *error);
void elf_pair_close (elf_pair *pair);

/* Set all facts of an executable; has_symbols and has_lines also if only the
   debug file has them. */
void elf_pair_facts (const elf_pair *pair, pf_executable *facts);

/* A symbol as an input states it. */
typedef struct pf_found {
  uint64_t address;
  uint64_t size;  /* 0: not known */
  uint64_t limit; /* the end of its section or text; UINT64_MAX: not known */
  pf_bytes name;  /* borrowed until pf_symbols_build */
  bool is_function, is_global;
  bool is_dotted;     /* put a dot before the name */
  const char *suffix; /* to put after the name, or NULL */
} pf_found;

/* Reserve capacity for about `count` symbols; a hint, failures are ignored. */
void pf_symbols_size_hint (pf_symbols *symbols, size_t count);

/* Return a name without the version that the linker gives the function of a
   shared library, as in pow@@GLIBC_2.29. Names of Microsoft's compilers, which
   begin with ?, stay. */
pf_bytes pf_without_version (pf_bytes name);

/* Append a symbol; PF_ENOMEM, or PF_ELIMIT for 2^32 - 1 symbols or more. */
pf_status pf_symbols_add (pf_symbols *symbols, const pf_found *found);

/* Read the first that exists of .symtab of the executable, .symtab of its debug
   file, and .dynsym of the executable. PF_ELIMIT, PF_ENOMEM. */
pf_status pf_symbols_read_elf (pf_symbols *symbols, const elf_pair *pair,
                               pf_symbol_rule rule, pf_error *error);

/* plt_symbols.c: append the stubs of calls into shared libraries. PF_ELIMIT,
   PF_ENOMEM. */
pf_status pf_symbols_add_plt (pf_symbols *symbols, const elf_file *file);

/* Read the text of nm. PF_EFORMAT, PF_ELIMIT, PF_ENOMEM. */
pf_status pf_symbols_read_nm (pf_symbols *symbols, pf_bytes text,
                              pf_symbol_rule rule, pf_error *error);

/* Sort the symbols, keep one per address, set their ends and facts.has_symbols,
   and open the index. By gprof's rule the last one ends at facts.text_end (0:
   not known). PF_ENOMEM. */
pf_status pf_symbols_build (pf_symbols *symbols, pf_symbol_rule rule);

#endif
