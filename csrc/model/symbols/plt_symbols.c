/*
** plt_symbols.c - names the stubs through which a program calls functions of
** shared libraries: the entry for strcmp is "strcmp@plt", as objdump calls it.
** Symbol tables do not contain them.
**
** An entry of x86 and AArch64 states the slot of the global offset table from
** which it takes the address, and the relocation of this slot has the name. On
** other machines the entries are in the order of the relocations of .rela.plt,
** after a header. What is not known to be an entry is called by its section.
**
** pf_symbols_read_elf calls it, by the exact rule only: gprof knows no stubs.
*/

#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"
#include "model/symbols/elf_format.h"

/* A relocation of the dynamic linker. */
typedef struct got_slot {
  uint64_t address; /* of the word in the global offset table */
  pf_bytes name;    /* borrowed from the file */
} got_slot;

typedef struct reading {
  const elf_file *file;
  pf_symbols *out;
  got_slot *slots; /* all, in the order of the file; owned */
  size_t count, capacity;
  pf_pair *by_address;  /* word: address; row: in slots; owned */
  size_t jumps, njumps; /* those of .rela.plt are slots[jumps ...] */
  bool has_first;       /* the section that is read begins with an entry */
  uint64_t budget;      /* bytes of names that may still be added */
} reading;

/* The layout of .plt on machines whose entries are not decoded. */
typedef struct layout {
  unsigned machine, header, entry;
} layout;

static const layout layouts[] = {
    {EM_RISCV, 32, 16}, {EM_S390, 32, 32},        {EM_LOONGARCH, 32, 16},
    {EM_SPARC, 48, 12}, {EM_SPARC32PLUS, 48, 12}, {EM_SPARCV9, 128, 32},
    {EM_68K, 20, 20},   {EM_MIPS, 32, 16},        {EM_SH, 28, 28},
};


/* Adds the relocations of a section. `is_jumps`: it is .rela.plt. */
static pf_status read_slots (reading *r, size_t number, bool is_jumps) {
  const elf_file *const file = r->file;
  const elf_section *const section = &file->sections[number];
  const elf_section *const symbols = &file->sections[section->link];
  const unsigned width = file->is_64 ? 8 : 4;
  const size_t size = width * (section->type == SHT_RELA ? 3u : 2u);
  if (symbols->contents.size == 0)
    return PF_OK;
  if (is_jumps)
    r->jumps = r->count;
  for (size_t i = 0; i < section->contents.size / size && i < INT32_MAX; i++) {
    const uint8_t *const at = section->contents.at + i * size;
    const uint64_t info = pf_load(at + width, width, file->is_big);
    const size_t symbol_number = (size_t)(info >> (file->is_64 ? 32 : 8));
    elf_symbol symbol;
    const char *name = NULL;
    if (symbol_number != 0 &&
        elf_symbol_at(file, symbols->contents, symbol_number, &symbol))
      name = elf_string(file, symbols->link, symbol.name);
    if (name == NULL && !is_jumps)
      continue;
    if (!pf_grow(&r->slots, &r->capacity, r->count + 1))
      return PF_ENOMEM;
    r->slots[r->count++] =
        (got_slot){pf_load(at, width, file->is_big),
                   name == NULL ? (pf_bytes){NULL, 0} : pf_bytes_of(name)};
    r->njumps += is_jumps;
  }
  return PF_OK;
}


/* Reads the relocations of all loaded sections, and sorts them by address. */
static pf_status read_all_slots (reading *r) {
  pf_status status = PF_OK;
  for (size_t i = 1; i < r->file->nsections && status == PF_OK; i++) {
    const elf_section *const s = &r->file->sections[i];
    const bool is_jumps =
        strcmp(s->name, ".rela.plt") == 0 || strcmp(s->name, ".rel.plt") == 0;
    if ((s->type == SHT_RELA || s->type == SHT_REL) && s->is_loaded &&
        s->link > 0 && s->link < r->file->nsections)
      status = read_slots(r, i, is_jumps && r->njumps == 0);
  }
  r->by_address = pf_array(r->count + 1, sizeof *r->by_address);
  pf_pair *const spare = pf_array(r->count + 1, sizeof *spare);
  if (r->by_address == NULL || spare == NULL)
    status = PF_ENOMEM;
  for (size_t i = 0; i < r->count && status == PF_OK; i++)
    r->by_address[i] = (pf_pair){r->slots[i].address, (uint32_t)i};
  if (status == PF_OK)
    pf_sort_pairs(r->by_address, spare, r->count);
  free(spare);
  return status;
}


