/*
** line_table.c - the source lines of addresses, and symbols that are split by
** line.
**
** The lines are one sorted array of ranges, from the debug information
** (dwarf_lines.c) or from packed symbols. Symbols are split where the source
** line or the function changes, as gprof -l does: a function that was inlined
** is a piece of its own. Only the first piece of a symbol is marked as a
** function, so that calls are counted there.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"
#include "model/symbols/debug_info.h"

#define LONGEST_NAME 4096 /* of a function; longer names are truncated */
#define LONGEST_FILE 256


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


pf_status pf_symbols_set_lines (pf_symbols *symbols, const pf_line_row *rows,
                                size_t count) {
  if (count == 0)
    return PF_OK;
  uint32_t *order = malloc(count * sizeof *order);
  symbols->lines = malloc(count * sizeof *symbols->lines);
  pf_status status =
      order != NULL && symbols->lines != NULL ? PF_OK : PF_ENOMEM;
  if (status == PF_OK)
    status = pf_sort_rows(rows, sizeof *rows, count, order);
  if (status == PF_OK) {
    symbols->nlines = join_rows(rows, order, count, symbols->lines);
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


pf_status pf_symbols_read_lines (pf_symbols *symbols) {
  const pf_symbol_files *const files = &symbols->files;
  if (symbols->lines_read || !symbols->facts.has_lines ||
      (files->executable_open != NULL && !*files->executable_open) ||
      (files->debug_open != NULL && !*files->debug_open))
    return PF_OK;
  pf_status status = pf_read_dwarf(symbols, files->debug);
  if (status == PF_OK && symbols->nlines == 0)
    status = pf_read_dwarf(symbols, files->executable);
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
