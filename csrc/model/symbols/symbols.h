/*
** symbols.h - the functions of an executable (ELF, PE, Mach-O, ECOFF) or of
** the text of `nm`, and its source lines (DWARF). Used by
** kernels/stages/symbolize.c, kernels/graph, kernels/listing and lua/profile;
** opened and freed by lua/symbol_table.c.
**
** Open by pf_symbols_open or pf_symbols_unpack, look up addresses,
** pf_symbols_free. Symbols are a sorted array with an index (ranges.h). Names
** are linker names; pf_demangle makes them readable.
**
** The symbols own their arrays. They borrow the dictionary until
** pf_symbols_free, and the bytes of the files as pf_symbol_files says.
*/

#ifndef symbols_h
#define symbols_h

#include "model/base/pack.h"
#include "model/base/ranges.h"
#include "profio.h"

/* The rule by which symbols count as functions, and where each ends. */
typedef enum pf_symbol_rule {
  PF_SYMBOLS_EXACT, /* functions, and untyped globals in code; size is used */
  PF_SYMBOLS_GPROF  /* as gprof 2.40 selects them (elf_symbols.c): each ends
                       where the next one begins */
} pf_symbol_rule;

typedef struct pf_symbol {
  uint64_t start, end; /* [start, end) */
  uint32_t name;       /* id of the linker name in the dictionary */
  bool is_function;    /* has the type of a function; any symbol of nm; of
                          the pieces of pf_symbols_by_line only the first */
  bool is_global;
  bool is_sized; /* its end is stated, and not the start of the next one */
  uint8_t rank;  /* 0 to 11: of symbols at one address the highest is kept */
} pf_symbol;

/* Facts of an executable. */
typedef struct pf_executable {
  unsigned address_size; /* 4 or 8; 0 unknown (only the text of nm) */
  bool big_endian, is_pie, has_symbols, has_lines;
  bool only_dynamic; /* stripped: only the exported symbols are left */
  uint16_t machine;  /* ELF e_machine, 0 unknown */
  uint64_t entry;    /* e_entry */
  uint64_t text_start, text_end;   /* .text, or else the code */
  uint64_t code_start, code_end;   /* executable sections, or else segments */
  uint64_t image_start, image_end; /* all loaded segments */
  uint64_t segment_end;        /* of the executable segments: etext of gold */
  uint64_t code_address_shift; /* address minus offset in the file of the first
                                  executable segment */
  uint8_t build_id[64];
  size_t build_id_size;
  char debug_link[256]; /* file name of its debug file; "": not stated */
  uint32_t debug_crc;   /* of that file: pf_debug_crc of all its bytes */
} pf_executable;

typedef struct pf_line_row {
  uint64_t start, end; /* [start, end) */
  uint32_t file;       /* in the dictionary: directory and name */
  uint32_t line;
} pf_line_row;

/* The files of a program. The bytes must stay while the symbols live. */
typedef struct pf_symbol_files {
  pf_bytes executable, debug; /* `debug`: its debug file; both may be empty */
  /* Lines are read only while both flags are set (NULL: always); the owner of
     the bytes clears its flag before it unmaps. */
  const bool *executable_open, *debug_open;
} pf_symbol_files;

#define PF_NAMES_AT_ONCE 256 /* names are interned together: it is faster */

typedef struct pf_symbols {
  pf_executable facts;
  pf_dictionary *dictionary; /* of the names */
  pf_symbol *all;            /* in order of address */
  size_t count, capacity;
  pf_ranges ranges; /* the index over all */
  pf_symbol_rule rule;
  bool by_line;       /* after pf_symbols_by_line */
  pf_line_row *lines; /* in order of address, after pf_symbols_read_lines */
  size_t nlines;
  pf_ranges line_ranges;               /* the index over them */
  struct pf_function_range *functions; /* private, of pf_symbols_by_line */
  size_t nfunctions;

  pf_symbol_files files; /* private: */
  bool lines_read;
  pf_bytes unnamed[PF_NAMES_AT_ONCE]; /* not interned yet: the last names */
  size_t nunnamed;
  uint64_t last_start; /* start of the last symbol that was added */
  bool unsorted;       /* the symbols were not added in order of address */
} pf_symbols;

