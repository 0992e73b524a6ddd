/*
** packed_symbols.h - symbols and source lines as bytes, so that the names of a
** program can be kept without its executable. Used by lua/symbol_table.c.
**
** The bytes depend only on the facts, symbols and lines:
**
**   OFFSET SIZE  DESCRIPTION
**   0      8     "pfsyms1\n"
**   8      ...   flags: 1 big_endian, 2 is_pie, 4 has_symbols, 8 has_lines,
**                16 only_dynamic; address_size, machine, entry, start and end of
**                text, code and image; size and bytes of the build identifier,
**                and of the name of the debug file; debug_crc
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

#ifndef packed_symbols_h
#define packed_symbols_h

#include "bytes/sink.h"
#include "model/symbols/symbols.h"

/* Write symbols and their lines, which are read first. PF_ENOMEM. */
pf_status pf_symbols_pack (pf_symbols *symbols, pf_sink *sink, pf_error *error);

/* Read packed symbols; the bytes are not needed afterwards. The caller frees the
   symbols. PF_EFORMAT, PF_ETRUNCATED, PF_ENOMEM. */
pf_status pf_symbols_unpack (pf_bytes packed, pf_dictionary *dictionary,
                             pf_symbols **symbols, pf_error *error);

#endif
