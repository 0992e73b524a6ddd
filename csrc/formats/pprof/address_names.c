/*
** address_names.c - names locations without lines by the symbols of an
** executable, as other profilers leave them: through the mapping in which the
** address lies.
**
** Used by index.c while it reads the locations. The pprof_file owns the
** mappings; the symbols are borrowed from the trace.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pprof/pprof.h"
#include "bytes/text.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/symbols.h"


/* Whether a build identifier, in hexadecimal digits, is that of the
   executable. */
static bool has_build_id (const pf_executable *facts, pf_bytes stated) {
  static const char digits[] = "0123456789abcdef";
  if (stated.size != 2 * facts->build_id_size)
    return false;
  for (size_t i = 0; i < stated.size; i++) {
    const uint8_t byte = facts->build_id[i / 2], c = stated.at[i];
    const uint8_t lower = c >= 'A' && c <= 'F' ? c | 0x20 : c;
    if (lower != (uint8_t)digits[i % 2 == 0 ? byte >> 4 : byte & 15])
      return false;
  }
  return true;
}


/* Whether a mapping is that of the executable: it has its build identifier, or
   else its base name. Without both it may be. */
static bool is_of_program (const pf_trace *trace, pf_bytes file,
                           pf_bytes build_id) {
  const pf_executable *const facts = &trace->symbols->facts;
  if (build_id.size > 0 && facts->build_id_size > 0)
    return has_build_id(facts, build_id);
  return file.size == 0 || trace->program.size == 0 ||
         pf_bytes_equal(pf_base_name(file), pf_base_name(trace->program));
}


pf_status pprof_add_mapping (pf_trace *trace, pprof_file *file,
                             const pprof_field *message, pf_error *error) {
  pprof_mapping stated;
  pf_bytes path, build_id;
  if (!pf_grow(&file->mappings, &file->mapping_capacity, file->nmappings + 1))
    return pf_no_memory(error);
  (void)pprof_read_message(message->bytes, &stated, sizeof stated);
  pf_status status =
      pprof_string(trace, stated.file, message->at, &path, error);
  if (status == PF_OK)
    status =
        pprof_string(trace, stated.build_id, message->at, &build_id, error);
  if (status != PF_OK)
    return status;
  const bool is_program = is_of_program(trace, path, build_id);
  if (!is_program && file->other_mapping.size == 0)
    file->other_mapping = path;
  file->has_program |= is_program;
  file->mappings[file->nmappings++] = (pprof_stated_mapping){
      stated.id, stated.start, stated.limit, stated.offset, is_program};
  return PF_OK;
}


/* Returns the mapping of a location; NULL: it has none. */
static const pprof_stated_mapping *mapping_of (const pprof_file *file,
                                               uint64_t id, uint64_t address) {
  for (size_t i = 0; i < file->nmappings; i++) {
    const pprof_stated_mapping *const m = &file->mappings[i];
    if (id != 0 ? m->id == id : address >= m->start && address < m->limit)
      return m;
  }
  return NULL;
}


/* Returns the symbol at a run-time address, and sets *linked to the address in
   the executable. A text of nm states no segments: then the address may be that
   of a program that was not moved. NULL: none. */
static const pf_symbol *find_symbol (const pf_symbols *symbols,
                                     const pprof_stated_mapping *m,
                                     uint64_t address, uint64_t *linked) {
  const bool is_moved = m != NULL && m->limit > m->start;
  size_t found = SIZE_MAX;
  *linked = address;
  if (symbols->facts.address_size == 0 || !is_moved)
    found = pf_ranges_find(&symbols->ranges, address);
  if (found == SIZE_MAX && is_moved) {
    *linked =
        address - m->start + m->offset + symbols->facts.code_address_shift;
    found = pf_ranges_find(&symbols->ranges, *linked);
  }
  return found == SIZE_MAX ? NULL : &symbols->all[found];
}


void pprof_name_address (pf_trace *trace, pprof_file *file, uint64_t mapping,
                         uint64_t address, pf_area *area) {
  pf_symbols *const symbols = trace->symbols;
  const pprof_stated_mapping *const m = mapping_of(file, mapping, address);
  uint64_t linked;
  pf_line_row row;
  if (symbols == NULL || (m != NULL && !m->is_program))
    return;
  file->nunnamed++;
  const pf_symbol *const symbol = find_symbol(symbols, m, address, &linked);
  if (symbol == NULL)
    return;
  file->nunnamed--;
  file->nnamed++;
  area->name = pf_demangle(trace->dictionary, symbol->name);
  if (pf_symbols_line(symbols, linked, &row)) {
    area->file = row.file;
    area->line = row.line;
  }
}


pf_status pprof_note_names (pf_trace *trace, const pprof_file *file,
                            pf_error *error) {
  if (trace->symbols == NULL)
    return PF_OK;
  if (!file->has_bare_locations)
    return pf_warn(trace, PF_NOTE, "pprof-has-names", PF_EFORMAT, PF_NO_OFFSET,
                   error,
                   "all locations have names already: the executable adds "
                   "nothing");
  if (!file->has_program && file->nmappings > 0)
    return pf_warn(trace, PF_NOTE, "pprof-executable-mismatch", PF_EFORMAT,
                   PF_NO_OFFSET, error,
                   "no mapping is that of the executable, by build identifier "
                   "or name; there is %.*s: addresses stand for functions",
                   PF_SHOWN(file->other_mapping, 100));
  if (file->nunnamed > 0)
    return pf_warn(trace, PF_NOTE, "pprof-unnamed", PF_EFORMAT, PF_NO_OFFSET,
                   error,
                   "the executable has no function at %llu of %llu addresses "
                   "of its mapping",
                   (unsigned long long)file->nunnamed,
                   (unsigned long long)(file->nunnamed + file->nnamed));
  return PF_OK;
}
