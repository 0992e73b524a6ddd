/*
** no_dwarf.c - debug information where libdw is missing (make ELF=no): there
** are no lines.
*/

#include "model/symbols/debug_info.h"

const bool pf_reads_lines = false;


pf_status pf_read_dwarf (pf_symbols *symbols, const elf_file *file) {
  (void)symbols;
  (void)file;
  return PF_OK;
}
