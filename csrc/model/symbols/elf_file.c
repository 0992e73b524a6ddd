/*
** elf_file.c - the sections and the facts of an ELF file in memory.
*/

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes/cursor.h"
#include "model/symbols/builder.h"
#include "model/symbols/elf_format.h"
#include "model/symbols/other_files.h"


/* Other file formats that users may give instead of an ELF file. */
static const struct {
  const char *magic;
  size_t size;
  const char *what;
  bool is_program; /* `nm` prints its symbols */
} OTHERS[] = {
    {"!<arch>\n", 8, "an archive of object files", true},
    {"\x01\xf0", 2, "an XCOFF executable", true},
    {"\x64\x86", 2, "a COFF object file", true},
    {"\x4c\x01", 2, "a COFF file", true},
    {"#!", 2, "a script", false},
};


/* Fails with PF_EUNSUPPORTED for another program format, else with PF_EFORMAT.
   */
static pf_status refuse (pf_bytes bytes, pf_error *error) {
  for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
    if (bytes.size < OTHERS[i].size ||
        memcmp(bytes.at, OTHERS[i].magic, OTHERS[i].size) != 0)
      continue;
    if (!OTHERS[i].is_program)
      return pf_fail(error, PF_EFORMAT, 0, "%s, not an ELF file",
                     OTHERS[i].what);
    return pf_fail(error, PF_EUNSUPPORTED, 0,
                   "%s, not an ELF file: give the text that `nm` prints for "
                   "it (symbols = PATH)",
                   OTHERS[i].what);
  }
  return pf_fail(error, PF_EFORMAT, 0, "not an ELF file");
}


/* A header of the file, of which fields are loaded by their offsets in files of
   32 and 64 bits. */
typedef struct header {
  const elf_file *file;
  const uint8_t *at;
} header;


static uint64_t field (header h, size_t at_32, size_t at_64, unsigned width) {
  return h.file->is_64 ? pf_load(h.at + at_64, width, h.file->is_big)
                       : pf_load(h.at + at_32, width, h.file->is_big);
}


/* The same for a field that is as wide as an address. */
static uint64_t word (header h, size_t at_32, size_t at_64) {
  return field(h, at_32, at_64, h.file->is_64 ? 8 : 4);
}


/* Returns the part of a file; empty if it is not in the file as a whole. */
static pf_bytes part_of (pf_bytes bytes, uint64_t at, uint64_t size) {
  return size > 0 && at <= bytes.size && size <= bytes.size - at
             ? (pf_bytes){bytes.at + at, (size_t)size}
             : (pf_bytes){NULL, 0};
}


/* Returns the bytes of `count` headers, or as many as the file has. */
static pf_bytes headers_of (const elf_file *file, uint64_t at, uint64_t count,
                            size_t size) {
  const uint64_t left = at < file->bytes.size ? file->bytes.size - at : 0;
  const uint64_t most = left / size;
  return part_of(file->bytes, at, (count < most ? count : most) * size);
}


const char *elf_string (const elf_file *file, size_t section, uint64_t offset) {
  if (section >= file->nsections)
    return NULL;
  const pf_bytes strings = file->sections[section].contents;
  return offset < strings.size && memchr(strings.at + offset, 0,
                                         strings.size - (size_t)offset) != NULL
             ? (const char *)strings.at + offset
             : NULL;
}


static void read_section (elf_file *file, size_t number, const uint8_t *at) {
  elf_section *const s = &file->sections[number];
  const header h = {file, at};
  const uint64_t flags = word(h, 8, 8), size = word(h, 20, 32);
  s->start = word(h, 12, 16);
  s->end = size <= UINT64_MAX - s->start ? s->start + size : UINT64_MAX;
  s->type = (uint32_t)field(h, 4, 4, 4);
  s->link = (uint32_t)field(h, 24, 40, 4);
  s->is_code = (flags & SHF_EXECINSTR) != 0;
  s->is_loaded = (flags & SHF_ALLOC) != 0;
  s->is_packed = (flags & SHF_COMPRESSED) != 0;
  s->entry_size = word(h, 36, 56);
  if (s->type != SHT_NOBITS)
    s->contents = part_of(file->bytes, word(h, 16, 24), size);
}


