/*
** fill_rows.c - fills columns from items: records at once, text row by row.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/xpp/parser/fill_rows.h"
#include "model/rows/put_values.h"


static pf_status fill_records (xpp_rows *rows, const xpp_item *item,
                               pf_error *error) {
  const xpp_file *const file = rows->parser.file;
  const dbf_run run = {xpp_source(&rows->parser, item->source).at +
                           item->offset,
                       item->count, item->offset};
  pf_status status = PF_OK;
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++)
    if (rows->batch.columns[i].data != NULL)
      status = dbf_fill(&rows->decoder, &file->dbf->fields[i], &run,
                        &rows->batch.columns[i], rows->batch.rows, error);
  return status;
}


/* Sets *text to the text of a cell with single quotes and in UTF-8. Returns
   false when out of memory. */
static bool text_of (xpp_rows *rows, const xpp_cell *cell, pf_bytes *text) {
  dbf_decoder *const decoder = &rows->decoder;
  *text = cell->text;
  if (cell->is_doubled) {
    uint8_t *const unquoted = dbf_arena_alloc(&decoder->arena, text->size);
    if (unquoted == NULL)
      return false;
    *text = (pf_bytes){unquoted, xpp_unquote(cell, unquoted)};
  }
  return dbf_arena_convert(&decoder->arena, &decoder->converter, text);
}


/* Decodes the cells of the parser's current row. An empty cell is missing, but
   an empty text in quotes is not. */
static pf_status fill_cells (xpp_rows *rows, pf_error *error) {
  const xpp_parser *const parser = &rows->parser;
  const size_t row = rows->batch.rows;
  for (size_t i = 0; i < parser->file->nfields; i++) {
    pf_column *const column = &rows->batch.columns[i];
    if (column->data == NULL)
      continue;
    const xpp_cell *const cell =
        i < parser->row.cells ? &parser->cells[i] : NULL;
    column->bytes[row] = (pf_bytes){NULL, 0};
    if (cell == NULL || (cell->text.size == 0 && !cell->is_quoted))
      pf_set_missing(column, row);
    else if (!text_of(rows, cell, &column->bytes[row]))
      return pf_no_memory(error);
  }
  return PF_OK;
}


static pf_status append (xpp_rows *rows, const xpp_item *item,
                         pf_error *error) {
  const bool has_fields = item->kind == XPP_ENTRY || item->kind == XPP_DELETED;
  pf_status status = PF_OK;
  if (has_fields)
    status = rows->parser.file->is_text ? fill_cells(rows, error)
                                        : fill_records(rows, item, error);
  else
    for (size_t i = 0; i < rows->batch.ncolumns; i++)
      pf_put_none(&rows->batch.columns[i], rows->batch.rows, 1);
  rows->runs[rows->nruns++] = (xpp_run){*item, rows->batch.rows};
  rows->batch.rows += item->count;
  return status;
}


uint64_t xpp_row_offset (const xpp_rows *rows, size_t row) {
  size_t low = 0, high = rows->nruns;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (rows->runs[middle].row <= row)
      low = middle;
    else
      high = middle;
  }
  const xpp_run *const run = &rows->runs[low];
  return run->item.offset + (row - run->row) * run->item.size;
}


/* In a live trace the memo file may appear after the table. */
pf_status xpp_rows_next (xpp_rows *rows, size_t max_rows, pf_error *error) {
  const xpp_file *const file = rows->parser.file;
  pf_trace *const trace = rows->parser.trace;
  pf_status status = PF_OK;
  pf_batch_clear(&rows->batch);
  rows->nruns = 0;
  if (file->is_text)
    dbf_arena_reset(&rows->decoder.arena);
  else {
    if (file->is_live && file->dbf->memo == DBF_NO_MEMO)
      status = dbf_memo_open(trace, file->dbf, error);
    dbf_decoder_begin(&rows->decoder);
  }
  while (status == PF_OK && rows->batch.rows < max_rows) {
    xpp_item item;
    status = xpp_parser_next(&rows->parser, max_rows - rows->batch.rows, &item,
                             error);
    if (status != PF_OK)
      break;
    const bool is_deleted = item.kind == XPP_DELETED;
    if (rows->has_all || item.kind == XPP_ENTRY ||
        (is_deleted && rows->has_deleted))
      status = append(rows, &item, error);
    else if (is_deleted && pf_warning_total(trace->notes, "xpp-deleted") == 0)
      status =
          pf_warn(trace, PF_NOTE, "xpp-deleted", PF_EFORMAT, item.offset, error,
                  "records marked as deleted are left out; deleted = "
                  "\"show\" shows them");
  }
  return status >= 0 && rows->batch.rows > 0 ? PF_MORE : status;
}


pf_status xpp_rows_open (xpp_rows *rows, pf_trace *trace, const bool *wanted,
                         bool has_all, pf_error *error) {
  const xpp_file *const file = trace->state;
  memset(rows, 0, sizeof *rows);
  rows->has_all = has_all;
  rows->has_deleted = pf_option_is(trace, "deleted", "show");
  rows->is_open = true;
  rows->runs = malloc(PF_BATCH_ROWS * sizeof *rows->runs);
  const bool has_memory =
      rows->runs != NULL && xpp_parser_open(&rows->parser, trace) == PF_OK &&
      pf_batch_open(&rows->batch, file->fields, file->nfields, wanted) ==
          PF_OK &&
      (!file->is_text ||
       pf_converter_open(&rows->decoder.converter, &file->charset) == PF_OK);
  pf_status status = has_memory ? PF_OK : pf_no_memory(error);
  if (status == PF_OK && !file->is_text)
    status = dbf_decoder_open(&rows->decoder, trace, file->dbf, error);
  if (status != PF_OK)
    xpp_rows_close(rows);
  return status;
}


void xpp_rows_close (xpp_rows *rows) {
  if (!rows->is_open)
    return;
  rows->is_open = false;
  free(rows->runs);
  xpp_parser_close(&rows->parser);
  pf_batch_close(&rows->batch);
  dbf_decoder_close(&rows->decoder);
}
