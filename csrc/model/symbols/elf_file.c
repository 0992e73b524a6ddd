/*
** elf_file.c - the sections and the facts of an ELF file in memory.
*/

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes/cursor.h"
#include "model/symbols/builder.h"


/* Other file formats that users may give instead of an ELF file. */
static const struct {
  const char *magic;
  size_t size;
  const char *what;
  bool is_program; /* `nm` prints its symbols */
} OTHERS[] = {
    {"MZ", 2, "a PE executable", true},
    {"\xfe\xed\xfa\xce", 4, "a Mach-O file", true},
    {"\xfe\xed\xfa\xcf", 4, "a Mach-O file", true},
    {"\xce\xfa\xed\xfe", 4, "a Mach-O file", true},
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O file", true},
    {"\xca\xfe\xba\xbe", 4, "a Mach-O file of several architectures", true},
    {"!<arch>\n", 8, "an archive of object files", true},
    {"\x83\x01", 2, "an Alpha ECOFF executable", true},
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


/* Reads all section headers. Their number is safe: libelf has checked it
   against the file size. PF_ENOMEM. */
static pf_status read_sections (elf_file *file) {
  size_t count = 0, names = 0;
  GElf_Shdr header;
  if (elf_getshdrnum(file->elf, &count) != 0 || count == 0)
    return PF_OK;
  if (elf_getshdrstrndx(file->elf, &names) != 0)
    names = 0;
  file->sections = calloc(count, sizeof *file->sections);
  if (file->sections == NULL)
    return PF_ENOMEM;
  file->nsections = count;
  for (size_t i = 0; i < count; i++) {
    Elf_Scn *scn = elf_getscn(file->elf, i);
    file->sections[i].name = "";
    if (scn == NULL || gelf_getshdr(scn, &header) == NULL)
      continue;
    const char *name = elf_strptr(file->elf, names, header.sh_name);
    const bool fits = header.sh_size <= UINT64_MAX - header.sh_addr;
    if ((header.sh_flags & SHF_COMPRESSED) != 0 ||
        (name != NULL && strncmp(name, ".zdebug", 7) == 0))
      file->has_packed = true;
    file->sections[i] = (elf_section){
        .start = header.sh_addr,
        .end = fits ? header.sh_addr + header.sh_size : UINT64_MAX,
        .type = header.sh_type,
        .link = header.sh_link,
        .is_code = (header.sh_flags & SHF_EXECINSTR) != 0,
        .is_loaded = (header.sh_flags & SHF_ALLOC) != 0,
        .name = name != NULL ? name : "",
    };
  }
  return PF_OK;
}


/* Opens an ELF file; close_file closes it also after a failure. libelf takes a
   pointer that is not const, but only reads, unless it unpacks a section. */
static pf_status open_file (elf_file *file, pf_bytes bytes, pf_error *error) {
  *file = (elf_file){0};
  if (bytes.size < EI_NIDENT || memcmp(bytes.at, ELFMAG, SELFMAG) != 0)
    return refuse(bytes, error);
  elf_version(EV_CURRENT);
  file->elf = elf_memory((char *)(uintptr_t)bytes.at, bytes.size);
  if (file->elf == NULL)
    return pf_fail(error, PF_EFORMAT, 0, "ELF: %s", elf_errmsg(-1));
  if (elf_kind(file->elf) != ELF_K_ELF ||
      gelf_getehdr(file->elf, &file->header) == NULL)
    return pf_fail(error, PF_EFORMAT, 0, "ELF: the header is damaged");
  const pf_status status = read_sections(file);
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


static void close_file (elf_file *file) {
  if (file->elf != NULL)
    elf_end(file->elf);
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


pf_bytes elf_file_contents (const elf_file *file, const elf_section *section) {
  Elf_Scn *scn = elf_getscn(file->elf, (size_t)(section - file->sections));
  Elf_Data *data = section->type != SHT_NOBITS ? elf_rawdata(scn, NULL) : NULL;
  if (data == NULL || data->d_buf == NULL)
    return (pf_bytes){0};
  return (pf_bytes){data->d_buf, data->d_size};
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
  size_t count = 0;
  GElf_Phdr segment;
  if (elf_getphdrnum(file->elf, &count) != 0 || count > INT32_MAX)
    return;
  for (size_t i = 0; i < count; i++) {
    if (gelf_getphdr(file->elf, (int)i, &segment) == NULL ||
        segment.p_type != PT_LOAD ||
        segment.p_memsz > UINT64_MAX - segment.p_vaddr)
      continue;
    const uint64_t end = segment.p_vaddr + segment.p_memsz;
    widen(&facts->image_start, &facts->image_end, segment.p_vaddr, end);
    if ((segment.p_flags & PF_X) != 0 && facts->code_end == 0)
      facts->code_address_shift = segment.p_vaddr - segment.p_offset;
    if ((segment.p_flags & PF_X) != 0)
      widen(&facts->code_start, &facts->code_end, segment.p_vaddr, end);
  }
  facts->segment_end = facts->code_end;
}


static bool has_lines (const elf_file *file) {
  return elf_file_section(file, 0, ".debug_line") != NULL ||
         elf_file_section(file, 0, ".zdebug_line") != NULL;
}


static bool has_symbols (const elf_file *file) {
  return elf_file_section(file, SHT_SYMTAB, NULL) != NULL;
}


void elf_pair_facts (const elf_pair *pair, pf_executable *facts) {
  const elf_file *file = &pair->main;
  *facts = (pf_executable){
      .address_size = file->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4,
      .big_endian = file->header.e_ident[EI_DATA] == ELFDATA2MSB,
      .is_pie = file->header.e_type == ET_DYN,
      .has_symbols = has_symbols(file) || has_symbols(&pair->debug),
      .has_lines = has_lines(file) || has_lines(&pair->debug),
      .machine = file->header.e_machine,
      .entry = file->header.e_entry,
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
  const void *id;
  const ssize_t size = dwelf_elf_gnu_build_id(file->elf, &id);
  if (size > 0 && (size_t)size <= sizeof facts->build_id) {
    memcpy(facts->build_id, id, (size_t)size);
    facts->build_id_size = (size_t)size;
  }
  GElf_Word crc;
  const char *link = dwelf_elf_gnu_debuglink(file->elf, &crc);
  const size_t length = link != NULL ? strlen(link) : SIZE_MAX;
  if (length < sizeof facts->debug_link) {
    memcpy(facts->debug_link, link, length + 1);
    facts->debug_crc = crc;
  }
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
  const pf_status status = elf_pair_open(&pair, bytes, (pf_bytes){0}, error);
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
