/*
** symbols.h - the functions of an executable, from ELF symbol tables (libelf)
** or the text of `nm`, and its source lines (libdw). Used by
** kernels/stages/symbolize.c, kernels/graph and lua/symbols.c.
**
** Open by pf_symbols_elf or pf_symbols_nm, look up addresses, pf_symbols_free.
** Symbols are a sorted array with an index (ranges.h). Names are linker names;
** pf_demangle makes them readable.
*/

#ifndef symbols_h
#define symbols_h

#include "model/base/ranges.h"
#include "profio.h"

typedef struct pf_symbols pf_symbols;

/* Which symbols count as functions, and where each ends. */
typedef enum pf_symbol_rule {
  PF_SYMBOLS_EXACT, /* functions, and untyped globals in code; size is used */
  PF_SYMBOLS_GPROF  /* as gprof 2.40 picks them: each ends where the next
                       begins, local ones with a dotted suffix are dropped */
} pf_symbol_rule;

typedef struct pf_symbol {
  uint64_t start, end; /* [start, end) */
  uint32_t name;       /* id of the linker name in the dictionary */
  bool is_function;    /* STT_FUNC, or the type letter of nm */
  bool is_global;
  bool is_sized; /* its end is stated, and not the start of the next one */
  uint8_t rank;  /* of several symbols at one address the highest rank wins */
} pf_symbol;

/* Facts of an executable. */
typedef struct pf_executable {
  unsigned address_size; /* 4 or 8; 0 unknown (nm text) */
  bool big_endian, is_pie, has_symbols, has_lines;
  bool only_dynamic; /* stripped: only the exported symbols are left */
  uint16_t machine;  /* ELF e_machine, 0 unknown */
  uint64_t entry;    /* e_entry */
  uint64_t text_start, text_end;   /* .text, or the executable segments */
  uint64_t code_start, code_end;   /* all executable sections or segments */
  uint64_t image_start, image_end; /* the loaded range */
  uint8_t build_id[64];
  size_t build_id_size;
  char debug_link[256]; /* file name of its debug file; "": not stated */
  uint32_t debug_crc;   /* of that file: pf_debug_crc of all its bytes */
} pf_executable;

/*
** Read only the facts. PF_EFORMAT: no ELF file; PF_EUNSUPPORTED: PE, Mach-O and
** the like, with the advice to use `nm` text instead.
*/
pf_status pf_executable_read (pf_bytes bytes, pf_executable *facts,
                              pf_error *error);

/* Return the CRC-32 of a debug file, as .gnu_debuglink states it. */
uint32_t pf_debug_crc (pf_bytes bytes);

/*
** Read the symbols of an executable. `debug` (may be empty) is its separate
** debug file, used for what the first lacks. PF_EFORMAT as of
** pf_executable_read; a stripped file is fine and has no symbols, or those of
** its dynamic table. The bytes must stay while the symbols live.
*/
pf_status pf_symbols_elf (pf_bytes executable, pf_bytes debug,
                          pf_symbol_rule rule, pf_dictionary *dictionary,
                          pf_symbols **symbols, pf_error *error);

/*
** Read the text of `nm`: BSD, POSIX (-P), System V and Tru64 forms. Facts and
** lines come from the executable and its debug file, both may be empty; the
** text is not needed afterwards. PF_EFORMAT when no line names a symbol.
*/
pf_status pf_symbols_nm (pf_bytes text, pf_bytes executable, pf_bytes debug,
                         pf_symbol_rule rule, pf_dictionary *dictionary,
                         pf_symbols **symbols, pf_error *error);

/*
** Split the symbols at each change of the source line, as gprof -l does. Each
** piece becomes a symbol called "function (file:line @ address)". PF_ENOMEM.
*/
pf_status pf_symbols_by_line (pf_symbols *symbols);

void pf_symbols_free (pf_symbols *symbols);

/* Read lines only while both flags are set (NULL: always); the owner of the
   bytes clears them before it unmaps. */
void pf_symbols_watch (pf_symbols *symbols, const bool *executable_open,
                       const bool *debug_open);

/* The dictionary of the names. */
pf_dictionary *pf_symbols_dictionary (const pf_symbols *symbols);

const pf_executable *pf_symbols_facts (const pf_symbols *symbols);

/* All symbols in order of address. */
const pf_symbol *pf_symbols_all (const pf_symbols *symbols, size_t *count);

/* The index over them. */
const pf_ranges *pf_symbols_ranges (const pf_symbols *symbols);

/* The index of the symbol that contains a link-time address, or SIZE_MAX. */
size_t pf_symbols_find (const pf_symbols *symbols, uint64_t address);

typedef struct pf_line_row {
  uint64_t start, end; /* [start, end) */
  uint32_t file;       /* in the dictionary: directory and name */
  uint32_t line;
} pf_line_row;

/* Read all line tables into one sorted array, at the first call; without it no
   line is known. PF_ENOMEM: a later call tries again. */
pf_status pf_symbols_read_lines (pf_symbols *symbols);

/* Find the source line of an address; false if it is not known. */
bool pf_symbols_line (const pf_symbols *symbols, uint64_t address,
                      pf_line_row *row);

/* All line rows in order of address. */
const pf_line_row *pf_symbols_lines (const pf_symbols *symbols, size_t *count);

/* Return the id of the demangled form of a C++ name (or of an old Rust name) in
   the same dictionary. Returns `name` itself if it is not mangled or its
   demangled form exceeds 64 KiB. When out of memory it returns `name` and sets
   dictionary->lacks_memory, which readers check once per batch. */
uint32_t pf_demangle (pf_dictionary *dictionary, uint32_t name);

#endif
