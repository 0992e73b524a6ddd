/*
** elf_file.h - opens an ELF file in memory with libelf, and lists its sections.
** Used only inside model/symbols. The bytes are borrowed until the file is
** closed.
*/

#ifndef elf_file_h
#define elf_file_h

#include <gelf.h>

#include "model/symbols/symbols.h"

/* A section; zeros if it could not be read. */
typedef struct elf_section {
  uint64_t start, end; /* addresses */
  uint32_t type, link;
  bool is_code, is_loaded;
  const char *name; /* borrowed from the file; "": no name */
} elf_section;

typedef struct elf_file {
  Elf *elf; /* owned, as the sections; elf_pair_close frees both */
  GElf_Ehdr header;
  elf_section *sections; /* by section number */
  size_t nsections;
} elf_file;

/* Return the first section of a type (`name` NULL) or with a name; NULL: none.
   */
const elf_section *elf_file_section (const elf_file *file, uint32_t type,
                                     const char *name);

/* Return the bytes of a section in the file; empty if it has none. */
pf_bytes elf_file_contents (const elf_file *file, const elf_section *section);


/* An executable and its debug file. */
typedef struct elf_pair {
  elf_file main, debug; /* debug.elf is NULL when there is none */
} elf_pair;

/* Open both; a debug file that is empty or cannot be read is ignored.
   PF_EUNSUPPORTED: a program of another format; PF_EFORMAT: no program. Close
   the struct after a failure, too. */
pf_status elf_pair_open (elf_pair *pair, pf_bytes executable, pf_bytes debug,
                         pf_error *error);
void elf_pair_close (elf_pair *pair);

/* Read the facts of both files. */
void elf_pair_facts (const elf_pair *pair, pf_executable *facts);

#endif