/*
** Read only the facts. PF_EFORMAT: no ELF file, or a damaged one;
** PF_EUNSUPPORTED: PE, Mach-O and the like, with the advice to use `nm` text
** instead; PF_ENOMEM.
*/
pf_status pf_executable_read (pf_bytes bytes, pf_executable *facts,
                              pf_error *error);

/* Return the CRC-32 of a debug file, as .gnu_debuglink states it. */
uint32_t pf_debug_crc (pf_bytes bytes);

/*
** Read the symbols of an executable, or of its separate debug file if the first
** has no .symtab; or (`nm` not NULL) of the text of `nm`, in BSD, POSIX (-P),
** System V or Tru64 form, for which the executable is not needed. PF_EFORMAT,
** PF_EUNSUPPORTED as of pf_executable_read; PF_EFORMAT also when no line of the
** text names a symbol; PF_ELIMIT: too many symbols; PF_ENOMEM. A stripped file
** is fine and has no symbols, or those of its dynamic table. The text is not
** needed afterwards.
*/
pf_status pf_symbols_open (const pf_symbol_files *files, const pf_bytes *nm,
                           pf_symbol_rule rule, pf_dictionary *dictionary,
                           pf_symbols **symbols, pf_error *error);

/*
** Split the symbols at each change of the source line, as gprof -l does. Each
** piece becomes a symbol called "function (file:line @ address)", or as before
** if its line is not known. PF_ENOMEM; the symbols may have no index then.
*/
pf_status pf_symbols_by_line (pf_symbols *symbols);

void pf_symbols_free (pf_symbols *symbols);

/* Read all line tables into one sorted array, at the first call; without it no
   line is known. Nothing is read while a file is closed (pf_symbol_files).
   PF_ENOMEM: a later call tries again. */
pf_status pf_symbols_read_lines (pf_symbols *symbols);

/* Find the source line of an address; false if it is not known. row->line is 0
   for code that belongs to no line of the file. */
bool pf_symbols_line (const pf_symbols *symbols, uint64_t address,
                      pf_line_row *row);

/* Return the id of the demangled form of a name of C++ or Rust in the same
   dictionary. Returns `name` itself if it is not mangled or its
   demangled form exceeds 64 KiB. When out of memory it returns `name` and sets
   dictionary->lacks_memory, which readers check once per batch. */
uint32_t pf_demangle (pf_dictionary *dictionary, uint32_t name);

/*
** packed_symbols.c: symbols and source lines as bytes, so that the names of a
** program can be stored without its executable.
**
** The bytes depend only on the facts, symbols and lines:
**
**   OFFSET SIZE  DESCRIPTION
**   0      8     "pfsyms1\n"
**   8      ...   flags: 1 big_endian, 2 is_pie, 4 has_symbols, 8 has_lines,
**                16 only_dynamic; address_size, machine, entry, start and end
**                of text, code and image; size and bytes of the build
**                identifier, and of the name of the debug file; debug_crc
**                names: their number; for each its size and its bytes
**                symbols: their number; for each the start minus the end of the
**                one before; the size; the name (index); 1 is_function +
**                2 is_global + 4 is_sized + 8 * rank
**                lines: their number; for each the start minus the end of the
**                one before; the size; the file (index of a name); the line
**
** All numbers from offset 8 on are varints (bytes/cursor.h). Names are in the
** order in which symbols, then lines, refer to them first. No bytes follow the
** last line.
*/

/* Write symbols and their lines, which are read first. PF_ENOMEM. */
pf_status pf_symbols_pack (pf_symbols *symbols, pf_packed *to, pf_error *error);

/* Read packed symbols; the bytes are not needed afterwards. The caller frees
   the symbols. PF_EFORMAT, PF_ETRUNCATED, PF_ENOMEM. */
pf_status pf_symbols_unpack (pf_bytes packed, pf_dictionary *dictionary,
                             pf_symbols **symbols, pf_error *error);

#endif