/* Reads all section headers. Large numbers are in the first one. PF_ENOMEM. */
static pf_status read_sections (elf_file *file, header h) {
  const size_t size = file->is_64 ? 64 : 40;
  const uint64_t at = word(h, 32, 40);
  uint64_t count = field(h, 48, 60, 2), names = field(h, 50, 62, 2);
  if (at == 0 || field(h, 46, 58, 2) != size)
    return PF_OK;
  const header first = {file, headers_of(file, at, 1, size).at};
  if (first.at != NULL && count == 0)
    count = word(first, 20, 32);
  if (first.at != NULL && names == SHN_XINDEX)
    names = field(first, 24, 40, 4);
  const pf_bytes all = headers_of(file, at, count, size);
  count = all.size / size;
  if (count == 0)
    return PF_OK;
  file->sections = calloc((size_t)count, sizeof *file->sections);
  if (file->sections == NULL)
    return PF_ENOMEM;
  file->nsections = (size_t)count;
  for (size_t i = 0; i < count; i++)
    read_section(file, i, all.at + i * size);
  for (size_t i = 0; i < count; i++) {
    const header section = {file, all.at + i * size};
    const char *const name =
        elf_string(file, (size_t)names, field(section, 0, 0, 4));
    file->sections[i].name = name != NULL ? name : "";
  }
  return PF_OK;
}


/* Opens an ELF file; close_file closes it also after a failure. */
static pf_status open_file (elf_file *file, pf_bytes bytes, pf_error *error) {
  *file = (elf_file){0};
  if (bytes.size < 16 || memcmp(bytes.at, "\177ELF", 4) != 0)
    return refuse(bytes, error);
  file->is_64 = bytes.at[4] == 2;
  file->is_big = bytes.at[5] == 2;
  const header h = {file, bytes.at};
  if (bytes.at[4] < 1 || bytes.at[4] > 2 || bytes.at[5] < 1 ||
      bytes.at[5] > 2 || bytes.size < (file->is_64 ? 64u : 52u))
    return pf_fail(error, PF_EFORMAT, 0, "ELF: the header is damaged");
  file->bytes = bytes;
  file->type = (uint16_t)field(h, 16, 16, 2);
  file->machine = (uint16_t)field(h, 18, 18, 2);
  file->entry = word(h, 24, 24);
  file->flags = (uint32_t)field(h, 36, 48, 4);
  const pf_status status = read_sections(file, h);
  if (status != PF_OK)
    return pf_no_memory(error);
  const size_t size = file->is_64 ? 56 : 32;
  uint64_t count = field(h, 44, 56, 2);
  if (count == 0xffff && file->nsections > 0) /* PN_XNUM: in sh_info */
    count = field((header){file, bytes.at + word(h, 32, 40)}, 28, 44, 4);
  file->segments_at = word(h, 28, 32);
  if (field(h, 42, 54, 2) == size)
    file->nsegments =
        headers_of(file, file->segments_at, count, size).size / size;
  return PF_OK;
}


static elf_segment segment_at (const elf_file *file, size_t number) {
  const size_t size = file->is_64 ? 56 : 32;
  const header h = {file, file->bytes.at + file->segments_at + number * size};
  return (elf_segment){.type = (uint32_t)field(h, 0, 0, 4),
                       .flags = (uint32_t)field(h, 24, 4, 4),
                       .address = word(h, 8, 16),
                       .offset = word(h, 4, 8),
                       .memory_size = word(h, 20, 40),
                       .file_size = word(h, 16, 32)};
}


size_t elf_symbol_size (const elf_file *file) {
  return file->is_64 ? 24 : 16;
}


