/*
** pe_file.c - executables of Windows: PE, with the symbol table of COFF that
** MinGW and Cygwin write (Microsoft PE and COFF Specification).
*/

#include "model/symbols/other_files.h"

#define SECTION  40u /* bytes of a section header */
#define SYMBOL   18u
#define CODE     0x20000020u /* contains code, or can be executed */
#define EXTERNAL 2u
#define STATIC   3u
#define FUNCTION 0x20u /* in the type of a symbol */
#define I386     0x14cu
#define CODEVIEW 2u
#define PDB_70   0x53445352u /* RSDS */


/* Sets the identifier of the program: that of its debug file. */
static void identify (other_file *file, uint64_t directories) {
  const uint64_t rva = other_number(file, directories + 6 * 8, 4);
  const uint64_t size = other_number(file, directories + 6 * 8 + 4, 4);
  for (size_t i = 0; i < file->nsections && rva != 0; i++) {
    const uint64_t s = file->sections_at + i * SECTION;
    const uint64_t start = other_number(file, s + 12, 4);
    if (rva < start || rva - start >= other_number(file, s + 16, 4))
      continue;
    const uint64_t at = rva - start + other_number(file, s + 20, 4);
    for (uint64_t entry = at;
         entry + 28 <= at + size && other_has(file, entry, 28); entry += 28) {
      const uint64_t data = other_number(file, entry + 24, 4);
      if (other_number(file, entry + 12, 4) != CODEVIEW ||
          other_number(file, data, 4) != PDB_70 || !other_has(file, data, 20))
        continue;
      memcpy(file->facts.build_id, file->bytes.at + data + 4, 16);
      file->facts.build_id_size = 16;
      return;
    }
  }
}


/* The name of a section, which lies among those of the symbols if it is long.
   */
static pf_bytes name_of (const other_file *file, uint64_t section) {
  const pf_bytes name = other_text(file, section, 8);
  uint64_t offset = 0;
  if (name.size < 2 || name.at[0] != '/')
    return name;
  for (size_t i = 1; i < name.size; i++)
    offset = offset * 10 + (name.at[i] - (unsigned)'0') % 10;
  return other_text(file, file->strings_at + offset, file->strings_size);
}


static void read_sections (other_file *file) {
  for (size_t i = 0; i < file->nsections; i++) {
    const uint64_t s = file->sections_at + i * SECTION;
    const uint64_t start = file->base + other_number(file, s + 12, 4);
    const pf_bytes name = name_of(file, s);
    const uint64_t size = other_number(file, s + 8, 4);
    const uint64_t stored = other_number(file, s + 16, 4);
    const bool is_text = name.size == 5 && memcmp(name.at, ".text", 5) == 0;
    other_add_debug(file, name, other_number(file, s + 20, 4),
                    size < stored ? size : stored);
    other_add_section(file, start, start + size,
                      (other_number(file, s + 36, 4) & CODE) != 0, is_text);
  }
}


static size_t read_symbol (const other_file *file, size_t number,
                           other_symbol *symbol) {
  const uint64_t at = file->symbols_at + number * SYMBOL;
  const uint64_t section = other_number(file, at + 12, 2);
  const uint64_t type = other_number(file, at + 14, 2);
  const uint64_t class = other_number(file, at + 16, 1);
  const size_t entries = 1 + (size_t)other_number(file, at + 17, 1);
  if (section == 0 || section > file->nsections ||
      (class != EXTERNAL && class != STATIC))
    return entries;
  const uint64_t s = file->sections_at + (section - 1) * SECTION;
  const uint64_t start = file->base + other_number(file, s + 12, 4);
  symbol->address = start + other_number(file, at + 8, 4);
  symbol->limit = start + other_number(file, s + 8, 4);
  symbol->is_code = (other_number(file, s + 36, 4) & CODE) != 0;
  symbol->is_function = (type & FUNCTION) != 0;
  symbol->is_global = class == EXTERNAL;
  symbol->name =
      other_number(file, at, 4) != 0
          ? other_text(file, at, 8)
          : other_text(file, file->strings_at + other_number(file, at + 4, 4),
                       file->strings_size);
  return entries;
}


pf_status pe_file_open (other_file *file, pf_error *error) {
  if (other_number(file, 0, 2) != 0x5a4d) /* MZ */
    return PF_EUNSUPPORTED;
  const uint64_t header = other_number(file, 0x3c, 4);
  const uint64_t optional = header + 24;
  const uint64_t magic = other_number(file, optional, 2);
  if (other_number(file, header, 4) != 0x4550 ||
      (magic != 0x10b && magic != 0x20b))
    return pf_fail(error, PF_EFORMAT, 0, "PE: the header is damaged");
  file->kind = OTHER_PE;
  file->read = read_symbol;
  file->is_64 = magic == 0x20b;
  file->has_underscore = other_number(file, header + 4, 2) == I386;
  file->base = file->is_64 ? other_number(file, optional + 24, 8)
                           : other_number(file, optional + 28, 4);
  file->nsections = (size_t)other_number(file, header + 6, 2);
  file->sections_at = optional + other_number(file, header + 20, 2);
  file->symbols_at = other_number(file, header + 12, 4);
  const uint64_t count = other_number(file, header + 16, 4);
  if (file->symbols_at != 0 &&
      other_has(file, file->symbols_at, count * SYMBOL)) {
    file->nsymbols = (size_t)count;
    file->strings_at = file->symbols_at + count * SYMBOL;
    file->strings_size = (size_t)other_number(file, file->strings_at, 4);
  }
  file->facts.entry = file->base + other_number(file, optional + 16, 4);
  file->facts.is_pie = (other_number(file, optional + 70, 2) & 0x40) != 0;
  read_sections(file);
  identify(file, optional + (file->is_64 ? 112 : 96));
  return PF_OK;
}
