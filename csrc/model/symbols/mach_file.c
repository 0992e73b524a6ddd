/*
** mach_file.c - executables of macOS: Mach-O of 32 and 64 bits (mach-o/loader.h
** and nlist.h). Of a universal file, with parts for several machines, the first
** part is read.
*/

#include "model/symbols/other_files.h"

#define UNIVERSAL  0xcafebabeu
#define MAGIC_32   0xfeedfaceu
#define MAGIC_64   0xfeedfacfu
#define SEGMENT_32 1u
#define SYMTAB     2u
#define SEGMENT_64 25u
#define UUID       27u
#define CODE       0x80000400u /* only, or some, instructions */
#define MOST_PARTS 64u         /* more are a class file of Java */

/* Of the type of a symbol. */
#define DEBUG      0xe0u
#define KIND       0x0eu
#define IN_SECTION 0x0eu
#define EXTERNAL   1u


/* Adds the sections of a segment command, whose numbers go on from *number. */
static void read_segment (other_file *file, uint64_t at, size_t *number) {
  const bool is_64 = other_number(file, at, 4) == SEGMENT_64;
  const uint64_t count = other_number(file, at + (is_64 ? 64 : 48), 4);
  const uint64_t end = at + other_number(file, at + 4, 4);
  const uint64_t size = is_64 ? 80 : 68;
  uint64_t s = at + (is_64 ? 72 : 56);
  for (uint64_t i = 0; i < count && s + size <= end; i++, s += size) {
    const uint64_t start = other_number(file, s + 32, is_64 ? 8 : 4);
    const uint64_t length =
        other_number(file, s + (is_64 ? 40 : 36), is_64 ? 8 : 4);
    const bool is_code =
        (other_number(file, s + (is_64 ? 64 : 56), 4) & CODE) != 0;
    const pf_bytes name = other_text(file, s, 16);
    other_add_debug(file, name, other_number(file, s + (is_64 ? 48 : 40), 4),
                    length);
    if (++*number >= OTHER_SECTIONS)
      return;
    file->sections[*number] = (other_section){start, start + length, is_code};
    other_add_section(file, start, start + length, is_code,
                      name.size == 6 && memcmp(name.at, "__text", 6) == 0);
  }
}


static size_t read_symbol (const other_file *file, size_t number,
                           other_symbol *symbol) {
  const uint64_t at = file->symbols_at + number * (file->is_64 ? 16 : 12);
  const uint64_t type = other_number(file, at + 4, 1);
  if ((type & DEBUG) != 0 || (type & KIND) != IN_SECTION)
    return 1;
  const other_section *const section =
      &file->sections[other_number(file, at + 5, 1)];
  symbol->address = other_number(file, at + 8, file->is_64 ? 8 : 4);
  symbol->limit = section->end;
  symbol->is_code = symbol->is_function = section->is_code;
  symbol->is_global = (type & EXTERNAL) != 0;
  symbol->name = other_text(file, file->strings_at + other_number(file, at, 4),
                            file->strings_size);
  return 1;
}


/* Reads the load commands. */
static void read_commands (other_file *file, uint64_t at, uint64_t count) {
  size_t sections = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t kind = other_number(file, at, 4);
    const uint64_t size = other_number(file, at + 4, 4);
    if (size < 8 || !other_has(file, at, size))
      return;
    if (kind == SEGMENT_32 || kind == SEGMENT_64)
      read_segment(file, at, &sections);
    if (kind == SYMTAB) {
      const uint64_t symbols = other_number(file, at + 12, 4);
      file->symbols_at = other_number(file, at + 8, 4);
      file->strings_at = other_number(file, at + 16, 4);
      file->strings_size = (size_t)other_number(file, at + 20, 4);
      if (other_has(file, file->symbols_at, symbols * (file->is_64 ? 16 : 12)))
        file->nsymbols = (size_t)symbols;
    }
    if (kind == UUID && size >= 24) {
      memcpy(file->facts.build_id, file->bytes.at + at + 8, 16);
      file->facts.build_id_size = 16;
    }
    at += size;
  }
}


/* Continues with the first part of a universal file. */
static void enter_part (other_file *file) {
  file->is_big = true;
  const uint64_t count = other_number(file, 4, 4);
  const uint64_t at = other_number(file, 16, 4),
                 size = other_number(file, 20, 4);
  if (other_number(file, 0, 4) == UNIVERSAL && count > 0 &&
      count <= MOST_PARTS && other_has(file, at, size))
    file->bytes = (pf_bytes){file->bytes.at + at, (size_t)size};
}


pf_status mach_file_open (other_file *file, pf_error *error) {
  (void)error;
  enter_part(file);
  for (int order = 0; order < 2; order++) {
    file->is_big = order == 1;
    const uint64_t magic = other_number(file, 0, 4);
    if (magic != MAGIC_32 && magic != MAGIC_64)
      continue;
    file->kind = OTHER_MACH;
    file->read = read_symbol;
    file->is_64 = magic == MAGIC_64;
    file->has_underscore = true;
    file->facts.is_pie = (other_number(file, 24, 4) & 0x200000) != 0;
    read_commands(file, file->is_64 ? 32 : 28, other_number(file, 16, 4));
    return PF_OK;
  }
  return PF_EUNSUPPORTED;
}