/* Returns the name of the function whose address a slot gets; empty: none. */
static pf_bytes name_of_slot (const reading *r, uint64_t address) {
  size_t low = 0, high = r->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (r->by_address[middle].word < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < r->count && r->by_address[low].word == address
             ? r->slots[r->by_address[low].row].name
             : (pf_bytes){NULL, 0};
}


static pf_status add_symbol (const reading *r, uint64_t address, uint64_t size,
                             const elf_section *section, pf_bytes name,
                             const char *suffix) {
  const pf_found found = {.address = address,
                          .size = size,
                          .limit = section->end,
                          .name = name,
                          .suffix = suffix};
  return pf_symbols_add(r->out, &found);
}


static pf_status add_entry (reading *r, uint64_t address, uint64_t size,
                            const elf_section *section, pf_bytes name) {
  if (name.size == 0)
    return PF_OK;
  if (name.size >= r->budget) /* many entries for one long name: an attack */
    return PF_ELIMIT;
  r->budget -= name.size + 1;
  r->has_first |= address == section->start;
  return add_symbol(r, address, size, section, name, "@plt");
}


/* Finds the entries of x86: jmp *slot(%rip), of i386 jmp *slot or
   *offset(%ebx), where %ebx is the begin of .got.plt. endbr and bnd may precede
   it. */
static pf_status decode_x86 (reading *r, const elf_section *s, pf_bytes code) {
  const bool is_64 = r->file->machine == EM_X86_64;
  const elf_section *got = elf_file_section(r->file, 0, ".got.plt");
  pf_status status = PF_OK;
  if (got == NULL)
    got = elf_file_section(r->file, 0, ".got");
  for (size_t at = 0; status == PF_OK && code.size >= 6 && at <= code.size - 6;
       at++) {
    const uint8_t *const p = code.at + at;
    if (p[0] != 0xff || (p[1] != 0x25 && (is_64 || p[1] != 0xa3)))
      continue;
    const uint32_t word = pf_load32(p + 2, false);
    uint64_t slot = word;
    if (is_64)
      slot = s->start + at + 6 + (uint64_t)(int64_t)(int32_t)word;
    else if (p[1] == 0xa3)
      slot = (uint32_t)((got != NULL ? got->start : 0) + word);
    size_t begin = at - (at >= 1 && p[-1] == 0xf2); /* bnd */
    if (begin >= 4 && pf_load32(code.at + begin - 4, false) ==
                          (is_64 ? 0xfa1e0ff3u : 0xfb1e0ff3u))
      begin -= 4;
    status = add_entry(r, s->start + begin, 0, s, name_of_slot(r, slot));
  }
  return status;
}


/* Finds the entries of AArch64: adrp x16, page; ldr x17, [x16, offset]; a bti
   may precede it. */
static pf_status decode_aarch64 (reading *r, const elf_section *s,
                                 pf_bytes code) {
  pf_status status = PF_OK;
  for (size_t at = 0; status == PF_OK && code.size >= 8 && at <= code.size - 8;
       at += 4) {
    const uint32_t adrp = pf_load32(code.at + at, false);
    const uint32_t ldr = pf_load32(code.at + at + 4, false);
    if ((adrp & 0x9f00001fu) != 0x90000010u ||
        (ldr & 0xffc003ffu) != 0xf9400211u)
      continue;
    const uint64_t page = (adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff)
                                                 << 2;
    const uint64_t offset = ((page ^ 0x100000) - 0x100000) << 12;
    const uint64_t slot =
        ((s->start + at) & ~0xfffull) + offset + (ldr >> 10 & 0xfff) * 8;
    const bool has_bti =
        at >= 4 && pf_load32(code.at + at - 4, false) == 0xd503245fu;
    status = add_entry(r, s->start + at - (has_bti ? 4 : 0), 0, s,
                       name_of_slot(r, slot));
  }
  return status;
}


/* Finds the entries of ARM: add ip, pc; add ip, ip; ldr pc, [ip]!, with a third
   addition in the long form; code for Thumb may precede it. */
static pf_status decode_arm (reading *r, const elf_section *s, pf_bytes code) {
  const bool is_big = r->file->is_big && (r->file->flags & EF_ARM_BE8) == 0;
  pf_status status = PF_OK;
  for (size_t at = 0;
       status == PF_OK && code.size >= 12 && at <= code.size - 12; at += 4) {
    uint64_t slot = s->start + at + 8;
    size_t next = at;
    uint32_t word = pf_load32(code.at + at, is_big);
    if ((word & 0xfffff000u) != 0xe28fc000u) /* add ip, pc */
      continue;
    for (int i = 0; i < 3 && (word & 0xfff0f000u) == 0xe280c000u; i++) {
      const unsigned turn = (word >> 8 & 15) * 2;
      const uint32_t low = word & 0xff;
      slot += turn == 0 ? low : low >> turn | low << (32 - turn);
      next += 4;
      word = next <= code.size - 4 ? pf_load32(code.at + next, is_big) : 0;
    }
    if ((word & 0xfffff000u) != 0xe5bcf000u) /* ldr pc, [ip, offset]! */
      continue;
    slot = (uint32_t)(slot + (word & 0xfff));
    const bool has_thumb =
        at >= 4 && pf_load16(code.at + at - 4, is_big) == 0x4778;
    status = add_entry(r, s->start + at - (has_thumb ? 4 : 0), 0, s,
                       name_of_slot(r, slot));
  }
  return status;
}


/* Returns the layout of .plt: of the machine, else that of its section header,
   if this agrees with the number of relocations. */
static layout layout_of (const reading *r, const elf_section *s) {
  const unsigned machine = r->file->machine;
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
    if (layouts[i].machine == machine)
      return layouts[i];
  const uint64_t size = s->end - s->start;
  const uint64_t entry = s->entry_size;
  const bool fits = entry >= 4 && entry <= 64 && r->njumps <= size / entry &&
                    size - r->njumps * entry <= 64;
  return fits ? (layout){machine, (unsigned)(size - r->njumps * entry),
                         (unsigned)entry}
              : (layout){machine, 0, 0};
}


/* Adds entries in the order of their relocations, from an address on. */
static pf_status count_entries (reading *r, const elf_section *s,
                                uint64_t address, unsigned size) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < r->njumps && size > 0 && status == PF_OK; i++) {
    if (address < s->start || address >= s->end)
      break;
    status = add_entry(r, address, size, s, r->slots[r->jumps + i].name);
    address += size;
  }
  return status;
}