bool elf_symbol_at (const elf_file *file, pf_bytes table, size_t number,
                    elf_symbol *symbol) {
  const size_t size = elf_symbol_size(file);
  if (number >= table.size / size)
    return false;
  const header h = {file, table.at + number * size};
  const unsigned info = (unsigned)field(h, 12, 4, 1);
  *symbol = (elf_symbol){.name = (uint32_t)field(h, 0, 0, 4),
                         .type = info & 15,
                         .bind = info >> 4,
                         .section = (unsigned)field(h, 14, 6, 2),
                         .value = word(h, 4, 8),
                         .size = word(h, 8, 16)};
  return true;
}


static void close_file (elf_file *file) {
  free(file->sections);
  *file = (elf_file){0};
}


const elf_section *elf_file_section (const elf_file *file, uint32_t type,
                                     const char *name) {
  for (size_t i = 1; i < file->nsections; i++) {
    const elf_section *s = &file->sections[i];
    if (name != NULL ? strcmp(s->name, name) == 0 : s->type == type)
      return s;
  }
  return NULL;
}


/* Extends [*start, *end) to include another range; it is empty while *end is 0.
   */
static void widen (uint64_t *start, uint64_t *end, uint64_t from, uint64_t to) {
  if (to <= from)
    return;
  if (*end == 0 || from < *start)
    *start = from;
  if (to > *end)
    *end = to;
}


static void segment_facts (const elf_file *file, pf_executable *facts) {
  for (size_t i = 0; i < file->nsegments; i++) {
    const elf_segment segment = segment_at(file, i);
    if (segment.type != PT_LOAD ||
        segment.memory_size > UINT64_MAX - segment.address)
      continue;
    const uint64_t end = segment.address + segment.memory_size;
    widen(&facts->image_start, &facts->image_end, segment.address, end);
    if ((segment.flags & PF_X) != 0 && facts->code_end == 0)
      facts->code_address_shift = segment.address - segment.offset;
    if ((segment.flags & PF_X) != 0)
      widen(&facts->code_start, &facts->code_end, segment.address, end);
  }
  facts->segment_end = facts->code_end;
}


/* Finds the build identifier in some notes; false: it is not there. */
static bool find_build_id (const elf_file *file, pf_bytes notes,
                           pf_executable *facts) {
  while (notes.size >= 12) {
    const uint64_t name = pf_load32(notes.at, file->is_big);
    const uint64_t size = pf_load32(notes.at + 4, file->is_big);
    const uint64_t start = 12 + (name + 3) / 4 * 4;
    const uint64_t end = start + (size + 3) / 4 * 4;
    if (start > notes.size || size > notes.size - start)
      return false;
    if (pf_load32(notes.at + 8, file->is_big) == 3 && name == 4 &&
        memcmp(notes.at + 12, "GNU", 4) == 0) {
      if (size > sizeof facts->build_id)
        return false;
      memcpy(facts->build_id, notes.at + start, (size_t)size);
      facts->build_id_size = (size_t)size;
      return true;
    }
    const size_t step = end < notes.size ? (size_t)end : notes.size;
    notes = (pf_bytes){notes.at + step, notes.size - step};
  }
  return false;
}


/* Sets the build identifier: of a section, else of a segment. */
static void identify (const elf_file *file, pf_executable *facts) {
  for (size_t i = 1; i < file->nsections; i++)
    if (file->sections[i].type == SHT_NOTE &&
        find_build_id(file, file->sections[i].contents, facts))
      return;
  for (size_t i = 0; i < file->nsegments; i++) {
    const elf_segment segment = segment_at(file, i);
    if (segment.type == PT_NOTE &&
        find_build_id(file,
                      part_of(file->bytes, segment.offset, segment.file_size),
                      facts))
      return;
  }
}


/* Sets the name of the debug file, and the sum of its bytes, which follows the
   name at a multiple of 4. */
