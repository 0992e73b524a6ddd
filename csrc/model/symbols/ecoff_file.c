/*
** ecoff_file.c - executables of Tru64 UNIX on Alpha: ECOFF, with its external
** symbols (Tru64 UNIX Object File and Symbol Table Format Specification).
*/

#include "model/symbols/other_files.h"

#define SECTION 64u
#define SYMBOL  24u
#define TEXT    0x20u /* the flag of a section */

#define SYMBOLIC_MAGIC 0x1992u /* of the header of symbols */

/* Types of symbols, and the storage class of code. */
#define PROCEDURE        6u
#define STATIC_PROCEDURE 14u
#define IN_TEXT          1u


static size_t read_symbol (const other_file *file, size_t number,
                           other_symbol *symbol) {
  const uint64_t at = file->symbols_at + number * SYMBOL;
  const uint64_t low = other_number(file, at + 12, 1);
  const uint64_t type = low & 0x3f;
  const uint64_t class = low >> 6 | (other_number(file, at + 13, 1) & 7) << 2;
  symbol->address = other_number(file, at, 8);
  symbol->limit = file->facts.code_end;
  symbol->is_function = type == PROCEDURE || type == STATIC_PROCEDURE;
  symbol->is_code = class == IN_TEXT && symbol->is_function;
  symbol->is_global = type != STATIC_PROCEDURE;
  symbol->name =
      other_text(file, file->strings_at + other_number(file, at + 8, 4),
                 file->strings_size);
  return 1;
}


pf_status ecoff_file_open (other_file *file, pf_error *error) {
  if (other_number(file, 0, 2) != 0x183)
    return PF_EUNSUPPORTED;
  const uint64_t symbolic = other_number(file, 8, 8);
  const uint64_t optional = other_number(file, 20, 2);
  file->kind = OTHER_ECOFF;
  file->read = read_symbol;
  file->is_64 = true;
  file->nsections = (size_t)other_number(file, 2, 2);
  file->sections_at = 24 + optional;
  if (!other_has(file, file->sections_at, file->nsections * SECTION))
    return pf_fail(error, PF_EFORMAT, 0, "ECOFF: the header is damaged");
  if (optional >= 80)
    file->facts.entry = other_number(file, 24 + 32, 8);
  for (size_t i = 0; i < file->nsections; i++) {
    const uint64_t s = file->sections_at + i * SECTION;
    const uint64_t start = other_number(file, s + 16, 8);
    const bool is_text = (other_number(file, s + 60, 4) & TEXT) != 0;
    other_add_section(file, start, start + other_number(file, s + 24, 8),
                      is_text, is_text);
  }
  const uint64_t count = other_number(file, symbolic + 44, 4);
  if (symbolic == 0 || other_number(file, symbolic, 2) != SYMBOLIC_MAGIC)
    return PF_OK;
  file->strings_size = (size_t)other_number(file, symbolic + 32, 4);
  file->strings_at = other_number(file, symbolic + 112, 8);
  file->symbols_at = other_number(file, symbolic + 136, 8);
  if (other_has(file, file->symbols_at, count * SYMBOL))
    file->nsymbols = (size_t)count;
  return PF_OK;
}