/* Reads a section of stubs. */
static pf_status read_section (reading *r, const elf_section *s) {
  const pf_bytes code = s->contents;
  const layout l = layout_of(r, s);
  pf_status status = PF_OK;
  r->has_first = false;
  switch (r->file->machine) {
    case EM_386:
    case EM_X86_64: status = decode_x86(r, s, code); break;
    case EM_AARCH64: status = decode_aarch64(r, s, code); break;
    case EM_ARM: status = decode_arm(r, s, code); break;
    default:
      if (strcmp(s->name, ".plt") == 0)
        status = count_entries(r, s, s->start + l.header, l.entry);
  }
  return status != PF_OK || r->has_first
             ? status
             : add_symbol(r, s->start, 0, s, pf_bytes_of(s->name), NULL);
}


/* Returns the value of a tag of the dynamic section; 0: there is none. */
static uint64_t dynamic_value (const elf_file *file, uint64_t tag) {
  const elf_section *const s = elf_file_section(file, SHT_DYNAMIC, NULL);
  const unsigned width = file->is_64 ? 8 : 4;
  const pf_bytes all = s == NULL ? (pf_bytes){NULL, 0} : s->contents;
  for (size_t i = 0; i < all.size / (2 * width); i++) {
    const uint8_t *const at = all.at + i * 2 * width;
    if (pf_load(at, width, file->is_big) == tag)
      return pf_load(at + width, width, file->is_big);
  }
  return 0;
}


#define GLINK        0x70000000 /* DT_PPC64_GLINK */
#define GLINK_HEADER 32         /* bytes from there to the entries */


/* Finds the entries of PowerPC, which are in .text: of 64 bits after an address
   that the dynamic section states, of 32 bits by their code: lis r11, slot@ha;
   lwz r11, slot@l(r11); mtctr r11; bctr. */
static pf_status read_powerpc (reading *r, const elf_section *s) {
  const bool is_big = r->file->is_big;
  const uint64_t glink = dynamic_value(r->file, GLINK);
  pf_status status = PF_OK;
  if (r->file->machine == EM_PPC64)
    return count_entries(r, s, glink + GLINK_HEADER,
                         (r->file->flags & 3) == 2 ? 4 : 8);
  const pf_bytes code = s->contents;
  for (size_t at = 0;
       status == PF_OK && code.size >= 16 && at <= code.size - 16; at += 4) {
    const uint32_t high = pf_load32(code.at + at, is_big);
    const uint32_t low = pf_load32(code.at + at + 4, is_big);
    if (high >> 16 != 0x3d60 || low >> 16 != 0x816b ||
        pf_load32(code.at + at + 8, is_big) != 0x7d6903a6 ||
        pf_load32(code.at + at + 12, is_big) != 0x4e800420)
      continue;
    const uint32_t slot =
        (high << 16) + (uint32_t)(int32_t)(int16_t)(low & 0xffff);
    status = add_entry(r, s->start + at, 16, s, name_of_slot(r, slot));
  }
  return status;
}


pf_status pf_symbols_add_plt (pf_symbols *symbols, const elf_file *file) {
  reading r = {.file = file, .out = symbols, .budget = 64u << 20};
  pf_status status = read_all_slots(&r);
  const unsigned machine = file->machine;
  const bool is_powerpc = machine == EM_PPC || machine == EM_PPC64;
  for (size_t i = 1; i < file->nsections && status == PF_OK; i++) {
    const elf_section *const s = &file->sections[i];
    if (!s->is_code || !s->is_loaded || s->end <= s->start)
      continue;
    if (strncmp(s->name, ".plt", 4) == 0 || strcmp(s->name, ".iplt") == 0)
      status = read_section(&r, s);
    else if (is_powerpc && r.count > 0 && strcmp(s->name, ".text") == 0)
      status = read_powerpc(&r, s);
  }
  free(r.slots);
  free(r.by_address);
  return status;
}
