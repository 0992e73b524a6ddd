/*
** dwarf_sections.c - where a program has its debug information: sections of
** ELF, PE and Mach-O files, which may be compressed by zlib (dwarf.h).
*/

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/symbols/dwarf.h"
#include "model/symbols/elf_format.h"
#include "model/symbols/other_files.h"

#define RATIO       1032u /* at most, of unpacked to packed bytes */
#define MOST_BYTES  ((uint64_t)2 << 30) /* of an unpacked section */
#define READ_AGAIN  256u /* bytes that may be read for each of the file */
#define READ_ALWAYS 65536u

const char *const DWARF_NAMES[DWARF_SECTIONS] = {
    "debug_info", "debug_abbrev",   "debug_line",
    "debug_str",  "debug_line_str", "debug_str_offsets",
    "debug_addr", "debug_ranges",   "debug_rnglists",
};


/* Unpacks a section. One that is damaged or too large stays empty. */
static pf_status unpack (dwarf *d, int number, pf_bytes packed, uint64_t size) {
  if (size == 0 || size > MOST_BYTES || size / RATIO > packed.size)
    return PF_OK;
  uint8_t *const unpacked = malloc((size_t)size);
  if (unpacked == NULL)
    return PF_ENOMEM;
  uLongf length = (uLongf)size;
  if (uncompress(unpacked, &length, packed.at, packed.size) != Z_OK ||
      length == 0) {
    free(unpacked);
    return PF_OK;
  }
  d->unpacked[number] = unpacked;
  d->sections[number] = (pf_bytes){unpacked, length};
  return PF_OK;
}


/* Reads a section. Older compilers call it .zdebug_... if it is compressed. */
static pf_status read_section (dwarf *d, const elf_file *file, int number,
                               const elf_section *s) {
  const pf_bytes all = s->contents;
  const bool is_old = s->name[1] == 'z';
  const size_t header = is_old ? 12 : file->is_64 ? 24 : 12;
  if (!is_old && !s->is_packed) {
    d->sections[number] = all;
    return PF_OK;
  }
  if (all.size < header ||
      (is_old ? memcmp(all.at, "ZLIB", 4) != 0
              : pf_load32(all.at, file->is_big) != ELFCOMPRESS_ZLIB))
    return PF_OK;
  const uint64_t size = is_old        ? pf_load64be(all.at + 4)
                        : file->is_64 ? pf_load64(all.at + 8, file->is_big)
                                      : pf_load32(all.at + 4, file->is_big);
  return unpack(d, number, (pf_bytes){all.at + header, all.size - header},
                size);
}


/* Returns the number of a section with a name of ELF, or DWARF_SECTIONS. */
static int number_of (const char *name) {
  int i = 0;
  if (name[0] != '.')
    return DWARF_SECTIONS;
  name += name[1] == 'z' ? 2 : 1;
  while (i < DWARF_SECTIONS && strcmp(name, DWARF_NAMES[i]) != 0)
    i++;
  return i;
}


static pf_status read_elf (dwarf *d, pf_bytes file) {
  elf_pair pair;
  pf_error ignored;
  pf_status status = elf_pair_open(&pair, file, (pf_bytes){NULL, 0}, &ignored);
  d->is_big = pair.main.is_big;
  for (size_t i = 1; i < pair.main.nsections && status == PF_OK; i++) {
    const elf_section *const section = &pair.main.sections[i];
    const int number = number_of(section->name);
    if (number < DWARF_SECTIONS && d->sections[number].size == 0)
      status = read_section(d, &pair.main, number, section);
  }
  elf_pair_close(&pair);
  return status == PF_ENOMEM ? status : PF_OK;
}


pf_status dwarf_open (dwarf *d, pf_bytes file) {
  other_file other;
  pf_error ignored;
  pf_status status = other_file_open(&other, file, &ignored);
  *d = (dwarf){.budget = READ_AGAIN * (uint64_t)file.size + READ_ALWAYS};
  if (status == PF_OK) {
    d->is_big = other.is_big;
    for (int i = 0; i < DWARF_SECTIONS; i++)
      d->sections[i] = other.debug[i];
  }
  else if (status == PF_EUNSUPPORTED)
    status = read_elf(d, file);
  if (status == PF_ENOMEM)
    return status;
  for (int i = 0; i < DWARF_SECTIONS; i++)
    d->budget +=
        d->unpacked[i] != NULL ? READ_AGAIN * (uint64_t)d->sections[i].size : 0;
  return dwarf_read_units(d);
}


void dwarf_close (dwarf *d) {
  for (int i = 0; i < DWARF_SECTIONS; i++)
    free(d->unpacked[i]);
  free(d->units);
  free(d->kinds);
}
