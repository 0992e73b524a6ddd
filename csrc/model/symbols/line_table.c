/*
** line_table.c - the source lines of addresses, from the DWARF line tables,
** read by libdw, and symbols that are split by line.
**
** Each table is read once, into one sorted array of ranges. Units that are
** damaged or have no lines are skipped. Ranges outside the code, which begin at
** or near address 0, belong to functions that the linker removed; they are
** dropped.
**
** Symbols are split where the source line or the function changes, as gprof -l
** does: a function that was inlined is a piece of its own. Only the first piece
** of a symbol is marked as a function, so that calls are counted there.
*/

#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"
#include "model/symbols/dwarf_functions.h"

#define FILE_CACHE   256u /* a power of two */
#define LONGEST_NAME 4096 /* of a function; longer names are truncated */
#define LONGEST_FILE 256

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
      .as_gprof = symbols->rule == PF_SYMBOLS_GPROF,
  };
  pf_id_table_init(&r.tables);
  pf_status status = read_tables(&r, dwarf);
  if (status == PF_OK)
    status = sort_rows(&r, symbols);
  /* The exact rule keeps the names of the symbols, which a store has, too. */
  if (status == PF_OK && symbols->by_line && r.as_gprof)
    status = pf_read_functions(dwarf, symbols->dictionary, &symbols->facts,
                               &symbols->functions, &symbols->nfunctions);
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


/* The line and the function of an address, as gprof finds them. */
typedef struct place {
  const pf_line_row *row; /* NULL: no line is known */
  uint32_t name;          /* of the function */
} place;

/* The new array of symbols, and the positions in the lists of rows and
   functions, which are those of the address that is looked at. */
typedef struct line_symbols {
  pf_symbols *symbols;
  pf_symbol *all;
  size_t count, capacity;
  size_t row, function;
  place last;     /* the last one with a line */
  bool is_global; /* its function */
} line_symbols;


static int shorter (size_t size, int most) {
  return size < (size_t)most ? (int)size : most;
}


/* Begins a piece at `start`, where the piece before it ends. A piece without a
   line keeps the name of the function. */
static pf_status begin_piece (line_symbols *p, const pf_symbol *symbol,
                              place at, uint64_t start) {
  if (p->count >= UINT32_MAX - 1 ||
      !pf_grow(&p->all, &p->capacity, p->count + 1))
    return PF_ENOMEM;
  pf_symbol *const piece = &p->all[p->count++];
  *piece = *symbol;
  if (start != symbol->start)
    piece[-1].end = start;
  piece->start = start;
  piece->is_function = symbol->is_function && start == symbol->start;
  if (at.row == NULL)
    return PF_OK;
  pf_dictionary *const names = p->symbols->dictionary;
  const pf_bytes function = pf_name(names, at.name);
  const pf_bytes file = pf_base_name(pf_name(names, at.row->file));
  char text[LONGEST_NAME + LONGEST_FILE + 64];
  int size =
      snprintf(text, sizeof text, "%.*s (%.*s:%u @ %llx)",
               shorter(function.size, LONGEST_NAME), (const char *)function.at,
               shorter(file.size, LONGEST_FILE), (const char *)file.at,
               (unsigned)at.row->line, (unsigned long long)start);
  if (size < 0)
    size = 0;
  piece->name =
      pf_intern(names, (pf_bytes){(const uint8_t *)text, (size_t)size});
  return piece->name == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}


/* Returns the name of a function of the debug information, or that of the
   symbol that begins where it does. */
static uint32_t name_of (const pf_symbols *symbols,
                         const pf_function_range *function) {
  if (function->has_own_name)
    return function->name;
  const size_t i = pf_ranges_find(&symbols->ranges, function->low);
  return i != SIZE_MAX && symbols->all[i].start == function->low
             ? symbols->all[i].name
             : function->name;
}


/* Returns what is known of an address of a symbol; addresses only grow. Code of
   line 0 belongs to no line. */
static place place_at (line_symbols *p, const pf_symbol *symbol,
                       uint64_t address) {
  const pf_symbols *const s = p->symbols;
  place found = {NULL, symbol->name};
  while (p->row < s->nlines && s->lines[p->row].end <= address)
    p->row++;
  while (p->function < s->nfunctions &&
         s->functions[p->function].end <= address)
    p->function++;
  if (p->row < s->nlines && s->lines[p->row].start <= address &&
      s->lines[p->row].line != 0)
    found.row = &s->lines[p->row];
  if (p->function < s->nfunctions && s->functions[p->function].start <= address)
    found.name = name_of(s, &s->functions[p->function]);
  return found;
}


/* Returns the next address at which the line or the function may change. */
static uint64_t next_change (const line_symbols *p, uint64_t address) {
  const pf_symbols *const s = p->symbols;
  uint64_t next = UINT64_MAX;
  if (p->row < s->nlines)
    next = s->lines[p->row].start > address ? s->lines[p->row].start
                                            : s->lines[p->row].end;
  if (p->function < s->nfunctions) {
    const pf_function_range *const f = &s->functions[p->function];
    const uint64_t change = f->start > address ? f->start : f->end;
    next = change < next ? change : next;
  }
  return next;
}


static bool is_same (place a, place b) {
  return a.row != NULL && a.row->line == b.row->line &&
         a.row->file == b.row->file && a.name == b.name;
}


/* Notes a place of a symbol; returns whether it differs from the last one. A
   part of the function of the last one is as global as that. */
static bool follow (line_symbols *p, const pf_symbol *symbol, place here) {
  const place last = p->last;
  if (here.row == NULL || is_same(last, here))
    return false;
  if (last.row == NULL || last.name != here.name ||
      last.row->file != here.row->file)
    p->is_global = symbol->is_global;
  p->last = here;
  return true;
}


/* Splits a symbol where the line or the function changes. The first piece has
   the name of the symbol, and is a function; but gprof prefers a global piece
   to a local function, so that a copy of a function that follows it is part of
   it. */
static pf_status cut (line_symbols *p, const pf_symbol *symbol) {
  const place first = place_at(p, symbol, symbol->start);
  const bool is_piece =
      follow(p, symbol, first) && p->is_global && !symbol->is_global;
  pf_status status = begin_piece(
      p, symbol, (place){first.row, is_piece ? first.name : symbol->name},
      symbol->start);
  if (status == PF_OK && is_piece)
    p->all[p->count - 1].is_function = false;
  for (uint64_t at = next_change(p, symbol->start);
       status == PF_OK && at < symbol->end; at = next_change(p, at)) {
    const place here = place_at(p, symbol, at);
    if (follow(p, symbol, here))
      status = begin_piece(p, symbol, here, at);
  }
  return status;
}


pf_status pf_symbols_by_line (pf_symbols *symbols) {
  symbols->by_line = true;
  pf_status status = pf_symbols_read_lines(symbols);
  line_symbols p = {.symbols = symbols};
  for (size_t i = 0; status == PF_OK && i < symbols->count; i++)
    status = cut(&p, &symbols->all[i]);
  free(symbols->functions);
  symbols->functions = NULL;
  symbols->nfunctions = 0;
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
