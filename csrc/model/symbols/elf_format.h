/*
** elf_format.h - the numbers of the ELF format (System V ABI) that elf_file.c,
** elf_symbols.c and plt_symbols.c need.
*/

#ifndef elf_format_h
#define elf_format_h

enum { /* e_type, p_type, p_flags */
  ET_DYN = 3,
  PT_LOAD = 1,
  PT_NOTE = 4,
  PF_X = 1
};

enum { /* sh_type, sh_flags, special indices of sections */
  SHT_SYMTAB = 2,
  SHT_RELA = 4,
  SHT_DYNAMIC = 6,
  SHT_NOTE = 7,
  SHT_NOBITS = 8,
  SHT_REL = 9,
  SHT_DYNSYM = 11,
  SHT_SYMTAB_SHNDX = 18,
  SHF_ALLOC = 2,
  SHF_EXECINSTR = 4,
  SHF_COMPRESSED = 2048,
  ELFCOMPRESS_ZLIB = 1,
  SHN_UNDEF = 0,
  SHN_LORESERVE = 0xff00,
  SHN_ABS = 0xfff1,
  SHN_COMMON = 0xfff2,
  SHN_XINDEX = 0xffff
};

enum { /* types and bindings of symbols */
  STT_NOTYPE = 0,
  STT_OBJECT = 1,
  STT_FUNC = 2,
  STT_SECTION = 3,
  STT_FILE = 4,
  STT_COMMON = 5,
  STT_GNU_IFUNC = 10,
  STT_CODE_13 = 13, /* ARM: Thumb function; PA-RISC: millicode */
  STB_LOCAL = 0,
  STB_GLOBAL = 1,
  STB_WEAK = 2
};

enum { /* e_machine, e_flags */
  EM_386 = 3,
  EM_68K = 4,
  EM_MIPS = 8,
  EM_PARISC = 15,
  EM_SPARC32PLUS = 18,
  EM_PPC = 20,
  EM_PPC64 = 21,
  EM_S390 = 22,
  EM_ARM = 40,
  EM_SH = 42,
  EM_SPARCV9 = 43,
  EM_SPARC = 2,
  EM_X86_64 = 62,
  EM_AARCH64 = 183,
  EM_RISCV = 243,
  EM_LOONGARCH = 258,
  EF_ARM_BE8 = 0x00800000
};

#endif
