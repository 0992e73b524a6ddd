/*
** dwarf_lines.c - the line tables of DWARF, read by libdw.
**
** Each table is read once. Units that are damaged or have no lines are skipped.
** Ranges outside the code, which begin at or near address 0, belong to
** functions that the linker removed; they are dropped.
*/

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"
#include "model/symbols/dwarf_functions.h"

const bool pf_reads_lines = true;

#define FILE_CACHE 256u /* a power of two */

/* The state of reading. */
typedef struct reading {
  pf_dictionary *dictionary;
  uint64_t code_start, code_end;
  pf_id_table tables; /* addresses of the tables that were read */
  bool as_gprof;      /* with its defect: see follow_file */
  bool has_file_0, is_unset;
  uint64_t sequence_end;
  pf_line_row *rows;
  size_t count, capacity;
  struct {
    const char *raw; /* pointer in libdw, unique per file of a table */
    uint32_t name;
  } files[FILE_CACHE];
} reading;


/* Removes `.` and `x/..` from a path in place, and returns its size. `..`
   removes only a plain name, never the root or a leading `..`. */
static size_t clean_path (char *path) {
  const bool is_absolute = path[0] == '/';
  size_t size = 0, undoable = 0; /* number of parts that `..` may remove */
  const char *part = path;
  while (*part != 0) {
    const size_t n = strcspn(part, "/");
    if (n == 2 && memcmp(part, "..", 2) == 0 && undoable > 0) {
      while (size > 0 && path[--size] != '/')
        ;
      undoable--;
    }
    else if (n > 0 && !(n == 1 && *part == '.')) {
      undoable = n == 2 && memcmp(part, "..", 2) == 0 ? 0 : undoable + 1;
      if (size > 0 || is_absolute)
        path[size++] = '/';
      memmove(path + size, part, n);
      size += n;
    }
    part += n;
    part += *part == '/';
  }
  return size;
}


/* Returns the id of a file name, normalised by clean_path; PF_NO_NAME when out
   of memory. */
static uint32_t name_file (reading *r, const char *raw) {
  const size_t slot = (size_t)((uintptr_t)raw >> 3 & (FILE_CACHE - 1));
  if (r->files[slot].raw == raw)
    return r->files[slot].name;
  char *path = strdup(raw);
  if (path == NULL)
    return PF_NO_NAME;
  const size_t size = clean_path(path);
  const uint32_t name =
      pf_intern(r->dictionary, (pf_bytes){(const uint8_t *)path, size});
  free(path);
  r->files[slot].raw = raw;
  r->files[slot].name = name;
  return name;
}


/* Follows the file of the lines as the binutils, and so gprof, do. They have a
   defect: in tables of DWARF 5 the lines of a sequence before the first change
   of the file have file 0, which is that of the unit, instead of file 1. The
   first line of a sequence may have the address at which another one ends. */
static void follow_file (reading *r, Dwarf_Line *line, Dwarf_Addr address,
                         bool is_end) {
  Dwarf_Files *files;
  size_t number = 0;
  if (is_end)
    r->sequence_end = address;
  if (is_end || address == r->sequence_end)
    r->is_unset = r->has_file_0;
  if (r->is_unset && !is_end)
    r->is_unset = dwarf_line_file(line, &files, &number) == 0 && number == 1;
}


/* Returns the path of the file of a line; NULL: it has none. */
static const char *file_of (const reading *r, Dwarf_Line *line) {
  Dwarf_Files *files;
  size_t number;
  return r->is_unset && dwarf_line_file(line, &files, &number) == 0
             ? dwarf_filesrc(files, 0, NULL, NULL)
             : dwarf_linesrc(line, NULL, NULL);
}


/* Adds the range from a line to the next line of its table. If several lines
   have the same address, only the last one has a range that is not empty. */
