/*
** elf_file.h - an ELF file in memory through libelf, and the sections of it
** that matter for symbols. Only the files behind symbols.h include this.
*/

#ifndef elf_file_h
#define elf_file_h

#include <gelf.h>

#include "model/symbols/symbols.h"

/* One section; all zero when it could not be read. */
typedef struct elf_section {
  uint64_t start, end; /* addresses */
  uint32_t type, link;
  bool is_code, is_loaded;
  const char *name; /* in the file; "" when it has none */
} elf_section;

typedef struct elf_file {
  Elf *elf;
  GElf_Ehdr header;
  elf_section *sections; /* by section number */
  size_t nsections;
} elf_file;

/* Open over bytes that stay until elf_file_close. PF_EUNSUPPORTED for programs
   of another kind, PF_EFORMAT for what is no program. The struct may be closed
   after a failure too. */
pf_status elf_file_open (elf_file *file, pf_bytes bytes, pf_error *error);
void elf_file_close (elf_file *file);

/* The first section of a type (`name` NULL) or of a name; NULL: none. */
const elf_section *elf_file_section (const elf_file *file, uint32_t type,
                                     const char *name);

/* The contents of a section as they stand in the file; empty when it has
   none there. */
pf_bytes elf_file_contents (const elf_file *file, const elf_section *section);


/* An executable and its debug file. */
typedef struct elf_pair {
  elf_file main, debug; /* debug.elf is NULL when there is none */
} elf_pair;

/* Open both; a debug file that is empty or cannot be read is as good as none.
   The struct may be closed after a failure too. */
pf_status elf_pair_open (elf_pair *pair, pf_bytes executable, pf_bytes debug,
                         pf_error *error);
void elf_pair_close (elf_pair *pair);

/* What they say about themselves. */
void elf_pair_facts (const elf_pair *pair, pf_executable *facts);

#endif