static void link_debug_file (const elf_file *file, pf_executable *facts) {
  const elf_section *const s = elf_file_section(file, 0, ".gnu_debuglink");
  const pf_bytes link = s != NULL ? s->contents : (pf_bytes){NULL, 0};
  const uint8_t *const end =
      link.size == 0 ? NULL : memchr(link.at, 0, link.size);
  const size_t length = end == NULL ? SIZE_MAX : (size_t)(end - link.at);
  if (length >= sizeof facts->debug_link ||
      link.size < (length + 4) / 4 * 4 + 4)
    return;
  memcpy(facts->debug_link, link.at, length + 1);
  facts->debug_crc = pf_load32(link.at + (length + 4) / 4 * 4, file->is_big);
}


/* A section that zstd has compressed is not read (dwarf_sections.c). */
static bool has_lines (const elf_file *file) {
  const elf_section *const s = elf_file_section(file, 0, ".debug_line");
  if (s == NULL)
    return elf_file_section(file, 0, ".zdebug_line") != NULL;
  return !s->is_packed ||
         (s->contents.size >= 4 &&
          pf_load32(s->contents.at, file->is_big) == ELFCOMPRESS_ZLIB);
}


static bool has_symbols (const elf_file *file) {
  return elf_file_section(file, SHT_SYMTAB, NULL) != NULL;
}


void elf_pair_facts (const elf_pair *pair, pf_executable *facts) {
  const elf_file *file = &pair->main;
  *facts = (pf_executable){
      .address_size = file->is_64 ? 8 : 4,
      .big_endian = file->is_big,
      .is_pie = file->type == ET_DYN,
      .has_symbols = has_symbols(file) || has_symbols(&pair->debug),
      .has_lines = has_lines(file) || has_lines(&pair->debug),
      .machine = file->machine,
      .entry = file->entry,
  };
  segment_facts(file, facts);
  uint64_t start = 0, end = 0;
  for (size_t i = 1; i < file->nsections; i++)
    if (file->sections[i].is_code && file->sections[i].is_loaded)
      widen(&start, &end, file->sections[i].start, file->sections[i].end);
  if (end != 0) {
    facts->code_start = start;
    facts->code_end = end;
  }
  if (facts->segment_end < facts->code_end)
    facts->segment_end = facts->code_end;
  const elf_section *text = elf_file_section(file, 0, ".text");
  facts->text_start = text != NULL ? text->start : facts->code_start;
  facts->text_end = text != NULL ? text->end : facts->code_end;
  identify(file, facts);
  link_debug_file(file, facts);
}


pf_status elf_pair_open (elf_pair *pair, pf_bytes executable, pf_bytes debug,
                         pf_error *error) {
  *pair = (elf_pair){0};
  pf_status status = open_file(&pair->main, executable, error);
  if (status != PF_OK || debug.size == 0)
    return status;
  status = open_file(&pair->debug, debug, error);
  if (status == PF_OK || status == PF_ENOMEM)
    return status;
  close_file(&pair->debug);
  return PF_OK;
}


void elf_pair_close (elf_pair *pair) {
  close_file(&pair->debug);
  close_file(&pair->main);
}


pf_status pf_executable_read (pf_bytes bytes, pf_executable *facts,
                              pf_error *error) {
  elf_pair pair;
  other_file other;
  pf_status status = other_file_open(&other, bytes, error);
  if (status != PF_EUNSUPPORTED) {
    *facts = other.facts;
    return status;
  }
  status = elf_pair_open(&pair, bytes, (pf_bytes){0}, error);
  if (status == PF_OK)
    elf_pair_facts(&pair, facts);
  elf_pair_close(&pair);
  return status;
}


uint32_t pf_debug_crc (pf_bytes bytes) {
  uLong crc = crc32(0, NULL, 0);
  while (bytes.size > 0) {
    const uInt part = bytes.size < 1u << 30 ? (uInt)bytes.size : 1u << 30;
    crc = crc32(crc, bytes.at, part);
    bytes.at += part;
    bytes.size -= part;
  }
  return (uint32_t)crc;
}
