/*
** other_files.h - executables that are no ELF files: PE of Windows, Mach-O of
** macOS, and ECOFF of Alpha, which DCPI's images are. They give facts and
** symbols; the first two also debug information. Used by symbols.c, elf_file.c
** and dwarf_sections.c.
**
** A program is described once, as sections and a table of symbols; one function
** reads the table, whatever the format. Nothing is allocated; the bytes are
** borrowed.
*/

#ifndef other_files_h
#define other_files_h

#include <string.h>

#include "bytes/cursor.h"
#include "model/symbols/dwarf.h"

typedef enum other_kind {
  OTHER_PE,
  OTHER_MACH,
  OTHER_ECOFF
} other_kind;

/* A symbol as its format states it. */
typedef struct other_symbol {
  uint64_t address, limit; /* limit: the end of its section */
  pf_bytes name;
  bool is_code, is_function, is_global;
} other_symbol;

typedef struct other_section {
  uint64_t start, end;
  bool is_code;
} other_section;

#define OTHER_SECTIONS 256 /* a symbol of Mach-O has the number in a byte */

typedef struct other_file other_file;

struct other_file {
  other_kind kind;
  pf_bytes bytes; /* of the program; of a universal Mach-O the part for one
                     machine */
  bool is_big, is_64;
  bool has_underscore;  /* names of C have one before them */
  uint64_t base;        /* added to the addresses of sections */
  uint64_t sections_at; /* PE and ECOFF: offset of their headers */
  size_t nsections;
  other_section sections[OTHER_SECTIONS]; /* Mach-O: by number, from 1 on */
  uint64_t symbols_at, strings_at;
  size_t nsymbols, strings_size;
  pf_executable facts;
  pf_bytes debug[DWARF_SECTIONS];
  /* Set *symbol to that of the table; returns the entries that it takes. */
  size_t (*read)(const other_file *file, size_t number, other_symbol *symbol);
};

/* Describe a program. PF_EUNSUPPORTED, without a message: it is none of these
   formats; PF_EFORMAT: a damaged one. */
pf_status other_file_open (other_file *file, pf_bytes bytes, pf_error *error);

/* Take what the debug file of a program has (it may be empty, or of another
   format): lines, and symbols if the program has none. */
void other_file_join (other_file *file, pf_bytes debug);

/* Add its functions to the symbols, and build them. PF_ELIMIT, PF_ENOMEM. */
pf_status other_file_symbols (const other_file *file, pf_symbols *symbols,
                              pf_symbol_rule rule, pf_error *error);

/* The formats. PF_EUNSUPPORTED: it is another one. */
pf_status pe_file_open (other_file *file, pf_error *error);
pf_status mach_file_open (other_file *file, pf_error *error);
pf_status ecoff_file_open (other_file *file, pf_error *error);

/* Load an unsigned number of `width` bytes at an offset; 0 after the end. */
static inline uint64_t other_number (const other_file *file, uint64_t at,
                                     unsigned width) {
  const pf_bytes all = file->bytes;
  return at > all.size || all.size - at < width
             ? 0
             : pf_load(all.at + at, width, file->is_big);
}

/* Whether a part is in the file. */
static inline bool other_has (const other_file *file, uint64_t at,
                              uint64_t size) {
  return at <= file->bytes.size && size <= file->bytes.size - at;
}

/* Return the text at an offset, up to a zero, at most `size` bytes. */
pf_bytes other_text (const other_file *file, uint64_t at, uint64_t size);

/* Note a section if it has debug information. The name may be that of the
   format, as "__debug_line", of which 16 bytes are there. */
void other_add_debug (other_file *file, pf_bytes name, uint64_t at,
                      uint64_t size);

/* Extend the range of the code by that of a section; the first one called .text
   or __text is the text. */
void other_add_section (other_file *file, uint64_t start, uint64_t end,
                        bool is_code, bool is_text);

#endif
