/*
** line_table.c - the source lines of addresses, from the DWARF line tables,
** read by libdw, and symbols that are split by line.
**
** Each table is read once, into one sorted array of ranges. Units that are
** damaged or have no lines are skipped. Ranges outside the code, which begin at
** or near address 0, belong to functions that the linker removed; they are
** dropped.
**
** Symbols are split where the source line changes, as gprof -l does. Only the
** first piece of a function is marked as a function, so that calls are counted
** there.
*/

#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"

#define FILE_CACHE   256u /* a power of two */
#define LONGEST_NAME 4096 /* of a function; longer names are truncated */
#define LONGEST_FILE 256

/* The state of reading. */
typedef struct reading {
  pf_dictionary *dictionary;
  uint64_t code_start, code_end;
  pf_id_table tables; /* addresses of the tables that were read */
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


/* Adds the range from a line to the next line of its table. If several lines
   have the same address, only the last one has a range that is not empty. */
static pf_status add_line (reading *r, Dwarf_Line *line, Dwarf_Line *next) {
  bool is_end = true;
  Dwarf_Addr start, end;
  int number;
  if (dwarf_lineendsequence(line, &is_end) != 0 || is_end ||
      dwarf_lineaddr(line, &start) != 0 || dwarf_lineaddr(next, &end) != 0 ||
      end <= start || start < r->code_start || start >= r->code_end ||
      dwarf_lineno(line, &number) != 0)
    return PF_OK;
  const char *raw = dwarf_linesrc(line, NULL, NULL);
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
  for (; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0 &&
         next > at && status == PF_OK;
       at = next) {
    Dwarf_Die unit;
    Dwarf_Lines *lines;
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


/* Copies the rows in `order` to sorted[]; a row ends at the latest where the
   next one starts. Adjacent rows with the same file and line are merged.
   Returns the number of rows. */
static size_t join_rows (const pf_line_row *rows, const uint32_t *order,
                         size_t count, pf_line_row *sorted) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    pf_line_row row = rows[order[i]];
    if (i + 1 < count && rows[order[i + 1]].start < row.end)
      row.end = rows[order[i + 1]].start;
    if (row.end == row.start)
      continue;
    pf_line_row *last = n > 0 ? &sorted[n - 1] : NULL;
    if (last != NULL && last->end == row.start && last->file == row.file &&
        last->line == row.line)
      last->end = row.end;
    else
      sorted[n++] = row;
  }
  return n;
}


/* Set the lines of the symbols, and open their index. PF_ELIMIT, PF_ENOMEM. */
static pf_status sort_rows (const reading *r, pf_symbols *symbols) {
  if (r->count == 0)
    return PF_OK;
  uint32_t *order = malloc(r->count * sizeof *order);
  symbols->lines = malloc(r->count * sizeof *symbols->lines);
  pf_status status =
      order != NULL && symbols->lines != NULL ? PF_OK : PF_ENOMEM;
  if (status == PF_OK)
    status = pf_sort_rows(r->rows, sizeof *r->rows, r->count, order);
  if (status == PF_OK) {
    symbols->nlines = join_rows(r->rows, order, r->count, symbols->lines);
    status = pf_ranges_open(&symbols->line_ranges, symbols->lines,
                            sizeof *symbols->lines, symbols->nlines);
  }
  free(order);
  if (status != PF_OK) {
    free(symbols->lines);
    symbols->lines = NULL;
    symbols->nlines = 0;
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
  };
  pf_id_table_init(&r.tables);
  pf_status status = read_tables(&r, dwarf);
  if (status == PF_OK)
    status = sort_rows(&r, symbols);
  dwarf_end(dwarf);
  free(r.rows);
  pf_id_table_free(&r.tables);
  return status;
}


/* libelf unpacks a section by changing its header where the file lies, so it
   gets a copy. */
static pf_status read_lines_of (pf_symbols *symbols, const elf_file *file) {
  size_t size = 0;
  if (!file->has_packed)
    return read_dwarf(symbols, file->elf);
  const char *const bytes = elf_rawfile(file->elf, &size);
  char *const copy = bytes == NULL ? NULL : malloc(size);
  if (copy == NULL)
    return bytes == NULL ? PF_OK : PF_ENOMEM;
  memcpy(copy, bytes, size);
  Elf *const elf = elf_memory(copy, size);
  const pf_status status = elf == NULL ? PF_OK : read_dwarf(symbols, elf);
  elf_end(elf);
  free(copy);
  return status;
}


pf_status pf_symbols_read_lines (pf_symbols *symbols) {
  const pf_symbol_files *const files = &symbols->files;
  elf_pair pair;
  pf_error ignored;
  if (symbols->lines_read || !symbols->facts.has_lines ||
      (files->executable_open != NULL && !*files->executable_open) ||
      (files->debug_open != NULL && !*files->debug_open))
    return PF_OK;
  pf_status status =
      elf_pair_open(&pair, files->executable, files->debug, &ignored);
  if (status == PF_OK && pair.debug.elf != NULL)
    status = read_lines_of(symbols, &pair.debug);
  if (status == PF_OK && symbols->nlines == 0)
    status = read_lines_of(symbols, &pair.main);
  elf_pair_close(&pair);
  if (status == PF_ENOMEM)
    return status;
  symbols->lines_read = true;
  return PF_OK;
}


bool pf_symbols_line (const pf_symbols *symbols, uint64_t address,
                      pf_line_row *row) {
  const size_t i = pf_ranges_find(&symbols->line_ranges, address);
  if (i == SIZE_MAX)
    return false;
  *row = symbols->lines[i];
  return true;
}


/* The new array of symbols. */
typedef struct line_symbols {
  pf_symbols *symbols;
  pf_symbol *all;
  size_t count, capacity;
} line_symbols;


static int shorter (size_t size, int most) {
  return size < (size_t)most ? (int)size : most;
}


/* Begins a piece at `start`, where the piece before it ends. A piece without a
   line keeps the name of the function. */
static pf_status begin_piece (line_symbols *p, const pf_symbol *symbol,
                              const pf_line_row *row, uint64_t start) {
  if (p->count >= UINT32_MAX - 1 ||
      !pf_grow(&p->all, &p->capacity, p->count + 1))
    return PF_ENOMEM;
  pf_symbol *const piece = &p->all[p->count++];
  *piece = *symbol;
  if (start != symbol->start)
    piece[-1].end = start;
  piece->start = start;
  piece->is_function = symbol->is_function && start == symbol->start;
  if (row == NULL)
    return PF_OK;
  pf_dictionary *const names = p->symbols->dictionary;
  const pf_bytes function = pf_name(names, symbol->name);
  const pf_bytes path = pf_name(names, row->file);
  size_t at = path.size; /* the file name without its folder */
  while (at > 0 && path.at[at - 1] != '/')
    at--;
  const pf_bytes file = (pf_bytes){path.at + at, path.size - at};
  char text[LONGEST_NAME + LONGEST_FILE + 64];
  int size =
      snprintf(text, sizeof text, "%.*s (%.*s:%u @ %llx)",
               shorter(function.size, LONGEST_NAME), (const char *)function.at,
               shorter(file.size, LONGEST_FILE), (const char *)file.at,
               (unsigned)row->line, (unsigned long long)start);
  if (size < 0)
    size = 0;
  piece->name =
      pf_intern(names, (pf_bytes){(const uint8_t *)text, (size_t)size});
  return piece->name == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}


/* Splits a symbol. *at is the index of the first line row that ends after the
   start of the symbol. Consecutive rows of the same line are one piece. */
static pf_status cut (line_symbols *p, const pf_symbol *symbol,
                      const pf_line_row *rows, size_t nrows, size_t *at) {
  while (*at < nrows && rows[*at].end <= symbol->start)
    ++*at;
  const bool begins = *at < nrows && rows[*at].start <= symbol->start;
  const pf_line_row *last = begins ? &rows[*at] : NULL;
  pf_status status = begin_piece(p, symbol, last, symbol->start);
  for (size_t i = *at; status == PF_OK && i < nrows; i++) {
    const pf_line_row *const row = &rows[i];
    if (row->start >= symbol->end)
      break;
    if (row->start <= symbol->start ||
        (last != NULL && row->line == last->line && row->file == last->file))
      continue;
    status = begin_piece(p, symbol, row, row->start);
    last = row;
  }
  return status;
}


pf_status pf_symbols_by_line (pf_symbols *symbols) {
  size_t at = 0;
  pf_status status = pf_symbols_read_lines(symbols);
  line_symbols p = {symbols, NULL, 0, 0};
  for (size_t i = 0; status == PF_OK && i < symbols->count; i++)
    status = cut(&p, &symbols->all[i], symbols->lines, symbols->nlines, &at);
  if (status != PF_OK) {
    free(p.all);
    return status;
  }
  free(symbols->all);
  symbols->all = p.all;
  symbols->count = p.count;
  symbols->capacity = p.capacity;
  pf_ranges_close(&symbols->ranges);
  return pf_ranges_open(&symbols->ranges, symbols->all, sizeof *symbols->all,
                        symbols->count);
}