static pf_status add_line (reading *r, Dwarf_Line *line, Dwarf_Line *next) {
  bool is_end = true;
  Dwarf_Addr start, end;
  int number;
  if (dwarf_lineendsequence(line, &is_end) != 0 ||
      dwarf_lineaddr(line, &start) != 0)
    return PF_OK;
  if (r->as_gprof)
    follow_file(r, line, start, is_end);
  if (is_end || dwarf_lineaddr(next, &end) != 0 || end <= start ||
      start < r->code_start || start >= r->code_end ||
      dwarf_lineno(line, &number) != 0)
    return PF_OK;
  const char *const raw = file_of(r, line);
  if (raw == NULL)
    return PF_OK;
  const pf_line_row row = {start, end, name_file(r, raw),
                           number > 0 ? (uint32_t)number : 0};
  if (r->count >= UINT32_MAX - 1)
    return PF_ELIMIT;
  if (row.file == PF_NO_NAME || !pf_grow(&r->rows, &r->capacity, r->count + 1))
    return PF_ENOMEM;
  r->rows[r->count++] = row;
  return PF_OK;
}


/* Reads the tables of all units, each once: units may share a table, which
   libdw has only once in memory. A unit header that cannot be read ends the
   search, since it has the position of the next one. */
static pf_status read_tables (reading *r, Dwarf *dwarf) {
  Dwarf_Off at = 0, next;
  size_t header, count;
  pf_status status = PF_OK;
  Dwarf_Half version;
  for (; dwarf_next_unit(dwarf, at, &next, &header, &version, NULL, NULL, NULL,
                         NULL, NULL) == 0 &&
         next > at && status == PF_OK;
       at = next) {
    Dwarf_Die unit;
    Dwarf_Lines *lines;
    r->has_file_0 = r->is_unset = r->as_gprof && version >= 5;
    r->sequence_end = 0;
    if (dwarf_offdie(dwarf, at + header, &unit) == NULL ||
        dwarf_getsrclines(&unit, &lines, &count) != 0)
      continue;
    const uint64_t word = (uintptr_t)lines;
    const uint32_t known = r->tables.count;
    uint32_t table;
    status = pf_id_table_words(&r->tables, &word, 1, &table);
    for (size_t i = 0; status == PF_OK && table == known && i + 1 < count; i++)
      status = add_line(r, dwarf_onesrcline(lines, i),
                        dwarf_onesrcline(lines, i + 1));
  }
  return status;
}


static pf_status read_dwarf (pf_symbols *symbols, Elf *elf) {
  Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
  if (dwarf == NULL)
    return PF_OK;
  reading r = {
      .dictionary = symbols->dictionary,
      .code_start = symbols->facts.code_start,
      .code_end = symbols->facts.code_end,
      .as_gprof = symbols->rule == PF_SYMBOLS_GPROF,
  };
  pf_id_table_init(&r.tables);
  pf_status status = read_tables(&r, dwarf);
  if (status == PF_OK)
    status = pf_symbols_set_lines(symbols, r.rows, r.count);
  /* The exact rule keeps the names of the symbols, which a store has, too. */
  if (status == PF_OK && symbols->by_line && r.as_gprof)
    status = pf_read_functions(dwarf, symbols->dictionary, &symbols->facts,
                               &symbols->functions, &symbols->nfunctions);
  dwarf_end(dwarf);
  free(r.rows);
  pf_id_table_free(&r.tables);
  return status;
}


pf_status pf_read_dwarf (pf_symbols *symbols, const elf_file *file) {
  const pf_bytes bytes = file->bytes;
  char *const copy = file->has_packed ? malloc(bytes.size) : NULL;
  if (file->has_packed && copy == NULL)
    return PF_ENOMEM;
  if (copy != NULL) /* libelf unpacks a section where it lies */
    memcpy(copy, bytes.at, bytes.size);
  elf_version(EV_CURRENT);
  Elf *const elf =
      elf_memory(copy != NULL ? copy : (char *)(uintptr_t)bytes.at, bytes.size);
  const pf_status status = elf == NULL ? PF_OK : read_dwarf(symbols, elf);
  elf_end(elf);
  free(copy);
  return status;
}
