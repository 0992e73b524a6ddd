/*
** symbolize.c - finds function, file and line of the addresses in a batch.
**
** The input fills the first columns of the batch, this stage the columns after
** them. Neighbouring rows are mostly in the same symbol and line, so the last
** result is tried before the table.
*/

#include <stdio.h>
#include <string.h>

#include "kernels/stages/stages.h"
#include "model/base/memory.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

/* The new columns of one address column, in this order. */
enum {
  FUNCTION,
  SOURCE_FILE,
  LINE,
  ADDED
};

#define LONGEST_COLUMN 64

/* One address column. */
typedef struct place {
  size_t column;    /* index of the addresses */
  size_t first;     /* index of the first new column */
  size_t symbol;    /* the last result, or SIZE_MAX */
  pf_line_row line; /* the last result; empty: none */
  char names[ADDED][LONGEST_COLUMN];
} place;

typedef struct symbolize_reader {
  pf_reader reader;
  pf_symbols *symbols;
  uint64_t bias;
  bool raw;
  uint32_t *shown; /* by symbol: its demangled name, or PF_NO_NAME: not yet */
  pf_field *fields;
  size_t nplaces;
  place places[];
} symbolize_reader;


/* The name to show for a symbol; it is demangled once. */
static uint32_t shown_name (symbolize_reader *s, const pf_symbol *all,
                            size_t symbol) {
  if (s->raw)
    return all[symbol].name;
  uint32_t *const shown = &s->shown[symbol];
  if (*shown == PF_NO_NAME)
    *shown = pf_demangle(s->reader.dictionary, all[symbol].name);
  return *shown;
}


static void fill_functions (symbolize_reader *s, place *p,
                            const pf_column *addresses, pf_column *column,
                            size_t rows) {
  const pf_symbol *const all = s->symbols->all;
  size_t symbol = p->symbol;
  for (size_t row = 0; row < rows; row++) {
    const uint64_t address = addresses->addrs[row] - s->bias;
    if (symbol == SIZE_MAX || address < all[symbol].start ||
        address >= all[symbol].end)
      symbol = pf_ranges_find(&s->symbols->ranges, address);
    if (symbol != SIZE_MAX && !pf_is_missing(addresses, row))
      column->ids[row] = shown_name(s, all, symbol);
    else
      pf_put_none(column, row, 1);
  }
  p->symbol = symbol;
}


/* Set p->line to the line of an address. False when it is unknown. */
static bool find_line (symbolize_reader *s, place *p, uint64_t address) {
  if (address >= p->line.start && address < p->line.end)
    return true;
  if (pf_symbols_line(s->symbols, address, &p->line))
    return true;
  p->line = (pf_line_row){0};
  return false;
}


static pf_status symbolize_next (pf_reader *self, pf_batch *batch,
                                 pf_error *error) {
  symbolize_reader *const s = (symbolize_reader *)(void *)self;
  const pf_status status = self->input->next(self->input, batch, error);
  if (status != PF_MORE)
    return status;
  for (size_t i = 0; i < s->nplaces; i++) {
    place *const p = &s->places[i];
    const pf_column *const addresses = &batch->columns[p->column];
    pf_column *const added = &batch->columns[p->first];
    if (added[FUNCTION].data != NULL)
      fill_functions(s, p, addresses, &added[FUNCTION], batch->rows);
    if (added[SOURCE_FILE].data == NULL && added[LINE].data == NULL)
      continue;
    if (pf_symbols_read_lines(s->symbols) != PF_OK)
      return pf_no_memory(error);
    for (size_t row = 0; row < batch->rows; row++) {
      const bool known = !pf_is_missing(addresses, row) &&
                         find_line(s, p, addresses->addrs[row] - s->bias);
      pf_put_id(&added[SOURCE_FILE], row, known ? p->line.file : PF_NO_NAME);
      /* compilers mark code that belongs to no line with line 0 */
      pf_put_int(&added[LINE], row, known ? p->line.line : 0,
                 known && p->line.line != 0);
    }
  }
  if (s->reader.dictionary->lacks_memory)
    return pf_no_memory(error);
  return PF_MORE;
}


static void symbolize_want (pf_reader *self, bool *wanted) {
  const symbolize_reader *const s = (symbolize_reader *)(void *)self;
  for (size_t i = 0; i < s->nplaces; i++) {
    const place *const p = &s->places[i];
    for (size_t j = 0; j < ADDED; j++)
      if (wanted[p->first + j])
        wanted[p->column] = true;
  }
  pf_stage_want(self, wanted);
}


static void symbolize_close (pf_reader *self) {
  symbolize_reader *const s = (symbolize_reader *)(void *)self;
  free(s->shown);
  free(s->fields);
  free(s);
}


/* Name a new column. Returns whether the name fits. */
static bool name_column (const symbolize_reader *s, char *name,
                         const char *prefix, const char *what) {
  const size_t known = s->reader.input->nfields;
  int size = snprintf(name, LONGEST_COLUMN, "%s%s", prefix, what);
  if (pf_field_index(s->reader.input->fields, known, name) < known)
    size = snprintf(name, LONGEST_COLUMN, "source_%s%s", prefix, what);
  return size < LONGEST_COLUMN;
}


/* Set up an address column and the fields it adds. */
static pf_status open_place (symbolize_reader *s, size_t i,
                             const pf_address_column *columns,
                             pf_error *error) {
  static const pf_field ADDS[ADDED] = {
      {"function", PF_NAME, "the function at the address"},
      {"file", PF_NAME, "the source file of the address"},
      {"line", PF_INT, "the source line of the address"},
  };
  const size_t known = s->reader.input->nfields;
  if (columns->column >= known ||
      s->reader.input->fields[columns->column].type != PF_ADDR)
    return pf_refuse(error,
                     "only a column of addresses has functions and lines");
  place *const p = &s->places[i];
  p->column = columns->column;
  p->first = known + i * ADDED;
  p->symbol = SIZE_MAX;
  for (size_t j = 0; j < ADDED; j++) {
    if (!name_column(s, p->names[j], columns->prefix, ADDS[j].name))
      return pf_refuse(error, "the prefix of a column is too long");
    s->fields[p->first + j] = ADDS[j];
    s->fields[p->first + j].name = p->names[j];
  }
  return PF_OK;
}


pf_status pf_symbolize_open (pf_reader *input, pf_symbols *symbols,
                             uint64_t bias, bool raw,
                             const pf_address_column *columns, size_t count,
                             pf_reader **reader, pf_error *error) {
  if (symbols->dictionary != input->dictionary)
    return pf_refuse(error, "the symbols belong to another trace");
  symbolize_reader *const s = pf_stage_new(sizeof *s + count * sizeof(place),
                                           input, symbolize_next, error);
  if (s == NULL)
    return PF_ENOMEM;
  s->reader.want = symbolize_want;
  s->reader.close = symbolize_close;
  s->symbols = symbols;
  s->bias = bias;
  s->raw = raw;
  s->nplaces = count;
  pf_stage_pass_seek(&s->reader);
  s->shown = pf_array(symbols->count, sizeof *s->shown);
  s->fields = pf_stage_fields(&s->reader, ADDED * count);
  if (s->shown == NULL || s->fields == NULL)
    return pf_reader_opened(&s->reader, pf_no_memory(error), reader);
  memset(s->shown, 0xff, symbols->count * sizeof *s->shown); /* PF_NO_NAME */
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = open_place(s, i, &columns[i], error);
  return pf_reader_opened(&s->reader, status, reader);
}
