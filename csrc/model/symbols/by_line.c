/*
** by_line.c - splits symbols where the source line changes, as gprof -l does.
** Only the first piece of a function is marked as a function, so that calls are
** counted there.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/symbols/builder.h"

#define LONGEST_NAME 4096 /* of a function; longer names are truncated */
#define LONGEST_FILE 256

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
